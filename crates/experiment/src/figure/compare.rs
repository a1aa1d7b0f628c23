//! Comparisons of answers about the same drawn sets, with intervals.
//!
//! Assumptions:
//! 1. The sets of a point are drawn independently of each other, and so are those of different points.
//! 2. All tests answer about the same sets. So two tests are compared by the sets on which they differ, not
//!    by their shares: what both accept or both reject says nothing about which one accepts more (McNemar,
//!    Psychometrika 12, 1947).
//! 3. An interval reaches [`Z`] standard errors to each side. A true value lies outside of one with a
//!    probability of 0.006 %, so that a page of 800 intervals has none that is wrong with 95 %.
//! 4. Where there are few sets, or all answers agree, the normal distribution is too sure of itself. Signs
//!    are corrected for continuity, and variances get what Wilson's interval adds to them, z²/4 sets for
//!    each kind of set: an interval is never empty.

use crate::number::as_f64;
use crate::summary::Share;

/// On which side of zero something lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Above, for certain.
    Above,
    /// Below, for certain.
    Below,
    /// Neither can be said.
    Open,
}

/// Standard errors to each side.
pub(super) const Z: f64 = 4.0;

/// What a variance gets for each kind of set, in sets: z^2 / 4.
const ADDED: f64 = Z * Z / 4.0;

/// From where to where a value may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub(super) fn around(value: f64, variance: f64) -> Self {
        let spread = Z * variance.max(0.0).sqrt();
        Self {
            low: value - spread,
            high: value + spread,
        }
    }

    /// Wilson's interval of a share.
    pub(super) fn of_share(yes: u64, sets: u64) -> Self {
        let Share { low, high, .. } = Share::wilson_with(Z, yes, sets);
        Self { low, high }
    }

    /// Where it lies relative to `bound`.
    pub(super) fn side_of(self, bound: f64) -> Sign {
        if self.low > bound {
            Sign::Above
        } else if self.high < bound {
            Sign::Below
        } else {
            Sign::Open
        }
    }
}

/// How two tests differ at one point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stratum {
    /// The weight of the point; 1 without weights.
    pub weight: f64,
    pub sets: u64,
    /// Sets that both accept.
    pub both: u64,
    /// Sets that only the first one accepts.
    pub first: u64,
    /// Sets that only the second one accepts.
    pub second: u64,
}

/// How two tests differ at some points.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pairing {
    pub strata: Vec<Stratum>,
}

impl Pairing {
    fn total(&self, of: fn(&Stratum) -> u64) -> u64 {
        self.strata.iter().map(of).sum()
    }

    pub(super) fn sets(&self) -> u64 {
        self.total(|one| one.sets)
    }

    /// Sets that only the first one accepts.
    pub(super) fn first(&self) -> u64 {
        self.total(|one| one.first)
    }

    /// Sets that only the second one accepts.
    pub(super) fn second(&self) -> u64 {
        self.total(|one| one.second)
    }

    /// Sets that both accept.
    pub(super) fn both(&self) -> u64 {
        self.total(|one| one.both)
    }

    /// Whether the first test accepts more sets: the sign of the weighted sum of the differences.
    pub(super) fn sign(&self) -> Sign {
        self.sign_of_scores(1.0, -1.0, 0.0)
    }

    /// The sign of a sum over all sets, to which a set that only the first test accepts, only the second,
    /// or both, adds so much. If the expected sum is 0, its variance is that of the squares.
    pub(super) fn sign_of_scores(&self, first: f64, second: f64, both: f64) -> Sign {
        let (mut sum, mut variance, mut step) = (0.0_f64, 0.0, 0.0_f64);
        for one in &self.strata {
            for (score, count) in [(first, one.first), (second, one.second), (both, one.both)] {
                let score = one.weight * score;
                sum += score * as_f64(count);
                variance += score * score * as_f64(count);
                if count > 0 {
                    step = step.max(score.abs());
                }
            }
        }
        let clear = (sum.abs() - step).max(0.0).powi(2) > Z * Z * variance;
        match (clear, sum > 0.0) {
            (true, true) => Sign::Above,
            (true, false) => Sign::Below,
            (false, _) => Sign::Open,
        }
    }

    /// The share of the first test minus that of the second; weighted, if points have weights.
    pub(super) fn difference(&self) -> Interval {
        let (mut sum, mut variance, mut weights) = (0.0, 0.0, 0.0);
        // A point at which nobody was asked says nothing.
        for one in self.strata.iter().filter(|one| one.sets > 0) {
            let sets = as_f64(one.sets);
            let more = as_f64(one.first) - as_f64(one.second);
            let spread = as_f64(one.first + one.second) + 2.0 * ADDED - more * more / sets;
            weights += one.weight;
            sum += one.weight * more / sets;
            variance += one.weight * one.weight * spread / (sets * sets);
        }
        if weights <= 0.0 {
            return Interval {
                low: -1.0,
                high: 1.0,
            };
        }
        Interval::around(sum / weights, variance / (weights * weights))
    }

    /// The share of the sets that only the first test accepts.
    pub(super) fn share_of_first(&self) -> Interval {
        Interval::of_share(self.first(), self.sets())
    }
}

/// A share, or weighted share, of one test, for comparison with others that rest on other sets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Level {
    pub value: f64,
    variance: f64,
}

impl Level {
    /// From the weight, the sets, and the accepted ones of each point.
    pub(super) fn of(points: impl IntoIterator<Item = (f64, u64, u64)>) -> Self {
        let (mut sum, mut variance, mut weights) = (0.0, 0.0, 0.0);
        for (weight, sets, yes) in points.into_iter().filter(|&(_, sets, _)| sets > 0) {
            let (sets, yes) = (as_f64(sets), as_f64(yes));
            weights += weight;
            sum += weight * yes / sets;
            variance += weight * weight * (yes * (1.0 - yes / sets) + ADDED) / (sets * sets);
        }
        if weights <= 0.0 {
            return Self {
                value: 0.0,
                variance: 1.0,
            };
        }
        Self {
            value: sum / weights,
            variance: variance / (weights * weights),
        }
    }

    /// The sum of levels of different sets, each times a factor.
    pub(super) fn contrast(terms: &[(f64, Self)]) -> Interval {
        let sum = terms.iter().map(|(factor, one)| factor * one.value).sum();
        let variance = terms
            .iter()
            .map(|(factor, one)| factor.powi(2) * one.variance);
        Interval::around(sum, variance.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairing(first: u64, second: u64, both: u64, sets: u64) -> Pairing {
        let weight = 1.0;
        let strata = vec![Stratum {
            weight,
            sets,
            both,
            first,
            second,
        }];
        Pairing { strata }
    }

    /// P(X >= most) twice, for X binomial with n and 1/2, by exact integers.
    fn exact_two_sided(first: u64, second: u64) -> f64 {
        let (n, most) = (first + second, first.max(second));
        let mut row = vec![1_u128];
        for _ in 0..n {
            let mut next = vec![1_u128];
            next.extend(row.windows(2).map(|pair| pair[0] + pair[1]));
            next.push(1);
            row = next;
        }
        let tail: u128 = row[usize::try_from(most).unwrap()..].iter().sum();
        2.0 * tail as f64 / 2.0_f64.powi(i32::try_from(n).unwrap())
    }

    /// Against the exact binomial test of the sets on which two tests differ: four standard errors are
    /// 6.3e-5 on both sides together.
    #[test]
    fn a_sign_is_never_surer_than_the_exact_test_of_the_differing_sets() {
        let mut decided = 0;
        for n in 0..=120 {
            for first in 0..=n {
                let sign = pairing(first, n - first, 500, 1000).sign();
                let probability = exact_two_sided(first, n - first);
                if sign == Sign::Open {
                    assert!(
                        probability > 5e-6 || n < 20,
                        "{first} of {n}: {probability}"
                    );
                    continue;
                }
                decided += 1;
                assert!(probability < 6.4e-5, "{first} of {n}: {probability}");
                assert_eq!(sign == Sign::Above, 2 * first > n);
            }
        }
        assert!(decided > 1000, "{decided}");
        assert_eq!(pairing(18, 0, 0, 100).sign(), Sign::Above);
        assert_eq!(pairing(17, 0, 0, 100).sign(), Sign::Open);
        assert_eq!(pairing(0, 0, 1000, 1000).sign(), Sign::Open);
    }

    #[test]
    fn scores_compare_a_count_with_a_multiple_of_another() {
        // Twice as many: the first alone + 1, the second alone - 2, both - 1.
        let sign = |first, second, both| {
            pairing(first, second, both, 1000).sign_of_scores(1.0, -2.0, -1.0)
        };
        assert_eq!(sign(300, 0, 100), Sign::Above);
        assert_eq!(sign(100, 0, 300), Sign::Below);
        assert_eq!(sign(100, 0, 100), Sign::Open);
        assert_eq!(sign(0, 0, 0), Sign::Open);
    }

    #[test]
    fn a_difference_has_the_interval_that_was_computed_by_hand() {
        // (80 - 20) / 1000, 4 sqrt(100 + 8 - 3.6) / 1000.
        let found = pairing(80, 20, 400, 1000).difference();
        let spread = 4.0 * 104.4_f64.sqrt() / 1000.0;
        assert!((found.low - (0.06 - spread)).abs() < 1e-12);
        assert!((found.high - (0.06 + spread)).abs() < 1e-12);
        // Equal answers leave room: 4 sqrt(8) / 1000.
        let equal = pairing(0, 0, 400, 1000).difference();
        assert!((equal.high - 0.004 * 8.0_f64.sqrt()).abs() < 1e-12 && equal.low == -equal.high);
        // Weights 1 and 3: (0.1 + 3 * 0.2) / 4.
        let mut two = pairing(100, 0, 0, 1000);
        two.strata.extend(pairing(200, 0, 0, 1000).strata);
        two.strata[1].weight = 3.0;
        let found = two.difference();
        assert!((f64::midpoint(found.low, found.high) - 0.175).abs() < 1e-12);
        let spread = 4.0 * (98.0_f64 + 9.0 * 168.0).sqrt() / 4000.0;
        assert!((found.high - 0.175 - spread).abs() < 1e-12);
        let nothing = Pairing::default().difference();
        assert_eq!((nothing.low, nothing.high), (-1.0, 1.0));
    }

    #[test]
    fn levels_of_different_sets_add_their_variances() {
        let (half, all) = (Level::of([(1.0, 100, 50)]), Level::of([(1.0, 100, 100)]));
        let found = Level::contrast(&[(1.0, all), (-1.0, half)]);
        // Variances (0 + 4) / 10^4 and (25 + 4) / 10^4.
        let spread = 4.0 * 33.0_f64.sqrt() / 100.0;
        assert!((found.low - (0.5 - spread)).abs() < 1e-12);
        assert_eq!(found.side_of(0.0), Sign::Above);
        assert_eq!(found.side_of(0.9), Sign::Below);
        assert_eq!(found.side_of(0.5), Sign::Open);
        // A point at which nobody was asked weighs nothing.
        assert_eq!(Level::of([(1.0, 100, 50), (9.0, 0, 0)]), half);
        let weighted = Level::of([(1.0, 10, 10), (3.0, 10, 0)]);
        assert!((weighted.value - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_share_has_wilson_s_interval_of_four_standard_errors() {
        // 0 of n: z^2 / (n + z^2).
        let none = Interval::of_share(0, 1000);
        assert!(none.low == 0.0 && (none.high - 16.0 / 1016.0).abs() < 1e-12);
        let all = Interval::of_share(0, 0);
        assert_eq!((all.low, all.high), (0.0, 1.0));
    }
}
