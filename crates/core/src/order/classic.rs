//! The classic fixed orders of tasks.

use crate::ids::TaskId;
use crate::model::Task;
use core::cmp::Reverse;

/// The classic fixed orders of tasks; ties go to the task that stands first in the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClassicOrder {
    /// Rate-monotonic: the shorter period first (Liu and Layland 1973).
    RateMonotonic,
    /// Deadline-monotonic: the shorter relative deadline first (Leung and Whitehead 1982).
    DeadlineMonotonic,
    /// Criticality-monotonic: the more critical first, rate-monotonic inside a level.
    CriticalityMonotonic,
}

impl ClassicOrder {
    fn goes_before(self, a: (usize, &Task), b: (usize, &Task)) -> bool {
        let key = |(index, task): (usize, &Task)| match self {
            Self::RateMonotonic => (Reverse(0), task.period, index),
            Self::DeadlineMonotonic => (Reverse(0), task.deadline, index),
            Self::CriticalityMonotonic => (Reverse(task.criticality.0), task.period, index),
        };
        key(a) < key(b)
    }

    /// The priority of `task`: 1 for the least urgent of `tasks`, `tasks.len()` for the most urgent.
    ///
    /// O(n), so O(n^2) for a whole set: done once per configuration, and without a buffer.
    #[must_use]
    pub fn priority_of(self, task: TaskId, tasks: &[Task]) -> Option<u32> {
        let own = (task.index(), tasks.get(task.index())?);
        (0..tasks.len())
            .zip(tasks)
            .filter(|&other| self.goes_before(own, other))
            .try_fold(1_u32, |priority, _| priority.checked_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Level, Wcet};
    use crate::time::{Duration, Service};
    use std::vec::Vec;

    fn task(criticality: u8, period: u64, deadline: u64) -> Task {
        let wcet = Wcet::constant(Service::from_nanos(1));
        Task::new(
            Level(criticality),
            Duration::from_nanos(period),
            Duration::from_nanos(deadline),
            wcet,
        )
        .unwrap()
    }

    fn priorities(order: ClassicOrder, tasks: &[Task]) -> Vec<u32> {
        (0..tasks.len())
            .map(|index| order.priority_of(TaskId(index as u16), tasks).unwrap())
            .collect()
    }

    #[test]
    fn each_order_sorts_by_its_own_key_and_ties_go_to_the_first() {
        let tasks = [
            task(0, 10, 9),
            task(1, 20, 4),
            task(0, 10, 10),
            task(1, 5, 5),
        ];
        assert_eq!(
            priorities(ClassicOrder::RateMonotonic, &tasks),
            [3, 1, 2, 4]
        );
        assert_eq!(
            priorities(ClassicOrder::DeadlineMonotonic, &tasks),
            [2, 4, 1, 3]
        );
        assert_eq!(
            priorities(ClassicOrder::CriticalityMonotonic, &tasks),
            [2, 3, 1, 4]
        );
    }
}
