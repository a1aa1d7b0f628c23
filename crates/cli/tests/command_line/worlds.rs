//! `simulate` and `run`: results, exit codes, charts, scenarios.

use crate::support::{Scratch, repository, vestal, vestal_with_input};
use crate::{FMS, THREE, keys};

#[test]
fn simulate_answers_in_the_guaranteed_shape() {
    let arguments = [
        "simulate",
        FMS,
        "--policy",
        "amc",
        "--scenario",
        "overrun=0.5",
        "--seed",
        "7",
        "--format",
        "json",
    ];
    let done = vestal(&arguments);
    let document = done.json();
    assert_eq!(done.exit, 0);
    let expected = [
        "bursts",
        "cpus",
        "cut",
        "devices",
        "dispatch",
        "duration_ns",
        "file",
        "format",
        "frames",
        "jobs",
        "machine",
        "modes",
        "options",
        "overhead",
        "overheads",
        "parts",
        "policy",
        "proof",
        "scenario",
        "seed",
        "servers",
        "tasks",
        "world",
    ];
    assert_eq!(keys(&document), expected);
    assert_eq!(
        (&document["world"], &document["seed"]),
        (&"simulator".into(), &7.into())
    );
    assert_eq!(document["duration_ns"], 10_000_000_000_u64);
    let provenance = ["scenario", "options", "dispatch", "proof"].map(|key| document[key].clone());
    let expected = [
        "overrun=0.5".into(),
        serde_json::json!({}),
        "managed".into(),
        serde_json::json!({ "test": "amc-rtb", "verdict": "schedulable" }),
    ];
    assert_eq!(provenance, expected);
    assert!(done.stderr.contains("two hyperperiods"), "{}", done.stderr);
    assert_eq!(document["jobs"]["missed_guaranteed"], 0);
    assert!(
        document["jobs"]["dropped"].as_u64().unwrap() > 0,
        "overruns drop LO jobs"
    );
    assert_eq!(
        (&document["modes"][0]["from"], &document["modes"][0]["to"]),
        (&"LO".into(), &"HI".into())
    );
    assert_eq!(
        document,
        vestal(&arguments).json(),
        "the same seed gives the same run"
    );
    has_the_parts_of_a_result(&document);
}

fn has_the_parts_of_cpus_and_frames(document: &serde_json::Value) {
    assert_eq!(
        keys(&document["cpus"][0]),
        [
            "busy_ns",
            "cpu",
            "migrations",
            "overhead_ns",
            "parts_ns",
            "preemptions",
            "switches",
            "system_ns"
        ]
    );
    assert_eq!(
        keys(&document["frames"]),
        [
            "barrier",
            "checks",
            "clock",
            "dispatcher",
            "found_late",
            "lo_skipped",
            "overhead_ns",
            "overrun",
            "skipped",
            "started_early",
            "sub_frame_init",
            "total",
            "unprovoked",
            "unprovoked_undecided"
        ]
    );
}

fn has_the_parts_of_a_result(document: &serde_json::Value) {
    assert_eq!(
        keys(&document["jobs"]),
        [
            "completed",
            "dropped",
            "dropped_by",
            "missed",
            "missed_guaranteed",
            "missed_undecided",
            "released"
        ]
    );
    assert_eq!(
        keys(&document["modes"][0]),
        ["at_ns", "cause", "cpu", "from", "to"]
    );
    let expected = [
        "completed",
        "cpu",
        "dropped",
        "dropped_by",
        "execution_ns",
        "ghost_ns",
        "missed",
        "name",
        "overruns",
        "preemptions",
        "relative_response",
        "released",
        "response_ns",
        "tardiness_bound_ns",
        "tardiness_ns",
    ];
    assert_eq!(keys(&document["tasks"][0]), expected);
    assert_eq!(
        keys(&document["tasks"][0]["response_ns"]),
        ["max", "mean", "min", "p99"]
    );
    assert_eq!(
        keys(&document["tasks"][0]["execution_ns"]),
        ["max", "mean", "min"]
    );
    assert_eq!(keys(&document["tasks"][0]["tardiness_ns"]), ["max", "mean"]);
    has_the_parts_of_cpus_and_frames(document);
    assert_eq!(
        keys(&document["machine"]),
        [
            "gaps",
            "interrupts",
            "longest_gap_ns",
            "lost_ns",
            "missed_outside_gaps",
            "stolen"
        ]
    );
}

#[test]
fn without_a_proof_simulate_says_so_and_breaks_no_guarantee() {
    let done = vestal(&["simulate", THREE, "--policy", "smc", "--scenario", "hi"]);
    assert_eq!(done.exit, 0, "tau3 misses: {}", done.stdout);
    let verdict = "missed; none was guaranteed, because there is no proof. A proof would have";
    assert!(done.stdout.contains(verdict), "{}", done.stdout);
    assert!(
        done.stderr
            .contains("warning: smc does not prove the set schedulable"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr
            .contains("the order used is: priorities of the file"),
        "{}",
        done.stderr
    );
    let text: String = std::fs::read_to_string(repository().join(THREE))
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with("priority"))
        .map(|line| format!("{line}\n"))
        .collect();
    let arguments = ["simulate", "-", "--policy", "smc", "--scenario", "hi"];
    let done = vestal_with_input(&arguments, text.as_bytes());
    assert_eq!(done.exit, 0, "{}", done.stdout);
    assert!(
        done.stderr
            .contains("the order used is: deadline-monotonic order"),
        "{}",
        done.stderr
    );
    let done = vestal(&["simulate", THREE, "--policy", "amc", "--scenario", "hi"]);
    assert_eq!(done.exit, 0, "{}", done.stdout);
    assert!(
        done.stdout.contains("No guaranteed deadline was missed."),
        "{}",
        done.stdout
    );
    assert!(!done.stderr.contains("warning"), "{}", done.stderr);
}

#[test]
fn simulated_response_times_reach_the_bounds_and_no_more() {
    let document = vestal(&["analyze", THREE, "--test", "amc-rtb", "--format", "json"]).json();
    let run = vestal(&[
        "simulate",
        THREE,
        "--policy",
        "amc",
        "--scenario",
        "lo",
        "--format",
        "json",
    ])
    .json();
    for (bound, found) in [(0, 1_000_000_u64), (1, 2_000_000), (2, 50_000_000)] {
        assert_eq!(
            document["results"][0]["tasks"][bound]["response_ns"]["LO"],
            found
        );
        assert_eq!(run["tasks"][bound]["response_ns"]["max"], found);
    }
}

/// `--cpus` has an entry for each CPU of the set. No machine has the CPUs of the first run, so nothing runs.
#[cfg(target_os = "linux")]
#[test]
fn a_run_of_several_cpus_asks_for_a_processor_for_each() {
    let two = |cpus: &str, exit| {
        let run = ["run", "examples/two-cpus.toml", "--policy", "pedf-vd"];
        let done = vestal(&[&run[..], &["--cpus", cpus]].concat());
        assert_eq!(done.exit, exit, "{cpus}: {}", done.stderr);
        done.stderr
    };
    let said = two("60000,60001", 3);
    assert!(said.contains("60000") && said.contains("60001"), "{said}");
    for (list, has) in [("0", "one entry"), ("0,1,0", "3 entries")] {
        let said = two(list, 2);
        let why = format!("it has {has}, and pedf-vd runs this set on 2 CPUs");
        assert!(said.contains(&why), "{said}");
        assert!(said.contains("CPU k of the set runs on the k-th"), "{said}");
    }
    let one = vestal(&["run", FMS, "--policy", "amc", "--cpus", "0,1"]);
    assert_eq!(one.exit, 2, "{}", one.stderr);
    assert!(
        one.stderr.contains("amc runs this set on one CPU"),
        "{}",
        one.stderr
    );
}

/// No machine has that many CPUs, so nothing runs, with whatever rights the test has.
#[cfg(target_os = "linux")]
#[test]
fn a_machine_that_cannot_run_it_is_told_apart_from_bad_input() {
    let done = vestal(&[
        "run", FMS, "--policy", "amc", "--for", "1s", "--cpus", "60000",
    ]);
    assert_eq!(done.exit, 3, "{}", done.stderr);
    assert!(
        done.stderr
            .contains("error: failed to run examples/fms.toml: "),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("60000") && done.stderr.contains("mend it with: "),
        "{}",
        done.stderr
    );
    let document = vestal(&[
        "run", FMS, "--policy", "amc", "--cpus", "60000", "--format", "json",
    ])
    .json();
    assert_eq!(document["error"]["exit"], 3);
    let wrong: [&[&str]; 16] = [
        &["--cpus", "many"],
        &["--cpus", "3-1"],
        &["--cpus", "0-1"],
        &["--rt-priority", "80-10"],
        &["--rt-priority", "90-99"],
        &["--monitor", "eyes"],
        &["--monitor", "eyes=1ms"],
        &["--monitor", "perf=1ms"],
        &["--monitor", "manager="],
        &["--monitor", "heartbeat=often"],
        &["--monitor", "heartbeat=49us"],
        &["--monitor", "manager=9us"],
        &["--dispatch", "else"],
        &["--mechanism", "theirs"],
        &["--mechanism", "huang2014", "--monitor", "perf"],
        &["--mechanism", "huang2014", "--dispatch", "managed"],
    ];
    for arguments in wrong {
        let done = vestal(&[&["run", FMS, "--policy", "amc", "--for", "1s"], arguments].concat());
        assert_eq!(done.exit, 2, "{arguments:?}: {}", done.stderr);
        assert!(
            done.stderr.contains("help: "),
            "{arguments:?}: {}",
            done.stderr
        );
    }
}

#[test]
fn a_schedule_is_drawn() {
    let scratch = Scratch::new("chart");
    let file = scratch.0.join("three.txt");
    let path = file.to_str().unwrap();
    let done = vestal(&[
        "simulate",
        THREE,
        "--policy",
        "amc",
        "--scenario",
        "hi",
        "--for",
        "60ms",
        "--trace",
        path,
    ]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let chart = std::fs::read_to_string(&file).unwrap();
    assert!(
        chart.contains("mode    ....1111"),
        "the mode rises after 2 ms: {chart}"
    );
    assert!(
        chart
            .lines()
            .any(|line| line.starts_with("tau") && line.contains('#')),
        "{chart}"
    );
}

#[test]
fn scenario_files_say_when_jobs_come_and_how_long_they_run() {
    let scratch = Scratch::new("scenario");
    let file = scratch.file("s.csv", "task,tau2,0,0,5ms\ntask,tau2,1,12ms,1ms\n");
    let names = vestal(&["check", THREE, "--format", "json"]);
    assert_eq!(names.exit, 0);
    let done = vestal(&[
        "simulate",
        THREE,
        "--policy",
        "amc",
        "--for",
        "30ms",
        "--format",
        "json",
        "--scenario",
        file.to_str().unwrap(),
    ]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    assert_eq!(document["tasks"][1]["released"], 3, "at 0, 12 and 22 ms");
    assert_eq!(document["tasks"][1]["overruns"], 1);
    assert_eq!(document["modes"][0]["cause"], document["tasks"][1]["name"]);
}

#[test]
fn a_result_names_the_options_and_the_dispatch_that_it_ran_with() {
    let options = [
        "--set",
        "exhaustion=background",
        "--set",
        "exhaustion=continue",
    ];
    let arguments = ["simulate", THREE, "--policy", "amc", "--for", "60ms"];
    let more = ["--dispatch", "native", "--format", "json"];
    let document = vestal(&[&arguments[..], &options, &more].concat()).json();
    assert_eq!(
        document["options"],
        serde_json::json!({ "exhaustion": "continue" })
    );
    assert_eq!(document["dispatch"], "native");
    assert_eq!(document["scenario"], "lo");
    // Nothing stops a job at its limit, which is not what the test speaks of.
    assert_eq!(document["proof"], serde_json::Value::Null);
}
