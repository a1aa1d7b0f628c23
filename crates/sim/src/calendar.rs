//! Who releases a job next: a tournament tree over the tasks.
//!
//! Each leaf is a task with its next release, each inner node the earlier of its two children, so
//! that the champion at the root is the next release of all: O(1) to read, O(log n) to replace,
//! nothing moves and nothing is allocated after construction. Ties go to the task that stands first.

use vestal_core::{Instant, TaskId};

/// The next release of each task.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    /// By task: the number of the next release, and when it is.
    next: Vec<(u64, Option<Instant>)>,
    /// Inner nodes and leaves: the task that wins there. Node 1 is the root, node k has the
    /// children 2k and 2k + 1, and the leaf of task i is node `leaves + i`.
    winners: Vec<u16>,
    leaves: usize,
}

impl Calendar {
    /// Task i's first release is `first[i]`. There are at most `u16::MAX` tasks.
    pub(crate) fn new(first: Vec<Option<Instant>>) -> Self {
        let leaves = first.len().next_power_of_two();
        let mut winners: Vec<u16> = vec![u16::MAX; 2 * leaves];
        for (leaf, number) in winners[leaves..].iter_mut().zip(0..=u16::MAX) {
            *leaf = number;
        }
        let mut calendar = Self {
            next: first.into_iter().map(|at| (0, at)).collect(),
            winners,
            leaves,
        };
        for node in (1..leaves).rev() {
            calendar.play(node);
        }
        calendar
    }

    fn instant_of(&self, task: u16) -> Option<Instant> {
        self.next.get(usize::from(task)).and_then(|entry| entry.1)
    }

    fn play(&mut self, node: usize) {
        let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
        let right_wins = match (self.instant_of(left), self.instant_of(right)) {
            (Some(left), Some(right)) => right < left,
            (None, Some(_)) => true,
            (Some(_) | None, None) => false,
        };
        self.winners[node] = if right_wins { right } else { left };
    }

    /// The next release of all: whose, which, when.
    pub(crate) fn first(&self) -> Option<(TaskId, u64, Instant)> {
        let task = *self.winners.get(1)?;
        let (sequence, at) = *self.next.get(usize::from(task))?;
        at.map(|at| (TaskId(task), sequence, at))
    }

    /// The task's next release has taken place; the one after it is at `at`.
    pub(crate) fn replace(&mut self, task: TaskId, at: Option<Instant>) {
        let Some(entry) = self.next.get_mut(task.index()) else {
            return;
        };
        *entry = (entry.0.saturating_add(1), at);
        let mut node = (self.leaves + task.index()) / 2;
        while node >= 1 {
            self.play(node);
            node /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_come_in_the_order_of_time_and_then_of_tasks() {
        for count in 1..=9_u64 {
            let first = (0..count).map(|task| Some(Instant::from_nanos(task % 3)));
            let mut calendar = Calendar::new(first.collect());
            let mut expected: Vec<(u64, u64, u64)> = (0..count)
                .flat_map(|task| (0..5).map(move |k| (task % 3 + k * (task + 1), task, k)))
                .collect();
            expected.sort_unstable();
            for (at, task, sequence) in expected {
                let (found, number, instant) = calendar.first().unwrap();
                assert_eq!(
                    (instant.as_nanos(), u64::from(found.0), number),
                    (at, task, sequence)
                );
                let next = (sequence < 4).then(|| Instant::from_nanos(at + task + 1));
                calendar.replace(found, next);
            }
            assert_eq!(calendar.first(), None);
        }
    }
}
