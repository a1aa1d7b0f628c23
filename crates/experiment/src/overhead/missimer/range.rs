//! What is known of a number that was measured: it lies between two others.
//!
//! Of what others took of the CPU nobody knows on whose account it was. If all of it was on the account of what is looked at, the truth is at one end, and if
//! none was, at the other one. Of two runs that are compared each has ends of its own: what was lost in both cancels in none, because it may have been on one
//! account here and on another there. What the run's own threads executed is never counted as taken.

use vestal_statistics::{Quartiles, median_interval};

/// From the least that it can be to the most, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

impl Range {
    /// Nothing is known of it but that it is no less than zero.
    pub const POSITIVE: Self = Self::of(0.0, f64::INFINITY);
    /// Nothing at all is known of it.
    pub const UNKNOWN: Self = Self::of(f64::NEG_INFINITY, f64::INFINITY);

    /// Between two numbers, of which the first one is not the larger one.
    #[must_use]
    pub const fn of(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// This one.
    #[must_use]
    pub const fn exactly(value: f64) -> Self {
        Self::of(value, value)
    }

    /// It may be either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self::of(self.low.min(other.low), self.high.max(other.high))
    }

    /// What it is more than another one; both are finite.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self::of(self.low - other.high, self.high - other.low)
    }

    /// What it is to another one, of which none is less than zero. Something to nothing is infinite, and of nothing to nothing nothing is known.
    #[must_use]
    pub const fn to(self, other: Self) -> Self {
        const fn ratio(one: f64, other: f64, nothing: f64) -> f64 {
            match other > 0.0 {
                true => one / other,
                false if one > 0.0 => f64::INFINITY,
                false => nothing,
            }
        }
        Self::of(
            ratio(self.low, other.high, 0.0),
            ratio(self.high, other.low, f64::INFINITY),
        )
    }

    /// How far it is from another one, whichever is larger.
    #[must_use]
    pub const fn far_from(self, other: Self) -> Self {
        let Self { low, high } = self.less(other);
        let least = low.max(-high).max(0.0);
        Self::of(least, high.max(-low))
    }

    /// Whether it is for certain no less than one number and no more than another one.
    #[must_use]
    pub const fn lies_in(self, (low, high): (f64, f64)) -> bool {
        low <= self.low && self.high <= high
    }
}

/// Between what the median lies for certain, of numbers of which ranges are known: it is no less than that of their lower ends and no more than that of
/// the upper ones. As certain as [`median_interval`] is for numbers, which it is if they are known.
#[must_use]
pub fn certain(ranges: &[Range], family: usize) -> Option<(f64, f64)> {
    let of = |end: fn(&Range) -> f64| median_interval(ranges.iter().map(end).collect(), family);
    let (low, high) = (of(|range| range.low)?, of(|range| range.high)?);
    Some((low.0, high.1))
}

/// The medians of their ends.
#[must_use]
pub fn median(ranges: &[Range]) -> Option<Range> {
    let of = |end: fn(&Range) -> f64| {
        let mut values: Vec<f64> = ranges.iter().map(end).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.get(values.len() / 2).copied()?;
        let found = Quartiles::of(values)?.median;
        // Between two that are infinite there is no other number.
        Some(if found.is_nan() { middle } else { found })
    };
    Some(Range::of(of(|range| range.low)?, of(|range| range.high)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFINITE: f64 = f64::INFINITY;

    /// What is lost in both runs of a pair does not cancel.
    #[test]
    fn of_two_ranges_the_difference_is_as_wide_as_both() {
        let (one, other) = (Range::of(0.1, 0.2), Range::of(0.1, 0.2));
        let found = one.less(other);
        assert!((found.low + 0.1).abs() < 1e-9 && (found.high - 0.1).abs() < 1e-9);
        assert_eq!(
            Range::of(3.0, 4.0).less(Range::exactly(1.0)),
            Range::of(2.0, 3.0)
        );
        assert_eq!(
            Range::of(2.0, 4.0).to(Range::of(1.0, 2.0)),
            Range::of(1.0, 4.0)
        );
        assert_eq!(
            Range::exactly(2.0).to(Range::of(0.0, 2.0)),
            Range::of(1.0, INFINITE)
        );
        let nothing = Range::exactly(0.0);
        assert_eq!(Range::exactly(2.0).to(nothing), Range::exactly(INFINITE));
        assert_eq!(nothing.to(nothing), Range::POSITIVE);
        assert_eq!(nothing.to(Range::exactly(2.0)), nothing);
    }

    #[test]
    fn ranges_that_meet_are_perhaps_no_distance_apart() {
        let middle = Range::of(2.0, 3.0);
        assert_eq!(Range::exactly(5.0).far_from(middle), Range::of(2.0, 3.0));
        assert_eq!(Range::exactly(0.0).far_from(middle), Range::of(2.0, 3.0));
        assert_eq!(Range::of(1.0, 2.5).far_from(middle), Range::of(0.0, 2.0));
        assert_eq!(Range::exactly(1.0).or(middle), Range::of(1.0, 3.0));
        assert!(middle.lies_in((2.0, 3.0)) && !middle.lies_in((2.1, 3.0)));
    }

    /// Whatever the numbers are within their ranges, their median lies between the medians of the ends.
    #[test]
    fn the_median_lies_between_the_medians_of_the_ends() {
        let known: Vec<Range> = (0..12_u8).map(|of| Range::exactly(of.into())).collect();
        let numbers = (0..12_u8).map(f64::from).collect();
        assert_eq!(certain(&known, 1), median_interval(numbers, 1));
        assert_eq!(certain(&known[..3], 1), None);
        let wide: Vec<Range> = known
            .iter()
            .map(|of| Range::of(of.low - 5.0, of.high + 7.0))
            .collect();
        let (from, to) = certain(&known, 1).unwrap();
        assert_eq!(certain(&wide, 1), Some((from - 5.0, to + 7.0)));
        assert_eq!(median(&wide), Some(Range::of(0.5, 12.5)));
        assert_eq!(median(&[]), None);
        let infinite = [Range::exactly(1.0), Range::POSITIVE, Range::POSITIVE];
        assert_eq!(median(&infinite[1..]), Some(Range::POSITIVE));
        assert_eq!(median(&infinite), Some(Range::POSITIVE));
    }
}
