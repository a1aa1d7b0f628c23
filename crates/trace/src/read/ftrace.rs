//! Reads what ftrace's tools print: `sched_switch` and `sched_wakeup` lines of `trace-cmd report`, of
//! `/sys/kernel/tracing/trace`, or of `perf script` with the same fields.
//!
//! ```text
//!           <idle>-0     [001]  1234.567890: sched_switch:  swapper/1:0 [120] R ==> sensor:4711 [49]
//!           sensor-4711  [001] d..2.  1234.567950: sched_switch: prev_comm=sensor prev_pid=4711 prev_prio=49 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
//!           <idle>-0     [001]  1234.569000: sched_wakeup:  sensor:4711 [49] CPU:001
//! ```
//! A thread is a task, known by its name. It wakes up: a job arrives. It gets a CPU: the job runs. It
//! leaves the CPU runnable: preempted; in any other state: complete, or blocked where the options say
//! that its jobs block. All facts are [`What::Observed`]. Other events and lines without a timestamp
//! are passed over and counted; a line of these two events that is not as above is an error.
//!
//! Threads that share their name are one task here: give them names of their own.

use super::csv::Lines;
use crate::error::{Problem, TraceError};
use crate::header::{Dispatch, Header, TaskInfo, World};
use crate::record::{Record, What};
use std::io::BufRead;
use vestal_core::{CpuId, Duration, Fact, Instant, JobId, Level, StopReason, TaskId};

/// The longest line.
const LINE_MAX: usize = 16_384;

/// The most tasks that are found by themselves.
const FOUND_MAX: usize = 4096;

/// How threads become tasks.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The tasks, by the names of their threads; empty: every thread but the idle ones is a task.
    pub tasks: Vec<TaskInfo>,
    /// Names of threads whose jobs block: sleeping does not end their job, waking does not begin one
    /// while it is incomplete.
    pub blocking: Vec<String>,
}

/// What was read.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The header: a foreign, native run without a task set.
    pub header: Header,
    /// The records, from the instant of the first line on, with an end.
    pub records: Vec<Record>,
    /// Lines that were passed over: other events, comments.
    pub other_lines: u64,
    /// Wake-ups of threads whose job was incomplete: they belong to that job.
    pub wakeups_inside: u64,
}

/// Reads a recording to its end. The memory grows with the number of events.
///
/// # Errors
/// [`TraceError`] with the line that is not as described above; [`Problem::Foreign`] if no line was.
pub fn read(input: impl BufRead, options: &Options) -> Result<Recording, TraceError> {
    let mut lines = Lines::new(input);
    let mut reader = Reader::new(options);
    loop {
        let number = lines.number.saturating_add(1);
        let Some(line) = lines.next(LINE_MAX)? else {
            break;
        };
        match parse(line) {
            Ok(Some(event)) => reader.take(&event, number)?,
            Ok(None) => reader.other_lines = reader.other_lines.saturating_add(1),
            Err(expected) => return Err(event_error(number, line, expected)),
        }
    }
    reader.finish()
}

fn event_error(line: u64, found: &str, expected: &'static str) -> TraceError {
    let found: String = found.trim().chars().take(120).collect();
    let found = format!("`{}`", found.escape_debug());
    TraceError::at_line(line, 0, Problem::Event { found, expected })
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event<'a> {
    at: u64,
    cpu: u16,
    what: Kind<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind<'a> {
    Switch {
        prev: &'a str,
        /// It is still runnable.
        runnable: bool,
        next: &'a str,
    },
    Wakeup {
        thread: &'a str,
    },
}

/// The line's event; `None` for lines of no interest.
fn parse(line: &str) -> Result<Option<Event<'_>>, &'static str> {
    let switch = line.split_once(" sched_switch: ");
    let wakeup = || {
        line.split_once(" sched_wakeup: ")
            .or_else(|| line.split_once(" sched_wakeup_new: "))
    };
    let (head, body, is_switch) = match switch {
        Some((head, body)) => (head, body.trim(), true),
        None => match wakeup() {
            Some((head, body)) => (head, body.trim(), false),
            None => return Ok(None),
        },
    };
    if head.trim_start().starts_with('#') {
        return Ok(None);
    }
    let at = head
        .trim_end()
        .strip_suffix(':')
        .and_then(|head| head.rsplit_once(char::is_whitespace))
        .and_then(|(_, time)| nanos(time))
        .ok_or("an instant in seconds before the event, as in `12.345678:`")?;
    // A thread's name may contain brackets itself: the CPU is the last pair with a number.
    let cpu = head
        .match_indices('[')
        .filter_map(|(place, _)| head.split_at_checked(place.saturating_add(1)))
        .filter_map(|(_, rest)| rest.split_once(']'))
        .filter_map(|(cpu, _)| cpu.trim().parse().ok())
        .next_back()
        .ok_or("a CPU in brackets, as in `[001]`")?;
    let what = if is_switch {
        parse_switch(body)?
    } else {
        Kind::Wakeup {
            thread: key_value(body, "comm=", " pid=")
                .or_else(|| thread_name(body))
                .ok_or("a thread, as in `comm=NAME pid=1` or `NAME:1 [49]`")?,
        }
    };
    Ok(Some(Event { at, cpu, what }))
}

fn parse_switch(body: &str) -> Result<Kind<'_>, &'static str> {
    let (left, right) = body
        .split_once("==>")
        .ok_or("`==>` between the threads that leave and come")?;
    let (left, right) = (left.trim(), right.trim());
    if let Some(prev) = key_value(left, "prev_comm=", " prev_pid=") {
        let state = left
            .rsplit_once("prev_state=")
            .ok_or("`prev_state=` and a state")?;
        let next = key_value(right, "next_comm=", " next_pid=")
            .ok_or("`next_comm=NAME next_pid=1` after the arrow")?;
        let runnable = state.1.starts_with('R');
        return Ok(Kind::Switch {
            prev,
            runnable,
            next,
        });
    }
    let expected = "threads as in `NAME:1 [120] R ==> NAME:2 [49]`";
    let (thread, state) = left.rsplit_once(']').ok_or(expected)?;
    let prev = thread_name(thread).ok_or(expected)?;
    let runnable = state.trim().starts_with('R');
    let next = thread_name(right).ok_or(expected)?;
    Ok(Kind::Switch {
        prev,
        runnable,
        next,
    })
}

/// What stands between `key` and `end`; a name may contain blanks.
fn key_value<'a>(text: &'a str, key: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(key)?;
    let (value, _) = rest.split_once(end)?;
    Some(value)
}

/// The name in `NAME:PID [PRIORITY`, whatever follows.
fn thread_name(text: &str) -> Option<&str> {
    let (thread, _) = text.rsplit_once('[')?;
    let (name, pid) = thread.trim().rsplit_once(':')?;
    pid.parse::<u32>().ok()?;
    Some(name)
}

/// Seconds with a decimal point, at most nine digits behind it, in nanoseconds: exact.
fn nanos(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let digits = fraction.len();
    if digits == 0 || digits > 9 || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let scale = 10_u64.checked_pow(u32::try_from(9 - digits).ok()?)?;
    seconds
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(fraction.parse::<u64>().ok()?.checked_mul(scale)?)
}

fn is_idle(thread: &str) -> bool {
    thread == "<idle>" || thread == "swapper" || thread.starts_with("swapper/")
}

/// What is known of a task's thread.
#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    /// How many jobs there were.
    jobs: u64,
    /// The latest one is incomplete.
    pending: bool,
}

struct Reader<'a> {
    options: &'a Options,
    tasks: Vec<TaskInfo>,
    threads: Vec<Thread>,
    records: Vec<Record>,
    /// The first instant: the epoch of the recording.
    epoch: Option<u64>,
    last: u64,
    cpus: u16,
    other_lines: u64,
    wakeups_inside: u64,
}

impl<'a> Reader<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            tasks: options.tasks.clone(),
            threads: vec![Thread::default(); options.tasks.len()],
            records: Vec::new(),
            epoch: None,
            last: 0,
            cpus: 1,
            other_lines: 0,
            wakeups_inside: 0,
        }
    }

    /// The task whose thread is called so, if it is one.
    fn task(&mut self, thread: &str) -> Option<usize> {
        if is_idle(thread) {
            return None;
        }
        let known = self.tasks.iter().position(|task| task.name == thread);
        if known.is_some() || !self.options.tasks.is_empty() || self.tasks.len() >= FOUND_MAX {
            return known;
        }
        self.tasks.push(TaskInfo {
            name: thread.to_owned(),
            criticality: Level::LOWEST,
            period: Duration::ZERO,
            deadline: Duration::ZERO,
        });
        self.threads.push(Thread::default());
        Some(self.tasks.len().saturating_sub(1))
    }

    fn put(&mut self, fact: Fact) {
        let since = self.last.saturating_sub(self.epoch.unwrap_or(0));
        self.records.push(Record {
            at: Instant::from_nanos(since),
            what: What::Observed(fact),
        });
    }

    /// The present job of a task; one arrives now if there is none.
    fn job(&mut self, task: usize) -> Option<JobId> {
        let number = u16::try_from(task).ok()?;
        let thread = self.threads.get_mut(task)?;
        let arrives = !thread.pending;
        if arrives {
            thread.pending = true;
            thread.jobs = thread.jobs.saturating_add(1);
        }
        let job = JobId {
            task: TaskId(number),
            sequence: thread.jobs.saturating_sub(1),
        };
        if arrives {
            self.put(Fact::Released { job });
        }
        Some(job)
    }

    fn take(&mut self, event: &Event<'_>, line: u64) -> Result<(), TraceError> {
        let epoch = *self.epoch.get_or_insert(event.at);
        if event.at < self.last || event.at < epoch {
            let found = format!("{} ns after {} ns", event.at, self.last);
            let expected = "lines in the order of time";
            let problem = Problem::Event { found, expected };
            return Err(TraceError::at_line(line, 0, problem));
        }
        self.last = event.at;
        self.cpus = self.cpus.max(event.cpu.saturating_add(1));
        let cpu = CpuId(event.cpu);
        match event.what {
            Kind::Wakeup { thread } => {
                if let Some(task) = self.task(thread) {
                    if self.threads.get(task).is_some_and(|thread| thread.pending) {
                        self.wakeups_inside = self.wakeups_inside.saturating_add(1);
                    } else {
                        self.job(task);
                    }
                }
            }
            Kind::Switch {
                prev,
                runnable,
                next,
            } => {
                if let Some(task) = self.task(prev) {
                    self.leave(cpu, task, prev, runnable);
                }
                if let Some(task) = self.task(next)
                    && let Some(job) = self.job(task)
                {
                    self.put(Fact::Started { cpu, job });
                }
            }
        }
        Ok(())
    }

    fn leave(&mut self, cpu: CpuId, task: usize, name: &str, runnable: bool) {
        // A thread that ran from before the recording has no job in it.
        let pending = self.threads.get(task).is_some_and(|thread| thread.pending);
        if !pending {
            return;
        }
        let Some(job) = self.job(task) else { return };
        if runnable {
            let why = StopReason::Preempted;
            self.put(Fact::Stopped { cpu, job, why });
        } else if self.options.blocking.iter().any(|other| other == name) {
            let why = StopReason::Blocked;
            self.put(Fact::Stopped { cpu, job, why });
        } else {
            self.put(Fact::Completed { cpu, job });
            if let Some(thread) = self.threads.get_mut(task) {
                thread.pending = false;
            }
        }
    }

    fn finish(mut self) -> Result<Recording, TraceError> {
        let Some(epoch) = self.epoch else {
            let expected = "lines of sched_switch and sched_wakeup events";
            return Err(TraceError::at_line(1, 0, Problem::Foreign { expected }));
        };
        self.records.push(Record {
            at: Instant::from_nanos(self.last.saturating_sub(epoch)),
            what: What::End { facts: 0 },
        });
        let highest = self.tasks.iter().map(|task| task.criticality).max();
        let levels = highest.unwrap_or(Level::LOWEST).up_to_self();
        let header = Header {
            world: World::Foreign,
            dispatch: Dispatch::Native,
            cpus: self.cpus,
            levels: levels.map(|level| level.0.to_string()).collect(),
            tasks: self.tasks,
            ..Header::new("ftrace")
        };
        Ok(Recording {
            header,
            records: self.records,
            other_lines: self.other_lines,
            wakeups_inside: self.wakeups_inside,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_exactly() {
        assert_eq!(nanos("12.345678"), Some(12_345_678_000));
        assert_eq!(nanos("0.000000001"), Some(1));
        assert_eq!(nanos("1.0000000001"), None);
        assert_eq!(nanos("99999999999999999999.0"), None);
        assert_eq!(nanos("1."), None);
        assert_eq!(nanos("1.+5"), None);
    }

    #[test]
    fn both_spellings_of_a_switch_are_the_same_event() {
        let short =
            " <idle>-0 [001]  1.000002: sched_switch:   swapper/1:0 [120] R ==> my task:47 [49]";
        let long = " <idle>-0 [001] d..2. 1.000002: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R+ ==> next_comm=my task next_pid=47 next_prio=49";
        let event = parse(short).unwrap().unwrap();
        assert_eq!(parse(long), Ok(Some(event)));
        assert_eq!((event.at, event.cpu), (1_000_002_000, 1));
        let bracketed = " a[b]-7 [003] 1.5: sched_wakeup: a[b]:7 [49] CPU:003";
        let event = parse(bracketed).unwrap().unwrap();
        assert_eq!(event.cpu, 3);
        assert_eq!(event.what, Kind::Wakeup { thread: "a[b]" });
    }
}
