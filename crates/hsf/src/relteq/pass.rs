//! Time passes: queues that count down, and stopwatches that count up.

use super::Tick;
use super::node::{Entry, Link, low};
use super::pool::{InsertError, Pool, Queue};

/// A time that passes for one queue, event by event ([`Pool::synchronise`]).
#[derive(Debug)]
pub struct Pass {
    left: u64,
    /// The event that was inserted last meanwhile, and when it expires, from the queue's now on.
    pub(super) place: Link,
    pub(super) at: u64,
}

impl Pass {
    /// So many ticks that will have passed.
    #[must_use]
    pub const fn over(ticks: u64) -> Self {
        Self {
            left: ticks,
            place: None,
            at: 0,
        }
    }

    /// How many of them follow the queue's now: how long ago the event expired that was taken last.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// The queue's now moves.
    fn moves(&mut self, ticks: u64) {
        self.left = self.left.saturating_sub(ticks);
        self.at = self.at.saturating_sub(ticks);
    }
}

impl<T: Tick, E: Copy + PartialEq, const N: usize> Pool<T, E, N> {
    /// `ticks` pass, at most [`Pool::head`] (what is beyond is lost): all events come nearer, because
    /// the head does. A dummy that is over makes way for the next one. O(1).
    pub fn elapse(&mut self, queue: &Queue, ticks: u32) {
        let Some(node) = queue.head.and_then(|head| self.node_mut(head)) else {
            return;
        };
        node.time = T::of(node.time.get().saturating_sub(ticks));
        if let Entry::Dummies { more } = &mut node.entry
            && node.time == T::ZERO
            && let Some(fewer) = more.checked_sub(1)
        {
            (*more, node.time) = (fewer, T::of(T::MAX));
        }
    }

    /// Takes the next event that expires in a pass, and takes the ticks up to its expiry off those that are left: from then on that
    /// expiry is the queue's now. `None` once there is no other; then all has passed. O(1).
    pub fn synchronise(&mut self, queue: &mut Queue, pass: &mut Pass) -> Option<E> {
        while let Some(head) = queue.head {
            let node = self.node(head);
            let span = node.span();
            if span > pass.left {
                if pass.left > 0 {
                    self.set_span(head, span.saturating_sub(pass.left));
                }
                break;
            }
            pass.moves(span);
            if pass.place == Some(head) {
                pass.place = None;
            }
            queue.head = node.next;
            self.give_back(head);
            if let Entry::Event(event) = node.entry {
                return Some(event);
            }
        }
        pass.moves(pass.left);
        None
    }

    /// `ticks`, at most M, pass for a stopwatch: the sum up to any of its events grows by them. A head
    /// that has no room stays full, and a dummy before it takes the rest. An empty queue gets a dummy. O(1).
    ///
    /// # Errors
    /// [`InsertError::Full`], [`InsertError::TooFar`] if there are more dummies than can be counted; nothing
    /// has changed then.
    pub fn grow(&mut self, queue: &mut Queue, ticks: u32) -> Result<(), InsertError> {
        let Some(head) = queue.head else {
            return self.push_node(queue, T::of(ticks), Entry::Dummies { more: 0 });
        };
        let node = self.node(head);
        // Two numbers of 32 bits.
        let sum = u64::from(node.time.get()).saturating_add(ticks.into());
        let over = sum.saturating_sub(T::MAX.into());
        let overflows = over > 0;
        match node.entry {
            Entry::Dummies { more } => {
                let carried = more.checked_add(overflows.into());
                let more = carried.ok_or(InsertError::TooFar)?;
                if let Some(node) = self.node_mut(head) {
                    node.time = T::of(low(if overflows { over } else { sum }));
                    node.entry = Entry::Dummies { more };
                }
            }
            Entry::Event(_) => {
                if overflows {
                    self.push_node(queue, T::of(low(over)), Entry::Dummies { more: 0 })?;
                }
                if let Some(node) = self.node_mut(head) {
                    node.time = T::of(low(sum.min(T::MAX.into())));
                }
            }
        }
        Ok(())
    }
}
