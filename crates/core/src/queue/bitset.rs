//! A set of task numbers, visited in ascending order.

use crate::ids::TaskId;
use crate::store::Store;

/// How many tasks one word covers.
const WORD_BITS: usize = 64;

/// A set of task numbers. Adding is O(1), a visit of all O(n / 64).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskBits<S: Store> {
    words: S::Table<u64>,
}

impl<S: Store> TaskBits<S> {
    /// An empty set for task numbers below `tasks`; `None` if the storage is too small.
    #[must_use]
    pub fn new(tasks: usize) -> Option<Self> {
        Some(Self {
            words: S::table(tasks.div_ceil(WORD_BITS), 0)?,
        })
    }

    /// Adds a task.
    pub fn insert(&mut self, task: TaskId) {
        if let Some(word) = self.words.get_mut(task.index() / WORD_BITS) {
            *word |= 1 << (task.index() % WORD_BITS);
        }
    }

    /// The smallest task number in the set that is at least `from`.
    #[must_use]
    pub fn first_from(&self, from: usize) -> Option<TaskId> {
        let (start, offset) = (from / WORD_BITS, from % WORD_BITS);
        for (place, &word) in (0..self.words.len()).zip(self.words.iter()).skip(start) {
            let word = if place == start {
                word & (u64::MAX << offset)
            } else {
                word
            };
            if word != 0 {
                let bit = word.trailing_zeros() as usize;
                let index = place.saturating_mul(WORD_BITS).saturating_add(bit);
                return u16::try_from(index).ok().map(TaskId);
            }
        }
        None
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Whether no task is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Boxed;

    #[test]
    fn tasks_come_out_in_ascending_order_once_each() {
        let mut set = TaskBits::<Boxed>::new(200).unwrap();
        for index in [130, 3, 64, 3, 63, 199] {
            set.insert(TaskId(index));
        }
        let mut seen = std::vec::Vec::new();
        let mut from = 0;
        while let Some(task) = set.first_from(from) {
            seen.push(task.0);
            from = task.index() + 1;
        }
        assert_eq!(seen, [3, 63, 64, 130, 199]);
        set.clear();
        assert!(set.is_empty());
    }
}
