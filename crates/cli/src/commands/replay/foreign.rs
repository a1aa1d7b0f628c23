//! `vestal replay RECORDING FILE` for text of perf or ftrace: what threads did, against a task set.
//!
//! No decisions are in such a recording, so nothing is decided again. The threads called as the
//! tasks are their jobs; compared are the order of priorities, execution times and deadlines.

mod page;

use crate::args::{ReplayArgs, WorldArgs};
use crate::failure::{Exit, Failure, Outcome};
use crate::input::{self, shown};
use crate::output::Output;
use crate::report::dropped_by;
use crate::session::Session;
use std::path::Path;
use vestal_core::{CpuId, Drops, Duration, JobId, Task};
use vestal_result::Format as Version;
use vestal_result::replay::{Beyond, Compared, Comparison, Inverted, Jobs, Late};
use vestal_trace::read::ftrace::{self, Options, Recording};
use vestal_trace::replay::conformance::{Conformance, Observed};
use vestal_trace::replay::inversion::{Inversion, Order, first_inversion};
use vestal_trace::{Format, Problem, TaskInfo, What};
use vestal_workload::TaskSet;
use vestal_workload::quantity::parse_time;

use super::{SWITCH, inverted, opened, unreadable};

/// How to record what is needed.
const RECORD: &str = "perf record -a -e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup; \
                      perf script > recording.txt";

/// The set, and the order that its tasks should have kept.
struct Expected {
    set: TaskSet,
    tasks: Vec<Task>,
    priorities: Vec<u32>,
    policy: Option<String>,
    /// Where the order comes from, for people.
    origin: String,
    tolerance: Duration,
}

/// Whether a file's name leaves it open that it is text of perf or ftrace.
pub(super) fn may_be(path: &Path) -> bool {
    matches!(Format::from_path(path), Ok(Format::Text) | Err(_))
}

pub(super) fn check(args: &ReplayArgs, output: &Output) -> Outcome {
    let what = format!("replay {}", shown(&args.trace));
    // What the file is comes first: a wrong file is not mended by more arguments.
    let Some(path) = &args.file else {
        read(&args.trace, &Options::default())?;
        let why = "it is a recording of threads, and no task set says what they should have done";
        return Err(Failure::input(what, why)
            .with_help("give the task set: vestal replay RECORDING FILE")
            .with_help("`vestal report` draws such a recording without one"));
    };
    let expected = expected(args, path, output)?;
    let recording = read(&args.trace, &options(&expected, path)?)?;
    let found = Conformance::of(
        &recording.header,
        &recording.records,
        &expected.tasks,
        expected.tolerance,
    );
    let not_seen = not_seen(&expected, &recording);
    let cpu = can_be_judged(&what, &expected, &recording, &found, &not_seen)?;
    let inversion = inversion(&recording, &expected, cpu);
    let inversion = inversion.map(|found| inverted(&found, |job| job_name(&expected, job)));
    let document = document(
        args,
        &expected,
        (&recording, &found),
        inversion,
        cpu,
        not_seen,
    );
    output.human(&page::page(&expected.origin, &document, output));
    output.json(&document)?;
    Ok(Exit::holds(document.equal))
}

fn read(path: &Path, options: &Options) -> Result<Recording, Failure> {
    ftrace::read(opened(path)?, options).map_err(|error| {
        if !matches!(error.problem, Problem::Foreign { .. }) {
            return unreadable(path, &error);
        }
        // Neither is it what its name would say.
        let why = match Format::from_path(path) {
            Err(unknown) => unknown.to_string(),
            Ok(format) => format!("V0811: .{} traces are only written", format.extension()),
        };
        let why = format!("{why}; nor is it text of perf or ftrace: {}", error.problem);
        Failure::input(format!("read {}", shown(path)), why)
            .with_help("a replay needs every record: give a .vtrace or a .csv trace")
            .with_help(format!("or text of perf or ftrace: {RECORD}"))
    })
}

/// What the command line and the task set ask for.
fn expected(args: &ReplayArgs, path: &Path, output: &Output) -> Result<Expected, Failure> {
    let what = format!("use {}", shown(path));
    let tolerance = match &args.tolerance {
        None => SWITCH,
        Some(text) => Duration::from_nanos(parse_time(text).ok_or_else(|| {
            let why = format!("--tolerance `{text}` is not a time with its unit");
            Failure::input(what.as_str(), why).with_help("write for instance 100us or 0ns")
        })?),
    };
    let set = input::task_set(path, output)?;
    if let Some(policy) = &args.policy {
        return by_policy(args, policy, set, tolerance, output);
    }
    let priorities = set
        .file_priorities()
        .map_err(|found| input::unreadable(path, found))?;
    let Some(priorities) = priorities else {
        let why = "nothing says which order its tasks should have kept";
        return Err(Failure::input(what, why).with_help(
            "name the policy with --policy, for instance rms, or give every task a `priority`",
        ));
    };
    let tasks = set
        .to_tasks("replay")
        .map_err(|found| Failure::diagnosed(what, found))?;
    Ok(Expected {
        set,
        tasks,
        priorities,
        policy: None,
        origin: "priorities of the file".to_owned(),
        tolerance,
    })
}

fn by_policy(
    args: &ReplayArgs,
    policy: &str,
    set: TaskSet,
    tolerance: Duration,
    output: &Output,
) -> Result<Expected, Failure> {
    let world = WorldArgs {
        file: args.file.clone().unwrap_or_default(),
        policy: policy.to_owned(),
        duration: Some("1ns".to_owned()),
        scenario: None,
        seed: 1,
        options: Vec::new(),
        parameters: args.parameters.clone(),
    };
    let session = Session::with_set(&world, set, output)?;
    let Some(priorities) = session.configuration().fixed_priorities() else {
        let why =
            format!("`{policy}` does not order jobs by fixed priorities of their tasks alone");
        return Err(
            Failure::input(format!("check the order of {}", shown(&args.trace)), why).with_help(
                "only such an order shows in a recording of threads: use rms, dms, cms, smc or amc, or \
                 priorities in the task-set file",
            ),
        );
    };
    Ok(Expected {
        tasks: session.tasks,
        priorities,
        policy: Some(policy.to_owned()),
        origin: session.system.description(),
        set: session.set,
        tolerance,
    })
}

/// Threads become the tasks of the set.
fn options(expected: &Expected, path: &Path) -> Result<Options, Failure> {
    let names: Vec<String> = expected
        .set
        .tasks
        .iter()
        .map(|task| ftrace::kept(&task.name))
        .collect();
    for (place, name) in names.iter().enumerate() {
        if names.iter().take(place).any(|other| other == name) {
            let why = format!(
                "several of its tasks begin with `{}`, and of a thread's name the kernel keeps {} bytes",
                name.escape_debug(),
                ftrace::NAME_BYTES_MAX
            );
            return Err(
                Failure::input(format!("find the tasks of {}", shown(path)), why)
                    .with_help("give tasks and threads names that differ earlier"),
            );
        }
    }
    let tasks = expected.tasks.iter().zip(&expected.set.tasks);
    Ok(Options {
        tasks: tasks
            .map(|(task, spec)| TaskInfo {
                name: spec.name.clone(),
                criticality: task.criticality,
                period: task.period,
                deadline: task.deadline,
            })
            .collect(),
        levels: expected.set.levels.clone(),
        blocking: Vec::new(),
    })
}

/// The tasks that no thread is called like.
fn not_seen(expected: &Expected, recording: &Recording) -> Vec<String> {
    let names = expected.set.tasks.iter().map(|task| &task.name);
    let seen = |name: &&String| recording.threads.contains(&ftrace::kept(name));
    names.filter(|name| !seen(name)).cloned().collect()
}

/// Whether the recording says enough for a verdict; then the CPU it is about.
fn can_be_judged(
    what: &str,
    expected: &Expected,
    recording: &Recording,
    found: &Conformance,
    not_seen: &[String],
) -> Result<u16, Failure> {
    let failure = |why: &str| Failure::input(what, why);
    if not_seen.len() == expected.set.tasks.len() {
        let known: Vec<&str> = recording
            .threads
            .iter()
            .take(20)
            .map(String::as_str)
            .collect();
        return Err(failure("no thread in it is called as one of the tasks")
            .with_help(format!("the tasks are: {}", not_seen.join(", ")))
            .with_help(format!("threads in it are: {}", known.join(", "))));
    }
    if recording.wakeups == 0 {
        let why = "it has no wake-ups, so it is not known when jobs arrived";
        return Err(failure(why).with_help(format!("record them too: {RECORD}")));
    }
    if found.tasks.iter().all(|task| task.released == 0) {
        let why = "no job in it is seen from its arrival on, so there is nothing to judge";
        return Err(failure(why).with_help("record for longer, while the tasks run"));
    }
    let mut cpus = found.cpus.iter();
    match (cpus.next(), cpus.next()) {
        (Some(cpu), None) => Ok(cpu.0),
        (None, _) => Err(
            failure("no task got a CPU in it, so there is nothing to judge")
                .with_help("record for longer, while the tasks run, on all CPUs (-a)"),
        ),
        (Some(_), Some(_)) => {
            let names: Vec<String> = found.cpus.iter().map(|cpu| cpu.0.to_string()).collect();
            let why = format!(
                "the tasks ran on the CPUs {}, and the policies of this version are for one",
                names.join(", ")
            );
            Err(failure(&why)
                .with_help("keep the threads on one CPU, for instance with taskset -c 1"))
        }
    }
}

/// The first job that ran although a more urgent one was ready, before events are missing. Tasks of the
/// same priority are in no order.
fn inversion(recording: &Recording, expected: &Expected, cpu: u16) -> Option<Inversion> {
    let placement = vec![CpuId(cpu); expected.tasks.len()];
    let order = Order {
        priorities: &expected.priorities,
        placement: &placement,
        tolerance: expected.tolerance,
    };
    let whole = |record: &&vestal_trace::Record| !matches!(record.what, What::Lost { .. });
    let records = recording.records.iter().take_while(whole);
    let records = records.map(|record| Ok::<_, std::convert::Infallible>(*record));
    let Ok(found) = first_inversion(&recording.header, records, order);
    found
}

fn job_name(expected: &Expected, job: JobId) -> String {
    let task = expected.set.tasks.get(job.task.index());
    let task = task.map_or("?", |task| task.name.as_str());
    format!("job {} of {task}", job.sequence)
}

fn document(
    args: &ReplayArgs,
    expected: &Expected,
    (recording, found): (&Recording, &Conformance),
    inversion: Option<Inverted>,
    cpu: u16,
    not_seen: Vec<String>,
) -> Comparison {
    let sum = |of: fn(&Observed) -> u64| found.tasks.iter().map(of).sum();
    let rows = expected.tasks.iter().zip(&expected.set.tasks);
    let rows = rows.zip(&expected.priorities).zip(&found.tasks);
    let equal = inversion.is_none()
        && found.beyond.is_none()
        && found.missed.is_none()
        && found.lost_at.is_none();
    Comparison {
        format: Version::V1,
        file: shown(&args.trace),
        world: recording.header.world.word().to_owned(),
        dispatch: recording.header.dispatch.word().to_owned(),
        policy: expected.policy.clone(),
        equal,
        records: recording.records.len() as u64,
        jobs: Jobs {
            released: sum(|task| task.released),
            completed: sum(|task| task.completed),
            dropped: 0,
            dropped_by: dropped_by(Drops::default()),
            missed: sum(|task| task.missed),
            missed_guaranteed: sum(|task| task.missed_guaranteed),
            overruns: sum(|task| task.exceeded.iter().sum()),
        },
        inversion,
        task_set_file: args.file.as_deref().map(shown).unwrap_or_default(),
        tolerance_ns: expected.tolerance.as_nanos(),
        cpu,
        tasks: rows
            .map(|(((task, spec), priority), observed)| Compared {
                name: spec.name.clone(),
                criticality: expected.set.level_name(task.criticality).to_owned(),
                priority: *priority,
                released: observed.released,
                completed: observed.completed,
                unseen: observed.unseen,
                missed: observed.missed,
                missed_guaranteed: observed.missed_guaranteed,
                execution_max_ns: observed.execution_max.map(vestal_core::Service::as_nanos),
                wcet_ns: task
                    .criticality
                    .up_to_self()
                    .map(|level| task.wcet.at(level).as_nanos())
                    .collect(),
                exceeded: observed.exceeded.clone(),
                response_max_ns: observed.response_max.map(Duration::as_nanos),
                deadline_ns: task.deadline.as_nanos(),
                distance_min_ns: observed.distance_min.map(Duration::as_nanos),
                period_ns: task.period.as_nanos(),
            })
            .collect(),
        beyond: found.beyond.map(|beyond| Beyond {
            job: job_name(expected, beyond.job),
            executed_ns: beyond.executed.as_nanos(),
            limit_ns: beyond.limit.as_nanos(),
        }),
        missed: found.missed.map(|missed| Late {
            job: job_name(expected, missed.job),
            deadline_ns: missed.deadline.as_nanos(),
        }),
        withheld_ns: found.withheld.as_nanos(),
        longest_withheld_ns: found.longest_withheld.as_nanos(),
        lost_at_ns: found.lost_at.map(vestal_core::Instant::as_nanos),
        not_seen,
        unknown: unknown(),
    }
}

/// What no such recording shows.
fn unknown() -> Vec<String> {
    [
        "when jobs were released: they count from the wake-up of their thread, however late that was",
        "where jobs end: a thread that sleeps has completed its job, so one that sleeps in between counts \
         as several shorter ones",
        "modes, budgets and drops: the order is that of the priorities alone, and a deadline counts as \
         guaranteed where no incomplete job had exceeded its time at the task's level",
        "what interrupts and a hypervisor took while a job had the CPU: it counts as its execution",
    ]
    .map(str::to_owned)
    .to_vec()
}
