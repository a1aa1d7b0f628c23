//! A set of task numbers, visited in ascending order.

use crate::ids::TaskId;
use crate::store::Store;

/// How many tasks one word covers.
const WORD_BITS: usize = 64;

/// How many blocks of words the summary of a set distinguishes.
const BLOCKS: usize = WORD_BITS;

/// A set of task numbers.
///
/// Up to 64 tasks it is one word, with a bit for each task. Above, that word is a summary of a table: a
/// bit for each block of words that has a bit set. Up to 4096 tasks a block is one word, and everything
/// but a visit of all is O(1); with 65535 tasks it is 16 words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskBits<S: Store> {
    /// The set itself if there is no table, and otherwise the summary.
    top: u64,
    words: S::Table<u64>,
    /// log2 of the number of words in a block.
    shift: u32,
}

/// How far a visit of a [`TaskBits`] has come.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    position: usize,
    /// The bits of that word which were not visited yet.
    ahead: u64,
}

impl Default for Cursor {
    fn default() -> Self {
        Self {
            position: 0,
            ahead: u64::MAX,
        }
    }
}

impl<S: Store> TaskBits<S> {
    /// An empty set for task numbers below `tasks`; `None` if the storage is too small.
    #[must_use]
    pub fn new(tasks: usize) -> Option<Self> {
        let words = match tasks.div_ceil(WORD_BITS) {
            0 | 1 => 0,
            words => words,
        };
        Some(Self {
            top: 0,
            words: S::table(words, 0)?,
            shift: words.div_ceil(BLOCKS).max(1).next_power_of_two().ilog2(),
        })
    }

    /// Adds a task.
    #[inline]
    pub fn insert(&mut self, task: TaskId) {
        if !self.words.is_empty() {
            self.insert_in_table(task);
        } else if place_of(task) == 0 {
            self.top |= bit(task);
        }
    }

    #[inline(never)]
    fn insert_in_table(&mut self, task: TaskId) {
        if let Some(word) = self.words.get_mut(place_of(task)) {
            *word |= bit(task);
            self.top |= self.block(task);
        }
    }

    /// Takes a task out; says whether it was in the set.
    #[inline(always)]
    pub fn remove(&mut self, task: TaskId) -> bool {
        if !self.words.is_empty() {
            return self.remove_from_table(task);
        }
        let before = self.top;
        if place_of(task) == 0 {
            self.top = before & !bit(task);
        }
        self.top != before
    }

    #[inline(never)]
    fn remove_from_table(&mut self, task: TaskId) -> bool {
        let Some(word) = self.words.get_mut(place_of(task)) else {
            return false;
        };
        let before = *word;
        let rest = before & !bit(task);
        *word = rest;
        if rest == 0 {
            self.word_is_empty(task);
        }
        rest != before
    }

    /// Whether a task is in the set.
    #[inline]
    #[must_use]
    pub fn contains(&self, task: TaskId) -> bool {
        self.word(place_of(task))
            .is_some_and(|word| word & bit(task) != 0)
    }

    /// The smallest task number in the set.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<TaskId> {
        if self.top == 0 {
            None
        } else if self.words.is_empty() {
            Some(task_of(0, self.top))
        } else {
            self.first_in_table()
        }
    }

    #[inline(never)]
    fn first_in_table(&self) -> Option<TaskId> {
        let position = (self.top.trailing_zeros() as usize).wrapping_shl(self.shift);
        match *self.words.get(position)? {
            0 => self.first_behind(position),
            word => Some(task_of(position, word)),
        }
    }

    #[cold]
    fn first_behind(&self, position: usize) -> Option<TaskId> {
        let words = (0..self.words.len()).zip(self.words.iter());
        let (position, word) = words.skip(position).find(|(_, word)| **word != 0)?;
        Some(task_of(position, *word))
    }

    /// Takes the smallest task number out of the set.
    #[inline]
    pub fn take_first(&mut self) -> Option<TaskId> {
        let first = self.first()?;
        if self.words.is_empty() {
            // All but the lowest bit that is set.
            self.top &= self.top.wrapping_sub(1);
        } else {
            self.remove_from_table(first);
        }
        Some(first)
    }

    /// The word of tasks at `position`.
    #[inline]
    fn word(&self, position: usize) -> Option<u64> {
        if self.words.is_empty() {
            (position == 0).then_some(self.top)
        } else {
            self.words.get(position).copied()
        }
    }

    /// The next task of a visit in ascending order. One that is added meanwhile is visited too if it
    /// is still ahead.
    ///
    /// The common set is empty but for one or two tasks of one word: a step costs a load, and
    /// nothing is divided.
    #[inline]
    pub fn next(&self, cursor: &mut Cursor) -> Option<TaskId> {
        let mut word = self.word(cursor.position)? & cursor.ahead;
        while word == 0 {
            cursor.position = cursor.position.saturating_add(1);
            cursor.ahead = u64::MAX;
            word = self.word(cursor.position)?;
        }
        // All bits above the lowest one that is set.
        cursor.ahead = !(word ^ word.wrapping_sub(1));
        Some(task_of(cursor.position, word))
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
        self.top = 0;
    }

    /// Whether no task is in the set.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.top == 0
    }

    /// The word of `task` has no bit left.
    #[inline]
    fn word_is_empty(&mut self, task: TaskId) {
        if self.shift == 0 || self.block_is_empty(task) {
            self.top &= !self.block(task);
        }
    }

    #[cold]
    fn block_is_empty(&self, task: TaskId) -> bool {
        let block = place_of(task).wrapping_shr(self.shift);
        let first = block.wrapping_shl(self.shift);
        let block = self.words.iter().skip(first);
        block
            .take(1_usize.wrapping_shl(self.shift))
            .all(|&word| word == 0)
    }

    /// The bit of the block of `task` in the summary.
    #[inline]
    fn block(&self, task: TaskId) -> u64 {
        let position = u32::from(task.0) >> WORD_BITS.ilog2();
        1_u64.wrapping_shl(position.wrapping_shr(self.shift))
    }
}

/// Where the word of a task stands.
#[inline]
const fn place_of(task: TaskId) -> usize {
    task.index() / WORD_BITS
}

/// The bit of a task in its word.
#[inline]
const fn bit(task: TaskId) -> u64 {
    1 << (task.index() % WORD_BITS)
}

/// The task of the lowest bit of a word that has one. There are no words beyond those of 65535 tasks.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "both are parts of a task number"
)]
const fn task_of(position: usize, word: u64) -> TaskId {
    TaskId(((position << WORD_BITS.ilog2()) | word.trailing_zeros() as usize) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Boxed;
    use vestal_testkit::Random;

    #[test]
    fn tasks_come_out_in_ascending_order_once_each() {
        let mut set = TaskBits::<Boxed>::new(200).unwrap();
        for index in [130, 3, 64, 3, 63, 199] {
            set.insert(TaskId(index));
        }
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

    #[test]
    fn a_set_of_any_size_agrees_with_a_sorted_set_over_a_long_random_history() {
        for tasks in [1, 20, 64, 65, 200, 4096, 4097, 65_535] {
            let mut set = TaskBits::<Boxed>::new(tasks).unwrap();
            let mut model = std::collections::BTreeSet::new();
            let mut random = Random::new(7);
            for _ in 0..3_000 {
                let state = random.next();
                // Few of the numbers, so that members are removed and words become empty.
                let among = (state >> 40) % 29 * (tasks as u64) / 29;
                let task = TaskId(among as u16);
                match (state >> 33) % 8 {
                    0..4 => {
                        set.insert(task);
                        model.insert(task);
                    }
                    4..7 => assert_eq!(set.remove(task), model.remove(&task)),
                    _ => assert_eq!(set.take_first(), model.pop_first()),
                }
                assert_eq!(set.first(), model.first().copied());
                assert_eq!(set.contains(task), model.contains(&task));
                assert_eq!(set.is_empty(), model.is_empty());
            }
            while let Some(task) = set.take_first() {
                assert_eq!(model.pop_first(), Some(task));
            }
            assert_eq!(set, TaskBits::new(tasks).unwrap());
        }
    }
}
