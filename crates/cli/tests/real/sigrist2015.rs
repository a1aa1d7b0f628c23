//! Figures 1, 3, 4 and 5 of Sigrist et al. (RTAS 2015) in real runs, and their Table III on two CPUs.

use super::support::traces::read;
use super::support::{Scratch, VESTAL, command, repository, vestal};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use vestal_core::{Event, Fact, JobId, Level, Service, TaskId};
use vestal_testkit::machine::real_time_threads;
use vestal_trace::{Record, What};

const HI: Level = Level(1);

/// The traces of the figures, as the script makes them.
fn traces(folder: &Path) {
    let script = repository().join("scripts/traces-sigrist2015.sh");
    let done = Command::new(script)
        .arg(folder)
        .env("VESTAL", VESTAL)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}

fn records(folder: &Path, name: &str) -> Vec<Record> {
    let (_, records) = read(&folder.join(format!("{name}.csv")));
    let drawing = std::fs::read_to_string(folder.join(format!("{name}.svg"))).unwrap();
    assert!(drawing.contains("</svg>"), "{name}");
    records
}

fn result(folder: &Path, name: &str) -> Value {
    let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// How often jobs of `task` that execute beyond `budget` were looked at with that much executed, up to the look that noticed
/// it, for each that was noticed.
fn looks_beyond(records: &[Record], task: TaskId, budget: Service) -> Vec<usize> {
    let mut executed: BTreeMap<JobId, Service> = BTreeMap::new();
    let mut beyond: BTreeMap<JobId, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for record in records {
        if let What::Fact(Fact::Charged { job, amount, .. }) = record.what
            && job.task == task
        {
            let sum = executed.entry(job).or_default();
            *sum = sum.saturating_add(amount);
            if *sum >= budget {
                *beyond.entry(job).or_default() += 1;
            }
        }
        if let What::Notice(Event::Overrun { job, level, .. }) = record.what
            && job.task == task
            && level == Level(0)
        {
            found.push(beyond.get(&job).copied().unwrap_or(0));
        }
    }
    found
}

/// Fig. 1 and 3: the first look after an overrun notices it, whoever looks; a heartbeat looks far more often.
fn detection(folder: &Path) {
    let budget = Service::from_micros(4_300);
    let looks = ["fig3a", "fig3b"].map(|name| {
        let found = looks_beyond(&records(folder, name), TaskId(1), budget);
        assert!(found.len() >= 8, "{name}: {found:?}");
        assert!(found.iter().all(|looks| *looks == 1), "{name}: {found:?}");
        let result = result(folder, name);
        result["machine"]["own"]["wakeups"]["budget"]
            .as_u64()
            .unwrap()
    });
    let [heartbeat, deadline] = looks;
    assert!(heartbeat >= 2 * deadline, "{heartbeat} {deadline}");
}

/// Fig. 4: two LO jobs that have begun are dropped when the mode rises, and end when the HI job has: no HI job waits for that. What
/// is not there, or not in that order.
fn termination(records: &[Record]) -> Result<(), String> {
    let at = |name: &str, wanted: &dyn Fn(&What) -> bool| {
        let place = records.iter().position(|record| wanted(&record.what));
        place.ok_or_else(|| format!("no {name}"))
    };
    let first = |task| JobId {
        task: TaskId(task),
        sequence: 0,
    };
    let raised = at("rise", &|what| {
        matches!(what, What::Notice(Event::ModeChanged { to: HI, .. }))
    })?;
    let completed = at(
        "completion",
        &|what| matches!(what, What::Fact(Fact::Completed { job, .. }) if *job == first(0)),
    )?;
    for low in [first(1), first(2)] {
        let dropped = at(
            "drop",
            &|what| matches!(what, What::Notice(Event::Dropped { job, .. }) if *job == low),
        )?;
        let ended = at(
            "end",
            &|what| matches!(what, What::Dropped { job, .. } if *job == low),
        )?;
        let order = [raised, dropped, completed, ended];
        if !order.is_sorted() {
            return Err(format!("{low:?}: {order:?}"));
        }
    }
    Ok(())
}

#[test]
fn detection_and_termination_as_traces_of_real_runs() {
    let scratch = Scratch::new("sigrist2015");
    traces(&scratch.0);
    detection(&scratch.0);
    for name in ["fig4a", "fig4b"] {
        let records = records(&scratch.0, name);
        assert_eq!(termination(&records), Ok(()), "{name}");
        // A world that ended them first would be found.
        let (ends, others): (Vec<Record>, Vec<Record>) = records
            .iter()
            .partition(|record| matches!(record.what, What::Dropped { .. }));
        assert!(termination(&[ends, others].concat()).is_err(), "{name}");
    }
}

/// A look that notices nothing, and one that notices later.
#[test]
fn a_look_that_passes_an_overrun_by_is_counted() {
    let job = JobId {
        task: TaskId(1),
        sequence: 0,
    };
    let record = |what| Record {
        at: vestal_core::Instant::EPOCH,
        what,
    };
    let charge = |micros| {
        record(What::Fact(Fact::Charged {
            cpu: vestal_core::CpuId(0),
            job,
            amount: Service::from_micros(micros),
        }))
    };
    let noticed = record(What::Notice(Event::Overrun {
        job,
        level: Level(0),
        executed: Service::from_micros(12),
    }));
    let looks = |records: &[Record]| looks_beyond(records, TaskId(1), Service::from_micros(10));
    assert_eq!(looks(&[charge(9), charge(3), noticed]), [1]);
    assert_eq!(looks(&[charge(9), charge(1), charge(2), noticed]), [2]);
    assert_eq!(looks(&[charge(9), noticed]), [0]);
}

/// The name and the SCHED_FIFO priority in a thread's `stat`, whose field 40 it is.
fn name_and_priority(stat: &str) -> (String, u32) {
    let (_, rest) = stat.split_once('(').unwrap();
    let (name, rest) = rest.rsplit_once(')').unwrap();
    let priority = rest.split_whitespace().nth(40 - 3).unwrap();
    (name.to_owned(), priority.parse().unwrap())
}

/// The real-time threads of a run of this file, of which there are so many, as the kernel has them while jobs come and go.
fn threads_of(file: &str, options: &[&str], count: usize) -> BTreeMap<String, u32> {
    let file = format!("examples/sigrist2015/{file}");
    let line = [&["run", &file, "--for", "1s", "--policy"][..], options].concat();
    let mut run = command(&line)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let look = || -> BTreeMap<String, u32> {
        let found = real_time_threads(run.id());
        found.iter().map(|stat| name_and_priority(stat)).collect()
    };
    // Ten seconds at the most.
    for _ in 0..2_000 {
        if look().len() >= count {
            break;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    // All have begun, and none has been asked to end.
    std::thread::park_timeout(Duration::from_millis(300));
    let threads = look();
    assert!([0, 5].contains(&run.wait().unwrap().code().unwrap()));
    threads
}

fn by_name<const N: usize>(threads: [(&str, u32); N]) -> BTreeMap<String, u32> {
    let threads = threads.map(|(name, priority)| (name.to_owned(), priority));
    BTreeMap::from(threads)
}

/// Fig. 5: whoever schedules and looks for overruns is above all workers. Here one thread does both, or the workers of a frame table by
/// themselves.
#[test]
fn the_priorities_of_the_threads_of_a_run() {
    let managed = threads_of("fig1.toml", &["edf-vd"], 5);
    let above = ["vestal-watchdog", "vestal-manager"].map(|name| managed[name]);
    assert_eq!(above, [4, 3], "{managed:?}");
    for worker in ["sensor", "control", "log"] {
        // The running one, and those that were preempted.
        assert!([2, 1].contains(&managed[worker]), "{managed:?}");
    }
    let native = by_name([
        ("vestal-watchdog", 6),
        ("vestal-manager", 5),
        ("sensor", 4),
        ("control", 3),
        ("log", 2),
        ("vestal-idle", 1),
    ]);
    assert_eq!(threads_of("fig1.toml", &["amc"], 6), native);
    let paper = threads_of("fig1.toml", &["edf-vd", "--mechanism=sigrist2015"], 9);
    let above = ["watchdog", "dispatch", "manager", "c0", "c1", "c2"];
    let above = above.map(|name| paper[&format!("vestal-{name}")]);
    assert_eq!(above, [6, 5, 4, 3, 3, 3], "{paper:?}");
    let frames = by_name([
        ("vestal-watchdog", 4),
        ("vestal-0-walker", 2),
        ("vestal-1-walker", 2),
    ]);
    let file = "table-3-i5-two-cpus.toml";
    assert_eq!(threads_of(file, &["ftts"], 3), frames);
}

/// Those of Table III.
const HI_TASKS: [&str; 5] = [
    "sensor-3",
    "localisation-7",
    "localisation-8",
    "localisation-9",
    "localisation-10",
];

/// Table III on two CPUs: HI jobs allocate memory in half of all cases, and what that makes late costs LO jobs of that frame only.
#[test]
fn the_flight_management_system_on_two_cpus() {
    for (column, is_late) in [("phi", false), ("i5", true)] {
        let file = format!("examples/sigrist2015/table-3-{column}-two-cpus.toml");
        let options = ["--policy", "ftts", "--cpus", "0,1", "--for", "1s"];
        let done = vestal(&[&["run", &file, "--format", "json"][..], &options].concat());
        assert_eq!(done.exit, 0, "{column}: {}", done.stderr);
        assert!(done.stderr.contains("allocate memory"), "{}", done.stderr);
        let result = done.json();
        let tasks = result["tasks"].as_array().unwrap();
        let released: Vec<u64> = tasks
            .iter()
            .map(|task| task["released"].as_u64().unwrap())
            .collect();
        assert_eq!(released, [10, 10, 5, 10, 1, 5, 5, 1, 1, 1, 1], "{column}");
        for (task, name) in tasks
            .iter()
            .map(|task| (task, task["name"].as_str().unwrap()))
        {
            if HI_TASKS.contains(&name) {
                assert_eq!(task["completed"], task["released"], "{column}: {task}");
            }
        }
        // Some tens of milliseconds, where C(HI) is some ten.
        let hi = tasks
            .iter()
            .filter(|task| HI_TASKS.contains(&task["name"].as_str().unwrap()));
        let beyond: u64 = hi.map(|task| task["overruns"].as_u64().unwrap()).sum();
        assert!(beyond > 0 || !is_late, "{column}: {tasks:?}");
        let frames = &result["frames"];
        assert_eq!(frames["total"], 10, "{column}");
        // Ten MiB take longer than the tens of microseconds of this column, and the half millisecond beside.
        let skipped = frames["lo_skipped"].as_u64().unwrap();
        assert!(skipped > 0 || !is_late, "{column}: {frames}");
        assert!(skipped < 10, "{column}: {frames}");
    }
}
