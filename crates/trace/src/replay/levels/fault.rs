//! What can be wrong.

use alloc::format;
use alloc::string::String;
use vestal_core::{CpuId, Duration, Instant, JobId, Service, TaskId};

/// Something that should not have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Where.
    pub cpu: CpuId,
    /// From when.
    pub from: Instant,
    /// Until when.
    pub to: Instant,
    /// What.
    pub what: Fault,
}

/// A rule that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// L1: a job runs although one of a higher level wants the CPU.
    Delayed {
        /// Who runs.
        running: JobId,
        /// Who wants it.
        waiting: JobId,
    },
    /// L1: jobs of lower levels ran while this one waited, each for so short a time that it does not count, and all for longer.
    Delays {
        /// Who waited.
        waiting: JobId,
        /// For how long they ran.
        all: Duration,
    },
    /// L1: nothing runs although this job wants the CPU.
    Idle {
        /// Who wants it.
        waiting: JobId,
    },
    /// L1: a job runs without a slot or a budget whose turn it is.
    OutOfTurn {
        /// Who runs.
        running: JobId,
    },
    /// L2: two jobs run on a CPU.
    TwoJobs {
        /// Who ran there first.
        first: JobId,
        /// Who began then.
        second: JobId,
    },
    /// L2: a job begins that runs elsewhere, or there.
    Twice {
        /// Who.
        job: JobId,
        /// Where it runs.
        other: CpuId,
    },
    /// L3: a job is charged, or ends, where it does not run.
    NotRunning {
        /// Who.
        job: JobId,
    },
    /// L3: a job was charged more than it ran, or in exact time another amount.
    Charges {
        /// Who.
        job: JobId,
        /// So much was charged.
        charged: Service,
    },
    /// L4: something else is left of a task's budget than the scheduler gave.
    Budget {
        /// Whose.
        task: TaskId,
        /// What is left by the account.
        left: Service,
        /// What was given.
        given: Service,
    },
    /// L4: a ghost is recorded where the account has none, or not recorded where it has one.
    Ghost {
        /// Whose.
        task: TaskId,
        /// Whether it is recorded.
        is_recorded: bool,
    },
    /// L6: a job was dropped for want of room, and there was room.
    Dropped {
        /// Who.
        job: JobId,
    },
    /// L5: the shared domain is told that a CPU is open that levels A and B want, or closed that they do not.
    Told {
        /// What it is told.
        open: bool,
    },
}

impl Fault {
    /// Which rule it is.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::Delayed { .. }
            | Self::Delays { .. }
            | Self::Idle { .. }
            | Self::OutOfTurn { .. } => "L1",
            Self::TwoJobs { .. } | Self::Twice { .. } => "L2",
            Self::NotRunning { .. } | Self::Charges { .. } => "L3",
            Self::Budget { .. } | Self::Ghost { .. } => "L4",
            Self::Told { .. } => "L5",
            Self::Dropped { .. } => "L6",
        }
    }

    /// Whether it is the same that goes on; who runs while another waits may change.
    pub(super) fn goes_on_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Delayed { waiting, .. }, Self::Delayed { waiting: same, .. }) => waiting == same,
            _ => self == other,
        }
    }

    /// For people; jobs and tasks are called so.
    #[must_use]
    pub fn text(&self, job: impl Fn(JobId) -> String, task: impl Fn(TaskId) -> String) -> String {
        match *self {
            Self::Delayed { running, waiting } => format!(
                "{} ran although {} of a higher level was ready",
                job(running),
                job(waiting)
            ),
            Self::Delays { waiting, all } => format!(
                "jobs of lower levels ran for {} ns in all while {} was ready",
                all.as_nanos(),
                job(waiting)
            ),
            Self::Idle { waiting } => format!("nothing ran although {} was ready", job(waiting)),
            Self::OutOfTurn { running } => {
                format!(
                    "{} ran without a slot or a budget whose turn it was",
                    job(running)
                )
            }
            Self::TwoJobs { first, second } => {
                format!("{} and {} ran at once", job(first), job(second))
            }
            Self::Twice { job: twice, other } => {
                format!(
                    "{} began, which ran on CPU {} just then",
                    job(twice),
                    other.0
                )
            }
            Self::NotRunning { job: other } => {
                format!("{} was charged or ended, and did not run there", job(other))
            }
            Self::Charges {
                job: other,
                charged,
            } => {
                format!("{} was charged {} ns", job(other), charged.as_nanos())
            }
            Self::Budget {
                task: of,
                left,
                given,
            } => format!(
                "{} had {} ns left of its budget and was given {} ns",
                task(of),
                left.as_nanos(),
                given.as_nanos()
            ),
            Self::Ghost {
                task: of,
                is_recorded: true,
            } => {
                format!("a ghost of {} is recorded, and there was none", task(of))
            }
            Self::Ghost {
                task: of,
                is_recorded: false,
            } => {
                format!("the ghost of {} is not recorded", task(of))
            }
            Self::Dropped { job: dropped } => {
                format!("{} was dropped although there was room", job(dropped))
            }
            Self::Told { open: true } => {
                "the CPU was published as open while levels A and B wanted it".into()
            }
            Self::Told { open: false } => {
                "the CPU was published as closed while levels A and B did not want it".into()
            }
        }
    }
}

impl Broken {
    /// How long it lasted.
    #[must_use]
    pub const fn length(&self) -> Duration {
        self.to.saturating_since(self.from)
    }
}
