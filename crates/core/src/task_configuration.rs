//! A task with what a policy decided about it.

use crate::enforce::OnMiss;
use crate::model::Task;
use crate::time::Duration;

/// A task with what its policy decided about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskConfiguration {
    /// The task.
    pub task: Task,
    /// Its fixed priority; larger is more urgent, equal ones go to the task that stands first.
    pub priority: u32,
    /// What happens to a job of it that is incomplete at its deadline.
    pub on_miss: OnMiss,
    /// Its zero-slack instant Z_i, counted from the release, at most the deadline: where a job of it
    /// is incomplete, less critical tasks are suspended from then on. `None`: it suspends nobody
    /// before its deadline. Read under [`crate::Enforcement::ZeroSlack`] only.
    pub zero_slack: Option<Duration>,
}

impl TaskConfiguration {
    /// When a job counts as critical, from its release on: Z_i, and D_i without one.
    #[must_use]
    pub fn critical_after(&self) -> Duration {
        self.zero_slack.unwrap_or(self.task.deadline)
    }
}
