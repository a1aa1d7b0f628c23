//! Overheads in `analyze`, and `advise`, with costs that were measured once (`examples/overheads/epyc.json`) or made up.

use crate::support::{Scratch, repository, vestal};
use crate::{FMS, keys};
use serde_json::{Value, json};
use std::fs;
use vestal_testkit::Random;

const ROVER: &str = "examples/advise.toml";
const COSTS: &str = "examples/overheads/epyc.json";

/// A file with text, by its name.
fn written(scratch: &Scratch, name: &str, text: &str) -> String {
    scratch.file(name, text).to_str().unwrap().to_owned()
}

/// The file of costs with other ones: `change` is told the mechanism, the cost and its value.
fn with_costs(scratch: &Scratch, name: &str, change: impl Fn(&str, &str, u64) -> u64) -> String {
    let text = fs::read_to_string(repository().join(COSTS)).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    for mechanism in document["mechanisms"].as_array_mut().unwrap() {
        let of = mechanism["name"].as_str().unwrap().to_owned();
        for cost in mechanism["costs"].as_array_mut().unwrap() {
            let name = cost["name"].as_str().unwrap().to_owned();
            for figure in ["mean_ns", "median_ns", "p99_ns", "max_ns"] {
                cost[figure] = json!(change(&of, &name, cost[figure].as_u64().unwrap()));
            }
        }
    }
    written(scratch, name, &document.to_string())
}

#[test]
fn tests_take_overheads_into_account_and_results_say_which() {
    let plain = vestal(&["analyze", ROVER, "--test", "amc-rtb", "--format", "json"]);
    let plain = plain.json();
    assert_eq!(
        (&plain["overheads"], &plain["results"][0]["mechanism"]),
        (&Value::Null, &Value::Null)
    );
    let asked = [
        "analyze",
        ROVER,
        "--test",
        "amc-rtb",
        "--overheads",
        COSTS,
        "--format",
        "json",
    ];
    let with = vestal(&asked);
    assert_eq!(with.exit, 0, "{}", with.stderr);
    let with = with.json();
    assert_eq!(
        with["overheads"],
        json!({ "file": COSTS, "statistic": "max" })
    );
    assert_eq!(with["results"][0]["mechanism"], "native/perf");
    assert_eq!(with["results"][0]["kind"], "sufficient");
    let response = |document: &Value, task: usize| {
        let bound = &document["results"][0]["tasks"][task]["response_ns"]["LO"];
        bound.as_u64().unwrap()
    };
    let mean = vestal(&[asked.as_slice(), &["--statistic", "mean"]].concat()).json();
    for task in 0..3 {
        let [plain, mean, max] = [&plain, &mean, &with].map(|document| response(document, task));
        assert!(plain < mean && mean < max, "{plain} {mean} {max}");
    }
    let managed = vestal(&[asked.as_slice(), &["--mechanism", "managed/manager"]].concat()).json();
    assert_eq!(managed["results"][0]["mechanism"], "managed/manager");
    assert!(response(&managed, 0) > response(&with, 0));
    let human = vestal(&["analyze", ROVER, "--overheads", COSTS, "--details"]);
    assert!(
        human
            .stdout
            .contains("amc-rtb: schedulable (sufficient test, with the overheads of native/perf"),
        "{}",
        human.stdout
    );
    let printed = vestal(&[
        "analyze",
        ROVER,
        "--test",
        "pt:printed",
        "--overheads",
        COSTS,
    ]);
    assert_eq!(printed.exit, 1);
    assert!(
        printed
            .stdout
            .contains("the test cannot take overheads into account"),
        "{}",
        printed.stdout
    );
}

#[test]
fn the_table_of_tests_says_whose_overheads_were_taken_into_account() {
    let human = vestal(&["analyze", ROVER, "--overheads", COSTS]);
    let mut lines = human.stdout.lines();
    assert!(
        lines.next().unwrap().contains("is schedulable by"),
        "{}",
        human.stdout
    );
    let second = lines.next().unwrap();
    assert!(second.contains("what is measured is no bound"), "{second}");
    let words = |name: &str| {
        let line = human.stdout.lines().find(|line| line.starts_with(name));
        line.unwrap()
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(words("test ")[3], "mechanism");
    assert_eq!(
        words("amc-rtb ")[..4],
        ["amc-rtb", "schedulable", "sufficient", "native/perf"]
    );
}

#[test]
fn a_job_that_takes_too_long_to_begin_is_the_reason() {
    let scratch = Scratch::new("overheads-slow");
    let slow = with_costs(&scratch, "slow.json", |of, cost, nanos| match (of, cost) {
        ("native/perf", "job-start") => 8_000_000,
        _ => nanos,
    });
    let done = vestal(&["analyze", ROVER, "--test", "amc-rtb", "--overheads", &slow]);
    assert_eq!(done.exit, 1, "{}", done.stderr);
    assert!(
        done.stdout
            .contains("why: with overheads: control needs more than its deadline"),
        "{}",
        done.stdout
    );
    // The other mechanisms are as they were.
    let other = vestal(&[
        "analyze",
        ROVER,
        "--test",
        "amc-rtb",
        "--overheads",
        &slow,
        "--mechanism",
        "managed/manager",
    ]);
    assert_eq!(other.exit, 0, "{}", other.stderr);
}

#[test]
fn what_is_no_file_of_overheads_is_refused_with_its_place_and_what_mends_it() {
    let scratch = Scratch::new("overheads-bad");
    let broken = written(&scratch, "broken.json", "{\n  \"format\": 3");
    let old = r#"{"format": "vestal-result/1", "bench": "primitives", "primitives": []}"#;
    let old = written(&scratch, "old.json", old);
    let none = scratch.0.join("none.json").to_str().unwrap().to_owned();
    for command in ["analyze", "advise"] {
        for (file, why) in [
            (&broken, "broken.json: it is no result of a benchmark"),
            (&broken, "line 2 column"),
            (
                &old,
                "`mechanisms`: found none in a result of `bench primitives`",
            ),
            (&none, "none.json: No such file"),
        ] {
            let done = vestal(&[command, FMS, "--overheads", file]);
            assert_eq!(done.exit, 2, "{command} {file}");
            assert!(
                done.stderr.contains(why),
                "{command} {file}: {}",
                done.stderr
            );
            assert!(done.stderr.contains("help: "), "{}", done.stderr);
        }
        for (option, value, why) in [
            (
                "--statistic",
                "median",
                "this version knows: mean, p99, max",
            ),
            (
                "--mechanism",
                "native/luck",
                "it has those of native/perf, ",
            ),
        ] {
            let done = vestal(&[command, FMS, "--overheads", COSTS, option, value]);
            assert_eq!(done.exit, 2, "{command} {option}");
            assert!(
                done.stderr.contains(why),
                "{command} {option}: {}",
                done.stderr
            );
        }
    }
}

#[test]
fn overheads_that_say_nothing_of_what_is_asked_are_refused() {
    let alone = vestal(&["analyze", FMS, "--statistic", "max"]);
    assert_eq!(alone.exit, 2);
    assert!(
        alone.stderr.contains("name them with --overheads FILE"),
        "{}",
        alone.stderr
    );
    // A policy by deadlines has no mechanism of the kernel's priorities.
    let misfit = [
        "analyze",
        FMS,
        "--test",
        "edf-vd",
        "--overheads",
        COSTS,
        "--mechanism",
        "native/perf",
    ];
    let misfit = vestal(&misfit);
    assert_eq!(misfit.exit, 2);
    assert!(
        misfit.stderr.contains("none of the mechanisms"),
        "{}",
        misfit.stderr
    );
    let jobs = vestal(&["advise", "examples/jobs.toml", "--overheads", COSTS]);
    assert_eq!(jobs.exit, 2);
    assert!(
        jobs.stderr.contains("jobs that are released once"),
        "{}",
        jobs.stderr
    );
}

/// What it proved would be run with another monitor.
#[test]
fn advise_leaves_out_a_monitor_that_nothing_runs() {
    const LEMMA: &str = "examples/overheads/sigrist2015-lemma-iv-1.json";
    let proved = vestal(&["analyze", FMS, "--test", "edf-vd", "--overheads", LEMMA]);
    assert_eq!(proved.exit, 0, "{}{}", proved.stdout, proved.stderr);
    let done = vestal(&["advise", FMS, "--overheads", LEMMA]);
    assert_eq!(done.exit, 1);
    assert!(!done.stdout.contains("vestal run"), "{}", done.stdout);
    let why = "edf-vd is left out: there are no overheads of a mechanism that carries it out";
    assert!(done.stderr.contains(why), "{}", done.stderr);
}

fn choices(file: &str, more: &[&str]) -> Vec<Value> {
    let asked = ["advise", file, "--overheads", COSTS, "--format", "json"];
    let done = vestal(&[asked.as_slice(), more].concat());
    let document = done.json();
    assert_eq!(keys(&document), ["choices", "file", "format", "overheads"]);
    let choices = document["choices"].as_array().unwrap().clone();
    let is_any = choices.iter().any(|choice| choice["schedulable"] == true);
    assert_eq!(done.exit, i32::from(!is_any), "{}", done.stderr);
    choices
}

/// By the room for execution times job priorities come first, with overheads the kernel's priorities do; both hold.
#[test]
fn overheads_reverse_a_rank() {
    let choices = choices(ROVER, &["--statistic", "p99"]);
    assert_eq!(choices[0]["mechanism"], "native/perf");
    let listed = choices
        .iter()
        .find(|choice| choice["test"] == "fjp-mode")
        .unwrap();
    let [fixed, listed] = [&choices[0], listed].map(|choice| {
        let of = |key: &str| choice[key].as_u64().unwrap();
        assert_eq!(choice["schedulable"], true);
        (of("scaling_permille"), of("margin_permille"))
    });
    assert!(
        fixed.0 < listed.0 && fixed.1 > listed.1,
        "{fixed:?} {listed:?}"
    );
}

#[test]
fn choices_are_ranked_and_say_what_is_not_proved() {
    let choices = choices(FMS, &[]);
    let margins: Vec<_> = choices
        .iter()
        .map(|choice| choice["margin_permille"].as_u64())
        .collect();
    assert!(margins.is_sorted_by(|one, next| one >= next), "{margins:?}");
    for choice in &choices {
        let margin = choice["margin_permille"].as_u64();
        assert_eq!(
            choice["schedulable"],
            margin.is_some_and(|margin| margin >= 1_000),
            "{choice}"
        );
        assert_eq!(
            choice["why"].is_null(),
            choice["schedulable"] == true,
            "{choice}"
        );
    }
    let tests: Vec<_> = choices
        .iter()
        .map(|choice| choice["test"].as_str().unwrap())
        .collect();
    for test in [
        "rms", "smc", "amc-rtb", "zss", "pt", "fjp-mode", "edf", "edf-vd", "pedf-vd",
    ] {
        assert!(tests.contains(&test), "{test} {tests:?}");
    }
    assert!(!tests.contains(&"pt:servers"), "it takes no overheads");
    let one = vestal(&[
        "advise",
        FMS,
        "--overheads",
        COSTS,
        "--mechanism",
        "huang2014",
    ]);
    let rows: Vec<_> = one
        .stdout
        .lines()
        .filter(|line| line.contains("huang2014"))
        .collect();
    assert!(rows.iter().any(|row| row.starts_with("amc ")), "{rows:?}");
    assert!(
        one.stdout
            .contains("vestal run examples/fms.toml --policy amc --mechanism huang2014"),
        "{}",
        one.stdout
    );
}

/// A set of some tasks with short periods, so that overheads count.
fn drawn(random: &mut Random) -> String {
    let mut text = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"us\"\n".to_owned();
    let count = random.between(2, 5);
    for index in 0..count {
        let period = random.between(2, 40) * 1_000;
        let low = random.between(50, period * 3 / (4 * count));
        let wcet = match random.once_in(2) {
            true => format!(
                "criticality = \"HI\"\nwcet = {{ LO = {low}, HI = {} }}",
                low + random.between(0, low)
            ),
            false => format!("criticality = \"LO\"\nwcet = {{ LO = {low} }}"),
        };
        text += &format!("\n[[task]]\nname = \"t{index}\"\nperiod = {period}\n{wcet}\n");
    }
    text
}

/// The first choice is accepted by `analyze --overheads`, and of all tests and mechanisms none has a larger margin: no test
/// accepts with any mechanism where everything costs that much more, and two thousandths, for what is rounded.
#[test]
fn the_first_choice_of_drawn_sets_is_accepted_and_the_best() {
    let scratch = Scratch::new("overheads-drawn");
    let text = fs::read_to_string(repository().join(COSTS)).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let mechanisms = document["mechanisms"].as_array().unwrap();
    let mut random = Random::new(16);
    let (mut seen, mut beaten) = ([0; 2], 0);
    for number in 0..200 {
        let file = written(&scratch, "set.toml", &drawn(&mut random));
        let choices = choices(&file, &["--statistic", "p99"]);
        let first = &choices[0];
        let is_proved = first["schedulable"] == true;
        seen[usize::from(is_proved)] += 1;
        let of = |key: &str| first[key].as_str().unwrap();
        let asked = |costs: &str, more: &[&str]| {
            let usual = ["analyze", &file, "--overheads", costs, "--statistic", "p99"];
            vestal(&[usual.as_slice(), more].concat()).exit
        };
        let exit = asked(
            COSTS,
            &["--test", of("test"), "--mechanism", of("mechanism")],
        );
        assert_eq!(exit, i32::from(!is_proved), "{number}: {first}");
        let Some(margin @ 10..1_000_000) = first["margin_permille"].as_u64() else {
            continue;
        };
        beaten += 1;
        let more = with_costs(&scratch, "more.json", |_, _, nanos| {
            (nanos * (margin + 2)).div_ceil(1_000)
        });
        for mechanism in mechanisms {
            let name = mechanism["name"].as_str().unwrap();
            let exit = asked(&more, &["--mechanism", name]);
            assert_eq!(exit, 1, "{number}: {name} has a larger margin than {first}");
        }
    }
    assert!(seen.iter().all(|&count| count >= 10), "{seen:?}");
    assert!(beaten >= 150, "{beaten}");
}

/// A frame begins faster with the second.
#[test]
fn the_best_barrier_of_a_frame_table_is_an_option_of_the_run() {
    let scratch = Scratch::new("advise-frames");
    let mechanism = |name: &str, frame_us: u64| {
        let costs = [
            ("job-start", 1),
            ("job-end", 1),
            ("switch", 1),
            ("frame", frame_us),
            ("sub-frame", 10),
            ("barrier", 10),
        ];
        let costs = costs.map(|(name, us)| {
            let nanos = us * 1_000;
            json!({ "name": name, "count": 1, "mean_ns": nanos, "median_ns": nanos, "p99_ns": nanos, "max_ns": nanos })
        });
        json!({ "name": name, "what": "", "dispatch": "frames", "costs": costs })
    };
    let document = json!({ "format": "vestal-result/1", "bench": "primitives", "primitives": [],
        "mechanisms": [mechanism("ftts/spin", 300), mechanism("ftts/futex", 200)] });
    let file = written(&scratch, "costs.json", &document.to_string());
    let done = vestal(&["advise", "examples/frames.toml", "--overheads", &file]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let command = "vestal run examples/frames.toml --policy ftts --barrier futex\n";
    assert!(done.stdout.contains(command), "{}", done.stdout);
}
