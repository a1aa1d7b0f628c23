//! What workers and manager share about limits that grow slice by slice.

use super::{Shared, TaskShared, UNLIMITED};
use crate::report::Held;
use std::sync::atomic::Ordering;
use vestal_core::{Duration, SliceCount};

impl TaskShared {
    /// The same with jobs in slices.
    pub(crate) fn in_slices(self, slices: Option<SliceCount>) -> Self {
        Self { slices, ..self }
    }

    pub(crate) const fn is_sliced(&self) -> bool {
        self.slices.is_some()
    }

    /// The worker is about to begin a job that was released so long ago.
    pub(crate) fn grant_first(&self, since_nanos: u64) {
        if let Some(slices) = self.slices {
            let task = &self.configuration.task;
            let granted = slices.granted_ceil(task, Duration::from_nanos(since_nanos));
            let whole = granted >= task.own_wcet();
            let granted = granted.as_nanos().max(1);
            self.grant(if whole { UNLIMITED } else { granted });
        }
    }

    /// The running job may execute so much until its next slice begins.
    pub(crate) fn grant(&self, granted: u64) {
        self.granted.store(granted, Ordering::SeqCst);
    }

    /// What the running job may execute until the manager has to look: the limit of its task, or less.
    pub(crate) fn present_limit(&self) -> u64 {
        let limit = self.limit.load(Ordering::SeqCst);
        limit.min(self.granted.load(Ordering::SeqCst))
    }

    /// When job `sequence` is released, in nanoseconds after the epoch.
    pub(crate) fn release_of(&self, sequence: u64) -> u64 {
        let period = self.configuration.task.period.as_nanos();
        self.offset_nanos
            .saturating_add(sequence.saturating_mul(period))
    }
}

impl Shared {
    /// How jobs were held back between their slices; `None` if no job is cut into slices.
    pub(crate) fn held(&self) -> Option<Held> {
        let sliced = self.tasks.iter().filter(|task| task.is_sliced());
        sliced.map(|task| task.park.held()).reduce(Held::and)
    }
}
