//! Why a simulation could not go on: never because of a missed deadline.

use std::fmt;
use vestal_core::{ContractViolation, CpuId, Instant, JobId, TaskId};

/// A simulation that had to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulationError {
    /// It was asked for ([`crate::Releases::aborted`]); the run got to this instant.
    Aborted(Instant),
    /// A [`crate::Releases`] whose instants of one task do not strictly ascend.
    ReleasesNotAscending {
        /// The task.
        task: TaskId,
        /// The release before.
        previous: Instant,
        /// The release after it.
        next: Instant,
    },
    /// The end lies beyond [`Instant::HORIZON`].
    EndBeyondHorizon(Instant),
    /// More tasks than a task number can distinguish.
    TooManyTasks(usize),
    /// As many jobs are kept for want of room in the scheduler as may be ([`crate::Backlog::kept_max`]),
    /// and there is one more. Everything has been reported to the observers up to that instant, and of the
    /// end of the run there; the job that was one too many is not part of it.
    TooManyKept {
        /// When.
        at: Instant,
        /// How many.
        kept: usize,
    },
    /// An invariant broken: the scheduler refused what this world reported.
    Refused {
        /// When.
        at: Instant,
        /// What it said.
        violation: ContractViolation,
    },
    /// An invariant broken: a plan names a job that is not pending.
    UnknownJobPlanned {
        /// When.
        at: Instant,
        /// Where.
        cpu: CpuId,
        /// The job.
        job: JobId,
    },
    /// An invariant broken: a plan gives one job to two CPUs.
    PlannedTwice {
        /// When.
        at: Instant,
        /// The job.
        job: JobId,
    },
    /// An invariant broken: the scheduler asks again and again for another decision at one instant.
    NoProgress {
        /// When.
        at: Instant,
        /// How many decisions were taken there.
        decisions: u64,
    },
    /// The scheduler had more to report at one instant than its queue of notices holds. No other error is
    /// reported of such a run.
    NoticesLost {
        /// When that was found: at the next notice, or at the end of the run.
        at: Instant,
        /// How many.
        lost: u64,
    },
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aborted(at) => write!(f, "it was aborted at {at:?}"),
            Self::ReleasesNotAscending {
                task: TaskId(task),
                previous,
                next,
            } => write!(
                f,
                "task {task} releases a job at {next:?}, which is not after its release at {previous:?}"
            ),
            Self::EndBeyondHorizon(end) => {
                write!(f, "the simulation would end at {end:?}, beyond the horizon")
            }
            Self::TooManyTasks(count) => write!(f, "{count} tasks are more than can be numbered"),
            Self::TooManyKept { at, kept } => write!(
                f,
                "at {at:?} {kept} jobs wait that the scheduler has no room for, and one more arrives"
            ),
            Self::Refused { at, violation } => {
                write!(f, "at {at:?} the scheduler refused a fact: {violation}")
            }
            Self::UnknownJobPlanned {
                at,
                cpu: CpuId(cpu),
                job,
            } => write!(
                f,
                "at {at:?} CPU {cpu} shall run {job}, which is not pending"
            ),
            Self::PlannedTwice { at, job } => {
                write!(f, "at {at:?} {job} shall run on two CPUs")
            }
            Self::NoProgress { at, decisions } => {
                write!(f, "{decisions} decisions at {at:?} without progress")
            }
            Self::NoticesLost { at, lost } => {
                write!(f, "{lost} notices were lost at {at:?}")
            }
        }
    }
}

impl std::error::Error for SimulationError {}
