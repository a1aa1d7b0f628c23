//! A stop, once asked for, is never forgotten: commands that run real-time threads.

use super::FMS;
use super::support::repository;
use super::support::stops::{Ending, Stopped, stops};
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
