//! The ready queue of an engine whose order is fixed or varies from job to job.

use super::{ModeHeaps, ReadyHeap, ReadyRanks};
use crate::ids::TaskId;
use crate::model::Level;
use crate::store::Store;
use crate::urgency::Urgency;

/// The most urgent task first, whichever way the order is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReadyQueue<S: Store> {
    /// The order of the tasks never changes.
    Fixed(ReadyRanks<S>),
    /// Each job has its urgency.
    Varying(ReadyHeap<S>),
    /// The same, in two queues: one for mode 0, one for the modes above.
    ByMode(ModeHeaps<S>),
}

impl<S: Store> ReadyQueue<S> {
    /// Queues `task`, or moves it to a new urgency; a fixed order does not ask for that. `urgency` says how urgent it
    /// is in a mode: in the present one, `mode`, it is admitted; nothing for one that does not admit it.
    #[inline]
    pub fn insert(
        &mut self,
        task: TaskId,
        mode: Level,
        urgency: impl Fn(Level) -> Option<Urgency>,
    ) {
        match self {
            Self::Fixed(ranks) => ranks.insert(task),
            Self::Varying(heap) => {
                if let Some(urgency) = urgency(mode) {
                    heap.insert(task, urgency);
                }
            }
            Self::ByMode(heaps) => heaps.insert(task, urgency),
        }
    }

    /// The mode changes to `to`. Says whether what is queued has to be queued anew where urgencies depend
    /// on the mode.
    #[inline]
    pub fn change_mode(&mut self, to: Level) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Varying(_) => true,
            Self::ByMode(heaps) => {
                heaps.set_mode(to > Level::LOWEST);
                false
            }
        }
    }

    /// Removes `task`; says whether it was queued.
    #[inline]
    pub fn remove(&mut self, task: TaskId) -> bool {
        if let Self::Fixed(ranks) = self {
            ranks.remove(task)
        } else {
            self.remove_varying(task)
        }
    }

    /// The most urgent task.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<TaskId> {
        if let Self::Fixed(ranks) = self {
            ranks.first()
        } else {
            self.first_varying()
        }
    }

    // The rest of the two, apart so that a fixed order does not pay for what it has not.

    fn remove_varying(&mut self, task: TaskId) -> bool {
        match self {
            Self::Fixed(ranks) => ranks.remove(task),
            Self::Varying(heap) => heap.remove(task),
            Self::ByMode(heaps) => heaps.remove(task),
        }
    }

    fn first_varying(&self) -> Option<TaskId> {
        match self {
            Self::Fixed(ranks) => ranks.first(),
            Self::Varying(heap) => heap.first().map(|(_, task)| task),
            Self::ByMode(heaps) => heaps.first(),
        }
    }

    /// Whether `task` is queued.
    #[inline]
    #[must_use]
    pub fn contains(&self, task: TaskId) -> bool {
        match self {
            Self::Fixed(ranks) => ranks.contains(task),
            Self::Varying(heap) => heap.contains(task),
            Self::ByMode(heaps) => heaps.present().contains(task),
        }
    }

    /// Whether two queues hold what they should; for tests.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        match self {
            Self::Fixed(_) | Self::Varying(_) => true,
            Self::ByMode(heaps) => heaps.is_consistent(),
        }
    }

    /// Whether no task is queued.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        match self {
            Self::Fixed(ranks) => ranks.is_empty(),
            Self::Varying(heap) => heap.is_empty(),
            Self::ByMode(heaps) => heaps.present().is_empty(),
        }
    }
}
