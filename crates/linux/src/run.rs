//! What all CPUs of a run have in common.
//!
//! | word | written by | read by |
//! |---|---|---|
//! | `threads` | who starts the run, when all have been started | who records the run |
//! | `epoch`, `end` | who starts the run, before any CPU begins | all |
//! | `stop` | the first thread that finds a reason to end the run | managers, the watchdog, who started the run |
//! | `watchdog` | the watchdog when it leaves | who started the run |
//!
//! All else is in the block of one CPU. So between the beginning of a run and its end no two CPUs write to one word.

use crate::config::{Config, Termination};
use crate::marker::Marker;
use crate::meter::Account;
use crate::started::StartedThread;
use crate::sys;
use crate::words::{Cause, Latest, Stop};
use std::sync::OnceLock;
use vestal_core::Instant;

/// A whole run.
#[derive(Debug)]
pub(crate) struct Run {
    /// Whether jobs that lost their priorities end as soon as they listen, or when the CPU is idle.
    pub(crate) ends_at_once: bool,
    /// The clock when the run began, and when it shall end.
    pub(crate) epoch: Latest<u64>,
    pub(crate) end: Latest<u64>,
    /// What the watchdog used.
    pub(crate) watchdog: Account,
    /// Where the kernel's trace is told of jobs, if it is.
    pub(crate) marker: Option<Marker>,
    /// Its threads, once all have been started.
    pub(crate) threads: OnceLock<Vec<StartedThread>>,
    stop: Stop,
}

impl Run {
    pub(crate) fn new(config: &Config, marker: Option<Marker>) -> Self {
        Self {
            ends_at_once: config.termination == Termination::Immediate,
            epoch: Latest::default(),
            end: Latest::default(),
            watchdog: Account::default(),
            marker,
            threads: OnceLock::new(),
            stop: Stop::default(),
        }
    }

    /// Who runs it; to be called before it begins.
    pub(crate) fn name_threads(&self, known: &[StartedThread]) {
        // Once for each run.
        let _ = self.threads.set(known.to_vec());
    }

    /// The clock when it began.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.get()
    }

    /// The clock reading `nanos` as an instant of this world.
    pub(crate) fn instant(&self, nanos: u64) -> Instant {
        Instant::from_nanos(nanos.saturating_sub(self.epoch()))
    }

    /// The clock so many nanoseconds after it began.
    pub(crate) fn clock_at(&self, since_epoch: u64) -> u64 {
        self.epoch().saturating_add(since_epoch)
    }

    /// Asks for the end of the run; the first cause is the one reported. The watchdog, which this calls, calls the
    /// managers: each ends its own CPU.
    pub(crate) fn request_stop(&self, cause: Cause) {
        if self.stop.ask(cause) {
            sys::stop::CALLS.call();
        }
    }

    /// Whether somebody asked for the end of the run.
    pub(crate) fn is_stop_requested(&self) -> bool {
        self.stop_cause().is_some()
    }

    /// Why the run ends.
    pub(crate) fn stop_cause(&self) -> Option<Cause> {
        self.stop.cause()
    }
}
