//! Medians, quartiles, and rank correlation. Order statistics only, because a machine that is taken away now
//! and then would spoil every mean.

/// The middle one of these values, of an even number the upper of two; 0 of none. O(n log n).
#[must_use]
pub fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// Of sorted values that of rank `ceil(count * per_mille / 1000)`, 1 for 0 per mille (the nearest-rank percentile); `None` of
/// none.
#[must_use]
pub fn percentile(sorted: &[u64], per_mille: u16) -> Option<u64> {
    let rank = (sorted.len() as u128 * u128::from(per_mille)).div_ceil(1000);
    let index = usize::try_from(rank).ok()?.saturating_sub(1);
    sorted
        .get(index.min(sorted.len().saturating_sub(1)))
        .copied()
}

/// A median with its quartiles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)
)]
pub struct Quartiles {
    /// The lower quartile.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub high: f64,
    /// Of how many values.
    pub count: usize,
}

impl Quartiles {
    /// Of these values; `None` without any. O(n log n).
    #[must_use]
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        Some(Self {
            low: quantile(&values, 0.25)?,
            median: quantile(&values, 0.5)?,
            high: quantile(&values, 0.75)?,
            count: values.len(),
        })
    }
}

/// Between the two nearest of the sorted values, linearly.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into measurements"
)]
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let position = share * sorted.len().checked_sub(1)? as f64;
    let below = position.floor() as usize;
    let (low, high) = (sorted.get(below)?, sorted.get(below + 1));
    let rest = position - position.floor();
    Some(high.map_or(*low, |high| low + rest * (high - low)))
}

/// How often all intervals of a family are allowed to be wrong together, at most.
const WRONG: f64 = 0.01;

/// From where to where the median of what these values were drawn from lies. A family of so many intervals
/// is right as a whole with 99 % (Bonferroni): each of them is wrong with 1 % divided by `family` at most, by the
/// sign test's own binomial distribution. `None` if there are too few values: below 8 for a family of one.
#[must_use]
pub fn median_interval(mut values: Vec<f64>, family: usize) -> Option<(f64, f64)> {
    let rank = rank(values.len(), family)?;
    values.sort_by(f64::total_cmp);
    Some((*values.get(rank - 1)?, *values.get(values.len() - rank)?))
}

/// The largest r for which the median of n values lies outside of the r-th smallest to the r-th largest with the
/// probability that a family allows, 2 P(X < r) with X binomial with n and 1/2.
#[expect(clippy::cast_precision_loss, reason = "a number of measurements")]
fn rank(count: usize, family: usize) -> Option<usize> {
    let allowed = WRONG / family.max(1) as f64;
    // Of n choose k, beginning with k = 0, times 2^-n; logarithms, because 2^-n may be no number.
    let mut logarithm = -(count as f64) * std::f64::consts::LN_2;
    let (mut below, mut found) = (0.0, None);
    for k in 0..count.div_ceil(2) {
        below += logarithm.exp();
        if 2.0 * below > allowed {
            break;
        }
        found = Some(k + 1);
        logarithm += ((count - k) as f64 / (k + 1) as f64).ln();
    }
    found
}

/// Spearman's rank correlation of pairs: the correlation of their ranks, equal values sharing the mean of
/// theirs. `None` for fewer than three pairs, unequal lengths, or where all values of a side are equal.
#[must_use]
pub fn spearman(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.len() != second.len() || first.len() < 3 {
        return None;
    }
    pearson(&ranks(first), &ranks(second))
}

#[expect(clippy::cast_precision_loss, reason = "a number of measurements")]
fn ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            let below = values.iter().filter(|other| *other < value).count();
            let equal = values.iter().filter(|other| *other == value).count();
            below as f64 + (equal as f64 + 1.0) / 2.0
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "a number of measurements")]
fn pearson(first: &[f64], second: &[f64]) -> Option<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (a, b) = (mean(first), mean(second));
    let pairs = || first.iter().zip(second);
    let together: f64 = pairs().map(|(x, y)| (x - a) * (y - b)).sum();
    let apart: f64 = first.iter().map(|x| (x - a).powi(2)).sum::<f64>()
        * second.iter().map(|y| (y - b).powi(2)).sum::<f64>();
    // Rounding may lead a little beyond.
    (apart > 0.0).then(|| (together / apart.sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let values: Vec<u64> = (1..=200).collect();
        let found = [0, 5, 6, 10, 500, 990, 1_000].map(|share| percentile(&values, share));
        assert_eq!(found, [1, 1, 2, 2, 100, 198, 200].map(Some));
        let few = [7, 8, 30];
        assert_eq!(
            [10, 500, 990].map(|share| percentile(&few, share)),
            [7, 8, 30].map(Some)
        );
        assert_eq!(percentile(&[], 500), None);
    }

    #[test]
    fn quartiles_are_between_values() {
        let found = Quartiles::of(vec![4.0, 1.0, 3.0, 2.0, 5.0]).unwrap();
        assert_eq!((found.low, found.median, found.high), (2.0, 3.0, 4.0));
        let found = Quartiles::of(vec![1.0, 2.0]).unwrap();
        assert_eq!((found.low, found.median, found.high), (1.25, 1.5, 1.75));
        let one = Quartiles::of(vec![7.0]).unwrap();
        assert_eq!(
            (one.low, one.median, one.high, one.count),
            (7.0, 7.0, 7.0, 1)
        );
        assert_eq!(Quartiles::of(Vec::new()), None);
    }

    /// P(X < r) for X binomial with n and 1/2, by exact integers.
    fn below(rank: usize, n: usize) -> f64 {
        let mut row = vec![1_u128];
        for _ in 0..n {
            let mut next = vec![1_u128];
            next.extend(row.windows(2).map(|pair| pair[0] + pair[1]));
            next.push(1);
            row = next;
        }
        row[..rank].iter().sum::<u128>() as f64 / 2.0_f64.powi(i32::try_from(n).unwrap())
    }

    /// Each interval is as wide as its family asks for, and no rank wider.
    #[test]
    fn the_median_is_outside_of_an_interval_as_seldom_as_its_family_allows() {
        for family in [1, 2, 8, 14] {
            let allowed = 0.01 / family as f64;
            for n in 0..=100 {
                let values: Vec<f64> = (1..=n).rev().map(|value| value as f64).collect();
                let Some((low, high)) = median_interval(values, family) else {
                    assert!(
                        2.0 * below(1.min(n), n) > allowed || n == 0,
                        "{n} of {family}"
                    );
                    continue;
                };
                let rank = low as usize;
                assert_eq!(high, (n + 1 - rank) as f64);
                assert!(
                    2.0 * below(rank, n) <= allowed,
                    "{rank} of {n} for {family}"
                );
                assert!(
                    2.0 * below(rank + 1, n) > allowed,
                    "{rank} of {n} for {family}"
                );
            }
        }
        let fewest = |family| (0..).find(|&n| median_interval(vec![0.0; n], family).is_some());
        assert_eq!([1, 2, 8, 14].map(fewest), [8, 9, 11, 12].map(Some));
        // 2^-n is no number, and the interval is the normal approximation's: 1500 -+ 1.288 sqrt(3000).
        let many = (0..3000).map(f64::from).collect();
        let (low, high) = median_interval(many, 1).unwrap();
        assert!(
            (low - 1429.0).abs() <= 2.0 && (high - 1570.0).abs() <= 2.0,
            "{low} {high}"
        );
    }

    #[test]
    fn ranks_correlate_as_they_agree() {
        let rising = [1.0, 2.0, 5.0, 9.0];
        assert_eq!(spearman(&rising, &[10.0, 20.0, 21.0, 40.0]), Some(1.0));
        assert_eq!(spearman(&rising, &[4.0, 3.0, 2.0, 1.0]), Some(-1.0));
        // With ranks 1 2.5 2.5 4 on one side: 4.5 / sqrt(5 * 4.5).
        let tied = spearman(&rising, &[1.0, 2.0, 2.0, 3.0]).unwrap();
        assert!((tied - 4.5 / 22.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(spearman(&rising, &[1.0, 1.0, 1.0, 1.0]), None);
        assert_eq!(spearman(&rising, &[1.0]), None);
        for n in 3..200 {
            let values: Vec<f64> = (0..n).map(|value| f64::from(value) * 0.1).collect();
            assert!(spearman(&values, &values).unwrap() <= 1.0);
        }
    }
}
