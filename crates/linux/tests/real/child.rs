//! This test program as a child of itself: a process that runs an executive and can be killed.

use crate::support::{HI, LO, config, ms, native, pause, spec};
use std::process::{Child, Command, Stdio};
use vestal_core::{Duration, Enforcement};
use vestal_linux::{Executive, Monitor};

const VARIABLE: &str = "VESTAL_REAL_CHILD";

/// Says what the run came to, so that the parent can read it.
const OUTCOME: &str = "outcome: ";

/// Not a test but the child's way in; does nothing unless the parent asks for it.
#[test]
fn entry() {
    let Ok(seconds) = std::env::var(VARIABLE) else {
        return;
    };
    let span = Duration::from_millis(seconds.parse::<u64>().unwrap() * 1_000);
    let outcome = Executive::new(config(Monitor::Perf))
        .cpu(native(Enforcement::Adaptive))
        .task(spec("hi", HI, 2, 50, &[5, 12]), |job| job.burn(ms(8)))
        .task(spec("lo", LO, 1, 50, &[8]), |job| job.burn(ms(6)))
        .run(span);
    let left = crate::support::real_time_threads(std::process::id());
    match outcome {
        Ok(report) => println!(
            "{OUTCOME}{:?} {:?} {:?} missed: {}, undecided: {}, continued: {}, stolen: {:?}",
            report.ended,
            report.cpus[0].monitor,
            left,
            report.jobs.missed_outside_gaps,
            report.jobs.missed_undecided(),
            report.continued,
            report.cpus[0].machine.stolen,
        ),
        Err(error) => println!("{OUTCOME}{:?} {error}\n", error.kind()),
    }
    // Time for the parent to look at the threads of a process that is still there.
    pause(300);
}

/// A command that becomes a child running for `seconds`; `wrapper` goes before it.
pub(crate) fn spawn(seconds: u64, wrapper: &[&str]) -> Child {
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    let entry = [program, "--exact", "child::entry", "--nocapture"];
    let words: Vec<&str> = wrapper.iter().copied().chain(entry).collect();
    Command::new(words[0])
        .args(&words[1..])
        .env(VARIABLE, seconds.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a child said, after it has ended.
pub(crate) fn outcome_of(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some((_, outcome)) = text.split_once(OUTCOME) else {
        panic!(
            "no outcome in: {text}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    outcome.to_owned()
}

/// Sends a signal to a process.
pub(crate) fn send(signal: &str, pid: u32) {
    let status = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// Runs the test `name`, the one that calls this, in a process of its own; says whether this is that process.
pub(crate) fn in_a_process_of_its_own(name: &str) -> bool {
    const FRESH: &str = "VESTAL_REAL_FRESH";
    if std::env::var_os(FRESH).is_some() {
        return true;
    }
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(FRESH, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && text.contains("1 passed"),
        "{text}\n{}",
        String::from_utf8_lossy(&done.stderr)
    );
    false
}
