//! Servers with a periodic budget. They differ in what becomes of it while there is no work.
//!
//! **Polling**: it is discarded as soon as there is no work.
//!
//! ```text
//!                 (1) work at a replenishment
//!      depleted -----------------------------> has budget <--+
//!         ^                                     |   |        | (1)
//!         +------- no work (2), charge (3) -----+   +--------+
//! ```
//! Holenderski, Cools, Bril and Lukkien (2010, section 3.2.4). Their sentence that a polling server
//! also loses its budget when it is switched out contradicts their Figure 4; here it is lost only for
//! want of work, not by preemption.
//!
//! **Idling**: it is consumed by idling.
//!
//! ```text
//!            work (5)                    charge of the rest (3), idle_for (4)
//!   idling <----------> has work, budget ------------------------------------> depleted
//!     |  idle_for (4)        ^                                                     |
//!     +----------------------|--> depleted                                         |
//!                            +--------------------- replenish (1) -----------------+
//! ```
//! Davis and Burns (RTSS 2005); Holenderski, Cools, Bril and Lukkien (2010, section 3.2.3). While it
//! idles as the most urgent server, nothing below it runs: that is what makes its supply periodic.
//! Idling is the one consumption that is charged by time.
//!
//! **Deferrable**: it is kept.
//!
//! ```text
//!              work (5)                   charge of the rest (3)
//!   waiting <-----------> has work, budget ----------------------> depleted
//!   (budget kept)             ^                                        |
//!                             +------------- replenish (1) ------------+
//! ```
//! Strosnider, Lehoczky and Sha (IEEE Transactions on Computers, 1995). It can execute twice its
//! capacity around a replenishment, which analyses charge as a release jitter of period - capacity.
//!
//! (1) [`Periodic::replenish`], (2) [`Periodic::settle_work`], (3) [`Server::charge`](super::Server::charge),
//! (4) [`Periodic::idle_for`], (5) the engine's count of ready tasks.

use super::PeriodicBudget;
use crate::time::{Duration, Instant, Service};

/// What becomes of a periodic budget without work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WithoutWork {
    /// It is discarded: a polling server.
    Discarded,
    /// It is consumed by idling: an idling periodic server.
    Idled,
    /// It is kept: a deferrable server.
    Kept,
}

/// A server with a periodic budget at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Periodic {
    without_work: WithoutWork,
    pub(super) budget: PeriodicBudget,
}

impl Periodic {
    /// A server with full budget at the epoch.
    #[must_use]
    pub const fn new(without_work: WithoutWork, period: Duration, capacity: Service) -> Self {
        Self {
            without_work,
            budget: PeriodicBudget::new(period, capacity),
        }
    }

    /// Whether it wants the CPU although it has no work.
    #[must_use]
    pub fn idles(&self) -> bool {
        self.without_work == WithoutWork::Idled
    }

    pub(super) fn replenish(&mut self, now: Instant, had_work: impl FnOnce(Instant) -> bool) {
        // No wake-up is asked for the replenishment of a polling server without work: if it was before
        // `now`, that budget was discarded there and then. Work that came just then is not late because the decision is.
        if let Some(last) = self.budget.replenish(now).filter(|&last| last < now) {
            self.settle_work(had_work(last));
        }
    }

    pub(super) fn settle_work(&mut self, work: bool) {
        if self.without_work == WithoutWork::Discarded && !work {
            self.budget.discard();
        }
    }

    /// It had the CPU without work for `span`. A decision that comes late finds the budget used up,
    /// not overdrawn: nothing was executed that has to be paid back. Says whether that was the last of a budget.
    pub fn idle_for(&mut self, span: Duration) -> bool {
        if !self.idles() {
            return false;
        }
        let left = self.budget.left();
        let consumed = Service::supplied_during(span).min(left);
        self.budget.charge(consumed);
        !left.is_zero() && consumed == left
    }
}
