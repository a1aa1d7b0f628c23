//! Units: times, sizes.

use crate::number::{Decimal, NumberError, Scaled};
use std::fmt;
use vestal_core::time::HORIZON_NANOS;

/// The unit of bare numbers in a task-set file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

impl Unit {
    /// All units, smallest first.
    pub const ALL: [Self; 4] = [
        Self::Nanoseconds,
        Self::Microseconds,
        Self::Milliseconds,
        Self::Seconds,
    ];
    /// The names of all units as files write them.
    pub const NAMES: [&'static str; 4] = ["ns", "us", "ms", "s"];

    /// The name as files write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
    /// One of this unit is ten to this power nanoseconds.
    #[must_use]
    pub const fn power(self) -> u32 {
        // Each is a thousand of the one before.
        3 * self as u32
    }
    /// The unit of this name; the micro sign and the Greek letter mu are accepted for `u`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = match name {
            "\u{b5}s" | "\u{3bc}s" => "us",
            name => name,
        };
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why text is not a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TimeError {
    Number(NumberError),
    NoUnit,
    UnknownUnit(String),
    Negative,
    /// Not whole; the whole number of nanoseconds below.
    NotWhole(u128),
    TooLarge,
}

/// A number of `unit`s in nanoseconds, exactly.
pub(crate) fn time_from_number(text: &str, unit: Unit) -> Result<u64, TimeError> {
    let decimal = Decimal::parse(text).map_err(|error| match error {
        NumberError::TooManyDigits => TimeError::TooLarge,
        NumberError::Malformed | NumberError::NotFinite => TimeError::Number(error),
    })?;
    if decimal.negative && !decimal.is_zero() {
        return Err(TimeError::Negative);
    }
    match decimal.scaled(unit.power()) {
        Scaled::TooLarge => Err(TimeError::TooLarge),
        Scaled::Between(below) => Err(TimeError::NotWhole(below)),
        Scaled::Whole(nanos) => match u64::try_from(nanos) {
            Ok(nanos) if nanos <= HORIZON_NANOS => Ok(nanos),
            Ok(_) | Err(_) => Err(TimeError::TooLarge),
        },
    }
}

/// Text such as `1.45ms` or `200 ns` in nanoseconds; without a unit in the text, `default` counts.
pub(crate) fn time_from_text(text: &str, default: Option<Unit>) -> Result<u64, TimeError> {
    let text = text.trim();
    let split = text
        .char_indices()
        .find(|&(at, c)| c.is_alphabetic() && !is_exponent(text, at))
        .map_or(text.len(), |(at, _)| at);
    let (number, unit) = text.split_at(split);
    let (number, unit) = (number.trim(), unit.trim());
    if number.is_empty() || matches!(number, "-" | "+") {
        return Err(TimeError::Number(NumberError::Malformed));
    }
    let unit = if unit.is_empty() {
        default.ok_or(TimeError::NoUnit)?
    } else {
        Unit::from_name(unit).ok_or_else(|| TimeError::UnknownUnit(unit.to_owned()))?
    };
    time_from_number(number, unit)
}

/// Whether the letter at `at` is the `e` of an exponent and not the start of a unit.
fn is_exponent(text: &str, at: usize) -> bool {
    let mut rest = text.get(at..).unwrap_or_default().chars();
    let letter = rest.next();
    let next = rest.next();
    matches!(letter, Some('e' | 'E'))
        && next.is_some_and(|c| c.is_ascii_digit() || c == '-' || c == '+')
}

/// Nanoseconds as a string that reads back exactly, in the largest unit that gives at least one.
#[must_use]
pub fn time_text(nanos: u64) -> String {
    let unit = Unit::ALL
        .into_iter()
        .rev()
        .find(|unit| nanos >= 10u64.pow(unit.power()))
        .unwrap_or(Unit::Nanoseconds);
    let one = 10u64.pow(unit.power());
    let (whole, rest) = (nanos / one, nanos % one);
    if rest == 0 {
        return format!("{whole}{unit}");
    }
    let digits = format!("{rest:0width$}", width = unit.power() as usize);
    format!("{whole}.{}{unit}", digits.trim_end_matches('0'))
}

/// Text such as `10s` or `1.5 ms` in nanoseconds, exactly; `None` if it is not a time with its unit,
/// not a whole number of nanoseconds, or beyond the horizon.
#[must_use]
pub fn parse_time(text: &str) -> Option<u64> {
    time_from_text(text, None).ok()
}

/// Bytes from text such as `32KiB`, `1MiB`, `512B`; `None` if it is not a whole, positive size.
pub(crate) fn size_from_text(text: &str) -> Option<u64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let factor: u64 = match unit {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    let count: u64 = whole_from_text(number)?;
    count
        .checked_mul(factor)
        .filter(|&bytes| bytes > 0 && bytes <= SIZE_MAX)
}

/// The largest block of memory a task may ask for: 1 TiB, far above any machine this runs on.
const SIZE_MAX: u64 = 1 << 40;

/// A whole number without sign from digits alone.
pub(crate) fn whole_from_text(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Bytes as text in the largest unit that divides them.
pub(crate) fn size_text(bytes: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes.is_multiple_of(1 << shift) {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{bytes}B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_carry_their_own_unit() {
        for (text, nanos) in [
            ("1.45ms", 1_450_000),
            ("50us", 50_000),
            ("50\u{b5}s", 50_000),
            ("200 ns", 200),
            (" 2 s ", 2_000_000_000),
            ("1e3us", 1_000_000),
            ("0ms", 0),
            ("4611686018427387904ns", HORIZON_NANOS),
        ] {
            assert_eq!(time_from_text(text, None), Ok(nanos), "{text}");
        }
        assert_eq!(time_from_text("7", Some(Unit::Microseconds)), Ok(7000));
    }

    #[test]
    fn what_is_no_time_says_why() {
        for (text, error) in [
            ("7", TimeError::NoUnit),
            ("7 min", TimeError::UnknownUnit("min".into())),
            ("1e3e", TimeError::UnknownUnit("e".into())),
            ("ms", TimeError::Number(NumberError::Malformed)),
            ("", TimeError::Number(NumberError::Malformed)),
            ("-1ms", TimeError::Negative),
            ("1.5ns", TimeError::NotWhole(1)),
            ("4611686018427387905ns", TimeError::TooLarge),
            ("1e40s", TimeError::TooLarge),
            ("1,5ms", TimeError::Number(NumberError::Malformed)),
        ] {
            assert_eq!(time_from_text(text, None), Err(error), "{text}");
        }
    }

    #[test]
    fn times_and_sizes_read_back_what_was_written() {
        for nanos in [
            0,
            1,
            999,
            1000,
            1_450_000,
            10_000_000,
            1_000_000_001,
            HORIZON_NANOS,
        ] {
            assert_eq!(time_from_text(&time_text(nanos), None), Ok(nanos));
        }
        assert_eq!(time_text(1_450_000), "1.45ms");
        for bytes in [1, 1024, 32 << 10, 1 << 20, 1_500_000] {
            assert_eq!(size_from_text(&size_text(bytes)), Some(bytes));
        }
        assert_eq!(size_from_text("0KiB"), None);
        assert_eq!(size_from_text("1.5KiB"), None);
        assert_eq!(size_from_text("99999999999999GiB"), None);
    }
}
