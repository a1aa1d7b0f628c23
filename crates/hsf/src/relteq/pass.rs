//! Time passes: queues that count down, and stopwatches that count up.

use super::Tick;
use super::node::{Entry, Link, low};
use super::pool::{InsertError, Pool, Queue};

/// A time that passes for one queue, event by event ([`Pool::synchronise`]).
#[derive(Debug)]
pub struct Pass {
    left: u64,
    /// The event that was inserted last meanwhile, and when it expires, from the end of this time on: that does not change with the queue's now.
    place: Link,
    beyond: u64,
}

impl Pass {
    /// So many ticks that will have passed.
    #[must_use]
    pub const fn over(ticks: u64) -> Self {
        Self {
            left: ticks,
            place: None,
            // Without a place it says nothing. What is all zeros is made by a call, which takes longer.
            beyond: u64::MAX,
        }
    }

    /// Where to look from on for the place of an event that expires so long after the queue's now, and how long after that.
    #[inline]
    pub(super) fn look_from(&self, delay: u64) -> (Link, u64) {
        let at = self.beyond.wrapping_add(self.left);
        match delay.checked_sub(at) {
            Some(rest) if self.place.is_some() => (self.place, rest),
            Some(_) | None => (None, delay),
        }
    }

    /// An event was inserted that expires so long after the queue's now.
    #[inline]
    pub(super) fn keep(&mut self, inserted: Link, delay: u64) {
        self.place = inserted;
        self.beyond = delay.wrapping_sub(self.left);
    }

    /// How many of them follow the queue's now: how long ago the event expired that was taken last.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.left
    }
}

impl<T: Tick, E: Copy + PartialEq, const N: usize> Pool<T, E, N> {
    /// `ticks` pass, at most [`Pool::head`] (what is beyond is lost): all events come nearer, because
    /// the head does. A dummy that is over makes way for the next one. O(1).
    #[inline]
    pub fn elapse(&mut self, queue: &Queue, ticks: u32) {
        let Some(node) = self.node_mut(queue.head) else {
            return;
        };
        node.time = T::of(node.time.get().saturating_sub(ticks));
        if node.time == T::ZERO
            && let Entry::Dummies { more } = &mut node.entry
            && let Some(fewer) = more.checked_sub(1)
        {
            (*more, node.time) = (fewer, T::of(T::MAX));
        }
    }

    /// The same for as many ticks as there are, if the head is farther away; says whether that is so, and has changed nothing if not. O(1).
    #[inline]
    pub fn elapse_before(&mut self, queue: &Queue, ticks: u64) -> bool {
        let Some(node) = self.node_mut(queue.head) else {
            return true;
        };
        let left = u64::from(node.time.get()).checked_sub(ticks);
        match left.filter(|&left| left > 0) {
            Some(left) => {
                node.time = T::of(low(left));
                true
            }
            None => false,
        }
    }

    /// Takes the next event that expires in a pass, and takes the ticks up to its expiry off those that are left: from then on that
    /// expiry is the queue's now. `None` once there is no other; then all has passed. O(1).
    pub fn synchronise(&mut self, queue: &mut Queue, pass: &mut Pass) -> Option<E> {
        while let Some(node) = self.node(queue.head) {
            let (span, entry, next) = (node.span(), node.entry, node.next);
            let Some(left) = pass.left.checked_sub(span) else {
                if !self.elapse_before(queue, pass.left) {
                    self.set_span(queue.head, span.wrapping_sub(pass.left));
                }
                break;
            };
            pass.left = left;
            if pass.place == queue.head {
                pass.place = None;
            }
            self.give_back(queue.head);
            queue.head = next;
            if let Entry::Event(event) = entry {
                return Some(event);
            }
        }
        pass.left = 0;
        None
    }

    /// `ticks`, at most M, pass for a stopwatch: the sum up to any of its events grows by them. A head
    /// that has no room stays full, and a dummy before it takes the rest. An empty queue gets a dummy. O(1).
    ///
    /// # Errors
    /// [`InsertError::Full`], [`InsertError::TooFar`] if there are more dummies than can be counted; nothing
    /// has changed then.
    #[inline]
    pub fn grow(&mut self, queue: &mut Queue, ticks: u32) -> Result<(), InsertError> {
        if let Some(node) = self.node_mut(queue.head) {
            let time = node.time.get();
            if ticks <= T::MAX.saturating_sub(time) {
                node.time = T::of(time.saturating_add(ticks));
                return Ok(());
            }
        }
        self.grow_beyond(queue, ticks)
    }

    /// The same where the head has no room, or there is none.
    #[cold]
    #[inline(never)]
    fn grow_beyond(&mut self, queue: &mut Queue, ticks: u32) -> Result<(), InsertError> {
        let head = queue.head;
        let Some(node) = self.node_mut(head) else {
            return self.push_node(queue, T::of(ticks), Entry::Dummies { more: 0 });
        };
        let over = ticks.saturating_sub(T::MAX.saturating_sub(node.time.get()));
        if let Entry::Dummies { more } = &mut node.entry {
            *more = more.checked_add(1).ok_or(InsertError::TooFar)?;
            node.time = T::of(over);
            return Ok(());
        }
        self.push_node(queue, T::of(over), Entry::Dummies { more: 0 })?;
        if let Some(node) = self.node_mut(head) {
            node.time = T::of(T::MAX);
        }
        Ok(())
    }
}
