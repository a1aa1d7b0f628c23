//! Vestal's task model: each task has a criticality level and one execution time per level.
//!
//! S. Vestal, "Preemptive scheduling of multi-criticality systems with varying degrees of execution
//! time assurance", RTSS 2007. What is here is only what decisions and analyses need; names, files
//! and units belong to the task-set file.

use crate::time::{Duration, Service};
use core::fmt;

/// How many jobs of one task may wait behind its current one. With D <= T a second waiting job means
/// that a deadline was missed more than a period ago; more than these are dropped with a notice, unless
/// the world keeps them (contract C7).
pub const BACKLOG_MAX: usize = 4;

/// The largest number of criticality levels of one task set.
pub const LEVELS_MAX: usize = 8;

/// The largest number of tasks of one task set: a [`crate::TaskId`] has sixteen bits.
pub const TASKS_MAX: usize = u16::MAX as usize;

/// A criticality level, or a mode (the criticality indicator); 0 is the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Level(pub u8);

impl Level {
    /// The lowest level, and the mode in which every system starts.
    pub const LOWEST: Self = Self(0);

    /// The level's index in tables indexed by level.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
    /// The next higher level.
    #[must_use]
    pub const fn next_higher(self) -> Self {
        Self(self.0.saturating_add(1))
    }
    /// All levels from the lowest to this one, lowest first.
    pub fn up_to_self(self) -> impl DoubleEndedIterator<Item = Level> + Clone {
        (0..=self.0).map(Level)
    }
}

/// How many levels a task set has: at least 1, at most [`LEVELS_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LevelSet(u8);

impl LevelSet {
    /// A set of `count` levels; `None` unless `1 <= count <= LEVELS_MAX`.
    #[must_use]
    pub const fn new(count: usize) -> Option<Self> {
        if count == 0 || count > LEVELS_MAX {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "count is at most LEVELS_MAX = 8"
        )]
        let count = count as u8;
        Some(Self(count))
    }
    /// The number of levels.
    #[must_use]
    pub const fn count(self) -> usize {
        self.0 as usize
    }
    /// The highest level.
    #[must_use]
    pub const fn highest(self) -> Level {
        Level(self.0.saturating_sub(1))
    }
    /// Every level, lowest first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Level> + Clone {
        self.highest().up_to_self()
    }
}

/// A WCET vector C_i(0..): never decreasing, and defined for every level.
///
/// Values above the task's own level are estimates that matter only where nothing stops the task
/// at its own level's value (RMS, DMS, CMS); where none were given, the value of the task's own
/// level continues.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wcet {
    values: [Service; LEVELS_MAX],
}

impl Wcet {
    /// A vector from the values of the levels 0, 1, ...; the last one continues upwards.
    ///
    /// # Errors
    /// [`TaskError::NoWcet`] without values, [`TaskError::TooManyLevels`] for more than
    /// [`LEVELS_MAX`], [`TaskError::WcetDecreases`] if a value is below its predecessor.
    pub fn new(given: &[Service]) -> Result<Self, TaskError> {
        let last = *given.last().ok_or(TaskError::NoWcet)?;
        if given.len() > LEVELS_MAX {
            return Err(TaskError::TooManyLevels { found: given.len() });
        }
        if !given.is_sorted() {
            return Err(TaskError::WcetDecreases);
        }
        let mut values = [last; LEVELS_MAX];
        for (slot, value) in values.iter_mut().zip(given) {
            *slot = *value;
        }
        Ok(Self { values })
    }

    /// The same value at every level.
    #[must_use]
    pub const fn constant(value: Service) -> Self {
        Self {
            values: [value; LEVELS_MAX],
        }
    }

    /// The same vector with `change` of each value, which must not make a larger value smaller than a smaller one.
    #[must_use]
    pub fn map(self, change: impl FnMut(Service) -> Service) -> Self {
        Self {
            values: self.values.map(change),
        }
    }

    /// C_i(level). A level beyond [`LEVELS_MAX`] has the highest level's value.
    #[must_use]
    pub fn at(&self, level: Level) -> Service {
        let [.., last] = self.values;
        self.values.get(level.index()).copied().unwrap_or(last)
    }
}

impl fmt::Debug for Wcet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values.iter()).finish()
    }
}

/// A recurrent task. Every job of it needs at most `wcet.at(l)` at the confidence of level `l`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// How critical the task is: z_i.
    pub criticality: Level,
    /// Period, or the minimum time between releases of a sporadic task: T_i > 0.
    pub period: Duration,
    /// Relative deadline: 0 < D_i <= T_i.
    pub deadline: Duration,
    /// Execution times C_i(l).
    pub wcet: Wcet,
    /// The budget of a job while the mode is above the task's own criticality; `None`: such a job
    /// is not admitted.
    pub degraded: Option<Service>,
}

impl Task {
    /// A task whose jobs are dropped while the mode is above its criticality.
    ///
    /// # Errors
    /// Each of [`TaskError`] that concerns a single task. `C_i(z_i) > D_i` is *not* an error here:
    /// such a task is well-formed, and no analysis accepts it.
    pub fn new(
        criticality: Level,
        period: Duration,
        deadline: Duration,
        wcet: Wcet,
    ) -> Result<Self, TaskError> {
        if criticality.index() >= LEVELS_MAX {
            return Err(TaskError::TooManyLevels {
                found: criticality.index().saturating_add(1),
            });
        }
        if period.is_zero() {
            return Err(TaskError::NoPeriod);
        }
        if deadline.is_zero() {
            return Err(TaskError::NoDeadline);
        }
        if deadline > period {
            return Err(TaskError::DeadlineAfterPeriod { deadline, period });
        }
        if wcet.at(criticality).is_zero() {
            return Err(TaskError::NoWcet);
        }
        Ok(Self {
            criticality,
            period,
            deadline,
            wcet,
            degraded: None,
        })
    }

    /// C_i(min(level, z_i)): what a job may execute when enforcement stops it at its own level.
    #[must_use]
    pub fn enforced_wcet(&self, level: Level) -> Service {
        self.wcet.at(level.min(self.criticality))
    }

    /// C_i(z_i): what a job may execute at the confidence of the task's own level.
    #[must_use]
    pub fn own_wcet(&self) -> Service {
        self.wcet.at(self.criticality)
    }
}

/// Why a task or its execution times are not well-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskError {
    /// No execution time, or zero at the task's own level.
    NoWcet,
    /// More levels than [`LEVELS_MAX`].
    TooManyLevels {
        /// How many there were.
        found: usize,
    },
    /// An execution time is below that of a lower level.
    WcetDecreases,
    /// The period is zero.
    NoPeriod,
    /// The deadline is zero.
    NoDeadline,
    /// The deadline is after the period's end: the model wants D <= T.
    DeadlineAfterPeriod {
        /// D_i.
        deadline: Duration,
        /// T_i.
        period: Duration,
    },
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWcet => f.write_str("the task has no execution time at its own level"),
            Self::TooManyLevels { found } => {
                write!(
                    f,
                    "{found} criticality levels, at most {LEVELS_MAX} are supported"
                )
            }
            Self::WcetDecreases => f.write_str("an execution time is below that of a lower level"),
            Self::NoPeriod => f.write_str("the period is zero"),
            Self::NoDeadline => f.write_str("the deadline is zero"),
            Self::DeadlineAfterPeriod { deadline, period } => {
                write!(
                    f,
                    "the deadline {deadline:?} is after the period {period:?}"
                )
            }
        }
    }
}

impl core::error::Error for TaskError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(value: u64) -> Service {
        Service::from_nanos(value)
    }

    #[test]
    fn the_last_value_given_continues_upwards() {
        let wcet = Wcet::new(&[ns(2), ns(5)]).unwrap();
        assert_eq!(wcet.at(Level(0)), ns(2));
        assert_eq!(wcet.at(Level(1)), ns(5));
        assert_eq!(wcet.at(Level(7)), ns(5));
        assert_eq!(wcet.at(Level(200)), ns(5));
    }

    #[test]
    fn a_vector_that_falls_with_the_level_is_refused() {
        assert_eq!(Wcet::new(&[ns(5), ns(2)]), Err(TaskError::WcetDecreases));
        assert_eq!(Wcet::new(&[]), Err(TaskError::NoWcet));
        assert_eq!(
            Wcet::new(&[ns(1); 9]),
            Err(TaskError::TooManyLevels { found: 9 })
        );
    }

    #[test]
    fn a_task_that_needs_more_than_its_deadline_is_well_formed_and_left_to_the_analysis() {
        let wcet = Wcet::constant(ns(12));
        let span = Duration::from_nanos(10);
        assert!(Task::new(Level(0), span, span, wcet).is_ok());
    }
}
