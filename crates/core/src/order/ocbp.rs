//! Fixed job priorities that are computed anew: Li and Baruah (RTSS 2010).
//!
//! As [`super::ReusedLists`], except for the second rule: when jobs arrive and the most urgent pending job
//! has priority p, the priorities of the entries of A_j above p are computed anew, as if all tasks
//! released jobs from now on. With r_j entries of task j, from the lowest of them up: the last one left
//! of task i may have the priority if all that are left fit,
//!
//! sum over j of r_j C_j(min(z_i, z_j)) <= (r_i - 1) T_i + D_i,
//!
//! and the first task that passes is taken. Entries at or below p keep their numbers; the new ones get
//! the numbers from p + 1 on. Where no task passes, which cannot be if the lists were proved, the task
//! whose last job is due last is taken, and the arrival is counted.
//!
//! Complexity: O(N n) for an instant with arrivals, with N entries above p and n tasks. It is the more
//! expensive of the two policies, and the one that list reuse is checked against.

use super::lists::{JobPriority, offline};
use crate::ids::TaskId;
use crate::model::{LEVELS_MAX, Level, Task};
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;
use alloc::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Span {
    /// Where the task's list starts in the tables.
    first: usize,
    /// How long it is.
    len: usize,
    /// How many entries at its front have been taken.
    taken: usize,
    /// How many of the entries above p have no new priority yet; 0 between two arrivals.
    left: u32,
}

/// The lists of all tasks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecomputedLists<S: Store> {
    offline: S::Table<u32>,
    /// A_i stands in its task's span from `taken` on.
    remaining: S::Table<u32>,
    spans: S::Table<Span>,
    exceeded: u64,
    stuck: u64,
}

/// All levels; a range over them would have a way to overflow.
const LEVELS: [Level; LEVELS_MAX] = [
    Level(0),
    Level(1),
    Level(2),
    Level(3),
    Level(4),
    Level(5),
    Level(6),
    Level(7),
];

/// What the jobs left need, for whom of each level.
type Needed = [u128; LEVELS_MAX];

impl<S: Store> RecomputedLists<S> {
    /// As [`super::ReusedLists::new`]. Each list should be as long as the pattern that was proved, and no
    /// longer: an entry that no job ever takes counts as a job to come all the same.
    #[must_use]
    pub fn new(lists: &[Cow<'_, [u32]>]) -> Option<Self> {
        let offline = offline::<S>(lists)?;
        let none = Span {
            first: 0,
            len: 0,
            taken: 0,
            left: 0,
        };
        let mut spans = S::table(lists.len(), none)?;
        let mut first = 0_usize;
        for (span, list) in spans.iter_mut().zip(lists) {
            *span = Span {
                first,
                len: list.len(),
                ..none
            };
            first = first.checked_add(list.len())?;
        }
        Some(Self {
            remaining: offline.clone(),
            offline,
            spans,
            exceeded: 0,
            stuck: 0,
        })
    }

    /// How many jobs exceeded the pattern.
    #[must_use]
    pub const fn exceeded(&self) -> u64 {
        self.exceeded
    }

    /// At how many instants no job could be the lowest.
    #[must_use]
    pub const fn stuck(&self) -> u64 {
        self.stuck
    }

    /// The recomputation: call it once per instant with admitted arrivals, with the most urgent job
    /// that was pending just before them.
    pub fn begin_arrivals(&mut self, pending: Option<JobPriority>, tasks: &[TaskConfiguration]) {
        let Some(JobPriority(above)) = pending else {
            for span in self.spans.iter_mut() {
                span.taken = 0;
            }
            for (entry, priority) in self.remaining.iter_mut().zip(self.offline.iter()) {
                *entry = *priority;
            }
            return;
        };
        let mut needed = [0; LEVELS_MAX];
        let mut total = 0_u32;
        for (span, entry) in self.spans.iter_mut().zip(tasks) {
            let start = span.first.saturating_add(span.taken);
            let end = span.first.saturating_add(span.len);
            let rest = self.remaining.get(start..end).unwrap_or(&[]);
            // A priority counts from 1, an entry from 0.
            let count = rest.partition_point(|&entry| entry >= above);
            span.left = u32::try_from(count).unwrap_or(u32::MAX);
            total = total.saturating_add(span.left);
            add(&mut needed, &entry.task, span.left);
        }
        let mut is_stuck = false;
        let mut priority = above;
        for _ in 0..total {
            let passing = self.lowest(tasks, |task, left| {
                needed_by(&needed, task) <= due(task, left)
            });
            let lowest = passing.or_else(|| {
                is_stuck = true;
                self.due_last(tasks)
            });
            let Some(index) = lowest else { break };
            let (Some(span), Some(entry)) = (self.spans.get_mut(index), tasks.get(index)) else {
                break;
            };
            span.left = span.left.saturating_sub(1);
            let position = span
                .first
                .saturating_add(span.taken)
                .saturating_add(usize::try_from(span.left).unwrap_or(usize::MAX));
            if let Some(slot) = self.remaining.get_mut(position) {
                *slot = priority;
            }
            priority = priority.saturating_add(1);
            take(&mut needed, &entry.task);
        }
        if is_stuck {
            self.stuck = self.stuck.saturating_add(1);
        }
    }

    /// The first task with entries left for which this holds.
    fn lowest(
        &self,
        tasks: &[TaskConfiguration],
        passes: impl Fn(&Task, u32) -> bool,
    ) -> Option<usize> {
        let mut candidates = self.spans.iter().zip(tasks);
        candidates.position(|(span, entry)| span.left > 0 && passes(&entry.task, span.left))
    }

    /// The task whose last entry left is due last; the first of several.
    fn due_last(&self, tasks: &[TaskConfiguration]) -> Option<usize> {
        let latest = self
            .spans
            .iter()
            .zip(tasks)
            .filter(|(span, _)| span.left > 0)
            .map(|(span, entry)| due(&entry.task, span.left))
            .max()?;
        self.lowest(tasks, |task, left| due(task, left) == latest)
    }

    /// The priority of the job of `task` that arrives now.
    pub fn take(&mut self, task: TaskId) -> JobPriority {
        let entry = self.spans.get_mut(task.index()).and_then(|span| {
            if span.taken >= span.len {
                return None;
            }
            let at = span.first.saturating_add(span.taken);
            span.taken = span.taken.saturating_add(1);
            self.remaining.get(at).copied()
        });
        let Some(entry) = entry else {
            self.exceeded = self.exceeded.saturating_add(1);
            return JobPriority::BEYOND_PATTERN;
        };
        JobPriority::of_entry(entry)
    }
}

/// C(min(level, z)) in ns.
fn cost(task: &Task, level: Level) -> u128 {
    u128::from(task.wcet.at(level.min(task.criticality)).as_nanos())
}

fn add(needed: &mut Needed, task: &Task, jobs: u32) {
    for (level, sum) in LEVELS.into_iter().zip(needed) {
        *sum = sum.saturating_add(cost(task, level).saturating_mul(jobs.into()));
    }
}

fn take(needed: &mut Needed, task: &Task) {
    for (level, sum) in LEVELS.into_iter().zip(needed) {
        *sum = sum.saturating_sub(cost(task, level));
    }
}

fn needed_by(needed: &Needed, task: &Task) -> u128 {
    let sum = needed.get(task.criticality.index());
    sum.copied().unwrap_or(u128::MAX)
}

/// When the last of so many jobs is due, if the first is released now.
fn due(task: &Task, jobs: u32) -> u128 {
    let periods = u128::from(jobs.saturating_sub(1));
    periods
        .saturating_mul(task.period.as_nanos().into())
        .saturating_add(task.deadline.as_nanos().into())
}
