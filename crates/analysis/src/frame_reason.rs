//! Why a test of frame tables (FTTS) says no, in numbers and in words.

use crate::shown::Time;
use vestal_core::{CpuId, Duration, Level, TaskId};

/// Why a cycle of frames is not proved to be one for these tasks, or none was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameReason {
    /// Outside the assumptions: the task is not known to be periodic from a known instant on.
    NotPeriodic {
        /// Which task.
        task: TaskId,
    },
    /// Outside the assumptions: it is not said how often a job accesses the memory at this level.
    UnknownAccesses {
        /// Whose job.
        task: TaskId,
        /// The task's own level.
        level: Level,
    },
    /// Not decided: the cycle, a common multiple of all periods, has too many frames or jobs for a table.
    CycleTooLong {
        /// More than this many entries.
        entries_max: usize,
    },
    /// No whole frame lies between a release of the task and its deadline.
    NoFrameInTime {
        /// Which task.
        task: TaskId,
        /// L_f.
        frame: Duration,
    },
    /// C_i(z_i) > L_f: a job needs more than a frame, and no job is cut in two.
    WcetExceedsFrame {
        /// Which task.
        task: TaskId,
        /// L_f.
        frame: Duration,
    },
    /// The jobs of a cycle need more than all CPUs have.
    CycleOverload {
        /// Counting the tasks of at least this criticality, each at this level.
        level: Level,
        /// What they need in a cycle.
        demand: Duration,
        /// How much time the CPUs have in a cycle.
        supply: Duration,
    },
    /// The search found no table; in the best one it saw, a frame is too long.
    NotFound {
        /// The longest frame.
        frame: usize,
        /// At which level it is that long.
        level: Level,
        /// How long.
        length: Duration,
        /// How long it may be: L_f, less what is to spare.
        limit: Duration,
    },
    /// Given frames: the sub-frames of one are longer than it.
    TooLong {
        /// Which frame.
        frame: usize,
        /// At which level.
        level: Level,
        /// How long they are in all.
        length: Duration,
        /// How long they may be: L_f, less what is to spare.
        limit: Duration,
    },
    /// Given frames: the period of the task is not a whole number of frames, or the cycle not one of periods.
    Misfit {
        /// Which task.
        task: TaskId,
    },
    /// Given frames: a job does not have one place between its release and its deadline.
    Places {
        /// Whose job.
        task: TaskId,
        /// Which of its jobs in the cycle, counted from 0.
        job: usize,
        /// How many places the task has from the release to the deadline of this job.
        found: usize,
    },
    /// Given frames: a place of the task is in time for no job.
    OutOfTime {
        /// Whose place.
        task: TaskId,
        /// In which frame.
        frame: usize,
    },
    /// Given frames and a given partition have the task on different CPUs.
    OtherCpu {
        /// Which task.
        task: TaskId,
        /// Where the frames have it.
        frames: CpuId,
    },
    /// Barriers are given, and the frames that they belong to are not.
    BarriersAlone,
    /// There are not as many given barriers as given frames.
    BarrierCount {
        /// How many frames have barriers.
        found: usize,
        /// How many frames there are.
        frames: usize,
    },
    /// Given barriers: the jobs of a sub-frame may take longer than its barrier says.
    BarrierTooShort {
        /// Which frame.
        frame: usize,
        /// Of which criticality the sub-frame is.
        criticality: Level,
        /// At which level.
        level: Level,
        /// What is given.
        barrier: Duration,
        /// How long the jobs may take, interference included.
        needed: Duration,
    },
}

impl FrameReason {
    /// The reason as a sentence without a full stop; how tasks and levels are called is given.
    #[expect(
        clippy::too_many_lines,
        reason = "a table: one sentence for each variant"
    )]
    pub(crate) fn in_words(
        &self,
        task: impl Fn(TaskId) -> String,
        level: impl Fn(Level) -> String,
    ) -> String {
        match *self {
            Self::NotPeriodic { task: id } => format!(
                "the test is for periodic tasks that begin at known instants; {} is none",
                task(id)
            ),
            Self::UnknownAccesses {
                task: id,
                level: at,
            } => format!(
                "the accesses of {} at its own level {} are not known",
                task(id),
                level(at)
            ),
            Self::CycleTooLong { entries_max } => format!(
                "not decided: the table of a cycle would have more than {entries_max} entries"
            ),
            Self::NoFrameInTime { task: id, frame } => format!(
                "no whole frame of {} lies between a release of {} and its deadline",
                Time(frame),
                task(id)
            ),
            Self::WcetExceedsFrame { task: id, frame } => format!(
                "a job of {} may need more than a frame, which is {} long",
                task(id),
                Time(frame)
            ),
            Self::CycleOverload {
                level: at,
                demand,
                supply,
            } => format!(
                "at level {} the jobs of a cycle may need {}, and the CPUs have {}",
                level(at),
                Time(demand),
                Time(supply)
            ),
            Self::NotFound {
                frame,
                level: at,
                length,
                limit,
            } => format!(
                "no table was found; in the best one frame {frame} may take {} at level {}, and has {}",
                Time(length),
                level(at),
                Time(limit)
            ),
            Self::TooLong {
                frame,
                level: at,
                length,
                limit,
            } => format!(
                "`frames[{frame}]` may take {} at level {}, and has {}",
                Time(length),
                level(at),
                Time(limit)
            ),
            Self::Misfit { task: id } => format!(
                "the period of {} is not a whole number of frames that divides the cycle",
                task(id)
            ),
            Self::Places {
                task: id,
                job,
                found,
            } => format!(
                "`frames` has {found} places for job {job} of {} between its release and its deadline, not one",
                task(id)
            ),
            Self::OutOfTime { task: id, frame } => format!(
                "the place of {} in `frames[{frame}]` is after the deadline of one job and before the release of the next",
                task(id)
            ),
            Self::OtherCpu { task: id, frames } => format!(
                "`frames` has {} on CPU {}, and `partition` or the file on another",
                task(id),
                frames.0
            ),
            Self::BarriersAlone => "`barriers` are given without `frames`".to_owned(),
            Self::BarrierCount { found, frames } => {
                format!("`barriers` has {found} frames, and `frames` has {frames}")
            }
            Self::BarrierTooShort {
                frame,
                criticality,
                level: at,
                barrier,
                needed,
            } => format!(
                "`barriers[{frame}].{}.{}` is {}, and the jobs of the sub-frame may take {}",
                level(criticality),
                level(at),
                Time(barrier),
                Time(needed)
            ),
        }
    }
}
