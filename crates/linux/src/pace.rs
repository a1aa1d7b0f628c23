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

/// So long gets a job the CPU for a while whatever it takes to give it back.
const ENOUGH_NANOS: u64 = 100_000;

/// The least that a monitor waits after a look that came too early until it looks at the same job again, so that the job gets to
/// run in between. That is its bound; but where that is so short that the job had nothing, or next to nothing, of the time
/// since the look before, twice as much as then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeastWait<J> {
    job: Option<J>,
    executed: u64,
    nanos: u64,
}

impl<J> Default for LeastWait<J> {
    fn default() -> Self {
        Self {
            job: None,
            executed: 0,
            nanos: 0,
        }
    }
}

impl<J: PartialEq + Copy> LeastWait<J> {
    /// For a job that is looked at, or whose monitor is armed again for another reason: then as long as after the last look at it.
    pub(crate) fn wait(&mut self, is_look: bool, (job, executed): (J, u64), bound: u64) -> u64 {
        match is_look {
            true => self.after(job, executed, bound),
            false if self.job == Some(job) => self.nanos,
            false => bound,
        }
    }

    /// After a look at a job that had executed so much, or whose thread had, for a monitor with this bound.
    pub(crate) fn after(&mut self, job: J, executed: u64, bound: u64) -> u64 {
        let job = Some(job);
        let since = executed.saturating_sub(self.executed);
        let stands = self.job == job && since < self.nanos / 64;
        self.nanos = match stands {
            true => self.nanos.saturating_mul(2).min(ENOUGH_NANOS.max(bound)),
            false => bound,
        };
        (self.job, self.executed) = (job, executed);
        self.nanos
    }
}

/// The first beat after `now` of a heartbeat of this period that began at `epoch`.
pub(crate) fn next_beat(epoch: u64, period: u64, now: u64) -> u64 {
    let beats = now.saturating_sub(epoch) / period + 1;
    epoch.saturating_add(beats.saturating_mul(period))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_had_nothing_since_the_last_look_is_left_alone_for_twice_as_long() {
        let mut least = LeastWait::default();
        let mut waits = |looks: &[(u32, u64)]| -> Vec<u64> {
            let looks = looks.iter();
            looks
                .map(|&(job, executed)| least.after(job, executed, 10_000))
                .collect()
        };
        // Next to nothing is a 64th of the wait.
        let stands = waits(&[(1, 500), (1, 500), (1, 656), (1, 656)]);
        assert_eq!(stands, [10_000, 20_000, 40_000, 80_000]);
        assert_eq!(waits(&[(1, 656), (1, 700)]), [100_000, 100_000]);
        // It got on, or it is another one.
        assert_eq!(waits(&[(1, 2_262), (1, 2_262)]), [10_000, 20_000]);
        assert_eq!(waits(&[(2, 0), (2, 0)]), [10_000, 20_000]);
        // Armed again without a look it waits no longer, and another job as long as its own bound says.
        let mut least = LeastWait::default();
        let mut wait = |is_look, job| least.wait(is_look, (job, 0), 10_000);
        let waits = [(true, 1), (true, 1), (false, 1), (false, 1), (false, 2)];
        let waits = waits.map(|(is_look, job)| wait(is_look, job));
        assert_eq!(waits, [10_000, 20_000, 20_000, 20_000, 10_000]);
        assert_eq!(wait(true, 1), 40_000);
        // A bound that is longer than enough stays what it is.
        let mut least = LeastWait::default();
        let waits = [0; 3].map(|executed| least.after(1, executed, 2_000_000));
        assert_eq!(waits, [2_000_000; 3]);
    }
}
