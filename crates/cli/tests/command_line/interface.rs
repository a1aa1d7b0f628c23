//! What all commands have in common: names, errors, JSON, pipes, pages.

use crate::FMS;
use crate::support::{Scratch, command, on_one_cpu, shell, vestal};
use std::io::Read;
use std::process::Stdio;

#[test]
fn a_command_that_does_not_exist_fails_as_json_where_json_is_wanted() {
    for word in ["advise", "nonsense"] {
        let done = vestal(&[word, "x.toml", "--format", "json"]);
        assert_eq!(done.exit, 2);
        let document: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(document["error"]["exit"], 2, "{word}");
    }
}

#[test]
fn a_proof_that_chose_nothing_is_not_called_a_failed_one_when_nothing_is_written() {
    let scratch = Scratch::new("emit-without-parameters");
    let path = scratch.file("chosen.json", "untouched");
    let emit = |test: &str| {
        let path = path.to_str().unwrap();
        vestal(&["analyze", FMS, "--test", test, "--emit", path])
    };
    let done = emit("edf");
    assert_eq!(done.exit, 0);
    assert!(done.stderr.contains("was not written"), "{}", done.stderr);
    assert!(!done.stderr.contains("no test proved"), "{}", done.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "untouched");
    assert_eq!(emit("amc-rtb").exit, 0);
    assert_ne!(std::fs::read_to_string(&path).unwrap(), "untouched");
}

#[test]
fn the_page_of_interfaces_lists_the_tests_that_this_version_knows() {
    let page = include_str!("../../../../docs/interfaces.md");
    let row = page
        .lines()
        .find(|line| line.starts_with("| tests |"))
        .unwrap();
    // No test is planned beside them.
    let (present, planned) = row["| tests |".len()..].split_once('|').unwrap();
    assert_eq!(planned.trim(), "|");
    let names = |cell: &str| -> Vec<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    assert!(!names(present).is_empty());
    for name in names(present) {
        let test = format!("{name}:nonsense");
        let done = vestal(&["analyze", FMS, "--test", &test]);
        assert_eq!(done.exit, 2, "{test}");
        assert!(
            done.stderr.contains("no variant"),
            "{test}: {}",
            done.stderr
        );
    }
}

#[test]
fn what_a_later_version_has_says_so() {
    let planned: [&[&str]; 1] = [&["convert", "a", "b"]];
    let help = shell("vestal --help; vestal analyze --help; vestal run --help");
    for arguments in planned {
        let done = vestal(arguments);
        assert_eq!(done.exit, 2, "{arguments:?}");
        assert!(
            done.stderr.contains("not in this version"),
            "{arguments:?}: {}",
            done.stderr
        );
    }
    assert!(!help.contains("--cluster"), "--help speaks of --cluster");
    for shown in [
        "check",
        "analyze",
        "simulate",
        "run",
        "explain",
        "report",
        "demo",
        "--scenario",
        "--format",
    ] {
        assert!(help.contains(shown), "--help does not speak of {shown}");
    }
}

#[test]
fn misspelt_names_get_a_guess_and_the_known_names() {
    let cases: [(&[&str], &str); 5] = [
        (&["analyse", FMS], "did you mean `analyze`?"),
        (
            &["analyze", FMS, "--test", "amc-rtp"],
            "did you mean `amc-rtb`?",
        ),
        (
            &["analyze", FMS, "--test", "smc:printd"],
            "did you mean `smc:printed`?",
        ),
        (
            &["simulate", FMS, "--policy", "smcc"],
            "did you mean `smc`?",
        ),
        (&["explain", "amc-rtp"], "did you mean `amc-rtb`?"),
    ];
    for (arguments, guess) in cases {
        let done = vestal(arguments);
        assert_eq!(done.exit, 2, "{arguments:?}");
        assert!(
            done.stderr.starts_with("error: failed to "),
            "{}",
            done.stderr
        );
        assert!(done.stderr.contains(guess), "{}", done.stderr);
        assert!(
            done.stderr.contains("this version knows: "),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn wrong_options_are_explained() {
    let cases: [(&[&str], &str); 7] = [
        (
            &["--set", "exhaustion=never"],
            "exhaustion=background|abort|continue",
        ),
        (&["--set", "foo=1"], "exhaustion=background|abort|continue"),
        (&["--for", "10"], "10s, 500ms"),
        (&["--for", "0s"], "positive"),
        (&["--scenario", "overrun=2"], "V0501"),
        (&["--trace", "x.doc"], ".txt"),
        (&["--parameters", "nowhere.json"], "nowhere.json"),
    ];
    for (arguments, part) in cases {
        let done = vestal(&[&["simulate", FMS, "--policy", "amc"], arguments].concat());
        assert_eq!(done.exit, 2, "{arguments:?}");
        assert!(
            done.stderr.contains(part),
            "{part} is not in {}",
            done.stderr
        );
        assert_eq!(done.stdout, "");
    }
}

#[test]
fn programs_get_one_json_document_whatever_goes_wrong() {
    let cases: [&[&str]; 5] = [
        &["analyze", "nowhere.toml", "--format", "json"],
        &["simulate", FMS, "--policy", "nothing", "--format", "json"],
        &["--format", "json", "advise"],
        &["analyze", "--format", "json"],
        &["explain", "nothing", "--format=json"],
    ];
    for arguments in cases {
        let done = vestal(arguments);
        let document = done.json();
        assert_eq!(done.exit, 2, "{arguments:?}");
        assert_eq!(document["error"]["exit"], 2, "{arguments:?}");
        assert!(
            document["error"]["message"]
                .as_str()
                .unwrap()
                .starts_with("failed to ")
        );
        assert_ne!(done.stderr, "", "messages go to standard error");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    for arguments in [
        &["explain", "amc"][..],
        &["analyze", FMS],
        &["--help"],
        &["completions", "bash"],
    ] {
        let mut child = command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        let exit = child.wait().unwrap().code();
        assert_eq!((exit, stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let done = command(&["explain", "amc"]).stdout(full).output().unwrap();
    assert_eq!(done.status.code(), Some(3));
    let message = String::from_utf8(done.stderr).unwrap();
    assert!(
        message.contains("failed to write to standard output"),
        "{message}"
    );
}

#[test]
fn explain_lists_everything_and_explains_codes() {
    let list = vestal(&["explain"]);
    assert_eq!(list.exit, 0);
    for name in ["amc", "amc-rtb", "smc:printed", "V0100"] {
        assert!(list.stdout.contains(name), "{name} is not listed");
    }
    let page = vestal(&["explain", "V0100", "--format", "json"]).json();
    assert_eq!(
        (&page["topic"], &page["kind"]),
        (&"V0100".into(), &"code".into())
    );
    let raw = vestal(&["explain", "AMC"]).stdout;
    assert!(
        raw.starts_with("# amc: "),
        "pages are printed as they are written where no terminal reads them"
    );
    assert_eq!(vestal(&["explain", "V9999"]).exit, 2);
}

#[test]
fn version_names_the_commit_and_completions_and_manual_pages_are_made() {
    let version = vestal(&["--version"]).stdout;
    let commit = version
        .trim()
        .strip_prefix("vestal 0.")
        .and_then(|rest| rest.split_once(" ("))
        .unwrap()
        .1;
    let commit = commit.strip_suffix(')').unwrap();
    assert!(
        commit == "unknown" || commit.chars().all(|c| c.is_ascii_hexdigit()),
        "{version}"
    );
    for shell in ["bash", "zsh", "fish"] {
        assert!(vestal(&["completions", shell]).stdout.contains("simulate"));
    }
    let scratch = Scratch::new("manpages");
    let folder = scratch.0.join("man");
    assert_eq!(vestal(&["manpages", folder.to_str().unwrap()]).exit, 0);
    let page = std::fs::read_to_string(folder.join("vestal-simulate.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("scenario"));
    assert!(folder.join("vestal.1").exists());
}

#[test]
fn the_live_view_needs_its_feature_and_a_terminal() {
    let done = vestal(&["run", FMS, "--policy", "amc", "--watch"]);
    assert_eq!(done.exit, 2);
    let (why, help) = if cfg!(feature = "watch") {
        ("needs a terminal", "--trace FILE.pftrace")
    } else {
        ("no live view", "--features watch")
    };
    assert!(done.stderr.contains(why), "{}", done.stderr);
    assert!(done.stderr.contains(help), "{}", done.stderr);
}

/// Runs that were measured otherwise are not put beside new ones, and stay as they are.
#[test]
fn a_measurement_of_shares_goes_on_with_its_own_runs_alone() {
    let scratch = Scratch::new("shares-of-others");
    let runs = scratch.0.join("runs.jsonl");
    let folder = scratch.0.to_str().unwrap();
    let head = r#"{"format":"vestal-shares/1","version":"0.0.0","machine":"m","cpus":[],"interval_ns":[1,2]}"#;
    for (text, why) in [
        ("nonsense\n".to_owned(), "line 1"),
        // What a run is is not looked at before. A head alone binds nobody.
        (format!("{head}\n{{}}\n"), "another version of vestal"),
        (
            format!("{}\n{{}}\n", head.replace("shares", "paired-shares")),
            "another format",
        ),
        (
            format!("{}\n{{}}\n", head.replace("shares", "growth-shares")),
            "another format",
        ),
    ] {
        std::fs::write(&runs, &text).unwrap();
        let line = [
            "bench",
            "overhead",
            "--paper",
            "sigrist2015",
            "--quick",
            "-o",
        ];
        let done = vestal(&[&line[..], &[folder]].concat());
        assert_eq!(done.exit, 2, "{}", done.stderr);
        for words in [why, "runs.jsonl", "name another directory"] {
            assert!(done.stderr.contains(words), "{words}: {}", done.stderr);
        }
        assert_eq!(std::fs::read_to_string(&runs).unwrap(), text);
    }
}

/// Both would write pages of the same name.
#[test]
fn a_directory_of_another_experiment_is_refused_before_anything_is_measured() {
    for (paper, file) in [
        ("huang2014", "runs.jsonl"),
        ("sigrist2015", "measured.json"),
    ] {
        let scratch = Scratch::new(&format!("another-experiment-{paper}"));
        std::fs::write(scratch.0.join(file), "kept").unwrap();
        let folder = scratch.0.to_str().unwrap();
        let done = vestal(&["bench", "overhead", "--paper", paper, "-o", folder]);
        assert_eq!(done.exit, 2, "{}", done.stderr);
        for words in [file, "is of another experiment", "name another directory"] {
            assert!(done.stderr.contains(words), "{words}: {}", done.stderr);
        }
        assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 1);
    }
}

#[test]
fn a_benchmark_says_what_it_needs_and_what_it_does_not_know() {
    for (arguments, answer) in [
        (&["bench", "overhead"][..], "--paper huang2014"),
        (&["bench", "overhead", "--paper", "x"], "--paper huang2014"),
        (
            &["bench", "primitives", "--quick"],
            "--quick is an option of",
        ),
        (&["bench", "primitives", "-o", "x"], "-o is an option of"),
        (
            &["bench", "barriers", "--cpus", "0"],
            "--cpus is an option of",
        ),
        (&["bench", "x"], "vestal bench overhead"),
        (&["bench", "overhead"], "--paper sigrist2015"),
        (
            &[
                "bench",
                "overhead",
                "--paper",
                "sigrist2015",
                "--cpus",
                "0,0",
            ],
            "a CPU is named twice",
        ),
        (
            &["bench", "overhead", "--paper", "missimer", "--paired"],
            "only --paper sigrist2015 has that",
        ),
        (
            &["bench", "overhead", "--paper", "missimer", "--growth"],
            "only --paper sigrist2015 has that",
        ),
        (
            &["bench", "overhead", "--paper", "missimer", "--alternatives"],
            "only --paper sigrist2015 has that",
        ),
        (
            &["bench", "primitives", "--growth"],
            "--growth is an option of",
        ),
    ] {
        let done = vestal(arguments);
        assert_eq!(done.exit, 2, "{arguments:?}");
        assert!(
            done.stderr.contains(answer),
            "{arguments:?}: {}",
            done.stderr
        );
    }
}

#[test]
fn help_lists_every_exit_code_of_the_page_of_interfaces() {
    let page = include_str!("../../../../docs/interfaces.md");
    let (_, section) = page.split_once("## Exit codes").unwrap();
    let (section, _) = section.split_once("###").unwrap();
    let codes: Vec<u8> = section
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok())
        .collect();
    assert_eq!(codes, [0, 1, 2, 3, 4, 5]);
    let help = vestal(&["--help"]).stdout;
    let (_, listed) = help.split_once("Exit codes: ").unwrap();
    for code in codes {
        let begins = |part: &str| part.trim().starts_with(&format!("{code} "));
        assert!(listed.split(',').any(begins), "{code}: {listed}");
    }
}

/// Without the right to SCHED_FIFO that is what is said.
#[cfg(target_os = "linux")]
#[test]
fn barriers_on_one_cpu_are_more_than_this_machine_can_do() {
    let one = on_one_cpu(&["bench", "barriers"]);
    assert_eq!(one.exit, 3, "{}", one.stderr);
    assert!(one.stderr.contains("mend it with: "), "{}", one.stderr);
}
