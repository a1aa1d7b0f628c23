//! Why no engine can be built.

use crate::model::Level;
use crate::table_error::TableError;
use core::fmt;

/// A configuration that no engine can be built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigurationError {
    /// There is no task.
    NoTasks,
    /// More tasks than a task number can distinguish, or than the storage holds.
    TooManyTasks {
        /// How many there were.
        found: usize,
    },
    /// A task's criticality is not among the levels.
    UnknownLevel {
        /// Its index in the list.
        task: usize,
        /// Its criticality.
        level: Level,
    },
    /// The lists of job priorities are not one for each task, not strictly decreasing, or longer than
    /// the storage.
    JobLists,
    /// What an order or a rule of limits needs of a task is not there, or does not fit the task.
    Parameter {
        /// The task's index in the list.
        task: usize,
        /// What it needs.
        what: &'static str,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// Limits that go with fixed task priorities only, and another order.
    Order,
    /// A table does not fit the tasks.
    Table(TableError),
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTasks => f.write_str("there is no task to schedule"),
            Self::TooManyTasks { found } => {
                write!(f, "{found} tasks are more than there is room for")
            }
            Self::UnknownLevel {
                task,
                level: Level(level),
            } => {
                write!(
                    f,
                    "task {task} has criticality {level}, which is not among the levels"
                )
            }
            Self::JobLists => f.write_str(
                "the job-priority lists are not one strictly decreasing list for each task",
            ),
            Self::Parameter { task, what, fault } => write!(f, "the {what} of task {task} {fault}"),
            Self::Order => f.write_str("limits of this kind go with fixed task priorities only"),
            Self::Table(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConfigurationError {}

impl From<TableError> for ConfigurationError {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}
