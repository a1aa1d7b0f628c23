//! One ready heap for every order: nodes of (urgency, task), each task at most once.

use crate::ids::TaskId;
use crate::order::Urgency;
use crate::store::Store;

/// Stands in the position table for a task that is not in the heap.
const NOT_QUEUED: u16 = u16::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    urgency: Urgency,
    task: TaskId,
}

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
    len: usize,
}

impl<S: Store> ReadyHeap<S> {
    /// An empty heap for task numbers below `tasks`; `None` if the storage is too small.
    #[must_use]
    pub fn new(tasks: usize) -> Option<Self> {
        if tasks >= usize::from(NOT_QUEUED) {
            return None;
        }
        let filler = Node {
            urgency: Urgency::of_deadline_nanos(u64::MAX),
            task: TaskId(0),
        };
        Some(Self {
            nodes: S::table(tasks, filler)?,
            positions: S::table(tasks, NOT_QUEUED)?,
            len: 0,
        })
    }

    /// The most urgent task.
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
        self.len
    }

    /// Whether no task is queued.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Queues `task`, or moves it to a new urgency if it is queued already.
    pub fn insert(&mut self, task: TaskId, urgency: Urgency) {
        let place = match self.position(task) {
            Some(place) => place,
            None if task.index() < self.positions.len() => {
                let place = self.len;
                self.len = self.len.saturating_add(1);
                place
            }
            None => return,
        };
        self.set(place, Node { urgency, task });
        let place = self.rise(place);
        self.sink(place);
    }

    /// Removes `task`; says whether it was queued.
    pub fn remove(&mut self, task: TaskId) -> bool {
        let Some(place) = self.position(task) else {
            return false;
        };
        if let Some(entry) = self.positions.get_mut(task.index()) {
            *entry = NOT_QUEUED;
        }
        self.len = self.len.saturating_sub(1);
        if place < self.len
            && let Some(&last) = self.nodes.get(self.len)
        {
            self.set(place, last);
            let place = self.rise(place);
            self.sink(place);
        }
        self.erase(self.len);
        true
    }

    /// Whether `task` is queued.
    #[must_use]
    pub fn contains(&self, task: TaskId) -> bool {
        self.position(task).is_some()
    }

    fn position(&self, task: TaskId) -> Option<usize> {
        self.positions
            .get(task.index())
            .copied()
            .filter(|&at| at != NOT_QUEUED)
            .map(usize::from)
    }

    fn set(&mut self, place: usize, node: Node) {
        if let Some(entry) = self.nodes.get_mut(place) {
            *entry = node;
        }
        if let (Some(entry), Ok(place)) = (
            self.positions.get_mut(node.task.index()),
            u16::try_from(place),
        ) {
            *entry = place;
        }
    }

    /// Two heaps with the same content compare equal, so a place given up holds the filler.
    fn erase(&mut self, place: usize) {
        if let Some(entry) = self.nodes.get_mut(place) {
            *entry = Node {
                urgency: Urgency::of_deadline_nanos(u64::MAX),
                task: TaskId(0),
            };
        }
    }

    fn rise(&mut self, mut place: usize) -> usize {
        let Some(&node) = self.nodes.get(place) else {
            return place;
        };
        while place > 0 {
            let parent = place.saturating_sub(1) / 2;
            match self.nodes.get(parent) {
                Some(&above) if node.goes_before(above) => self.set(place, above),
                Some(_) | None => break,
            }
            place = parent;
        }
        self.set(place, node);
        place
    }

    fn sink(&mut self, mut place: usize) {
        let Some(&node) = self.nodes.get(place) else {
            return;
        };
        loop {
            let left = place.saturating_mul(2).saturating_add(1);
            let right = left.saturating_add(1);
            if left >= self.len {
                break;
            }
            let (Some(&left_node), right_node) = (self.nodes.get(left), self.nodes.get(right))
            else {
                break;
            };
            let (child, child_node) = match right_node {
                Some(&right_node) if right < self.len && right_node.goes_before(left_node) => {
                    (right, right_node)
                }
                Some(_) | None => (left, left_node),
            };
            if !child_node.goes_before(node) {
                break;
            }
            self.set(place, child_node);
            place = child;
        }
        self.set(place, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Boxed;
    use std::collections::BTreeMap;

    #[test]
    fn the_heap_agrees_with_a_sorted_map_over_a_long_random_history() {
        let mut heap = ReadyHeap::<Boxed>::new(12).unwrap();
        let mut model: BTreeMap<u16, u64> = BTreeMap::new();
        let mut state = 42_u64;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
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
