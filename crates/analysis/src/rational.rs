//! Exact fractions, for sums of utilisations.
//!
//! The denominators of twenty periods in nanoseconds have no common multiple that fits into a
//! machine word, and a test that rounds is wrong where it matters, at the border. So a sum is a
//! [`Fraction`] of numbers of any size; [`Bracket`] is the interval around it that decides nearly
//! every set in a few machine words.

use core::cmp::Ordering;

/// A natural number: 64-bit words, least significant first, the last one not 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Natural(Vec<u64>);

impl Natural {
    pub(crate) fn new(value: u64) -> Self {
        let mut natural = Self(vec![value]);
        natural.trim();
        natural
    }

    pub(crate) fn of_u128(value: u128) -> Self {
        let mut natural = Self(vec![low_word(value), low_word(value >> 64)]);
        natural.trim();
        natural
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The value, if it fits.
    fn to_u128(&self) -> Option<u128> {
        match self.0[..] {
            [] => Some(0),
            [low] => Some(low.into()),
            [low, high] => Some(u128::from(high) << 64 | u128::from(low)),
            _ => None,
        }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut words = vec![0; self.0.len() + other.0.len()];
        for (position, &factor) in other.0.iter().enumerate() {
            let mut carry = 0;
            for (word, &digit) in words[position..].iter_mut().zip(&self.0) {
                // At most (2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1.
                let sum = u128::from(digit) * u128::from(factor) + u128::from(*word) + carry;
                *word = low_word(sum);
                carry = sum >> 64;
            }
            words[position + self.0.len()] = low_word(carry);
        }
        let mut product = Self(words);
        product.trim();
        product
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let count = self.0.len().max(other.0.len());
        let word = |words: &[u64], position| words.get(position).copied().unwrap_or(0);
        let mut words = Vec::with_capacity(count + 1);
        let mut carry = 0;
        for position in 0..count {
            let sum =
                u128::from(word(&self.0, position)) + u128::from(word(&other.0, position)) + carry;
            words.push(low_word(sum));
            carry = sum >> 64;
        }
        words.push(low_word(carry));
        let mut sum = Self(words);
        sum.trim();
        sum
    }

    /// self - other; `None` if that is negative.
    fn minus(&self, other: &Self) -> Option<Self> {
        if (*self).cmp(other) == Ordering::Less {
            return None;
        }
        let mut words = self.0.clone();
        let mut borrow = false;
        for (position, word) in words.iter_mut().enumerate() {
            let (less, first) = word.overflowing_sub(other.0.get(position).copied().unwrap_or(0));
            let (less, second) = less.overflowing_sub(borrow.into());
            (*word, borrow) = (less, first || second);
        }
        let mut difference = Self(words);
        difference.trim();
        Some(difference)
    }

    /// The quotient and the remainder by a divisor that is not 0.
    fn divided_by(&self, divisor: u64) -> (Self, u64) {
        let mut words = self.0.clone();
        let mut rest: u128 = 0;
        for word in words.iter_mut().rev() {
            let part = rest << 64 | u128::from(*word);
            *word = low_word(part / u128::from(divisor));
            rest = part % u128::from(divisor);
        }
        let mut quotient = Self(words);
        quotient.trim();
        (quotient, low_word(rest))
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low word is what is asked for"
)]
fn low_word(value: u128) -> u64 {
    value as u64
}

/// A fraction that is not negative, not necessarily in lowest terms.
#[derive(Clone, Debug)]
pub(crate) struct Fraction {
    numerator: Natural,
    /// Not 0.
    denominator: Natural,
}

impl Fraction {
    /// `numerator` / `denominator`, which is not 0.
    pub(crate) fn new(numerator: u64, denominator: u64) -> Self {
        Self {
            numerator: Natural::new(numerator),
            denominator: Natural::new(denominator),
        }
    }

    /// The sum of fractions with denominators that are not 0. The common denominator is the least
    /// one, so that periods with common factors keep it short.
    pub(crate) fn sum(terms: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut sum = Self::new(0, 1);
        for (numerator, denominator) in terms {
            let (_, rest) = sum.denominator.divided_by(denominator);
            let shared = greatest_common_divisor(denominator, rest);
            let (cofactor, _) = sum.denominator.divided_by(shared);
            let growth = Natural::new(denominator / shared);
            let term = cofactor.times(&Natural::new(numerator));
            sum.numerator = sum.numerator.times(&growth).plus(&term);
            sum.denominator = sum.denominator.times(&growth);
        }
        sum
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let left = self.numerator.times(&other.denominator);
        let right = other.numerator.times(&self.denominator);
        Self {
            numerator: left.plus(&right),
            denominator: self.denominator.times(&other.denominator),
        }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self {
            numerator: self.numerator.times(&other.numerator),
            denominator: self.denominator.times(&other.denominator),
        }
    }

    pub(crate) fn times_word(&self, factor: u64) -> Self {
        self.times(&Self::new(factor, 1))
    }

    pub(crate) fn is_at_most_natural(&self, other: &Natural) -> bool {
        self.numerator <= other.times(&self.denominator)
    }

    /// 1 - self; `None` if that is negative.
    pub(crate) fn one_minus_self(&self) -> Option<Self> {
        Some(Self {
            numerator: self.denominator.minus(&self.numerator)?,
            denominator: self.denominator.clone(),
        })
    }

    /// self / other; `None` for a division by 0.
    pub(crate) fn divided_by(&self, other: &Self) -> Option<Self> {
        (!other.is_zero()).then(|| Self {
            numerator: self.numerator.times(&other.denominator),
            denominator: self.denominator.times(&other.numerator),
        })
    }

    pub(crate) fn is_at_most(&self, other: &Self) -> bool {
        self.numerator.times(&other.denominator) <= other.numerator.times(&self.denominator)
    }

    /// The greatest fraction of two machine words that is known to be at most self, for self < 1:
    /// self in lowest terms if the words hold that, else self rounded down to a multiple of 2^-62.
    pub(crate) fn in_words_floor(&self) -> (u64, u64) {
        self.in_words().unwrap_or_else(|| {
            let mut rest = self.numerator.clone();
            let mut rounded = 0;
            for _ in 0..62 {
                rest = rest.plus(&rest);
                rounded *= 2;
                if let Some(less) = rest.minus(&self.denominator) {
                    rest = less;
                    rounded += 1;
                }
            }
            (rounded, 1 << 62)
        })
    }

    fn in_words(&self) -> Option<(u64, u64)> {
        let (numerator, denominator) = (self.numerator.to_u128()?, self.denominator.to_u128()?);
        let shared = greatest_common_divisor_u128(numerator, denominator);
        let numerator = u64::try_from(numerator / shared).ok()?;
        let denominator = u64::try_from(denominator / shared).ok()?;
        Some((numerator, denominator))
    }
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    low_word(greatest_common_divisor_u128(one.into(), other.into()))
}

/// `one` where `other` is 0.
fn greatest_common_divisor_u128(mut one: u128, mut other: u128) -> u128 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
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
    fn words_carry_and_borrow() {
        let most = Natural::new(u64::MAX);
        let square = most.times(&most);
        assert_eq!(square.to_u128(), Some(u128::from(u64::MAX).pow(2)));
        let more = square.plus(&most).plus(&most).plus(&Natural::new(1));
        assert_eq!(more, Natural(vec![0, 0, 1]));
        assert_eq!(
            more.minus(&Natural::new(1)),
            Some(Natural(vec![u64::MAX, u64::MAX]))
        );
        assert_eq!(most.minus(&more), None);
        assert_eq!(
            more.divided_by(3),
            (Natural(vec![0x5555_5555_5555_5555; 2]), 1)
        );
        assert!(Natural::new(0).is_zero());
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
