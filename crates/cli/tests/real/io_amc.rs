//! Servers whose jobs raise the mode, and devices of a file, in a real run.

use crate::support::{Scratch, vestal};
use crate::vestal_well;
use serde_json::{Value, json};

const SET: &str = "examples/io-amc.toml";

/// Runs the example for a second; its replay has to decide the same.
fn run(name: &str, more: &[&str]) -> Value {
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
    result
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap()
}

/// Servers have exactly what their tasks need, so that what it takes to begin and to end a job is all there is to exceed it.
#[test]
fn jobs_that_keep_to_their_low_time_raise_no_mode() {
    let result = run("io-amc-lo", &["--scenario", "lo"]);
    let changes = result["modes"].as_array().unwrap().len();
    // Of 75 jobs of level HI some may have been disturbed.
    assert!(changes <= 8, "{:#}", result["modes"]);
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
    let result = run("io-amc-hi", &["--scenario", "hi"]);
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
