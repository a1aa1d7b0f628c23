//! Many short first-in, first-out queues in one table, all of the same bound.

use crate::store::{Entry, Store};

/// One queue of at most `bound` entries per row.
///
/// Entries move up rather than in a circle, so that queues of equal content are equal; bounds are
/// a handful. Adding is O(1), taking O(bound).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rows<T: Entry + Copy, S: Store> {
    entries: S::Table<Option<T>>,
    lens: S::Table<usize>,
    bound: usize,
}

impl<T: Entry + Copy, S: Store> Rows<T, S> {
    /// Empty queues; `None` if the storage is too small.
    #[must_use]
    pub fn new(rows: usize, bound: usize) -> Option<Self> {
        Some(Self {
            entries: S::table(rows.checked_mul(bound)?, None)?,
            lens: S::table(rows, 0)?,
            bound,
        })
    }

    /// Appends to a queue; says whether there was room.
    #[must_use]
    pub fn push(&mut self, row: usize, value: T) -> bool {
        let Some(len) = self.lens.get_mut(row).filter(|len| **len < self.bound) else {
            return false;
        };
        let position = row.saturating_mul(self.bound).saturating_add(*len);
        if let Some(entry) = self.entries.get_mut(position) {
            *entry = Some(value);
            *len = len.saturating_add(1);
        }
        true
    }

    /// The oldest entry of a queue.
    #[must_use]
    pub fn first(&self, row: usize) -> Option<T> {
        if self.is_empty(row) {
            return None;
        }
        self.entries
            .get(row.saturating_mul(self.bound))
            .copied()
            .flatten()
    }

    /// The oldest entry of a queue, to be changed.
    pub fn first_mut(&mut self, row: usize) -> Option<&mut T> {
        if self.is_empty(row) {
            return None;
        }
        self.entries
            .get_mut(row.saturating_mul(self.bound))
            .and_then(Option::as_mut)
    }

    /// Takes the oldest entry of a queue.
    pub fn pop(&mut self, row: usize) -> Option<T> {
        let len = self.lens.get_mut(row).filter(|len| **len > 0)?;
        *len = len.saturating_sub(1);
        let start = row.saturating_mul(self.bound);
        let queue = self
            .entries
            .get_mut(start..start.saturating_add(self.bound))?;
        // From the back each entry moves to where the one before it.
        queue
            .iter_mut()
            .rev()
            .fold(None, |behind, entry| core::mem::replace(entry, behind))
    }

    /// How many entries a queue has room for.
    #[must_use]
    pub const fn bound(&self) -> usize {
        self.bound
    }

    /// Whether a queue has no room. A row that does not exist has none.
    #[must_use]
    pub fn is_full(&self, row: usize) -> bool {
        self.lens.get(row).is_none_or(|&len| len >= self.bound)
    }

    /// Whether nothing is queued in this row.
    #[must_use]
    pub fn is_empty(&self, row: usize) -> bool {
        self.lens.get(row).is_none_or(|&len| len == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Boxed;

    #[test]
    fn each_row_is_a_bounded_queue_of_its_own_and_equal_content_is_equal() {
        let mut rows = Rows::<u8, Boxed>::new(3, 2).unwrap();
        let fresh = rows.clone();
        assert!(rows.push(1, 5) && rows.push(1, 6) && !rows.push(1, 7));
        assert!(rows.is_full(1) && rows.is_empty(0) && rows.is_empty(2));
        assert_eq!(rows.first(1), Some(5));
        assert_eq!(
            (rows.pop(1), rows.pop(1), rows.pop(1)),
            (Some(5), Some(6), None)
        );
        assert_eq!(rows, fresh);
        assert!(!rows.push(3, 1));
    }
}
