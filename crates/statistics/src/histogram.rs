//! A log-linear histogram: percentiles of any number of values in constant memory.

use crate::spread::Spread;

/// Each power of two is divided into this many buckets of equal width.
const BUCKETS_PER_OCTAVE: u64 = 64;
/// log2 of it.
const OCTAVE_BITS: u32 = BUCKETS_PER_OCTAVE.trailing_zeros();
/// Values below 64 have a bucket each; each of the 58 octaves above has 64.
const BUCKETS: usize = (64 - OCTAVE_BITS as usize + 1) << OCTAVE_BITS;

/// Counts values with a relative error below 1/64; values below 128 are kept exactly.
///
/// 30 KiB, whatever is counted; allocates when it is made, and never after that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    spread: Spread,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS].into_boxed_slice(),
            spread: Spread::NONE,
        }
    }
}

/// What many values have in common. All are 0 when `count` is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many values.
    pub count: u64,
    /// The smallest.
    pub min: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The median: that of a [`Histogram`], so up to 1/64 above it.
    pub median: u64,
    /// The 90th percentile, likewise.
    pub p90: u64,
    /// The 99th percentile, likewise.
    pub p99: u64,
    /// The largest.
    pub max: u64,
    /// The sum; saturates.
    pub sum: u64,
}

impl Summary {
    /// The summary of both sets of values. Their median and their other percentiles are not known any more: the larger
    /// of the two is given, and that of all values is at most that.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean for display")]
    pub fn and(&self, other: &Self) -> Self {
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { *other } else { *self };
        }
        let (own, theirs) = (self.count as f64, other.count as f64);
        Self {
            count: self.count.saturating_add(other.count),
            min: self.min.min(other.min),
            mean: (self.mean * own + other.mean * theirs) / (own + theirs),
            median: self.median.max(other.median),
            p90: self.p90.max(other.p90),
            p99: self.p99.max(other.p99),
            max: self.max.max(other.max),
            sum: self.sum.saturating_add(other.sum),
        }
    }
}

/// Below 64 the value itself; above, 64 buckets for each position of the highest bit.
#[inline]
fn bucket_of(value: u64) -> usize {
    if value < BUCKETS_PER_OCTAVE {
        return value as usize;
    }
    let shift = value.ilog2() - OCTAVE_BITS;
    // The highest bit that is left counts as one octave.
    let with_octave = value >> shift;
    ((u64::from(shift) << OCTAVE_BITS) + with_octave) as usize
}

/// The largest value that falls into the bucket.
fn largest_in(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < BUCKETS_PER_OCTAVE {
        return bucket;
    }
    let shift = (bucket >> OCTAVE_BITS) - 1;
    let within = bucket % BUCKETS_PER_OCTAVE + BUCKETS_PER_OCTAVE;
    (within << shift) + ((1 << shift) - 1)
}

impl Histogram {
    /// Counts one value. O(1).
    #[inline]
    pub fn record(&mut self, value: u64) {
        if let Some(count) = self.counts.get_mut(bucket_of(value)) {
            *count = count.wrapping_add(1);
        }
        self.spread.record(value);
    }

    /// Counts what `other` has counted. O(1), for each of its buckets.
    pub fn merge(&mut self, other: &Self) {
        for (own, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *own = own.wrapping_add(*theirs);
        }
        self.spread.merge(&other.spread);
    }

    /// How many values were counted, their sum, mean, and extremes, exactly.
    #[must_use]
    pub const fn spread(&self) -> &Spread {
        &self.spread
    }

    /// The value of rank `ceil(count * per_mille / 1000)` in ascending order (the nearest-rank
    /// percentile; rank 1 for 0 per mille), rounded up to the end of its bucket and never above the
    /// maximum: at least the exact percentile, and less than 1/64 above it.
    #[must_use]
    pub fn percentile(&self, per_mille: u16) -> Option<u64> {
        let max = self.spread.max()?;
        let rank = (u128::from(self.spread.count()) * u128::from(per_mille)).div_ceil(1000);
        let mut seen = 0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            seen += u128::from(count);
            if seen >= rank && count > 0 {
                return Some(largest_in(bucket).min(max));
            }
        }
        Some(max)
    }

    /// All of it in a few numbers.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean for display")]
    pub fn summary(&self) -> Summary {
        let spread = &self.spread;
        let (Some(min), Some(max)) = (spread.min(), spread.max()) else {
            return Summary::default();
        };
        Summary {
            count: spread.count(),
            min,
            mean: spread.sum() as f64 / spread.count() as f64,
            median: self.percentile(500).unwrap_or(max),
            p90: self.percentile(900).unwrap_or(max),
            p99: self.percentile(990).unwrap_or(max),
            max,
            sum: u64::try_from(spread.sum()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_two_sets_is_that_of_all_values_with_percentiles_that_are_no_smaller() {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.record(value));
            histogram.summary()
        };
        let (few, many) = ([3, 9, 1_000], [1, 2, 2, 2, 40]);
        let (joint, all) = (of(&few).and(&of(&many)), of(&[3, 9, 1_000, 1, 2, 2, 2, 40]));
        let exact = |summary: Summary| (summary.count, summary.min, summary.max, summary.sum);
        assert_eq!(exact(joint), exact(all));
        assert!((joint.mean - all.mean).abs() < 1e-9);
        assert!(joint.median >= all.median && joint.p90 >= all.p90 && joint.p99 >= all.p99);
        assert_eq!(joint.median, 9, "that of the few, not of all");
        assert_eq!(of(&few).and(&of(&[])), of(&few));
        assert_eq!(of(&[]).and(&of(&few)), of(&few));
    }

    #[test]
    fn buckets_join_without_gap_and_are_narrow_enough() {
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
        assert_eq!(largest_in(BUCKETS - 1), u64::MAX);
        for bucket in 0..BUCKETS - 1 {
            let end = largest_in(bucket);
            assert_eq!(bucket_of(end), bucket);
            assert_eq!(bucket_of(end + 1), bucket + 1);
            let width = largest_in(bucket + 1) - end;
            assert!(width == 1 || width * 64 <= end + 1);
        }
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_values_up_to_the_stated_error() {
        let mut values: Vec<u64> = (0..10_000_u64)
            .map(|k| k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (k % 50))
            .collect();
        let mut histogram = Histogram::default();
        for &value in &values {
            histogram.record(value);
        }
        values.sort_unstable();
        for per_mille in [1, 10, 500, 900, 990, 999, 1000] {
            let rank = (values.len() * usize::from(per_mille)).div_ceil(1000);
            let exact = values[rank - 1];
            let found = histogram.percentile(per_mille).unwrap();
            assert!(
                found >= exact && found - exact <= exact / 64,
                "{found} {exact}"
            );
        }
        assert_eq!(histogram.percentile(1000), histogram.spread().max());
        assert_eq!(histogram.spread().min(), values.first().copied());
    }

    #[test]
    fn the_99th_percentile_of_a_hundred_values_is_the_99th_and_of_fewer_the_largest() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(990), None);
        for value in 1..=99 {
            histogram.record(value);
        }
        assert_eq!(histogram.percentile(990), Some(99));
        histogram.record(100);
        assert_eq!(histogram.percentile(990), Some(99));
        histogram.record(101);
        assert_eq!(histogram.percentile(990), Some(100));
        assert_eq!(histogram.spread().mean(), Some(51));
    }

    #[test]
    fn a_summary_is_exact_but_for_its_percentiles() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.summary(), Summary::default());
        for value in 1..=100 {
            histogram.record(value * 1_000);
        }
        let summary = histogram.summary();
        assert_eq!(
            (summary.count, summary.min, summary.max, summary.sum),
            (100, 1_000, 100_000, 5_050_000)
        );
        assert!((summary.mean - 50_500.0).abs() < 1e-9);
        let within = |found: u64, exact: u64| (exact..=exact + exact / 64).contains(&found);
        assert!(within(summary.p99, 99_000), "{}", summary.p99);
        assert!(within(summary.p90, 90_000), "{}", summary.p90);
        assert!(within(summary.median, 50_000), "{}", summary.median);
    }

    #[test]
    fn merging_equals_recording_everything_in_one() {
        let (mut left, mut right, mut all) = (
            Histogram::default(),
            Histogram::default(),
            Histogram::default(),
        );
        for value in [3, 70_000, 12, 4_000_000] {
            left.record(value);
            all.record(value);
        }
        for value in [9, u64::MAX] {
            right.record(value);
            all.record(value);
        }
        left.merge(&right);
        assert_eq!(left, all);
        assert_eq!(left.summary().sum, u64::MAX);
    }
}
