//! When a manager looks at the budget of the job that runs.

use crate::pace::LeastWait;
use crate::sys::clock::monotonic_nanos;
use vestal_core::JobId;

/// When it does next, and how it went.
#[derive(Debug)]
pub(super) struct Looks {
    /// As a clock reading.
    at: u64,
    /// When the last one was over.
    looked: u64,
    least: LeastWait<JobId>,
    /// Whether this round is one.
    is_look: bool,
}

impl Default for Looks {
    fn default() -> Self {
        Self {
            at: u64::MAX,
            looked: 0,
            least: LeastWait::default(),
            is_look: false,
        }
    }
}

impl Looks {
    pub(super) const fn is_due(&self, now: u64) -> bool {
        self.at <= now
    }

    /// A round begins.
    pub(super) fn begin_round(&mut self, now: u64) {
        self.is_look = self.is_due(now);
    }

    /// Nothing runs that has a budget.
    pub(super) fn at_nothing(&mut self) -> u64 {
        self.at = u64::MAX;
        self.at
    }

    /// At a job that has so much left, whose thread has executed so much; two looks at it are `bound` apart at least. Gives when.
    pub(super) fn at_job(&mut self, job: JobId, (left, executed): (u64, u64), bound: u64) -> u64 {
        let now = monotonic_nanos();
        let is_look = std::mem::take(&mut self.is_look);
        let wait = self.least.wait(is_look, (job, executed), bound);
        if is_look {
            self.looked = now;
        }
        // It counts from here, however long the round took that looked: see `crate::Config::bound`.
        let earliest = self.looked.saturating_add(wait).saturating_sub(now);
        self.at = now.saturating_add(left.max(earliest).max(1));
        self.at
    }
}
