//! Counting semaphores. Who has waited longest is first, whatever its priority: which of two servers' tasks is more
//! urgent changes with their budgets.

use crate::kernel::TASKS;
use vestal_hsf::TaskId;

/// Semaphores at most.
const SEMAPHORES: usize = 8;

#[derive(Clone, Copy)]
struct Semaphore {
    count: u32,
    first: Option<TaskId>,
    last: Option<TaskId>,
}

/// All semaphores, and who waits for them: a task waits for one at most, so that one link each is enough.
pub(crate) struct Semaphores {
    all: [Semaphore; SEMAPHORES],
    next: [Option<TaskId>; TASKS],
    waits: [bool; TASKS],
}

impl Semaphores {
    /// All of them empty, and nobody waits.
    pub(crate) const fn new() -> Self {
        let empty = Semaphore {
            count: 0,
            first: None,
            last: None,
        };
        Self {
            all: [empty; SEMAPHORES],
            next: [None; TASKS],
            waits: [false; TASKS],
        }
    }

    /// Whether `task` has it; else it waits from now on. `None` if there is no such semaphore or task. O(1).
    pub(crate) fn take(&mut self, semaphore: u8, task: TaskId) -> Option<bool> {
        let entry = self.all.get_mut(usize::from(semaphore))?;
        let link = self.next.get_mut(task.index())?;
        if let Some(left) = entry.count.checked_sub(1) {
            entry.count = left;
            return Some(true);
        }
        *self.waits.get_mut(task.index())? = true;
        *link = None;
        match entry.last.replace(task) {
            None => entry.first = Some(task),
            Some(last) => *self.next.get_mut(last.index())? = Some(task),
        }
        Some(false)
    }

    /// Who has it now and need no longer wait; if nobody waited it is counted. `None` if there is no such semaphore. O(1).
    pub(crate) fn give(&mut self, semaphore: u8) -> Option<Option<TaskId>> {
        let entry = self.all.get_mut(usize::from(semaphore))?;
        let Some(first) = entry.first else {
            entry.count = entry.count.saturating_add(1);
            return Some(None);
        };
        entry.first = self.next.get_mut(first.index())?.take();
        if entry.first.is_none() {
            entry.last = None;
        }
        *self.waits.get_mut(first.index())? = false;
        Some(Some(first))
    }

    /// Whether a task waits for a semaphore.
    pub(crate) fn is_waiting(&self, task: TaskId) -> bool {
        self.waits.get(task.index()).is_some_and(|&waits| waits)
    }
}
