//! A task with what a policy decided about it.

use crate::model::Task;
use crate::slice_count::SliceCount;
use crate::time::Duration;

/// What happens to a job that is incomplete at its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnMiss {
    /// It goes on, and its successor waits.
    Continue,
    /// It is dropped.
    Abort,
}

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
    /// is incomplete, less critical tasks are suspended from then on. `None`: it suspends none
    /// before its deadline. Read under [`crate::Enforcement::ZeroSlack`] only.
    pub zero_slack: Option<Duration>,
    /// Into how many slices its jobs are cut. Read under [`crate::Enforcement::Slices`] only.
    pub slices: SliceCount,
}

impl TaskConfiguration {
    /// A task of this priority: its jobs go on after their deadlines, have no zero-slack instant before
    /// and are not cut.
    #[must_use]
    pub const fn new(task: Task, priority: u32) -> Self {
        Self {
            task,
            priority,
            on_miss: OnMiss::Continue,
            zero_slack: None,
            slices: SliceCount::ONE,
        }
    }

    /// When a job counts as critical, from its release on: Z_i, and D_i without one.
    #[must_use]
    pub fn critical_after(&self) -> Duration {
        self.zero_slack.unwrap_or(self.task.deadline)
    }
}
