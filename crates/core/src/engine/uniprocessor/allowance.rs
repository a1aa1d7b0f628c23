//! What enforcement says about the tasks in the present mode, computed once for each mode change.

use super::Uniprocessor;
use crate::enforce::{Enforcement, Exhaustion};
use crate::engine::configuration::TaskConfiguration;
use crate::model::Level;
use crate::plan::OnExhaustion;
use crate::store::Store;
use crate::time::Service;

/// What enforcement says about one task in one mode. Slices, which grow with time, are not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Allowance {
    /// What a job may execute in all.
    pub(super) limit: Service,
    /// What a job that is complete may have executed: its limit and the world's granularity (C2).
    pub(super) tolerated: Service,
    /// What using the limit up means; `None` if it means nothing.
    pub(super) on_exhaustion: Option<OnExhaustion>,
    /// Whether jobs are admitted.
    pub(super) admits: bool,
}

impl Allowance {
    pub(super) fn new(
        enforcement: Enforcement,
        exhaustion: Exhaustion,
        granularity: Service,
        entry: &TaskConfiguration,
        mode: Level,
    ) -> Self {
        let limit = enforcement.limit(&entry.task, mode);
        Self {
            limit,
            tolerated: limit.saturating_add(granularity),
            on_exhaustion: enforcement.on_exhaustion(&entry.task, mode, exhaustion),
            admits: enforcement.admits(&entry.task, mode),
        }
    }
}

impl<S: Store> Uniprocessor<S> {
    /// Changes the mode. O(n).
    #[cold]
    pub(super) fn set_mode(&mut self, mode: Level) {
        self.mode = mode;
        for (allowance, entry) in self.allowances.iter_mut().zip(self.tasks.iter()) {
            let (enforcement, exhaustion) = (self.enforcement, self.exhaustion);
            *allowance = Allowance::new(enforcement, exhaustion, self.granularity, entry, mode);
        }
    }

    /// Whether the table is that of the present mode, for tests.
    pub(super) fn check_allowances(&self) -> bool {
        let pairs = self.allowances.iter().zip(self.tasks.iter());
        pairs.into_iter().all(|(allowance, entry)| {
            let (enforcement, exhaustion) = (self.enforcement, self.exhaustion);
            let granularity = self.granularity;
            *allowance == Allowance::new(enforcement, exhaustion, granularity, entry, self.mode)
        })
    }
}
