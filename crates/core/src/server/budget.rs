//! A budget that comes back as a whole at every multiple of a period, counted from the epoch.
//!
//! ```text
//!            charge (1)                  charge of the rest (1), discard (2)
//!  full ------------------> partly used -----------------------------------> depleted
//!   ^                            |                                               |
//!   +---------- replenish (3) ---+----------------- replenish (3) ---------------+
//! ```
//! (1) [`PeriodicBudget::charge`], (2) [`PeriodicBudget::discard`], (3) [`PeriodicBudget::replenish`].
//!
//! Invariants: I1 `left <= capacity`; I2 there is a debt only when nothing is left. What was executed beyond the budget is a *debt* that the next
//! replenishments pay: a world that stops jobs a little late takes nothing from other servers in the long
//! run. In a world that stops in time it stays zero, and the budget is the textbook's. What was used of a capacity that
//! has become smaller than that is *withheld* until the next replenishment: a capacity that falls and rises again gives
//! nothing twice.

use crate::time::{Duration, Instant, Service};

/// What polling, idling and deferrable servers have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeriodicBudget {
    period: Duration,
    capacity: Service,
    left: Service,
    debt: Service,
    /// What was used beyond the present capacity when that was larger.
    withheld: Service,
    next: Instant,
}

impl PeriodicBudget {
    /// A full budget at the epoch.
    #[must_use]
    pub const fn new(period: Duration, capacity: Service) -> Self {
        Self {
            period,
            capacity,
            left: capacity,
            debt: Service::ZERO,
            withheld: Service::ZERO,
            next: Instant::EPOCH.saturating_add(period),
        }
    }

    /// What is left.
    #[must_use]
    pub const fn left(&self) -> Service {
        self.left
    }

    /// When it comes back.
    #[must_use]
    pub const fn next_replenishment(&self) -> Instant {
        self.next
    }

    /// Takes `amount`; what exceeds the budget becomes a debt.
    pub fn charge(&mut self, amount: Service) {
        let beyond = amount.saturating_sub(self.left);
        self.left = self.left.saturating_sub(amount);
        self.debt = self.debt.saturating_add(beyond);
    }

    /// Gives up what is left, and what a larger capacity would give.
    pub fn discard(&mut self) {
        self.left = Service::ZERO;
        self.withheld = Service::from_nanos(u64::MAX);
    }

    /// Passes all replenishments up to `now`; returns the instant of the last one passed. O(1).
    pub fn replenish(&mut self, now: Instant) -> Option<Instant> {
        let late_by = now.checked_since(self.next)?;
        let more = late_by.div_floor(self.period)?;
        let last = self.next.saturating_add(self.period.saturating_mul(more));
        self.next = last.saturating_add(self.period);
        // The replenishments passed over pay the debt first.
        self.debt = self.debt.saturating_sub(self.capacity.saturating_mul(more));
        self.left = self.capacity.saturating_sub(self.debt);
        self.debt = self.debt.saturating_sub(self.capacity);
        self.withheld = Service::ZERO;
        Some(last)
    }

    /// Changes the capacity; what was used of the old one since the last replenishment is used of the new one.
    pub fn set_capacity(&mut self, capacity: Service) {
        let used = self.capacity.saturating_sub(self.left);
        let used = used.saturating_add(self.withheld);
        let left = capacity.saturating_sub(used);
        self.withheld = used.saturating_sub(capacity);
        self.left = left.saturating_sub(self.debt);
        self.debt = self.debt.saturating_sub(left);
        self.capacity = capacity;
    }

    /// I1 and I2.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.left <= self.capacity && (self.debt.is_zero() || self.left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> PeriodicBudget {
        PeriodicBudget::new(Duration::from_nanos(10), Service::from_nanos(4))
    }

    fn at(now: u64) -> Instant {
        Instant::from_nanos(now)
    }

    #[test]
    fn the_whole_budget_comes_back_at_multiples_of_the_period_only() {
        let mut budget = budget();
        budget.charge(Service::from_nanos(3));
        assert_eq!(budget.replenish(at(9)), None);
        assert_eq!(budget.left(), Service::from_nanos(1));
        assert_eq!(budget.replenish(at(10)), Some(at(10)));
        assert_eq!(budget.left(), Service::from_nanos(4));
        assert_eq!(budget.replenish(at(45)), Some(at(40)));
        assert_eq!(budget.next_replenishment(), at(50));
    }

    #[test]
    fn what_was_used_is_used_after_a_capacity_that_fell_and_rises_again() {
        let mut budget = budget();
        budget.charge(Service::from_nanos(3));
        for (capacity, left) in [(2, 0), (0, 0), (4, 1), (6, 3), (2, 0), (8, 5)] {
            budget.set_capacity(Service::from_nanos(capacity));
            assert_eq!(budget.left(), Service::from_nanos(left), "{capacity}");
        }
        budget.set_capacity(Service::from_nanos(1));
        budget.replenish(at(10));
        budget.set_capacity(Service::from_nanos(4));
        assert_eq!(budget.left(), Service::from_nanos(4));
    }

    #[test]
    fn execution_beyond_the_budget_is_paid_by_the_next_replenishments() {
        let mut budget = budget();
        budget.charge(Service::from_nanos(10));
        assert_eq!(budget.left(), Service::ZERO);
        budget.replenish(at(10));
        assert_eq!(budget.left(), Service::ZERO, "4 of the debt of 6 are paid");
        budget.replenish(at(20));
        assert_eq!(budget.left(), Service::from_nanos(2));
        budget.replenish(at(30));
        assert_eq!(budget.left(), Service::from_nanos(4));
        budget.charge(Service::from_nanos(10));
        budget.replenish(at(50));
        assert_eq!(
            budget.left(),
            Service::from_nanos(2),
            "two at once pay alike"
        );
    }
}
