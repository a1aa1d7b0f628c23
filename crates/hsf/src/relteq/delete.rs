//! Deletion, and taking the first event.

use super::Tick;
use super::node::{Entry, Link};
use super::pool::{InsertError, Pool, Queue};

/// An event that was found: its node, the one before it, whether that is a run of dummies, and when the event expires, from the queue's now on.
struct Place {
    previous: Link,
    after_run: bool,
    link: Link,
    at: u64,
}

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
        let place = self.seek(queue, event)?;
        let next = self.node(place.link)?.next;
        if self.hand_over(&place, next) {
            self.link(queue, place.previous, next);
            self.give_back(place.link);
        } else {
            self.take_out(queue, [place.previous, place.link]);
        }
        Some(place.at)
    }

    /// Where an event is.
    #[inline]
    fn seek(&self, queue: &Queue, event: E) -> Option<Place> {
        let (mut previous, mut link, mut at) = (None, queue.head, 0_u64);
        let mut after_run = false;
        loop {
            let node = self.node(link)?;
            // Nothing ever expires more than 2^64 ticks from now on.
            at = at.wrapping_add(node.span());
            if node.entry == Entry::Event(event) {
                return Some(Place {
                    previous,
                    after_run,
                    link,
                    at,
                });
            }
            T::on_pass();
            (previous, after_run, link) = (link, node.is_run(), node.next);
        }
    }

    /// The node behind an event carries the event's time from now on, where it can, or none is there; says whether it was so simple.
    #[inline]
    fn hand_over(&mut self, place: &Place, next: Link) -> bool {
        let after_run = place.after_run;
        let time = self.node(place.link).map_or(0, |node| node.time.get());
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
    fn take_out(&mut self, queue: &mut Queue, [previous, link]: [Link; 2]) {
        T::on_detour();
        let Some(node) = self.node(link) else {
            return;
        };
        let (span, mut next) = (node.span(), node.next);
        let run_before = previous.filter(|_| self.is_run(previous));
        let Some(behind) = self.node(next) else {
            // Nothing behind needs its time, nor that of dummies before it (I4).
            self.give_back(link);
            if run_before.is_some() {
                self.drop_run(queue, run_before);
            } else {
                self.link(queue, previous, None);
            }
            return;
        };
        let (behind_span, rest, is_before_run) = (behind.span(), behind.next, behind.is_run());
        if run_before.is_some() {
            // Of two runs side by side one is made (I2).
            let (more, merged) = match is_before_run {
                true => (span.saturating_add(behind_span), next),
                false => (span, None),
            };
            self.add_span(run_before, more);
            if merged.is_some() {
                self.give_back(merged);
                next = rest;
            }
        } else if is_before_run {
            self.add_span(next, span);
        } else {
            // The event behind cannot carry it.
            if let Some(node) = self.node_mut(link) {
                node.entry = Entry::Dummies { more: 0 };
            }
            return;
        }
        self.link(queue, previous, next);
        self.give_back(link);
    }

    /// Takes out dummies that no event needs any more, as the last one behind them goes. What is before them ends the queue.
    #[cold]
    #[inline(never)]
    fn drop_run(&mut self, queue: &mut Queue, run: Link) {
        let (mut before, mut link) = (None, queue.head);
        while link != run
            && let Some(node) = self.node(link)
        {
            T::on_pass();
            (before, link) = (link, node.next);
        }
        self.link(queue, before, None);
        self.give_back(run);
    }

    /// Deletes `old` and inserts `new` at the queue's now, before all others; says when `old` would have expired. `None` if it is not there: then
    /// nothing has changed. The node of `old` serves, unless the node behind it cannot carry its time. O(events before it).
    ///
    /// # Errors
    /// [`InsertError::Full`] if another node would be needed and none is left; nothing has changed then.
    // It has one caller, whose switches it makes up a good part of.
    #[inline(always)]
    pub fn exchange(
        &mut self,
        queue: &mut Queue,
        old: E,
        new: E,
    ) -> Result<Option<u64>, InsertError> {
        let Some(place) = self.seek(queue, old) else {
            return Ok(None);
        };
        let (mut previous, link) = (place.previous, place.link);
        let mut next = self.node(link).and_then(|node| node.next);
        if !self.hand_over(&place, next) {
            if next.is_some() {
                if self.unused() == 0 {
                    return Err(InsertError::Full);
                }
                self.take_out(queue, [place.previous, place.link]);
                self.push_front(queue, new)?;
                return Ok(Some(place.at));
            }
            self.drop_run(queue, previous);
            previous = None;
            next = core::mem::replace(&mut queue.head, link);
        }
        if previous.is_some() {
            self.link(queue, previous, next);
            next = core::mem::replace(&mut queue.head, link);
        }
        if let Some(node) = self.node_mut(link) {
            node.time = T::ZERO;
            node.next = next;
            node.entry = Entry::Event(new);
        }
        Ok(Some(place.at))
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
