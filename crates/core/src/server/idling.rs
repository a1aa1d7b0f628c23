//! The idling periodic server: a periodic budget that is consumed by idling while there is no work.
//!
//! ```text
//!            work (2)                    charge of the rest (1), idle_for (4)
//!   idling <----------> has work, budget ------------------------------------> depleted
//!     |  idle_for (4)        ^                                                     |
//!     +----------------------|--> depleted                                         |
//!                            +--------------------- replenish (3) -----------------+
//! ```
//! (1) [`Server::charge`](super::Server::charge), (2) the engine's count of ready tasks, (3) [`Server::replenish`](super::Server::replenish),
//! (4) [`Idling::idle_for`].
//!
//! Davis and Burns (RTSS 2005); Holenderski, Cools, Bril and Lukkien (2010, section 3.2.3). While it
//! idles as the most urgent server, nothing below it runs: that is what makes its supply periodic.
//! Idling is the one consumption that is charged by time.

use super::PeriodicBudget;
use crate::time::{Duration, Service};

/// An idling periodic server at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Idling {
    pub(super) budget: PeriodicBudget,
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
    /// not overdrawn: nothing was executed that has to be paid back. Says whether that was the last of a budget.
    pub fn idle_for(&mut self, span: Duration) -> bool {
        let left = self.budget.left();
        let consumed = Service::supplied_during(span).min(left);
        self.budget.charge(consumed);
        !left.is_zero() && consumed == left
    }
}
