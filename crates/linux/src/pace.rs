//! How often monitors of budgets may look.

use std::ops::RangeInclusive;
use vestal_core::Duration;

/// What the lower bound of a monitor's waits is unless another one is given.
pub const BOUND: Duration = Duration::from_micros(30);
/// What that bound may be: a shorter wait would be over before the job gets to run, a livelock until RT throttling.
pub const BOUND_RANGE: RangeInclusive<Duration> = Duration::from_micros(10)..=PACE_MAX;
/// What the period of a heartbeat may be.
pub const HEARTBEAT_RANGE: RangeInclusive<Duration> = Duration::from_micros(50)..=PACE_MAX;
/// Whatever is slower, the trial before a run would not find late.
const PACE_MAX: Duration = Duration::from_millis(25);

/// The first beat after `now` of a heartbeat of this period that began at `epoch`.
pub(crate) fn next_beat(epoch: u64, period: u64, now: u64) -> u64 {
    let beats = now.saturating_sub(epoch) / period + 1;
    epoch.saturating_add(beats.saturating_mul(period))
}
