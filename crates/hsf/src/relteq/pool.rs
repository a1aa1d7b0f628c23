//! The pool: all nodes of all queues, used and unused ones.

use super::Tick;
use super::node::{Entry, Index, Item, Link, Node};
use core::fmt;
use core::iter;

/// A queue: where it begins in its pool. Never use it with another pool.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Queue {
    pub(super) head: Link,
}

impl Queue {
    /// A queue without events.
    #[must_use]
    pub const fn new() -> Self {
        Self { head: None }
    }

    /// Whether it has neither events nor dummies.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.head.is_none()
    }
}

/// Why an event was not inserted. The queue is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InsertError {
    /// No node is left, or only one and two are needed.
    Full,
    /// More dummies in a row than a count of 32 bits holds.
    TooFar,
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "no room for another event",
            Self::TooFar => "the event is too far away to be counted in ticks of this width",
        })
    }
}

impl core::error::Error for InsertError {}

/// `N` nodes, at most 65535, for any number of queues of events `E` with times in `T`.
#[derive(Debug)]
pub struct Pool<T, E, const N: usize> {
    nodes: [Node<T, E>; N],
    /// Nodes that were given back.
    returned: Link,
    /// How many nodes were ever taken: nobody looks at those behind, so that `new` need not link them.
    ever_used: u16,
    used: u16,
}

impl<T: Tick, E: Copy + PartialEq, const N: usize> Default for Pool<T, E, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Tick, E: Copy + PartialEq, const N: usize> Pool<T, E, N> {
    const CAPACITY: u16 = {
        assert!(N <= u16::MAX as usize, "a pool has at most 65535 nodes");
        #[expect(clippy::cast_possible_truncation, reason = "checked when compiled")]
        let capacity = N as u16;
        capacity
    };

    /// A pool of unused nodes.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            nodes: [Node::UNUSED; N],
            returned: None,
            ever_used: 0,
            used: 0,
        }
    }

    /// Makes it as it was at the beginning. Every queue of it has to be made anew.
    pub const fn clear(&mut self) {
        self.returned = None;
        self.ever_used = 0;
        self.used = 0;
    }

    /// How many nodes are in use, those of dummies included.
    #[must_use]
    pub const fn used(&self) -> u16 {
        self.used
    }

    /// How many are not.
    #[must_use]
    pub const fn unused(&self) -> u16 {
        Self::CAPACITY.saturating_sub(self.used)
    }

    /// The nodes of a queue in order, for those who draw it. O(1) each.
    pub fn items<'a>(&'a self, queue: &Queue) -> impl Iterator<Item = Item<E>> + use<'a, T, E, N> {
        let mut next = queue.head;
        iter::from_fn(move || {
            let node = self.node(next)?;
            next = node.next;
            Some(Item {
                time: node.time.get(),
                entry: node.entry,
            })
        })
    }

    /// When the first event expires, from the queue's now on, and which it is. O(1).
    #[must_use]
    pub fn first(&self, queue: &Queue) -> Option<(u64, E)> {
        self.find(queue, |_| true)
    }

    /// When `event` expires, from the queue's now on. O(events before it).
    #[must_use]
    pub fn remaining(&self, queue: &Queue, event: E) -> Option<u64> {
        self.find(queue, |other| other == event).map(|(at, _)| at)
    }

    fn find(&self, queue: &Queue, is_it: impl Fn(E) -> bool) -> Option<(u64, E)> {
        let mut at = 0_u64;
        let mut next = queue.head;
        while let Some(node) = self.node(next) {
            at = at.wrapping_add(node.span());
            if let Entry::Event(event) = node.entry
                && is_it(event)
            {
                return Some((at, event));
            }
            next = node.next;
        }
        None
    }

    /// Ticks until the head changes, be it an event or a dummy: what a timer is set to. O(1).
    #[must_use]
    #[inline]
    pub fn head(&self, queue: &Queue) -> Option<u32> {
        self.node(queue.head).map(|node| node.time.get())
    }

    /// Whether I1 to I3 of the module hold for `queue`, and its last node is an event or `grown`.
    #[must_use]
    pub fn is_consistent(&self, queue: &Queue, grown: bool) -> bool {
        let mut after_run = false;
        for item in self.items(queue) {
            let sound = match item.entry {
                Entry::Event(_) => true,
                Entry::Dummies { more } => !after_run && (more == 0 || item.time > 0),
            };
            if !sound || item.time > T::MAX {
                return false;
            }
            after_run = matches!(item.entry, Entry::Dummies { .. });
        }
        grown || !after_run
    }

    /// The node there; `None` behind the end of a queue.
    #[inline]
    pub(super) fn node(&self, link: Link) -> Option<&Node<T, E>> {
        self.nodes.get(position(link))
    }

    #[inline]
    pub(super) fn node_mut(&mut self, link: Link) -> Option<&mut Node<T, E>> {
        self.nodes.get_mut(position(link))
    }

    /// Has `previous`, or the queue itself, go on with `next`.
    pub(super) fn link(&mut self, queue: &mut Queue, previous: Link, next: Link) {
        match self.node_mut(previous) {
            None => queue.head = next,
            Some(node) => node.next = next,
        }
    }

    /// Takes an unused node.
    #[inline(never)]
    pub(super) fn take(&mut self, time: T, next: Link, entry: Entry<E>) -> Link {
        self.take_at_once(time, next, entry)
    }

    /// The same without a call, where that pays.
    #[inline]
    pub(super) fn take_at_once(&mut self, time: T, next: Link, entry: Entry<E>) -> Link {
        let mut link = self.returned;
        match self.node(link) {
            Some(returned) => self.returned = returned.next,
            None => {
                let ever_used = self.ever_used.checked_add(1)?;
                link = Index::new(ever_used).filter(|_| ever_used <= Self::CAPACITY);
                self.ever_used = link?.get();
            }
        }
        // At most the capacity.
        self.used = self.used.wrapping_add(1);
        *self.node_mut(link)? = Node { time, next, entry };
        link
    }

    /// Gives a node back that no queue leads to any more.
    pub(super) fn give_back(&mut self, link: Link) {
        let next = self.returned;
        if let Some(node) = self.node_mut(link) {
            node.next = next;
            self.returned = link;
            self.used = self.used.wrapping_sub(1);
        }
    }
}

/// Where a pool has its node: no pool has one as far away as what is linked to nothing.
fn position(link: Link) -> usize {
    usize::from(link.map_or(0, Index::get)).wrapping_sub(1)
}
