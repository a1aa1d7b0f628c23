//! The program as a researcher meets it, and what CONTRIBUTING.md shows of it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FMS: &str = "examples/fms.toml";
/// How CONTRIBUTING.md calls the program.
const CALL: &str = "$ cargo run -q -p vestal-example-own-policy -- ";

fn repository() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.join("../..").canonicalize().unwrap()
}

/// Exit code, standard output, standard error.
fn program(arguments: &[&str]) -> (i32, String, String) {
    run(Path::new(env!("CARGO_BIN_EXE_own-policy")), arguments)
}

fn run(program: &Path, arguments: &[&str]) -> (i32, String, String) {
    let done = Command::new(program)
        .args(arguments)
        .current_dir(repository())
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        done.status.code().unwrap(),
        text(done.stdout),
        text(done.stderr),
    )
}

#[test]
fn analyze_knows_the_test_by_name_and_among_all() {
    let (exit, page, _) = program(&["analyze", FMS, "--test", "one-point"]);
    assert_eq!(exit, 0, "{page}");
    assert!(
        page.starts_with("one-point: schedulable (sufficient test"),
        "{page}"
    );
    let (exit, json, _) = program(&["analyze", FMS, "--all", "--format", "json"]);
    assert_eq!(exit, 0);
    for test in ["\"test\": \"one-point\"", "\"test\": \"amc-rtb\""] {
        assert_eq!(json.matches(test).count(), 1, "{test}");
    }
    let (exit, page, _) = program(&[
        "analyze",
        "examples/huang-table1.toml",
        "--test",
        "one-point",
    ]);
    assert_eq!(exit, 1);
    assert!(
        page.contains("why: high may take 12 ms or more in runs of level HI"),
        "{page}"
    );
    let (exit, _, error) = program(&["analyze", FMS, "--test", "one-pint"]);
    assert_eq!(exit, 2);
    assert!(
        error.contains("did you mean `one-point`?") && error.contains("amc-max"),
        "{error}"
    );
}

#[test]
fn simulate_orders_by_the_policy_and_says_what_its_test_guarantees() {
    let (exit, page, error) = program(&[
        "simulate",
        FMS,
        "--policy",
        "slack-monotonic",
        "--scenario",
        "hi",
        "--for",
        "2s",
    ]);
    assert_eq!((exit, error.as_str()), (0, ""), "{page}");
    let guarantee = "order: priorities of slack-monotonic; one-point proves the set schedulable\n";
    assert!(page.contains(guarantee), "{page}");
    assert!(
        page.contains("modes: ") && page.contains("No guaranteed deadline was missed."),
        "{page}"
    );
    let (_, _, error) = program(&["simulate", FMS, "--policy", "slack-monotonous"]);
    assert!(
        error.contains("did you mean `slack-monotonic`?") && error.contains("amc, "),
        "{error}"
    );
}

#[test]
fn a_scheduler_of_ones_own_is_simulated_with_its_options() {
    let simulate = |option: &str| {
        program(&[
            "simulate",
            "examples/huang-table1.toml",
            "--policy",
            "halved-deadlines",
            "--for",
            "1s",
            "--set",
            option,
        ])
    };
    let (_, halved, error) = simulate("divisor=2");
    assert!(
        error.contains("no run of halved-deadlines relies on a test, so nothing is guaranteed")
    );
    let (_, whole, _) = simulate("divisor=1");
    assert!(
        halved.contains("order: divided deadlines") && halved != whole,
        "the divisor changes the schedule: {halved}"
    );
    for (option, message) in [
        ("divisor=0", "divisor=0 is not a positive number"),
        ("divider=2", "did you mean `divisor`?"),
    ] {
        let (exit, _, error) = simulate(option);
        assert_eq!(exit, 2);
        assert!(error.contains(message), "{error}");
    }
}

/// No machine has that many CPUs, so nothing runs, with whatever rights the test has.
#[cfg(target_os = "linux")]
#[test]
fn run_takes_both_policies_and_refuses_a_dispatch_that_cannot_keep_the_order() {
    let run = |policy, more: &[&str]| {
        let call = [
            "run", FMS, "--policy", policy, "--for", "1s", "--cpus", "60000",
        ];
        program(&[&call[..], more].concat())
    };
    let managed = ["--dispatch", "managed"];
    for (policy, more) in [
        ("slack-monotonic", &[][..]),
        ("slack-monotonic", &managed[..]),
        ("halved-deadlines", &managed[..]),
        ("halved-deadlines", &[][..]),
    ] {
        let (exit, _, error) = run(policy, more);
        assert_eq!(exit, 3, "{policy} is taken, the CPU is not there: {error}");
        assert!(error.contains("60000"), "{error}");
    }
    let (exit, _, error) = run("halved-deadlines", &["--dispatch", "native"]);
    assert_eq!(exit, 2);
    assert!(
        error.contains("fixed priorities cannot order jobs by deadline")
            && error.contains("help: --dispatch managed can"),
        "{error}"
    );
    let wrong = ["--dispatch", "managed", "--set", "divisor=0"];
    let (exit, _, error) = run("halved-deadlines", &wrong);
    assert_eq!(exit, 2);
    assert!(
        error.contains("divisor=0 is not a positive number"),
        "{error}"
    );
}

#[test]
fn explain_lists_and_explains_what_is_added() {
    let (exit, list, _) = program(&["explain"]);
    assert_eq!(exit, 0);
    for added in [
        ["slack-monotonic", "policy"],
        ["halved-deadlines", "policy"],
        ["one-point", "test"],
        ["amc", "policy"],
    ] {
        let mut rows = list.lines().map(str::split_whitespace);
        let is_listed = rows.any(|row| row.take(2).eq(added));
        assert!(is_listed, "{added:?} is not in {list}");
    }
    let (_, page, _) = program(&["explain", "one-point"]);
    assert!(
        page.starts_with("# one-point: the demand at the deadline\n"),
        "{page}"
    );
    let (_, page, _) = program(&["explain", "halved-deadlines"]);
    assert!(page.starts_with("# halved-deadlines: EDF, "), "{page}");
    let (_, page, _) = program(&["explain", "amc"]);
    assert!(page.starts_with("# amc: "), "{page}");
}

#[test]
fn a_policy_and_a_test_take_less_than_a_hundred_lines_each() {
    for file in ["slack_monotonic.rs", "halved_deadlines.rs", "one_point.rs"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
        let lines = fs::read_to_string(path).unwrap().lines().count();
        assert!((20..100).contains(&lines), "{file} has {lines} lines");
    }
}

/// Whether the printed lines are those of the page, where `[...]` stands for any number of lines.
fn agrees(claimed: &[&str], printed: &[&str]) -> bool {
    match claimed.split_first() {
        None => printed.is_empty(),
        Some((&"[...]", rest)) => (0..=printed.len()).any(|skip| agrees(rest, &printed[skip..])),
        Some((line, rest)) => printed.split_first().is_some_and(|(first, others)| {
            line.trim_end() == first.trim_end() && agrees(rest, others)
        }),
    }
}

/// The time that a test took differs from run to run.
fn without_times(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        lines.push(match line.split_once(", took ") {
            Some((head, _)) => format!("{head}, took # us)"),
            None => line.to_owned(),
        });
    }
    lines.join("\n")
}

#[test]
fn contributing_shows_what_the_program_prints() {
    let page = fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let mut commands = 0;
    let blocks = page.split("```").skip(1).step_by(2);
    for block in blocks.filter_map(|block| block.strip_prefix("console\n")) {
        for transcript in block.split(CALL).skip(1) {
            let (arguments, claimed) = transcript.split_once('\n').unwrap();
            let arguments: Vec<&str> = arguments.split(' ').collect();
            let (_, printed, error) = program(&arguments);
            assert_eq!(error, "", "{arguments:?}");
            let (claimed, printed) = (without_times(claimed), without_times(&printed));
            let same = agrees(
                &claimed.lines().collect::<Vec<_>>(),
                &printed.lines().collect::<Vec<_>>(),
            );
            assert!(same, "{arguments:?} prints\n{printed}");
            commands += 1;
        }
    }
    assert_eq!(commands, 3, "analyze, simulate and explain are shown");
}

/// A recorded run under an own policy is decided again by the program that knows the policy.
#[test]
fn own_policies_are_traced_and_replayed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let worlds = [
        ("slack-monotonic", "managed", ""),
        ("slack-monotonic", "native", ""),
        ("halved-deadlines", "managed", "divisor=3"),
    ];
    for (policy, dispatch, option) in worlds {
        let path = folder.join(format!("{policy}-{dispatch}.vtrace"));
        let path = path.to_str().unwrap();
        let mut arguments = vec!["simulate", FMS, "--policy", policy, "--dispatch", dispatch];
        arguments.extend(["--scenario", "overrun=0.5", "--trace", path]);
        if !option.is_empty() {
            arguments.extend(["--set", option]);
        }
        let (exit, _, error) = program(&arguments);
        assert_eq!(exit, 0, "{policy}: {error}");
        let (exit, page, error) = program(&["replay", path]);
        assert_eq!(exit, 0, "{policy}: {page}{error}");
        assert!(page.contains(&format!("under {policy}")), "{page}");
    }
}

/// A program that was changed may answer otherwise under the same names.
#[test]
fn a_sweep_with_an_own_test_belongs_to_the_very_program() {
    let folder = std::env::temp_dir().join(format!("vestal-own-sweep-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    // What follows the end of a program changes nothing but the file.
    let changed = folder.join("changed");
    fs::copy(env!("CARGO_BIN_EXE_own-policy"), &changed).unwrap();
    let mut bytes = fs::read(&changed).unwrap();
    bytes.push(0);
    fs::write(&changed, bytes).unwrap();
    for (test, expected) in [("one-point", 2), ("amc-rtb", 0)] {
        let file = folder.join(format!("{test}.toml"));
        let text = format!(
            "format = \"vestal-experiment/1\"\nname = \"own\"\nrecipe = \"huang2014\"\nsets = 20\n\
             chunk = 10\ntests = [\"{test}\"]\n"
        );
        fs::write(&file, text).unwrap();
        let result = folder.join(test);
        let (file, result) = (file.to_str().unwrap(), result.to_str().unwrap());
        let arguments = ["sweep", file, "-o", result, "--resume"];
        let (exit, _, error) = program(&[&arguments[..], &["--shard", "1/2"]].concat());
        assert_eq!(exit, 0, "{error}");
        let (exit, _, error) = run(&changed, &arguments);
        assert_eq!(exit, expected, "{error}");
        if expected == 2 {
            assert!(
                error.contains("V0701") && error.contains("was built anew"),
                "{error}"
            );
        }
        let (exit, _, error) = program(&arguments);
        assert_eq!(exit, 0, "{error}");
    }
    fs::remove_dir_all(&folder).unwrap();
}
