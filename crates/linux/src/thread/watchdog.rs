//! The watchdog: ends the run when the manager does not, and carries the user's signals to it.
//!
//! It lives on another CPU than the run if the process has one, above every other thread of the
//! run, and does almost nothing.

use crate::driver::BEAT_NANOS;
use crate::intervals::{Intervals, Thread};
use crate::meter::Meter;
use crate::occupancy::Wanted;
use crate::recording::Tracer;
use crate::report::Duty;
use crate::shared::{Shared, StopCause};
use crate::sys;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::enter_real_time;
use crate::sys::stop;
use crate::words::Stage;
use std::sync::Arc;

/// How often it looks, if no thread calls.
const PERIOD_NANOS: u64 = BEAT_NANOS;

/// How many looks in a row may find the manager as it was: three beats. Only a look that comes in time
/// counts: where the watchdog itself was late, the process was stopped or the machine paused, and the
/// manager could not have done better.
const LOOKS_MAX: u32 = 3;

/// A look that is later than this is not in time.
const LATE_NANOS: u64 = PERIOD_NANOS / 2;

/// What the watchdog saw of the manager.
#[derive(Debug, Default)]
struct Watch {
    beat: u64,
    looks: u32,
}

impl Watch {
    /// Looks at `now`, which was to be at `due`; says whether the manager hangs, whose last sign of life
    /// was `beat`; 0: there was none yet.
    fn look(&mut self, due: u64, now: u64, beat: u64) -> bool {
        if beat != self.beat || now.saturating_sub(due) > LATE_NANOS {
            (self.beat, self.looks) = (beat, 0);
            return false;
        }
        self.looks += 1;
        beat != 0 && self.looks >= LOOKS_MAX
    }
}

/// What the watchdog's thread is made of.
pub(crate) struct Watchdog {
    pub(crate) shared: Arc<Shared>,
    pub(crate) cpu: usize,
    pub(crate) priority: i32,
}

impl Watchdog {
    /// Prepares the calling thread.
    pub(crate) fn set_up(&self) -> std::io::Result<()> {
        enter_real_time(self.cpu, self.priority)?;
        if self.shares_the_cpu() {
            let own = sys::sched::own_tid();
            self.shared.watchdog_tid.set(own);
        }
        Ok(())
    }

    /// Whether what it does is time of the run's CPU.
    fn shares_the_cpu(&self) -> bool {
        self.cpu == self.shared.cpu
    }

    /// Watches until the run ends, and ends it if need be.
    pub(crate) fn main(self) {
        let shared = &self.shared;
        let meter = Meter::start();
        let mut own = self
            .shares_the_cpu()
            .then(|| Intervals::of_this_thread(Thread::Watchdog));
        let mut trace = Tracer::off();
        let (mut watch, mut next) = (Watch::default(), monotonic_nanos());
        loop {
            // Read before looking, so that a call that comes while looking ends the wait.
            let calls = stop::CALLS.count();
            if shared.phase.stage() == Stage::Over {
                break;
            }
            let now = monotonic_nanos();
            #[cfg(feature = "real")]
            crate::fault::delay(&**shared, crate::fault::Point::WatchdogLook);
            if let Some(signal) = stop::asked() {
                shared.request_stop(StopCause::Signal(signal));
                shared.kick_manager();
            }
            let beat = shared.beat.count();
            if now >= next && watch.look(next, now, beat) {
                shared.request_stop(StopCause::ManagerHung);
                // The manager first: it may hold the CPU that the others need to shut down.
                let _ = sys::sched::set_other(shared.manager_tid.get());
                shared.halt();
            }
            if now >= next {
                next = now + PERIOD_NANOS;
            }
            if let Some(own) = &mut own {
                own.wait(shared, Duty::Watchdog, &mut trace);
            }
            stop::CALLS.wait_beyond(calls, Some(next));
            if let Some(own) = &mut own {
                let now = monotonic_nanos();
                own.wake(shared, Wanted::Since(now), now, &mut trace);
            }
        }
        if let Some(own) = &own {
            own.leave(shared);
        }
        let _ = sys::sched::set_other(sys::sched::own_tid());
        meter.stop(&shared.accounts.watchdog);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: u64 = PERIOD_NANOS;

    #[test]
    fn a_manager_without_a_beat_in_three_timely_looks_hangs() {
        let mut watch = Watch::default();
        assert!(!watch.look(STEP, STEP, 7));
        assert!(!watch.look(2 * STEP, 2 * STEP, 7));
        assert!(!watch.look(3 * STEP, 3 * STEP + LATE_NANOS, 7));
        assert!(watch.look(4 * STEP, 4 * STEP, 7));
    }

    #[test]
    fn a_beat_begins_anew_and_before_the_first_nobody_hangs() {
        let mut watch = Watch::default();
        for step in 1..10 {
            assert!(
                !watch.look(step * STEP, step * STEP, 0),
                "the run has not begun"
            );
            assert!(!Watch { beat: 1, looks: 9 }.look(step * STEP, step * STEP, step + 1));
        }
    }

    #[test]
    fn a_process_that_was_stopped_accuses_nobody() {
        let mut watch = Watch { beat: 7, looks: 2 };
        assert!(!watch.look(3 * STEP, 3 * STEP + LATE_NANOS + 1, 7));
        assert!(!watch.look(8 * STEP, 8 * STEP, 7));
        assert!(!watch.look(9 * STEP, 9 * STEP, 7));
        assert!(watch.look(10 * STEP, 10 * STEP, 7));
    }
}
