//! What sweeps measure: the same bytes however the work was done, and the numbers of `vestal simulate`.

use crate::support::{Scratch, command, vestal};
use crate::sweep::{assert_same, wait};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/miss-ratio.toml")
}

fn sweep(file: &Path, folder: &Path, more: &[&str]) {
    let arguments = [
        "sweep",
        file.to_str().unwrap(),
        "-o",
        folder.to_str().unwrap(),
    ];
    let done = vestal(&[&arguments[..], more].concat());
    assert_eq!((done.exit, done.stderr.as_str()), (0, ""));
}

/// The cells of each row of `measures.csv`.
fn rows(folder: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join("measures.csv")).unwrap();
    let rows = text.lines().skip(1);
    rows.map(|row| row.split(',').map(str::to_owned).collect())
        .collect()
}

#[test]
fn the_example_shows_more_misses_at_higher_utilizations() {
    let scratch = Scratch::new("measures-example");
    let (whole, parts) = (scratch.0.join("whole"), scratch.0.join("parts"));
    sweep(&example(), &whole, &["--jobs", "1"]);
    // The second machine is there, then the third, then the first; then chunks are lost, and somebody goes on.
    for shard in ["2/3", "3/3", "1/3"] {
        assert!(!parts.join("measures.csv").exists());
        sweep(&example(), &parts, &["--shard", shard, "--resume"]);
    }
    assert_same(&whole, &parts);
    for lost in [
        "chunks/00002-00001.parquet",
        "chunks/00006-00003.parquet",
        "measures.csv",
        "plot-miss-ratio.svg",
    ] {
        fs::remove_file(parts.join(lost)).unwrap();
    }
    sweep(&example(), &parts, &["--resume"]);
    assert_same(&whole, &parts);
    let rows = rows(&whole);
    // Seven points, two policies, all jobs and those of two levels.
    assert_eq!(rows.len(), 7 * 2 * 3);
    let mean = |point: &str, measure: &str| -> f64 {
        let mut rows = rows.iter();
        let is_wanted =
            |row: &&Vec<String>| row[0] == point && row[2] == measure && row[3] == "all";
        rows.find(is_wanted).unwrap()[10].parse().unwrap()
    };
    for policy in ["miss-ratio:rms/hi", "miss-ratio:edf/hi"] {
        assert!(
            mean("0", policy) == 0.0 && mean("6", policy) > 0.05,
            "{rows:?}"
        );
    }
    for row in &rows {
        let number = |cell: usize| row[cell].parse::<f64>().unwrap();
        assert!(
            number(11) <= number(10) && number(10) <= number(12),
            "{row:?}"
        );
        assert!(number(8) <= number(9) && number(7) <= number(4), "{row:?}");
    }
    let plot = fs::read_to_string(whole.join("plot-miss-ratio.svg")).unwrap();
    assert!(
        plot.contains("rms/hi:LO") && plot.contains("share of jobs that miss"),
        "{plot}"
    );
}

#[test]
fn a_sweep_that_measures_and_is_killed_ends_with_the_same_bytes() {
    let scratch = Scratch::new("measures-killed");
    let (whole, killed) = (scratch.0.join("whole"), scratch.0.join("killed"));
    let text = fs::read_to_string(example()).unwrap();
    let file = scratch.file("slow.toml", &text.replace("chunk  = 10", "chunk  = 2"));
    sweep(&file, &whole, &[]);
    let mut interrupted = 0;
    for millis in [30, 60, 15, 90, 45, 120] {
        let arguments = [
            "sweep",
            file.to_str().unwrap(),
            "-o",
            killed.to_str().unwrap(),
            "--resume",
        ];
        let mut child = command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait(millis);
        child.kill().unwrap();
        interrupted += usize::from(!child.wait().unwrap().success());
    }
    assert!(interrupted > 2, "the sweep is too small to be interrupted");
    sweep(&file, &killed, &["--resume"]);
    assert_same(&whole, &killed);
}

/// One set at each point, so that sums are those of a set: `simulate` counts the same.
#[test]
fn what_is_counted_is_what_a_simulation_of_the_set_counts() {
    let scratch = Scratch::new("measures-twin");
    let text = "format = \"vestal-experiment/1\"\nname = \"twin\"\nrecipe = \"standard\"\nsets = 1\n\
                [fixed]\ntasks = 6\n[vary]\nutilization = [0.4, 0.7, 0.9, 1]\nmean = [0.3, 0.9]\n\
                [[measure]]\nwhat = \"miss-ratio\"\npolicy = \"rms\"\nscenario = \"beta={mean},0.9\"\nfor = \"3s\"\n\
                [[measure]]\nwhat = \"drop-ratio\"\npolicy = \"amc\"\nset = [\"exhaustion=abort\"]\nscenario = \"beta={mean},0.9\"\nfor = \"3s\"\n";
    let file = scratch.file("twin.toml", text);
    let folder = scratch.0.join("out");
    sweep(&file, &folder, &[]);
    let rows = rows(&folder);
    let (mut missed, mut dropped) = (0, 0);
    for point in 0..8 {
        let set = scratch.0.join(format!("{point}.toml"));
        let (number, set) = (point.to_string(), set.to_str().unwrap());
        let folder = folder.to_str().unwrap();
        let back = [
            "regenerate",
            folder,
            "--point",
            &number,
            "--index",
            "0",
            "-o",
            set,
            "--format",
            "json",
        ];
        let seed = vestal(&back).json()["seed"].to_string();
        let mean = ["0.3", "0.9"][point % 2];
        let scenario = format!("beta={mean},0.9");
        let jobs = |policy: &str, more: &[&str]| {
            let world = [
                "simulate",
                set,
                "--policy",
                policy,
                "--scenario",
                &scenario,
                "--for",
                "3s",
            ];
            let rest = ["--seed", &seed, "--format", "json"];
            vestal(&[&world[..], &rest[..], more].concat()).json()["jobs"].clone()
        };
        // The comma of the scenario is quoted, and its cell is two here.
        let row = |measure: &str| {
            let mut rows = rows.iter();
            let is_wanted = |row: &&Vec<String>| {
                row[0] == number && row[3].contains(measure) && row[5] == "all"
            };
            rows.find(is_wanted).unwrap()
        };
        let counted = |measure: &str| -> (u64, u64) {
            let row = row(measure);
            (row[10].parse().unwrap(), row[11].parse().unwrap())
        };
        let count = |jobs: &serde_json::Value, name: &str| jobs[name].as_u64().unwrap();
        let found = jobs("rms", &[]);
        assert_eq!(
            counted("miss-ratio"),
            (count(&found, "missed"), count(&found, "released"))
        );
        missed += count(&found, "missed");
        let found = jobs("amc", &["--set", "exhaustion=abort"]);
        assert_eq!(
            counted("drop-ratio"),
            (count(&found, "dropped"), count(&found, "released"))
        );
        dropped += count(&found, "dropped");
    }
    assert!(missed > 0 && dropped > 0, "{missed} {dropped}");
}

/// What is replaced in the example, by what, and what is said of it.
type Wrong = (&'static str, &'static str, &'static [&'static str]);

const NONSENSE: &[Wrong] = &[
    (
        "\"miss-ratio\"",
        "\"mis-ratio\"",
        &["no measure", "did you mean `miss-ratio`?"],
    ),
    (
        "what     = \"miss-ratio\"\n",
        "",
        &["nothing that is measured", "relative-response"],
    ),
    ("\"rms\"", "\"rmss\"", &["no policy", "did you mean `rms`?"]),
    ("\"2s\"", "\"0s\"", &["`0s`", "a time above 0"]),
    ("\"2s\"", "\"2\"", &["`2`", "a time above 0"]),
    ("\"hi\"", "\"high\"", &["no scenario"]),
    (
        "\"hi\"",
        "\"beta={mean},0.5\"",
        &["`{mean}`, which does not vary", "utilization"],
    ),
    (
        "\"hi\"",
        "\"overrun={utilisation}\"",
        &["did you mean `utilization`?"],
    ),
    (
        "\"hi\"",
        "\"beta={utilization},2\"",
        &["`beta=0.4,2`, which is no scenario"],
    ),
    ("\"utilization\"", "\"tasks\"", &["a parameter that varies"]),
    (
        "policy   = \"rms\"",
        "policy   = \"rms\"\nset = [\"exhaustion\"]",
        &["KEY=VALUE"],
    ),
    (
        "policy   = \"rms\"",
        "policy   = \"rms\"\nset = [\"exhaustion=no\"]",
        &["no value of `exhaustion`"],
    ),
    (
        "policy   = \"rms\"",
        "policy   = \"rms\"\nset = [\"instants=form\"]",
        &["no option is called `instants`"],
    ),
    ("[[measure]]", "[[simulate]]", &["no such key"]),
    (
        "utilization = {",
        "mean = [1]\nutilization = {",
        &["`mean`"],
    ),
];

/// What stands in the file for the worse has its place.
#[test]
fn nonsense_in_an_experiment_file_is_found_where_it_stands() {
    let scratch = Scratch::new("measures-refused");
    let text = fs::read_to_string(example()).unwrap();
    for (from, to, says) in NONSENSE {
        assert!(text.contains(from), "{from}");
        let wrong = text.replacen(from, to, 1);
        let file = scratch.file("wrong.toml", &wrong);
        let folder = scratch.0.join("never");
        let done = vestal(&[
            "sweep",
            file.to_str().unwrap(),
            "-o",
            folder.to_str().unwrap(),
        ]);
        assert_eq!(done.exit, 2, "{to}: {}", done.stderr);
        assert!(!folder.exists(), "{to}");
        // Long messages go on in another line.
        let said = done.stderr.replace("\n  | ", " ");
        for words in ["V0700", "wrong.toml:"].iter().chain(*says) {
            assert!(
                said.contains(words),
                "{to}: {words} is not in {}",
                done.stderr
            );
        }
        // The line of what is wrong.
        let first = wrong
            .lines()
            .zip(text.lines())
            .position(|(wrong, right)| wrong != right);
        let line = first.unwrap() + 1;
        let place = done.stderr.split("wrong.toml:").nth(1).unwrap();
        let found: usize = place.split(':').next().unwrap().parse().unwrap();
        assert!(
            found.abs_diff(line) <= 1,
            "{to}: {found} and {line}: {}",
            done.stderr
        );
    }
}
