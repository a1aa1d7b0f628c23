//! A log-linear histogram: percentiles of any number of values in constant memory.

use crate::count;

/// Each power of two is divided into this many buckets of equal width.
const BUCKETS_PER_OCTAVE: u64 = 64;
/// log2 of it.
const OCTAVE_BITS: u32 = BUCKETS_PER_OCTAVE.trailing_zeros();
/// Values below 64 have a bucket each; each of the 58 octaves above has 64.
const BUCKETS: usize = (64 - OCTAVE_BITS as usize + 1) << OCTAVE_BITS;

/// Counts values with a relative error below 1/64; values below 128 are kept exactly.
///
/// 30 KiB, whatever is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS].into_boxed_slice(),
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
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
        count(&mut self.counts[bucket_of(value)]);
        count(&mut self.count);
        // As many values as can be counted do not overflow their sum.
        self.sum = self.sum.wrapping_add(u128::from(value));
        // Extremes change rarely: a comparison is cheaper than a store.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
    }

    /// How many values were counted.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
    /// The smallest value, exactly.
    #[must_use]
    pub const fn min(&self) -> Option<u64> {
        if self.count == 0 {
            None
        } else {
            Some(self.min)
        }
    }
    /// The largest value, exactly.
    #[must_use]
    pub const fn max(&self) -> Option<u64> {
        if self.count == 0 {
            None
        } else {
            Some(self.max)
        }
    }
    /// The sum of all values, exactly.
    #[must_use]
    pub const fn sum(&self) -> u128 {
        self.sum
    }
    /// The mean, rounded to the nearest integer (halves upwards).
    #[must_use]
    pub fn mean(&self) -> Option<u64> {
        super::mean(self.sum, self.count)
    }

    /// The value of rank `ceil(count * per_mille / 1000)` in ascending order (the nearest-rank
    /// percentile; rank 1 for 0 per mille), rounded up to the end of its bucket and never above the
    /// maximum: at least the exact percentile, and less than 1/64 above it.
    #[must_use]
    pub fn percentile(&self, per_mille: u16) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = (u128::from(self.count) * u128::from(per_mille)).div_ceil(1000);
        let mut seen = 0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            seen += u128::from(count);
            if seen >= rank && count > 0 {
                return Some(largest_in(bucket).min(self.max));
            }
        }
        Some(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(histogram.percentile(1000), histogram.max());
        assert_eq!(histogram.min(), values.first().copied());
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
        assert_eq!(histogram.mean(), Some(51));
    }
}
