//! Time passes: queues that count down, and stopwatches that count up.

use super::Tick;
use super::node::{Entry, low};
use super::pool::{InsertError, Pool, Queue};

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

    /// Takes the next event that expires within `left` ticks, and takes the ticks up to its expiry off
    /// `left`: from then on that expiry is the queue's now. `None` once there is no other; then all of `left`
    /// has passed, and it is 0. O(1).
    pub fn synchronise(&mut self, queue: &mut Queue, left: &mut u64) -> Option<E> {
        while let Some(head) = queue.head {
            let node = self.node(head);
            let span = node.span();
            if span > *left {
                if *left > 0 {
                    self.set_span(head, span.saturating_sub(*left));
                }
                break;
            }
            *left = left.saturating_sub(span);
            queue.head = node.next;
            self.give_back(head);
            if let Entry::Event(event) = node.entry {
                return Some(event);
            }
        }
        *left = 0;
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
