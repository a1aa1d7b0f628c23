//! What a thread of a run can note.
//!
//! All instants are readings of the clock, all amounts nanoseconds.

use super::exceeded::Exceeded;
use super::job::{Suspensions, ThreadCost};
use super::reaction::Duty;
use vestal_core::DropReason;

/// Which thread of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thread {
    Manager,
    Idle,
    Watchdog,
    /// The worker of the task with this index.
    Worker(usize),
}

impl Thread {
    /// How many there are beside the workers.
    pub(crate) const OTHERS: usize = 3;

    /// Its place in a list of all threads.
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Manager => 0,
            Self::Idle => 1,
            Self::Watchdog => 2,
            Self::Worker(index) => Self::OTHERS + index,
        }
    }

    pub(super) const fn of_index(index: usize) -> Self {
        match index {
            0 => Self::Manager,
            1 => Self::Idle,
            2 => Self::Watchdog,
            _ => Self::Worker(index - Self::OTHERS),
        }
    }
}

/// What the kernel counted of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waited {
    /// For how long it was ready and another one had its CPU.
    pub(crate) nanos: u64,
    /// How often it got the CPU.
    pub(crate) times: u64,
}

/// Since when a thread of the run that gets the CPU was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Since this clock reading.
    Since(u64),
    /// The same of a thread that no other of the run keeps from the CPU.
    AtOnceSince(u64),
    /// Since the manager, which called it, left the CPU.
    ByTheManager,
}

impl Wanted {
    /// The clock reading, if it is known.
    pub(crate) const fn since(self) -> Option<u64> {
        match self {
            Self::Since(since) | Self::AtOnceSince(since) => Some(since),
            Self::ByTheManager => None,
        }
    }

    /// The same, but not before `instant`.
    pub(crate) fn from(self, instant: u64) -> Self {
        match self {
            Self::Since(since) => Self::Since(since.max(instant)),
            Self::AtOnceSince(since) => Self::AtOnceSince(since.max(instant)),
            Self::ByTheManager => self,
        }
    }
}

/// An execution interval of a thread outside bodies, as it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) thread: Thread,
    pub(crate) duty: Duty,
    pub(crate) began: u64,
    pub(crate) now: u64,
    /// The thread's CPU clock when it began and when it ends.
    pub(crate) cpu: (u64, u64),
    /// What the kernel counted in it; read only where time is missing.
    pub(crate) counted: Option<Waited>,
    /// No other thread of the run has noted anything since it began.
    pub(crate) alone: bool,
    /// The thread waits from now on; otherwise a body begins.
    pub(crate) waits: bool,
}

/// The end of a job that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) sequence: u64,
    pub(crate) release: u64,
    /// When its body returned.
    pub(crate) finished: u64,
    pub(crate) executed: u64,
    /// The clock at this note.
    pub(crate) at: u64,
    /// What all threads of the run had consumed then; read only of late jobs that nobody looked at.
    pub(crate) consumed: Option<u64>,
}

/// A job that the end of the run met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) sequence: u64,
    pub(crate) release: u64,
    /// What it has executed by now.
    pub(crate) executed: u64,
    /// When the run was stopped.
    pub(crate) stopped: u64,
    pub(crate) at: u64,
    /// What all threads of the run have consumed by now; read only if it is late.
    pub(crate) consumed: Option<u64>,
    /// It had been dropped.
    pub(crate) dropped: bool,
}

/// The return of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Return {
    pub(crate) sequence: u64,
    pub(crate) executed: u64,
    pub(crate) now: u64,
    /// Enforcement had taken the job's priority.
    pub(crate) lost: bool,
}

/// What a thread notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The run begins at `epoch`.
    Run {
        epoch: u64,
    },
    /// A thread gets the CPU. `burned`: when a burning job last looked at the clock; 0: none burned.
    Begin {
        thread: Thread,
        wanted: Wanted,
        now: u64,
        burned: u64,
    },
    /// Its interval has begun at `began`, after `waited` of which the kernel says that another thread had the
    /// CPU. `alone`: no other thread noted anything between [`Note::Begin`], at `now`, and this.
    Opened {
        thread: Thread,
        since: Option<u64>,
        now: u64,
        began: u64,
        waited: u64,
        alone: bool,
    },
    /// The idle detector gets the CPU.
    Idle,
    Interval(Interval),
    /// A thread that goes on for some instructions leaves the CPU to the manager.
    Leaves {
        now: u64,
    },
    /// The clock jumped in a burning job, which was charged for `charged` of it. `counted`: what the
    /// kernel counted of the thread, if it counts.
    Jump {
        from: u64,
        to: u64,
        charged: u64,
        counted: Option<Waited>,
    },
    /// A burning job that looked at the clock at `looked` goes on after other threads of the run, having
    /// waited for `waited` in all.
    Resumed {
        looked: u64,
        now: u64,
        waited: u64,
    },
    /// A body that did something else than burn had no CPU for so long, and no thread of the run had it.
    Away {
        now: u64,
        waited: u64,
    },
    /// The manager lets a thread go on that had used up a budget which outlives jobs.
    Exceeded(Exceeded),
    /// About the task with this index.
    Task(usize, TaskNote),
}

/// What a thread notes of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskNote {
    /// Its worker, which waited for a release, goes on.
    Released {
        release: u64,
        now: u64,
    },
    /// A job gets its priority. `consumed`: what the threads of the run had consumed, if a busy period seemed
    /// to begin.
    Begins {
        release: u64,
        consumed: Option<u64>,
    },
    /// A thread looked at a job due at `due` after its deadline.
    Looked {
        due: u64,
        at: u64,
        executed: u64,
        consumed: u64,
    },
    /// The scheduler says that a job used up the limit of its own level, so long after the epoch.
    UsedUp {
        sequence: u64,
        after: u64,
    },
    /// A job that goes on loses its priority.
    LosesPriority {
        executed: u64,
        now: u64,
    },
    /// The body of a job has returned.
    Ends(Return),
    /// The body of a job does not return.
    Stays(Return),
    Completed(Ending),
    Unfinished(Cut),
    /// So many jobs were dropped. `next`: natively the number of the next one.
    Dropped {
        why: DropReason,
        count: u64,
        next: u64,
    },
    /// What it cost to begin and to end a job, and what that executed in between.
    Costs {
        start: u64,
        end: u64,
        executed: u64,
    },
    /// A body returned that had been suspended.
    Suspended(Suspensions),
    /// The worker leaves the run, having used so much.
    Used(ThreadCost),
}
