//! Where a scheduler keeps its tables: on the heap of a host, or inside itself on bare metal.
//!
//! One parameter, [`Store`], decides. Every table gets its final size at construction.

use crate::notice::{NOTICES_MIN, NOTICES_PER_TASK, Notice};
use alloc::boxed::Box;
use alloc::vec;
use core::fmt::Debug;
use core::hash::Hash;
use core::ops::{Deref, DerefMut};

/// What may stand in a table.
pub trait Entry: Clone + PartialEq + Eq + Hash + Debug {}
impl<T: Clone + PartialEq + Eq + Hash + Debug> Entry for T {}

/// A kind of storage.
pub trait Store: Clone + PartialEq + Eq + Hash + Debug {
    /// A table of fixed length.
    type Table<T: Entry>: Deref<Target = [T]> + DerefMut + Clone + PartialEq + Eq + Hash + Debug;

    /// The ring behind a queue of notices.
    type NoticeRing: Deref<Target = [Option<Notice>]>
        + DerefMut
        + Clone
        + PartialEq
        + Eq
        + Hash
        + Debug;

    /// A table of `len` times `initial`; `None` if the storage cannot hold so many.
    fn table<T: Entry>(len: usize, initial: T) -> Option<Self::Table<T>>;

    /// A copy of a list, in which `filler` stands until then; `None` if the storage cannot hold so many.
    fn copied<T: Entry + Copy>(list: &[T], filler: T) -> Option<Self::Table<T>> {
        let mut table = Self::table(list.len(), filler)?;
        for (entry, value) in table.iter_mut().zip(list) {
            *entry = *value;
        }
        Some(table)
    }

    /// An empty ring for an engine of `tasks` tasks. Where memory allows, it holds everything that
    /// one decision can have to say.
    fn notice_ring(tasks: usize) -> Self::NoticeRing;
}

/// Tables on the heap, allocated once at construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Boxed;

impl Store for Boxed {
    type Table<T: Entry> = Box<[T]>;
    type NoticeRing = Box<[Option<Notice>]>;

    fn table<T: Entry>(len: usize, initial: T) -> Option<Self::Table<T>> {
        Some(vec![initial; len].into_boxed_slice())
    }

    fn notice_ring(tasks: usize) -> Self::NoticeRing {
        let len = NOTICES_MIN.saturating_add(NOTICES_PER_TASK.saturating_mul(tasks));
        vec![None; len].into_boxed_slice()
    }
}

/// Tables of at most `N` entries inside the scheduler itself: no allocator is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inline<const N: usize>;

/// A table of at most `N` entries that lives where it is declared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InlineTable<T, const N: usize> {
    entries: [T; N],
    len: usize,
}

impl<T, const N: usize> Deref for InlineTable<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.entries.get(..self.len).unwrap_or(&[])
    }
}

impl<T, const N: usize> DerefMut for InlineTable<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.entries.get_mut(..self.len).unwrap_or(&mut [])
    }
}

impl<const N: usize> Store for Inline<N> {
    type Table<T: Entry> = InlineTable<T, N>;
    /// A microcontroller's observer has to keep up; what does not fit is counted as lost.
    type NoticeRing = InlineTable<Option<Notice>, NOTICES_MIN>;

    fn table<T: Entry>(len: usize, initial: T) -> Option<Self::Table<T>> {
        if len > N {
            return None;
        }
        Some(InlineTable {
            entries: core::array::from_fn(|_| initial.clone()),
            len,
        })
    }

    fn notice_ring(_: usize) -> Self::NoticeRing {
        InlineTable {
            entries: [None; NOTICES_MIN],
            len: NOTICES_MIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inline_table_has_the_length_asked_for_and_refuses_more_than_it_holds() {
        let table = Inline::<4>::table(3, 7_u32).unwrap();
        assert_eq!(&*table, &[7, 7, 7]);
        assert!(Inline::<4>::table(5, 0_u8).is_none());
    }
}
