//! A stop, once asked for, is never forgotten: commands that need no right to real-time threads.
//! What the others do is in `real.rs`.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests may fail loudly")]

mod support;

use std::time::Duration;
use support::stops::{Ending, Stopped, names, stops};
use support::{repository, vestal};

/// The error document of a command that has nothing to show.
fn is_interrupted(stopped: &Stopped<'_>) {
    let document = stopped.json();
    assert_eq!(document["error"]["exit"], 1, "{document}");
    let message = document["error"]["message"].as_str().unwrap();
    assert!(message.ends_with("a signal interrupted it"), "{message}");
}

fn example(name: &str) -> String {
    repository()
        .join("examples")
        .join(name)
        .display()
        .to_string()
}

#[test]
fn a_stopped_simulation_says_so_and_leaves_no_trace() {
    let fms = example("fms.toml");
    for dispatch in ["managed", "native"] {
        let arguments = [
            "simulate",
            &fms,
            "--policy",
            "amc",
            "--scenario",
            "overrun=0.5",
            "--for",
            "100000s",
            "--dispatch",
            dispatch,
            "--trace",
            "x.vtrace",
            "--format",
            "json",
        ];
        stops(
            dispatch,
            &arguments,
            Duration::from_millis(400),
            |stopped| {
                match stopped.ending {
                    Ending::Exit(code) => {
                        assert_eq!(code, 1, "{}", stopped.stderr);
                        is_interrupted(stopped);
                    }
                    Ending::Killed => {}
                }
                assert_eq!(stopped.files(), [""; 0]);
            },
        );
    }
}

#[test]
fn what_a_stopped_generator_names_is_there_and_whole() {
    let arguments = [
        "generate",
        "--recipe",
        "huang2014",
        "--count",
        "1000000",
        "-o",
        "sets",
        "--format",
        "json",
    ];
    stops(
        "generate",
        &arguments,
        Duration::from_millis(400),
        |stopped| {
            let there = names(&stopped.folder.join("sets"));
            match stopped.ending {
                Ending::Exit(code) => {
                    assert_eq!(code, 1, "{}", stopped.stderr);
                    assert!(stopped.stderr.contains("interrupted"), "{}", stopped.stderr);
                    let document = stopped.json();
                    assert_eq!(document["files"], serde_json::json!(there));
                    if let Some(last) = there.last() {
                        let last = stopped.folder.join("sets").join(last);
                        let checked = vestal(&["check", last.to_str().unwrap()]);
                        assert_eq!(checked.exit, 0, "{}", checked.stderr);
                    }
                }
                Ending::Killed => assert_eq!(there, [""; 0]),
            }
        },
    );
}

#[test]
fn a_stopped_sweep_has_the_chunks_that_it_counts() {
    let scratch = support::Scratch::new("stop-sweep");
    let file = scratch.file(
        "sweep.toml",
        "format = \"vestal-experiment/1\"\nname = \"small\"\nrecipe = \"huang2014\"\nseed = 5\n\
         sets = 100000\nchunk = 20\ntests = [\"rms\", \"amc-rtb\"]\n[fixed]\ntasks = 10\n\
         [vary]\nutilization = { from = 0.5, to = 0.9, step = 0.1 }\n",
    );
    let arguments = [
        "sweep",
        file.to_str().unwrap(),
        "-o",
        "out",
        "--jobs",
        "2",
        "--format",
        "json",
    ];
    stops(
        "sweep",
        &arguments,
        Duration::from_millis(400),
        |stopped| match stopped.ending {
            Ending::Exit(code) => {
                assert_eq!(code, 1, "{}", stopped.stderr);
                let document = stopped.json();
                assert_eq!(document["stopped"], true);
                let chunks = names(&stopped.folder.join("out/chunks"));
                assert_eq!(document["chunks"], chunks.len() as u64, "{chunks:?}");
            }
            Ending::Killed => {}
        },
    );
}

/// Also between two figures.
#[test]
fn a_stopped_reproduction_says_how_to_go_on() {
    let arguments = [
        "reproduce",
        "--all",
        "--quick",
        "-o",
        "out",
        "--jobs",
        "2",
        "--format",
        "json",
    ];
    stops(
        "reproduce",
        &arguments,
        Duration::from_secs(2),
        |stopped| match stopped.ending {
            Ending::Exit(code) => {
                assert_eq!(code, 1, "{}", stopped.stderr);
                is_interrupted(stopped);
                assert!(!stopped.folder.join("out/index.md").exists());
            }
            Ending::Killed => {}
        },
    );
}
