//! Insertion.

use super::Tick;
use super::node::{Entry, Link, Node, low, split};
use super::pass::Pass;
use super::pool::{InsertError, Pool, Queue};

impl<T: Tick, E: Copy + PartialEq, const N: usize> Pool<T, E, N> {
    /// Inserts `event`, which expires `delay` ticks from the queue's now on, behind all that expire no
    /// later.
    ///
    /// ```text
    ///   insert X at 7:   --3--> A --9--> B          --3--> A --4--> X --5--> B
    ///   insert X at 50:  --3--> A                   --3--> A --15--> . --15--> . --15--> . --2--> X
    /// ```
    /// O(events before it).
    ///
    /// # Errors
    /// [`InsertError`]; nothing has changed then.
    pub fn insert(&mut self, queue: &mut Queue, delay: u64, event: E) -> Result<(), InsertError> {
        self.insert_after(queue, None, delay, event).map(|_| ())
    }

    /// The same for an event that was taken out in `pass`, on this queue. It is looked for from the one on that was
    /// inserted so before, unless it expires earlier: k events that come again in the order in which they came
    /// take O(k + events before the last). Nothing else may be deleted from the queue in this pass.
    ///
    /// # Errors
    /// [`InsertError`]; nothing has changed then.
    #[inline]
    pub fn insert_again(
        &mut self,
        queue: &mut Queue,
        pass: &mut Pass,
        delay: u64,
        event: E,
    ) -> Result<(), InsertError> {
        let (previous, rest) = pass.look_from(delay);
        let inserted = self.insert_after(queue, previous, rest, event)?;
        pass.keep(inserted, delay);
        Ok(())
    }

    /// Inserts an event that expires `rest` ticks after a node, or after the queue's now. Where it is.
    #[inline(never)]
    fn insert_after(
        &mut self,
        queue: &mut Queue,
        mut previous: Link,
        mut rest: u64,
        event: E,
    ) -> Result<Link, InsertError> {
        let mut next = match self.node(previous) {
            Some(node) => node.next,
            None => queue.head,
        };
        let mut nearer = 0;
        while let Some(node) = self.node(next) {
            let span = node.span();
            let Some(left) = rest.checked_sub(span) else {
                nearer = span.wrapping_sub(rest);
                break;
            };
            T::on_pass();
            rest = left;
            previous = next;
            next = node.next;
        }
        if rest > T::MAX.into() {
            return self.insert_far(queue, [previous, next], [rest, nearer], event);
        }
        let inserted = self.take_at_once(T::of(low(rest)), next, Entry::Event(event));
        if inserted.is_none() {
            return Err(InsertError::Full);
        }
        self.link(queue, previous, inserted);
        // What follows comes after the event now, and is that much nearer to it.
        match self.node_mut(next) {
            Some(node) if !node.is_run() => node.time = T::of(low(nearer)),
            Some(_) => self.set_span(next, nearer),
            None => {}
        }
        Ok(inserted)
    }

    /// The same for an event that is farther away from the one before it than a node can store: with a run of dummies before it, unless one
    /// stands there already.
    #[cold]
    #[inline(never)]
    fn insert_far(
        &mut self,
        queue: &mut Queue,
        [previous, next]: [Link; 2],
        [rest, nearer]: [u64; 2],
        event: E,
    ) -> Result<Link, InsertError> {
        T::on_detour();
        let (dummies, time) = split::<T>(rest).ok_or(InsertError::TooFar)?;
        // Only a queue that was grown while empty ends with a run that could carry on.
        let run_before = previous.filter(|_| self.is_run(previous));
        let needed = if run_before.is_none() { 2 } else { 1 };
        if self.unused() < needed {
            return Err(InsertError::Full);
        }
        let inserted = self.take(time, next, Entry::Event(event));
        let mut first = inserted;
        if run_before.is_some() {
            let carried = u64::from(dummies).saturating_mul(T::MAX.into());
            self.add_span(run_before, carried);
        } else {
            let more = dummies.saturating_sub(1);
            first = self.take(T::of(T::MAX), inserted, Entry::Dummies { more });
        }
        self.link(queue, previous, first);
        self.set_span(next, nearer);
        Ok(inserted)
    }

    /// Inserts `event`, or has it expire `delay` ticks from now on if it is in the queue. O(events before both); O(1) if there is no
    /// other, as a server's queue of its own time most often is.
    ///
    /// # Errors
    /// [`InsertError`]; then it is not in the queue.
    pub fn renew(&mut self, queue: &mut Queue, delay: u64, event: E) -> Result<(), InsertError> {
        if delay <= T::MAX.into() {
            let time = T::of(low(delay));
            match self.node_mut(queue.head) {
                None => return self.push_node(queue, time, Entry::Event(event)),
                Some(node) if node.next.is_none() && node.entry == Entry::Event(event) => {
                    node.time = time;
                    return Ok(());
                }
                Some(_) => {}
            }
        }
        T::on_detour();
        self.delete(queue, event);
        self.insert(queue, delay, event)
    }

    /// Inserts `event` at the queue's now, before all others. O(1).
    ///
    /// # Errors
    /// [`InsertError::Full`]; nothing has changed then.
    pub fn push_front(&mut self, queue: &mut Queue, event: E) -> Result<(), InsertError> {
        self.push_node(queue, T::ZERO, Entry::Event(event))
    }

    /// Inserts a dummy at the queue's now, before all others. A run that stands there already does as
    /// well, and nothing is inserted. O(1).
    ///
    /// # Errors
    /// [`InsertError::Full`]; nothing has changed then.
    pub fn push_dummy(&mut self, queue: &mut Queue) -> Result<(), InsertError> {
        if self.is_run(queue.head) {
            return Ok(());
        }
        self.push_node(queue, T::ZERO, Entry::Dummies { more: 0 })
    }

    pub(super) fn push_node(
        &mut self,
        queue: &mut Queue,
        time: T,
        entry: Entry<E>,
    ) -> Result<(), InsertError> {
        let head = self.take_at_once(time, queue.head, entry);
        if head.is_none() {
            return Err(InsertError::Full);
        }
        queue.head = head;
        Ok(())
    }

    /// Puts a node farther away from the one before it.
    #[cold]
    pub(super) fn add_span(&mut self, link: Link, more: u64) {
        let span = self.node(link).map_or(0, Node::span);
        self.set_span(link, span.saturating_add(more));
    }

    /// Whether a run of dummies is there.
    pub(super) fn is_run(&self, link: Link) -> bool {
        self.node(link).is_some_and(Node::is_run)
    }

    /// Changes how far a node is from the one before it; for an event at most M. A run longer than can be
    /// counted stops at 2^32 dummies.
    pub(super) fn set_span(&mut self, link: Link, span: u64) {
        let Some(node) = self.node_mut(link) else {
            return;
        };
        match &mut node.entry {
            Entry::Event(_) => node.time = T::of(low(span)),
            Entry::Dummies { more } => {
                (*more, node.time) = split::<T>(span).unwrap_or((u32::MAX, T::of(T::MAX)));
            }
        }
    }
}
