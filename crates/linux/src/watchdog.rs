//! The watchdog: ends the run when the manager does not, and carries the user's signals to it.
//!
//! It lives on another CPU than the run if the process has one, above every other thread of the
//! run, and does almost nothing.

use crate::manager::BEAT_NANOS;
use crate::meter::Meter;
use crate::shared::{STOP, Shared, StopCause};
use crate::sys;
use crate::sys::clock::monotonic_nanos;
use crate::sys::stop;
use crate::worker::enter_real_time;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How often it looks, if nobody calls.
const PERIOD_NANOS: u64 = BEAT_NANOS;

/// How long the manager may be silent: three beats. A machine that is away for so long cannot keep
/// any promise anyway.
const SILENCE_NANOS_MAX: u64 = 3 * BEAT_NANOS;

/// What the watchdog's thread is made of.
pub(crate) struct Watchdog {
    pub(crate) shared: Arc<Shared>,
    pub(crate) cpu: usize,
    pub(crate) priority: i32,
}

impl Watchdog {
    /// Prepares the calling thread.
    pub(crate) fn set_up(&self) -> std::io::Result<()> {
        enter_real_time(self.cpu, self.priority)
    }

    /// Watches until the run ends, and ends it if need be.
    pub(crate) fn main(self) {
        let shared = &self.shared;
        let meter = Meter::start();
        let mut next = monotonic_nanos();
        loop {
            // Read before looking, so that a call that comes while looking ends the wait.
            let calls = stop::calls();
            if shared.phase() == STOP {
                break;
            }
            let now = monotonic_nanos();
            if let Some(signal) = stop::asked() {
                shared.request_stop(StopCause::Signal(signal));
                shared.kick_manager();
            }
            let beat = shared.beat.load(Ordering::SeqCst);
            if beat != 0 && now.saturating_sub(beat) > SILENCE_NANOS_MAX {
                shared.request_stop(StopCause::ManagerHung);
                // The manager first: it may hold the CPU that the others need to go home.
                let _ = sys::sched::set_other(shared.manager_tid.load(Ordering::SeqCst));
                shared.halt();
            }
            next = now.max(next) + PERIOD_NANOS;
            stop::wait_beyond(calls, next);
        }
        let _ = sys::sched::set_other(sys::sched::own_tid());
        meter.stop(&shared.own.watchdog);
    }
}
