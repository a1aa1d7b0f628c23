//! Deletion, and taking the first event.

use super::Tick;
use super::node::{Entry, Link};
use super::pool::{Pool, Queue};

impl<T: Tick, E: Copy + PartialEq, const N: usize> Pool<T, E, N> {
    /// Takes `event` out; all others keep their times. Says whether it was there.
    ///
    /// ```text
    ///   delete A:                 --3--> A --9--> B                --12--> B
    ///   where 12 + 9 is too much: --12--> A --9--> B               --12--> . --9--> B
    ///   the last one:             --3--> A --15--> . --2--> B      --3--> A
    /// ```
    /// O(events before it).
    pub fn delete(&mut self, queue: &mut Queue, event: E) -> bool {
        self.remove(queue, event).is_some()
    }

    /// The same, and when the event would have expired, from the queue's now on. `None` if it was not there.
    pub fn remove(&mut self, queue: &mut Queue, event: E) -> Option<u64> {
        let (mut before, mut previous, mut link) = (None, None, queue.head);
        let mut at = 0_u64;
        while let Some(node) = self.node(link) {
            // Nothing ever expires more than 2^64 ticks from now on.
            at = at.wrapping_add(node.span());
            if node.entry == Entry::Event(event) {
                let (time, next) = (node.time.get(), node.next);
                if self.hand_over([previous, next], time) {
                    self.link(queue, previous, next);
                    self.give_back(link);
                } else {
                    self.take_out(queue, [before, previous], link);
                }
                return Some(at);
            }
            (before, previous, link) = (previous, link, node.next);
        }
        None
    }

    /// The node behind an event carries the event's time from now on, where it can, or none is there; says whether it was so simple.
    fn hand_over(&mut self, [previous, next]: [Link; 2], time: u32) -> bool {
        let after_run = self.is_run(previous);
        let Some(behind) = self.node_mut(next) else {
            return !after_run;
        };
        let together = behind.time.get().checked_add(time);
        match together {
            Some(together) if together <= T::MAX && !(after_run && behind.is_run()) => {
                behind.time = T::of(together);
                true
            }
            Some(_) | None => false,
        }
    }

    /// Where it is not so simple.
    #[cold]
    #[inline(never)]
    fn take_out(&mut self, queue: &mut Queue, [before, previous]: [Link; 2], link: Link) {
        let Some(node) = self.node(link) else {
            return;
        };
        let (span, next) = (node.span(), node.next);
        let run_before = previous.filter(|_| self.is_run(previous));
        let Some(behind) = self.node(next) else {
            // Nothing behind needs its time, nor that of dummies before it (I4).
            self.give_back(link);
            if run_before.is_some() {
                self.give_back(run_before);
                self.link(queue, before, None);
            } else {
                self.link(queue, previous, None);
            }
            return;
        };
        let together = span.saturating_add(behind.span());
        let is_before_run = behind.is_run();
        let carrier = if is_before_run || together <= T::MAX.into() {
            next
        } else {
            run_before
        };
        if carrier.is_none() {
            if let Some(node) = self.node_mut(link) {
                node.entry = Entry::Dummies { more: 0 };
            }
            return;
        }
        self.add_span(carrier, span);
        self.link(queue, previous, next);
        self.give_back(link);
        if is_before_run && run_before.is_some() {
            self.merge(run_before, next);
        }
    }

    /// Makes one run of two side by side (I2).
    fn merge(&mut self, run: Link, next: Link) {
        let Some(behind) = self.node(next) else {
            return;
        };
        let (span, rest) = (behind.span(), behind.next);
        self.add_span(run, span);
        if let Some(node) = self.node_mut(run) {
            node.next = rest;
        }
        self.give_back(next);
    }

    /// Deletes `old` and inserts `new` at the queue's now, before all others, in the same node; says when `old` would have expired. `None` if it is
    /// not there, or if the node behind it cannot carry its time: then nothing has changed, and [`Pool::push_front`] and [`Pool::remove`] do it.
    /// O(events before it).
    pub fn exchange(&mut self, queue: &mut Queue, old: E, new: E) -> Option<u64> {
        let (mut before, mut previous, mut link, mut at) = (None, None, queue.head, 0_u64);
        let (time, next) = loop {
            let node = self.node(link)?;
            at = at.wrapping_add(node.span());
            if node.entry == Entry::Event(old) {
                break (node.time.get(), node.next);
            }
            (before, previous, link) = (previous, link, node.next);
        };
        if !self.hand_over([previous, next], time) {
            // Dummies that no event needs any more go, too.
            if next.is_some() {
                return None;
            }
            self.give_back(previous);
            previous = before;
            if previous.is_none() {
                queue.head = link;
            }
        }
        let mut behind = next;
        if previous.is_some() {
            self.link(queue, previous, next);
            behind = core::mem::replace(&mut queue.head, link);
        }
        if let Some(node) = self.node_mut(link) {
            node.time = T::ZERO;
            node.next = behind;
            node.entry = Entry::Event(new);
        }
        Some(at)
    }

    /// Takes the first event, due or not; its expiry is the queue's now from then on. O(1).
    pub fn pop(&mut self, queue: &mut Queue) -> Option<E> {
        while let Some(node) = self.node(queue.head) {
            let (entry, next) = (node.entry, node.next);
            self.give_back(queue.head);
            queue.head = next;
            if let Entry::Event(event) = entry {
                return Some(event);
            }
        }
        None
    }
}
