//! Partitioned policies on several CPUs.

use crate::support::{Scratch, vestal};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const TWO: &str = "examples/overruns-two-cpus.toml";
const FOUR: &str = "examples/overruns-four-cpus.toml";

/// The run of a set with these entries of `--cpus` and more options, and what its replay says.
fn run_and_replay(file: &str, entries: &str, more: &[&str]) -> (Value, String) {
    let scratch = Scratch::new("several-cpus");
    let path = |name: &str| scratch.0.join(name).to_str().unwrap().to_owned();
    let (parameters, trace) = (path("p.json"), path("run.vtrace"));
    let analyzed = vestal(&["analyze", file, "--test", "pedf-vd", "--emit", &parameters]);
    assert_eq!(analyzed.exit, 0, "{}", analyzed.stderr);
    let run = [
        "run",
        file,
        "--policy",
        "pedf-vd",
        "--parameters",
        &parameters,
        "--cpus",
        entries,
        "--scenario",
        "hi",
        "--for",
        "1s",
        "--trace",
        &trace,
        "--format",
        "json",
    ];
    let done = vestal(&[&run[..], more].concat());
    assert!([0, 5].contains(&done.exit), "{entries}: {}", done.stderr);
    let replayed = vestal(&["replay", &trace]);
    assert_eq!(replayed.exit, 0, "{}{}", replayed.stdout, replayed.stderr);
    (done.json(), replayed.stdout)
}

#[test]
fn each_cpu_has_its_tasks_its_modes_and_a_domain_that_is_replayed() {
    // Of its own, or both on one.
    for entries in ["0,1", "0,0"] {
        decides_on_each_cpu(entries, &[]);
    }
}

/// Two CPUs of the set share each of two of the machine: they wait for each other, so that nothing is guaranteed.
#[test]
fn cpus_that_share_processors_decide_for_themselves_and_guarantee_nothing() {
    let (result, replayed) = run_and_replay(FOUR, "0,1,0,1", &[]);
    assert_eq!(result["proof"], Value::Null);
    let tasks = result["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 8);
    for task in tasks {
        let of = |key: &str| task[key].as_u64().unwrap();
        let jobs = match task["name"].as_str().unwrap() {
            "brake" | "steering" => 50,
            _ => 25,
        };
        assert_eq!(of("released"), jobs, "{task}");
        // What is neither complete nor dropped is the last job, which the end of the run met.
        let over = of("completed") + of("dropped");
        assert!(over <= jobs && jobs - over <= 1, "{task}");
    }
    let jobs = &result["jobs"];
    assert_eq!(jobs["missed_guaranteed"], 0, "{jobs}");
    for said in [
        "CPU 0: ",
        "CPU 1: ",
        "CPU 2: ",
        "CPU 3: ",
        "every plan is equal",
    ] {
        assert!(replayed.contains(said), "{replayed}");
    }
}

/// Dispatchers on the CPUs of the workers, and all on one of their own.
#[test]
fn the_threads_of_sigrist_et_al_decide_on_each_cpu() {
    let mechanism = "--mechanism=sigrist2015";
    for (entries, more) in [
        ("0,1", &[mechanism][..]),
        ("0,0,1", &[mechanism, "--set=dispatcher=own"]),
    ] {
        let machine = decides_on_each_cpu(entries, more);
        assert_eq!(machine["mechanism"], "sigrist2015", "{machine:#}");
        assert_eq!(machine["monitor"], "manager", "{machine:#}");
        assert_eq!(machine["monitoring"]["beyond_bound"], 0, "{machine:#}");
        let own = &machine["own"];
        // 50 instants with arrivals and 75 jobs on each CPU; a checker is told of each and of its end.
        for (threads, least) in [("dispatcher", 100), ("checkers", 150)] {
            let switches = own[threads]["voluntary"].as_u64().unwrap();
            assert!(switches >= least, "{threads}: {own:#}");
        }
    }
}

/// Runs the set like that; gives what the machine did.
fn decides_on_each_cpu(entries: &str, more: &[&str]) -> Value {
    let (result, replayed) = run_and_replay(TWO, entries, more);
    let names = ["brake", "steering", "radio", "camera"];
    let tasks = result["tasks"].as_array().unwrap();
    for ((task, name), cpu) in tasks.iter().zip(names).zip([0, 1, 0, 1]) {
        assert_eq!((&task["name"], &task["cpu"]), (&json!(name), &json!(cpu)));
    }
    let released: Vec<&Value> = tasks.iter().map(|task| &task["released"]).collect();
    assert_eq!(released, [50, 50, 25, 25], "{entries}");
    let cpus = result["cpus"].as_array().unwrap();
    let cpus: Vec<&Value> = cpus.iter().map(|cpu| &cpu["cpu"]).collect();
    assert_eq!(cpus, [0, 1], "{entries}");
    // A mode rises by a task of its CPU.
    let rises = result["modes"].as_array().unwrap().iter();
    let rises = rises.filter(|change| change["to"] == "HI");
    let causes = rises.map(|change| (change["cpu"].to_string(), change["cause"].to_string()));
    let causes: BTreeSet<(String, String)> = causes.collect();
    let expected = [("0", "\"brake\""), ("1", "\"steering\"")];
    let expected = expected.map(|(cpu, task)| (cpu.to_owned(), task.to_owned()));
    assert_eq!(causes, BTreeSet::from(expected), "{entries}");
    for said in ["CPU 0: ", "CPU 1: ", "every plan is equal"] {
        assert!(replayed.contains(said), "{entries}: {replayed}");
    }
    result["machine"].clone()
}
