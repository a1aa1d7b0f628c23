//! Did the operating system keep the order? (C8, native runs)
//!
//! A native world enacts permits and leaves the order to fixed priorities. An *inversion* is a stretch of
//! time in which a job runs on a CPU although a more urgent, permitted job of that CPU is ready. A job in
//! the background is less urgent than every permitted one. Threads take time to wake, so what is
//! shorter than a tolerance does not count.
//!
//! Complexity: O(tasks) for each instant; the memory grows with the tasks and their waiting jobs.

use crate::header::Header;
use crate::record::{Record, What};
use crate::timeline::{Ending, Item, Timeline};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::fmt;
use vestal_core::{CpuId, Duration, Instant, JobId, Permit, StopReason, TaskId};

/// The order that should have been kept.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The priority of each task; larger is more urgent.
    pub priorities: &'a [u32],
    /// The CPU of each task; a task beyond the list is on CPU 0.
    pub placement: &'a [CpuId],
    /// What is at most so long does not count.
    pub tolerance: Duration,
}

/// A less urgent job ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inversion {
    /// Where.
    pub cpu: CpuId,
    /// From when.
    pub from: Instant,
    /// Until when at least.
    pub to: Instant,
    /// Who ran.
    pub running: JobId,
    /// Who was more urgent and ready.
    pub waiting: JobId,
}

impl fmt::Display for Inversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "on CPU {} {} ran from {:?} to {:?} although {} was ready",
            self.cpu.0, self.running, self.from, self.to, self.waiting
        )
    }
}

/// Finds the first inversion of a recording whose permits are recorded.
///
/// # Errors
/// What `records` gives.
pub fn first_inversion<E>(
    header: &Header,
    records: impl IntoIterator<Item = Result<Record, E>>,
    order: Order<'_>,
) -> Result<Option<Inversion>, E> {
    let mut timeline = Timeline::new(header);
    let mut state = State::new(order);
    let mut items = Vec::new();
    for record in records {
        let record = record?;
        timeline.feed(&record, &mut |at, item| items.push((at, item)));
        for (at, item) in items.drain(..) {
            if let Some(inversion) = state.pass(at) {
                return Ok(Some(inversion));
            }
            state.take(item);
        }
        if let Some(inversion) = state.pass(timeline.clock()) {
            return Ok(Some(inversion));
        }
        if let What::Permit { task, permit } = record.what {
            state.permits.insert(task, permit);
        }
    }
    Ok(None)
}

struct State<'a> {
    order: Order<'a>,
    clock: Instant,
    /// Jobs that arrived and are not over, oldest first.
    pending: BTreeMap<TaskId, VecDeque<JobId>>,
    running: BTreeMap<CpuId, JobId>,
    permits: BTreeMap<TaskId, Permit>,
    /// For each CPU an inversion that may still be short enough.
    suspects: BTreeMap<CpuId, Inversion>,
}

impl<'a> State<'a> {
    const fn new(order: Order<'a>) -> Self {
        Self {
            order,
            clock: Instant::EPOCH,
            pending: BTreeMap::new(),
            running: BTreeMap::new(),
            permits: BTreeMap::new(),
            suspects: BTreeMap::new(),
        }
    }

    /// Whether a task is in the foreground, and its priority: the larger pair goes first.
    fn rank(&self, task: TaskId) -> (bool, u32) {
        let priority = self.order.priorities.get(task.index()).copied();
        (self.is_permitted(task), priority.unwrap_or(0))
    }

    fn is_permitted(&self, task: TaskId) -> bool {
        match self.permits.get(&task) {
            Some(Permit::Run { .. }) | None => true,
            Some(
                Permit::Background | Permit::Dropped | Permit::Suspended | Permit::NotAdmitted,
            ) => false,
        }
    }

    fn cpu_of(&self, task: TaskId) -> CpuId {
        let cpu = self.order.placement.get(task.index()).copied();
        cpu.unwrap_or(CpuId(0))
    }

    /// The most urgent permitted job of `cpu` that is ready and runs nowhere.
    fn waiting(&self, cpu: CpuId) -> Option<JobId> {
        self.pending
            .iter()
            .filter(|(task, _)| self.cpu_of(**task) == cpu && self.is_permitted(**task))
            .filter_map(|(_, jobs)| jobs.front().copied())
            .filter(|job| {
                // Jobs of one task run one after the other: its thread is there only once.
                let same = |other: &JobId| other.task == job.task;
                !self.running.values().any(same)
            })
            .max_by_key(|job| self.rank(job.task))
    }

    /// Time moves on to `to`: what held until now lasted so long.
    fn pass(&mut self, to: Instant) -> Option<Inversion> {
        if to <= self.clock {
            return None;
        }
        let since = core::mem::replace(&mut self.clock, to);
        let cpus: Vec<(CpuId, JobId)> =
            self.running.iter().map(|(cpu, job)| (*cpu, *job)).collect();
        self.suspects
            .retain(|cpu, _| self.running.contains_key(cpu));
        for (cpu, running) in cpus {
            let waiting = self
                .waiting(cpu)
                .filter(|job| self.rank(job.task) > self.rank(running.task));
            let Some(waiting) = waiting else {
                self.suspects.remove(&cpu);
                continue;
            };
            let earlier = self.suspects.get(&cpu).copied();
            let from = earlier
                .filter(|earlier| earlier.running == running && earlier.waiting == waiting)
                .map_or(since, |earlier| earlier.from);
            let inversion = Inversion {
                cpu,
                from,
                to,
                running,
                waiting,
            };
            if to.saturating_since(from) > self.order.tolerance {
                return Some(inversion);
            }
            self.suspects.insert(cpu, inversion);
        }
        None
    }

    fn take(&mut self, item: Item) {
        match item {
            Item::Release { job, .. } => {
                self.pending.entry(job.task).or_default().push_back(job);
            }
            Item::Begin { cpu, job, .. } => {
                self.running.insert(cpu, job);
            }
            Item::Finish { cpu, job, why } => {
                self.running.remove(&cpu);
                match why {
                    Ending::Completed
                    | Ending::Stopped(StopReason::Cancelled | StopReason::Blocked) => {
                        self.over(job);
                    }
                    Ending::Stopped(StopReason::Preempted) | Ending::Recording => {}
                }
            }
            Item::Drop { job, .. } => self.over(job),
            Item::Deadline { .. }
            | Item::Overrun { .. }
            | Item::Miss { .. }
            | Item::Mode { .. }
            | Item::Budget { .. }
            | Item::Overhead { .. }
            | Item::Gap { .. }
            | Item::Lost { .. }
            | Item::End => {}
        }
    }

    /// The job is not ready any more: complete, dropped, or blocked until it says otherwise.
    fn over(&mut self, job: JobId) {
        if let Some(jobs) = self.pending.get_mut(&job.task) {
            jobs.retain(|other| *other != job);
        }
    }
}
