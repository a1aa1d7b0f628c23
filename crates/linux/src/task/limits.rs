//! What workers and manager share about limits, which may grow slice by slice.

use super::TaskShared;
use crate::words::{Allowance, AllowanceWord};

impl TaskShared {
    /// The same with jobs in slices.
    pub(crate) fn in_slices(mut self) -> Self {
        self.is_sliced = true;
        self
    }

    /// Whether its jobs are granted their limits slice by slice.
    pub(crate) const fn is_sliced(&self) -> bool {
        self.is_sliced
    }

    /// Into how many slices its jobs are cut.
    pub(crate) fn slices(&self) -> u32 {
        self.configuration.slices.get()
    }

    /// The job that was begun, has not ended, keeps its priority, and is not suspended.
    pub(crate) fn running_ready(&self) -> Option<u64> {
        self.running_admitted()
            .filter(|_| !self.suspension.is_suspended())
    }

    /// The worker is about to begin a job, which is granted its first slice: that is returned. Later ones, which
    /// may have begun by now, the guard grants when the job has executed that.
    pub(crate) fn grant_first(&self) -> Allowance {
        let first = self.next.get();
        if self.is_sliced() {
            self.grant(first);
        }
        first
    }

    /// The worker shows a job that it has granted `first`; gives what the manager says now, which may have changed
    /// that before it saw the job.
    pub(crate) fn grant_again(&self, first: Allowance) -> Allowance {
        let next = self.next.get();
        if self.is_sliced() && next != first {
            self.present.replace(first, next);
        }
        next
    }

    /// The running job may execute so much until its next slice begins.
    pub(crate) fn grant(&self, granted: Allowance) {
        self.present.set(granted);
    }

    /// What the running job may execute until the manager has to look.
    pub(crate) fn present_limit(&self) -> Allowance {
        self.present_word().get()
    }

    /// The same for who has armed a monitor with what it read before.
    pub(crate) fn present_limit_again(&self) -> Allowance {
        self.present_word().again()
    }

    const fn present_word(&self) -> &AllowanceWord {
        if self.is_sliced() {
            &self.present
        } else {
            &self.next
        }
    }

    /// When job `sequence` is released, in nanoseconds after the epoch.
    pub(crate) fn release_of(&self, sequence: u64) -> u64 {
        let since = sequence.saturating_mul(self.period_nanos());
        self.offset_nanos.saturating_add(since)
    }
}
