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

/// How far a visit of a [`TaskBits`] has come.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    place: usize,
    /// The bits of that word which were not visited yet.
    ahead: u64,
}

impl Default for Cursor {
    fn default() -> Self {
        Self {
            place: 0,
            ahead: u64::MAX,
        }
    }
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
    #[inline]
    pub fn insert(&mut self, task: TaskId) {
        if let Some(word) = self.words.get_mut(task.index() / WORD_BITS) {
            *word |= 1 << (task.index() % WORD_BITS);
        }
    }

    /// The smallest task number in the set that is at least `from`.
    #[inline]
    #[must_use]
    pub fn first_from(&self, from: usize) -> Option<TaskId> {
        let mut place = from / WORD_BITS;
        let mut word = *self.words.get(place)? & (u64::MAX << (from % WORD_BITS));
        while word == 0 {
            place = place.saturating_add(1);
            word = *self.words.get(place)?;
        }
        task_of(place, word)
    }

    /// The next task of a visit in ascending order. One that is added meanwhile is visited too if it
    /// is still ahead.
    ///
    /// The common set is empty but for one or two tasks of one word: a step costs a load, and
    /// nothing is divided.
    #[inline]
    pub fn next(&self, cursor: &mut Cursor) -> Option<TaskId> {
        let mut word = *self.words.get(cursor.place)? & cursor.ahead;
        while word == 0 {
            cursor.place = cursor.place.saturating_add(1);
            cursor.ahead = u64::MAX;
            word = *self.words.get(cursor.place)?;
        }
        // All bits above the lowest one that is set.
        cursor.ahead = !(word ^ word.wrapping_sub(1));
        task_of(cursor.place, word)
    }

    /// Takes the smallest task number out of the set.
    #[inline]
    pub fn take_first(&mut self) -> Option<TaskId> {
        let words = (0..self.words.len()).zip(self.words.iter_mut());
        for (place, word) in words {
            if *word != 0 {
                let task = task_of(place, *word);
                // The lowest bit that is set.
                *word &= word.wrapping_sub(1);
                return task;
            }
        }
        None
    }

    /// Empties the set.
    #[inline]
    pub fn clear(&mut self) {
        // Few words, most of them empty: looking is cheaper than a call of memset.
        for word in self.words.iter_mut() {
            if *word != 0 {
                *word = 0;
            }
        }
    }

    /// Whether no task is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }
}

/// The task of the lowest bit of a word that has one.
#[inline]
fn task_of(place: usize, word: u64) -> Option<TaskId> {
    let bit = word.trailing_zeros() as usize;
    let index = place.saturating_mul(WORD_BITS).saturating_add(bit);
    u16::try_from(index).ok().map(TaskId)
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
        let mut cursor = Cursor::default();
        let visit = core::iter::from_fn(|| set.next(&mut cursor));
        assert!(visit.map(|task| task.0).eq([3, 63, 64, 130, 199]));
        let mut taken = set.clone();
        let drained = core::iter::from_fn(|| taken.take_first());
        assert!(drained.map(|task| task.0).eq([3, 63, 64, 130, 199]));
        assert!(taken.is_empty());
        set.clear();
        assert!(set.is_empty());
    }
}
