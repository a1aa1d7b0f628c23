//! Exact figures of a set of durations, and the buckets of its distribution.

use serde::Serialize;
use vestal_result::run::Response;

/// Durations in nanoseconds. Eight bytes for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally(Vec<u64>);

/// How the durations spread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Distribution {
    /// How many.
    pub count: u64,
    /// Exact figures.
    pub spread: Response,
    /// `[bucket, count]`, ascending, those with a count only; see [`bucket`].
    pub buckets: Vec<(u16, u64)>,
}

/// The bucket of a duration: below 16 ns the duration itself, above it each octave has 16 buckets of
/// equal width, so that a bucket is at most 1/16 of its durations wide.
#[must_use]
pub(crate) fn bucket(nanos: u64) -> u16 {
    const STEPS: u32 = 4;
    if nanos < 1 << STEPS {
        return nanos as u16;
    }
    let octave = nanos.ilog2() - STEPS;
    let step = (nanos >> octave) as u16 & ((1 << STEPS) - 1);
    ((octave as u16 + 1) << STEPS) | step
}

impl Tally {
    pub(crate) fn add(&mut self, nanos: u64) {
        self.0.push(nanos);
    }

    /// The figures. The percentile is the smallest duration that at least 99 of 100 do not exceed.
    /// O(n log n).
    pub(crate) fn distribution(mut self) -> Distribution {
        self.0.sort_unstable();
        let count = self.0.len() as u64;
        let sum: u128 = self.0.iter().map(|nanos| u128::from(*nanos)).sum();
        let mean = sum.checked_div(u128::from(count)).unwrap_or(0);
        let rank = (u128::from(count) * 99).div_ceil(100).saturating_sub(1);
        let at = |index: usize| self.0.get(index).copied();
        let mut buckets: Vec<(u16, u64)> = Vec::new();
        for nanos in &self.0 {
            let bucket = bucket(*nanos);
            match buckets.last_mut() {
                Some((last, sum)) if *last == bucket => *sum += 1,
                Some(_) | None => buckets.push((bucket, 1)),
            }
        }
        Distribution {
            count,
            spread: Response {
                min: at(0),
                // The mean of numbers is none that is larger.
                mean: at(0).map(|_| u64::try_from(mean).unwrap_or(u64::MAX)),
                p99: at(usize::try_from(rank).unwrap_or(usize::MAX)),
                max: at(self.0.len().wrapping_sub(1)),
            },
            buckets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_ascend_without_gaps_and_are_narrow() {
        let mut last = bucket(0);
        for nanos in 1..100_000 {
            let now = bucket(nanos);
            assert!(now == last || now == last + 1, "{nanos}");
            last = now;
        }
        assert_eq!(
            (bucket(15), bucket(16), bucket(31), bucket(32)),
            (15, 16, 31, 32)
        );
        assert_eq!((bucket(33), bucket(34)), (32, 33));
        assert_eq!(bucket(u64::MAX), 60 * 16 + 15);
    }

    #[test]
    fn figures_are_exact() {
        let mut tally = Tally::default();
        for nanos in (1..=200).rev() {
            tally.add(nanos);
        }
        let found = tally.distribution();
        let exact = Some;
        assert_eq!(found.spread.min, exact(1));
        assert_eq!(found.spread.mean, exact(100));
        assert_eq!(found.spread.p99, exact(198));
        assert_eq!(found.spread.max, exact(200));
        let sum: u64 = found.buckets.iter().map(|(_, count)| count).sum();
        assert_eq!((sum, found.count), (200, 200));
        assert_eq!(Tally::default().distribution(), Distribution::default());
        let mut one = Tally::default();
        one.add(7);
        assert_eq!(one.distribution().spread.p99, exact(7));
    }
}
