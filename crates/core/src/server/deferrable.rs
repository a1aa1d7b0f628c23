//! The deferrable server: a periodic budget that is kept while there is no work.
//!
//! ```text
//!              work (2)                   charge of the rest (1)
//!   waiting <-----------> has work, budget ----------------------> depleted
//!   (budget kept)             ^                                        |
//!                             +------------- replenish (3) ------------+
//! ```
//! (1) [`Deferrable::charge`], (2) the engine's count of ready tasks, (3) [`Deferrable::replenish`].
//!
//! Strosnider, Lehoczky and Sha (IEEE Transactions on Computers, 1995). It can execute twice its
//! capacity around a replenishment, which analyses charge as a release jitter of period - capacity.

use super::PeriodicBudget;
use crate::time::{Duration, Instant, Service};

/// A deferrable server at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deferrable {
    budget: PeriodicBudget,
}

impl Deferrable {
    /// A server with full budget at the epoch.
    #[must_use]
    pub const fn new(period: Duration, capacity: Service) -> Self {
        Self {
            budget: PeriodicBudget::new(period, capacity),
        }
    }

    pub(super) fn charge(&mut self, amount: Service) {
        self.budget.charge(amount);
    }

    pub(super) fn replenish(&mut self, now: Instant) {
        self.budget.replenish(now);
    }

    pub(super) const fn remaining(&self) -> Service {
        self.budget.left()
    }

    pub(super) const fn next_replenishment(&self) -> Instant {
        self.budget.next_replenishment()
    }

    pub(super) fn set_capacity(&mut self, capacity: Service) {
        self.budget.set_capacity(capacity);
    }

    pub(super) fn is_consistent(&self) -> bool {
        self.budget.is_consistent()
    }
}
