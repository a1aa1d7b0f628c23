//! The clock of a domain, and what is said of what happened: C1 and C6.

use crate::notice::{Event, Notice};
use crate::notice_queue::NoticeQueue;
use crate::plan::Wake;
use crate::scheduler::ContractViolation;
use crate::store::Store;
use crate::time::{Duration, Instant};

/// Moves a clock on to `now`; how much time has passed. C1: it never goes backwards, nor beyond the horizon, and is
/// unchanged then.
#[inline(always)]
pub(super) fn advance(clock: &mut Instant, now: Instant) -> Result<Duration, ContractViolation> {
    let last = *clock;
    if now < last {
        return Err(ContractViolation::ClockWentBack { last, now });
    }
    if now > Instant::HORIZON {
        return Err(ContractViolation::BeyondHorizon(now));
    }
    *clock = now;
    Ok(now.saturating_since(last))
}

/// The clock of a domain with the notices of what happened by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Clock<S: Store> {
    /// The instant of the last decision.
    pub(super) now: Instant,
    wake_granularity: Duration,
    notices: NoticeQueue<S>,
}

impl<S: Store> Clock<S> {
    /// The epoch, for so many tasks (and servers) that notices may speak of.
    pub(super) fn new(wake_granularity: Duration, sources: usize) -> Self {
        Self {
            now: Instant::EPOCH,
            wake_granularity,
            notices: NoticeQueue::new(sources),
        }
    }

    /// Moves on to `now`, perhaps later than the last plan asked for; how much time has passed.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        wake: Option<Wake>,
    ) -> Result<Duration, ContractViolation> {
        let passed = advance(&mut self.now, now)?;
        self.notice_lateness(wake);
        Ok(passed)
    }

    /// C6: the world may call later than the last plan asked for.
    pub(super) fn notice_lateness(&mut self, wake: Option<Wake>) {
        let Some(wake) = wake else { return };
        let by = self.now.saturating_since(wake.at);
        if by > self.wake_granularity {
            self.notice(Event::Late { by });
        }
    }

    /// Something happens now.
    pub(super) fn notice(&mut self, what: Event) {
        let at = self.now;
        self.notices.push(Notice { at, what });
    }

    /// Takes the oldest notice not yet taken.
    #[inline]
    pub(super) fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop()
    }

    /// How many notices were lost because they were not taken in time.
    #[inline]
    pub(super) fn lost_notices(&self) -> u64 {
        self.notices.lost()
    }
}
