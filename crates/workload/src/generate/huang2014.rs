//! Huang, Gill and Lu: Implementation and Evaluation of Mixed-Criticality Scheduling Approaches for
//! Sporadic Tasks. ACM TECS 13(4s), 2014, section 4.1.
//!
//! UUniFast over n tasks; T = 100 x with x uniform in 1..100; D = T; the criticality of the i-th
//! task (counted from 1) is i mod levels; C(0) = max(floor(T u), 1), and CF times that, rounded
//! down, from the task's own level on. One unit of time of the paper is a microsecond here.
//!
//! The last rule can be read in two ways for tasks of level 0. Literally, C(0) is redefined as
//! CF C(0) (`inflate_level0 = true`). The paper's example tables have C(0) = C(1) for such tasks,
//! without the factor (`false`). The two readings support different claims of the paper, so
//! experiments vary the parameter.
//!
//! A set draws all utilisations, and then for each task its x.

use super::parameter::{Given, Parameter, ParameterError, recipe, scaled_floor};
use super::set::{nanos_of, task_set};
use super::{DrawError, Random, utilization::uunifast};
use crate::model::TaskSet;
use crate::number::Ratio;
use vestal_core::{Duration, Level, Service, Task, Wcet};

recipe! { Huang2014, "Huang, Gill and Lu (2014), section 4.1";
    tasks: usize = "20", "number of tasks", tasks();
    utilization: Ratio = "0.5", "sum of C(0)/T before rounding", positive_ratio(1);
    levels: usize = "2", "number of criticality levels", levels();
    criticality_factor: Ratio = "1.5", "C(own level)/C(0)", ratio(1, 1000);
    inflate_level0: bool = "false", "whether the factor also applies to tasks of level 0", flag();
}

/// A tick of the paper in nanoseconds.
const TICK_NANOS: u64 = 1_000;

impl Huang2014 {
    /// The tasks of the next set; O(n).
    #[must_use]
    pub fn tasks(&self, random: &mut Random) -> Vec<Task> {
        let utilizations = uunifast(self.tasks, self.utilization.approximate(), random);
        let tasks = (1..).zip(utilizations);
        tasks
            .map(|(number, utilization)| self.task(number, utilization, random))
            .collect()
    }

    /// The next set.
    ///
    /// # Errors
    /// None.
    pub fn draw(&self, random: &mut Random) -> Result<TaskSet, DrawError> {
        let name = format!(
            "huang2014, U = {}, {} tasks, CF = {}",
            self.utilization, self.tasks, self.criticality_factor
        );
        Ok(task_set(name, self.levels, &self.tasks(random)))
    }

    /// How many levels a set has.
    pub(super) const fn levels(&self) -> usize {
        self.levels
    }

    fn task(&self, number: usize, utilization: f64, random: &mut Random) -> Task {
        let period = 100 * (1 + random.below(100));
        let criticality = number.checked_rem(self.levels).unwrap_or(0);
        let normal = nanos_of(period, utilization).max(1);
        let overload = scaled_floor(normal, self.criticality_factor);
        let first = if criticality == 0 && self.inflate_level0 {
            overload
        } else {
            normal
        };
        let mut values = [Service::from_nanos(first * TICK_NANOS); vestal_core::model::LEVELS_MAX];
        if criticality > 0 {
            for value in values.iter_mut().skip(criticality) {
                *value = Service::from_nanos(overload * TICK_NANOS);
            }
        }
        let period = Duration::from_nanos(period * TICK_NANOS);
        let level = Level(u8::try_from(criticality).unwrap_or(u8::MAX));
        Task {
            criticality: level,
            period,
            deadline: period,
            // The values never decrease: the factor is at least 1.
            wcet: Wcet::new(&values).unwrap_or(Wcet::constant(values[0])),
            degraded: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Recipe, derived_seed};

    fn recipe(settings: &[(&str, &str)]) -> Recipe {
        let mut recipe = Recipe::named("huang2014").unwrap();
        for (name, value) in settings {
            recipe.set(name, value).unwrap();
        }
        recipe
    }

    #[test]
    fn levels_periods_and_execution_times_follow_the_rules() {
        for inflate in [false, true] {
            let inflate_text = if inflate { "true" } else { "false" };
            let recipe = recipe(&[
                ("levels", "4"),
                ("utilization", "0.7"),
                ("inflate_level0", inflate_text),
            ]);
            for index in 0..200 {
                let set = recipe.draw(derived_seed(3, &[0, index])).unwrap();
                for (at, task) in set.tasks.iter().enumerate() {
                    assert_eq!(task.criticality.index(), (at + 1) % 4);
                    let ticks = task.period.as_nanos() / 1000;
                    assert!(ticks % 100 == 0 && (100..=10_000).contains(&ticks));
                    assert_eq!(task.deadline, task.period);
                    let wcet = |level: usize| task.wcet[level].unwrap().as_nanos() / 1000;
                    let own = task.criticality.index();
                    assert!(wcet(0) >= 1);
                    for level in 0..own {
                        assert_eq!(wcet(level), wcet(0));
                    }
                    if own > 0 {
                        assert_eq!(wcet(own), wcet(0) * 3 / 2);
                    }
                    assert!(task.wcet[own + 1..].iter().all(Option::is_none));
                }
            }
        }
    }

    #[test]
    fn the_readings_differ_in_level_0_only_and_by_the_factor() {
        let seed = derived_seed(5, &[2, 9]);
        let plain = recipe(&[]).draw(seed).unwrap();
        let inflated = recipe(&[("inflate_level0", "true")]).draw(seed).unwrap();
        for (plain, inflated) in plain.tasks.iter().zip(&inflated.tasks) {
            let value = |task: &crate::model::TaskSpec, level: usize| task.wcet[level].unwrap();
            if plain.criticality == Level(0) {
                let ticks = value(plain, 0).as_nanos() / 1000;
                assert_eq!(value(inflated, 0).as_nanos() / 1000, ticks * 3 / 2);
            } else {
                assert_eq!(plain, inflated);
            }
        }
    }

    #[test]
    fn a_drawn_set_is_a_file_and_the_file_is_the_set() {
        let set = recipe(&[("tasks", "7"), ("levels", "3")])
            .draw(derived_seed(1, &[0, 0]))
            .unwrap();
        let read = TaskSet::parse("generated.toml", &set.to_toml()).unwrap();
        assert_eq!(read, set);
        let from_file = read.to_tasks("amc-rtb").unwrap();
        assert_eq!(from_file.len(), 7);
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        let mut recipe = recipe(&[]);
        for (name, value) in [
            ("utilization", "0"),
            ("utilization", "1.5"),
            ("utilization", "x"),
            ("criticality_factor", "0.9"),
            ("levels", "9"),
            ("tasks", "0"),
            ("inflate_level0", "yes"),
            ("task", "3"),
        ] {
            assert!(recipe.set(name, value).is_err(), "{name} = {value}");
        }
        let mut defaults = Recipe::named("huang2014").unwrap();
        for parameter in defaults.parameters() {
            defaults.set(parameter.name, parameter.default).unwrap();
        }
        assert_eq!(defaults, recipe);
    }
}
