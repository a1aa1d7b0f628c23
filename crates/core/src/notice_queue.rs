//! A queue of notices that counts what it lost.

use crate::notice::Notice;
use crate::store::{Boxed, Store};

/// A bounded first-in, first-out queue of notices that counts what it lost.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoticeQueue<S: Store = Boxed> {
    ring: S::NoticeRing,
    head: usize,
    len: usize,
    lost: u64,
}

impl<S: Store> NoticeQueue<S> {
    /// An empty queue for an engine of `tasks` tasks.
    #[must_use]
    pub fn new(tasks: usize) -> Self {
        Self {
            ring: S::notice_ring(tasks),
            head: 0,
            len: 0,
            lost: 0,
        }
    }

    /// Adds a notice; when the queue is full, counts it as lost instead.
    pub fn push(&mut self, notice: Notice) {
        if self.len >= self.ring.len() {
            self.lost = self.lost.saturating_add(1);
            return;
        }
        let position = self.wrapped(self.head.saturating_add(self.len));
        if let Some(entry) = self.ring.get_mut(position) {
            *entry = Some(notice);
            self.len = self.len.saturating_add(1);
        }
    }

    /// Takes the oldest notice.
    #[inline]
    pub fn pop(&mut self) -> Option<Notice> {
        if self.len == 0 {
            return None;
        }
        let notice = self.ring.get_mut(self.head).and_then(Option::take);
        self.head = self.wrapped(self.head.saturating_add(1));
        self.len = self.len.saturating_sub(1);
        notice
    }

    /// An index below twice the ring's length, brought back into the ring.
    fn wrapped(&self, position: usize) -> usize {
        position.checked_sub(self.ring.len()).unwrap_or(position)
    }

    /// How many notices were lost because they were not taken in time.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notice::Event;
    use crate::store::Inline;
    use crate::time::{Duration, Instant};

    fn late(by: u64) -> Notice {
        Notice {
            at: Instant::EPOCH,
            what: Event::Late {
                by: Duration::from_nanos(by),
            },
        }
    }

    #[test]
    fn notices_come_out_in_order_and_the_lost_are_counted() {
        let mut queue = NoticeQueue::<Inline<2>>::new(2);
        for round in 0..3 {
            for n in 0..70 {
                queue.push(late(n));
            }
            assert_eq!(queue.lost(), 6 * (round + 1));
            for n in 0..64 {
                assert_eq!(queue.pop(), Some(late(n)));
            }
            assert_eq!(queue.pop(), None);
        }
    }
}
