//! Sweeps whose tests are asked with overheads.

use crate::support::{Scratch, repository, vestal};
use serde_json::Value;
use std::fs;
use std::path::Path;

const EXPERIMENT: &str = r#"format = "vestal-experiment/1"
name   = "overheads"
recipe = "standard"
seed   = 3
sets   = 60
overheads = "costs.json"
tests  = ["amc-rtb", "amc-rtb@mean", "amc-rtb@max", "edf-vd", "edf-vd@max"]

[fixed]
tasks = 6
period_min = "10ms"
period_max = "200ms"

[vary]
utilization = [0.7]
"#;

/// Measured costs beside the experiment.
pub(crate) fn costs(scratch: &Scratch) -> String {
    let text = fs::read_to_string(repository().join("examples/overheads/epyc.json")).unwrap();
    scratch.file("costs.json", &text);
    text
}

pub(crate) fn sweep(file: &Path, folder: &Path, more: &[&str]) -> crate::support::Done {
    let usual = [
        "sweep",
        file.to_str().unwrap(),
        "-o",
        folder.to_str().unwrap(),
    ];
    vestal(&[usual.as_slice(), more].concat())
}

/// A message without the lines into which it is broken.
pub(crate) fn words(done: &crate::support::Done) -> String {
    let words = done.stderr.split_whitespace().filter(|word| *word != "|");
    words.collect::<Vec<_>>().join(" ")
}

/// How many sets each question says yes to, point by point.
pub(crate) fn accepted(folder: &Path) -> Vec<(String, u64)> {
    let text = fs::read_to_string(folder.join("summary.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let at = |name: &str| head.iter().position(|column| *column == name).unwrap();
    let (test, accepted) = (at("question"), at("yes"));
    lines
        .map(|row| (row[test].to_owned(), row[accepted].parse().unwrap()))
        .collect()
}

#[test]
fn more_overheads_accept_fewer_sets_and_results_keep_what_was_taken_into_account() {
    let scratch = Scratch::new("sweep-overheads");
    let text = costs(&scratch);
    let file = scratch.file("experiment.toml", EXPERIMENT);
    let folder = scratch.0.join("out");
    let done = sweep(&file, &folder, &[]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let found = accepted(&folder);
    let of = |name: &str| found.iter().find(|(test, _)| test == name).unwrap().1;
    assert!(of("amc-rtb") > of("amc-rtb@max"), "{found:?}");
    assert!(
        (of("amc-rtb@max")..=of("amc-rtb")).contains(&of("amc-rtb@mean")),
        "{found:?}"
    );
    assert!(of("edf-vd") > of("edf-vd@max"), "{found:?}");
    assert!(of("amc-rtb@max") > 0, "{found:?}");
    let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let kept = manifest["overheads"].as_array().unwrap();
    assert_eq!(kept.len(), 3);
    assert!(
        kept[0]
            .as_str()
            .unwrap()
            .starts_with("amc-rtb@mean: Overheads"),
        "{kept:?}"
    );
    // Other costs are another experiment.
    let mut document: Value = serde_json::from_str(&text).unwrap();
    document["mechanisms"][0]["costs"][0]["max_ns"] = serde_json::json!(900_000);
    scratch.file("costs.json", &document.to_string());
    let other = sweep(&file, &folder, &["--resume"]);
    assert_eq!(other.exit, 2, "{}", other.stderr);
    assert!(other.stderr.contains("V0701"), "{}", other.stderr);
}

#[test]
fn what_does_not_fit_together_is_refused_with_its_place() {
    let scratch = Scratch::new("sweep-overheads-bad");
    costs(&scratch);
    let folder = scratch.0.join("never");
    for (from, to, why) in [
        ("overheads = \"costs.json\"", "", "a file of `overheads`"),
        (
            "\"amc-rtb@mean\", \"amc-rtb@max\", \"edf-vd\", \"edf-vd@max\"",
            "\"smc\"",
            "tests that are asked with overheads",
        ),
        (
            "overheads = \"costs.json\"\n",
            "mechanism = \"managed/manager\"\n",
            "a name without `@`",
        ),
        ("@mean", "@median", "this version knows: mean, p99, max"),
        ("costs.json", "nothing.json", "nothing.json: No such file"),
        (
            "[fixed]",
            "mechanism = \"native/perf\"\n[fixed]",
            "none of the mechanisms of `overheads`",
        ),
    ] {
        assert!(EXPERIMENT.contains(from), "{from}");
        let file = scratch.file("wrong.toml", &EXPERIMENT.replace(from, to));
        let done = sweep(&file, &folder, &[]);
        assert_eq!(done.exit, 2, "{to}: {}", done.stderr);
        assert!(words(&done).contains(why), "{to}: {}", done.stderr);
    }
    assert!(!folder.exists());
}
