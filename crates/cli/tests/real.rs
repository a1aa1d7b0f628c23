//! Real runs by the command line. They need the right to SCHED_FIFO and the machine for themselves,
//! so the target asks for the feature `real` and is run one test at a time.
//!
//! Asserted are shapes, orders and counts, never a latency.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{shell, vestal};

const FMS: &str = "examples/fms-200.toml";

#[test]
fn a_real_run_answers_in_the_shape_of_a_simulated_one() {
    let arguments = |command| {
        let options = [
            "--policy",
            "amc",
            "--scenario",
            "overrun=0.5",
            "--for",
            "2s",
            "--format",
            "json",
        ];
        [&[command, FMS][..], &options[..]].concat()
    };
    let done = vestal(&arguments("run"));
    let (real, simulated) = (done.json(), vestal(&arguments("simulate")).json());
    assert_eq!(real["world"], "linux", "{}", done.stderr);
    let keys = |document: &serde_json::Value| -> Vec<String> {
        document.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(&real), keys(&simulated));
    for key in ["jobs", "frames"] {
        assert_eq!(keys(&real[key]), keys(&simulated[key]), "{key}");
    }
    assert_eq!(keys(&real["tasks"][0]), keys(&simulated["tasks"][0]));
    assert_eq!(keys(&real["cpus"][0]), keys(&simulated["cpus"][0]));
    for key in keys(&simulated["machine"]) {
        assert!(real["machine"].get(&key).is_some(), "{key}");
    }
    for mechanism in real["overhead"].as_object().unwrap().values() {
        assert_eq!(keys(mechanism), ["count", "max", "mean", "p99", "share"]);
    }
    assert_eq!(real["jobs"]["released"], simulated["jobs"]["released"]);
    assert_eq!(real["modes"][0]["from"], "LO");
    assert_eq!(real["modes"][0]["to"], "HI");
    let broken = real["machine"]["missed_outside_gaps"] != 0;
    assert_eq!(done.exit, i32::from(broken));
}

#[test]
fn a_run_that_is_ended_early_shows_what_it_measured() {
    let text = shell(&format!(
        "vestal run {FMS} --policy amc --for 60s & pid=$!; sleep 2; kill -TERM $pid; wait $pid; echo exit $?"
    ));
    assert!(text.contains("ended the run after"), "{text}");
    assert!(text.contains("jobs: "), "{text}");
    assert!(text.contains("exit 0") || text.contains("exit 1"), "{text}");
}
