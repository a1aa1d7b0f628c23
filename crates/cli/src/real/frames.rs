//! A frame table as the CPUs of a real run: a scheduler that all have in common, and the tasks that have their places on
//! each of them.

use super::cpus::{config, dispatcher, entry_of, with_task};
use super::devices::Devices;
use super::share::ppm;
use super::{Barrier, Clock, Mechanism, Settings};
use crate::failure::Failure;
use crate::input::shown;
use crate::quantity::short;
use crate::session::Session;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use vestal_core::{CpuId, Duration, Service, TaskId};
use vestal_linux::report::FrameReport;
use vestal_linux::{CpuSpec, Executive, Frames};
use vestal_policy::{Cluster, FRAME_OVERHEAD, FrameLists, Precision};

/// The frame table of a session, with its cluster, if it has one: then it has nothing else.
pub(super) fn of(session: &Session) -> Option<(&Cluster, &FrameLists)> {
    let cluster = session.system.clusters.first()?;
    Some((cluster, cluster.configuration.frames()?))
}

/// Whether the threads are those of Sigrist et al. (2015).
fn of_paper(settings: &Settings) -> bool {
    settings.mechanism == Mechanism::Sigrist2015
}

/// How often an overrun checker looks in a frame on a CPU that has workers, whether there is a reason or not.
fn looks(session: &Session, lists: &FrameLists, settings: &Settings) -> u64 {
    if session.system.options.has_own_dispatcher() {
        return 0;
    }
    let config = config(settings, true);
    let is_heartbeat = config.monitor == vestal_linux::Monitor::Heartbeat;
    let period = is_heartbeat.then_some(config.heartbeat);
    vestal_linux::frames::looks_in_frame(lists.map().length(), period)
}

/// What a sub-frame may be late by, beside what the table has to spare.
fn overhead(session: &Session, lists: &FrameLists, settings: &Settings) -> Service {
    let given = settings.tolerance_ns.map(Service::from_nanos);
    let usual = |levels, jobs| match of_paper(settings) {
        true => {
            let looks = looks(session, lists, settings);
            vestal_linux::frames::overhead_of_sigrist2015(levels, jobs, looks)
        }
        false => vestal_linux::frames::overhead(levels, jobs),
    };
    given.unwrap_or_else(|| {
        let map = lists.map();
        let cpus = (0..map.cpus()).map(CpuId);
        let jobs = (0..map.frames()).flat_map(|frame| {
            let levels = || map.levels().iter();
            let each = cpus.clone();
            each.map(move |cpu| {
                levels()
                    .map(|level| map.tasks(frame, level, cpu).len())
                    .sum()
            })
        });
        let jobs = jobs.max().unwrap_or(0);
        usual(map.levels().count(), jobs)
    })
}

/// By frame of the cycle and level: how old the frame may be when that sub-frame begins, by the barriers of those above it
/// and what the table has to spare.
fn allowances(lists: &FrameLists) -> Vec<Vec<Duration>> {
    let (map, barriers) = (lists.map(), lists.barriers());
    let levels = map.levels();
    let allowance = |frame, level| {
        let above = levels.iter().filter(|&above| above > level);
        let lengths = above.map(|above| barriers.barrier(frame, above, level));
        lengths.fold(lists.overhead(), Duration::saturating_add)
    };
    let frames = (0..map.frames()).map(|frame| {
        let each = levels.iter();
        each.map(|level| allowance(frame, level)).collect()
    });
    frames.collect()
}

/// By task, in which frames of the cycle it has a place.
fn places(lists: &FrameLists) -> Vec<Vec<usize>> {
    let mut places = vec![Vec::new(); lists.tasks().len()];
    for (frame, _, _, list) in lists.map().lists() {
        for task in list {
            if let Some(places) = places.get_mut(task.index()) {
                places.push(frame);
            }
        }
    }
    places
}

/// Refuses what is asked for and a frame table does not have, and a barrier where there is none; and frames that leave no
/// room for what walkers and barriers take.
pub(super) fn check(session: &Session, settings: &Settings) -> Result<(), Failure> {
    let policy = &session.system.policy;
    let Some((_, lists)) = of(session) else {
        let why = "its CPUs do not wait for each other";
        let unused = [
            ("--barrier", settings.barrier.is_some(), why),
            (
                "--clock",
                settings.clock.is_some(),
                "nothing is measured there by another clock than that of decisions",
            ),
        ];
        return refuse(policy, &unused);
    };
    check_clock(clock(settings), clock(settings).is_there())?;
    let unused = [
        (
            "--monitor",
            settings.monitor.is_some() && !of_paper(settings),
            "no job of a frame table has a budget that is watched",
        ),
        (
            "--termination deferred",
            settings.deferred == Some(true),
            "no job of a frame table is stopped once it has begun",
        ),
        (
            "--observe",
            settings.observe,
            "a frame table has no budgets, and without its order nothing is left of it",
        ),
    ];
    refuse(policy, &unused)?;
    check_room(session, lists, settings)
}

/// Refuses frames that leave no room for what walkers and barriers take.
fn check_room(session: &Session, lists: &FrameLists, settings: &Settings) -> Result<(), Failure> {
    let what = format!("run {}", shown(&session.file));
    let world = Duration::from_nanos(overhead(session, lists, settings).as_nanos());
    let spare = in_all(session, lists, settings);
    // All that there is may have been given away already.
    let (given, slack) = (lists.overhead(), lists.slack());
    if let (Some(rest), true) = (slack.checked_sub(world), spare > slack) {
        let [given, slack, world, rest] =
            [given, slack, world, rest].map(|time| short(time.as_nanos()));
        let option = FRAME_OVERHEAD.name;
        let why = format!(
            "{option} takes {given} of the {slack} that the shortest frame has to spare, and a real run takes {world} beside the jobs"
        );
        let help = format!("leave {option} out, or let it be {rest} at most");
        return Err(Failure::input(what, why).with_help(help));
    }
    let fits = lists.clone().with_overhead(spare);
    let refused = |fault: vestal_policy::FrameFault| {
        let refusal = fault.refusal(&session.set);
        let why = format!(
            "{}, with {} to spare for what a real run takes beside the jobs",
            refusal.why,
            short(spare.as_nanos())
        );
        Failure::input(what, why)
            .with_help("shorten execution times, lengthen periods, or use `vestal simulate`")
    };
    fits.map(|_| ()).map_err(refused)
}

/// The first of these options that was given, with what there is against it.
fn refuse(policy: &str, unused: &[(&str, bool, &str)]) -> Result<(), Failure> {
    let mut given = unused.iter().filter(|(_, is_given, _)| *is_given);
    given.next().map_or(Ok(()), |(option, _, why)| {
        let failure = Failure::input(format!("use {option} with {policy}"), *why);
        Err(failure.with_help(format!("leave out {option}")))
    })
}

/// Where threads wait for each other: by those of the paper as in the paper, unless it is said.
fn barrier(settings: &Settings) -> Barrier {
    settings.barrier.unwrap_or(match of_paper(settings) {
        true => Barrier::Pthread,
        false => Barrier::default(),
    })
}

/// What threads read to measure how long something takes.
fn clock(settings: &Settings) -> vestal_linux::Clock {
    match settings.clock.unwrap_or_default() {
        Clock::Monotonic => vestal_linux::Clock::Monotonic,
        Clock::Tsc => vestal_linux::Clock::Tsc,
    }
}

/// Refuses a clock that is not there.
fn check_clock(clock: vestal_linux::Clock, is_there: bool) -> Result<(), Failure> {
    if is_there {
        return Ok(());
    }
    let what = format!("use --clock {}", clock.name());
    let why = "this processor does not say that its time stamp counter is invariant (CPUID 8000_0007h, EDX, bit 8): it may stop, or go on at another rate";
    Err(Failure::machine(what, why).with_help("leave out --clock"))
}

/// What a sub-frame may be late by: what the table has to spare, and what this world takes.
fn in_all(session: &Session, lists: &FrameLists, settings: &Settings) -> Duration {
    let world = Duration::from_nanos(overhead(session, lists, settings).as_nanos());
    lists.overhead().saturating_add(world)
}

/// The CPUs of the set, and the tasks that have their places there.
pub(super) fn placed(cluster: &Cluster, lists: &FrameLists) -> Vec<(CpuId, Vec<TaskId>)> {
    let homes: Vec<Option<CpuId>> = (0..lists.tasks().len())
        .map(|task| lists.home(TaskId(u16::try_from(task).ok()?)))
        .collect();
    let cpus = cluster.cpus.iter().zip(0..).map(|(&cpu, inside)| {
        let here = (0..).map(TaskId).zip(&homes);
        let here = here.filter(|(_, home)| **home == Some(CpuId(inside)));
        (cpu, here.map(|(task, _)| task).collect())
    });
    cpus.collect()
}

/// The session's tasks, CPU by CPU, with bodies that do what the file and the scenario say. `guarantee`: a test speaks of
/// them.
pub(super) fn executive(
    session: &Session,
    (cluster, lists): (&Cluster, &FrameLists),
    (settings, guarantee): (&Settings, bool),
    refused: &Arc<AtomicU64>,
) -> Result<Executive, Failure> {
    let configuration = cluster.configuration.clone();
    let placed = placed(cluster, lists);
    let frames = Frames {
        make: Box::new(move |_, granularity| {
            let engine = configuration.engine(Precision {
                granularity,
                wake_granularity: Duration::ZERO,
            });
            let engine = engine.map(vestal_policy::Engine::boxed);
            engine.map_err(|refusal| refusal.why.into())
        }),
        numbers: placed.iter().map(|(_, tasks)| tasks.clone()).collect(),
        length: lists.map().length(),
        barrier: match barrier(settings) {
            Barrier::Pthread => vestal_linux::Barrier::Pthread,
            Barrier::Futex => vestal_linux::Barrier::Futex,
            Barrier::Spin => vestal_linux::Barrier::Spin,
        },
        allowances: allowances(lists),
        places: places(lists),
        clock: clock(settings),
        initialisation: match session.system.options.is_distributed() {
            true => vestal_linux::Initialisation::Distributed,
            false => vestal_linux::Initialisation::Global,
        },
    };
    let mut config = config(settings, true);
    config.tolerance = Some(overhead(session, lists, settings));
    config.dispatcher = dispatcher(session, settings);
    let mut executive = Executive::new(config).frames(frames);
    for (cpu, tasks) in placed {
        // Nothing stops a job at any limit.
        let demands = tasks.iter().filter_map(|inside| {
            let period = lists.tasks().get(inside.index())?.task.period;
            let task = *cluster.tasks.get(inside.index())?;
            Some(ppm(session.demand_max(task), period))
        });
        let spec = CpuSpec {
            guarantee,
            utilization_ppm: Some(demands.fold(0, u64::saturating_add)),
            ..CpuSpec::common()
        };
        executive = executive.cpu(spec.on(entry_of(cpu, settings)));
        for inside in tasks {
            let task = cluster.tasks.get(inside.index()).copied().unwrap_or(inside);
            if let Some(entry) = lists.tasks().get(inside.index()) {
                executive = with_task(
                    executive,
                    session,
                    (task, entry),
                    (&Devices::default(), refused),
                )?;
            }
        }
    }
    Ok(executive)
}

/// By how much later than the table says sub-frames may begin here, for people.
pub(super) fn terms(session: &Session, lists: &FrameLists, settings: &Settings) -> String {
    format!(
        "a sub-frame may begin {} later than the table says, for what {} and barriers take; each frame has that to spare",
        short(in_all(session, lists, settings).as_nanos()),
        if of_paper(settings) {
            "threads"
        } else {
            "walkers"
        },
    )
}

/// What is to be said of jobs that were dropped although none had needed more, if there are such.
pub(super) fn undecided(report: &FrameReport) -> Option<String> {
    let undecided = report.counts.unprovoked_undecided;
    (undecided > 0).then(|| {
        format!(
            "{undecided} jobs were dropped with their sub-frames although no job had needed more than at their level, and only time that others took from the run explains it: not decided, exit code 5 (--tolerate-stolen-time makes it 0)"
        )
    })
}

/// What is particular to the threads of Sigrist et al. (2015), for people.
pub(super) fn paper_line(report: &FrameReport) -> Option<String> {
    let paper = report.paper?;
    let place = match paper.has_own_processor {
        true => "on a CPU of its own",
        false => "on that of CPU 0 of the set",
    };
    Some(format!(
        "the scheduler {place}, as in Sigrist et al. (2015); {} sub-frame initialisation: {} jobs began before all CPUs were ready; the checker looked {} times and found {} sub-frames too long",
        paper.initialisation.name(),
        paper.started_early,
        paper.checks,
        paper.late,
    ))
}

/// What became of the frames, for people.
pub(super) fn lines(report: &FrameReport, lists: &FrameLists) -> [String; 2] {
    let counts = &report.counts;
    [
        format!(
            "{} frames of {}: {} without their last sub-frame, {} longer than that, {} skipped; they began {} late in the median, {} at most",
            counts.total,
            short(lists.map().length().as_nanos()),
            counts.lowest_skipped,
            counts.overrun,
            counts.skipped,
            short(report.begun_late.median),
            short(report.begun_late.max),
        ),
        match report.passed.count {
            0 => format!(
                "barriers: {}, {} of them; no CPU waited for another one",
                report.barrier.name(),
                counts.barriers,
            ),
            _ => format!(
                "barriers: {}, {} of them; from the decision of the last CPU until another one went on {} in the median, {} at most",
                report.barrier.name(),
                counts.barriers,
                short(report.passed.median),
                short(report.passed.max),
            ),
        },
    ]
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
