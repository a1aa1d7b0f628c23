//! Sweeps with simulations in which carrying the policy out takes time.

use crate::overheads::{accepted, costs, sweep, words};
use crate::support::{Scratch, repository};
use crate::sweep::assert_same;
use std::fs;

/// The example: theory without overheads above simulation with drawn ones, and that above theory with the largest; whatever
/// the largest proves is kept with them.
#[test]
fn frames_are_schedulable_by_simulation_less_than_in_theory_and_more_than_with_the_largest() {
    let scratch = Scratch::new("sweep-costs-frames");
    let (whole, parts) = (scratch.0.join("whole"), scratch.0.join("parts"));
    let file = repository().join("experiments/empirical.toml");
    let done = sweep(&file, &whole, &["--jobs", "1"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    for shard in ["2/2", "1/2"] {
        sweep(&file, &parts, &["--shard", shard, "--resume"]);
    }
    assert_same(&whole, &parts);
    let found = accepted(&whole);
    let all = |name: &str| {
        let rows = found.iter().filter(|(question, _)| question == name);
        rows.map(|(_, yes)| *yes).collect::<Vec<_>>()
    };
    let [theory, mean, max] = ["ftts", "ftts@mean", "ftts@max"].map(all);
    let [none, drawn, largest] =
        ["", "@drawn", "@max"].map(|costs| all(&format!("sim:ftts/overrun=0.3{costs}")));
    assert_eq!(none, theory);
    for point in 0..theory.len() {
        assert!(
            theory[point] >= mean[point] && mean[point] >= max[point],
            "{found:?}"
        );
        assert!(
            theory[point] >= drawn[point] && drawn[point] >= largest[point],
            "{found:?}"
        );
        assert!(largest[point] >= max[point], "{found:?}");
    }
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    assert!(
        sum(&theory) > sum(&drawn)
            && sum(&drawn) > sum(&largest)
            && sum(&largest) >= sum(&max)
            && sum(&max) > 0,
        "{found:?}"
    );
}

const SEVERAL: &str = r#"format = "vestal-experiment/1"
name   = "several"
recipe = "sigrist2015"
seed   = 3
sets   = 40
overheads = "costs.json"
tests  = ["pedf-vd", "pedf-vd@max"]

[fixed]
cpus = 4
utilization = 2.4

[[simulate]]
policy = "pedf-vd"
scenario = "overrun=0.5"
costs = "max"
for = "4s"

[[measure]]
what = "drop-ratio"
policy = "pedf-vd"
scenario = "overrun=0.5"
costs = "drawn"
for = "4s"
"#;

/// What several CPUs prove with overheads they keep with them.
#[test]
fn several_cpus_keep_with_costs_what_they_prove_with_overheads() {
    let scratch = Scratch::new("sweep-costs-several");
    costs(&scratch);
    let file = scratch.file("several.toml", SEVERAL);
    let folder = scratch.0.join("out");
    let done = sweep(&file, &folder, &[]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let found = accepted(&folder);
    let of = |name: &str| {
        found
            .iter()
            .find(|(question, _)| question == name)
            .unwrap()
            .1
    };
    assert!(of("pedf-vd@max") > 0 && of("pedf-vd") < 40, "{found:?}");
    assert!(
        of("sim:pedf-vd/overrun=0.5@max") >= of("pedf-vd@max"),
        "{found:?}"
    );
    let measures = fs::read_to_string(folder.join("measures.csv")).unwrap();
    assert!(
        measures.contains("drop-ratio:pedf-vd/overrun=0.5@drawn"),
        "{measures}"
    );
    let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap();
    assert!(
        manifest.contains("sim:pedf-vd/overrun=0.5@max: Simulated"),
        "{manifest}"
    );
    // Other costs are another experiment.
    let text = fs::read_to_string(scratch.0.join("costs.json")).unwrap();
    scratch.file(
        "costs.json",
        &text.replace("\"max_ns\": 48150", "\"max_ns\": 48151"),
    );
    let same = sweep(&file, &folder, &["--resume"]);
    assert_eq!(
        same.exit, 0,
        "what is no cost of a mechanism is none of it: {}",
        same.stderr
    );
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    for mechanism in document["mechanisms"].as_array_mut().unwrap() {
        mechanism["costs"][0]["max_ns"] = serde_json::json!(900_000);
    }
    scratch.file("costs.json", &document.to_string());
    let other = sweep(&file, &folder, &["--resume"]);
    assert_eq!(other.exit, 2, "{}", other.stderr);
    assert!(other.stderr.contains("V0701"), "{}", other.stderr);
}

#[test]
fn costs_that_do_not_fit_are_refused_with_their_place() {
    let scratch = Scratch::new("sweep-costs-bad");
    costs(&scratch);
    let folder = scratch.0.join("never");
    for (from, to, why) in [
        (
            "overheads = \"costs.json\"\ntests  = [\"pedf-vd\", \"pedf-vd@max\"]",
            "",
            "a file of `overheads`, or simulations without `costs`",
        ),
        (
            "costs = \"drawn\"",
            "costs = \"median\"",
            "expected mean, p99, max or drawn",
        ),
        (
            "[fixed]",
            "mechanism = \"native/perf\"\n[fixed]",
            "`native/perf` does not carry pedf-vd out",
        ),
        (
            "policy = \"pedf-vd\"\nscenario = \"overrun=0.5\"\ncosts = \"max\"",
            "policy = \"ftts\"\ncosts = \"max\"",
            "none of the mechanisms there carries ftts out",
        ),
        (
            "\"costs.json\"",
            "\"other.json\"",
            "other.json: No such file",
        ),
    ] {
        assert!(SEVERAL.contains(from), "{from}");
        let text = SEVERAL.replace(from, to);
        let text = match from.starts_with('[') {
            // One that fits no test either is refused for that.
            true => text.replace("tests  = [\"pedf-vd\", \"pedf-vd@max\"]", ""),
            false => text,
        };
        let file = scratch.file("wrong.toml", &text);
        let done = sweep(&file, &folder, &[]);
        assert_eq!(done.exit, 2, "{to}: {}", done.stderr);
        assert!(words(&done).contains(why), "{to}: {}", done.stderr);
    }
    assert!(!folder.exists());
}
