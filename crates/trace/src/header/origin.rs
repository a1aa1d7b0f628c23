//! Where in the time of a machine a recording lies, and which of its threads did what: so that a recording of its kernel lies beside it.

use super::number;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use vestal_core::TaskId;

/// What the clocks of a machine showed at the instant 0 of a recording, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClockBase {
    /// `CLOCK_MONOTONIC`, which kernel traces have as the clock `mono`, and perf with `-k mono`.
    pub monotonic: u64,
    /// `CLOCK_REALTIME`: the time of day, since 1970.
    pub realtime: u64,
    /// `CLOCK_BOOTTIME`, which goes on while the machine is suspended: the clock of Perfetto.
    pub boottime: u64,
}

/// A thread of the program that was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ThreadInfo {
    /// The kernel's number for it.
    pub tid: u32,
    /// What the kernel calls it.
    pub name: String,
    /// The task whose jobs it alone executes; none for managers and such.
    pub task: Option<TaskId>,
}

/// Of a recording of a real machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The kernel's number for the process.
    pub process: u32,
    /// When it was.
    pub clock: ClockBase,
    /// Its threads.
    pub threads: Vec<ThreadInfo>,
}

/// The keys that stand exactly once where there is an origin.
pub(super) const SINGLES: [&str; 2] = ["process", "clock"];

/// Takes in a line of an origin; false: it is none.
pub(super) fn take(origin: &mut Origin, fields: &[&str]) -> Result<bool, String> {
    match fields {
        ["process", id] => origin.process = number(id)?,
        ["clock", monotonic, realtime, boottime] => {
            origin.clock = ClockBase {
                monotonic: number(monotonic)?,
                realtime: number(realtime)?,
                boottime: number(boottime)?,
            };
        }
        ["thread", tid, name] => push(origin, (number(tid)?, name, None))?,
        ["thread", tid, name, task] => {
            push(origin, (number(tid)?, name, Some(TaskId(number(task)?))))?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn push(origin: &mut Origin, (tid, name, task): (u32, &str, Option<TaskId>)) -> Result<(), String> {
    let thread = ThreadInfo {
        tid,
        name: name.to_owned(),
        task,
    };
    super::push(&mut origin.threads, thread)
}

/// Its lines, each as its fields.
pub(super) fn lines(origin: &Origin) -> Vec<Vec<String>> {
    let ClockBase {
        monotonic,
        realtime,
        boottime,
    } = origin.clock;
    let readings = [monotonic, realtime, boottime].map(|nanos| nanos.to_string());
    let mut lines = Vec::new();
    lines.push(alloc::vec![
        "process".to_owned(),
        origin.process.to_string()
    ]);
    lines.push(
        core::iter::once("clock".to_owned())
            .chain(readings)
            .collect(),
    );
    for thread in &origin.threads {
        let mut line = alloc::vec![
            "thread".to_owned(),
            thread.tid.to_string(),
            thread.name.clone()
        ];
        line.extend(thread.task.map(|task| task.0.to_string()));
        lines.push(line);
    }
    lines
}

/// Why the threads of an origin do not fit so many tasks, if so.
pub(super) fn misfit(origin: &Origin, tasks: usize) -> Option<String> {
    let mut named = origin.threads.iter();
    let beyond = named.find(|thread| thread.task.is_some_and(|task| task.index() >= tasks))?;
    Some(format!(
        "thread {} executes a task that is not among the {tasks}",
        beyond.tid
    ))
}
