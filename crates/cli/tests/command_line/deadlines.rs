//! Policies that order jobs by deadline: `edf` and `edf-vd`.

use crate::support::{Scratch, vestal, vestal_with_input};
use crate::{FMS, THREE};

const RUN: [&str; 8] = [
    "--scenario",
    "overrun=0.3",
    "--seed",
    "3",
    "--for",
    "2s",
    "--format",
    "json",
];

/// The result of a run of [`THREE`] under `policy` with further options, its messages, and the exit
/// code: 1 where a guaranteed deadline was missed.
fn simulated(policy: &str, options: &[&str]) -> (serde_json::Value, String, i32) {
    let mut arguments = vec!["simulate", THREE, "--policy", policy];
    arguments.extend(RUN);
    arguments.extend(options);
    let done = vestal(&arguments);
    assert!(done.exit <= 1, "{policy} {options:?}: {}", done.stderr);
    (done.json(), done.stderr, done.exit)
}

/// The set needs virtual deadlines. Plain EDF drops no job, and critical jobs are late.
#[test]
fn edf_vd_drops_lo_jobs_to_keep_its_guarantee_and_edf_guarantees_nothing() {
    let (vd, stderr, exit) = simulated("edf-vd", &[]);
    assert_eq!(exit, 0);
    assert_eq!(vd["jobs"]["missed"], 0);
    assert!(vd["jobs"]["dropped"].as_u64().unwrap() > 0);
    assert!(!vd["modes"].as_array().unwrap().is_empty());
    assert!(!stderr.contains("nothing is guaranteed"), "{stderr}");
    assert_eq!(
        vd["proof"],
        serde_json::json!({ "test": "edf-vd", "verdict": "schedulable" })
    );
    // Without a proof no miss is one of a guaranteed deadline.
    let (edf, stderr, exit) = simulated("edf", &[]);
    assert_eq!((exit, &edf["proof"]), (0, &serde_json::Value::Null));
    assert!(edf["jobs"]["missed"].as_u64().unwrap() > 0);
    assert_eq!(edf["jobs"]["missed_guaranteed"], 0);
    assert_eq!(edf["machine"]["missed_outside_gaps"], 0);
    assert_eq!(edf["jobs"]["dropped"], 0);
    assert!(edf["modes"].as_array().unwrap().is_empty());
    assert!(stderr.contains("nothing is guaranteed"), "{stderr}");
}

#[test]
fn virtual_deadlines_that_were_written_are_used_and_checked() {
    let scratch = Scratch::new("virtual-deadlines");
    let path = scratch.0.join("p.json");
    let file = path.to_str().unwrap();
    let analyze = ["analyze", THREE, "--test", "edf-vd", "--format", "json"];
    let done = vestal(&[&analyze[..], &["--emit", file]].concat());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let parameters = &done.json()["results"][0]["parameters"];
    assert_eq!(parameters["virtual_deadlines"]["tau2"], "6ms");
    assert_eq!(parameters["deadline_factor"], "3/5");
    let again = vestal(&[&analyze[..], &["--parameters", file]].concat());
    assert_eq!(again.exit, 0, "{}", again.stderr);
    let (same, _, _) = simulated("edf-vd", &["--parameters", file]);
    assert_eq!(same["jobs"], simulated("edf-vd", &[]).0["jobs"]);

    // Real deadlines as virtual ones: the answer is about them, and they are used all the same.
    let real = scratch.file("r.json", "{\"deadline_factor\": 1}");
    let real = real.to_str().unwrap();
    let refused = vestal(&[&analyze[..], &["--parameters", real]].concat());
    assert_eq!(refused.exit, 1, "{}", refused.stderr);
    let why = refused.json()["results"][0]["why"].to_string();
    assert!(why.contains("1.200000 in mode HI"), "{why}");
    let (_, stderr, _) = simulated("edf-vd", &["--parameters", real]);
    assert!(
        stderr.contains("nothing is guaranteed") && stderr.contains("of --parameters"),
        "{stderr}"
    );

    let late = scratch.file(
        "l.json",
        "{\"virtual_deadlines\": {\"tau1\": \"2ms\", \"tau2\": \"11ms\", \"tau3\": \"60ms\"}}",
    );
    let done = vestal(&[&analyze[..], &["--parameters", late.to_str().unwrap()]].concat());
    assert_eq!(done.exit, 2);
    assert!(done.stderr.contains("V0604"), "{}", done.stderr);
}

/// Three levels are outside of what EDF-VD is for; it runs all the same, with real deadlines.
#[test]
fn a_set_that_edf_vd_does_not_prove_runs_with_real_deadlines_and_without_guarantee() {
    let text = "format = \"vestal/1\"\nlevels = [\"LO\", \"MID\", \"HI\"]\n[[task]]\nname = \"a\"\n\
                criticality = \"MID\"\nperiod = \"10ms\"\nwcet = { LO = \"1ms\", MID = \"2ms\" }\n";
    let simulate = ["simulate", "-", "--policy", "edf-vd", "--for", "1s"];
    let done = vestal_with_input(&simulate, text.as_bytes());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    for part in [
        "two levels",
        "nothing is guaranteed",
        "real deadlines as virtual",
    ] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    assert!(done.stdout.contains("there is no proof"), "{}", done.stdout);
}

/// x = 2/3, of which the periods 4 and 12 (ns) leave no whole deadlines.
#[test]
fn a_set_without_whole_virtual_deadlines_is_proved_but_not_guaranteed() {
    let task = |name: &str, level: &str, period: u32, wcet: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\ncriticality = \"{level}\"\nperiod = \"{period}ns\"\nwcet = {{ {wcet} }}\n"
        )
    };
    let critical = "LO = \"1ns\", HI = \"2ns\"";
    let text = format!(
        "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\n{}{}{}",
        task("a", "LO", 2, "LO = \"1ns\""),
        task("b", "HI", 4, critical),
        task("c", "HI", 12, critical)
    );
    let done = vestal_with_input(&["analyze", "-", "--test", "edf-vd"], text.as_bytes());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let simulate = ["simulate", "-", "--policy", "edf-vd", "--for", "1us"];
    let done = vestal_with_input(&simulate, text.as_bytes());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(
        done.stderr.contains("no whole nanoseconds"),
        "{}",
        done.stderr
    );
    assert!(done.stdout.contains("there is no proof"), "{}", done.stdout);
}

#[test]
fn real_runs_by_deadline_under_native_dispatch_are_refused_with_the_way_out() {
    for policy in ["edf", "edf-vd"] {
        let done = vestal(&["run", FMS, "--policy", policy, "--dispatch", "native"]);
        assert_eq!(done.exit, 2);
        for part in ["cannot order jobs by deadline", "--dispatch managed"] {
            assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
        }
    }
}

#[test]
fn edf_leaves_nothing_to_emit() {
    let scratch = Scratch::new("emit-edf");
    let file = scratch.0.join("p.json");
    let path = file.to_str().unwrap();
    let done = vestal(&["analyze", FMS, "--test", "edf", "--emit", path]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(!file.exists());
    assert!(done.stderr.contains("nothing to choose"), "{}", done.stderr);
}
