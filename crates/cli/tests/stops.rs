//! A stop, once asked for, is never forgotten: commands that need no right to real-time threads.
//! What the others do is in `real.rs`.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests may fail loudly")]

mod support;

use std::path::Path;
use std::time::Duration;
use support::stops::{Ending, Stopped, ends_soon, executed, names, now, stops, unread, waits};
use support::{Scratch, repository, vestal};

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
    let scratch = Scratch::new("stop-sweep");
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

/// It has executed for so long that it is in the middle of what takes it long, not of reading its input.
fn is_at_work(pid: u32, _: &Path) -> bool {
    executed(pid) >= Duration::from_millis(300)
}

/// It said so, and nothing is left of it.
fn failed_without_a_file(stopped: &Stopped<'_>) {
    assert_eq!(stopped.ending, Ending::Exit(1), "{}", stopped.stderr);
    is_interrupted(stopped);
    assert_eq!(stopped.files(), [""; 0]);
}

/// There is nothing to save: the signal ends it.
fn killed_without_a_file(stopped: &Stopped<'_>) {
    assert_eq!(stopped.ending, Ending::Killed, "{}", stopped.stderr);
    assert_eq!((stopped.stdout.as_str(), stopped.files()), ("", vec![]));
}

/// Longer than anybody waits.
const LONG: &str = "100000s";

/// `simulate` of a file under a policy.
fn simulation<'a>(file: &'a str, policy: &'a str, span: &'a str) -> Vec<&'a str> {
    let arguments = ["simulate", file, "--policy", policy, "--for", span];
    [&arguments, ["--format", "json"].as_slice()].concat()
}

#[test]
fn a_simulation_ends_soon_while_it_writes_traces() {
    let fms = example("fms.toml");
    let traces = [
        "--trace",
        "x.vtrace",
        "--trace",
        "y.csv",
        "--trace",
        "z.pftrace",
    ];
    let is_written = |_: u32, folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        let sizes = entries.map(|entry| entry.metadata().map_or(0, |found| found.len()));
        sizes.sum::<u64>() > 1 << 20
    };
    let arguments = [simulation(&fms, "amc", LONG), traces.to_vec()].concat();
    ends_soon("tracing", &arguments, is_written, failed_without_a_file);
}

/// The last of its traces is a pipe that nobody reads, so that it waits for ever before it begins.
#[test]
fn a_simulation_ends_soon_that_waits_for_a_reader_of_its_trace() {
    let scratch = Scratch::new("nobody-reads");
    let pipe = scratch.0.join("pipe.vtrace");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let fms = example("fms.toml");
    let traces = ["--trace", "x.csv", "--trace", pipe.to_str().unwrap()];
    let arguments = [simulation(&fms, "amc", LONG), traces.to_vec()].concat();
    let waits = |pid: u32, folder: &Path| !names(folder).is_empty() && waits(pid);
    ends_soon("waiting", &arguments, waits, failed_without_a_file);
}

/// So many tasks that a policy plans for long.
fn large(scratch: &Scratch, cpus: usize, tasks: usize) -> String {
    let mut text = format!(
        "format = \"vestal/1\"\nname = \"large\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n[platform]\ncpus = {cpus}\n"
    );
    for number in 0..tasks {
        let period = [10, 20, 25, 40, 50, 100, 125, 200, 250, 500][number % 10];
        let (level, wcet) = match number % 2 {
            0 => ("HI", "LO = 0.001, HI = 0.002"),
            _ => ("LO", "LO = 0.001"),
        };
        text += &format!(
            "[[task]]\nname = \"t{number}\"\ncriticality = \"{level}\"\nperiod = {period}\nwcet = {{ {wcet} }}\n"
        );
    }
    let file = scratch.file("large.toml", &text);
    file.to_str().unwrap().to_owned()
}

/// How long reading a file takes at most, here and now.
fn read_in(file: &str) -> Duration {
    let since = now();
    let checked = vestal(&["check", file]);
    assert_eq!(checked.exit, 0, "{}", checked.stderr);
    since.elapsed()
}

#[test]
fn a_simulation_ends_soon_while_its_policy_plans() {
    let scratch = Scratch::new("planning");
    let file = large(&scratch, 4, 6000);
    let read = read_in(&file);
    let plans = |pid: u32, folder: &Path| is_at_work(pid, folder) && executed(pid) >= 2 * read;
    for policy in ["ftts", "mc2"] {
        let arguments = [simulation(&file, policy, "1s"), vec!["--trace", "x.csv"]].concat();
        ends_soon(policy, &arguments, plans, failed_without_a_file);
    }
}

/// All is done then, and only the reader of its result is missing: what was cut short is no answer.
#[test]
fn a_simulation_ends_soon_whose_result_nobody_reads() {
    let scratch = Scratch::new("unread");
    let file = large(&scratch, 1, 400);
    let arguments = simulation(&file, "rms", "1s");
    let (ending, said) = unread("unread", &arguments);
    assert_eq!(ending, Ending::Exit(3), "{said}");
    assert_eq!(
        said.matches("error: failed to write to standard output")
            .count(),
        1,
        "{said}"
    );
}

#[test]
fn tests_and_advice_end_soon() {
    let scratch = Scratch::new("analysing");
    let file = large(&scratch, 1, 4000);
    let analyze = ["analyze", &file, "--format", "json"];
    ends_soon("analyze", &analyze, is_at_work, killed_without_a_file);
    let overheads = example("overheads/epyc.json");
    let advise = [
        "advise",
        &file,
        "--overheads",
        &overheads,
        "--format",
        "json",
    ];
    ends_soon("advise", &advise, is_at_work, failed_without_a_file);
}

/// Of a set that takes for ever, which no chunk is whole without.
#[test]
fn a_sweep_ends_soon_in_the_middle_of_a_set() {
    let scratch = Scratch::new("long-set");
    let file = scratch.file(
        "sweep.toml",
        "format = \"vestal-experiment/1\"\nname = \"long\"\nrecipe = \"huang2014\"\nseed = 5\n\
         sets = 2\nchunk = 1\ntests = [\"rms\"]\n[fixed]\ntasks = 10\nutilization = 0.5\n\
         [[simulate]]\npolicy = \"rms\"\nfor = \"1000000s\"\n",
    );
    let sweep = ["sweep", file.to_str().unwrap(), "-o", "out", "--jobs", "1"];
    let arguments = [sweep.as_slice(), &["--format", "json"]].concat();
    let with_a_stray_file = |pid: u32, folder: &Path| {
        let chunks = folder.join("out/chunks");
        // Nobody wrote it as a chunk, so it is none.
        chunks.is_dir()
            && std::fs::write(chunks.join("stray.parquet"), "no chunk").is_ok()
            && is_at_work(pid, folder)
    };
    ends_soon("sweep", &arguments, with_a_stray_file, |stopped| {
        assert_eq!(stopped.ending, Ending::Exit(1), "{}", stopped.stderr);
        let document = stopped.json();
        assert_eq!(document["stopped"], true, "{document}");
        assert_eq!(document["chunks"], 0, "{document}");
        assert_eq!(document["chunks_total"], 2, "{document}");
        assert_eq!(names(&stopped.folder.join("out/chunks")), ["stray.parquet"]);
    });
}

#[test]
fn a_reproduction_and_a_generator_end_soon() {
    let begun = |_: u32, folder: &Path| names(&folder.join("out")).len() > 3;
    let reproduce = [
        "reproduce",
        "--all",
        "-o",
        "out",
        "--jobs",
        "1",
        "--format",
        "json",
    ];
    ends_soon("reproduce", &reproduce, begun, |stopped| {
        assert_eq!(stopped.ending, Ending::Exit(1), "{}", stopped.stderr);
        is_interrupted(stopped);
        assert!(!stopped.folder.join("out/index.md").exists());
    });
    let generate = [
        "generate",
        "--recipe",
        "huang2014",
        "--count",
        "1000000",
        "-o",
        "out",
    ];
    ends_soon("generate", &generate, begun, |stopped| {
        assert_eq!(stopped.ending, Ending::Exit(1), "{}", stopped.stderr);
    });
}

#[test]
fn replays_and_reports_of_a_long_trace_end_soon() {
    let scratch = Scratch::new("long-trace");
    let trace = scratch.0.join("x.vtrace");
    let trace = trace.to_str().unwrap();
    let fms = example("fms.toml");
    let made = vestal(&[
        "simulate", &fms, "--policy", "amc", "--for", "4000s", "--trace", trace,
    ]);
    assert_eq!(made.exit, 0, "{}", made.stderr);
    ends_soon(
        "replay",
        &["replay", trace],
        is_at_work,
        killed_without_a_file,
    );
    ends_soon(
        "report",
        &["report", trace],
        is_at_work,
        killed_without_a_file,
    );
}
