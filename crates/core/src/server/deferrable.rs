//! The deferrable server: a periodic budget that is kept while there is no work.
//!
//! ```text
//!              work (2)                   charge of the rest (1)
//!   waiting <-----------> has work, budget ----------------------> depleted
//!   (budget kept)             ^                                        |
//!                             +------------- replenish (3) ------------+
//! ```
//! (1) [`Server::charge`](super::Server::charge), (2) the engine's count of ready tasks, (3) [`Server::replenish`](super::Server::replenish).
//!
//! Strosnider, Lehoczky and Sha (IEEE Transactions on Computers, 1995). It can execute twice its
//! capacity around a replenishment, which analyses charge as a release jitter of period - capacity.

use super::PeriodicBudget;
use crate::time::{Duration, Service};

/// A deferrable server at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deferrable {
    pub(super) budget: PeriodicBudget,
}

impl Deferrable {
    /// A server with full budget at the epoch.
    #[must_use]
    pub const fn new(period: Duration, capacity: Service) -> Self {
        Self {
            budget: PeriodicBudget::new(period, capacity),
        }
    }
}
