//! Programs that schedule systems, by the library for C or on a kernel in an emulator, judged by the core's engine and by the host of the other tests.
//!
//! The environment variable `VESTAL_HSF_HOSTS` names a directory: each program in it whose name begins with `judged`
//! reads systems and prints who executed in each tick (`examples/hsf-c/judged.c`, `crates/kernel/rtos/src/bin/judged.rs`), and has to be right; each whose name
//! begins with `wrong` has something wrong in it, and has to be found out.
#![expect(clippy::cast_possible_truncation, reason = "numbers drawn are small")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may fail loudly"
)]

#[path = "../hsf/host.rs"]
#[expect(dead_code, reason = "what only the other tests look at")]
mod host;
#[path = "../hsf/system.rs"]
mod system;

use host::{Clock, Host, Scheduler};
use std::env;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use system::{Arrivals, System, TaskSpec, Waits, core_schedule, random_system, wait};
use vestal_hsf::{Bounded, Everything, Kind, LocalOrder};

const TICKS: u64 = 240;
const SYSTEMS: u64 = 200;

/// A system as numbers, what arrived from outside in it, and who executed.
struct Judged {
    numbers: String,
    core: String,
    row: String,
}

fn numbers(system: &System, log: &[(u64, usize)], one_shot: bool) -> String {
    let (servers, tasks) = (system.servers.len(), system.tasks.len());
    let mut text = format!("{servers} {tasks} {TICKS} {}\n", u8::from(one_shot));
    for server in &system.servers {
        let kind = match server.kind {
            Kind::Polling => 0,
            Kind::Idling => 1,
            Kind::Deferrable => 2,
        };
        let order = match server.order {
            LocalOrder::FixedPriority => 0,
            LocalOrder::EarliestDeadline => 1,
        };
        let (period, capacity) = (server.period, server.capacity);
        let priority = server.priority;
        writeln!(text, "{period} {capacity} {kind} {order} {priority}").unwrap();
    }
    for (number, task) in system.tasks.iter().enumerate() {
        text += &task_numbers(system, number, task);
    }
    writeln!(text, "{}", log.len()).unwrap();
    for (at, task) in log {
        write!(text, "{at} {task} ").unwrap();
    }
    text
}

fn task_numbers(system: &System, number: usize, task: &TaskSpec) -> String {
    let (offset, period) = match task.arrivals {
        Arrivals::Periodic { offset, period } => (offset, period),
        Arrivals::Sporadic { .. } => (0, 0),
    };
    let waits = match task.waits {
        Waits::Delay => 0,
        Waits::Block => 1,
        Waits::Virtual => 2,
    };
    // After each of them it executes for a tick at least.
    let count = if task.parts.len() > 1 { TICKS } else { 0 };
    let pauses = (0..count).map(|nth| wait(system, number, nth));
    let list = |items: &mut dyn Iterator<Item = u64>| {
        let items: Vec<_> = items.map(|item| item.to_string()).collect();
        format!("{} {}", items.len(), items.join(" "))
    };
    format!(
        "{} {} {} {offset} {period} {waits} {} {}\n",
        task.server,
        task.priority,
        task.deadline,
        list(&mut task.parts.iter().copied()),
        list(&mut pauses.into_iter()),
    )
}

/// Runs a system here. Every second one is for a host with a one-shot timer.
fn judge(system: &System, seed: u64) -> Judged {
    let mut host = Host::<Scheduler<Everything<Bounded<u8, 15>>>>::new(system, Clock::Tick);
    (0..TICKS).for_each(|_| host.step());
    let knows = system.tasks.iter().all(|task| task.waits != Waits::Virtual);
    Judged {
        numbers: numbers(system, &host.log, seed % 2 == 1),
        core: if knows {
            core_schedule(system, &host.log, TICKS)
        } else {
            String::new()
        },
        row: host.row,
    }
}

/// Random systems of all kinds; and those whose delays are in the time of their servers, which the core does not know.
fn systems(virtual_delays: bool) -> Vec<Judged> {
    let one = |seed| {
        let mut system = random_system(seed, 1);
        if virtual_delays {
            for task in &mut system.tasks {
                task.waits = Waits::Virtual;
            }
        }
        judge(&system, seed)
    };
    (0..SYSTEMS).map(one).collect()
}

/// Whether one of the rows that a program printed in whole is another than it should be: one that printed nothing shows nothing.
fn is_found_out(systems: &[Judged], rows: &[String]) -> bool {
    let is_whole = |row: &str| row.len() as u64 == TICKS;
    let mut pairs = systems.iter().zip(rows);
    pairs.any(|(judged, row)| is_whole(row) && !agrees(judged, row))
}

fn programs(prefix: &str) -> Vec<PathBuf> {
    let folder = env::var("VESTAL_HSF_HOSTS").expect("VESTAL_HSF_HOSTS names a directory");
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_meant = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(prefix)
    };
    let mut programs: Vec<_> = paths.filter(is_meant).collect();
    programs.sort();
    assert!(!programs.is_empty(), "no program called {prefix}");
    programs
}

/// What a program prints for all systems, and whether it came to its end.
fn rows(program: &Path, systems: &[Judged]) -> (Vec<String>, bool) {
    let name = program.file_name().unwrap().to_string_lossy();
    // The hosts of another script may be judged at the same time, and some have the same names.
    let input = format!("{name}.{}.systems", std::process::id());
    let input = Path::new(env!("CARGO_TARGET_TMPDIR")).join(input);
    let all: Vec<_> = systems.iter().map(|judged| &*judged.numbers).collect();
    fs::write(&input, all.join("\n") + "\n").unwrap();
    let mut command = Command::new(program);
    let output = command.stdin(File::open(&input).unwrap()).output().unwrap();
    fs::remove_file(&input).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().map(str::to_owned).collect();
    (rows, output.status.success())
}

fn agrees(judged: &Judged, row: &str) -> bool {
    let core = &judged.core;
    row == judged.row && row.get(..core.len()) == Some(core)
}

#[test]
fn hosts_have_the_schedule_of_the_core() {
    for virtual_delays in [false, true] {
        let systems = systems(virtual_delays);
        let whole = systems.iter().map(|judged| judged.core.len() as u64);
        let compared: u64 = whole.sum();
        assert!(virtual_delays || compared > SYSTEMS * TICKS / 2);
        for program in programs("judged") {
            let (rows, ended) = rows(&program, &systems);
            assert!(ended && rows.len() == systems.len(), "{program:?}");
            for (judged, row) in systems.iter().zip(&rows) {
                let numbers = &judged.numbers;
                assert!(agrees(judged, row), "{program:?}: {row}\n{numbers}");
            }
        }
    }
}

#[test]
fn wrong_hosts_are_found_out() {
    let systems = systems(false);
    for program in programs("wrong") {
        let (rows, _) = rows(&program, &systems);
        assert!(is_found_out(&systems, &rows), "{program:?} goes unnoticed");
    }
}

#[test]
fn who_prints_too_little_is_not_found_out_by_that() {
    let systems: Vec<_> = systems(false).into_iter().take(3).collect();
    let mut rows: Vec<_> = systems.iter().map(|judged| judged.row.clone()).collect();
    assert!(!is_found_out(&systems, &rows));
    assert!(!is_found_out(&systems, &[]));
    let whole = rows[1].clone();
    rows[1].truncate(9);
    assert!(!is_found_out(&systems, &rows));
    rows[1] = whole.replace('.', "?");
    assert!(is_found_out(&systems, &rows));
}
