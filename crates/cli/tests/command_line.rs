//! The command line as scripts and strangers meet it: exit codes, JSON, messages, pipes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use std::io::Read;
use std::process::Stdio;
use support::{Scratch, command, repository, shell, vestal, vestal_with_input};

const FMS: &str = "examples/fms.toml";
const THREE: &str = "examples/huang-three-tasks.toml";

/// The keys of a JSON object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

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
    assert!(
        !done.stdout.contains("task.offset"),
        "simulate uses offsets: {}",
        done.stdout
    );
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
fn analyze_answers_in_the_promised_shape() {
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
    assert_eq!(keys(&document), ["file", "format", "results"]);
    assert_eq!(document["format"], "vestal-result/1");
    assert_eq!(document["file"], FMS);
    let [rtb, printed] = document["results"].as_array().unwrap().as_slice() else {
        panic!("two results")
    };
    let expected = [
        "claim",
        "elapsed_us",
        "kind",
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
fn simulate_answers_in_the_promised_shape() {
    let arguments = [
        "simulate",
        FMS,
        "--policy",
        "amc",
        "--scenario",
        "overrun=0.5",
        "--seed",
        "7",
        "--format",
        "json",
    ];
    let done = vestal(&arguments);
    let document = done.json();
    assert_eq!(done.exit, 0);
    let expected = [
        "cpus",
        "devices",
        "duration_ns",
        "file",
        "format",
        "frames",
        "jobs",
        "machine",
        "modes",
        "overhead",
        "policy",
        "seed",
        "servers",
        "tasks",
        "world",
    ];
    assert_eq!(keys(&document), expected);
    assert_eq!(
        (&document["world"], &document["seed"]),
        (&"simulator".into(), &7.into())
    );
    assert_eq!(document["duration_ns"], 10_000_000_000_u64);
    assert!(done.stderr.contains("two hyperperiods"), "{}", done.stderr);
    assert_eq!(
        keys(&document["jobs"]),
        [
            "completed",
            "dropped",
            "missed",
            "missed_guaranteed",
            "released"
        ]
    );
    assert_eq!(document["jobs"]["missed_guaranteed"], 0);
    assert!(
        document["jobs"]["dropped"].as_u64().unwrap() > 0,
        "overruns drop LO jobs"
    );
    assert_eq!(
        keys(&document["modes"][0]),
        ["at_ns", "cause", "cpu", "from", "to"]
    );
    assert_eq!(
        (&document["modes"][0]["from"], &document["modes"][0]["to"]),
        (&"LO".into(), &"HI".into())
    );
    let expected = [
        "completed",
        "dropped",
        "execution_ns",
        "missed",
        "name",
        "overruns",
        "preemptions",
        "relative_response",
        "released",
        "response_ns",
        "tardiness_ns",
    ];
    assert_eq!(keys(&document["tasks"][0]), expected);
    assert_eq!(
        keys(&document["tasks"][0]["response_ns"]),
        ["max", "mean", "min", "p99"]
    );
    assert_eq!(
        keys(&document["tasks"][0]["execution_ns"]),
        ["max", "mean", "min"]
    );
    assert_eq!(keys(&document["tasks"][0]["tardiness_ns"]), ["max", "mean"]);
    assert_eq!(
        keys(&document["cpus"][0]),
        ["busy_ns", "cpu", "migrations", "preemptions", "switches"]
    );
    assert_eq!(
        keys(&document["frames"]),
        ["lo_skipped", "overrun", "total"]
    );
    assert_eq!(
        keys(&document["machine"]),
        ["gaps", "longest_gap_ns", "lost_ns", "missed_outside_gaps"]
    );
    assert_eq!(
        document,
        vestal(&arguments).json(),
        "the same seed gives the same run"
    );
}

#[test]
fn simulate_exits_by_broken_promises() {
    let done = vestal(&["simulate", THREE, "--policy", "smc", "--scenario", "hi"]);
    assert_eq!(done.exit, 1, "tau3 misses: {}", done.stdout);
    assert!(
        done.stderr
            .contains("warning: smc does not prove the set schedulable"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr
            .contains("the order used is: priorities of the file"),
        "{}",
        done.stderr
    );
    let text: String = std::fs::read_to_string(repository().join(THREE))
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with("priority"))
        .map(|line| format!("{line}\n"))
        .collect();
    let arguments = ["simulate", "-", "--policy", "smc", "--scenario", "hi"];
    let done = vestal_with_input(&arguments, text.as_bytes());
    assert_eq!(done.exit, 1, "{}", done.stdout);
    assert!(
        done.stderr
            .contains("the order used is: deadline-monotonic order"),
        "{}",
        done.stderr
    );
    let done = vestal(&["simulate", THREE, "--policy", "amc", "--scenario", "hi"]);
    assert_eq!(done.exit, 0, "{}", done.stdout);
    assert!(
        done.stdout.contains("No guaranteed deadline was missed."),
        "{}",
        done.stdout
    );
    assert!(!done.stderr.contains("warning"), "{}", done.stderr);
}

#[test]
fn simulated_response_times_reach_the_bounds_and_no_more() {
    let document = vestal(&["analyze", THREE, "--test", "amc-rtb", "--format", "json"]).json();
    let run = vestal(&[
        "simulate",
        THREE,
        "--policy",
        "amc",
        "--scenario",
        "lo",
        "--format",
        "json",
    ])
    .json();
    for (bound, found) in [(0, 1_000_000_u64), (1, 2_000_000), (2, 50_000_000)] {
        assert_eq!(
            document["results"][0]["tasks"][bound]["response_ns"]["LO"],
            found
        );
        assert_eq!(run["tasks"][bound]["response_ns"]["max"], found);
    }
}

#[test]
fn what_a_later_version_has_says_so() {
    let planned: [&[&str]; 16] = [
        &["replay", "x.vtrace"],
        &["generate", "--recipe", "x"],
        &["sweep", "x.toml"],
        &["regenerate", "x"],
        &["reproduce", "--list"],
        &["bench", "primitives"],
        &["advise", FMS],
        &["convert", "a", "b"],
        &["report", "x"],
        &["doctor"],
        &["analyze", FMS, "--overheads", "m.json"],
        &["analyze", FMS, "--test", "amc-max"],
        &["simulate", FMS, "--policy", "zss"],
        &["simulate", FMS, "--policy", "amc", "--trace", "x.svg"],
        &["run", FMS, "--policy", "amc", "--dispatch", "managed"],
        &["run", FMS, "--policy", "amc", "--observe"],
    ];
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
    for hidden in [
        "replay",
        "generate",
        "sweep",
        "doctor",
        "--overheads",
        "--observe",
        "--watch",
        "managed",
    ] {
        assert!(!help.contains(hidden), "--help speaks of {hidden}");
    }
    for shown in [
        "check",
        "analyze",
        "simulate",
        "run",
        "explain",
        "demo",
        "--scenario",
        "--format",
    ] {
        assert!(help.contains(shown), "--help does not speak of {shown}");
    }
}

/// No machine has that many CPUs, so nothing runs, with whatever rights the test has.
#[cfg(target_os = "linux")]
#[test]
fn a_machine_that_cannot_run_it_is_told_apart_from_bad_input() {
    let done = vestal(&[
        "run", FMS, "--policy", "amc", "--for", "1s", "--cpus", "60000",
    ]);
    assert_eq!(done.exit, 3, "{}", done.stderr);
    assert!(
        done.stderr
            .contains("error: failed to run examples/fms.toml: "),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("60000") && done.stderr.contains("mend it with: "),
        "{}",
        done.stderr
    );
    let document = vestal(&[
        "run", FMS, "--policy", "amc", "--cpus", "60000", "--format", "json",
    ])
    .json();
    assert_eq!(document["error"]["exit"], 3);
    let wrong: [&[&str]; 6] = [
        &["--cpus", "many"],
        &["--cpus", "0-1"],
        &["--rt-priority", "80-10"],
        &["--rt-priority", "90-99"],
        &["--monitor", "eyes"],
        &["--monitor", "heartbeat"],
    ];
    for arguments in wrong {
        let done = vestal(&[&["run", FMS, "--policy", "amc", "--for", "1s"], arguments].concat());
        assert_eq!(done.exit, 2, "{arguments:?}: {}", done.stderr);
        assert!(
            done.stderr.contains("help: "),
            "{arguments:?}: {}",
            done.stderr
        );
    }
}

#[test]
fn a_schedule_is_drawn() {
    let scratch = Scratch::new("chart");
    let file = scratch.0.join("three.txt");
    let path = file.to_str().unwrap();
    let done = vestal(&[
        "simulate",
        THREE,
        "--policy",
        "amc",
        "--scenario",
        "hi",
        "--for",
        "60ms",
        "--trace",
        path,
    ]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let chart = std::fs::read_to_string(&file).unwrap();
    assert!(
        chart.contains("mode 00001111"),
        "the mode rises after 2 ms: {chart}"
    );
    assert!(
        chart
            .lines()
            .any(|line| line.starts_with("tau") && line.contains('█')),
        "{chart}"
    );
    let done = vestal(&[
        "simulate",
        THREE,
        "--policy",
        "amc",
        "--trace",
        "/no/such/folder/x.txt",
    ]);
    assert_eq!(done.exit, 2);
    assert!(
        done.stderr.contains("/no/such/folder/x.txt"),
        "{}",
        done.stderr
    );
}

#[test]
fn scenario_files_say_when_jobs_come_and_how_long_they_run() {
    let scratch = Scratch::new("scenario");
    let file = scratch.file("s.csv", "task,tau2,0,0,5ms\ntask,tau2,1,12ms,1ms\n");
    let names = vestal(&["check", THREE, "--format", "json"]);
    assert_eq!(names.exit, 0);
    let done = vestal(&[
        "simulate",
        THREE,
        "--policy",
        "amc",
        "--for",
        "30ms",
        "--format",
        "json",
        "--scenario",
        file.to_str().unwrap(),
    ]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    assert_eq!(document["tasks"][1]["released"], 3, "at 0, 12 and 22 ms");
    assert_eq!(document["tasks"][1]["overruns"], 1);
    assert_eq!(document["modes"][0]["cause"], document["tasks"][1]["name"]);
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
        &["--format", "json", "replay"],
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
        "pages are printed as they are written where nobody reads them"
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
