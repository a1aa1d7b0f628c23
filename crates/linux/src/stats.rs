//! Statistics in constant memory.

use hdrhistogram::Histogram;

/// The longest time told apart from longer ones: an hour.
const LARGEST_NANOS: u64 = 3_600_000_000_000;

/// What many measurements of one kind have in common, in nanoseconds.
///
/// `min`, `mean` and `max` are exact; `p99` is that of a histogram with two significant digits, so
/// within 1 %. All are 0 when `count` is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many measurements.
    pub count: u64,
    /// The smallest, in nanoseconds.
    pub min: u64,
    /// The arithmetic mean, in nanoseconds.
    pub mean: f64,
    /// The median, in nanoseconds.
    pub median: u64,
    /// The 99th percentile, in nanoseconds.
    pub p99: u64,
    /// The largest, in nanoseconds.
    pub max: u64,
    /// The sum, in nanoseconds; saturates.
    pub sum: u64,
}

/// Collects measurements; never allocates after construction.
#[derive(Clone, Debug)]
pub(crate) struct Distribution {
    /// `None` only if the histogram's own limits refused the constants below, which a test excludes.
    histogram: Option<Histogram<u64>>,
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl Distribution {
    pub(crate) fn new() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, LARGEST_NANOS, 2).ok(),
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    pub(crate) fn record(&mut self, nanos: u64) {
        self.count += 1;
        self.sum = self.sum.saturating_add(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        if let Some(histogram) = &mut self.histogram {
            histogram.saturating_record(nanos.max(1));
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        if let (Some(own), Some(theirs)) = (&mut self.histogram, &other.histogram) {
            // Both were built from the same constants, so that no value can be out of range.
            let _ = own.add(theirs);
        }
    }

    pub(crate) fn summary(&self) -> Summary {
        if self.count == 0 {
            return Summary::default();
        }
        let quantile = |q: f64| {
            self.histogram
                .as_ref()
                .map_or(0, |histogram| histogram.value_at_quantile(q))
                .clamp(self.min, self.max)
        };
        Summary {
            count: self.count,
            min: self.min,
            mean: self.sum as f64 / self.count as f64,
            median: quantile(0.5),
            p99: quantile(0.99),
            max: self.max,
            sum: self.sum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_exact_but_for_its_quantiles() {
        let mut distribution = Distribution::new();
        for value in 1..=100 {
            distribution.record(value * 1_000);
        }
        let summary = distribution.summary();
        assert_eq!(
            (summary.count, summary.min, summary.max),
            (100, 1_000, 100_000)
        );
        assert!((summary.mean - 50_500.0).abs() < 1e-9);
        assert!(summary.p99.abs_diff(99_000) <= 1_000, "{}", summary.p99);
        assert!(summary.median.abs_diff(50_000) <= 500, "{}", summary.median);
    }

    #[test]
    fn merging_equals_recording_everything_in_one() {
        let (mut left, mut right, mut all) = (
            Distribution::new(),
            Distribution::new(),
            Distribution::new(),
        );
        for value in [3, 70_000, 12, 4_000_000] {
            left.record(value);
            all.record(value);
        }
        for value in [9, LARGEST_NANOS + 5] {
            right.record(value);
            all.record(value);
        }
        left.merge(&right);
        assert_eq!(left.summary(), all.summary());
    }

    #[test]
    fn nothing_measured_is_all_zero() {
        assert_eq!(Distribution::new().summary(), Summary::default());
    }
}
