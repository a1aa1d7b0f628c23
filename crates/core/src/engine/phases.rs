//! How far jobs are with their time under zero-slack scheduling, and the suspension level that follows.
//!
//! The engine that sees every job and the guard that sees only exceptions share this: the rule, and
//! what is counted for it, stand at the head of [`super::uniprocessor`]'s `suspension`.

use crate::engine::configuration::ConfigurationError;
use crate::ids::TaskId;
use crate::model::{LEVELS_MAX, Level};
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;
use crate::time::Duration;

/// How far the job of a task that counts is with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// There is no such job.
    Nothing,
    /// Before its zero-slack instant.
    Early,
    /// From its zero-slack instant on.
    Critical,
    /// From its deadline on.
    Late,
}

impl Phase {
    /// The phase of an incomplete job released so long ago.
    pub(super) fn at_age(age: Duration, entry: &TaskConfiguration) -> Self {
        if age >= entry.task.deadline {
            Self::Late
        } else if age >= entry.critical_after() {
            Self::Critical
        } else {
            Self::Early
        }
    }

    /// The level up to which a job of this criticality suspends; `None`: nobody.
    pub(super) fn suspends(self, criticality: Level) -> Option<Level> {
        match self {
            Self::Nothing | Self::Early => None,
            Self::Critical => criticality.0.checked_sub(1).map(Level),
            Self::Late => Some(criticality),
        }
    }
}

/// The phases of all tasks, and kappa.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Phases<S: Store> {
    phases: S::Table<Phase>,
    /// By level, how many jobs suspend up to there.
    counts: [u16; LEVELS_MAX],
    /// kappa, as of the last settlement.
    level: Option<Level>,
}

impl<S: Store> Phases<S> {
    pub(super) fn new(tasks: usize) -> Result<Self, ConfigurationError> {
        let too_many = ConfigurationError::TooManyTasks { found: tasks };
        Ok(Self {
            phases: S::table(tasks, Phase::Nothing).ok_or(too_many)?,
            counts: [0; LEVELS_MAX],
            level: None,
        })
    }

    /// The suspension level as of the last settlement; `None` if nobody is suspended.
    pub(super) const fn level(&self) -> Option<Level> {
        self.level
    }

    pub(super) fn phase(&self, task: TaskId) -> Phase {
        self.phases
            .get(task.index())
            .copied()
            .unwrap_or(Phase::Nothing)
    }

    pub(super) fn enter(&mut self, task: TaskId, criticality: Level, phase: Phase) {
        let Some(entry) = self.phases.get_mut(task.index()) else {
            return;
        };
        let before = core::mem::replace(entry, phase).suspends(criticality);
        let after = phase.suspends(criticality);
        if let Some(count) = before.and_then(|level| self.counts.get_mut(level.index())) {
            *count = count.saturating_sub(1);
        }
        if let Some(count) = after.and_then(|level| self.counts.get_mut(level.index())) {
            *count = count.saturating_add(1);
        }
    }

    /// Brings kappa up to date; says whether it changed.
    pub(super) fn settle_level(&mut self) -> bool {
        let level = self.counted();
        core::mem::replace(&mut self.level, level) != level
    }

    /// kappa, from the counts.
    pub(super) fn counted(&self) -> Option<Level> {
        let levels = (0..).map(Level).zip(self.counts);
        levels
            .filter(|&(_, count)| count > 0)
            .last()
            .map(|(level, _)| level)
    }
}
