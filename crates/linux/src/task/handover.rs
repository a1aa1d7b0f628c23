//! What the manager and one worker hand each other.

use crate::job::Ended;
use crate::words::{Bell, Letter, Mailbox};

/// A job to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) sequence: u64,
    /// The clock reading at which it was released.
    pub(crate) release: u64,
}

impl Letter<2> for Assignment {
    fn to_words(self) -> [u64; 2] {
        [self.sequence, self.release]
    }

    fn from_words([sequence, release]: [u64; 2]) -> Self {
        Self { sequence, release }
    }
}

impl Letter<5> for Ended {
    fn to_words(self) -> [u64; 5] {
        let completed = u64::from(self.completed);
        [
            self.sequence,
            self.release,
            self.finished,
            self.executed,
            completed,
        ]
    }

    fn from_words([sequence, release, finished, executed, completed]: [u64; 5]) -> Self {
        Self {
            sequence,
            release,
            finished,
            executed,
            completed: completed == 1,
        }
    }
}

/// One assignment at a time goes to the worker, one end at a time comes back: the manager assigns
/// only after it has taken the end of the job before.
#[derive(Debug, Default)]
pub(crate) struct Handover {
    /// For the worker: there is something to look at.
    pub(crate) changes: Bell,
    /// The job to begin.
    down: Mailbox<Assignment, 2>,
    /// The job that has ended.
    up: Mailbox<Ended, 5>,
}

impl Handover {
    pub(crate) fn assign(&self, assignment: Assignment) {
        self.down.put(assignment);
        self.changes.ring();
    }

    pub(crate) fn take_assigned(&self) -> Option<Assignment> {
        self.down.take()
    }

    /// Whether a job came back that the manager has not taken yet.
    pub(crate) fn is_handed_back(&self) -> bool {
        self.up.is_full()
    }

    pub(crate) fn hand_back(&self, ended: Ended) {
        self.up.put(ended);
    }

    pub(crate) fn take_done(&self) -> Option<Ended> {
        self.up.take()
    }
}
