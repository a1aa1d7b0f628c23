//! What threads of a frame table read for stamps: to measure how long something takes, and while they spin.
//!
//! Sigrist et al. (RTAS 2015, section V) read the time stamp counter, because a call for the clock takes longer. Here nothing
//! is decided by it: releases, frames and whatever the scheduler is told are dated by `CLOCK_MONOTONIC`, by which the kernel
//! wakes threads. The two drift apart, so a thread that is woken at an instant of one could find that the other has not
//! reached it; over the microseconds of what is measured here it does not matter.

use crate::sys::clock::monotonic_nanos;
use crate::sys::event::sleep_until;
use crate::sys::stamp::StampCounter;
use std::io;

/// What is read for stamps and while spinning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Clock {
    /// `clock_gettime` of `CLOCK_MONOTONIC`.
    #[default]
    Monotonic,
    /// The time stamp counter, which has to be invariant.
    Tsc,
}

impl Clock {
    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monotonic => "monotonic",
            Self::Tsc => "tsc",
        }
    }

    /// Whether this processor has it.
    #[must_use]
    pub fn is_there(self) -> bool {
        match self {
            Self::Monotonic => true,
            Self::Tsc => StampCounter::find().is_some(),
        }
    }
}

/// How long the rate of the counter is measured: what two readings of clocks are apart by is some millionths of that.
const CALIBRATION_NANOS: u64 = 10_000_000;
/// Of so many readings that one counts which took the least time.
const READINGS: u32 = 16;

/// How to read that clock, and what its units are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stamps {
    Monotonic,
    Counter { counter: StampCounter, rate: Rate },
}

/// A reading of `CLOCK_MONOTONIC`, and what is measured from then on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) monotonic: u64,
    /// Of the counter; 0 if that is not read.
    pub(crate) ticks: u64,
}

impl Stamps {
    /// By this clock. A counter is measured against `CLOCK_MONOTONIC` for some milliseconds.
    ///
    /// # Errors
    /// There is none that is invariant.
    pub(crate) fn of(clock: Clock) -> io::Result<Self> {
        Self::with(clock, StampCounter::find())
    }

    fn with(clock: Clock, counter: Option<StampCounter>) -> io::Result<Self> {
        match (clock, counter) {
            (Clock::Monotonic, _) => Ok(Self::Monotonic),
            (Clock::Tsc, Some(counter)) => {
                let rate = Rate::measure(counter);
                Ok(Self::Counter { counter, rate })
            }
            (Clock::Tsc, None) => {
                let why = "this processor does not say that its time stamp counter is invariant (CPUID 8000_0007h, EDX, bit 8)";
                Err(io::Error::new(io::ErrorKind::Unsupported, why))
            }
        }
    }

    pub(crate) fn now(self) -> Stamp {
        Stamp {
            monotonic: monotonic_nanos(),
            ticks: match self {
                Self::Monotonic => 0,
                Self::Counter { counter, .. } => counter.ticks(),
            },
        }
    }

    /// Nanoseconds from one stamp to another; none where clocks of two CPUs disagree about which came first.
    pub(crate) fn between(self, from: Stamp, to: Stamp) -> u64 {
        match self {
            Self::Monotonic => to.monotonic.saturating_sub(from.monotonic),
            Self::Counter { rate, .. } => rate.nanos(to.ticks.saturating_sub(from.ticks)),
        }
    }

    /// Nanoseconds since a stamp; reads one clock alone.
    pub(crate) fn since(self, from: Stamp) -> u64 {
        match self {
            Self::Monotonic => monotonic_nanos().saturating_sub(from.monotonic),
            Self::Counter { counter, rate } => {
                rate.nanos(counter.ticks().saturating_sub(from.ticks))
            }
        }
    }
}

/// How many nanoseconds a tick takes, times 2^32, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate(u64);

impl Rate {
    fn measure(counter: StampCounter) -> Self {
        let (nanos, ticks) = both(counter);
        sleep_until(nanos.saturating_add(CALIBRATION_NANOS));
        let (later_nanos, later_ticks) = both(counter);
        Self::of(
            later_nanos.saturating_sub(nanos),
            later_ticks.saturating_sub(ticks),
        )
    }

    fn of(nanos: u64, ticks: u64) -> Self {
        let scaled = (u128::from(nanos) << 32).div_ceil(u128::from(ticks.max(1)));
        Self(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    fn nanos(self, ticks: u64) -> u64 {
        let scaled = (u128::from(ticks) * u128::from(self.0)) >> 32;
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

/// The clock, and what the counter reads at that instant: halfway between a reading before and one after.
fn both(counter: StampCounter) -> (u64, u64) {
    let readings = (0..READINGS).map(|_| {
        let before = counter.ticks();
        let nanos = monotonic_nanos();
        (before, nanos, counter.ticks())
    });
    let narrowest = readings.min_by_key(|(before, _, after)| after.saturating_sub(*before));
    narrowest.map_or((0, 0), |(before, nanos, after)| {
        (nanos, before + after.saturating_sub(before) / 2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_without_an_invariant_counter_is_refused_by_name_and_the_clock_is_always_there() {
        let refused = Stamps::with(Clock::Tsc, None).unwrap_err().to_string();
        assert!(
            refused.contains("CPUID 8000_0007h, EDX, bit 8"),
            "{refused}"
        );
        assert!(Stamps::with(Clock::Monotonic, None).is_ok());
        assert!(Clock::Monotonic.is_there());
        assert_eq!(Clock::Tsc.is_there(), Stamps::of(Clock::Tsc).is_ok());
    }

    #[test]
    fn ticks_become_nanoseconds_at_the_rate_that_was_measured() {
        // 2.6 GHz for 10 ms.
        let rate = Rate::of(10_000_000, 26_000_000);
        assert_eq!(
            [0, 26, 2_600_000].map(|ticks| rate.nanos(ticks)),
            [0, 10, 1_000_000]
        );
        assert_eq!(
            rate.nanos(u64::MAX),
            rate.nanos(u64::MAX - 1),
            "of centuries no matter"
        );
        let slow = Rate::of(10_000_000, 1_000_000);
        assert_eq!(slow.nanos(3), 30);
    }

    /// Both clocks measure the same 20 ms, each within what is between its own readings of the other one.
    #[test]
    fn the_counter_measures_what_the_clock_measures() {
        let (Ok(stamps), Some(counter)) = (Stamps::of(Clock::Tsc), StampCounter::find()) else {
            return;
        };
        let (monotonic, ticks) = both(counter);
        let from = Stamp { monotonic, ticks };
        sleep_until(from.monotonic + 2 * CALIBRATION_NANOS);
        let least = monotonic_nanos() - from.monotonic;
        let found = stamps.since(from);
        let to = stamps.now();
        let most = to.monotonic - from.monotonic;
        let (least, most) = (least - least / 1_000, most + most / 1_000);
        assert!(
            (least..=most).contains(&found),
            "{found}: {least} to {most}"
        );
        assert!(stamps.between(from, to) >= found);
        assert_eq!(stamps.between(to, from), 0);
    }
}
