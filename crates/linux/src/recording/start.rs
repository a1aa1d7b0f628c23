//! When a run began, and by which threads.

use crate::run::Run;
use crate::started::StartedThread;
use crate::sys::clock::{boottime_nanos, monotonic_nanos, realtime_nanos};
use std::sync::Arc;
use vestal_trace::ClockBase;

/// When a run begins, which is after its recording does. It is known before there is a record.
#[derive(Clone, Debug)]
pub struct Start(Arc<Run>);

/// A run that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// What the clocks showed at instant 0 of the recording: the first possible release.
    pub clock: ClockBase,
    /// All threads of the run.
    pub threads: Vec<StartedThread>,
}

impl Start {
    pub(crate) const fn of(run: Arc<Run>) -> Self {
        Self(run)
    }

    /// When the run began; `None`: it has not.
    #[must_use]
    pub fn get(&self) -> Option<Started> {
        let epoch = self.0.epoch();
        (epoch != 0).then(|| Started {
            clock: clock_at(epoch, readings()),
            threads: self.0.threads.get().cloned().unwrap_or_default(),
        })
    }
}

/// How often the clocks are read: this thread is in no real-time class, and may lose the CPU between two readings.
const TRIES: usize = 16;

/// What all clocks show at one instant: those readings that lie closest together.
fn readings() -> ClockBase {
    let tries = std::iter::repeat_with(|| {
        let before = monotonic_nanos();
        let (realtime, boottime) = (realtime_nanos(), boottime_nanos());
        let apart = monotonic_nanos().saturating_sub(before);
        let base = ClockBase {
            monotonic: before.saturating_add(apart / 2),
            realtime,
            boottime,
        };
        (apart, base)
    });
    let closest = tries.take(TRIES).min_by_key(|(apart, _)| *apart);
    closest.map_or_else(ClockBase::default, |(_, base)| base)
}

/// What the clocks showed at `epoch` of the first one, from what they show now.
fn clock_at(epoch: u64, now: ClockBase) -> ClockBase {
    let monotonic = now.monotonic;
    let (since, until) = (
        monotonic.saturating_sub(epoch),
        epoch.saturating_sub(monotonic),
    );
    let then = |now: u64| now.saturating_sub(since).saturating_add(until);
    ClockBase {
        monotonic: epoch,
        realtime: then(now.realtime),
        boottime: then(now.boottime),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_before_or_after_the_beginning() {
        let base = |monotonic, realtime, boottime| ClockBase {
            monotonic,
            realtime,
            boottime,
        };
        let expected = base(100, 5_000, 200);
        assert_eq!(clock_at(100, base(130, 5_030, 230)), expected);
        assert_eq!(clock_at(100, base(90, 4_990, 190)), expected);
    }

    #[test]
    fn a_run_that_has_not_begun_says_nothing() {
        let run = Arc::new(Run::new(&crate::Config::new(), None));
        let start = Start::of(Arc::clone(&run));
        assert_eq!(start.get(), None);
        let epoch = monotonic_nanos();
        run.epoch.set(epoch);
        let clock = start.get().unwrap().clock;
        assert_eq!(clock.monotonic, epoch);
        // In this century, and never behind the clock that stands still while the machine is suspended.
        assert!(clock.realtime > 946_684_800_000_000_000, "{clock:?}");
        assert!(clock.boottime + 1_000_000 >= clock.monotonic, "{clock:?}");
    }
}
