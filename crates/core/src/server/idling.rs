//! The idling periodic server: a periodic budget that is consumed by idling while there is no work.
//!
//! ```text
//!            work (2)                    charge of the rest (1), idle_for (4)
//!   idling <----------> has work, budget ------------------------------------> depleted
//!     |  idle_for (4)        ^                                                     |
//!     +----------------------|--> depleted                                         |
//!                            +--------------------- replenish (3) -----------------+
//! ```
//! (1) [`Idling::charge`], (2) the engine's count of ready tasks, (3) [`Idling::replenish`],
//! (4) [`Idling::idle_for`].
//!
//! Davis and Burns (RTSS 2005); Holenderski, Cools, Bril and Lukkien (2010, section 3.2.3). While it
//! idles as the most urgent server, nothing below it runs: that is what makes its supply periodic.
//! Idling is the one consumption that is charged by time.

use super::PeriodicBudget;
use crate::time::{Duration, Instant, Service};

/// An idling periodic server at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Idling {
    budget: PeriodicBudget,
}

impl Idling {
    /// A server with full budget at the epoch.
    #[must_use]
    pub const fn new(period: Duration, capacity: Service) -> Self {
        Self {
            budget: PeriodicBudget::new(period, capacity),
        }
    }

    /// It had the CPU without work for `span`. A decision that comes late finds the budget used up,
    /// not overdrawn: nothing was executed that has to be paid back.
    pub fn idle_for(&mut self, span: Duration) {
        let consumed = Service::supplied_during(span).min(self.budget.left());
        self.budget.charge(consumed);
    }

    pub(super) fn charge(&mut self, amount: Service) {
        self.budget.charge(amount);
    }

    pub(super) fn replenish(&mut self, now: Instant) {
        self.budget.replenish(now);
    }

    /// What is left.
    #[must_use]
    pub const fn remaining(&self) -> Service {
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
