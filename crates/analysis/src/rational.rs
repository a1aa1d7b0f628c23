//! Exact fractions, for sums of utilisations.
//!
//! The denominators of twenty periods in nanoseconds have no common multiple that fits into a
//! machine word, and a test that rounds is wrong where it matters, at the border. So a sum is a
//! [`Fraction`] of numbers of any size; [`Bracket`] is the interval around it that decides nearly
//! every set in a few machine words.

use num_bigint::BigUint;
use num_integer::Integer;

/// A fraction that is not negative, not necessarily in lowest terms.
#[derive(Clone, Debug)]
pub(crate) struct Fraction {
    numerator: BigUint,
    /// Not 0.
    denominator: BigUint,
}

impl Fraction {
    /// `numerator` / `denominator`, which is not 0.
    pub(crate) fn new(numerator: u64, denominator: u64) -> Self {
        Self {
            numerator: numerator.into(),
            denominator: denominator.into(),
        }
    }

    /// The sum of fractions with denominators that are not 0. The common denominator is the least
    /// one, so that periods with common factors keep it short.
    pub(crate) fn sum(terms: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut sum = Self::new(0, 1);
        for (numerator, denominator) in terms {
            let common = sum.denominator.lcm(&denominator.into());
            let term = &common / denominator * numerator;
            sum.numerator = sum.numerator * (&common / sum.denominator) + term;
            sum.denominator = common;
        }
        sum
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.numerator == BigUint::ZERO
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            numerator: &self.numerator * &other.denominator + &other.numerator * &self.denominator,
            denominator: &self.denominator * &other.denominator,
        }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self {
            numerator: &self.numerator * &other.numerator,
            denominator: &self.denominator * &other.denominator,
        }
    }

    /// 1 - self; `None` if that is negative.
    pub(crate) fn one_minus_self(&self) -> Option<Self> {
        (self.numerator <= self.denominator).then(|| Self {
            numerator: &self.denominator - &self.numerator,
            denominator: self.denominator.clone(),
        })
    }

    /// self / other; `None` for a division by 0.
    pub(crate) fn divided_by(&self, other: &Self) -> Option<Self> {
        (!other.is_zero()).then(|| Self {
            numerator: &self.numerator * &other.denominator,
            denominator: &self.denominator * &other.numerator,
        })
    }

    /// floor(`whole` / self), or the largest word below it; `None` for a division by 0.
    pub(crate) fn divides_floor(&self, whole: u128) -> Option<u64> {
        let quotient = (!self.is_zero()).then(|| whole * &self.denominator / &self.numerator)?;
        Some(u64::try_from(quotient).unwrap_or(u64::MAX))
    }

    pub(crate) fn is_at_most(&self, other: &Self) -> bool {
        &self.numerator * &other.denominator <= &other.numerator * &self.denominator
    }

    /// The greatest fraction of two machine words that is known to be at most self, for self < 1:
    /// self in lowest terms if the words hold that, else self rounded down to a multiple of 2^-62.
    pub(crate) fn in_words_floor(&self) -> (u64, u64) {
        self.in_words().unwrap_or_else(|| {
            let rounded = (&self.numerator << 62_u32) / &self.denominator;
            (u64::try_from(rounded).unwrap_or(1 << 62), 1 << 62)
        })
    }

    fn in_words(&self) -> Option<(u64, u64)> {
        let numerator = u128::try_from(&self.numerator).ok()?;
        let denominator = u128::try_from(&self.denominator).ok()?;
        let shared = numerator.gcd(&denominator);
        let numerator = u64::try_from(numerator / shared).ok()?;
        let denominator = u64::try_from(denominator / shared).ok()?;
        Some((numerator, denominator))
    }
}

/// An interval around a sum of utilisations C / T with C <= T, in units of 2^-60.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bracket {
    /// The sum is at least this.
    pub(crate) low: u128,
    /// The sum is at most this.
    pub(crate) high: u128,
}

impl Bracket {
    /// 1 as a bound of a [`Bracket`].
    pub(crate) const ONE: u128 = 1 << 60;

    /// Adds C / T; C <= T is required, and T > 0.
    pub(crate) fn add(&mut self, wcet: u64, period: u64) {
        let (scaled, period) = (u128::from(wcet) << 60, u128::from(period));
        let share = scaled / period;
        self.low += share;
        self.high += share + u128::from(share * period != scaled);
    }

    /// In millionths, to the nearest.
    pub(crate) fn millionths_nearest(self) -> u64 {
        let millionths = (self.high * 1_000_000 + Self::ONE / 2) / Self::ONE;
        u64::try_from(millionths).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_long_fractions_are_exact_at_one() {
        // Three periods whose product needs 186 bits; the last share fills the CPU exactly.
        let periods = [(1 << 62) - 57, (1 << 62) - 87, (1 << 61) - 31];
        let mut terms: Vec<(u64, u64)> = periods.iter().map(|&t: &u64| (t / 4, t)).collect();
        let rest = Fraction::sum(terms.iter().copied())
            .one_minus_self()
            .unwrap();
        assert!(!rest.is_zero());
        let whole = Fraction::sum(terms.iter().copied()).plus(&rest);
        assert!(whole.is_at_most(&Fraction::new(1, 1)));
        assert!(Fraction::new(1, 1).is_at_most(&whole));
        terms.push((1, u64::MAX));
        let more = Fraction::sum(terms.into_iter()).plus(&rest);
        assert!(!more.is_at_most(&Fraction::new(1, 1)));
        assert!(more.one_minus_self().is_none());
    }

    #[test]
    fn small_fractions_agree_with_machine_arithmetic() {
        for a in 0..12_u64 {
            for b in 1..9_u64 {
                for c in 0..12_u64 {
                    for d in 1..9_u64 {
                        let (one, other) = (Fraction::new(a, b), Fraction::new(c, d));
                        assert_eq!(one.is_at_most(&other), a * d <= c * b);
                        let sum = Fraction::sum([(a, b), (c, d)].into_iter());
                        let expected = Fraction::new(a * d + c * b, b * d);
                        assert!(sum.is_at_most(&expected) && expected.is_at_most(&sum));
                        let product = one.times(&other).in_words();
                        assert_eq!(product, Fraction::new(a * c, b * d).in_words());
                        assert_eq!(one.one_minus_self().is_some(), a <= b);
                    }
                }
            }
        }
    }

    #[test]
    fn a_fraction_too_long_for_words_is_rounded_down_by_less_than_its_last_bit() {
        let long = Fraction::new(1, 3).times(&Fraction::new(u64::MAX - 4, u64::MAX - 1));
        let long = long.times(&Fraction::new(u64::MAX - 13, u64::MAX - 58));
        assert_eq!(long.in_words(), None);
        let (numerator, denominator) = long.in_words_floor();
        assert!(Fraction::new(numerator, denominator).is_at_most(&long));
        assert!(!Fraction::new(numerator + 1, denominator).is_at_most(&long));
    }

    #[test]
    fn quotients_are_rounded_down_and_end_at_the_largest_word() {
        let third = Fraction::new(1, 3);
        assert_eq!(third.divides_floor(7), Some(21));
        assert_eq!(Fraction::new(2, 3).divides_floor(7), Some(10));
        let most = u128::from(u64::MAX);
        assert_eq!(third.divides_floor(most / 3), Some(u64::MAX));
        assert_eq!(third.divides_floor(most / 3 - 1), Some(u64::MAX - 3));
        assert_eq!(third.divides_floor(most.pow(2)), Some(u64::MAX));
        assert_eq!(third.times(&Fraction::new(0, 5)).divides_floor(1), None);
        // What is cancelled here has more than 128 bits.
        let long = Fraction::new(u64::MAX, u64::MAX - 1);
        let long = long.times(&long).times(&Fraction::new(1, u64::MAX));
        assert_eq!(long.divides_floor(most), Some(u64::MAX));
        assert_eq!(
            long.divides_floor(5),
            long.times(&Fraction::new(1, 5)).divides_floor(1)
        );
    }

    #[test]
    fn a_bracket_holds_the_sum() {
        let mut bracket = Bracket::default();
        bracket.add(1, 4);
        bracket.add(3, 4);
        assert_eq!(
            bracket,
            Bracket {
                low: Bracket::ONE,
                high: Bracket::ONE
            }
        );
        bracket.add(1, 3);
        assert_eq!(bracket.high - bracket.low, 1);
        assert_eq!(bracket.millionths_nearest(), 1_333_333);
    }
}
