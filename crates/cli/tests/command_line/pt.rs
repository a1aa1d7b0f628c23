//! Period transformation: `pt`, its parameters, and servers on a grid.

use crate::support::{Scratch, vestal};
use std::fs;

const SET: &str = "examples/period-transformation.toml";
const SIMULATE: [&str; 8] = [
    "simulate",
    SET,
    "--policy",
    "pt",
    "--scenario",
    "hi",
    "--for",
    "1s",
];

fn simulated(options: &[&str]) -> (serde_json::Value, String) {
    let done = vestal(&[&SIMULATE[..], &["--format", "json"], options].concat());
    assert_eq!(done.exit, 0, "{options:?}: {}", done.stderr);
    (done.json(), done.stderr)
}

fn longest(result: &serde_json::Value, task: &str) -> u64 {
    let tasks = result["tasks"].as_array().unwrap();
    let row = tasks.iter().find(|row| row["name"] == task).unwrap();
    row["response_ns"]["max"].as_u64().unwrap()
}

#[test]
fn slices_that_were_written_are_used_and_decided_about() {
    let scratch = Scratch::new("slices");
    let path = scratch.0.join("p.json");
    let file = path.to_str().unwrap();
    let analyze = ["analyze", SET, "--test", "pt", "--format", "json"];
    let done = vestal(&[&analyze[..], &["--emit", file]].concat());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let parameters = &done.json()["results"][0]["parameters"];
    assert_eq!(parameters["slices"]["control"], 3);
    assert_eq!(parameters["slices"]["sensor"], 1);
    let (found, stderr) = simulated(&[]);
    assert!(!stderr.contains("nothing is guaranteed"), "{stderr}");
    assert_eq!(
        (longest(&found, "control"), longest(&found, "sensor")),
        (9_500_000, 3_500_000)
    );
    let (given, _) = simulated(&["--parameters", file]);
    assert_eq!(given["tasks"], found["tasks"]);
    // In one piece control is the less urgent one.
    std::fs::write(&path, r#"{ "slices": { "sensor": 1, "control": 1 } }"#).unwrap();
    let done = vestal(&[&analyze[..], &["--parameters", file]].concat());
    let result = &done.json()["results"][0];
    assert_eq!(
        (done.exit, &result["parameters"]["slices"]["control"]),
        (0, &1.into())
    );
    assert_eq!(result["tasks"][0]["priority"], 2);
    let (other, _) = simulated(&["--parameters", file]);
    assert_eq!(longest(&other, "sensor"), 2_000_000);
    // Other policies say that they have no slices.
    let smc = ["analyze", SET, "--test", "smc", "--parameters", file];
    assert!(
        vestal(&smc).stderr.contains("smc do not use the slices"),
        "no note"
    );
    std::fs::write(&path, r#"{ "slices": { "sensor": 0, "control": 2 } }"#).unwrap();
    let done = vestal(&[&analyze[..], &["--parameters", file]].concat());
    assert_eq!(done.exit, 2);
}

#[test]
fn servers_on_a_grid_are_slower_and_prove_less() {
    let (servers, stderr) = simulated(&["--set", "servers=deferrable"]);
    assert!(stderr.contains("pt:servers does not prove"), "{stderr}");
    let (aligned, _) = simulated(&["--set", "servers=aligned"]);
    assert_eq!(aligned["jobs"]["missed_guaranteed"], 0);
    assert_eq!(servers["jobs"]["released"], aligned["jobs"]["released"]);
    for bad in ["servers=polling", "server=deferrable"] {
        let done = vestal(&[&SIMULATE[..], &["--set", bad]].concat());
        assert_eq!(done.exit, 2, "{bad}");
    }
    let both = ["--set", "servers=deferrable", "--set", "exhaustion=abort"];
    let done = vestal(&[&SIMULATE[..], &both].concat());
    assert_eq!(done.exit, 2);
    assert!(
        done.stderr.contains("leave `exhaustion` out"),
        "{}",
        done.stderr
    );
}

#[test]
fn fixed_priorities_carry_out_no_servers_on_a_grid() {
    let run = ["run", SET, "--policy", "pt", "--for", "1s"];
    let options = ["--dispatch", "native", "--set", "servers=deferrable"];
    let refused = vestal(&[&run[..], &options].concat());
    assert_eq!(refused.exit, 2, "{}", refused.stderr);
    let why = "cannot give them servers";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
}

/// A job that waits for its next slice is recorded as blocked: while it is not, a less urgent one may run.
#[test]
fn simulated_native_runs_in_slices_give_the_same_schedule_and_replay_clean() {
    let scratch = Scratch::new("native-slices");
    let trace = scratch.0.join("t.csv");
    let native = ["--dispatch", "native", "--trace", trace.to_str().unwrap()];
    let native = vestal(&[&SIMULATE[..], &native].concat());
    assert_eq!(native.exit, 0, "{}", native.stderr);
    assert_eq!(native.stdout, vestal(&SIMULATE).stdout);
    let replay = || vestal(&["replay", trace.to_str().unwrap()]);
    let clean = replay();
    assert_eq!(clean.exit, 0, "{}{}", clean.stdout, clean.stderr);
    let text = fs::read_to_string(&trace).unwrap();
    assert!(
        text.contains(",blocked"),
        "no job waits for a slice: {text}"
    );
    fs::write(&trace, text.replace(",blocked", ",preempted")).unwrap();
    let wrong = replay();
    assert_eq!(wrong.exit, 1, "{}{}", wrong.stdout, wrong.stderr);
}
