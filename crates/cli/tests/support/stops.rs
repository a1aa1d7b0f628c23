//! Signals at random instants. The program has to end soon, in the way that is documented, and leave
//! nothing half done.
//!
//! A smoke count by default; `VESTAL_STOPS=200` sends that many signals to each command.

use super::{Scratch, interruptible};
use rustix::process::{Pid, Signal, kill_process};
use std::cell::Cell;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

/// The program has to be gone so long after the signal, also on a busy machine.
const BOUND: Duration = Duration::from_secs(10);

/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(2);

/// How many signals each command gets where nothing else is asked for.
const SMOKE: u64 = 3;

/// How a program ended after a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With this code, after a signal that it had taken over.
    Exit(i32),
    /// By the signal, which it had not taken over, or not yet.
    Killed,
}

/// What one signal came to.
pub(crate) struct Stopped<'a> {
    pub(crate) ending: Ending,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// A fresh directory, in which the program ran.
    pub(crate) folder: &'a Path,
}

impl Stopped<'_> {
    /// The one JSON document on standard output.
    pub(crate) fn json(&self) -> serde_json::Value {
        super::shape::document(&self.stdout, &self.stderr)
    }

    /// What is in its directory, hidden files too.
    pub(crate) fn files(&self) -> Vec<String> {
        names(self.folder)
    }
}

/// The names in a directory, sorted; none if there is no such directory.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// How often a trial is made before it is believed that the program is done too soon for its signal: on a busy
/// machine the signal may come late.
const TOO_LATE: u64 = 5;

/// Runs the program again and again in fresh directories, sends SIGINT and SIGTERM in turn at instants
/// before `within`, and lets `check` judge what each came to. Says how often it ended in which way.
#[expect(
    clippy::print_stdout,
    reason = "how the trials of a long campaign ended is worth a line"
)]
pub(crate) fn stops(
    name: &str,
    arguments: &[&str],
    within: Duration,
    check: impl Fn(&Stopped<'_>),
) -> Vec<(Ending, u64)> {
    let asked = std::env::var("VESTAL_STOPS").ok();
    let trials = asked.map_or(SMOKE, |count| count.parse().unwrap());
    let mut endings: Vec<(Ending, u64)> = Vec::new();
    for trial in 0..trials {
        let scratch = Scratch::new(&format!("stop-{name}-{trial}"));
        let folder = scratch.0.join("there");
        let (out, err) = (scratch.0.join("out"), scratch.0.join("err"));
        let mut attempts = (0..TOO_LATE).map(|_| {
            let _nothing_there = std::fs::remove_dir_all(&folder);
            std::fs::create_dir(&folder).unwrap();
            let child = interruptible(arguments)
                .current_dir(&folder)
                .stdout(File::create(&out).unwrap())
                .stderr(File::create(&err).unwrap())
                .spawn()
                .unwrap();
            stop(child, trial, within)
        });
        let ending = attempts.find_map(std::convert::identity);
        let ending = ending.unwrap_or_else(|| panic!("{name}: done before each signal"));
        let stopped = Stopped {
            ending,
            stdout: std::fs::read_to_string(&out).unwrap(),
            stderr: std::fs::read_to_string(&err).unwrap(),
            folder: &folder,
        };
        check(&stopped);
        match endings.iter_mut().find(|(known, _)| *known == ending) {
            Some((_, count)) => *count += 1,
            None => endings.push((ending, 1)),
        }
    }
    println!("{name}: {endings:?}");
    endings
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test that waits for another process schedules nothing"
)]
fn pause(span: Duration) {
    std::thread::sleep(span);
}

/// Sends one signal and waits for the end; `None` if the program was done before.
fn stop(mut child: Child, trial: u64, within: Duration) -> Option<Ending> {
    pause(within.mul_f64(fraction(trial)));
    if let Some(status) = child.try_wait().unwrap() {
        // By itself it ends with an answer, whatever that is.
        let answered = status.code().filter(|code| [0, 1, 5].contains(code));
        assert!(answered.is_some(), "{status} before the signal");
        return None;
    }
    let signal = [Signal::INT, Signal::TERM][(trial % 2) as usize];
    let taken = takes(child.id(), signal.as_raw());
    // Not by a program of its own, which would come too late where real-time threads have the CPUs.
    kill_process(Pid::from_child(&child), signal).unwrap();
    let mut looks = 0..BOUND.as_millis() / LOOK.as_millis();
    let status: ExitStatus = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if looks.next().is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("still there {BOUND:?} after {signal:?}, taken over: {taken}");
        }
        pause(LOOK);
    };
    Some(ending(status, signal, taken))
}

/// How long a command may execute after the signal, as others on this machine cannot change.
const EXECUTED_MAX: Duration = Duration::from_secs(1);

/// How long it may take in all, which they can.
const TAKEN_MAX: Duration = Duration::from_secs(1);

/// How often a signal is tried where the first one took too long by the clock: that may be because of others on this machine, once
/// of these times.
const TRIES: usize = 3;

/// How long a command has to get to the middle of its work.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the program in fresh directories, for SIGINT and for SIGTERM, sends the signal as soon as `amid` says, by its
/// process id and directory, that it is in the middle of its work, and lets `check` judge what came of it. It has to be gone
/// within a second of each of the two, executes no more than that whatever else goes on here, and may be late once in three times: each
/// time that is printed.
#[expect(
    clippy::print_stdout,
    reason = "a command that was late once is worth a line"
)]
pub(crate) fn ends_soon(
    name: &str,
    arguments: &[&str],
    amid: impl Fn(u32, &Path) -> bool,
    check: impl Fn(&Stopped<'_>),
) {
    for signal in [Signal::INT, Signal::TERM] {
        let mut late = Vec::new();
        for tries in 0..TRIES {
            if tries > 0 && late.is_empty() {
                break;
            }
            let (taken, executed) = once(name, arguments, signal, &amid, &check);
            assert!(
                executed <= EXECUTED_MAX,
                "{name} executed for {executed:?} after {signal:?}"
            );
            if taken > TAKEN_MAX {
                println!("{name} took {taken:?} after {signal:?}");
                late.push(taken);
            }
            assert!(late.len() < 2, "{name} took {late:?} after {signal:?}");
        }
    }
}

/// How long the program took to be gone after one signal, and how long it executed.
fn once(
    name: &str,
    arguments: &[&str],
    signal: Signal,
    amid: impl Fn(u32, &Path) -> bool,
    check: impl Fn(&Stopped<'_>),
) -> (Duration, Duration) {
    let scratch = Scratch::new(&format!("ends-{name}-{}", signal.as_raw()));
    let folder = scratch.0.join("there");
    std::fs::create_dir(&folder).unwrap();
    let (out, err) = (scratch.0.join("out"), scratch.0.join("err"));
    let mut child = interruptible(arguments)
        .current_dir(&folder)
        .stdout(File::create(&out).unwrap())
        .stderr(File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let said = || std::fs::read_to_string(&err).unwrap();
    wait_until(&format!("{name} to be in the middle"), || {
        assert!(!is_over(child.id()), "{name} ended by itself: {}", said());
        amid(child.id(), &folder)
    });
    let (took, ending) = ended_by(&mut child, name, signal);
    check(&Stopped {
        ending,
        stdout: std::fs::read_to_string(&out).unwrap(),
        stderr: said(),
        folder: &folder,
    });
    took
}

/// Sends the signal; how long the program took to be gone, how long it executed, and how it ended.
fn ended_by(child: &mut Child, name: &str, signal: Signal) -> ((Duration, Duration), Ending) {
    let taken = takes(child.id(), signal.as_raw());
    let before = executed(child.id());
    let since = now();
    kill_process(Pid::from_child(child), signal).unwrap();
    let what = format!("{name} to end after {signal:?}, taken over: {taken}");
    wait_until(&what, || is_over(child.id()));
    let took = (since.elapsed(), executed(child.id()) - before);
    (took, ending(child.wait().unwrap(), signal, taken))
}

/// Runs the program without ever reading what it prints, sends SIGTERM when it waits for that, and says how it ended, which
/// it has to do within a second but once, and what it said meanwhile.
pub(crate) fn unread(name: &str, arguments: &[&str]) -> (Ending, String) {
    let mut late = Vec::new();
    loop {
        let mut child = interruptible(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It waits for a while, and not only for a moment, as for a disk.
        let waiting = Cell::new(0);
        wait_until(&format!("{name} to wait for a reader"), || {
            assert!(!is_over(child.id()), "{name} ended by itself");
            let longer = waiting.get() + 1;
            waiting.set(if waits(child.id()) { longer } else { 0 });
            waiting.get() > 100
        });
        let ((taken, _), ending) = ended_by(&mut child, name, Signal::TERM);
        let mut said = String::new();
        let stderr = child.stderr.as_mut().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        if taken <= TAKEN_MAX {
            return (ending, said);
        }
        late.push(taken);
        assert!(late.len() < 2, "{name} took {late:?}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test of how long a command takes reads a clock"
)]
pub(crate) fn now() -> std::time::Instant {
    std::time::Instant::now()
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let since = now();
    while !holds() {
        assert!(since.elapsed() < PATIENCE, "waited for {what}");
        pause(LOOK);
    }
}

/// What `/proc/PID/stat` says behind the name: the state first.
fn stat(pid: u32) -> Vec<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_whitespace().map(str::to_owned).collect()
}

/// Whether it has ended, and nobody has asked how yet.
fn is_over(pid: u32) -> bool {
    stat(pid)[0] == "Z"
}

/// Whether it waits for something.
pub(crate) fn waits(pid: u32) -> bool {
    stat(pid)[0] == "S"
}

/// The CPU time of all of its threads.
pub(crate) fn executed(pid: u32) -> Duration {
    let fields = stat(pid);
    let ticks = |place: usize| fields[place].parse::<u64>().unwrap();
    let ticks = ticks(11) + ticks(12);
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
}

/// How the program ended that was sent this signal, which it had taken over or not.
fn ending(status: ExitStatus, signal: Signal, taken: bool) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exit(code),
        (None, killer) => {
            assert_eq!(killer, Some(signal.as_raw()), "it died of something else");
            assert!(
                !taken,
                "{signal:?} was taken over, and ended the program all the same"
            );
            Ending::Killed
        }
    }
}

/// Whether the process handles `signal` itself.
fn takes(pid: u32, signal: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mut lines = status.lines();
    let caught = lines.find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// A share of one, another for each trial and each time.
fn fraction(trial: u64) -> f64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(trial);
    (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64
}
