//! Fixed job priorities from lists: PLRS (Guan, Ekberg, Stigge and Yi, RTSS 2011; the lists are
//! those of Li and Baruah, RTSS 2010).
//!
//! An analysis bounds the number of jobs of each task in a busy period and gives each of them a
//! priority: task i has the decreasing list L_i. At run time task i has a remaining list A_i.
//!
//! - When jobs arrive and none is pending, A_j := L_j for every task.
//! - When jobs arrive and the most urgent pending job has priority p, a fresh busy period of all
//!   priorities above p begins: for every task the r entries of A_j above p are replaced by the first
//!   r entries of L_j.
//! - An arriving job takes the head of its task's list and keeps that priority until it ends.
//!
//! The reuse step is done once for all arrivals of an instant, before any of them takes a priority,
//! and after the completions and drops of that instant. A job that finds its list empty exceeds the
//! pattern that was analysed: it goes behind all others and is counted. With a sound pattern the
//! count stays 0.
//!
//! # Pieces
//!
//! No entry is ever copied. A_i is always a sequence of *pieces*, each a run of consecutive entries of
//! L_i, and the reuse step cuts the pieces below p off and puts one new piece before them:
//!
//! ```text
//! L_i             9 7 5 2 0
//! A_i       taken 9 | 7 5 2 0                 one piece
//! reuse above 4     | 9 7 | 2 0               7 and 5 are replaced by the first two of L_i
//! ```
//!
//! The first piece stands with its task, the others in a table at the position where they begin, so
//! that they always fit. A cut is at the priority of a pending job that was preempted, so in a run
//! without late jobs there are at most n of them for n tasks, and each arrival cuts once: an instant
//! with arrivals costs O(n log N) over a run, and O(n^2) at most, for lists with N entries together.
//! Tasks of which nothing was taken since A_j := L_j have nothing to be replaced, and are not looked at.
//!
//! Invariants: every A_j is decreasing; no entry stands in two lists; entries of A_j at or below p
//! are never dirty by the reuse step.

use super::lists::{JobPriority, offline};
use crate::ids::TaskId;
use crate::queue::{Cursor, TaskBits};
use crate::store::Store;
use alloc::borrow::Cow;

/// A run of consecutive entries of L_i that stands at some position of A_i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Piece {
    /// The index in L_i of its first entry.
    from: usize,
    /// The position in A_i after its last one.
    end: usize,
}

impl Piece {
    /// Stands where no piece begins: two lists of equal content are then equal.
    const NONE: Self = Self { from: 0, end: 0 };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Span {
    /// Where the task's list starts in the tables.
    first: usize,
    /// How long it is.
    len: usize,
    /// How many entries at the front of A_i have been taken.
    taken: usize,
    /// The piece at position `taken`.
    top: Piece,
}

impl Span {
    const fn whole(first: usize, len: usize) -> Self {
        Self {
            first,
            len,
            taken: 0,
            top: Piece { from: 0, end: len },
        }
    }
}

/// The lists of all tasks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReusedLists<S: Store> {
    /// Every L_i, one after the other.
    offline: S::Table<u32>,
    /// At the position of A_i where a piece after the first one begins, that piece.
    pieces: S::Table<Piece>,
    spans: S::Table<Span>,
    /// The tasks of which something was taken since A_i := L_i.
    begun: TaskBits<S>,
    exceeded: u64,
}

impl<S: Store> ReusedLists<S> {
    /// Lists from L_i of each task in task order, entries counted from 0 as in the literature.
    ///
    /// `None` if the storage is too small, or if a list is not strictly decreasing.
    #[must_use]
    pub fn new(lists: &[Cow<'_, [u32]>]) -> Option<Self> {
        let offline = offline::<S>(lists)?;
        let pieces = S::table(offline.len(), Piece::NONE)?;
        let mut spans = S::table(lists.len(), Span::whole(0, 0))?;
        let mut first = 0_usize;
        for (span, list) in spans.iter_mut().zip(lists) {
            *span = Span::whole(first, list.len());
            first = first.checked_add(list.len())?;
        }
        Some(Self {
            offline,
            pieces,
            spans,
            begun: TaskBits::new(lists.len())?,
            exceeded: 0,
        })
    }

    /// How many tasks have a list.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.spans.len()
    }

    /// How many jobs exceeded the pattern.
    #[must_use]
    pub const fn exceeded(&self) -> u64 {
        self.exceeded
    }

    /// The reuse step: call it once per instant with admitted arrivals, with the most urgent job
    /// that was pending just before them.
    pub fn begin_arrivals(&mut self, pending: Option<JobPriority>) {
        match pending {
            None => {
                while let Some(task) = self.begun.take_first() {
                    if let Some((span, _, pieces)) = self.parts(task) {
                        remove_below(pieces, span.top.end);
                        *span = Span::whole(span.first, span.len);
                    }
                }
            }
            // A priority counts from 1, an entry from 0.
            Some(JobPriority(above)) => {
                let mut cursor = Cursor::default();
                while let Some(task) = self.begun.next(&mut cursor) {
                    if let Some((span, list, pieces)) = self.parts(task) {
                        reuse(span, list, pieces, above);
                    }
                }
            }
        }
    }

    /// What there is of a task: where it is, its L_i, and the table behind the first piece of its A_i.
    fn parts(&mut self, task: TaskId) -> Option<(&mut Span, &[u32], &mut [Piece])> {
        let span = self.spans.get_mut(task.index())?;
        let end = span.first.saturating_add(span.len);
        let list = self.offline.get(span.first..end)?;
        let pieces = self.pieces.get_mut(span.first..end)?;
        Some((span, list, pieces))
    }

    /// The priority of the job of `task` that arrives now.
    pub fn take(&mut self, task: TaskId) -> JobPriority {
        let Some(entry) = self.head(task) else {
            self.exceeded = self.exceeded.saturating_add(1);
            return JobPriority::BEYOND_PATTERN;
        };
        JobPriority::of_entry(entry)
    }

    /// Takes the head of the task's remaining list.
    fn head(&mut self, task: TaskId) -> Option<u32> {
        let span = self.spans.get_mut(task.index())?;
        if span.taken >= span.len {
            return None;
        }
        let at = span.first.saturating_add(span.top.from);
        let entry = self.offline.get(at).copied()?;
        self.begun.insert(task);
        span.taken = span.taken.saturating_add(1);
        span.top.from = span.top.from.saturating_add(1);
        if span.taken >= span.top.end && span.taken < span.len {
            let next = span.first.saturating_add(span.taken);
            span.top = core::mem::replace(self.pieces.get_mut(next)?, Piece::NONE);
        }
        Some(entry)
    }
}

/// Forgets the piece that begins at `position` and those after it.
fn remove_below(pieces: &mut [Piece], mut position: usize) {
    while let Some(piece) = pieces.get_mut(position) {
        let end = core::mem::replace(piece, Piece::NONE).end;
        // A piece is never empty.
        if end <= position {
            break;
        }
        position = end;
    }
}

/// Replaces the entries of the remaining list from `above` on by as many from the head of the list.
fn reuse(span: &mut Span, list: &[u32], pieces: &mut [Piece], above: u32) {
    // Most tasks have nothing above a pending job, or have taken nothing since the last reuse: the
    // first piece is the head of the list already, and the others are below.
    let head = list.get(span.top.from);
    if span.taken >= span.len || head.is_none_or(|&head| head < above) {
        return;
    }
    if span.top.from == 0 && (span.top.end == span.len || below(list, span, above)) {
        return;
    }
    let (mut position, mut piece) = (span.taken, span.top);
    while position < span.len {
        let length = piece.end.saturating_sub(position);
        let entries = list.get(piece.from..).unwrap_or(&[]);
        let entries = entries.get(..length).unwrap_or(&[]);
        if entries.last().is_some_and(|&last| last >= above) {
            position = piece.end;
            if let Some(next) = pieces.get_mut(position) {
                piece = core::mem::replace(next, Piece::NONE);
            }
            continue;
        }
        let count = entries.partition_point(|&entry| entry >= above);
        position = position.saturating_add(count);
        piece.from = piece.from.saturating_add(count);
        if position == span.taken {
            return;
        }
        if let Some(rest) = pieces.get_mut(position) {
            *rest = piece;
        }
        break;
    }
    span.top = Piece {
        from: 0,
        end: position,
    };
}

/// Whether the last entry of the first piece is below `above`.
fn below(list: &[u32], span: &Span, above: u32) -> bool {
    let length = span.top.end.saturating_sub(span.taken);
    let last = span.top.from.saturating_add(length).saturating_sub(1);
    list.get(last).is_some_and(|&last| last < above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::lists_of;
    use crate::store::Boxed;

    fn lists() -> ReusedLists<Boxed> {
        ReusedLists::new(&lists_of(&[&[7, 5, 2, 0], &[6, 1], &[3], &[8, 4]])).unwrap()
    }

    #[test]
    fn a_fresh_busy_period_starts_every_list_anew() {
        let mut lists = lists();
        lists.begin_arrivals(None);
        assert_eq!(lists.take(TaskId(0)), JobPriority(8));
        lists.begin_arrivals(None);
        assert_eq!(lists.take(TaskId(0)), JobPriority(8));
        assert_eq!(lists.take(TaskId(0)), JobPriority(6));
    }

    #[test]
    fn entries_above_the_pending_job_are_reused_and_the_others_stay() {
        let mut lists = lists();
        lists.begin_arrivals(None);
        for task in 0..4 {
            lists.take(TaskId(task));
        }
        // Task 2 is pending with entry 3: 5 becomes 7 again, 2 and 0 stay; 4 becomes 8; 1 stays.
        lists.begin_arrivals(Some(JobPriority(4)));
        let rest: [u32; 3] = core::array::from_fn(|_| lists.take(TaskId(0)).0 - 1);
        assert_eq!(rest, [7, 2, 0]);
        assert_eq!(lists.take(TaskId(3)), JobPriority(9));
        assert_eq!(lists.take(TaskId(1)), JobPriority(2));
        assert_eq!(lists.exceeded(), 0);
        assert_eq!(lists.take(TaskId(1)), JobPriority::BEYOND_PATTERN);
        assert_eq!(lists.exceeded(), 1);
    }

    #[test]
    fn a_list_that_does_not_fall_is_refused() {
        assert!(ReusedLists::<Boxed>::new(&lists_of(&[&[3, 3]])).is_none());
        assert!(ReusedLists::<Boxed>::new(&lists_of(&[&[3, 4]])).is_none());
    }
}
