//! Smallest, mean and largest of a number of values, exactly.

/// Smallest, mean and largest of a number of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    count: u64,
    sum: u128,
    /// The largest number as long as nothing was counted.
    min: u64,
    max: u64,
}

impl Default for Spread {
    fn default() -> Self {
        Self::NONE
    }
}

impl Spread {
    /// Of no value.
    pub const NONE: Self = Self {
        count: 0,
        sum: 0,
        min: u64::MAX,
        max: 0,
    };

    /// Counts a value. O(1).
    #[inline]
    pub fn record(&mut self, value: u64) {
        // Extremes change rarely: a comparison is cheaper than a store.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
        // One by one it takes centuries to get to 2^64, and as many values do not overflow their sum.
        self.count = self.count.wrapping_add(1);
        self.sum = self.sum.wrapping_add(u128::from(value));
    }
    /// Counts a value of 0.
    #[inline]
    pub fn record_zero(&mut self) {
        self.min = 0;
        self.count = self.count.wrapping_add(1);
    }
    /// Counts what `other` has counted.
    pub fn merge(&mut self, other: &Self) {
        self.count = self.count.wrapping_add(other.count);
        self.sum = self.sum.wrapping_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
    /// How many values were counted.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
    /// The sum of all values.
    #[must_use]
    pub const fn sum(&self) -> u128 {
        self.sum
    }
    /// The smallest value.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }
    /// The largest value.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }
    /// The mean, rounded to the nearest integer (halves upwards).
    #[must_use]
    pub fn mean(&self) -> Option<u64> {
        let count = u128::from(self.count);
        let rounded = (self.sum + count / 2).checked_div(count)?;
        u64::try_from(rounded).ok()
    }
}
