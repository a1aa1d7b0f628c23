//! Two ready queues side by side: one in the order of mode 0, one in that of the modes above.

use super::ReadyHeap;
use crate::ids::TaskId;
use crate::model::Level;
use crate::store::Store;
use crate::urgency::Urgency;

/// Ready tasks in two heaps, of which the one of the present mode counts, so that a rise of the mode sorts nothing
/// (Sigrist et al., RTAS 2015, section V-B). In mode 0 each task is in the heap of mode 0, and in the other one too if
/// it stays when the mode rises; in a mode above, what comes is in the heap of those modes alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModeHeaps<S: Store> {
    lowest: ReadyHeap<S>,
    above: ReadyHeap<S>,
    is_above: bool,
}

impl<S: Store> ModeHeaps<S> {
    /// Empty ones, in mode 0, for task numbers below `tasks`; `None` if the storage is too small.
    #[must_use]
    pub fn new(tasks: usize) -> Option<Self> {
        Some(Self {
            lowest: ReadyHeap::new(tasks)?,
            above: ReadyHeap::new(tasks)?,
            is_above: false,
        })
    }

    /// Queues `task`, or moves it, by its urgency in mode 0 and by that in the modes above, if it stays in them.
    #[inline]
    pub fn insert(&mut self, task: TaskId, urgency: impl Fn(Level) -> Option<Urgency>) {
        if !self.is_above
            && let Some(urgency) = urgency(Level::LOWEST)
        {
            self.lowest.insert(task, urgency);
        }
        if let Some(urgency) = urgency(Level(1)) {
            self.above.insert(task, urgency);
        }
    }

    /// The most urgent task.
    #[must_use]
    pub fn first(&self) -> Option<TaskId> {
        self.present().first().map(|(_, task)| task)
    }

    /// Removes `task` from both; says whether it was in that of the present mode.
    pub fn remove(&mut self, task: TaskId) -> bool {
        let (lowest, above) = (self.lowest.remove(task), self.above.remove(task));
        if self.is_above { above } else { lowest }
    }

    /// From now on the heap of mode 0 counts, or the other. O(1). Mode 0 comes back when nothing is queued.
    pub const fn set_mode(&mut self, is_above: bool) {
        self.is_above = is_above;
    }

    /// That of the present mode.
    #[inline]
    #[must_use]
    pub const fn present(&self) -> &ReadyHeap<S> {
        if self.is_above {
            &self.above
        } else {
            &self.lowest
        }
    }

    /// Whether the other heap has no task that this one has not, as it should be in mode 0 and, above it, when nothing
    /// is queued; for tests.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        match self.is_above {
            true => !self.above.is_empty() || self.lowest.is_empty(),
            false => self.above.tasks().all(|task| self.lowest.contains(task)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Boxed;

    #[test]
    fn the_heap_of_the_present_mode_counts() {
        let due = Urgency::of_deadline_nanos;
        let mut heaps = ModeHeaps::<Boxed>::new(3).unwrap();
        let in_modes = |lowest, above: Option<u64>| {
            move |mode| match mode {
                Level::LOWEST => Some(due(lowest)),
                _ => above.map(due),
            }
        };
        heaps.insert(TaskId(0), in_modes(1, None));
        heaps.insert(TaskId(1), in_modes(2, Some(9)));
        heaps.insert(TaskId(2), in_modes(3, Some(8)));
        assert_eq!(heaps.present().first(), Some((due(1), TaskId(0))));
        assert!(heaps.is_consistent());
        heaps.set_mode(true);
        assert_eq!(heaps.present().first(), Some((due(8), TaskId(2))));
        assert!(!heaps.remove(TaskId(0)));
        heaps.insert(TaskId(0), in_modes(0, Some(7)));
        assert_eq!(heaps.present().first(), Some((due(7), TaskId(0))));
        let removed = [0, 1, 2].map(|task| heaps.remove(TaskId(task)));
        assert_eq!(removed, [true; 3]);
        assert!(heaps.present().is_empty() && heaps.is_consistent());
        heaps.set_mode(false);
        assert_eq!(heaps.present().first(), None);
    }
}
