//! Task-set files and what is said about them: `check`, `analyze`, parameters.

use crate::support::{Scratch, repository, vestal, vestal_with_input};
use crate::{FMS, THREE, keys};
use serde_json::Value;

#[test]
fn every_example_is_valid() {
    let mut files = 0;
    for entry in std::fs::read_dir(repository().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml" || extension == "json")
        {
            let done = vestal(&["check", path.to_str().unwrap()]);
            assert_eq!(done.exit, 0, "{}: {}", path.display(), done.stderr);
            files += 1;
        }
    }
    assert!(files >= 2);
}

#[test]
fn check_sums_up_a_valid_file() {
    let done = vestal(&["check", FMS, "--format", "json"]);
    let document = done.json();
    assert_eq!(done.exit, 0);
    assert_eq!(document["valid"], true);
    assert_eq!(document["set"]["tasks"], 11);
    assert_eq!(document["set"]["hyperperiod_ns"], 5_000_000_000_u64);
    assert_eq!(document["set"]["levels"][1]["tasks"], 5);
    let human = vestal(&["check", FMS]).stdout;
    for part in [
        "valid",
        "Flight management system",
        "11 tasks",
        "hyperperiod 5s",
        "12.20%",
    ] {
        assert!(human.contains(part), "{part} is not in {human}");
    }
}

#[test]
fn check_names_what_nobody_uses_and_the_rule_about_misses() {
    let text = "format = \"vestal/1\"\nlevels = [\"LO\"]\n[platform]\ncpus = 2\n[[task]]\nname = \"a\"\n\
                criticality = \"LO\"\nperiod = \"10ms\"\non_miss = \"abort\"\noffset = \"1ms\"\naccesses = { LO = 3 }\nwcet = { LO = \"1ms\" }\n";
    let done = vestal_with_input(&["check", "-"], text.as_bytes());
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(done.stdout.contains("task.accesses"), "{}", done.stdout);
    assert!(done.stdout.contains("platform.cpus"), "{}", done.stdout);
    let offset = "task.offset (in a)\n  - under rms, dms, cms, smc, pt, amc, zss, plrs, ocbp, edf, edf-vd, pedf-vd, hsf, io-amc: counts in `simulate`";
    assert!(done.stdout.contains(offset), "{}", done.stdout);
    assert!(
        done.stdout.contains("on_miss") && done.stdout.contains("amc"),
        "{}",
        done.stdout
    );
}

#[test]
fn all_errors_of_a_file_are_told_at_once_with_place_and_cure() {
    let text = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n[[task]]\nname = \"a\"\n\
                criticality = \"MID\"\nperiod = 0\ndeadlin = 5\nwcet = { LO = 2, HI = 1 }\n";
    let done = vestal_with_input(&["check", "-"], text.as_bytes());
    assert_eq!(done.exit, 2);
    assert_eq!(done.stdout, "");
    for part in [
        "<stdin>:6:",
        "<stdin>:7:",
        "<stdin>:8:",
        "did you mean",
        "deadline",
        "V0100",
        "failed to read <stdin>",
    ] {
        assert!(
            done.stderr.contains(part),
            "{part} is not in {}",
            done.stderr
        );
    }
    let done = vestal_with_input(&["check", "-", "--format", "json"], text.as_bytes());
    let document = done.json();
    assert_eq!((done.exit, &document["valid"]), (2, &Value::Bool(false)));
    assert!(document["diagnostics"].as_array().unwrap().len() >= 3);
    let expected = [
        "code", "column", "expected", "field", "file", "found", "help", "line", "message",
        "severity",
    ];
    assert_eq!(keys(&document["diagnostics"][0]), expected);
}

#[test]
fn nonsense_files_are_bad_input_for_every_command_and_never_a_panic() {
    let nonsense: [&[u8]; 7] = [
        b"",
        b"\xff\xfe\x00",
        b"{",
        b"]]]]",
        b"format = \"vestal/1\"\nlevels = []\n",
        b"[[task]]\n[[task]]\n",
        &[b'[', b'['].repeat(20_000),
    ];
    for text in nonsense {
        for arguments in [
            &["check", "-"][..],
            &["analyze", "-"],
            &["simulate", "-", "--policy", "amc"],
        ] {
            let done = vestal_with_input(arguments, text);
            assert_eq!(done.exit, 2, "{arguments:?}: {}", done.stderr);
            assert!(
                done.stderr.contains("error: failed to read <stdin>"),
                "{}",
                done.stderr
            );
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let done = vestal(&["analyze", "no/such/file.toml"]);
    assert_eq!(done.exit, 2);
    assert!(
        done.stderr.contains("no/such/file.toml") && done.stderr.contains("No such file"),
        "{}",
        done.stderr
    );
    let done = vestal(&["simulate", "examples", "--policy", "amc"]);
    assert_eq!(done.exit, 2, "a directory: {}", done.stderr);
}

#[test]
fn analyze_answers_in_the_guaranteed_shape() {
    let done = vestal(&[
        "analyze",
        FMS,
        "--test",
        "amc-rtb",
        "--test",
        "smc:printed",
        "--format",
        "json",
    ]);
    let document = done.json();
    assert_eq!(done.exit, 0);
    assert_eq!(done.stderr, "");
    let all = ["file", "format", "overheads", "results", "strongest"];
    assert_eq!(keys(&document), all);
    assert_eq!(document["format"], "vestal-result/1");
    assert_eq!(document["file"], FMS);
    let [rtb, printed] = document["results"].as_array().unwrap().as_slice() else {
        panic!("two results")
    };
    let expected = [
        "claim",
        "elapsed_us",
        "kind",
        "mechanism",
        "parameters",
        "tasks",
        "test",
        "variant",
        "verdict",
        "why",
    ];
    assert_eq!(keys(rtb), expected);
    assert_eq!(
        (&rtb["test"], &rtb["variant"], &rtb["claim"]),
        (&"amc-rtb".into(), &Value::Null, &Value::Null)
    );
    assert_eq!(
        (&rtb["verdict"], &rtb["kind"]),
        (&"schedulable".into(), &"sufficient".into())
    );
    assert_eq!(printed["variant"], "printed");
    let sensor = &rtb["tasks"][2];
    assert_eq!(
        keys(sensor),
        [
            "cpu",
            "criticality",
            "deadline_ns",
            "name",
            "priority",
            "response_ns"
        ]
    );
    assert_eq!(sensor["name"], "sensor-3");
    assert_eq!(sensor["response_ns"]["LO"], 3_550_000);
    assert_eq!(sensor["response_ns"]["HI"], 20_520_000);
    assert_eq!(
        keys(&rtb["tasks"][0]["response_ns"]),
        ["LO"],
        "a LO task has no response time at level HI"
    );
    assert_eq!(
        rtb["parameters"]["priorities"]["sensor-3"],
        sensor["priority"]
    );
    // Levels are written from the lowest up.
    assert!(
        done.stdout.find("\"LO\": 3550000").unwrap()
            < done.stdout.find("\"HI\": 20520000").unwrap()
    );
}

#[test]
fn analyze_exits_by_what_was_asked() {
    let exit = |arguments: &[&str]| vestal(&[&["analyze", THREE], arguments].concat()).exit;
    assert_eq!(exit(&["--test", "amc-rtb"]), 0);
    assert_eq!(exit(&["--test", "smc"]), 1);
    assert_eq!(
        exit(&["--test", "amc-rtb", "--test", "smc"]),
        1,
        "all that are named"
    );
    assert_eq!(exit(&[]), 0, "any that is sound");
    assert_eq!(exit(&["--all"]), 0);
    assert_eq!(
        exit(&["--all", "--test", "smc"]),
        0,
        "--all goes before names"
    );
}

#[test]
fn an_unbounded_response_time_is_null_and_the_reason_is_given() {
    let document = vestal(&["analyze", THREE, "--test", "rms", "--format", "json"]).json();
    let result = &document["results"][0];
    assert_eq!(result["verdict"], "unschedulable");
    assert!(result["why"].as_str().unwrap().contains("tau3"));
    assert_eq!(result["tasks"][2]["response_ns"]["HI"], Value::Null);
}

#[test]
fn parameters_that_were_written_are_used_and_checked() {
    let scratch = Scratch::new("parameters");
    let file = scratch.0.join("p.json");
    let file = file.to_str().unwrap();
    assert_eq!(
        vestal(&["analyze", FMS, "--test", "amc-rtb", "--emit", file]).exit,
        0
    );
    let again = vestal(&[
        "analyze",
        FMS,
        "--test",
        "amc-rtb",
        "--parameters",
        file,
        "--format",
        "json",
    ]);
    let fresh = vestal(&["analyze", FMS, "--test", "amc-rtb", "--format", "json"]);
    assert_eq!(
        again.json()["results"][0]["tasks"],
        fresh.json()["results"][0]["tasks"]
    );
    let done = vestal(&[
        "simulate",
        FMS,
        "--policy",
        "amc",
        "--parameters",
        file,
        "--for",
        "1s",
    ]);
    assert_eq!(done.exit, 0);
    assert!(
        done.stdout.contains("priorities of --parameters"),
        "{}",
        done.stdout
    );
    let done = vestal(&["analyze", THREE, "--parameters", file]);
    assert_eq!(done.exit, 2, "parameters of another set");
    assert!(done.stderr.contains("V0600"), "{}", done.stderr);
    // Priorities that the test cannot prove: the answer is about them, and nothing else is searched for.
    let reversed = scratch.file("r.json", "{\"format\": \"vestal-parameters/1\", \"priorities\": {\"tau1\": 1, \"tau2\": 2, \"tau3\": 3}}");
    let done = vestal(&[
        "analyze",
        THREE,
        "--test",
        "amc-rtb",
        "--parameters",
        reversed.to_str().unwrap(),
    ]);
    assert_eq!(done.exit, 1, "{}{}", done.stdout, done.stderr);
}

#[test]
fn nothing_is_emitted_when_nothing_was_proved() {
    let scratch = Scratch::new("emit");
    let file = scratch.0.join("p.json");
    let done = vestal(&[
        "analyze",
        THREE,
        "--test",
        "smc",
        "--emit",
        file.to_str().unwrap(),
    ]);
    assert_eq!(done.exit, 1);
    assert!(!file.exists());
    assert!(done.stderr.contains("was not written"), "{}", done.stderr);
}

#[test]
fn zero_slack_instants_are_those_of_the_variant_that_is_named() {
    let run = |options: &[&str]| {
        let head = ["simulate", "examples/zss-trap.toml", "--policy", "zss"];
        vestal(&[&head, options, &["--for", "10ms"]].concat())
    };
    let found_by = |options: &[&str], test: &str| {
        let done = run(options);
        let line = format!("zero-slack instants found by {test};");
        assert!(done.stdout.contains(&line), "{}", done.stdout);
    };
    found_by(&[], "zss");
    found_by(&["--set", "instants=sporadic"], "zss");
    found_by(&["--set", "instants=form"], "zss:form");
    found_by(&["--set", "instants=tightened"], "zss:tightened");
    found_by(&["--set", "instants=harmonic"], "zss:harmonic");
    let wrong = run(&["--set", "instants=latest"]);
    assert_eq!(wrong.exit, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("sporadic|form|tightened|harmonic"));
}
