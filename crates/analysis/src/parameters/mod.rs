//! Parameters: what tests choose or are given, and what policies are built with.
//!
//! [`TABLE`] says of each how it is called, which shape it has, which values are in range and where it
//! stands in [`Parameters`]. Files, headers of traces, results and notes all go by it, so that a parameter
//! is described once. Values that are more than a number or a time have types of their own ([`parts`]).

mod check;
pub mod parts;
mod table;
mod values;

use vestal_core::TaskId;

pub use check::{ParameterError, Scope};
pub use parts::{
    DispatchTable, FrameBarriers, FrameMap, ServerBudget, ServerParameters, SlotFault,
};
pub use table::{Parameter, Parameters, Range, Row, Rule, Shape, TABLE};
pub use values::Values;

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

/// The name of the task at `index` of a problem. A problem has at most [`vestal_core::model::TASKS_MAX`] tasks.
pub(crate) fn task_id(index: usize) -> TaskId {
    TaskId(u16::try_from(index).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests;
