//! Random task sets: the recipes of the papers, and what they are made of.
//!
//! A [`Recipe`] with its parameters and a seed gives one task set, bit by bit the same on every
//! platform. A paper leaves things open; where two readings are possible, the reading is a
//! parameter. Sets are numbered: the seed of set `index` of a series is
//! [`derived_seed`]`(seed, &[point, index])`, so that any of them can be drawn alone.
//!
//! ```
//! use vestal_workload::generate::{Recipe, derived_seed};
//!
//! let mut recipe = Recipe::named("huang2014").ok_or("no such recipe")?;
//! recipe.set("tasks", "8")?;
//! recipe.set("utilization", "0.6")?;
//! let set = recipe.draw(derived_seed(1, &[0, 0]))?;
//! assert_eq!(set.tasks.len(), 8);
//! assert_eq!(set, recipe.draw(derived_seed(1, &[0, 0]))?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod herman2012;
pub mod huang2014;
pub mod missimer;
mod parameter;
pub mod periods;
mod set;
pub mod sigrist2015;
pub mod standard;
pub mod utilization;

pub use crate::random::{Random, derived_seed};
pub use herman2012::Herman2012;
pub use huang2014::Huang2014;
pub use missimer::Missimer;
pub use parameter::{Parameter, ParameterError};
pub use set::task_set;
pub use sigrist2015::Sigrist2015;
pub use standard::Standard;

use crate::model::TaskSet;
use vestal_core::Task;

/// Why no set was drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DrawError(pub(crate) String);

macro_rules! recipes {
    ($($(#[$doc:meta])* $name:ident => $recipe:ident;)*) => {
        /// How task sets are drawn, with its parameters.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Recipe {
            $($(#[$doc])* $recipe($recipe),)*
        }

        impl Recipe {
            /// The names of all recipes.
            pub const NAMES: [&'static str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];

            /// The recipe of this name with its default parameters.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($name) => $recipe::new().ok().map(Self::$recipe),)*
                    _ => None,
                }
            }

            /// The recipe's name.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$recipe(_) => stringify!($name),)*
                }
            }

            /// One line on what it is.
            #[must_use]
            pub const fn summary(&self) -> &'static str {
                match self {
                    $(Self::$recipe(_) => $recipe::SUMMARY,)*
                }
            }

            /// What can be set, with defaults.
            #[must_use]
            pub const fn parameters(&self) -> &'static [Parameter] {
                match self {
                    $(Self::$recipe(_) => $recipe::PARAMETERS,)*
                }
            }

            /// Sets a parameter from its text, such as `0.6`, `20` or `true`.
            ///
            /// # Errors
            /// [`ParameterError`] if the recipe has no such parameter, or the value does not fit.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
                match self {
                    $(Self::$recipe(recipe) => recipe.set(name, value),)*
                }
            }

            /// The task set of this seed.
            ///
            /// # Errors
            /// [`DrawError`] if there is no set with these parameters.
            pub fn draw(&self, seed: u64) -> Result<TaskSet, DrawError> {
                let mut random = Random::new(seed);
                match self {
                    $(Self::$recipe(recipe) => recipe.draw(&mut random),)*
                }
            }
        }
    };
}

/// A set that is tasks on one CPU and nothing else, without names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tasks {
    /// As [`TaskSet::to_tasks`] gives them.
    pub tasks: Vec<Task>,
    /// How many levels the set has.
    pub levels: usize,
}

impl Recipe {
    /// The same as [`Self::draw`] for whoever wants the tasks alone, in a fraction of the time. `None` if a set of this recipe is
    /// more than tasks on one CPU.
    ///
    /// # Errors
    /// As [`Self::draw`].
    #[must_use]
    pub fn draw_tasks(&self, seed: u64) -> Option<Result<Tasks, DrawError>> {
        let mut random = Random::new(seed);
        let (tasks, levels) = match self {
            Self::Huang2014(recipe) => (Ok(recipe.tasks(&mut random)), recipe.levels()),
            Self::Standard(recipe) => (recipe.tasks(&mut random), standard::LEVELS),
            Self::Sigrist2015(_) | Self::Herman2012(_) | Self::Missimer(_) => return None,
        };
        Some(tasks.map(|tasks| Tasks { tasks, levels }))
    }
}

recipes! {
    /// Huang, Gill and Lu (2014), section 4.1.
    huang2014 => Huang2014;
    /// Sigrist et al. (2015), section VII-A.
    sigrist2015 => Sigrist2015;
    /// Herman et al. (2012), section 3.3.
    herman2012 => Herman2012;
    /// Missimer et al., Table I.
    missimer => Missimer;
    /// What a study of today would draw.
    standard => Standard;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_has_the_defaults_that_its_list_of_parameters_says() {
        for name in Recipe::NAMES {
            let recipe = Recipe::named(name).unwrap();
            assert_eq!(recipe.name(), name);
            let mut set = recipe.clone();
            for parameter in recipe.parameters() {
                set.set(parameter.name, parameter.default).unwrap();
            }
            assert_eq!(set, recipe);
            assert!(set.set("nonsense", "1").is_err());
            assert_eq!(recipe.draw(9).unwrap(), set.draw(9).unwrap());
            assert_ne!(recipe.draw(9).unwrap(), recipe.draw(10).unwrap());
        }
    }

    /// Of those recipes that say so, the tasks alone are those of the set, and errors are the same.
    #[test]
    fn tasks_without_names_are_those_of_the_set() {
        let settings = [
            ("huang2014", vec![("levels", "4"), ("utilization", "0.8")]),
            ("huang2014", vec![("inflate_level0", "true")]),
            ("standard", vec![("utilization", "0.9")]),
            (
                "standard",
                vec![("utilization_high", "0.7"), ("deadlines", "constrained")],
            ),
            ("standard", vec![("periods", "harmonic"), ("tasks", "3")]),
            (
                "standard",
                vec![("utilization", "1"), ("tasks", "1"), ("period_max", "1us")],
            ),
        ];
        let mut compared = 0;
        for (name, values) in settings {
            let mut recipe = Recipe::named(name).unwrap();
            for (parameter, value) in values {
                recipe.set(parameter, value).unwrap();
            }
            for seed in 0..200 {
                let alone = recipe.draw_tasks(seed).unwrap();
                let set = recipe.draw(seed);
                compared += u32::from(set.is_ok());
                let of_set = set.map(|set| Tasks {
                    tasks: set.to_tasks("sweep").unwrap(),
                    levels: set.levels.len(),
                });
                assert_eq!(alone, of_set, "{name} {seed}");
            }
        }
        assert_eq!(compared, 1_000);
        for name in ["sigrist2015", "herman2012", "missimer"] {
            assert_eq!(Recipe::named(name).unwrap().draw_tasks(1), None);
        }
    }

    fn refuses(name: &str, wrong: &[(&str, &str)]) {
        let mut recipe = Recipe::named(name).unwrap();
        let before = recipe.clone();
        for (parameter, value) in wrong {
            let error = recipe.set(parameter, value).unwrap_err().to_string();
            assert!(error.contains(parameter), "{error}");
            assert_eq!(recipe, before, "{name}: {parameter} = {value}");
        }
    }

    #[test]
    fn sigrist2015_refuses_what_does_not_fit() {
        let wrong = [
            ("utilization", "0"),
            ("utilization", "129"),
            ("cpus", "0"),
            ("cpus", "257"),
            ("share_high", "1.1"),
        ];
        refuses("sigrist2015", &wrong);
    }

    #[test]
    fn herman2012_refuses_what_does_not_fit() {
        let wrong = [
            ("tasks", "2"),
            ("cpus", "1"),
            ("capacity_a", "0"),
            ("capacity_b", "1.01"),
            ("capacity_c", "-1"),
        ];
        refuses("herman2012", &wrong);
    }

    #[test]
    fn missimer_refuses_what_does_not_fit() {
        let wrong = [
            ("tasks", "0"),
            ("io_tasks", "-1"),
            ("io_utilization", "2"),
            ("criticality_factor", "0.5"),
            ("share_high", "x"),
        ];
        refuses("missimer", &wrong);
    }

    #[test]
    fn standard_refuses_what_does_not_fit() {
        let wrong = [
            ("periods", "often"),
            ("periods", "10ms,"),
            ("period_min", "0ms"),
            ("period_max", "105d"),
            ("granularity", "1"),
            ("deadlines", "late"),
            ("utilization_high", "1.5"),
        ];
        refuses("standard", &wrong);
        let mut recipe = Recipe::named("standard").unwrap();
        recipe.set("periods", "10ms, 20ms").unwrap();
        recipe.set("deadlines", "constrained").unwrap();
    }

    #[test]
    fn each_parameter_is_listed_once_with_a_meaning() {
        for name in Recipe::NAMES {
            let parameters = Recipe::named(name).unwrap().parameters();
            for (place, parameter) in parameters.iter().enumerate() {
                assert!(!parameter.meaning.is_empty());
                let before = &parameters[..place];
                assert!(
                    before.iter().all(|other| other.name != parameter.name),
                    "{name}"
                );
            }
        }
    }
}
