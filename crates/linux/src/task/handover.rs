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

/// The job that the worker has waits for events of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) sequence: u64,
    /// Its place among the devices of the CPU.
    pub(crate) device: usize,
    /// For how many events.
    pub(crate) events: u64,
    /// How many had been served when it began to wait.
    pub(crate) served: u64,
    /// The clock then.
    pub(crate) at: u64,
}

impl Letter<5> for Wait {
    fn to_words(self) -> [u64; 5] {
        let device = self.device as u64;
        [self.sequence, device, self.events, self.served, self.at]
    }

    fn from_words([sequence, device, events, served, at]: [u64; 5]) -> Self {
        Self {
            sequence,
            device: usize::try_from(device).unwrap_or(usize::MAX),
            events,
            served,
            at,
        }
    }
}

/// The job that waited goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GoOn;

impl Letter<0> for GoOn {
    fn to_words(self) -> [u64; 0] {
        []
    }

    fn from_words([]: [u64; 0]) -> Self {
        Self
    }
}

/// One assignment at a time goes to the worker, one end at a time comes back: the manager assigns
/// only after it has taken the end of the job before. A job that waits for events says so once, and goes on once.
#[derive(Debug, Default)]
pub(crate) struct Handover {
    /// For the worker: there is something to look at.
    pub(crate) changes: Bell,
    /// The job to begin.
    down: Mailbox<Assignment, 2>,
    /// The job that has ended.
    up: Mailbox<Ended, 5>,
    /// The job that has begun to wait.
    waits: Mailbox<Wait, 5>,
    /// That it goes on.
    on: Mailbox<GoOn, 0>,
}

impl Handover {
    pub(crate) fn assign(&self, assignment: Assignment) {
        self.down.put(assignment);
        self.changes.ring();
    }

    pub(crate) fn take_assigned(&self) -> Option<Assignment> {
        self.down.take()
    }

    /// Whether a job came back of which the manager has not heard yet.
    pub(crate) fn is_handed_back(&self) -> bool {
        self.up.is_full()
    }

    /// Whether a job waits of which the manager has not heard yet.
    pub(crate) fn has_wait(&self) -> bool {
        self.waits.is_full()
    }

    /// By the worker, whose job waits from here on until it is to go on.
    pub(crate) fn wait(&self, wait: Wait) {
        self.waits.put(wait);
    }

    pub(crate) fn take_wait(&self) -> Option<Wait> {
        self.waits.take()
    }

    /// By the manager, of a job that waits.
    pub(crate) fn go_on(&self) {
        self.on.put(GoOn);
        self.changes.ring();
    }

    /// Whether the job that waits goes on.
    pub(crate) fn take_go_on(&self) -> bool {
        self.on.take().is_some()
    }

    pub(crate) fn hand_back(&self, ended: Ended) {
        self.up.put(ended);
    }

    pub(crate) fn take_done(&self) -> Option<Ended> {
        self.up.take()
    }
}
