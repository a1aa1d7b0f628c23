//! Medians, quartiles, and rank correlation. Order statistics only, because a machine that is taken away now
//! and then would spoil every mean.

use crate::verdict::Sign;
use serde::Serialize;

/// A median with its quartiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The lower quartile.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub high: f64,
    /// Of how many values.
    pub count: usize,
}

impl Spread {
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
    let place = share * sorted.len().checked_sub(1)? as f64;
    let below = place.floor() as usize;
    let (low, high) = (sorted.get(below)?, sorted.get(below + 1));
    let rest = place - place.floor();
    Some(high.map_or(*low, |high| low + rest * (high - low)))
}

/// From where to where the median of what these values were drawn from lies, with 99 % confidence: the order
/// statistics number (n + 1) / 2 -+ 1.288 sqrt(n) (normal approximation of the sign test). Fewer than eight
/// values say nothing.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into measurements"
)]
pub fn median_interval(mut values: Vec<f64>) -> Option<(f64, f64)> {
    let count = values.len();
    if count < 8 {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let n = count as f64;
    let first = (f64::midpoint(n, 1.0) - 1.288 * n.sqrt()).floor().max(1.0) as usize;
    Some((*values.get(first - 1)?, *values.get(count - first)?))
}

/// On which side of zero the median of these differences lies, with 99 % confidence.
#[must_use]
pub fn sign(differences: Vec<f64>) -> Sign {
    match median_interval(differences) {
        Some((low, _)) if low > 0.0 => Sign::Above,
        Some((_, high)) if high < 0.0 => Sign::Below,
        Some(_) | None => Sign::Open,
    }
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
    (apart > 0.0).then(|| together / apart.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_between_values() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0, 5.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (2.0, 3.0, 4.0));
        let spread = Spread::of(vec![1.0, 2.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (1.25, 1.5, 1.75));
        let one = Spread::of(vec![7.0]).unwrap();
        assert_eq!(
            (one.low, one.median, one.high, one.count),
            (7.0, 7.0, 7.0, 1)
        );
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn a_sign_needs_a_clear_majority() {
        let differences = |below: usize, above: usize| {
            let below = (0..below).map(|_| -1.0);
            below.chain((0..above).map(|_| 1.0)).collect::<Vec<f64>>()
        };
        assert_eq!(sign(differences(0, 7)), Sign::Open);
        assert_eq!(sign(differences(0, 8)), Sign::Above);
        assert_eq!(sign(differences(8, 0)), Sign::Below);
        assert_eq!(sign(differences(8, 12)), Sign::Open);
        // One-sided binomial tail of 0.5 %: at most 11 of 40 on the other side.
        assert_eq!(sign(differences(11, 29)), Sign::Above);
        assert_eq!(sign(differences(13, 27)), Sign::Open);
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
    }
}
