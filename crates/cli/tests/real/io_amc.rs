//! Servers whose jobs raise the mode, and devices of a file, in a real run.

use crate::support::traces::read;
use crate::support::{Scratch, vestal};
use crate::vestal_well;
use serde_json::{Value, json};
use vestal_trace::What;

const SET: &str = "examples/io-amc.toml";

/// When the machine had the CPU, in nanoseconds.
#[derive(Debug)]
struct Gap {
    from: u64,
    to: u64,
}

impl Gap {
    /// Whether it overlaps what a job executed that had used its budget up at `at`, the longest period of one is 40 ms; and is long enough to be what
    /// that exceeded, together with what it takes to begin and to end it.
    const fn within_job(&self, at: u64) -> bool {
        let overlaps = self.from < at && self.to.saturating_add(40_000_000) > at;
        overlaps && self.to - self.from >= 20_000
    }
}

/// When the mode rose.
fn rises(result: &Value) -> Vec<u64> {
    let modes = result["modes"].as_array().unwrap().iter();
    let rises = modes.filter(|change| change["to"] == "HI");
    rises.map(|change| number(change, "at_ns")).collect()
}

/// Runs the example for a second; its replay has to decide the same. With what its trace has of the machine.
fn run(name: &str, more: &[&str]) -> (Value, Vec<Gap>) {
    let scratch = Scratch::new(name);
    let trace = scratch.0.join("run.vtrace").to_str().unwrap().to_owned();
    let run = [
        "run",
        SET,
        "--policy",
        "io-amc",
        "--for",
        "1s",
        "--device=camera=pipe",
        "--device=sensor=pipe",
        "--format",
        "json",
    ];
    let done = vestal_well(&[&run[..], &["--trace", &trace], more].concat());
    assert_eq!(done.exit, 0, "{name}: {}", done.stderr);
    assert!(
        done.stderr.contains("nothing is guaranteed"),
        "{}",
        done.stderr
    );
    let replayed = vestal(&["replay", &trace]);
    assert_eq!(replayed.exit, 0, "{}{}", replayed.stdout, replayed.stderr);
    let result = done.json();
    assert_eq!(result["proof"], Value::Null);
    let (_, records) = read(&scratch.0.join("run.vtrace"));
    let gaps = records.iter().filter_map(|record| {
        let What::Gap { length, .. } = record.what else {
            return None;
        };
        let to = record.at.as_nanos();
        let from = to.saturating_sub(length.as_nanos());
        Some(Gap { from, to })
    });
    (result, gaps.collect())
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap()
}

/// Servers have exactly what their tasks need, so that what it takes to begin and to end a job is all there is to exceed it.
#[test]
fn jobs_that_keep_to_their_low_time_raise_no_mode() {
    let (result, gaps) = run("io-amc-lo", &["--scenario", "lo"]);
    // What the machine takes while a job has the CPU may be on its account; of 75 jobs of level HI it is so of few.
    assert!(rises(&result).len() <= 4, "{:#}", result["modes"]);
    for rise in rises(&result) {
        assert!(
            gaps.iter().any(|gap| gap.within_job(rise)),
            "at {rise}: {gaps:?} {:#}",
            result["modes"]
        );
    }
    // What jobs use without being charged for it is theirs: the bottom halves have no such jobs.
    let tolerance = result["machine"]["tolerance_ns"].as_u64().unwrap();
    for (row, task) in result["servers"].as_array().unwrap().iter().zip(0..5) {
        let jobs = result["tasks"][task]["released"].as_u64().unwrap_or(0);
        let most = jobs * tolerance;
        let found = number(row, "tolerated_ns");
        assert!(found <= most && (found > 0) == (task < 3), "{row} {most}");
    }
    let names = ["video", "control", "planner", "camera", "sensor"];
    let rows = result["servers"].as_array().unwrap();
    let found: Vec<&Value> = rows.iter().map(|row| &row["name"]).collect();
    assert_eq!(found, names);
    assert!(
        rows.iter().all(|row| number(row, "served_ns") > 0),
        "{rows:#?}"
    );
    for device in result["devices"].as_array().unwrap() {
        let sum = ["served", "queued", "dropped"].map(|key| number(device, key));
        assert_eq!(
            number(device, "arrived"),
            sum.iter().sum::<u64>(),
            "{device}"
        );
        assert!(number(device, "served") > 100, "{device}");
    }
    assert!(
        number(&result["tasks"][0], "completed") > 90,
        "{:#}",
        result["tasks"]
    );
}

#[test]
fn jobs_that_need_their_high_time_raise_it_and_others_are_dropped() {
    let (result, _) = run("io-amc-hi", &["--scenario", "hi"]);
    let modes = result["modes"].as_array().unwrap();
    assert!(modes.len() > 20, "{modes:#?}");
    assert_eq!(
        (&modes[0]["from"], &modes[0]["to"]),
        (&json!("LO"), &json!("HI"))
    );
    assert_eq!(modes[0]["cause"], "control");
    let tasks = result["tasks"].as_array().unwrap();
    let dropped: Vec<u64> = tasks.iter().map(|task| number(task, "dropped")).collect();
    assert!(dropped[0] > 5 && dropped[1..] == [0, 0], "{dropped:?}");
    assert!(number(&tasks[1], "completed") >= 48, "{}", tasks[1]);
}

#[test]
fn what_needs_budgets_that_die_with_jobs_is_refused_with_help() {
    let run = ["run", SET, "--policy", "io-amc", "--for", "1s"];
    let devices = ["--device=camera=pipe", "--device=sensor=pipe"];
    for (more, why) in [
        (&["--observe"][..], "budgets of servers"),
        (&["--dispatch", "native"], "cannot give them servers"),
        (
            &["--mechanism", "huang2014"],
            "this version has the paper's mechanisms",
        ),
    ] {
        let done = vestal(&[&run[..], &devices, more].concat());
        assert_eq!(done.exit, 2, "{more:?}: {}", done.stderr);
        assert!(done.stderr.contains(why), "{more:?}: {}", done.stderr);
        assert!(done.stderr.contains("help: "), "{more:?}: {}", done.stderr);
    }
    let done = vestal(&run);
    assert_eq!(done.exit, 2);
    assert!(
        done.stderr.contains("add --device camera=pipe"),
        "{}",
        done.stderr
    );
}
