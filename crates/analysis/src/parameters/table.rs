//! The parameters, and the table that says what is to be known of each.

use super::Ratio;
use super::parts::{DispatchTable, FrameBarriers, FrameMap, ServerParameters};
use super::values::{Column, Values};
use vestal_core::{CpuId, Duration, SLICES_MAX, SliceCount, Task};

/// What a test chose and a run may use; tables for all tasks stand in task order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Larger = more urgent; `None` if no complete order was found. For a finite job set one for each job.
    pub priorities: Option<Vec<u32>>,
    /// The relative virtual deadline of each task, in whole nanoseconds and never 0; `None` if the test
    /// chooses none, or if no integers do what the factor does.
    pub virtual_deadlines: Option<Vec<Duration>>,
    /// EDF-VD's factor x: the virtual deadline of a task above level 0 is x D_i. At most 1.
    pub deadline_factor: Option<Ratio>,
    /// Period transformation: into how many slices the jobs of each task are cut.
    pub slices: Option<Vec<SliceCount>>,
    /// The zero-slack instant of each task, counted from the release: its deadline where it need not
    /// suspend any task, 0 where no instant is early enough.
    pub zero_slack: Option<Vec<Duration>>,
    /// For each task the priorities of its first, second, ... job in a busy period, larger = more urgent
    /// (PLRS); no entry stands in two lists.
    pub job_priorities: Option<Vec<Vec<u32>>>,
    /// For each task and each level m up to its own, how many of its jobs a busy period can contain before
    /// the mode exceeds m.
    pub patterns: Option<Vec<Vec<u64>>>,
    /// For each level m, how long a busy period can be before the mode exceeds m.
    pub busy_periods: Option<Vec<Duration>>,
    /// The CPU of each task; `None` for one that has none of its own (levels C and D of MC²), and among given
    /// ones for one that the test is to place.
    pub partition: Option<Vec<Option<CpuId>>>,
    /// The dispatch table of each CPU.
    pub tables: Option<Vec<DispatchTable>>,
    /// What runs in each frame.
    pub frames: Option<FrameMap>,
    /// How long each part of a frame takes.
    pub barriers: Option<FrameBarriers>,
    /// What each server runs with, in the order of the file.
    pub servers: Option<Vec<ServerParameters>>,
    /// A bound on how late the jobs of a task can be; `None` for one whose tardiness is not bounded.
    pub tardiness: Option<Vec<Option<Duration>>>,
}

/// The name of one of [`Parameters`], in the order in which files and results have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the table says what each of them is")]
pub enum Parameter {
    Priorities,
    VirtualDeadlines,
    DeadlineFactor,
    Slices,
    ZeroSlack,
    JobPriorities,
    Patterns,
    BusyPeriods,
    Partition,
    Tables,
    Frames,
    Barriers,
    Servers,
    Tardiness,
}

/// What the values of a parameter belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One for each task.
    EachTask,
    /// A list for each task.
    ListEachTask,
    /// One for each criticality level.
    EachLevel,
    /// A single one.
    Single,
    /// One for each of some tasks; the others have none.
    SomeTasks,
    /// One for each CPU.
    EachCpu,
    /// Something for each frame of a cycle.
    EachFrame,
    /// One for each server.
    EachServer,
}

/// What kind of value it is, and which are in range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// Whole numbers within these bounds.
    Numbers {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// Times; 0 only if `zero`, and at most the task's deadline where it is one for each task.
    Times {
        /// Whether 0 is in range.
        zero: bool,
    },
    /// A fraction above 0 and at most 1.
    Fraction,
    /// CPUs of the platform, counted from 0.
    Cpus,
    /// More than a single value: a type of its own ([`super::parts`]).
    Parts,
}

/// What several values must have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Nothing.
    Any,
    /// No value stands for two tasks.
    Distinct,
    /// Each list falls strictly, and no value stands in two of them.
    FallingLists,
    /// No value is below the one before it.
    NeverFalling,
}

/// A row of [`TABLE`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Which parameter.
    pub parameter: Parameter,
    /// Its key in files, headers and results.
    pub name: &'static str,
    /// One of its values, with the article: `a priority`.
    pub one: &'static str,
    /// What its values are called: `priorities`.
    pub words: &'static str,
    /// What its values belong to.
    pub shape: Shape,
    /// Which values are in range.
    pub range: Range,
    /// What the values have in common.
    pub rule: Rule,
    /// What is wrong with a value that is not for its task, after its name.
    pub misfit: &'static str,
    /// Its values, if it is given.
    pub get: fn(&Parameters) -> Option<Values>,
    /// Makes it in the second what it is in the first.
    pub copy: fn(&Parameters, &mut Parameters),
    /// Sets it, for these tasks; `false` if the values are not of its type, or a number of slices is not
    /// one for its task.
    pub set: fn(&mut Parameters, Values, &[Task]) -> bool,
}

impl Row {
    /// One of its values, without the article.
    #[must_use]
    pub fn value(&self) -> &'static str {
        self.one
            .split_once(' ')
            .map_or(self.one, |(_, value)| value)
    }
}

macro_rules! row {
    ($parameter:ident, $field:ident, $one:literal, $words:literal, $shape:ident, $range:expr, $rule:ident, $misfit:literal) => {
        Row {
            parameter: Parameter::$parameter,
            name: stringify!($field),
            one: $one,
            words: $words,
            shape: Shape::$shape,
            range: $range,
            rule: Rule::$rule,
            misfit: $misfit,
            get: |from| from.$field.as_ref().map(Column::values),
            copy: |from, to| to.$field.clone_from(&from.$field),
            set: |to, values, tasks| {
                to.$field = Column::of(values, tasks);
                to.$field.is_some()
            },
        }
    };
}

const PRIORITY: Range = Range::Numbers {
    least: 0,
    most: u32::MAX as u64,
};
/// The largest is that of a job beyond the pattern.
const JOB_PRIORITY: Range = Range::Numbers {
    least: 0,
    most: u32::MAX as u64 - 1,
};
const SLICES: Range = Range::Numbers {
    least: 1,
    most: SLICES_MAX as u64,
};
pub(super) const TIME: Range = Range::Times { zero: true };

/// Every parameter, in the order of [`Parameter`].
#[rustfmt::skip]
pub static TABLE: [Row; 14] = [
    row!(Priorities, priorities, "a priority", "priorities", EachTask, PRIORITY,
        Distinct, ""),
    row!(VirtualDeadlines, virtual_deadlines, "a virtual deadline", "virtual deadlines", EachTask, Range::Times { zero: false },
        Any, "is zero or after its deadline"),
    row!(DeadlineFactor, deadline_factor, "a factor", "the deadline factor", Single, Range::Fraction,
        Any, ""),
    row!(Slices, slices, "a number of slices", "slices", EachTask, SLICES,
        Any, "is none into which its jobs can be cut"),
    row!(ZeroSlack, zero_slack, "a zero-slack instant", "zero-slack instants", EachTask, TIME,
        Any, "is after its deadline"),
    row!(JobPriorities, job_priorities, "a list of job priorities", "job priorities", ListEachTask, JOB_PRIORITY,
        FallingLists, "do not fall strictly, or stand for another task too"),
    row!(Patterns, patterns, "numbers of jobs", "patterns", ListEachTask, PRIORITY,
        NeverFalling, ""),
    row!(BusyPeriods, busy_periods, "a busy period", "busy periods", EachLevel, TIME,
        NeverFalling, ""),
    row!(Partition, partition, "a CPU", "CPUs", SomeTasks, Range::Cpus,
        Any, "is none that the platform has"),
    row!(Tables, tables, "a dispatch table", "dispatch tables", EachCpu, Range::Parts,
        Any, ""),
    row!(Frames, frames, "a frame", "frames", EachFrame, Range::Parts,
        Any, "does not fit its sub-frame, or stands in two places"),
    row!(Barriers, barriers, "a frame's barriers", "barriers", EachFrame, Range::Parts,
        Any, ""),
    row!(Servers, servers, "a server's parameters", "server parameters", EachServer, Range::Parts,
        Any, ""),
    row!(Tardiness, tardiness, "a bound on the tardiness", "tardiness bounds", SomeTasks, TIME,
        Any, ""),
];

impl Parameter {
    /// What is to be known of it.
    #[must_use]
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}
