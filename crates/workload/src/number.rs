//! Exact numbers: decimals from their text, ratios, rationals.

use std::fmt;

/// A decimal number as it was written: `mantissa * 10^exponent`, without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    mantissa: u128,
    exponent: i64,
}

/// Why text is not a number that can be worked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberError {
    /// Not a decimal number at all.
    Malformed,
    /// Infinite or not a number.
    NotFinite,
    /// More digits than any legal value needs.
    TooManyDigits,
}

/// A decimal times a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scaled {
    Whole(u128),
    /// Not whole: the whole number below.
    Between(u128),
    TooLarge,
}

/// Nothing above this exponent can be a legal value; below its negative everything is a fraction.
const EXPONENT_MAX: i64 = 10_000;

impl Decimal {
    pub(crate) fn parse(text: &str) -> Result<Self, NumberError> {
        let (negative, rest) = match text.strip_prefix(['-', '+']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        if matches!(
            rest.to_ascii_lowercase().as_str(),
            "nan" | "inf" | "infinity"
        ) {
            return Err(NumberError::NotFinite);
        }
        let (digits, exponent) = match rest.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, parse_exponent(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() {
            return Err(NumberError::Malformed);
        }
        if !whole
            .chars()
            .chain(fraction.chars())
            .all(|c| c.is_ascii_digit())
        {
            return Err(NumberError::Malformed);
        }
        let fraction = fraction.trim_end_matches('0');
        let mut mantissa: u128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            mantissa = mantissa
                .checked_mul(10)
                .and_then(|m| m.checked_add(u128::from(digit - b'0')))
                .ok_or(NumberError::TooManyDigits)?;
        }
        let places = i64::try_from(fraction.len()).map_err(|_| NumberError::TooManyDigits)?;
        let mut exponent = exponent - places;
        while mantissa != 0 && mantissa.is_multiple_of(10) {
            mantissa /= 10;
            exponent += 1;
        }
        if mantissa == 0 {
            exponent = 0;
        }
        Ok(Self {
            negative,
            mantissa,
            exponent,
        })
    }

    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The magnitude times `10^power`.
    pub(crate) fn scaled(self, power: u32) -> Scaled {
        let exponent = self.exponent + i64::from(power);
        if self.mantissa == 0 {
            return Scaled::Whole(0);
        }
        let Ok(steps) = u32::try_from(exponent.unsigned_abs()) else {
            return if exponent > 0 {
                Scaled::TooLarge
            } else {
                Scaled::Between(0)
            };
        };
        let factor = 10u128.checked_pow(steps);
        if exponent >= 0 {
            return factor
                .and_then(|factor| self.mantissa.checked_mul(factor))
                .map_or(Scaled::TooLarge, Scaled::Whole);
        }
        // The mantissa has no factor ten left, so a negative exponent is never a whole number.
        factor.map_or(Scaled::Between(0), |factor| {
            Scaled::Between(self.mantissa / factor)
        })
    }

    /// The magnitude as a ratio, if numerator and denominator stay at most 10^18.
    pub(crate) fn ratio(self) -> Option<Ratio> {
        const LIMIT: u128 = 1_000_000_000_000_000_000;
        let steps = u32::try_from(self.exponent.unsigned_abs()).ok()?;
        let factor = 10u128.checked_pow(steps)?;
        let (num, den) = if self.exponent >= 0 {
            (self.mantissa.checked_mul(factor)?, 1)
        } else {
            (self.mantissa, factor)
        };
        if num > LIMIT || den > LIMIT {
            return None;
        }
        Ratio::new(u64::try_from(num).ok()?, u64::try_from(den).ok()?)
    }
}

fn parse_exponent(text: &str) -> Result<i64, NumberError> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(NumberError::Malformed);
    }
    let magnitude = digits
        .parse::<i64>()
        .unwrap_or(EXPONENT_MAX)
        .min(EXPONENT_MAX);
    Ok(if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    })
}

/// A fraction that was written as a decimal, exactly: a probability or a utilisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    num: u64,
    den: u64,
}

impl Ratio {
    /// One.
    pub const ONE: Self = Self { num: 1, den: 1 };

    /// `num / den` in lowest terms; `None` if `den` is zero.
    #[must_use]
    pub fn new(num: u64, den: u64) -> Option<Self> {
        if den == 0 {
            return None;
        }
        let divisor = gcd(u128::from(num), u128::from(den)).max(1);
        let divisor = u64::try_from(divisor).ok()?;
        Some(Self {
            num: num / divisor,
            den: den / divisor,
        })
    }
    /// The numerator in lowest terms.
    #[must_use]
    pub const fn numerator(self) -> u64 {
        self.num
    }
    /// The denominator in lowest terms.
    #[must_use]
    pub const fn denominator(self) -> u64 {
        self.den
    }
    /// Whether the value is at most one.
    #[must_use]
    pub const fn is_at_most_one(self) -> bool {
        self.num <= self.den
    }
    /// The nearest floating-point number, for display and for drawing random numbers.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "the name says that it is an approximation"
    )]
    pub fn approximate(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

impl fmt::Display for Ratio {
    /// As a decimal, which is exact whenever the ratio was written as one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (num, den) = (u128::from(self.num), u128::from(self.den));
        write!(f, "{}", num / den)?;
        let mut rest = num % den;
        if rest == 0 {
            return Ok(());
        }
        f.write_str(".")?;
        // A decimal with a denominator of at most 10^18 needs at most 18 places... of 2s or 5s
        // alone it needs as many places as the exponent, at most 60 for 2^60.
        for _ in 0..60 {
            rest *= 10;
            write!(f, "{}", rest / den)?;
            rest %= den;
            if rest == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// An exact non-negative rational in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rational {
    num: u128,
    den: u128,
}

impl Rational {
    /// Zero.
    pub const ZERO: Self = Self { num: 0, den: 1 };

    /// `num / den` in lowest terms; `None` if `den` is zero.
    #[must_use]
    pub fn new(num: u128, den: u128) -> Option<Self> {
        if den == 0 {
            return None;
        }
        let divisor = gcd(num, den).max(1);
        Some(Self {
            num: num / divisor,
            den: den / divisor,
        })
    }
    /// The sum; `None` if it does not fit 128 bits.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let common = gcd(self.den, other.den).max(1);
        let left = self.num.checked_mul(other.den / common)?;
        let right = other.num.checked_mul(self.den / common)?;
        Self::new(
            left.checked_add(right)?,
            self.den.checked_mul(other.den / common)?,
        )
    }
    /// The numerator in lowest terms.
    #[must_use]
    pub const fn numerator(self) -> u128 {
        self.num
    }
    /// The denominator in lowest terms.
    #[must_use]
    pub const fn denominator(self) -> u128 {
        self.den
    }
    /// The nearest floating-point number, for display.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "the name says that it is an approximation"
    )]
    pub fn approximate(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.den == 1 {
            write!(f, "{}", self.num)
        } else {
            write!(f, "{}/{}", self.num, self.den)
        }
    }
}

/// The greatest common divisor; `gcd(0, n) = n`.
pub(crate) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_read_without_rounding() {
        assert_eq!(
            Decimal::parse("1.45").unwrap().scaled(6),
            Scaled::Whole(1_450_000)
        );
        assert_eq!(Decimal::parse("0.1").unwrap().scaled(0), Scaled::Between(0));
        assert_eq!(
            Decimal::parse("1.4500001").unwrap().scaled(6),
            Scaled::Between(1_450_000)
        );
        assert_eq!(
            Decimal::parse("1e3").unwrap().scaled(0),
            Scaled::Whole(1000)
        );
        assert_eq!(Decimal::parse("1e-3").unwrap().scaled(3), Scaled::Whole(1));
        assert_eq!(Decimal::parse("-0.0").unwrap().scaled(9), Scaled::Whole(0));
        assert_eq!(
            Decimal::parse("9007199254740993").unwrap().scaled(0),
            Scaled::Whole(9_007_199_254_740_993)
        );
    }

    #[test]
    fn monstrous_numbers_are_refused_and_not_computed() {
        assert_eq!(
            Decimal::parse("1e999999999999").unwrap().scaled(0),
            Scaled::TooLarge
        );
        assert_eq!(
            Decimal::parse("1e-99999999999").unwrap().scaled(9),
            Scaled::Between(0)
        );
        assert_eq!(
            Decimal::parse(&"9".repeat(500)),
            Err(NumberError::TooManyDigits)
        );
        assert_eq!(Decimal::parse("nan"), Err(NumberError::NotFinite));
        assert_eq!(Decimal::parse("-inf"), Err(NumberError::NotFinite));
        for text in ["", ".", "1.2.3", "1e", "0x10", "1_000", "--1", "٣"] {
            assert_eq!(
                Decimal::parse(text),
                Err(NumberError::Malformed),
                "{text:?}"
            );
        }
    }

    #[test]
    fn ratios_are_in_lowest_terms_and_print_exactly() {
        let ratio = Decimal::parse("0.0625").unwrap().ratio().unwrap();
        assert_eq!((ratio.numerator(), ratio.denominator()), (1, 16));
        assert_eq!(ratio.to_string(), "0.0625");
        assert_eq!(Ratio::new(3, 1).unwrap().to_string(), "3");
        assert_eq!(Ratio::new(1, 0), None);
        assert_eq!(
            Decimal::parse("0.0000000000000000001").unwrap().ratio(),
            None
        );
    }

    #[test]
    fn rationals_add_exactly_or_not_at_all() {
        let third = Rational::new(1, 3).unwrap();
        let sixth = Rational::new(1, 6).unwrap();
        assert_eq!(third.checked_add(sixth), Rational::new(1, 2));
        assert_eq!(
            Rational::new(u128::MAX, 1).unwrap().checked_add(third),
            None
        );
    }
}
