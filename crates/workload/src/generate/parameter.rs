//! Parameters of recipes: their names, and their values from text.

use crate::number::{Decimal, Ratio, Scaled};
use vestal_core::model::{LEVELS_MAX, TASKS_MAX};

/// Something about a recipe that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value by default.
    pub default: &'static str,
    /// What it means, with its unit.
    pub meaning: &'static str,
}

/// Declares a recipe, with one row for each of its parameters: type, default, meaning, and which method of [`Given`]
/// reads it from text.
macro_rules! recipe {
    ($recipe:ident, $summary:literal; $($name:ident: $type:ty = $default:literal, $meaning:literal,
        $read:ident($($argument:expr),*);)*) => {
        /// The recipe's parameters.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $recipe {
            $(#[doc = $meaning] pub $name: $type,)*
        }

        impl $recipe {
            pub(super) const SUMMARY: &'static str = $summary;

            pub(super) const PARAMETERS: &'static [Parameter] = &[$(Parameter {
                name: stringify!($name),
                default: $default,
                meaning: $meaning,
            }),*];

            /// With the defaults.
            pub(super) fn new() -> Result<Self, ParameterError> {
                Ok(Self {
                    $($name: Given { name: stringify!($name), text: $default }.$read($($argument),*)?,)*
                })
            }

            pub(super) fn set(&mut self, name: &str, text: &str) -> Result<(), ParameterError> {
                let given = Given { name, text };
                match name {
                    $(stringify!($name) => self.$name = given.$read($($argument),*)?,)*
                    _ => return Err(given.unknown(Self::PARAMETERS)),
                }
                Ok(())
            }
        }
    };
}
pub(super) use recipe;

/// Why a parameter was not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The recipe has no parameter of this name.
    #[error("the recipe has no parameter `{name}`; it has {}", .known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Those that it has.
        known: Vec<&'static str>,
    },
    /// The value does not fit.
    #[error("`{name}` is `{found}`, expected {expected}")]
    Value {
        /// Whose value.
        name: String,
        /// What was given.
        found: String,
        /// What fits.
        expected: String,
    },
}

/// The largest number of tasks that a recipe draws: what the papers use, and room.
pub(super) const DRAWN_TASKS_MAX: u64 = 4096;
const _: () = assert!(DRAWN_TASKS_MAX <= TASKS_MAX as u64);

/// Fractions have at most this many decimals.
const DECIMALS: u32 = 9;

/// A value that is being set.
pub(super) struct Given<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

impl Given<'_> {
    pub(super) fn unknown(&self, known: &[Parameter]) -> ParameterError {
        ParameterError::Unknown {
            name: self.name.to_owned(),
            known: known.iter().map(|parameter| parameter.name).collect(),
        }
    }

    pub(super) fn wrong(&self, expected: impl Into<String>) -> ParameterError {
        ParameterError::Value {
            name: self.name.to_owned(),
            found: self.text.to_owned(),
            expected: expected.into(),
        }
    }

    pub(super) fn whole(&self, least: u64, most: u64) -> Result<u64, ParameterError> {
        let value: Option<u64> = self.text.parse().ok();
        value
            .filter(|value| (least..=most).contains(value))
            .ok_or_else(|| self.wrong(format!("a whole number from {least} to {most}")))
    }

    pub(super) fn count(&self, least: u64, most: u64) -> Result<usize, ParameterError> {
        let value = self.whole(least, most)?;
        usize::try_from(value).map_err(|_| self.wrong("a smaller number"))
    }

    pub(super) fn tasks(&self) -> Result<usize, ParameterError> {
        self.count(1, DRAWN_TASKS_MAX)
    }

    pub(super) fn levels(&self) -> Result<usize, ParameterError> {
        self.count(1, LEVELS_MAX as u64)
    }

    /// A decimal with at most nine places from `least` to `most`.
    pub(super) fn ratio(&self, least: u64, most: u64) -> Result<Ratio, ParameterError> {
        let one = 10u64.pow(DECIMALS);
        let expected = || {
            self.wrong(format!(
                "a number from {least} to {most} with at most {DECIMALS} decimals"
            ))
        };
        let decimal = Decimal::parse(self.text).map_err(|_| expected())?;
        let Scaled::Whole(value) = decimal.scaled(DECIMALS) else {
            return Err(expected());
        };
        let value = u64::try_from(value).map_err(|_| expected())?;
        let fits = least.saturating_mul(one) <= value && value <= most.saturating_mul(one);
        if decimal.negative && value != 0 || !fits {
            return Err(expected());
        }
        Ratio::new(value, one).ok_or_else(expected)
    }

    pub(super) fn positive_ratio(&self, most: u64) -> Result<Ratio, ParameterError> {
        let value = self.ratio(0, most)?;
        if value.numerator() == 0 {
            return Err(self.wrong(format!("a number above 0, at most {most}")));
        }
        Ok(value)
    }

    /// How many CPUs.
    pub(super) fn cpus(&self, least: u64) -> Result<u16, ParameterError> {
        Ok(u16::try_from(self.whole(least, 256)?).unwrap_or(u16::MAX))
    }

    pub(super) fn flag(&self) -> Result<bool, ParameterError> {
        match self.text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.wrong("true or false")),
        }
    }
}

/// `value * factor`, rounded down, exactly.
pub(super) fn scaled_floor(value: u64, factor: Ratio) -> u64 {
    let product = u128::from(value) * u128::from(factor.numerator());
    u64::try_from(product / u128::from(factor.denominator())).unwrap_or(u64::MAX)
}
