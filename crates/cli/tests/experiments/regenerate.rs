//! `vestal regenerate`: one set of a sweep comes back, or a word why not.

use super::sweep::Bench;
use crate::support::{Scratch, vestal};
use std::fs;

#[test]
fn a_set_comes_back_as_a_file() {
    let bench = Bench::new("regenerate");
    let folder = bench.folder("out");
    bench.sweep(&folder, &[]);
    let set = bench.folder("set.toml");
    let (result, set) = (folder.to_str().unwrap(), set.to_str().unwrap());
    let back = |point: &str, index: &str, file: &str| {
        vestal(&[
            "regenerate",
            result,
            "--point",
            point,
            "--index",
            index,
            "-o",
            file,
        ])
    };
    assert_eq!(back("7", "39", set).exit, 0);
    assert_eq!(vestal(&["check", set]).exit, 0);
    assert_eq!(
        back("7", "39", "-").stdout,
        fs::read_to_string(set).unwrap()
    );
    // The same set as JSON.
    let json = bench.folder("set.json");
    let json = json.to_str().unwrap();
    assert_eq!(back("7", "39", json).exit, 0);
    assert!(fs::read_to_string(json).unwrap().starts_with("{\n"));
    let checked = |file: &str| {
        let mut said = vestal(&["check", file, "--format", "json"]).json();
        said["file"] = serde_json::Value::Null;
        said
    };
    assert_eq!(checked(json), checked(set));
    // pairs.csv names sets that one test accepts and another does not; the tests say so again.
    let pairs = fs::read_to_string(folder.join("pairs.csv")).unwrap();
    let row = pairs
        .lines()
        .find(|line| line.contains(",smc,rms,"))
        .unwrap();
    let cells: Vec<&str> = row.split(',').collect();
    let index = cells[6].split(':').next().unwrap();
    let text = back(cells[0], index, "-").stdout;
    let file = bench.scratch.file("pair.toml", &text);
    let exit = |test: &str| vestal(&["analyze", file.to_str().unwrap(), "--test", test]).exit;
    assert_eq!((exit("smc"), exit("rms")), (0, 1));
    for (point, index, says) in [("10", "0", "no such point"), ("0", "40", "no such index")] {
        let done = back(point, index, "-");
        assert!(
            done.exit == 2 && done.stderr.contains(says),
            "{}",
            done.stderr
        );
    }
    assert_eq!(
        vestal(&[
            "regenerate",
            "docs",
            "--point",
            "0",
            "--index",
            "0",
            "-o",
            "-"
        ])
        .exit,
        2
    );
}

/// Systems with and without PIBS of the same draws, in one row, each of which comes back as its question had it.
#[test]
fn a_set_comes_back_as_a_question_about_another_system_had_it() {
    let scratch = Scratch::new("sweep-redrawn");
    let text = "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"missimer\"\nsets = 2\n\
        tests = [\"ss-rta[io=sporadic]\", \"ss-pibs-rta\"]\n[fixed]\nlevels = 1\n\
        [[simulate]]\npolicy = \"io-amc\"\nfor = \"5ms\"\ndraw = [\"io=sporadic\", \"events=burst\"]\n";
    let file = scratch.file("x.toml", text);
    let folder = scratch.0.join("out");
    let (file, result) = (file.to_str().unwrap(), folder.to_str().unwrap());
    let done = vestal(&["sweep", file, "-o", result]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let summary = fs::read_to_string(folder.join("summary.csv")).unwrap();
    for label in [
        "ss-rta[io=sporadic]",
        "ss-pibs-rta,",
        "sim:io-amc/lo[io=sporadic,events=burst]",
    ] {
        assert!(summary.contains(label), "{label} is not in {summary}");
    }
    let back = |more: &[&str]| {
        let start = [
            "regenerate",
            result,
            "--point",
            "0",
            "--index",
            "1",
            "-o",
            "-",
        ];
        vestal(&[&start[..], more].concat())
    };
    let pibs = |text: &str| text.matches("kind = \"pibs\"").count();
    let sets = [back(&[]), back(&["--set", "io=sporadic"])];
    assert_eq!(sets.map(|set| pibs(&set.stdout)), [5, 0]);
    for (option, says) in [("io", "not KEY=VALUE"), ("io=both", "pibs or sporadic")] {
        let done = back(&["--set", option]);
        assert!(
            done.exit == 2 && done.stderr.contains(says),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn regenerate_refuses_what_is_not_the_result_of_this_version_and_experiment() {
    let bench = Bench::new("regenerate-foreign");
    let folder = bench.folder("out");
    bench.sweep(&folder, &[]);
    let refusal = |code: &str| {
        let set = ["--point", "0", "--index", "0", "-o", "-"];
        let done = vestal(&[&["regenerate", folder.to_str().unwrap()][..], &set[..]].concat());
        assert_eq!(
            (done.exit, done.stdout.as_str()),
            (2, ""),
            "{}",
            done.stderr
        );
        assert!(done.stderr.contains(code), "{}", done.stderr);
    };
    let file = |name: &str| folder.join(name);
    let text = fs::read_to_string(file("experiment.toml")).unwrap();
    let reseeded = text.replace("seed   = 5", "seed   = 6");
    fs::write(file("experiment.toml"), &reseeded).unwrap();
    refusal("V0702");
    // Another experiment's manifest and file beside these chunks.
    let other = bench.folder("other");
    let path = bench.scratch.file("reseeded.toml", &reseeded);
    let (path, into) = (path.to_str().unwrap(), other.to_str().unwrap());
    assert_eq!(
        vestal(&["sweep", path, "-o", into, "--shard", "100/100"]).exit,
        0
    );
    fs::copy(other.join("manifest.json"), file("manifest.json")).unwrap();
    refusal("V0701");
}
