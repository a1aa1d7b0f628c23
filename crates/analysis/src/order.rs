//! Priority orders that follow from the tasks' parameters alone.

use crate::problem::{Problem, Row, task_id};
use core::cmp::Reverse;
use vestal_core::{Task, TaskId};

/// A rule that orders tasks by urgency. Ties go to the task that comes first in the set, so that
/// every rule gives one definite order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PriorityOrder {
    /// Shorter period first (Liu and Layland 1973).
    RateMonotonic,
    /// Shorter relative deadline first (Leung and Whitehead 1982).
    DeadlineMonotonic,
    /// Higher criticality first, rate-monotonic inside a level (Huang, Gill and Lu 2014, section
    /// 2.3).
    CriticalityMonotonic,
}

impl PriorityOrder {
    /// The tasks, most urgent first. O(n log n).
    #[must_use]
    pub fn sort(self, tasks: &[Task]) -> Vec<TaskId> {
        let mut order: Vec<TaskId> = (0..tasks.len()).map(task_id).collect();
        order.sort_by_key(|id| {
            let task = &tasks[id.index()];
            let criticality = usize::from(task.criticality.0);
            self.key(
                criticality,
                task.period.as_nanos(),
                task.deadline.as_nanos(),
            )
        });
        order
    }

    /// What the rule compares; the smaller key is the more urgent.
    fn key(self, criticality: usize, period: u64, deadline: u64) -> (Reverse<usize>, u64) {
        match self {
            Self::RateMonotonic => (Reverse(0), period),
            Self::DeadlineMonotonic => (Reverse(0), deadline),
            Self::CriticalityMonotonic => (Reverse(criticality), period),
        }
    }
}

/// Priorities n, n-1, ..., 1 for an order of n tasks, most urgent first; the result is in task
/// order. Tasks that the order does not contain have priority 0.
#[must_use]
pub fn priorities_of(order: &[TaskId], tasks: usize) -> Vec<u32> {
    let mut priorities = vec![0; tasks];
    for (priority, id) in (1..).zip(order.iter().rev()) {
        if let Some(slot) = priorities.get_mut(id.index()) {
            *slot = priority;
        }
    }
    priorities
}

/// Fills `into` with the problem's rows, most urgent first: by the given priorities if there are
/// any, else by `rule`.
pub(crate) fn rows_by_urgency(problem: &Problem, rule: PriorityOrder, into: &mut Vec<Row>) {
    into.clear();
    into.extend_from_slice(problem.rows());
    match problem.priorities() {
        Some(given) => into.sort_unstable_by_key(|row| (Reverse(given[row.task]), row.task)),
        None => into.sort_unstable_by_key(|row| {
            (
                rule.key(row.criticality, row.period, row.deadline),
                row.task,
            )
        }),
    }
}
