//! The ready queue of an engine whose order is fixed or varies from job to job.

use super::{ReadyHeap, ReadyRanks};
use crate::ids::TaskId;
use crate::store::Store;
use crate::urgency::Urgency;

/// The most urgent task first, whichever way the order is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReadyQueue<S: Store> {
    /// The order of the tasks never changes.
    Fixed(ReadyRanks<S>),
    /// Each job has its urgency.
    Varying(ReadyHeap<S>),
}

impl<S: Store> ReadyQueue<S> {
    /// Queues `task`, or moves it to a new urgency; a fixed order does not ask for that.
    #[inline]
    pub fn insert(&mut self, task: TaskId, urgency: Urgency) {
        match self {
            Self::Fixed(ranks) => ranks.insert(task),
            Self::Varying(heap) => heap.insert(task, urgency),
        }
    }

    /// Removes `task`; says whether it was queued.
    #[inline]
    pub fn remove(&mut self, task: TaskId) -> bool {
        match self {
            Self::Fixed(ranks) => ranks.remove(task),
            Self::Varying(heap) => heap.remove(task),
        }
    }

    /// The most urgent task.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<TaskId> {
        match self {
            Self::Fixed(ranks) => ranks.first(),
            Self::Varying(heap) => heap.first().map(|(_, task)| task),
        }
    }

    /// Whether `task` is queued.
    #[inline]
    #[must_use]
    pub fn contains(&self, task: TaskId) -> bool {
        match self {
            Self::Fixed(ranks) => ranks.contains(task),
            Self::Varying(heap) => heap.contains(task),
        }
    }

    /// Whether no task is queued.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        match self {
            Self::Fixed(ranks) => ranks.is_empty(),
            Self::Varying(heap) => heap.is_empty(),
        }
    }
}
