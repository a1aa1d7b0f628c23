//! How many jobs may wait behind the current one of their task.

/// How many jobs a world keeps in all unless something else is asked for. They take about 75 MB.
pub const KEPT_MAX: usize = 1 << 20;

/// How many jobs may wait: schedulers are bounded, and a world keeps what does not fit (contract C7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// How many jobs of one task may wait behind its current one; more are dropped as they arrive. A job
    /// in the background makes room for the next one. `None`: any number.
    pub per_task: Option<usize>,
    /// How many jobs, of all tasks, a world keeps for want of room in the scheduler before it ends the
    /// run with [`crate::SimulationError::TooManyKept`].
    pub kept_max: usize,
}

impl Backlog {
    /// No limit for a task, and the usual one for all together.
    pub const UNLIMITED: Self = Self {
        per_task: None,
        kept_max: KEPT_MAX,
    };

    /// At most so many jobs of one task wait behind its current one.
    #[must_use]
    pub const fn at_most(per_task: usize) -> Self {
        Self {
            per_task: Some(per_task),
            ..Self::UNLIMITED
        }
    }

    /// How many jobs of one task a scheduler that lets `waiting` of them wait may have reported.
    pub(crate) fn room(self, waiting: usize) -> usize {
        let waiting = self.per_task.map_or(waiting, |most| most.min(waiting));
        waiting.saturating_add(1)
    }
}

impl Default for Backlog {
    fn default() -> Self {
        Self::UNLIMITED
    }
}
