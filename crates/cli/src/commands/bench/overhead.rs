//! `vestal bench overhead --paper PAPER`: what policies and mechanisms cost at run time.
//!
//! Every variant runs the same busy period: all tasks released together, every job executing C(0), until
//! the CPU is idle. A run is one busy period, and the runs of a repetition follow one another, in another
//! order each time, so that what drifts slowly meets all variants alike.

mod cameras;
mod journal;
mod output;
mod shares;

use crate::args::{BenchArgs, WorldArgs};
use crate::clock::Stopwatch;
use crate::commands::run;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::names::VERSION;
use crate::output::Output;
use crate::progress::Progress;
use crate::real::{self, Mechanism, Monitor, Settings, ShortRun};
use crate::session::Session;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use vestal_experiment::overhead::busy_period::{BusyPeriod, first_busy_period};
use vestal_experiment::overhead::page::Circumstances;
use vestal_experiment::overhead::{
    Measurement, PAPERS, Paper, Plan, Preemptions, Run, State, Table, Variant, missimer, paper_of,
    sigrist2015,
};

/// A plan with another number of repetitions; hyperperiods keep their share, rounded up, and more take longer.
fn repeated(plan: Plan, repetitions: Option<u32>) -> Plan {
    let Some(repetitions) = repetitions else {
        return plan;
    };
    let whole = plan.whole_repetitions.saturating_mul(repetitions);
    let before = plan.repetitions.max(1);
    let scaled = |most: Duration| most.max(most.saturating_mul(repetitions) / before);
    Plan {
        repetitions,
        whole_repetitions: whole.div_ceil(before),
        most: scaled(plan.most),
        whole_most: scaled(plan.whole_most),
        ..plan
    }
}

/// A run in which the machine took the CPU for so long at once counts in no median. Shorter gaps are ticks
/// and interrupts, which every busy period has.
const GAP_NS: u64 = 200_000;
/// What a job may exceed a limit by: a gap that does not count makes no overrun either. Calibrating anew for each
/// run would take longer than the run.
const TOLERANCE_NS: u64 = GAP_NS;
/// The same of a slice, of which the shortest takes 125 us: slices below twice the tolerance are not enforced.
const SLICE_TOLERANCE_NS: u64 = 50_000;

pub(super) fn overhead(args: &BenchArgs, output: &Output) -> Outcome {
    let experiment = named(args.paper.as_deref())?;
    if args.device.is_some() && experiment != Experiment::Cameras {
        let why = format!("only --paper {} has devices", missimer::NAME);
        let failure = Failure::input("use --device", why);
        return Err(failure.with_help("leave it out"));
    }
    for (given, option) in [
        (args.paired, "--paired"),
        (args.growth, "--growth"),
        (args.alternatives, "--alternatives"),
    ] {
        if given && experiment != Experiment::Shares {
            let why = format!("only --paper {} has that", sigrist2015::NAME);
            let failure = Failure::input(format!("use {option}"), why);
            return Err(failure.with_help("leave it out"));
        }
    }
    if let Some(directory) = &args.directory {
        output::check_no_other(experiment, directory)?;
    }
    let paper = match experiment {
        Experiment::BusyPeriods(paper) => paper,
        Experiment::Shares => return shares::shares(args, output),
        Experiment::Cameras => return cameras::cameras(args, output),
    };
    let plan = if args.quick { paper.quick } else { paper.full };
    let plan = repeated(plan, args.repetitions);
    let cpu = args.cpus.as_deref().map(run::cpu).transpose()?;
    if let Some(directory) = &args.directory {
        output::reserve(directory)?;
    }
    let measured = measure(paper, &plan, cpu, args, output)?;
    let mechanisms = match interrupt::asked() {
        true => Vec::new(),
        false => {
            let primitives = real::primitives(args.quick, output)?;
            super::mechanisms(&primitives, (cpu, args.quick), output)?
        }
    };
    let interrupted = interrupt::asked();
    output::show((&measured, mechanisms), interrupted, args, output)?;
    if interrupted {
        output.warning("interrupted; what was complete until then is shown");
    }
    Ok(Exit::holds(!interrupted))
}

/// What papers measured.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Experiment {
    /// How much longer busy periods are.
    BusyPeriods(&'static Paper),
    /// Which share of the time each part of carrying a policy out takes.
    Shares,
    /// What bottom halves of cameras in servers take, and get.
    Cameras,
}

/// That of the paper of this name.
fn named(name: Option<&str>) -> Result<Experiment, Failure> {
    let known = PAPERS
        .iter()
        .map(|paper| paper.name)
        .chain([sigrist2015::NAME, missimer::NAME]);
    let known: Vec<String> = known.map(|name| format!("--paper {name}")).collect();
    let why = match name {
        None => "no experiment is named".to_owned(),
        Some(sigrist2015::NAME) => return Ok(Experiment::Shares),
        Some(missimer::NAME) => return Ok(Experiment::Cameras),
        Some(name) => match paper_of(name) {
            Some(paper) => return Ok(Experiment::BusyPeriods(paper)),
            None => format!("there is no experiment of `{name}`"),
        },
    };
    let help = format!("this version knows: {}", known.join(", "));
    Err(Failure::input("measure overheads", why).with_help(help))
}

/// A variant with the sessions of its numbers of tasks.
struct Entry {
    index: usize,
    variant: &'static Variant,
    settings: Settings,
}

fn measure(
    paper: &'static Paper,
    plan: &Plan,
    cpu: Option<usize>,
    args: &BenchArgs,
    output: &Output,
) -> Result<Measurement, Failure> {
    let stop = interrupt::watch()?;
    let mut not_run = Vec::new();
    let mut entries = Vec::new();
    for (index, variant) in paper.variants.iter().enumerate() {
        if interrupt::asked() {
            break;
        }
        let settings = settings(variant, cpu);
        match probe((paper, variant), &settings, output) {
            Ok(()) => entries.push(Entry {
                index,
                variant,
                settings,
            }),
            // What the machine cannot do concerns all of them.
            Err(failure) if failure.exit == Exit::Machine => return Err(failure),
            Err(failure) => not_run.push((variant.name, failure.why)),
        }
    }
    let busy: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.variant.in_busy_periods)
        .collect();
    let mut series = Series {
        paper,
        stop,
        output,
        since: Stopwatch::start(),
        most: plan.most,
    };
    let (runs, repetitions) =
        series.run("busy periods", plan.sizes, plan.repetitions, &busy, false)?;
    series.most = series.since.elapsed() + plan.whole_most;
    let whole: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.variant.in_hyperperiods)
        .collect();
    let (whole, _) = series.run(
        "hyperperiods",
        plan.whole_sizes,
        plan.whole_repetitions,
        &whole,
        true,
    )?;
    let preemptions = preemptions(plan, cpu, stop, output)?;
    Ok(Measurement {
        circumstances: Circumstances {
            command: output::command(paper.name, args),
            version: VERSION.to_owned(),
            machine: real::machine(),
            repetitions,
            not_run,
        },
        table: Table::of(paper, runs),
        whole: Table::of(paper, whole),
        preemptions,
    })
}

fn preemptions(
    plan: &Plan,
    cpu: Option<usize>,
    stop: &AtomicBool,
    output: &Output,
) -> Result<Vec<Preemptions>, Failure> {
    let progress = Progress::new(output, "preemptions", plan.threads.len() as u64);
    let mut rows = Vec::new();
    for (done, threads) in (1..).zip(plan.threads) {
        rows.extend(real::preemptions(&[*threads], plan.effort, cpu, stop)?);
        progress.at(done);
    }
    Ok(rows)
}

fn settings(variant: &Variant, cpu: Option<usize>) -> Settings {
    let monitor = match variant.by_timers {
        true => Monitor::Manager,
        false => Monitor::Perf,
    };
    Settings {
        managed: variant.managed,
        mechanism: match variant.of_paper {
            true => Mechanism::Huang2014,
            false => Mechanism::Vestal,
        },
        // The paper's mechanisms have timers of their own.
        monitor: (!variant.of_paper).then_some(monitor),
        observe: !variant.enforced,
        cpus: cpu.map(|cpu| vec![cpu]),
        tolerance_ns: Some(match variant.in_slices {
            true => SLICE_TOLERANCE_NS,
            false => TOLERANCE_NS,
        }),
        ..Settings::default()
    }
}

/// Whether a variant can run at all: it does, for a moment.
fn probe(
    (paper, variant): (&Paper, &Variant),
    settings: &Settings,
    output: &Output,
) -> Result<(), Failure> {
    let size = paper.set.sizes.first().copied().unwrap_or(1);
    let session = session((paper, variant), size, Duration::from_millis(1), output)?;
    run::check_mechanism(&session, settings)?;
    real::measure(&session, settings).map(|_| ())
}

/// A session of `size` tasks for `span`, in which every job executes C(0).
fn session(
    (paper, variant): (&Paper, &Variant),
    size: usize,
    span: Duration,
    output: &Output,
) -> Result<Session, Failure> {
    let world = WorldArgs {
        file: PathBuf::from(format!("{}-{size}.toml", paper.name)),
        policy: variant.policy.to_owned(),
        duration: Some(format!("{}ns", span.as_nanos())),
        scenario: Some("lo".to_owned()),
        seed: paper.set.seed,
        options: variant
            .options
            .iter()
            .map(|&option| option.to_owned())
            .collect(),
        parameters: None,
    };
    Session::with_set(&world, (paper.set.file)(size), output)
}

/// Repetitions of runs.
struct Series<'a> {
    paper: &'static Paper,
    stop: &'a AtomicBool,
    output: &'a Output,
    since: Stopwatch,
    /// No repetition begins later.
    most: Duration,
}

impl Series<'_> {
    /// `repetitions` times every variant with every number of tasks, over a busy period or over a whole
    /// hyperperiod; also how many repetitions were complete.
    fn run(
        &self,
        label: &'static str,
        sizes: &[usize],
        repetitions: u32,
        entries: &[&Entry],
        whole: bool,
    ) -> Result<(Vec<Run>, u32), Failure> {
        let mut sessions = BTreeMap::new();
        for &size in sizes {
            let set = &self.paper.set;
            let busy = first_busy_period(&(set.tasks)(size), set.hyperperiod);
            // The jobs released then belong to the next busy period, and are not.
            let span = match whole {
                false => Duration::from_nanos(busy.next_release.as_nanos()),
                true => Duration::from_nanos(set.hyperperiod.as_nanos()),
            };
            for (number, entry) in entries.iter().enumerate() {
                if self.stop.load(Ordering::SeqCst) {
                    return Ok((Vec::new(), 0));
                }
                let session = session((self.paper, entry.variant), size, span, self.output)?;
                sessions.insert((size, number), (session, busy.clone()));
            }
        }
        let total = sessions.len() as u64 * u64::from(repetitions);
        let progress = Progress::new(self.output, label, total);
        let mut runs = Vec::new();
        for repetition in 0..repetitions {
            if self.since.elapsed() > self.most {
                return Ok((runs, repetition));
            }
            let before = runs.len();
            for (size, number) in order(sizes, entries.len(), repetition) {
                let Some((session, busy)) = sessions.get(&(size, number)) else {
                    continue;
                };
                let entry = entries[number];
                let run = match self.stop.load(Ordering::SeqCst) {
                    true => None,
                    false => Some(real::measure(session, &entry.settings)?),
                };
                // What ended a run ends the whole experiment: the latch is the same.
                let Some(run) = run.filter(|run| !run.interrupted) else {
                    // A repetition that is not complete is none.
                    runs.truncate(before);
                    return Ok((runs, repetition));
                };
                runs.push(of(&run, repetition, size, entry.index, busy, whole));
                progress.at(runs.len() as u64);
            }
        }
        Ok((runs, repetitions))
    }
}

/// Sizes and variants of a repetition: neighbours in time are the variants of a size, beginning with another
/// one each time, forwards and backwards in turn.
fn order(sizes: &[usize], variants: usize, repetition: u32) -> Vec<(usize, usize)> {
    let shift = repetition as usize;
    let mut all = Vec::new();
    for &size in sizes {
        let mut numbers: Vec<usize> = (0..variants)
            .map(|i| (i + shift / 2) % variants.max(1))
            .collect();
        if shift % 2 == 1 {
            numbers.reverse();
        }
        all.extend(numbers.into_iter().map(|number| (size, number)));
    }
    all
}

fn of(
    run: &ShortRun,
    repetition: u32,
    size: usize,
    variant: usize,
    busy: &BusyPeriod,
    whole: bool,
) -> Run {
    Run {
        repetition,
        size,
        variant,
        state: state(run, busy, whole),
        busy_ns: run.busy_ns,
        switches: run.switches,
        own_cpu_ns: run.own_cpu_ns,
        workers_cpu_ns: run.workers_cpu_ns,
        wakeups: run.wakeups,
        lost_ns: run.lost_ns,
        longest_gap_ns: run.longest_gap_ns,
        manager: run.manager,
    }
}

fn state(run: &ShortRun, busy: &BusyPeriod, whole: bool) -> State {
    let within_limits = run.mode_changes == 0 && run.overruns == 0;
    // Of a hyperperiod it is CPU time that counts, and no length: where a gap made jobs late, and no more than that, it
    // adds to CPU times only if one of the run's own threads was on the CPU.
    let as_expected = match whole {
        true => run.completed == run.released,
        false => {
            let jobs = run.completed == busy.jobs && run.released == busy.jobs;
            jobs && run.busy_periods == 1 && run.missed == 0
        }
    };
    match (run.longest_gap_ns, within_limits && as_expected) {
        (_, true) if whole => State::Clean,
        (GAP_NS.., _) => State::Gap,
        (_, true) => State::Clean,
        (_, false) => State::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use vestal_experiment::overhead::HUANG2014;

    const FULL: Plan = HUANG2014.full;
    const QUICK: Plan = HUANG2014.quick;

    #[test]
    fn hyperperiods_are_repeated_in_proportion() {
        let of = |plan: Plan, repetitions| {
            let plan = repeated(plan, repetitions);
            (plan.repetitions, plan.whole_repetitions)
        };
        assert_eq!(of(FULL, None), (40, 16));
        assert_eq!(of(FULL, Some(1)), (1, 1));
        assert_eq!(of(FULL, Some(80)), (80, 32));
        assert_eq!(of(QUICK, Some(9)), (9, 0));
        let most = |repetitions| repeated(FULL, Some(repetitions)).most.as_secs();
        assert_eq!((most(1), most(40), most(80)), (420, 420, 840));
    }

    #[test]
    fn a_paper_is_named_and_known() {
        for paper in PAPERS {
            let found = named(Some(paper.name)).unwrap();
            assert_eq!(found, Experiment::BusyPeriods(paper));
        }
        let found = named(Some(sigrist2015::NAME)).unwrap();
        assert_eq!(found, Experiment::Shares);
        let found = named(Some(missimer::NAME)).unwrap();
        assert_eq!(found, Experiment::Cameras);
        for (name, says) in [
            (None, "no experiment is named"),
            (Some("huang2041"), "`huang2041`"),
        ] {
            let failure = named(name).unwrap_err();
            assert!(failure.why.contains(says), "{}", failure.why);
        }
    }

    #[test]
    fn every_variant_runs_once_with_each_size_and_takes_every_place() {
        let mut firsts = BTreeSet::new();
        for repetition in 0..20 {
            let order = order(&[4, 8], 5, repetition);
            let distinct: BTreeSet<_> = order.iter().collect();
            assert_eq!((order.len(), distinct.len()), (10, 10));
            assert!(order[..5].iter().all(|(size, _)| *size == 4));
            firsts.insert(order[0].1);
        }
        assert_eq!(firsts.len(), 5);
    }

    #[test]
    fn only_the_busy_period_of_the_set_counts() {
        let set = &HUANG2014.set;
        let busy = first_busy_period(&(set.tasks)(4), set.hyperperiod);
        let good = ShortRun {
            busy_periods: 1,
            completed: busy.jobs,
            released: busy.jobs,
            ..ShortRun::default()
        };
        assert_eq!(state(&good, &busy, false), State::Clean);
        let gap = ShortRun {
            longest_gap_ns: GAP_NS,
            ..good
        };
        assert_eq!(state(&gap, &busy, false), State::Gap);
        assert_eq!(state(&gap, &busy, true), State::Clean);
        let late = ShortRun { missed: 1, ..gap };
        assert_eq!(state(&late, &busy, true), State::Clean);
        let over = ShortRun { overruns: 1, ..gap };
        assert_eq!(state(&over, &busy, true), State::Gap);
        for bad in [
            ShortRun {
                mode_changes: 1,
                ..good
            },
            ShortRun {
                overruns: 1,
                ..good
            },
            ShortRun { missed: 1, ..good },
            ShortRun {
                busy_periods: 2,
                ..good
            },
            ShortRun {
                completed: busy.jobs - 1,
                ..good
            },
            ShortRun {
                released: busy.jobs + 1,
                ..good
            },
        ] {
            assert_eq!(state(&bad, &busy, false), State::Other, "{bad:?}");
        }
        let more = ShortRun {
            completed: 99,
            released: 99,
            ..good
        };
        assert_eq!(state(&more, &busy, true), State::Clean);
        let unfinished = ShortRun {
            completed: 98,
            ..more
        };
        assert_eq!(state(&unfinished, &busy, true), State::Other);
        assert_eq!(
            state(
                &ShortRun {
                    mode_changes: 1,
                    ..more
                },
                &busy,
                true
            ),
            State::Other
        );
    }
}
