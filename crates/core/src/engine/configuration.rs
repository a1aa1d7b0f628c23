//! What a one-CPU engine is built from.

use crate::configuration_error::ConfigurationError;
use crate::enforce::{Enforcement, Exhaustion};
use crate::model::{LevelSet, TASKS_MAX};
use crate::order::TaskOrder;
use crate::task_configuration::TaskConfiguration;
use crate::time::{Duration, Service};

/// A fixed-priority policy on one CPU: order and enforcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration<'a> {
    /// The tasks; a [`crate::TaskId`] is the index in this list.
    pub tasks: &'a [TaskConfiguration],
    /// How many levels there are.
    pub levels: LevelSet,
    /// How long jobs may run.
    pub enforcement: Enforcement,
    /// What happens to a job that used up its own level's limit.
    pub exhaustion: Exhaustion,
    /// The smallest budget the world can enforce: a smaller remainder counts as exhausted (C2).
    pub granularity: Service,
    /// How late the world may wake the scheduler before that is worth a notice (C6).
    pub wake_granularity: Duration,
}

impl Configuration<'_> {
    /// Checks what construction relies on.
    pub(crate) fn check(&self) -> Result<(), ConfigurationError> {
        if self.tasks.is_empty() {
            return Err(ConfigurationError::NoTasks);
        }
        // The largest number is never given out: tables use it for "none".
        if self.tasks.len() >= TASKS_MAX {
            return Err(ConfigurationError::TooManyTasks {
                found: self.tasks.len(),
            });
        }
        for (task, entry) in (0..self.tasks.len()).zip(self.tasks) {
            let level = entry.task.criticality;
            if level > self.levels.highest() {
                return Err(ConfigurationError::UnknownLevel { task, level });
            }
        }
        self.enforcement.check(self.tasks)
    }

    /// Checks the order against the tasks and the limits.
    pub(crate) fn check_order(&self, order: &TaskOrder<'_>) -> Result<(), ConfigurationError> {
        if self.enforcement.is_for_fixed_priorities() && !order.is_fixed() {
            return Err(ConfigurationError::Order);
        }
        order.check(self.tasks)
    }
}
