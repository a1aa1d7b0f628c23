//! Whole simulations of random task sets, to be counted and timed from outside:
//! scripts/bench-simulator.sh does that, and explains its figures.
//!
//! ```text
//! speed run  POLICY WATCH TASKS SECONDS SEED   simulates, prints jobs and decisions
//! speed hand TASKS SECONDS SEED                the same set in a loop written by hand (`hand.rs`)
//! speed list TASKS SEED                        prints the set: T, C(LO), C(HI) in ns and priority
//! ```
//!
//! POLICY: `amc` (deadline-monotonic priorities, adaptive limits), `amc-overruns` (the same, and one
//! job in a hundred of the HI tasks needs C(HI)), `edf` (earliest deadline first, static limits), `edf-vd`
//! (HI jobs due after D/2, adaptive limits, overruns as above) and `edf-vd-two-queues` (the same decisions).
//! WATCH: `nothing`, `statistics`, or `trace` (statistics, and the complete `.vtrace` of the run, written
//! to where nothing is kept).
//!
//! The recipe: utilisations by UUniFast (Bini and Buttazzo 2005) with U = 0.8 at level 0, T
//! log-uniform in 10..1000 ms, D = T, half of the tasks HI on average, C(HI) = 2 C(LO), synchronous
//! periodic releases, and jobs that execute C(LO).
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers"
)]

mod hand;

use std::error::Error;
use vestal_core::{
    ClassicOrder, Configuration, DeadlineQueues, Duration, Enforcement, Exhaustion, Instant, Level,
    LevelSet, Service, Task, TaskConfiguration, TaskId, TaskOrder, Uniprocessor, Wcet,
};
use vestal_sim::workload::Periodic;
use vestal_sim::{Backlog, Demand, Setting, Statistics, simulate};
use vestal_testkit::Random;
use vestal_trace::write::{Options, TraceWriter, writer};
use vestal_trace::{Format, Header, Record, Recorder, Sink};

const USAGE: &str =
    "usage: speed run amc|amc-overruns|edf|edf-vd|edf-vd-two-queues nothing|statistics|trace TASKS SECONDS SEED
       speed hand TASKS SECONDS SEED
       speed list TASKS SEED";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["list", tasks, seed] => list(&generate(tasks.parse()?, seed.parse()?)?),
        ["run", policy, watch, tasks, seconds, seed] => {
            let tasks = generate(tasks.parse()?, seed.parse()?)?;
            run(policy, watch, &tasks, seconds.parse()?)
        }
        ["hand", tasks, seconds, seed] => {
            by_hand(&generate(tasks.parse()?, seed.parse()?)?, seconds.parse()?)
        }
        _ => {
            eprintln!("{USAGE}");
            std::process::exit(2)
        }
    }
}

fn list(tasks: &[Task]) -> Result<(), Box<dyn Error>> {
    for entry in configured(tasks)? {
        let Task { period, wcet, .. } = entry.task;
        println!(
            "{} {} {} {}",
            period.as_nanos(),
            wcet.at(Level(0)).as_nanos(),
            wcet.at(Level(1)).as_nanos(),
            entry.priority
        );
    }
    Ok(())
}

/// The yardstick, with the priorities and the executions of `amc`: its counts are those of `run`.
fn by_hand(tasks: &[Task], seconds: u64) -> Result<(), Box<dyn Error>> {
    let mut entries = configured(tasks)?;
    // The largest number is the most urgent one; of two the task that stands first.
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.priority));
    let row = |entry: &TaskConfiguration| {
        let Task { period, wcet, .. } = entry.task;
        (period.as_nanos(), wcet.at(Level(0)).as_nanos())
    };
    let rows: Vec<(u64, u64)> = entries.iter().map(row).collect();
    let counts = hand::simulate(&rows, seconds * 1_000_000_000)?;
    println!(
        "jobs {} completed {} missed {} worst {}",
        counts.released, counts.completed, counts.missed, counts.worst
    );
    Ok(())
}

fn by_deadline(due: Vec<Duration>, queues: DeadlineQueues) -> TaskOrder<'static> {
    TaskOrder::EarliestDeadline {
        virtual_deadlines: due.into(),
        queues,
    }
}

/// HI jobs are due after half of their time in mode 0.
fn virtual_ones(tasks: &[Task]) -> Vec<Duration> {
    let due = |task: &Task| match task.criticality {
        Level::LOWEST => task.deadline,
        _ => Duration::from_nanos(task.deadline.as_nanos() / 2),
    };
    tasks.iter().map(due).collect()
}

/// The order of a policy, its limits, and whether some jobs overrun.
fn of_policy(
    policy: &str,
    tasks: &[Task],
) -> Result<(TaskOrder<'static>, Enforcement, bool), Box<dyn Error>> {
    Ok(match policy {
        "amc" => (TaskOrder::FixedPriority, Enforcement::Adaptive, false),
        "amc-overruns" => (TaskOrder::FixedPriority, Enforcement::Adaptive, true),
        "edf" => {
            let order = by_deadline(
                tasks.iter().map(|task| task.deadline).collect(),
                DeadlineQueues::One,
            );
            (order, Enforcement::Static, false)
        }
        "edf-vd" | "edf-vd-two-queues" => {
            let queues = match policy {
                "edf-vd" => DeadlineQueues::One,
                _ => DeadlineQueues::Two,
            };
            (
                by_deadline(virtual_ones(tasks), queues),
                Enforcement::Adaptive,
                true,
            )
        }
        other => return Err(format!("no policy {other:?}\n{USAGE}").into()),
    })
}

fn run(policy: &str, watch: &str, tasks: &[Task], seconds: u64) -> Result<(), Box<dyn Error>> {
    let configured = configured(tasks)?;
    let (order, enforcement, overruns) = of_policy(policy, tasks)?;
    let exhaustion = Exhaustion::Background;
    let configuration = Configuration {
        tasks: &configured,
        levels: LevelSet::new(2).ok_or("two levels are too many")?,
        enforcement,
        exhaustion,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let mut engine = Uniprocessor::with_order(&configuration, &order)?;
    let end = Instant::EPOCH.saturating_add(Duration::from_millis(seconds * 1000));
    let setting = Setting {
        tasks,
        cpus: 1,
        end,
        backlog: Backlog::UNLIMITED,
    };
    let releases = Periodic::synchronous(tasks);
    let demand = Low { tasks, overruns };
    let statistics = Statistics::of(&configuration, 1);
    let (effort, statistics, records) = match watch {
        "nothing" => {
            let effort = simulate(&mut engine, &setting, &releases, &demand, &mut ())?;
            (effort, statistics, 0)
        }
        "statistics" => {
            let mut watch = statistics;
            let effort = simulate(&mut engine, &setting, &releases, &demand, &mut watch)?;
            (effort, watch, 0)
        }
        "trace" => {
            let mut watch = statistics;
            let mut recorder = Recorder::new(&mut engine, Counted::new()?);
            let effort = simulate(&mut recorder, &setting, &releases, &demand, &mut watch)?;
            let (_, written) = recorder.finish(end);
            let records = written.records;
            written.file.finish()?;
            (effort, watch, records)
        }
        other => return Err(format!("there is no observer {other:?}\n{USAGE}").into()),
    };
    let jobs = statistics.jobs();
    println!(
        "jobs {} completed {} missed {} decisions {} facts {} mode-changes {} records {records} worst {}",
        jobs.released,
        jobs.completed,
        jobs.missed,
        effort.decisions,
        effort.facts,
        statistics.mode_changes_count(),
        statistics
            .tasks()
            .iter()
            .filter_map(|task| task.response.spread().max())
            .sum::<u64>(),
    );
    Ok(())
}

/// Deadline-monotonic priorities.
fn configured(tasks: &[Task]) -> Result<Vec<TaskConfiguration>, Box<dyn Error>> {
    let number = |index| -> Result<TaskId, Box<dyn Error>> { Ok(TaskId(u16::try_from(index)?)) };
    let configure = |(index, &task): (usize, &Task)| {
        let priority = ClassicOrder::DeadlineMonotonic.priority_of(number(index)?, tasks);
        Ok(TaskConfiguration::new(
            task,
            priority.ok_or("a task has no priority")?,
        ))
    };
    tasks.iter().enumerate().map(configure).collect()
}

/// Every job executes C(LO), but for those that overrun.
struct Low<'a> {
    tasks: &'a [Task],
    overruns: bool,
}

impl Demand for Low<'_> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        let Some(model) = self.tasks.get(task.index()) else {
            return Service::ZERO;
        };
        let drawn = Random::new(u64::from(task.0) << 48 | sequence).next();
        let level = Level(u8::from(self.overruns && drawn.is_multiple_of(100)));
        model.enforced_wcet(level)
    }
}

/// The trace as `vestal simulate --trace FILE.vtrace` writes it, with its records counted.
struct Counted {
    file: Box<dyn TraceWriter>,
    records: u64,
}

impl Counted {
    fn new() -> std::io::Result<Self> {
        let header = Header::new("amc");
        let file = writer(Format::Vtrace, &header, Options::default(), std::io::sink())?;
        Ok(Self { file, records: 0 })
    }
}

impl Sink for Counted {
    fn put(&mut self, record: Record) {
        // Nothing that is thrown away fails.
        let _ = self.file.record(&record);
        self.records += 1;
    }
}

/// Uniform in the open interval (0, 1).
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn fraction(random: &mut Random) -> f64 {
    ((random.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the set is random, and rounded to whole nanoseconds here"
)]
fn generate(count: usize, seed: u64) -> Result<Vec<Task>, Box<dyn Error>> {
    let mut random = Random::new(seed);
    let mut tasks = Vec::new();
    let mut rest = 0.8;
    for index in 0..count {
        let behind = (count - index - 1) as f64;
        let after = match behind {
            0.0 => 0.0,
            behind => rest * fraction(&mut random).powf(1.0 / behind),
        };
        let utilisation = rest - after;
        rest = after;
        let period = 1e7 * 100.0_f64.powf(fraction(&mut random));
        let low = ((period * utilisation) as u64).max(1);
        let high = random.next() >> 63;
        let span = Duration::from_nanos(period as u64);
        let wcet = [low, low << high].map(Service::from_nanos);
        tasks.push(Task::new(
            Level(u8::from(high == 1)),
            span,
            span,
            Wcet::new(&wcet)?,
        )?);
    }
    Ok(tasks)
}
