//! A stop, once asked for, is never forgotten: commands that run real-time threads.

use super::FMS;
use super::support::Scratch;
use super::support::repository;
use super::support::stops::{Ending, Stopped, ends_soon, executed, names, stops, waits};
use std::path::Path;
use std::time::Duration;

fn fms() -> String {
    repository().join(FMS).display().to_string()
}

/// No file under a temporary name stays.
fn nothing_half_done(stopped: &Stopped<'_>) {
    let half = |name: &String| name.ends_with(".part");
    assert!(!stopped.files().iter().any(half), "{:?}", stopped.files());
}

#[test]
fn a_stopped_run_reports_what_it_measured_with_a_complete_trace() {
    let arguments = [
        "run",
        &fms(),
        "--policy",
        "amc",
        "--scenario",
        "overrun=0.5",
        "--for",
        "60s",
        "--trace",
        "x.csv",
        "--format",
        "json",
    ];
    stops("run", &arguments, Duration::from_millis(800), |stopped| {
        nothing_half_done(stopped);
        match stopped.ending {
            Ending::Exit(code) => {
                assert!([0, 1, 5].contains(&code), "{code}: {}", stopped.stderr);
                assert!(
                    stopped.stderr.contains("ended the run after"),
                    "{}",
                    stopped.stderr
                );
                let document = stopped.json();
                assert!(document["duration_ns"].as_u64().unwrap() < 60_000_000_000);
                let trace = std::fs::read_to_string(stopped.folder.join("x.csv")).unwrap();
                let records = document["machine"]["records"].as_u64().unwrap();
                assert!(trace.ends_with(&format!("# records {records}\n")));
            }
            Ending::Killed => assert_eq!(stopped.files(), [""; 0]),
        }
    });
}

/// A run whose answer is complete, with whatever it found.
fn is_answered(stopped: &Stopped<'_>, codes: &[i32]) {
    let answered = matches!(stopped.ending, Ending::Exit(code) if codes.contains(&code));
    assert!(answered, "{:?}: {}", stopped.ending, stopped.stderr);
    assert!(
        stopped.stderr.contains("ended the run after"),
        "{}",
        stopped.stderr
    );
    nothing_half_done(stopped);
    let trace = std::fs::read_to_string(stopped.folder.join("x.csv")).unwrap();
    let records = stopped.json()["machine"]["records"].as_u64().unwrap();
    assert!(trace.ends_with(&format!("# records {records}\n")));
}

/// One that a stop ended before it began.
fn is_interrupted(stopped: &Stopped<'_>) {
    assert_eq!(stopped.ending, Ending::Exit(1), "{}", stopped.stderr);
    let message = stopped.json()["error"]["message"].clone();
    let message = message.as_str().unwrap();
    assert!(message.ends_with("a signal interrupted it"), "{message}");
    assert_eq!(stopped.files(), [""; 0]);
}

/// Whether so much of a trace is in its file under its temporary name.
fn has_bytes(folder: &Path, least: u64) -> bool {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut sizes = entries.map(|entry| entry.metadata().map_or(0, |found| found.len()));
    sizes.any(|bytes| bytes >= least)
}

fn pipe(scratch: &Scratch) -> std::path::PathBuf {
    pipe_of(scratch, "pipe.csv")
}

fn pipe_of(scratch: &Scratch, name: &str) -> std::path::PathBuf {
    let pipe = scratch.0.join(name);
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    pipe
}

/// As soon as the first second of its trace is in the file.
#[test]
fn a_run_ends_soon_and_with_all_that_it_has() {
    let fms = fms();
    let run = ["run", &fms, "--policy", "amc", "--for", "60s"];
    let arguments = [run.as_slice(), &["--trace", "x.csv", "--format", "json"]].concat();
    let is_recorded = |_: u32, folder: &Path| has_bytes(folder, 1);
    ends_soon("running", &arguments, is_recorded, |stopped| {
        is_answered(stopped, &[0, 1, 5]);
    });
}

/// The last of its traces is a pipe that nobody reads, so that it waits for ever before it begins.
#[test]
fn a_run_ends_soon_that_waits_for_a_reader_of_its_trace() {
    let scratch = Scratch::new("run-nobody-reads");
    let (fms, pipe) = (fms(), pipe(&scratch));
    let run = ["run", &fms, "--policy", "amc", "--for", "60s"];
    let traces = ["--trace", "x.csv", "--trace", pipe.to_str().unwrap()];
    let arguments = [run.as_slice(), &traces, &["--format", "json"]].concat();
    let waits = |pid: u32, folder: &Path| !names(folder).is_empty() && waits(pid);
    ends_soon("waiting", &arguments, waits, is_interrupted);
}

/// It costs neither the run nor the other trace that a reader is there and takes nothing.
#[test]
fn a_run_ends_soon_whose_trace_nobody_reads_to_its_end() {
    let scratch = Scratch::new("run-no-more");
    let fms = fms();
    // Three of them, which are waited for no longer than one.
    let pipes = ["a.csv", "b.csv", "c.csv"].map(|name| pipe_of(&scratch, name));
    // Both ends, so that neither waits to be opened.
    let both = |pipe| std::fs::File::options().read(true).write(true).open(pipe);
    let _readers = pipes.each_ref().map(|pipe| both(pipe).unwrap());
    let run = ["run", &fms, "--policy", "amc", "--for", "60s"];
    let mut traces = vec!["--trace", "x.csv"];
    for pipe in &pipes {
        traces.extend(["--trace", pipe.to_str().unwrap()]);
    }
    let arguments = [run.as_slice(), &traces, &["--format", "json"]].concat();
    // As much as a pipe takes, and the same as much again.
    let is_full = |_: u32, folder: &Path| has_bytes(folder, 2 << 16);
    ends_soon("unread", &arguments, is_full, |stopped| {
        is_answered(stopped, &[1, 3, 5]);
        let said = "whoever reads it had not taken all of it soon after the stop";
        assert!(stopped.stderr.contains(said), "{}", stopped.stderr);
    });
}

/// Nothing runs then that would have to be given back.
#[test]
fn a_run_ends_soon_while_its_arrays_are_filled() {
    let scratch = Scratch::new("run-fills");
    let text = "format = \"vestal/1\"\nname = \"large\"\nlevels = [\"LO\"]\nunit = \"ms\"\n\
                [[task]]\nname = \"walk\"\ncriticality = \"LO\"\nperiod = 100\nwcet = { LO = 10 }\n\
                work = \"array:4GiB\"\n";
    let file = scratch.file("large.toml", text);
    let run = [
        "run",
        file.to_str().unwrap(),
        "--policy",
        "rms",
        "--for",
        "60s",
    ];
    let arguments = [run.as_slice(), &["--trace", "x.csv", "--format", "json"]].concat();
    let fills = |pid: u32, _: &Path| executed(pid) >= Duration::from_millis(100);
    ends_soon("filling", &arguments, fills, is_interrupted);
}

/// Sets are drawn by searches for frame tables, which do not look for stops.
#[test]
fn a_measurement_of_shares_ends_soon_while_sets_are_drawn() {
    let shares = ["bench", "overhead", "--paper", "sigrist2015", "--quick"];
    let arguments = [shares.as_slice(), &["--format", "json"]].concat();
    let draws = |pid: u32, _: &Path| executed(pid) >= Duration::from_millis(100);
    ends_soon("drawing", &arguments, draws, |stopped| {
        assert_eq!(stopped.ending, Ending::Exit(1), "{}", stopped.stderr);
        assert_eq!(stopped.json()["interrupted"], true);
    });
}

/// Dozens of short runs a second: many instants lie between two of them.
#[test]
fn a_stopped_overhead_experiment_shows_whole_repetitions() {
    let arguments = [
        "bench",
        "overhead",
        "--paper",
        "huang2014",
        "--quick",
        "--repetitions",
        "900",
        "-o",
        "out",
        "--format",
        "json",
    ];
    stops(
        "overhead",
        &arguments,
        Duration::from_secs(3),
        |stopped| match stopped.ending {
            Ending::Exit(code) => {
                assert_eq!(code, 1, "{}", stopped.stderr);
                let document = stopped.json();
                assert_eq!(document["interrupted"], true);
                let repetitions = &document["repetitions"];
                for cell in document["busy_periods"].as_array().unwrap() {
                    assert_eq!(cell["runs"], *repetitions, "{cell}");
                }
                let written = std::fs::read_to_string(stopped.folder.join("out/result.json"));
                assert_eq!(written.unwrap(), stopped.stdout);
            }
            Ending::Killed => {}
        },
    );
}

#[test]
fn a_stopped_slack_trace_shows_nothing() {
    let arguments = ["bench", "zero-slack-trace", "--format", "json"];
    stops(
        "zero-slack-trace",
        &arguments,
        Duration::from_secs(2),
        |stopped| match stopped.ending {
            Ending::Exit(code) => {
                assert_eq!(code, 1, "{}", stopped.stderr);
                assert_eq!(stopped.json()["error"]["exit"], 1);
            }
            Ending::Killed => {}
        },
    );
}

/// They write nothing, and the signal ends them.
#[test]
fn what_only_measures_ends_at_once() {
    for arguments in [["bench", "primitives"].as_slice(), &["doctor"]] {
        stops(
            arguments[0],
            arguments,
            Duration::from_millis(800),
            |stopped| {
                assert_eq!(stopped.ending, Ending::Killed, "{}", stopped.stderr);
                assert_eq!(stopped.stdout, "");
            },
        );
    }
}

#[test]
fn a_stopped_demo_ends_with_whole_files() {
    let arguments = ["demo", "-o", "out", "--format", "json"];
    stops("demo", &arguments, Duration::from_secs(3), |stopped| {
        let page = stopped.folder.join("out/report.html");
        match stopped.ending {
            Ending::Exit(code) => {
                assert_eq!(code, 1, "{}", stopped.stderr);
                let document = stopped.json();
                // Before the real run there is nothing to show, after it everything.
                if document["error"].is_null() {
                    let page = std::fs::read_to_string(page).unwrap();
                    assert!(page.trim_end().ends_with("</html>"));
                    assert!(document["run"]["duration_ns"].as_u64().unwrap() < 10_000_000_000);
                } else {
                    assert!(!page.exists());
                }
            }
            Ending::Killed => assert!(!page.exists()),
        }
        let there = super::support::stops::names(&stopped.folder.join("out"));
        assert!(
            !there.iter().any(|name| name.ends_with(".part")),
            "{there:?}"
        );
    });
}
