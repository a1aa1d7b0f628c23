//! What the manager and one worker hand each other.

use crate::job::Ended;
use crate::sys::futex::Calls;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A job to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) sequence: u64,
    /// The clock reading at which it was released.
    pub(crate) release: u64,
}

/// One assignment at a time goes to the worker, one end at a time comes back: the manager assigns
/// only after it has taken the end of the job before.
#[derive(Debug, Default)]
pub(crate) struct Handover {
    /// For the worker: there is something to look at.
    pub(crate) changes: Calls,
    /// The job to begin, plus one; 0: none. Cleared by the worker.
    assigned: AtomicU64,
    release: AtomicU64,
    /// The job that ended, plus one; 0: none. Cleared by the manager.
    done: AtomicU64,
    executed: AtomicU64,
    finished: AtomicU64,
    completed: AtomicBool,
}

impl Handover {
    pub(crate) fn assign(&self, assignment: Assignment) {
        self.release.store(assignment.release, Ordering::SeqCst);
        self.assigned
            .store(assignment.sequence.saturating_add(1), Ordering::SeqCst);
        self.changes.call();
    }

    pub(crate) fn take_assigned(&self) -> Option<Assignment> {
        let sequence = self.assigned.swap(0, Ordering::SeqCst).checked_sub(1)?;
        Some(Assignment {
            sequence,
            release: self.release.load(Ordering::SeqCst),
        })
    }

    /// Whether a job came back that the manager has not taken yet.
    pub(crate) fn is_handed_back(&self) -> bool {
        self.done.load(Ordering::SeqCst) != 0
    }

    pub(crate) fn hand_back(&self, done: &Ended) {
        self.executed.store(done.executed, Ordering::SeqCst);
        self.finished.store(done.finished, Ordering::SeqCst);
        self.completed.store(done.completed, Ordering::SeqCst);
        self.done
            .store(done.sequence.saturating_add(1), Ordering::SeqCst);
    }

    pub(crate) fn take_done(&self) -> Option<Ended> {
        let sequence = self.done.swap(0, Ordering::SeqCst).checked_sub(1)?;
        Some(Ended {
            sequence,
            // Of the same job, because no other is assigned before its end is taken.
            release: self.release.load(Ordering::SeqCst),
            executed: self.executed.load(Ordering::SeqCst),
            finished: self.finished.load(Ordering::SeqCst),
            completed: self.completed.load(Ordering::SeqCst),
        })
    }
}
