//! What a thread of a run can note.
//!
//! All instants are readings of the clock, all amounts nanoseconds.

use super::exceeded::Exceeded;
use super::job::{Suspensions, ThreadCost};
use super::reaction::Duty;
use vestal_core::{DropReason, Level};

/// Which thread of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    /// The manager.
    Manager,
    /// The idle detector.
    Idle,
    /// The watchdog.
    Watchdog,
    /// Who dispatches arrivals, where that is a thread of its own.
    Dispatcher,
    /// The scheduler of a frame table, which begins sub-frames for all CPUs, where that is a thread of its own.
    Scheduler,
    /// Who notices that a sub-frame takes too long, likewise.
    SubFrameChecker,
    /// Who waits for devices and tells the manager of them, where that is a thread of its own.
    TopHalf,
    /// The worker of the task with this index.
    Worker(usize),
    /// Who checks whether the jobs of that task overrun, where that is a thread of its own.
    Checker(usize),
}

impl Thread {
    /// How many there are that belong to no task.
    const OTHERS: usize = 7;

    /// How many there can be on a CPU with so many tasks.
    pub const fn count(tasks: usize) -> usize {
        Self::OTHERS + 2 * tasks
    }

    /// Its place in a list of all threads.
    pub const fn index(self) -> usize {
        match self {
            Self::Manager => 0,
            Self::Idle => 1,
            Self::Watchdog => 2,
            Self::Dispatcher => 3,
            Self::Scheduler => 4,
            Self::SubFrameChecker => 5,
            Self::TopHalf => 6,
            Self::Worker(index) => Self::OTHERS + 2 * index,
            Self::Checker(index) => Self::OTHERS + 2 * index + 1,
        }
    }

    pub(super) const fn of_index(index: usize) -> Self {
        match index {
            0 => Self::Manager,
            1 => Self::Idle,
            2 => Self::Watchdog,
            3 => Self::Dispatcher,
            4 => Self::Scheduler,
            5 => Self::SubFrameChecker,
            6 => Self::TopHalf,
            _ => {
                let of_tasks = index - Self::OTHERS;
                match of_tasks % 2 {
                    0 => Self::Worker(of_tasks / 2),
                    _ => Self::Checker(of_tasks / 2),
                }
            }
        }
    }
}

/// What the kernel counted of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// For how long it was ready and another one had its CPU.
    pub nanos: u64,
    /// How often it got the CPU.
    pub times: u64,
}

/// Since when a thread of the run that gets the CPU was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Since this clock reading.
    Since(u64),
    /// The same of a thread that no other of the run keeps from the CPU.
    AtOnceSince(u64),
    /// Since the manager, which called it, left the CPU.
    ByTheManager,
}

impl Wanted {
    /// The clock reading, if it is known.
    pub const fn since(self) -> Option<u64> {
        match self {
            Self::Since(since) | Self::AtOnceSince(since) => Some(since),
            Self::ByTheManager => None,
        }
    }

    /// The same, but not before `instant`.
    pub fn from(self, instant: u64) -> Self {
        match self {
            Self::Since(since) => Self::Since(since.max(instant)),
            Self::AtOnceSince(since) => Self::AtOnceSince(since.max(instant)),
            Self::ByTheManager => self,
        }
    }
}

/// An execution interval of a thread outside bodies, as it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Whose it is.
    pub thread: Thread,
    /// What the thread did in it.
    pub duty: Duty,
    /// The clock when it began.
    pub began: u64,
    /// The clock when it ends.
    pub now: u64,
    /// The thread's CPU clock when it began and when it ends.
    pub cpu: (u64, u64),
    /// What the kernel counted in it; read only where time is missing.
    pub counted: Option<Waited>,
    /// No other thread of the run has noted anything since it began.
    pub alone: bool,
    /// The thread waits from now on; otherwise a body begins, or it goes on with its next duty.
    pub waits: bool,
}

/// The end of a job that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Its number among the jobs of its task.
    pub sequence: u64,
    /// When it was released.
    pub release: u64,
    /// When its body returned.
    pub finished: u64,
    /// What it executed in all.
    pub executed: u64,
    /// The clock at this note.
    pub at: u64,
    /// What all threads of the run had consumed then; read only of late jobs that nobody looked at.
    pub consumed: Option<u64>,
}

/// A job that the end of the run met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Its number among the jobs of its task.
    pub sequence: u64,
    /// When it was released.
    pub release: u64,
    /// What it has executed by now.
    pub executed: u64,
    /// When the run was stopped.
    pub stopped: u64,
    /// The clock at this note.
    pub at: u64,
    /// What all threads of the run have consumed by now; read only if it is late.
    pub consumed: Option<u64>,
    /// It had been dropped.
    pub dropped: bool,
}

/// The return of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// The number of the job among those of its task.
    pub sequence: u64,
    /// What the job has executed by now.
    pub executed: u64,
    /// The clock at this note.
    pub now: u64,
    /// Enforcement had taken the job's priority.
    pub lost: bool,
}

/// What is noted of the frames that all CPUs of a table have in common, in nanoseconds after the epoch, with the
/// scheduler's numbers of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameNote {
    /// A frame begins.
    Began {
        /// Its number, counted from the epoch.
        frame: u64,
        /// The first of those that have passed before it and never began; else the same number.
        first: u64,
        /// When it was decided.
        at: u64,
        /// A sub-frame of an earlier one went on until then.
        kept: bool,
    },
    /// A job was dropped.
    Dropped {
        /// Its task.
        task: u16,
        /// Its number among the jobs of its task.
        sequence: u64,
        /// For which reason.
        why: DropReason,
        /// The highest level whose sub-frame was dropped, if it was for the mode.
        late: Level,
        /// When it was decided.
        at: u64,
    },
}

/// What a thread notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The run begins at `epoch`.
    Run {
        /// Instants of the scheduler count from here.
        epoch: u64,
    },
    /// A thread gets the CPU. `burned`: when a burning job last looked at the clock; 0: none burned.
    Begin {
        /// Which.
        thread: Thread,
        /// Since when it was wanted.
        wanted: Wanted,
        /// The clock when it had the CPU.
        now: u64,
        /// A clock reading, or 0.
        burned: u64,
    },
    /// Its interval has begun at `began`, after `waited` of which the kernel says that another thread had the
    /// CPU. `alone`: no other thread noted anything between [`Note::Begin`], at `now`, and this.
    Opened {
        /// Which.
        thread: Thread,
        /// Since when it was wanted, if that is known.
        since: Option<u64>,
        /// The clock when it had the CPU.
        now: u64,
        /// The clock when the interval began.
        began: u64,
        /// What the kernel counted until the interval began.
        waited: Waited,
        /// Whether it was the only one to note anything.
        alone: bool,
    },
    /// The idle detector gets the CPU.
    Idle,
    /// An interval outside bodies ends.
    Interval(Interval),
    /// A thread that goes on for some instructions leaves the CPU to the manager.
    Leaves {
        /// The clock when it leaves.
        now: u64,
    },
    /// The clock jumped in a burning job, which was charged for `charged` of it. `counted`: what the
    /// kernel counted of the thread, if it counts.
    Jump {
        /// The last reading before.
        from: u64,
        /// The first one after.
        to: u64,
        /// What the job's CPU clock counted in between.
        charged: u64,
        /// What the kernel counted in between.
        counted: Option<Waited>,
    },
    /// A burning job that looked at the clock at `looked` goes on after other threads of the run, having
    /// waited for `waited` in all.
    Resumed {
        /// The last reading before.
        looked: u64,
        /// The first one after.
        now: u64,
        /// What the kernel counted in between, in nanoseconds.
        waited: u64,
    },
    /// A body that did something else than burn had no CPU for so long, and no thread of the run had it, as far as is known.
    Away {
        /// If threads of the run have noted something meanwhile, since when they may have had it: the clock at the look before.
        since: Option<u64>,
        /// The clock at its end.
        now: u64,
        /// For how long the kernel says that the thread was ready.
        waited: u64,
    },
    /// The manager lets a thread go on that had used up a budget which outlives jobs.
    Exceeded(Exceeded),
    /// Who started the run let the threads of its CPU go when this had begun, because others kept it.
    LetGo {
        /// The clock when it did.
        now: u64,
        /// For how long they had.
        late: u64,
    },
    /// About frames, in the log that all CPUs have in common.
    Frame(FrameNote),
    /// About the task with this index.
    Task(usize, TaskNote),
}

/// What a thread notes of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskNote {
    /// Its worker, which waited for a release, goes on.
    Released {
        /// The release.
        release: u64,
        /// The clock when the worker goes on.
        now: u64,
    },
    /// A job gets its priority. `consumed`: what the threads of the run had consumed, if a busy period seemed
    /// to begin.
    Begins {
        /// The release of the job.
        release: u64,
        /// A sum over all threads, in nanoseconds.
        consumed: Option<u64>,
    },
    /// A thread looked at a job due at `due` after its deadline.
    Looked {
        /// The deadline of the job.
        due: u64,
        /// The clock at the look.
        at: u64,
        /// What the job had executed.
        executed: u64,
        /// What the threads of the run had consumed.
        consumed: u64,
    },
    /// The scheduler says that a job used up the limit of its own level, so long after the epoch.
    UsedUp {
        /// The number of the job among those of its task.
        sequence: u64,
        /// In nanoseconds.
        after: u64,
    },
    /// A job that goes on loses its priority.
    LosesPriority {
        /// What the job has executed by now.
        executed: u64,
        /// The clock at this note.
        now: u64,
    },
    /// The body of a job has returned.
    Ends(Return),
    /// The body of a job does not return.
    Stays(Return),
    /// A job is complete.
    Completed(Ending),
    /// The end of the run met a job.
    Unfinished(Cut),
    /// So many jobs were dropped. `next`: natively the number of the next one.
    Dropped {
        /// For which reason.
        why: DropReason,
        /// How many.
        count: u64,
        /// A number among the jobs of the task.
        next: u64,
    },
    /// What it cost to begin and to end a job, and what that executed in between.
    Costs {
        /// To begin it, in nanoseconds.
        start: u64,
        /// To end it, in nanoseconds.
        end: u64,
        /// What its body executed, in nanoseconds.
        executed: u64,
    },
    /// A body returned that had been suspended.
    Suspended(Suspensions),
    /// The worker leaves the run, having used so much.
    Used(ThreadCost),
}
