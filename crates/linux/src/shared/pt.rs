//! What workers and manager share about limits, which may grow slice by slice.

use super::{Shared, TaskShared};
use crate::allowance::{Allowance, AllowanceWord};
use crate::report::Suspensions;
use vestal_core::{Duration, Enforcement, Service};

/// The slices of one task.
#[derive(Debug)]
pub(super) struct Slicing {
    /// The rule that grants its jobs their limits slice by slice; `None`: they have them in one piece.
    rule: Option<Enforcement>,
    /// Under native dispatch: what the running job was granted so far. Written by the worker before it
    /// says what runs, and by the manager for the job that runs; unlimited where no slice says
    /// anything.
    granted: AllowanceWord,
}

impl Slicing {
    /// Jobs in one piece.
    pub(super) const fn none() -> Self {
        Self {
            rule: None,
            granted: AllowanceWord::new(Allowance::Unlimited),
        }
    }
}

impl TaskShared {
    /// The same with jobs in slices.
    pub(crate) fn in_slices(self, rule: Enforcement) -> Self {
        let slicing = Slicing {
            rule: Some(rule),
            ..Slicing::none()
        };
        Self { slicing, ..self }
    }

    pub(crate) const fn is_sliced(&self) -> bool {
        self.slicing.rule.is_some()
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

    /// The worker is about to begin a job that was released so long ago.
    pub(crate) fn grant_first(&self, since_nanos: u64) {
        if let Some(rule) = self.slicing.rule {
            let granted = rule.grant(&self.configuration, Duration::from_nanos(since_nanos));
            let limit = |granted: Service| Allowance::UpTo(granted.as_nanos().max(1));
            self.grant(granted.map_or(Allowance::Unlimited, limit));
        }
    }

    /// The running job may execute so much until its next slice begins.
    pub(crate) fn grant(&self, granted: Allowance) {
        self.slicing.granted.store(granted);
    }

    /// What the running job may execute until the manager has to look: the limit of its task, or less.
    pub(crate) fn present_limit(&self) -> Allowance {
        self.limit.load().and(self.slicing.granted.load())
    }

    /// When job `sequence` is released, in nanoseconds after the epoch.
    pub(crate) fn release_of(&self, sequence: u64) -> u64 {
        let period = self.configuration.task.period.as_nanos();
        self.offset_nanos
            .saturating_add(sequence.saturating_mul(period))
    }
}

impl Shared {
    /// The execution at which a job with `limit` has overrun; `None`: never.
    pub(crate) fn threshold(&self, limit: Allowance) -> Option<u64> {
        match limit {
            Allowance::UpTo(limit) if self.enforce => {
                Some(limit.saturating_add(self.tolerance_nanos))
            }
            Allowance::UpTo(_) | Allowance::NotAdmitted | Allowance::Unlimited => None,
        }
    }

    /// How jobs were suspended between their slices; `None` if no job is cut into slices.
    pub(crate) fn suspensions(&self) -> Option<Suspensions> {
        let sliced = self.tasks.iter().filter(|task| task.is_sliced());
        sliced
            .map(|task| task.suspension.counted())
            .reduce(Suspensions::and)
    }
}
