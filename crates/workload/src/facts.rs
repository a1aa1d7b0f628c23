//! Plain facts about a task set: hyperperiod, utilisation, how long to simulate by default.

use crate::model::TaskSet;
use crate::number::{Rational, gcd};
use vestal_core::time::{HORIZON_NANOS, NANOS_PER_SECOND};
use vestal_core::{Duration, Level};

/// The utilisation of a task set at one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Utilisation {
    /// The exact value.
    Exact(Rational),
    /// The exact value does not fit 128 bits; a close one.
    Approximate(f64),
    /// This task has no execution time at the level.
    Unknown {
        /// Its place in the task table.
        task: usize,
    },
}

/// The longest default duration of a simulation or run.
pub const DEFAULT_DURATION_MAX: Duration = Duration::from_nanos(10 * NANOS_PER_SECOND);

impl TaskSet {
    /// The least common multiple of all periods; `None` without tasks, or beyond the horizon of
    /// 2^62 ns.
    #[must_use]
    pub fn hyperperiod(&self) -> Option<Duration> {
        let mut multiple: u128 = 1;
        for task in &self.tasks {
            let period = u128::from(task.period.as_nanos());
            // Both factors are below 2^63, so the product fits 128 bits.
            multiple = multiple / gcd(multiple, period).max(1) * period;
            if multiple > u128::from(HORIZON_NANOS) {
                return None;
            }
        }
        let nanos = u64::try_from(multiple).ok()?;
        (!self.tasks.is_empty()).then_some(Duration::from_nanos(nanos))
    }

    /// The utilisation at `level`: the sum of C_i(level) / T_i over the tasks of at least that
    /// criticality, which are those that must be scheduled when level-`level` budgets are used.
    #[must_use]
    pub fn utilisation(&self, level: Level) -> Utilisation {
        let mut exact = Some(Rational::ZERO);
        let mut close = 0.0;
        for (index, task) in self.tasks.iter().enumerate() {
            if task.criticality < level {
                continue;
            }
            let Some(wcet) = task.wcet.get(level.index()).copied().flatten() else {
                return Utilisation::Unknown { task: index };
            };
            let period = u128::from(task.period.as_nanos());
            let Some(share) = Rational::new(u128::from(wcet.as_nanos()), period) else {
                continue;
            };
            close += share.approximate();
            exact = exact.and_then(|sum| sum.checked_add(share));
        }
        exact.map_or(Utilisation::Approximate(close), Utilisation::Exact)
    }

    /// How long `simulate` and `run` last by default: two hyperperiods plus the largest
    /// offset, at most ten seconds.
    #[must_use]
    pub fn default_duration(&self) -> Duration {
        let offset = self
            .tasks
            .iter()
            .map(|task| task.offset)
            .max()
            .unwrap_or(Duration::ZERO);
        let both = self.hyperperiod().and_then(|period| period.checked_mul(2));
        let whole = both.and_then(|both| both.checked_add(offset));
        whole
            .unwrap_or(DEFAULT_DURATION_MAX)
            .min(DEFAULT_DURATION_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::PRELUDE;

    fn set(tasks: &[(&str, &str)]) -> TaskSet {
        let mut text = PRELUDE.to_owned();
        for (index, (criticality, rest)) in tasks.iter().enumerate() {
            text += &format!(
                "[[task]]\nname = \"t{index}\"\ncriticality = \"{criticality}\"\n{rest}\n"
            );
        }
        TaskSet::parse("a", &text).unwrap()
    }

    #[test]
    fn hyperperiod_and_default_duration() {
        let small = set(&[
            ("LO", "period = 4\nwcet = { LO = 1 }"),
            ("LO", "period = 6\noffset = 5\nwcet = { LO = 1 }"),
        ]);
        assert_eq!(small.hyperperiod(), Some(Duration::from_millis(12)));
        assert_eq!(small.default_duration(), Duration::from_millis(29));
        let long = set(&[("LO", "period = 6000\nwcet = { LO = 1 }")]);
        assert_eq!(long.default_duration(), DEFAULT_DURATION_MAX);
        let coprime = set(&[
            (
                "LO",
                "period = \"4611686018427387904ns\"\nwcet = { LO = 1 }",
            ),
            (
                "LO",
                "period = \"4611686018427387903ns\"\nwcet = { LO = 1 }",
            ),
        ]);
        assert_eq!(coprime.hyperperiod(), None);
        assert_eq!(coprime.default_duration(), DEFAULT_DURATION_MAX);
    }

    #[test]
    fn utilisation_is_exact_and_counts_tasks_of_at_least_the_level() {
        let set = set(&[
            ("LO", "period = 3\nwcet = { LO = 1 }"),
            ("HI", "period = 6\nwcet = { LO = 1, HI = 2 }"),
        ]);
        assert_eq!(
            set.utilisation(Level(0)),
            Utilisation::Exact(Rational::new(1, 2).unwrap())
        );
        assert_eq!(
            set.utilisation(Level(1)),
            Utilisation::Exact(Rational::new(1, 3).unwrap())
        );
    }

    #[test]
    fn utilisation_without_all_values_names_the_task() {
        let set = set(&[
            ("LO", "period = 3\nwcet = { LO = 1 }"),
            ("HI", "period = 6\nwcet = { HI = 2 }"),
        ]);
        assert_eq!(set.utilisation(Level(0)), Utilisation::Unknown { task: 1 });
    }
}
