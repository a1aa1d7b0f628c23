//! One ready heap for every order: nodes of (urgency, task), each task at most once.

use crate::ids::TaskId;
use crate::store::Store;
use crate::urgency::Urgency;

/// Stands in the position table for a task that is not in the heap.
const NOT_QUEUED: u16 = u16::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    urgency: Urgency,
    task: TaskId,
}

/// Stands in every index that is not used.
const FILLER: Node = Node {
    urgency: Urgency::of_deadline_nanos(u64::MAX),
    task: TaskId(0),
};

impl Node {
    /// Ties go to the lower task number.
    fn goes_before(self, other: Self) -> bool {
        self.urgency.is_more_urgent_than(other.urgency)
            || (self.urgency == other.urgency && self.task < other.task)
    }
}

/// A binary heap of tasks with the position of each, so that any task leaves in O(log n).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadyHeap<S: Store> {
    nodes: S::Table<Node>,
    positions: S::Table<u16>,
    /// Below [`NOT_QUEUED`], so that an index fits the table of positions without a conversion.
    len: u16,
}

impl<S: Store> ReadyHeap<S> {
    /// An empty heap for task numbers below `tasks`; `None` if the storage is too small.
    #[must_use]
    pub fn new(tasks: usize) -> Option<Self> {
        if tasks >= usize::from(NOT_QUEUED) {
            return None;
        }
        Some(Self {
            nodes: S::table(tasks, FILLER)?,
            positions: S::table(tasks, NOT_QUEUED)?,
            len: 0,
        })
    }

    /// The most urgent task.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<(Urgency, TaskId)> {
        if self.len == 0 {
            return None;
        }
        self.nodes.first().map(|node| (node.urgency, node.task))
    }

    /// How many tasks are queued.
    #[must_use]
    pub const fn len(&self) -> usize {
        // Widening; `usize::from` is not const.
        self.len as usize
    }

    /// Whether no task is queued.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Queues `task`, or moves it to a new urgency if it is queued already.
    #[inline]
    pub fn insert(&mut self, task: TaskId, urgency: Urgency) {
        let Some(position) = self.positions.get(task.index()) else {
            return;
        };
        let node = Node { urgency, task };
        if *position == NOT_QUEUED {
            // A new one stands at the end, with none below it.
            let index = self.len;
            self.len = self.len.saturating_add(1);
            self.rise(index, node);
        } else {
            self.replace(*position, node);
        }
    }

    /// Removes `task`; says whether it was queued.
    #[inline]
    pub fn remove(&mut self, task: TaskId) -> bool {
        if self.len == 0 {
            return false;
        }
        let Some(position) = self.positions.get_mut(task.index()) else {
            return false;
        };
        let index = core::mem::replace(position, NOT_QUEUED);
        if index == NOT_QUEUED {
            return false;
        }
        self.len = self.len.saturating_sub(1);
        // Two heaps with the same content compare equal, so an index no longer in use holds the filler.
        let Some(last) = self.nodes.get_mut(usize::from(self.len)) else {
            return true;
        };
        let last = core::mem::replace(last, FILLER);
        if index < self.len {
            self.replace(index, last);
        }
        true
    }

    /// Whether `task` is queued.
    #[must_use]
    pub fn contains(&self, task: TaskId) -> bool {
        self.positions
            .get(task.index())
            .is_some_and(|&at| at != NOT_QUEUED)
    }

    /// The tasks that are queued, in no order.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> {
        let queued = self.nodes.iter().take(self.len());
        queued.map(|node| node.task)
    }

    /// How urgent `task` is, if it is queued.
    #[must_use]
    pub fn urgency(&self, task: TaskId) -> Option<Urgency> {
        let index = *self.positions.get(task.index())?;
        self.nodes.get(usize::from(index)).map(|node| node.urgency)
    }

    /// Puts `node` where `index` is, and then where it belongs from there.
    #[inline]
    fn replace(&mut self, index: u16, node: Node) {
        if self.rise(index, node) == index {
            self.sink(index, node);
        }
    }

    #[inline]
    fn set(&mut self, index: u16, node: Node) {
        if let Some(entry) = self.nodes.get_mut(usize::from(index)) {
            *entry = node;
        }
        if let Some(entry) = self.positions.get_mut(node.task.index()) {
            *entry = index;
        }
    }

    /// Puts `node` where it belongs on the way from `index` to the root; says where.
    #[inline]
    fn rise(&mut self, mut index: u16, node: Node) -> u16 {
        while index > 0 {
            let parent = index.saturating_sub(1) / 2;
            match self.nodes.get(usize::from(parent)) {
                Some(&above) if node.goes_before(above) => self.set(index, above),
                Some(_) | None => break,
            }
            index = parent;
        }
        self.set(index, node);
        index
    }

    /// Moves `node`, which stands at `index`, to where it belongs below.
    #[inline]
    fn sink(&mut self, mut index: u16, node: Node) {
        loop {
            let left = index.saturating_mul(2).saturating_add(1);
            let right = left.saturating_add(1);
            if left >= self.len {
                break;
            }
            let Some(&left_node) = self.nodes.get(usize::from(left)) else {
                break;
            };
            let (child, child_node) = match self.nodes.get(usize::from(right)) {
                Some(&right_node) if right < self.len && right_node.goes_before(left_node) => {
                    (right, right_node)
                }
                Some(_) | None => (left, left_node),
            };
            if !child_node.goes_before(node) {
                break;
            }
            self.set(index, child_node);
            self.set(child, node);
            index = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Boxed;
    use std::collections::BTreeMap;
    use vestal_testkit::Random;

    #[test]
    fn the_heap_agrees_with_a_sorted_map_over_a_long_random_history() {
        let mut heap = ReadyHeap::<Boxed>::new(12).unwrap();
        let mut model: BTreeMap<u16, u64> = BTreeMap::new();
        let mut random = Random::new(42);
        for _ in 0..20_000 {
            let state = random.next();
            let task = (state >> 33) as u16 % 12;
            let urgency = (state >> 40) % 5;
            if (state >> 60) < 9 {
                heap.insert(TaskId(task), Urgency::of_deadline_nanos(urgency));
                model.insert(task, urgency);
            } else {
                assert_eq!(heap.remove(TaskId(task)), model.remove(&task).is_some());
            }
            let first = model.iter().map(|(&task, &urgency)| (urgency, task)).min();
            let expected =
                first.map(|(urgency, task)| (Urgency::of_deadline_nanos(urgency), TaskId(task)));
            assert_eq!(heap.first(), expected);
            assert_eq!(heap.len(), model.len());
        }
    }

    #[test]
    fn equal_urgencies_go_to_the_lower_task_number() {
        let mut heap = ReadyHeap::<Boxed>::new(3).unwrap();
        let same = Urgency::of_priority(5);
        heap.insert(TaskId(2), same);
        heap.insert(TaskId(1), same);
        assert_eq!(heap.first(), Some((same, TaskId(1))));
    }
}
