//! How urgent a job is: one number for every order.

/// How urgent a job is. There is no bare `Ord`, because "greater" would say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Urgency(u64);

impl Urgency {
    /// The urgency of a fixed task priority; a larger priority is more urgent.
    #[must_use]
    pub const fn of_priority(priority: u32) -> Self {
        // Widening; `u64::from` is not const.
        Self(u32::MAX.saturating_sub(priority) as u64)
    }
    /// The urgency of an absolute deadline in nanoseconds; an earlier one is more urgent.
    #[must_use]
    pub const fn of_deadline_nanos(deadline: u64) -> Self {
        Self(deadline)
    }
    /// The deadline in nanoseconds of which this is the urgency.
    #[must_use]
    pub const fn as_deadline_nanos(self) -> u64 {
        self.0
    }
    /// Whether a job of this urgency goes before one of `other`.
    #[must_use]
    pub const fn is_more_urgent_than(self, other: Self) -> bool {
        self.0 < other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_priority_and_an_earlier_deadline_are_more_urgent() {
        assert!(Urgency::of_priority(9).is_more_urgent_than(Urgency::of_priority(8)));
        assert!(Urgency::of_deadline_nanos(3).is_more_urgent_than(Urgency::of_deadline_nanos(4)));
    }
}
