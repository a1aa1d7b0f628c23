//! The polling server: a periodic budget that is discarded as soon as there is no work.
//!
//! ```text
//!                 (1) work at a replenishment
//!      depleted -----------------------------> has budget <--+
//!         ^                                     |   |        | (1)
//!         +------- no work (2), charge (3) -----+   +--------+
//! ```
//! (1) [`Polling::replenish`], (2) [`Polling::settle_work`], (3) [`Server::charge`](super::Server::charge).
//!
//! Holenderski, Cools, Bril and Lukkien (2010, section 3.2.4). Their sentence that a polling server
//! also loses its budget when it is switched out contradicts their Figure 4; here it is lost only for
//! want of work, not by preemption.

use super::PeriodicBudget;
use crate::time::{Duration, Instant, Service};

/// A polling server at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Polling {
    pub(super) budget: PeriodicBudget,
}

impl Polling {
    /// A server with full budget at the epoch.
    #[must_use]
    pub const fn new(period: Duration, capacity: Service) -> Self {
        Self {
            budget: PeriodicBudget::new(period, capacity),
        }
    }

    pub(super) fn replenish(&mut self, now: Instant, had_work: bool) {
        let passed = self.budget.replenish(now);
        // No wake-up is asked for the replenishment of a server without work: if it was before `now`,
        // that budget was discarded there and then.
        if passed.is_some_and(|last| last < now) && !had_work {
            self.budget.discard();
        }
    }

    pub(super) fn settle_work(&mut self, work: bool) {
        if !work {
            self.budget.discard();
        }
    }
}
