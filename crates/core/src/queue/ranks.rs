//! Ready tasks under a fixed order: a set of ranks.

use super::{ReadyHeap, TaskBits};
use crate::ids::TaskId;
use crate::store::Store;
use crate::urgency::Urgency;

/// Tasks whose order never changes, each queued at most once.
///
/// Each task gets its rank once, 0 for the most urgent one, and what is queued is a set of ranks: every
/// call is O(1) up to 4096 tasks, and looks at 16 words at most beyond that ([`TaskBits`]).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadyRanks<S: Store> {
    /// The ranks of the queued tasks, instead of task numbers.
    queued: TaskBits<S>,
    /// By task, its rank.
    ranks: S::Table<TaskId>,
    /// By rank, the task.
    tasks: S::Table<TaskId>,
}

impl<S: Store> ReadyRanks<S> {
    /// An empty queue of the tasks with these urgencies, given in the order of their numbers; ties go
    /// to the lower number. `None` if the storage is too small, or for more tasks than a heap takes.
    ///
    /// O(n log n).
    #[must_use]
    pub fn new(urgencies: impl ExactSizeIterator<Item = Urgency>) -> Option<Self> {
        let count = urgencies.len();
        let mut order = ReadyHeap::<S>::new(count)?;
        for (task, urgency) in (0..u16::MAX).map(TaskId).zip(urgencies) {
            order.insert(task, urgency);
        }
        let mut ranks = S::table(count, TaskId(0))?;
        let mut tasks = S::table(count, TaskId(0))?;
        for (rank, entry) in (0..u16::MAX).map(TaskId).zip(tasks.iter_mut()) {
            let (_, task) = order.first()?;
            order.remove(task);
            *entry = task;
            *ranks.get_mut(task.index())? = rank;
        }
        Some(Self {
            queued: TaskBits::new(count)?,
            ranks,
            tasks,
        })
    }

    /// Queues `task`.
    #[inline]
    pub fn insert(&mut self, task: TaskId) {
        if let Some(&rank) = self.ranks.get(task.index()) {
            self.queued.insert(rank);
        }
    }

    /// Removes `task`; says whether it was queued.
    #[inline(always)]
    pub fn remove(&mut self, task: TaskId) -> bool {
        match self.ranks.get(task.index()) {
            Some(&rank) => self.queued.remove(rank),
            None => false,
        }
    }

    /// The most urgent task.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<TaskId> {
        let rank = self.queued.first()?;
        self.tasks.get(rank.index()).copied()
    }

    /// Whether `task` is queued.
    #[inline]
    #[must_use]
    pub fn contains(&self, task: TaskId) -> bool {
        match self.ranks.get(task.index()) {
            Some(&rank) => self.queued.contains(rank),
            None => false,
        }
    }

    /// Whether no task is queued.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.queued.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Boxed;
    use vestal_testkit::Random;

    #[test]
    fn ranks_agree_with_the_heap_over_a_long_random_history() {
        for count in [1, 7, 64, 150] {
            let urgency = |task: u16| Urgency::of_priority(u32::from(task) * 37 % 11);
            let mut ranks = ReadyRanks::<Boxed>::new((0..count).map(urgency)).unwrap();
            let mut heap = ReadyHeap::<Boxed>::new(usize::from(count)).unwrap();
            let mut random = Random::new(3);
            for _ in 0..10_000 {
                let state = random.next();
                let task = TaskId((state >> 33) as u16 % count);
                if state >> 63 == 0 {
                    ranks.insert(task);
                    heap.insert(task, urgency(task.0));
                } else {
                    assert_eq!(ranks.remove(task), heap.remove(task));
                }
                assert_eq!(ranks.first(), heap.first().map(|(_, task)| task));
                assert_eq!(ranks.contains(task), heap.contains(task));
                assert_eq!(ranks.is_empty(), heap.is_empty());
            }
        }
    }
}
