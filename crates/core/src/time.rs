//! Time on three scales that never mix by accident.
//!
//! | type | what | unit |
//! |---|---|---|
//! | [`Instant`] | a point on a world's clock, counted from that world's epoch | ns |
//! | [`Duration`] | a span of that clock | ns |
//! | [`Service`] | execution that a job received or still needs | ns of CPU time |
//!
//! There is no `From` between them. Where a dedicated CPU turns time into service one for one, the
//! conversion is written out ([`Service::supplied_during`], [`Service::time_on_dedicated_cpu`]), so
//! that a reader sees the assumption. Arithmetic is checked or saturating, never wrapping; a
//! rounding direction stands in the name.

use core::fmt;

/// Nanoseconds in a second, for tests and display.
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// The latest instant any world may reach: 2^62 ns, about 146 years after its epoch.
///
/// Sums of one instant and one duration below this bound stay below 2^63 and cannot overflow.
pub const HORIZON_NANOS: u64 = 1 << 62;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(u64);

        impl $name {
            /// Exactly `nanos` nanoseconds.
            #[must_use]
            pub const fn from_nanos(nanos: u64) -> Self {
                Self(nanos)
            }
            /// The value in nanoseconds.
            #[must_use]
            pub const fn as_nanos(self) -> u64 {
                self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}ns", self.0)
            }
        }
    };
}

macro_rules! amount {
    ($name:ident) => {
        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);

            /// Exactly `micros` microseconds; saturates.
            #[must_use]
            pub const fn from_micros(micros: u64) -> Self {
                Self(micros.saturating_mul(1_000))
            }
            /// Exactly `millis` milliseconds; saturates.
            #[must_use]
            pub const fn from_millis(millis: u64) -> Self {
                Self(millis.saturating_mul(1_000_000))
            }
            /// Whether nothing is left.
            #[must_use]
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }
            /// The sum, or `None` on overflow.
            #[must_use]
            pub const fn checked_add(self, other: Self) -> Option<Self> {
                match self.0.checked_add(other.0) {
                    Some(sum) => Some(Self(sum)),
                    None => None,
                }
            }
            /// The sum, at most `u64::MAX` nanoseconds.
            #[must_use]
            pub const fn saturating_add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
            /// The difference, or `None` if `other` is the larger one.
            #[must_use]
            pub const fn checked_sub(self, other: Self) -> Option<Self> {
                match self.0.checked_sub(other.0) {
                    Some(rest) => Some(Self(rest)),
                    None => None,
                }
            }
            /// The difference, or nothing if `other` is the larger one.
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
            /// `count` times this amount, or `None` on overflow.
            #[must_use]
            pub const fn checked_mul(self, count: u64) -> Option<Self> {
                match self.0.checked_mul(count) {
                    Some(product) => Some(Self(product)),
                    None => None,
                }
            }
            /// `count` times this amount, at most `u64::MAX` nanoseconds.
            #[must_use]
            pub const fn saturating_mul(self, count: u64) -> Self {
                Self(self.0.saturating_mul(count))
            }
        }
    };
}

quantity! {
    /// A point in time: nanoseconds since the epoch of the world that reads the clock.
    Instant
}
quantity! {
    /// A span of time in nanoseconds.
    Duration
}
quantity! {
    /// An amount of execution in nanoseconds of CPU time.
    Service
}
amount!(Duration);
amount!(Service);

impl Instant {
    /// The epoch: where a world's clock starts.
    pub const EPOCH: Self = Self(0);
    /// The latest instant a world may reach ([`HORIZON_NANOS`]).
    pub const HORIZON: Self = Self(HORIZON_NANOS);

    /// `span` later, or `None` on overflow.
    #[must_use]
    pub const fn checked_add(self, span: Duration) -> Option<Self> {
        match self.0.checked_add(span.0) {
            Some(later) => Some(Self(later)),
            None => None,
        }
    }
    /// `span` later, at most the largest representable instant.
    #[must_use]
    pub const fn saturating_add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
    /// `span` earlier, at least the epoch.
    #[must_use]
    pub const fn saturating_sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
    /// The time from `earlier` until `self`, or `None` if `earlier` is in fact later.
    #[must_use]
    pub const fn checked_since(self, earlier: Self) -> Option<Duration> {
        match self.0.checked_sub(earlier.0) {
            Some(span) => Some(Duration(span)),
            None => None,
        }
    }
    /// The time from `earlier` until `self`, nothing if `earlier` is in fact later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// How often `period` fits completely into this duration; `None` if `period` is zero.
    #[must_use]
    pub const fn div_floor(self, period: Self) -> Option<u64> {
        self.0.checked_div(period.0)
    }
    /// How many periods are begun within this duration; `None` if `period` is zero.
    #[must_use]
    pub const fn div_ceil(self, period: Self) -> Option<u64> {
        if period.0 == 0 {
            None
        } else {
            Some(self.0.div_ceil(period.0))
        }
    }
}

impl Service {
    /// What one CPU, used by no other task, supplies during `span`.
    #[must_use]
    pub const fn supplied_during(span: Duration) -> Self {
        Self(span.0)
    }
    /// How long one CPU, used by no other task, takes to supply this.
    #[must_use]
    pub const fn time_on_dedicated_cpu(self) -> Duration {
        Duration(self.0)
    }
    /// Whether this covers `span` of an otherwise idle CPU completely.
    #[must_use]
    pub const fn exceeds(self, span: Duration) -> bool {
        self.0 > span.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_never_runs_backwards_silently() {
        let early = Instant::from_nanos(3);
        let late = Instant::from_nanos(10);
        assert_eq!(late.checked_since(early), Some(Duration::from_nanos(7)));
        assert_eq!(early.checked_since(late), None);
        assert_eq!(early.saturating_since(late), Duration::ZERO);
    }

    #[test]
    fn rounding_is_what_the_name_says() {
        let window = Duration::from_nanos(10);
        let period = Duration::from_nanos(4);
        assert_eq!(window.div_floor(period), Some(2));
        assert_eq!(window.div_ceil(period), Some(3));
        assert_eq!(window.div_ceil(Duration::ZERO), None);
    }

    #[test]
    fn overflow_is_reported_or_saturates() {
        let huge = Service::from_nanos(u64::MAX);
        assert_eq!(huge.checked_add(Service::from_nanos(1)), None);
        assert_eq!(huge.saturating_add(huge), huge);
        assert_eq!(Duration::from_millis(u64::MAX).as_nanos(), u64::MAX);
    }
}
