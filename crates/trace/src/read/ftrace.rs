//! Reads what ftrace's tools and perf print: `sched_switch` with `sched_waking`, `sched_wakeup` and
//! `sched_wakeup_new`, as text of `perf script`, `perf sched script`, `trace-cmd report` or
//! `/sys/kernel/tracing/trace`.
//!
//! ```text
//!           <idle>-0     [001]  1234.567890: sched_switch:  swapper/1:0 [120] R ==> sensor:4711 [49]
//!           sensor-4711  [001] d..2.  1234.567950: sched_switch: prev_comm=sensor prev_pid=4711 prev_prio=49 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
//!           <idle>-0     [001]  1234.569000: sched_wakeup:  sensor:4711 [49] CPU:001
//!          swapper     0 [001]  1234.569000: sched:sched_waking: comm=sensor pid=4711 prio=49 target_cpu=001
//! ```
//! A thread is a task, known by its name. It wakes up: a job arrives. It gets a CPU: the job runs. It
//! leaves the CPU runnable: preempted; waiting for the kernel or stopped (`D`, `T`): blocked; in any other
//! state: complete, or blocked where the options say that its jobs block. All facts are
//! [`What::Observed`]. Other events and lines of other kinds are passed over and counted; a line of these
//! events that is not as the tools print it is an error.
//!
//! What is not seen is not made up. A job has a release only if its wake-up is in the recording: what a
//! thread does from before it on, or from its creation or its last change of name until it first sleeps,
//! begins without one. Where the tool lost events, or a thread leaves a CPU that it had not got, there is
//! a [`What::Lost`], and no job goes on across it.

mod line;

use super::csv::Lines;
use crate::error::{Problem, TraceError};
use crate::header::{Dispatch, Header, TaskInfo, World};
use crate::record::{Record, What};
use line::{Event, Kind, Left, Line, Stage, Thread};
use std::collections::BTreeMap;
use std::io::BufRead;
use vestal_core::{CpuId, Duration, Fact, Instant, JobId, Level, StopReason, TaskId};

/// The longest line.
const LINE_MAX: usize = 16_384;

/// The most tasks that are found by themselves.
const FOUND_MAX: usize = 4096;

/// How much of a name the kernel keeps, in bytes.
pub const NAME_BYTES_MAX: usize = 15;

/// How threads become tasks.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The tasks, by the names of their threads, of which the kernel keeps [`NAME_BYTES_MAX`] bytes;
    /// empty: every thread but the idle ones is a task.
    pub tasks: Vec<TaskInfo>,
    /// What the levels of these tasks are called, lowest first.
    pub levels: Vec<String>,
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
    /// The names of all threads that were seen, each once, without the idle ones.
    pub threads: Vec<String>,
    /// Lines that were passed over: other events, comments.
    pub other_lines: u64,
    /// Wake-ups, of whatever thread. Without any, no job has a release.
    pub wakeups: u64,
    /// Wake-ups of threads whose job was incomplete: they belong to that job.
    pub wakeups_inside: u64,
}

/// Reads a recording to its end. The memory grows with the number of events.
///
/// # Errors
/// [`TraceError`] with the line that is not as described above, or where a second thread has the name of
/// a task; [`Problem::Foreign`] if no line is an event.
pub fn read(input: impl BufRead, options: &Options) -> Result<Recording, TraceError> {
    let mut lines = Lines::new(input);
    let mut reader = Reader::new(options)?;
    loop {
        let number = lines.number.saturating_add(1);
        let Some(line) = lines.next_lossy(LINE_MAX)? else {
            break;
        };
        if number == 1 && BINARY.iter().any(|magic| line.starts_with(magic)) {
            let expected =
                "text; `perf script` makes it of perf.data, `trace-cmd report` of trace.dat";
            return Err(TraceError::at_line(1, 0, Problem::Foreign { expected }));
        }
        match line::parse(&line) {
            Ok(Line::Event(event)) => reader.take(&event, number)?,
            Ok(Line::Lost(count)) => reader.lose(count),
            Ok(Line::Other) => reader.other_lines = reader.other_lines.saturating_add(1),
            Err(expected) => {
                let found: String = line.trim().chars().take(120).collect();
                return Err(event_error(
                    number,
                    format!("`{}`", found.escape_debug()),
                    expected,
                ));
            }
        }
    }
    reader.finish()
}

/// How the files begin that perf and trace-cmd write themselves.
const BINARY: [&str; 3] = ["PERFILE2", "2ELIFREP", "\u{17}\u{8}Dtracing"];

fn event_error(line: u64, found: String, expected: &'static str) -> TraceError {
    TraceError::at_line(line, 0, Problem::Event { found, expected })
}

/// What a thread is called whose name begins as a task's: what the kernel keeps of it, as far as that is
/// text.
#[must_use]
pub fn kept(name: &str) -> String {
    let bytes = name.as_bytes();
    let kept = bytes.get(..NAME_BYTES_MAX).unwrap_or(bytes);
    String::from_utf8_lossy(kept).into_owned()
}

fn is_idle(thread: &Thread<'_>) -> bool {
    thread.id == 0
}

/// What is known of a thread.
#[derive(Clone, Debug, Default)]
struct State {
    name: String,
    /// The task that it is, if it is one.
    task: Option<usize>,
    /// Its job, if it has one.
    job: Option<Pending>,
    /// A wake-up began; that it is awake is perhaps still to come.
    waking: bool,
    /// What it does until it sleeps belongs to no release: it is new, or has a new name.
    starts_up: bool,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    job: JobId,
    /// Where it runs.
    on: Option<CpuId>,
    /// It waits for something within itself.
    blocked: bool,
}

struct Reader<'a> {
    options: &'a Options,
    tasks: Vec<TaskInfo>,
    /// The listed tasks by what the kernel keeps of their names.
    listed: BTreeMap<String, usize>,
    /// How many jobs each task had, and the thread that is it.
    jobs: Vec<u64>,
    owners: Vec<Option<u32>>,
    /// By the kernel's number of the thread.
    threads: BTreeMap<u32, State>,
    /// Which thread each CPU got last.
    current: BTreeMap<u16, u32>,
    records: Vec<Record>,
    /// The first instant: the epoch of the recording.
    epoch: Option<u64>,
    last: u64,
    cpus: u16,
    other_lines: u64,
    wakeups: u64,
    wakeups_inside: u64,
}

impl<'a> Reader<'a> {
    fn new(options: &'a Options) -> Result<Self, TraceError> {
        let mut listed = BTreeMap::new();
        for (place, task) in options.tasks.iter().enumerate() {
            if listed.insert(kept(&task.name), place).is_some() {
                let found = format!("two tasks that begin with `{}`", kept(&task.name));
                let expected =
                    "names that differ in their first 15 bytes, which are all the kernel keeps";
                return Err(event_error(0, found, expected));
            }
        }
        Ok(Self {
            options,
            tasks: options.tasks.clone(),
            listed,
            jobs: vec![0; options.tasks.len()],
            owners: vec![None; options.tasks.len()],
            threads: BTreeMap::new(),
            current: BTreeMap::new(),
            records: Vec::new(),
            epoch: None,
            last: 0,
            cpus: 1,
            other_lines: 0,
            wakeups: 0,
            wakeups_inside: 0,
        })
    }

    fn take(&mut self, event: &Event<'_>, line: u64) -> Result<(), TraceError> {
        self.epoch.get_or_insert(event.at);
        if event.at < self.last {
            let found = format!("{} ns after {} ns", event.at, self.last);
            return Err(event_error(line, found, "lines in the order of time"));
        }
        self.last = event.at;
        self.cpus = self.cpus.max(event.cpu.saturating_add(1));
        match event.what {
            Kind::Wakeup { thread, stage } => {
                self.wakeups = self.wakeups.saturating_add(1);
                self.know(thread, line)?;
                self.wake(thread.id, stage);
            }
            Kind::Switch { prev, left, next } => {
                self.know(prev, line)?;
                self.know(next, line)?;
                let got = self.current.insert(event.cpu, next.id);
                if got.is_some_and(|got| got != prev.id) {
                    self.lose(1);
                    self.current.insert(event.cpu, next.id);
                }
                let cpu = CpuId(event.cpu);
                self.leave(cpu, prev.id, left);
                self.enter(cpu, next.id);
            }
        }
        Ok(())
    }

    /// Learns a thread's name. A new name is a new task, or none.
    fn know(&mut self, thread: Thread<'_>, line: u64) -> Result<(), TraceError> {
        if is_idle(&thread) {
            return Ok(());
        }
        let known = self.threads.get(&thread.id);
        if known.is_some_and(|known| known.name == thread.name) {
            return Ok(());
        }
        let renamed = known.is_some();
        let before = known.and_then(|known| known.task);
        let task = match self.options.tasks.is_empty() {
            // Then a task is a thread, and called as it is called last.
            true => before.or_else(|| self.found(thread)),
            false => self.listed.get(thread.name).copied(),
        };
        if before != task {
            self.give_up(thread.id);
            self.disown(thread.id);
            self.own(task, thread, line)?;
        }
        let state = self.threads.entry(thread.id).or_default();
        thread.name.clone_into(&mut state.name);
        state.starts_up |= renamed && before != task;
        state.task = task;
        Ok(())
    }

    /// A task for a thread that is none of a list.
    fn found(&mut self, thread: Thread<'_>) -> Option<usize> {
        if self.tasks.len() >= FOUND_MAX {
            return None;
        }
        self.tasks.push(TaskInfo {
            name: thread.name.to_owned(),
            criticality: Level::LOWEST,
            period: Duration::ZERO,
            deadline: Duration::ZERO,
        });
        self.jobs.push(0);
        self.owners.push(None);
        Some(self.tasks.len().saturating_sub(1))
    }

    /// The thread is this task from now on; only one thread at a time can be.
    fn own(
        &mut self,
        task: Option<usize>,
        thread: Thread<'_>,
        line: u64,
    ) -> Result<(), TraceError> {
        let Some(owner) = task.and_then(|task| self.owners.get_mut(task)) else {
            return Ok(());
        };
        if let Some(other) = owner.replace(thread.id) {
            let name = thread.name.escape_debug();
            let found = format!("two threads called `{name}`, {other} and {}", thread.id);
            let expected = "one thread for each task, under a name of its own";
            return Err(event_error(line, found, expected));
        }
        Ok(())
    }

    fn disown(&mut self, thread: u32) {
        for owner in self
            .owners
            .iter_mut()
            .filter(|owner| **owner == Some(thread))
        {
            *owner = None;
        }
    }

    fn put(&mut self, what: What) {
        let since = self.last.saturating_sub(self.epoch.unwrap_or(0));
        let at = Instant::from_nanos(since);
        self.records.push(Record { at, what });
    }

    fn observe(&mut self, fact: Fact) {
        self.put(What::Observed(fact));
    }

    /// The job of a thread that is a task; a new one if it has none.
    fn begin(&mut self, thread: u32) -> Option<JobId> {
        let state = self.threads.get_mut(&thread)?;
        if let Some(pending) = state.job {
            return Some(pending.job);
        }
        let task = state.task?;
        let count = self.jobs.get_mut(task)?;
        let job = JobId {
            task: TaskId(u16::try_from(task).ok()?),
            sequence: *count,
        };
        *count = count.saturating_add(1);
        let (on, blocked) = (None, false);
        state.job = Some(Pending { job, on, blocked });
        Some(job)
    }

    fn wake(&mut self, thread: u32, stage: Stage) {
        let Some(state) = self.threads.get_mut(&thread) else {
            return;
        };
        match stage {
            Stage::Created => state.starts_up = true,
            Stage::Waking => state.waking = true,
            // The first of the two is the wake-up.
            Stage::Awake if std::mem::take(&mut state.waking) => return,
            Stage::Awake => {}
        }
        if let Some(pending) = state.job.as_mut() {
            let task = pending.job.task;
            let blocked = std::mem::take(&mut pending.blocked);
            self.wakeups_inside = self.wakeups_inside.saturating_add(1);
            if blocked {
                let on_behalf_of = None;
                self.observe(Fact::Woken { task, on_behalf_of });
            }
            return;
        }
        if !state.starts_up
            && let Some(job) = self.begin(thread)
        {
            self.observe(Fact::Released { job });
        }
    }

    fn enter(&mut self, cpu: CpuId, thread: u32) {
        let Some(job) = self.begin(thread) else {
            return;
        };
        if let Some(pending) = self.pending(thread) {
            pending.on = Some(cpu);
            pending.blocked = false;
        }
        self.observe(Fact::Started { cpu, job });
    }

    fn leave(&mut self, cpu: CpuId, thread: u32, left: Left) {
        if left == Left::Ended {
            self.disown(thread);
        }
        let Some(state) = self.threads.get_mut(&thread) else {
            return;
        };
        let sleeps = match left {
            Left::Sleeps | Left::Ended => true,
            Left::Runnable | Left::Waits => false,
        };
        if sleeps {
            state.starts_up = false;
            // Who began to wake it before it slept wakes it for its next job.
            state.waking = false;
        }
        // A thread that ran from before the recording has no job in it.
        let Some(pending) = state.job.as_mut() else {
            return;
        };
        let job = pending.job;
        pending.on = None;
        let blocks = |name: &String| *name == state.name;
        let why = match left {
            Left::Runnable => StopReason::Preempted,
            Left::Waits => StopReason::Blocked,
            Left::Sleeps if self.options.blocking.iter().any(blocks) => StopReason::Blocked,
            Left::Sleeps | Left::Ended => {
                state.job = None;
                self.observe(Fact::Completed { cpu, job });
                return;
            }
        };
        pending.blocked = why == StopReason::Blocked;
        self.observe(Fact::Stopped { cpu, job, why });
    }

    fn pending(&mut self, thread: u32) -> Option<&mut Pending> {
        self.threads.get_mut(&thread)?.job.as_mut()
    }

    /// What a thread did so far is no job that can be followed to its end.
    fn give_up(&mut self, thread: u32) {
        let state = self.threads.get_mut(&thread);
        if let Some(Pending { job, on, .. }) = state.and_then(|state| state.job.take())
            && let Some(cpu) = on
        {
            let why = StopReason::Cancelled;
            self.observe(Fact::Stopped { cpu, job, why });
        }
    }

    /// Events are missing: what became of any job is not known.
    fn lose(&mut self, count: u64) {
        // What is missing before the first event is before the recording.
        if self.epoch.is_none() {
            return;
        }
        let threads: Vec<u32> = self.threads.keys().copied().collect();
        for thread in threads {
            self.give_up(thread);
            if let Some(state) = self.threads.get_mut(&thread) {
                // A thread that is awake by now may be so from a wake-up that is missing.
                state.waking = false;
            }
        }
        self.current.clear();
        self.put(What::Lost { count });
    }

    fn finish(mut self) -> Result<Recording, TraceError> {
        if self.epoch.is_none() {
            let expected = "lines of sched_switch and sched_wakeup events";
            return Err(TraceError::at_line(1, 0, Problem::Foreign { expected }));
        }
        self.put(What::End { facts: 0 });
        if self.options.tasks.is_empty() {
            self.name_found();
        }
        let mut threads: Vec<String> = self.threads.into_values().map(|state| state.name).collect();
        threads.sort();
        threads.dedup();
        let header = Header {
            world: World::Foreign,
            dispatch: Dispatch::Native,
            cpus: self.cpus,
            levels: self.options.levels.clone(),
            tasks: self.tasks,
            ..Header::new("ftrace")
        };
        Ok(Recording {
            header,
            records: self.records,
            threads,
            other_lines: self.other_lines,
            wakeups: self.wakeups,
            wakeups_inside: self.wakeups_inside,
        })
    }

    /// Tasks that were found are called as their threads were last, with the thread's number where
    /// several are called so.
    fn name_found(&mut self) {
        let mut count: BTreeMap<&str, u32> = BTreeMap::new();
        for state in self.threads.values() {
            let count = count.entry(&state.name).or_default();
            *count = count.saturating_add(1);
        }
        for (id, state) in &self.threads {
            let task = state.task.and_then(|task| self.tasks.get_mut(task));
            if let Some(task) = task {
                task.name = match count.get(state.name.as_str()) {
                    Some(0 | 1) | None => state.name.clone(),
                    Some(_) => format!("{}-{id}", state.name),
                };
            }
        }
    }
}
