//! Frame tables by the threads of Sigrist et al. (2015), and the race that their global scheduler avoids.

use super::{
    BARRIERS, FRAME_MS, Log, NOBODY, Place, Ran, Work, common, counts, frames, jobs, order,
    overlaps, recorded, replayed, seen_in_order, settings, two_processors, usual, with_bodies,
};
use crate::support::{HI, LO, alone, eventually, ms, pause, real_time_threads, well_on_all};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use vestal_core::{CpuId, Duration, Level, Service};
use vestal_linux::fault::{
    Delay, Fault, How, Point, fork_thief, monotonic_nanos, own_cpu_nanos, reap,
};
use vestal_linux::report::{Duty, PaperReport, Part};
use vestal_linux::{
    Barrier, Cancelled, Config, CpuSpec, Dispatcher, Executive, Frames, Initialisation, JobContext,
    Mechanism, Monitor, Processor,
};
use vestal_trace::{Edge, Record, What};

/// What is different from a run by walkers.
#[derive(Clone, Copy)]
struct Way {
    barrier: Barrier,
    initialisation: Initialisation,
    dispatcher: Dispatcher,
    monitor: Monitor,
    /// How long giving the workers of CPU 1 their orders takes longer than it does, each time.
    slow_ms: u64,
    /// What bodies do.
    work: Work,
}

const USUAL: Way = Way {
    barrier: Barrier::Pthread,
    initialisation: Initialisation::Global,
    dispatcher: Dispatcher::Shared,
    monitor: Monitor::Manager,
    slow_ms: 0,
    work: |job, amount| job.burn(amount),
};

fn set(
    places: &[usize],
    way: Way,
    demand: impl Fn(Place) -> Service + Clone + Send + 'static,
    log: &Log,
) -> Executive {
    let config = Config {
        mechanism: Mechanism::Sigrist2015,
        dispatcher: way.dispatcher,
        monitor: way.monitor,
        ..settings()
    };
    let table = Frames {
        initialisation: way.initialisation,
        ..common(places.len(), way.barrier)
    };
    let set = Executive::new(config).frames(table);
    let set = with_bodies(set, places, CpuSpec::common, (way.work, demand), log);
    let delay = Fault::Delay(Delay {
        point: Point::CpuInitialised,
        how: How::Burn,
        milliseconds: way.slow_ms,
        every: 1,
    });
    match way.slow_ms {
        0 => set,
        _ => set.with_fault_on(vestal_core::CpuId(1), delay),
    }
}

/// Ten frames, recorded and replayed as those of walkers are.
fn run(
    places: &[usize],
    way: Way,
    demand: impl Fn(Place) -> Service + Clone + Send + 'static,
) -> (Ran, PaperReport) {
    let log = Log::default();
    let set = set(places, way, demand, &log);
    let (report, records) = recorded(set, 10 * FRAME_MS);
    let summary = replayed(places.len(), &records, super::OVERHEAD).unwrap();
    assert_eq!(summary.counts.released, report.jobs.released);
    assert_eq!(summary.counts.completed, report.jobs.completed);
    assert_eq!(report.mechanism, Mechanism::Sigrist2015);
    let paper = report.frames.unwrap().paper.unwrap();
    let log = std::mem::take(&mut *log.lock().unwrap());
    let ran = Ran {
        report,
        records,
        log,
    };
    (ran, paper)
}

/// The same, again where the run itself shows that as much was stolen from it at once as makes a sub-frame late, three times at
/// most.
fn calm_run(
    places: &[usize],
    way: Way,
    demand: impl Fn(Place) -> Service + Clone + Send + 'static,
) -> (Ran, PaperReport) {
    for _ in 0..3 {
        let found = run(places, way, demand.clone());
        let report = &found.0.report;
        let cpus = report.cpus.iter().chain(&report.dispatcher);
        let longest = cpus.map(|cpu| cpu.machine.longest_gap).max();
        if longest.unwrap_or_default() < Duration::from_millis(1) {
            return found;
        }
    }
    run(places, way, demand)
}

#[test]
fn the_threads_of_the_paper_run_what_walkers_do_and_no_lo_job_beside_a_hi_job() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for barrier in BARRIERS {
        well_on_all(|| {
            let way = Way { barrier, ..USUAL };
            let (ran, paper) = calm_run(&places, way, usual);
            let order = order(&ran.log);
            assert_eq!(order.len(), 20, "{barrier:?}: {order:?}");
            assert!(order.values().all(|tasks| *tasks == [1, 0, 2]), "{order:?}");
            assert_eq!(overlaps(&ran.log, &ran.report), 0, "{barrier:?}");
            // As many barriers and sub-frames as by walkers.
            assert_eq!(counts(&ran.report), frames(0, 0, 0), "{barrier:?}");
            assert_eq!((ran.report.jobs.completed, ran.report.jobs.missed), (60, 0));
            seen_in_order(&ran.records);
            assert_eq!((paper.started_early, paper.late), (0, 0));
            assert_eq!(real_time_threads(std::process::id()), NOBODY);
        });
    }
}

/// Most of the last frame is idle: who waits then, and is woken by the end, was wanted by nobody before.
#[test]
fn nothing_was_taken_from_a_run_because_it_ends() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    let is_quiet = |_| {
        let (ran, _) = run(&places, USUAL, usual);
        let gaps = ran.report.cpus.iter().map(|cpu| cpu.machine.longest_gap);
        // Time that is really stolen is not in each of the runs; a thread that blames the end is.
        gaps.max() < Some(Duration::from_millis(10))
    };
    assert!((0..4).any(is_quiet));
}

#[test]
fn a_late_hi_sub_frame_is_found_once_and_drops_the_lo_jobs_of_its_frame_alone() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for monitor in [Monitor::Manager, Monitor::Heartbeat] {
        well_on_all(|| {
            // 11 ms, where 6 and what may be spared are 8.
            let demand = |place| match place {
                (0, 0, 4) => ms(9),
                place => usual(place),
            };
            let (ran, paper) = calm_run(&places, Way { monitor, ..USUAL }, demand);
            assert_eq!(counts(&ran.report), frames(1, 0, 0), "{monitor:?}");
            for [first, second, low] in jobs(&ran.report) {
                assert_eq!([first.completed, second.completed], [10, 10]);
                assert_eq!((low.completed, low.dropped), (9, 1));
            }
            let order = order(&ran.log);
            for cpu in [0, 1] {
                let without = (0..10).filter(|&frame| !order[&(cpu, frame)].contains(&2));
                assert_eq!(without.collect::<Vec<_>>(), [4]);
            }
            let modes = &ran.report.cpus[0].modes;
            let modes: Vec<Level> = modes.iter().map(|change| change.to).collect();
            assert_eq!(modes, [HI, LO], "up and down with the frame");
            assert_eq!(paper.late, 1, "{monitor:?}: {paper:?}");
            match monitor {
                // Once to be set, and once at its deadline, for each HI sub-frame at most.
                Monitor::Manager => assert!((10..=20).contains(&paper.checks), "{paper:?}"),
                // Each millisecond of 400, but for looks that came too late.
                Monitor::Heartbeat => assert!((300..=401).contains(&paper.checks), "{paper:?}"),
                Monitor::Perf | Monitor::Remainder | Monitor::PosixTimer => {
                    unreachable!("it is one of those above")
                }
            }
        });
    }
}

/// The control of what the global scheduler is for: each CPU gives its own workers their orders, CPU 1 is slow at it, and in
/// each of 20 sub-frames the first job of CPU 0 begins meanwhile.
#[test]
fn where_cpus_begin_by_themselves_jobs_start_before_others_are_ready_and_with_the_scheduler_none() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for (initialisation, early) in [
        (Initialisation::Global, 0),
        (Initialisation::Distributed, 20),
    ] {
        well_on_all(|| {
            let way = Way {
                initialisation,
                slow_ms: 1,
                ..USUAL
            };
            // Jobs of CPU 0 take twice as long as CPU 1 is slow: the second one never begins meanwhile.
            let (ran, paper) = calm_run(&places, way, usual);
            assert_eq!(counts(&ran.report), frames(0, 0, 0), "{initialisation:?}");
            assert_eq!(ran.report.jobs.completed, 60);
            assert_eq!(paper.started_early, early, "{initialisation:?}");
            assert_eq!(paper.initialisation, initialisation);
        });
    }
}

#[test]
fn a_body_that_never_returns_keeps_no_run_of_these_threads_from_ending() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    for barrier in [Barrier::Pthread, Barrier::Spin] {
        let returns = Arc::new(AtomicBool::new(false));
        let may_return = Arc::clone(&returns);
        let demand = move |place| {
            while place == (1, 1, 3) && !may_return.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
            usual(place)
        };
        let begun = monotonic_nanos();
        let (ran, paper) = run(&places, Way { barrier, ..USUAL }, demand);
        let took = Duration::from_nanos(monotonic_nanos() - begun);
        // The run, patience twice, and what it takes a thread in no real-time class to start all the others and to replay it.
        assert!(took < Duration::from_millis(400 + 400 + 2_000), "{took:?}");
        assert_eq!(ran.report.stuck, ["second-1"], "{barrier:?}");
        assert_eq!(counts(&ran.report).overrun, 1, "{barrier:?}");
        // Any other one is the machine's doing, and then the run shows what was taken from it.
        let gaps = ran.report.cpus.iter().map(|cpu| cpu.machine.longest_gap);
        let is_whole = gaps.max() < Some(Duration::from_millis(1));
        assert!(paper.late == 1 || paper.late > 1 && !is_whole, "{paper:?}");
        for task in jobs(&ran.report).iter().flatten() {
            let accounted = task.completed + task.dropped + task.unfinished;
            assert_eq!((task.released, accounted), (10, 10), "{task:?}");
        }
        assert_eq!(real_time_threads(std::process::id()), NOBODY);
        returns.store(true, Ordering::SeqCst);
        let stays = || priorities().contains_key("second-1");
        assert!(eventually(|| !stays()), "{barrier:?} keeps a worker");
    }
}

/// Of each thread of this process by its name, the real-time priority.
fn priorities() -> BTreeMap<String, i32> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let each = threads.filter_map(|thread| {
        let stat = std::fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        // The 40th field; the third is the first behind the name.
        let priority = rest.split_whitespace().nth(37)?.parse().ok()?;
        Some((name.to_owned(), priority))
    });
    each.collect()
}

/// Figure 5 of the paper.
#[test]
fn the_dispatcher_is_above_the_scheduler_above_the_checker_above_all_workers() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    let seen = Arc::new(Mutex::new(BTreeMap::new()));
    let found = Arc::clone(&seen);
    let demand = move |place| {
        if place == (0, 0, 2) {
            *found.lock().unwrap() = priorities();
        }
        usual(place)
    };
    run(&places, USUAL, demand);
    let seen = seen.lock().unwrap();
    let names = ["vestal-dispatch", "vestal-schedule", "vestal-check"];
    let [dispatcher, scheduler, checker] = names.map(|name| seen[name]);
    let tasks = ["first", "second", "low"];
    let workers = (0..2).flat_map(|cpu| tasks.map(|task| format!("{task}-{cpu}")));
    let workers: Vec<i32> = workers.map(|name| seen[&name]).collect();
    assert!(dispatcher > scheduler && scheduler > checker, "{seen:?}");
    assert!(workers.iter().all(|worker| checker > *worker), "{seen:?}");
    assert!(workers.iter().all(|worker| *worker > 0), "{seen:?}");
}

/// One CPU with tasks, and one with the threads beside them.
#[test]
fn a_dispatcher_of_its_own_has_a_processor_without_workers_and_all_is_as_often() {
    let _alone = alone();
    let Some([place, other]) = two_processors() else {
        return;
    };
    well_on_all(|| {
        let dispatcher = Dispatcher::Own(Some(Processor(other)));
        let way = Way {
            dispatcher,
            ..USUAL
        };
        let (ran, paper) = calm_run(&[place], way, usual);
        assert_eq!(counts(&ran.report), frames(0, 0, 0));
        assert_eq!((ran.report.jobs.completed, ran.report.jobs.missed), (30, 0));
        assert!(paper.has_own_processor);
        let processors: Vec<usize> = ran.report.cpus.iter().map(|cpu| cpu.processor.0).collect();
        assert_eq!(processors, [place]);
        let host = ran.report.dispatcher.as_ref().unwrap();
        assert_eq!((host.processor.0, host.tasks.len()), (other, 0));
        // It waits for each of 10 frames and at each of 20 barriers, the dispatcher for each frame.
        let [scheduler, dispatcher] = [host.threads.manager, host.threads.dispatcher];
        assert!(scheduler.voluntary >= 20, "{scheduler:?}");
        assert!(dispatcher.voluntary >= 9, "{dispatcher:?}");
        // What all CPUs wait for is in the parts of those that have tasks.
        let parts = &ran.report.cpus[0].parts.parts;
        let count = |wanted: Part| {
            parts
                .iter()
                .find(|(part, _)| *part == wanted)
                .unwrap()
                .1
                .count
        };
        assert_eq!(count(Part::FrameInit), 10, "{parts:#?}");
        assert!(count(Part::SubFrameInit) >= 10, "{parts:#?}");
        // What the scheduler takes there is recorded behind the CPUs of the set.
        let spans = |wanted: Edge| {
            let is_own = |record: &&Record| matches!(record.what, What::Overhead { cpu: CpuId(1), edge, .. } if edge == wanted);
            ran.records.iter().filter(is_own).count()
        };
        assert!(spans(Edge::Begin) >= 20, "{}", spans(Edge::Begin));
        assert_eq!(spans(Edge::Begin), spans(Edge::End));
    });
}

/// What was stolen from a CPU by the records of a run, each time.
fn gaps_of(records: &[Record], of: CpuId) -> impl Iterator<Item = Duration> {
    records.iter().filter_map(move |record| {
        let What::Gap { cpu, length } = record.what else {
            return None;
        };
        (cpu == of).then_some(length)
    })
}

/// The same in all.
fn gaps(records: &[Record], of: CpuId) -> Duration {
    gaps_of(records, of).fold(Duration::ZERO, Duration::saturating_add)
}

/// The same with a thread of another process on the CPU of the scheduler, above that.
#[test]
fn what_is_stolen_from_the_dispatcher_s_own_processor_is_recorded_behind_the_cpus_of_the_set() {
    let _alone = alone();
    let Some([place, other]) = two_processors() else {
        return;
    };
    well_on_all(|| {
        let thief = fork_thief(other, 99, (9, 45, 1_000)).unwrap();
        pause(20);
        let way = Way {
            dispatcher: Dispatcher::Own(Some(Processor(other))),
            ..USUAL
        };
        let (ran, _) = run(&[place], way, usual);
        reap(thief).unwrap();
        let host = &ran.report.dispatcher.as_ref().unwrap().machine;
        assert!(host.lost >= Duration::from_millis(5), "{host:#?}");
        assert_eq!(gaps(&ran.records, CpuId(1)), host.lost);
        let lost = ran.report.cpus[0].machine.lost;
        assert_eq!(gaps(&ran.records, CpuId(0)), lost);
    });
}

/// Two CPUs of the set on each processor: their workers wait for each other, and for the scheduler of one of them.
#[test]
fn cpus_that_share_processors_come_through_by_these_threads_too() {
    let _alone = alone();
    let Some(two) = two_processors() else {
        return;
    };
    for barrier in BARRIERS {
        well_on_all(|| {
            let way = Way { barrier, ..USUAL };
            let (ran, _) = calm_run(&two.repeat(2), way, |_| ms(1));
            assert_eq!(counts(&ran.report), frames(0, 0, 0), "{barrier:?}");
            let order = order(&ran.log);
            assert_eq!(order.len(), 40, "{barrier:?}: {order:?}");
            assert!(order.values().all(|tasks| *tasks == [1, 0, 2]), "{order:?}");
            assert_eq!(overlaps(&ran.log, &ran.report), 0, "{barrier:?}");
            assert_eq!(ran.report.stuck, NOBODY);
        });
    }
}

/// A worker that takes 9 ms to begin or to end a job is late by itself, also where a checker comes each millisecond meanwhile: that is nobody
/// else's time.
#[test]
fn a_slow_worker_is_late_by_itself_while_a_checker_looks() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    let way = Way {
        monitor: Monitor::Heartbeat,
        ..USUAL
    };
    for (point, duty) in [
        (Point::JobStart, Duty::JobStart),
        (Point::JobEnd, Duty::JobEnd),
    ] {
        for how in [How::Burn, How::Sleep] {
            well_on_all(|| {
                let fault = Fault::Delay(Delay {
                    point,
                    how,
                    milliseconds: 9,
                    every: 10,
                });
                let set = set(&places, way, usual, &Log::default());
                let set = set.with_fault_on(vestal_core::CpuId(0), fault);
                let report = set.run(Duration::from_millis(10 * FRAME_MS)).unwrap();
                let cpu = &report.cpus[0];
                let delay = Duration::from_millis(9);
                let reactions = cpu.threads.reactions.iter();
                let mut own = reactions.filter(|found| found.duty == duty);
                assert!(
                    own.next().unwrap().longest >= delay,
                    "{duty:?} {how:?}: {report:#?}"
                );
                assert!(cpu.machine.lost < delay, "{duty:?} {how:?}: {report:#?}");
                let counts = counts(&report);
                let accused = counts.unprovoked - counts.unprovoked_undecided;
                assert!(accused >= 1, "{duty:?} {how:?}: {report:#?}");
            });
        }
    }
}

/// A body that says nothing while it lasts.
fn work_unseen(_: &mut JobContext<'_>, amount: Service) -> Result<(), Cancelled> {
    let end = own_cpu_nanos() + amount.as_nanos();
    while own_cpu_nanos() < end {
        std::hint::spin_loop();
    }
    Ok(())
}

/// Of the jobs of CPU 0 in their order each so many-th was delayed: how many of these were HI jobs, and how many there were.
fn delayed(log: &[(Place, u64, u64)], every: usize) -> [u64; 2] {
    let mut own: Vec<_> = log.iter().filter(|((cpu, ..), ..)| *cpu == 0).collect();
    own.sort_by_key(|(_, begun, _)| *begun);
    let all = || own.iter().skip(every - 1).step_by(every);
    let hi = all().filter(|((_, task, _), ..)| *task != 2);
    [hi.count(), all().count()].map(|count| count as u64)
}

/// The same beside a thread of another process, which takes 4 ms of each 26 ms from that CPU: the checker, which it keeps from looking, and bodies
/// that look at no clock both tell of that. It is found, once; our delay of 12 ms is not taken for more of it.
#[test]
fn a_slow_worker_is_late_by_itself_beside_a_thief_that_checkers_and_unseen_bodies_tell_of() {
    let _alone = alone();
    let Some(places) = two_processors() else {
        return;
    };
    let way = Way {
        monitor: Monitor::Heartbeat,
        work: work_unseen,
        ..USUAL
    };
    // Two thirds of the time a body lasts there: what checkers find late is found again by these, if it is not known.
    let demand = |place| match place {
        (0, 2, _) => ms(22),
        place => usual(place),
    };
    for point in [Point::JobStart, Point::JobEnd] {
        for how in [How::Burn, How::Sleep] {
            well_on_all(|| {
                let fault = Fault::Delay(Delay {
                    point,
                    how,
                    milliseconds: 12,
                    every: 7,
                });
                let log = Log::default();
                let set = set(&places, way, demand, &log);
                let set = set.with_fault_on(CpuId(0), fault);
                let thief = fork_thief(places[0], 99, (4, 26, 900)).unwrap();
                pause(20);
                let (report, records) = recorded(set, 10 * FRAME_MS);
                reap(thief).unwrap();
                let (lost, gaps) = (report.cpus[0].machine.lost, report.cpus[0].machine.gaps);
                let what = format!("{point:?} {how:?}: {report:#?}");
                assert!(lost >= Duration::from_millis(20), "{what}");
                // Sixteen times in 400 ms, and what else a machine takes. Where a body tells again of what is known they are 22 and more.
                assert!(lost <= Duration::from_millis(16 * 4 + 6), "{what}");
                assert!(gaps <= 20, "{what}");
                // In none has a delay of ours room.
                let longest = gaps_of(&records, CpuId(0)).max();
                assert!(longest < Some(Duration::from_millis(7)), "{what}");
                let counts = counts(&report);
                let accused = counts.unprovoked - counts.unprovoked_undecided;
                // The LO jobs of both CPUs, in each frame of which a HI job was delayed; perhaps in one that a delayed LO job made late.
                let [hi, all] = delayed(&log.lock().unwrap(), 7);
                assert!(hi >= 1, "{what}");
                assert!((2 * hi..=2 * all).contains(&accused), "{what}");
            });
        }
    }
}
