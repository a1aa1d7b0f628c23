//! Does a recording that others made agree with a task set?
//!
//! There is no scheduler to ask again: who recorded with perf or ftrace saw threads, not decisions. What
//! can be compared is what jobs did: how much each executed, when it was done after its arrival, how close
//! arrivals came. Whether the order of priorities was kept says [`super::inversion`].
//!
//! - A job is judged if its release is in the recording, and only up to the first [`What::Lost`].
//! - Execution is the time a job had the CPU, interrupts included. It exceeds C(l) if it is longer than
//!   that by more than a tolerance.
//! - The *level* that jobs ask for begins at 0 and rises to l + 1 when one of them exceeds C(l); when none
//!   is incomplete it is 0 again. A job beyond its own level's value breaks the assumption of every level,
//!   and so may one whose beginning was not seen: until none is incomplete there is no level.
//! - A missed deadline was *guaranteed* if the level at that deadline was at most the task's own: the
//!   condition of Vestal's model, whoever scheduled.
//!
//! Complexity: O(log n) for each record, with n jobs at a time that are incomplete.

use crate::header::Header;
use crate::record::{Record, What};
use crate::timeline::{Ending, Item, Timeline};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use vestal_core::{CpuId, Duration, Fact, Instant, JobId, Level, Service, StopReason, Task};

/// What a recording shows of a task set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conformance {
    /// Task by task.
    pub tasks: Vec<Observed>,
    /// Where jobs of the tasks ran.
    pub cpus: BTreeSet<CpuId>,
    /// The first job that executed more than its own level's value.
    pub beyond: Option<Beyond>,
    /// The first missed deadline that was guaranteed.
    pub missed: Option<Missed>,
    /// For how long a job was ready and none ran: the CPU was another thread's, or an interrupt's.
    pub withheld: Duration,
    /// The longest such interval.
    pub longest_withheld: Duration,
    /// Where events are missing: nothing behind it was judged.
    pub lost_at: Option<Instant>,
}

/// What a recording shows of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// How many of its jobs arrived.
    pub released: u64,
    /// How many of these completed.
    pub completed: u64,
    /// How many ran whose arrival was not seen.
    pub unseen: u64,
    /// The longest execution of a job that was judged.
    pub execution_max: Option<Service>,
    /// For each level up to the task's own how many jobs executed more than its value.
    pub exceeded: Vec<u64>,
    /// The longest time from an arrival to its completion.
    pub response_max: Option<Duration>,
    /// How many jobs were late, or not complete at the end although they were due.
    pub missed: u64,
    /// How many of these deadlines were guaranteed.
    pub missed_guaranteed: u64,
    /// The shortest time between two arrivals.
    pub distance_min: Option<Duration>,
}

/// A job that executed more than any level allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// The job.
    pub job: JobId,
    /// What it executed.
    pub executed: Service,
    /// The value of its own level.
    pub limit: Service,
}

/// A job that was late although no assumption of its level was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed {
    /// The job.
    pub job: JobId,
    /// Its deadline.
    pub deadline: Instant,
}

impl Conformance {
    /// Compares a recording with the tasks of `header`, whose models are `tasks`, in the same order.
    #[must_use]
    pub fn of(header: &Header, records: &[Record], tasks: &[Task], tolerance: Duration) -> Self {
        let mut timeline = Timeline::new(header);
        let mut state = State::new(tasks, tolerance);
        for record in records {
            if let What::Lost { .. } = record.what {
                state.found.lost_at = Some(record.at);
                break;
            }
            for (at, item) in timeline.feed(record) {
                state.pass(at);
                state.take(item);
            }
            state.pass(timeline.clock());
            if let What::Observed(Fact::Woken { task, .. }) = record.what {
                let live = state.live.iter_mut().filter(|(job, _)| job.task == task);
                live.for_each(|(_, live)| live.blocked = false);
            }
        }
        state.finish()
    }
}

/// A job that is not over.
#[derive(Clone, Copy, Debug, Default)]
struct Live {
    released: Option<Instant>,
    executed: u64,
    blocked: bool,
    /// What the level was at its deadline, once that is over.
    due: Option<(Instant, Asked)>,
}

/// Up to which level the values of the model hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    /// Jobs keep to this level's values.
    Level(Level),
    /// They keep to none, or it is not known.
    None,
}

struct State<'a> {
    tasks: &'a [Task],
    tolerance: u64,
    clock: Instant,
    live: BTreeMap<JobId, Live>,
    running: BTreeMap<CpuId, JobId>,
    asked: Asked,
    /// The latest arrival of each task.
    last: Vec<Option<(u64, Instant)>>,
    withheld: Duration,
    found: Conformance,
}

impl<'a> State<'a> {
    fn new(tasks: &'a [Task], tolerance: Duration) -> Self {
        let observed = tasks.iter().map(|task| Observed {
            exceeded: vec![0; task.criticality.index().saturating_add(1)],
            ..Observed::default()
        });
        Self {
            tasks,
            tolerance: tolerance.as_nanos(),
            clock: Instant::EPOCH,
            live: BTreeMap::new(),
            running: BTreeMap::new(),
            asked: Asked::Level(Level::LOWEST),
            last: vec![None; tasks.len()],
            withheld: Duration::ZERO,
            found: Conformance {
                tasks: observed.collect(),
                ..Conformance::default()
            },
        }
    }

    /// Whether an execution is more than the value of `level`, which is the task's own or a lower one.
    fn exceeds(&self, task: &Task, executed: u64, level: Level) -> bool {
        executed
            > task
                .wcet
                .at(level)
                .as_nanos()
                .saturating_add(self.tolerance)
    }

    /// Time moves on to `to`: who ran executed so long, and who was ready waited.
    fn pass(&mut self, to: Instant) {
        let length = to.saturating_since(self.clock);
        self.clock = self.clock.max(to);
        let ready = |live: &Live| live.released.is_some() && !live.blocked;
        if self.running.is_empty() && self.live.values().any(ready) {
            self.withheld = self.withheld.saturating_add(length);
            self.found.withheld = self.found.withheld.saturating_add(length);
            let longest = &mut self.found.longest_withheld;
            *longest = (*longest).max(self.withheld);
        } else if !length.is_zero() {
            self.withheld = Duration::ZERO;
        }
        let running: Vec<JobId> = self.running.values().copied().collect();
        for job in running {
            let Some(live) = self.live.get_mut(&job) else {
                continue;
            };
            live.executed = live.executed.saturating_add(length.as_nanos());
            let (executed, seen) = (live.executed, live.released.is_some());
            if let Some(task) = self.tasks.get(job.task.index())
                && seen
            {
                let asked = self.asks(task, executed);
                self.asked = self.asked.max(asked);
            }
        }
    }

    /// The lowest level whose value allows an execution.
    fn asks(&self, task: &Task, executed: u64) -> Asked {
        let mut levels = task.criticality.up_to_self();
        let enough = levels.find(|level| !self.exceeds(task, executed, *level));
        enough.map_or(Asked::None, Asked::Level)
    }

    fn take(&mut self, item: Item) {
        match item {
            Item::Release { job, .. } => self.release(job),
            Item::Begin { cpu, job, .. } => self.begin(cpu, job),
            Item::Finish { cpu, job, why } => {
                self.running.remove(&cpu);
                match why {
                    Ending::Completed => self.complete(job),
                    Ending::Stopped(StopReason::Cancelled) => self.over(job),
                    Ending::Stopped(StopReason::Blocked) => {
                        if let Some(live) = self.live.get_mut(&job) {
                            live.blocked = true;
                        }
                    }
                    Ending::Stopped(StopReason::Preempted) | Ending::Recording => {}
                }
            }
            Item::Deadline { job } => {
                let due = (self.clock, self.asked);
                if let Some(live) = self.live.get_mut(&job) {
                    live.due = Some(due);
                }
            }
            Item::Drop { job, .. } => self.over(job),
            Item::Overrun { .. }
            | Item::Miss { .. }
            | Item::Mode { .. }
            | Item::Budget { .. }
            | Item::Overhead { .. }
            | Item::Gap { .. }
            | Item::Ghost { .. }
            | Item::Lost { .. }
            | Item::End => {}
        }
    }

    fn release(&mut self, job: JobId) {
        let at = self.clock;
        let released = Some(at);
        let live = Live {
            released,
            ..Live::default()
        };
        self.live.insert(job, live);
        let (Some(observed), Some(last)) = (
            self.found.tasks.get_mut(job.task.index()),
            self.last.get_mut(job.task.index()),
        ) else {
            return;
        };
        observed.released = observed.released.saturating_add(1);
        // Between two jobs that do not follow each other there was one that was not seen to arrive.
        if let Some((sequence, before)) = last.replace((job.sequence, at))
            && sequence.checked_add(1) == Some(job.sequence)
        {
            let distance = at.saturating_since(before);
            let least = observed
                .distance_min
                .map_or(distance, |least| least.min(distance));
            observed.distance_min = Some(least);
        }
    }

    fn begin(&mut self, cpu: CpuId, job: JobId) {
        self.running.insert(cpu, job);
        self.found.cpus.insert(cpu);
        if let Some(live) = self.live.get_mut(&job) {
            live.blocked = false;
            return;
        }
        // What it executed before the recording is not known.
        self.live.insert(job, Live::default());
        self.asked = Asked::None;
        if let Some(observed) = self.found.tasks.get_mut(job.task.index()) {
            observed.unseen = observed.unseen.saturating_add(1);
        }
    }

    fn complete(&mut self, job: JobId) {
        if let (Some(live), Some(task)) = (
            self.live.get(&job).copied(),
            self.tasks.get(job.task.index()),
        ) && let Some(released) = live.released
        {
            self.judge_execution(job, task, live.executed);
            let response = self.clock.saturating_since(released);
            if response > task.deadline {
                self.miss(job, task, live.due);
            }
            if let Some(observed) = self.found.tasks.get_mut(job.task.index()) {
                observed.completed = observed.completed.saturating_add(1);
                observed.response_max = observed.response_max.max(Some(response));
            }
        }
        self.over(job);
    }

    fn judge_execution(&mut self, job: JobId, task: &Task, executed: u64) {
        let beyond = self.exceeds(task, executed, task.criticality);
        let levels = task.criticality.up_to_self();
        let exceeded: Vec<bool> = levels
            .map(|level| self.exceeds(task, executed, level))
            .collect();
        let executed = Service::from_nanos(executed);
        if let Some(observed) = self.found.tasks.get_mut(job.task.index()) {
            observed.execution_max = observed.execution_max.max(Some(executed));
            for (count, exceeded) in observed.exceeded.iter_mut().zip(exceeded) {
                *count = count.saturating_add(u64::from(exceeded));
            }
        }
        if beyond && self.found.beyond.is_none() {
            let limit = task.own_wcet();
            self.found.beyond = Some(Beyond {
                job,
                executed,
                limit,
            });
        }
    }

    fn miss(&mut self, job: JobId, task: &Task, due: Option<(Instant, Asked)>) {
        let Some(observed) = self.found.tasks.get_mut(job.task.index()) else {
            return;
        };
        observed.missed = observed.missed.saturating_add(1);
        if let Some((deadline, asked)) = due
            && asked <= Asked::Level(task.criticality)
        {
            observed.missed_guaranteed = observed.missed_guaranteed.saturating_add(1);
            let missed = Missed { job, deadline };
            self.found.missed = self.found.missed.or(Some(missed));
        }
    }

    fn over(&mut self, job: JobId) {
        self.live.remove(&job);
        if self.live.is_empty() {
            self.asked = Asked::Level(Level::LOWEST);
        }
    }

    /// Jobs that are not over at the end: what they did so far counts where it is too much already.
    fn finish(mut self) -> Conformance {
        for (job, live) in core::mem::take(&mut self.live) {
            let Some(task) = self.tasks.get(job.task.index()) else {
                continue;
            };
            if live.released.is_none() {
                continue;
            }
            self.judge_execution(job, task, live.executed);
            // One that is due at the very end may just be complete.
            if live.due.is_some_and(|(due, _)| due < self.clock) {
                self.miss(job, task, live.due);
            }
        }
        self.found
    }
}
