//! Parameters: what tests choose or are given, and what policies are built with.
//!
//! [`TABLE`] says of each how it is called, which shape it has, which values are in range and where it
//! stands in [`Parameters`]. Files, headers of traces, results and notes all go by it, so that a parameter
//! is described once. Values that are more than a number or a time have types of their own ([`parts`]).

mod check;
pub mod parts;
mod table;
mod values;

use vestal_core::{CpuId, Duration, SliceCount, TaskId};

pub use check::{ParameterError, Scope};
pub use parts::{
    DispatchTable, FrameBarriers, FrameMap, ServerBudget, ServerParameters, SlotFault,
};
pub use table::{Parameter, Range, Row, Rule, Shape, TABLE};
pub use values::Values;

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

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    /// The numerator.
    pub numerator: u64,
    /// The denominator, never 0.
    pub denominator: u64,
}

impl Ratio {
    /// Whether it is at most the other one.
    #[must_use]
    pub fn is_at_most(&self, other: &Self) -> bool {
        u128::from(self.numerator) * u128::from(other.denominator)
            <= u128::from(other.numerator) * u128::from(self.denominator)
    }
}

impl Parameters {
    /// Those of `which`, and nothing else.
    #[must_use]
    pub fn only(&self, which: &[Parameter]) -> Self {
        let mut found = Self::default();
        for parameter in which {
            (parameter.row().copy)(self, &mut found);
        }
        found
    }

    /// These, and where one is not given, that of `otherwise`.
    #[must_use]
    pub fn or(&self, otherwise: &Self) -> Self {
        let mut found = otherwise.clone();
        for row in self.rows() {
            (row.copy)(self, &mut found);
        }
        found
    }

    /// The rows of those that are given.
    pub fn rows(&self) -> impl Iterator<Item = &'static Row> {
        TABLE.iter().filter(|row| (row.get)(self).is_some())
    }

    /// Whether nothing is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The name of the task at `index` of a problem. A problem has at most [`TASKS_MAX`] tasks.
pub(crate) fn task_id(index: usize) -> TaskId {
    TaskId(u16::try_from(index).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests;
