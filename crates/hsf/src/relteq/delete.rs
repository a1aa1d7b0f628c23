//! Deletion, and taking the first event.

use super::Tick;
use super::node::{Entry, Index, Link};
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
        let (mut before, mut previous, mut next) = (None, None, queue.head);
        while let Some(index) = next {
            let node = self.node(index);
            if node.entry == Entry::Event(event) {
                self.take_out(queue, [before, previous], index);
                return true;
            }
            (before, previous, next) = (previous, next, node.next);
        }
        false
    }

    fn take_out(&mut self, queue: &mut Queue, [before, previous]: [Link; 2], index: Index) {
        let node = self.node(index);
        let run_before = previous.filter(|&other| self.node(other).is_run());
        let Some(next) = node.next else {
            // Nothing behind needs its time, nor that of dummies before it (I4).
            self.give_back(index);
            match run_before {
                Some(run) => {
                    self.give_back(run);
                    self.link(queue, before, None);
                }
                None => self.link(queue, previous, None),
            }
            return;
        };
        let behind = self.node(next);
        let together = node.span().saturating_add(behind.span());
        let carrier = if behind.is_run() || together <= T::MAX.into() {
            Some(next)
        } else {
            run_before
        };
        let Some(carrier) = carrier else {
            if let Some(node) = self.node_mut(index) {
                node.entry = Entry::Dummies { more: 0 };
            }
            return;
        };
        self.add_span(carrier, node.span());
        self.link(queue, previous, Some(next));
        self.give_back(index);
        if behind.is_run()
            && let Some(run) = run_before
        {
            self.merge(run, next);
        }
    }

    /// Makes one run of two side by side (I2).
    fn merge(&mut self, run: Index, next: Index) {
        let behind = self.node(next);
        self.add_span(run, behind.span());
        if let Some(node) = self.node_mut(run) {
            node.next = behind.next;
        }
        self.give_back(next);
    }

    /// Takes the first event, due or not; its expiry is the queue's now from then on. O(1).
    pub fn pop(&mut self, queue: &mut Queue) -> Option<E> {
        while let Some(head) = queue.head {
            let node = self.node(head);
            queue.head = node.next;
            self.give_back(head);
            if let Entry::Event(event) = node.entry {
                return Some(event);
            }
        }
        None
    }
}
