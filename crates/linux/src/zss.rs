//! Zero slack under native dispatch: what a worker and the manager share about it.
//!
//! Each task has a timer that signals the manager at the zero-slack instant of its next job to end. The
//! worker sets it: when it begins to work, and whenever a job of its ends, before that end shows. So a job
//! that is complete in time costs one setting of a timer and no wake-up, and one that has not even
//! begun, because others have the CPU, is noticed all the same.
//!
//! ```text
//! worker:   timer := next job's instant    state := no job    job k ends       calls the manager if that is awaited
//! manager:  job k has no slack left        awaits its end     if it has not ended: reports that it is incomplete
//! ```
//! The middle is one word, [`crate::words::Ends`]: a job that ends without slack is never forgotten.
//!
//! *Places.* The manager carries the permits of tasks out by priorities, whether their workers run or wait:
//!
//! ```text
//! own rank    low + 3 and above    permitted
//! below all    low + 2              a late job that may go on
//! suspended    low + 1              all that the suspension level suspends
//! (idle detector: low)
//! ```

use crate::scarce::{Resource, making};
use crate::sys::Tid;
use crate::sys::signal::instant_signal;
use crate::sys::timer::SignalTimer;
use crate::words::{Ends, Latest};
use std::sync::OnceLock;

/// How many priorities of a run lie between the idle detector's and the workers' own.
pub(crate) const RANKS_BELOW: usize = 2;

/// Where a worker stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    /// By its own priority.
    Own,
    /// Below all that have their own.
    BelowAll,
    /// It waits, below all that may run.
    Suspended,
}

impl Rank {
    pub(crate) const ALL: [Self; 3] = [Self::Own, Self::BelowAll, Self::Suspended];
}

/// The zero slack of one task.
#[derive(Debug)]
pub(crate) struct Slack {
    /// How long after its release a job has no slack left: Z_i, or D_i.
    after_nanos: u64,
    /// The lowest priority of the run.
    low: i32,
    timer: OnceLock<SignalTimer>,
    /// Which jobs have ended.
    ends: Ends,
    /// Written by the manager: the priority of the worker.
    priority: Latest<i32>,
}

impl Slack {
    pub(crate) fn new(after_nanos: u64, low: i32, fifo: i32) -> Self {
        Self {
            after_nanos,
            low,
            timer: OnceLock::new(),
            ends: Ends::default(),
            priority: Latest::new(fifo),
        }
    }

    /// Makes the timer, not running.
    pub(crate) fn create_timer(&self, manager: Tid) -> std::io::Result<()> {
        let timer = SignalTimer::wall_with(instant_signal(), manager);
        let timer = timer.map_err(making(Resource::Timer))?;
        // Set once, here.
        let _ = self.timer.set(timer);
        Ok(())
    }

    /// The job released at `release`, on the clock, is the next one to end.
    pub(crate) fn await_end_of(&self, release: u64) {
        if let Some(timer) = self.timer.get() {
            timer.set_at(release.saturating_add(self.after_nanos));
        }
    }

    /// Job `sequence` has come to its end; says whether the manager awaited that.
    pub(crate) fn end(&self, sequence: u64) -> bool {
        self.ends.end(sequence)
    }

    /// The first job that has not ended.
    pub(crate) fn first(&self) -> u64 {
        self.ends.first()
    }

    /// The guard is to know that job `sequence` is incomplete; says whether it has not ended, so that its end
    /// calls the manager.
    pub(crate) fn await_end(&self, sequence: u64) -> bool {
        self.ends.await_end(sequence)
    }

    /// When a job released at `release` has no slack left; both on one clock.
    pub(crate) fn instant_of(&self, release: u64) -> u64 {
        release.saturating_add(self.after_nanos)
    }

    /// The SCHED_FIFO priority of the worker.
    pub(crate) fn priority(&self) -> i32 {
        self.priority.get()
    }

    pub(crate) fn rank(&self) -> Rank {
        match self.priority().saturating_sub(self.low) {
            1 => Rank::Suspended,
            2 => Rank::BelowAll,
            _ => Rank::Own,
        }
    }

    /// Notes the worker's new rank, where `own` is its own priority; gives its new priority, if that is another one.
    pub(crate) fn turn_to(&self, rank: Rank, own: i32) -> Option<i32> {
        let priority = match rank {
            Rank::Own => own,
            Rank::BelowAll => self.low.saturating_add(2),
            Rank::Suspended => self.low.saturating_add(1),
        };
        let before = self.priority.get();
        self.priority.set(priority);
        (before != priority).then_some(priority)
    }
}
