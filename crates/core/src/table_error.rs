//! Why a table of time does not fit the tasks it was made for.

use crate::ids::TaskId;
use crate::model::Level;
use core::fmt;

/// Why a table does not fit its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// There is no CPU.
    NoCpus,
    /// There is no frame, or frames have no length.
    NoFrames,
    /// A list does not have one entry per frame, criticality and CPU or level.
    Length {
        /// Which list.
        list: &'static str,
        /// How many entries it needs; any multiple of this for the list that says how many frames
        /// there are.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A span goes beyond the entries.
    SpanOutside {
        /// Its index among the spans.
        position: usize,
    },
    /// An entry names a task that is not configured.
    UnknownTask(TaskId),
    /// A task stands in a sub-frame of another criticality.
    WrongSubFrame {
        /// The task.
        task: TaskId,
        /// The frame.
        frame: usize,
    },
    /// A task stands on two CPUs.
    TwoCpus(TaskId),
    /// A period is not a whole number of frames, or the cycle is not a whole number of periods.
    PeriodAndFrames(TaskId),
    /// A job has no place in the table, or more than one.
    Places {
        /// The task.
        task: TaskId,
        /// Which of its jobs, counted from the beginning of the cycle.
        job: usize,
        /// How many places it has.
        found: usize,
    },
    /// The jobs of one CPU need more than the length of their sub-frame.
    SubFrameTooShort {
        /// The frame.
        frame: usize,
        /// Of which criticality the sub-frame is.
        criticality: Level,
        /// At which confidence.
        level: Level,
    },
    /// A task belongs to a CPU that does not exist.
    UnknownCpu(TaskId),
    /// A slot of a CPU's table is empty, begins before its predecessor ends, or ends after the cycle.
    SlotOrder {
        /// The CPU.
        cpu: usize,
        /// The slot's index in the table.
        position: usize,
    },
    /// A slot belongs to a task that is not a level-A task of this CPU.
    WrongSlot {
        /// The CPU.
        cpu: usize,
        /// The task.
        task: TaskId,
    },
    /// The cycle of a CPU's table is not a whole number of periods of one of its tasks.
    PeriodAndCycle(TaskId),
    /// The slots of a job do not give it its budget before its deadline.
    SlotsTooShort {
        /// The task.
        task: TaskId,
        /// Which of its jobs, counted from the beginning of the cycle.
        job: u64,
    },
    /// The sub-frames of a frame need more than the frame, at the confidence of a level.
    FrameTooShort {
        /// The frame.
        frame: usize,
        /// The level.
        level: Level,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCpus => f.write_str("there is no CPU"),
            Self::NoFrames => f.write_str("the table has no frames, or frames of no length"),
            Self::Length {
                list,
                expected,
                found,
            } => write!(f, "the list of {list} has {found} entries, not {expected}"),
            Self::SpanOutside { position } => {
                write!(f, "span {position} of the table goes beyond its entries")
            }
            Self::UnknownTask(TaskId(task)) => {
                write!(f, "the table names task {task}, which is not configured")
            }
            Self::WrongSubFrame { task, frame } => write!(
                f,
                "task {} stands in a sub-frame of another criticality in frame {frame}",
                task.0
            ),
            Self::TwoCpus(TaskId(task)) => write!(f, "the table has task {task} on two CPUs"),
            Self::PeriodAndFrames(TaskId(task)) => write!(
                f,
                "the period of task {task} is not a whole number of frames that divides the cycle"
            ),
            Self::Places { task, job, found } => write!(
                f,
                "job {job} of task {} has {found} places in the table, not one",
                task.0
            ),
            Self::SubFrameTooShort {
                frame,
                criticality: Level(criticality),
                level: Level(level),
            } => write!(
                f,
                "sub-frame {criticality} of frame {frame} is shorter than its jobs at level {level}"
            ),
            Self::UnknownCpu(TaskId(task)) => {
                write!(f, "task {task} belongs to a CPU that does not exist")
            }
            Self::SlotOrder { cpu, position } => write!(
                f,
                "slot {position} of CPU {cpu} is empty, overlaps its predecessor or leaves the cycle"
            ),
            Self::WrongSlot { cpu, task } => write!(
                f,
                "a slot of CPU {cpu} belongs to task {}, which is no level-A task there",
                task.0
            ),
            Self::PeriodAndCycle(TaskId(task)) => write!(
                f,
                "the cycle of its CPU is not a whole number of periods of task {task}"
            ),
            Self::SlotsTooShort { task, job } => write!(
                f,
                "the slots of job {job} of task {} do not give it its budget in time",
                task.0
            ),
            Self::FrameTooShort {
                frame,
                level: Level(level),
            } => write!(
                f,
                "frame {frame} is shorter than its sub-frames at level {level}"
            ),
        }
    }
}
