//! The priority-inheriting bandwidth-preserving server (PIBS): a share U of the CPU for the bottom
//! halves of interrupts, with one replenishment instead of a list.
//!
//! ```text
//!             work, now >= eligible (1)              confirmed start (2)
//!   resting -----------------------------> activated ---------------------> burst --+
//!     ^  ^  eligible = s + ceil(c / U)         |                              |  ^   | charge
//!     |  +------ no work, nothing executed (4)-+                              |  +---+
//!     +------------- no work (4), capacity used up (3), mode (5) ------------+
//! ```
//! (1) [`Pibs::activate`], (2) [`Pibs::start`], (3) [`Pibs::charge`], (4) [`Pibs::settle_work`],
//! (5) [`Pibs::end_burst`], which ends an activation without a burst as well.
//!
//! Danish, Li and West (RTAS 2011); Missimer, Missimer and West (2016, section II). On behalf of a
//! server with period T it may execute C = floor(U * T) at that server's priority. A burst of actual
//! length c that started at s makes the next one possible at s + ceil(c / U), whatever was left.
//!
//! Rules that the papers leave open, without which their bounds do not hold:
//!
//! - (a) capacity and priority are those of the activation; a later event for a more urgent server
//!   changes neither;
//! - (b) in a raised mode a server below the mode's criticality is activated on behalf of servers of
//!   at least that criticality only (the engine sees to it);
//! - (c) capacities round down, distances round up, and the burst starts at the instant that the world
//!   *confirmed*, not at the one that was planned;
//! - (d) a burst under way when the mode rises has the capacity of the new mode from its start on: with a larger share
//!   more, with a smaller one no more than the bound of that mode counts on; it ends if its server or its host has no
//!   place in the new mode, and at the return to mode 0 (the engine sees to these);
//! - (e) arrivals count before the test for no work: an interrupt at the instant at which a burst runs
//!   out of work extends it.
//!
//! Invariant I1: 0 <= used < capacity within a burst. Complexity O(1). In any window of length T a
//! PIBS that is never preempted and always serves period T executes at most (2 - U)UT, and that much
//! can happen; with preemption only the demand from the start of a busy period is bounded so.

use crate::ids::ServerId;
use crate::time::{Duration, Instant, Service};

/// An exact share of a CPU: `numerator / denominator`, positive and at most 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Utilization {
    numerator: u64,
    denominator: u64,
}

impl Utilization {
    /// No share at all: a server that is dropped in some mode.
    pub const ZERO: Self = Self {
        numerator: 0,
        denominator: 1,
    };

    /// The share `numerator / denominator`; `None` unless it is between 0 and 1.
    #[must_use]
    pub const fn new(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 || numerator > denominator {
            return None;
        }
        Some(Self {
            numerator,
            denominator,
        })
    }

    /// The numerator of the share, as it was given.
    #[must_use]
    pub const fn numerator(self) -> u64 {
        self.numerator
    }

    /// The denominator of the share, as it was given; never 0.
    #[must_use]
    pub const fn denominator(self) -> u64 {
        self.denominator
    }

    /// Whether it is no share at all.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// Whether it is the larger share.
    #[must_use]
    pub fn exceeds(self, other: Self) -> bool {
        let product = |one: u64, other: u64| u128::from(one).saturating_mul(u128::from(other));
        product(self.numerator, other.denominator) > product(other.numerator, self.denominator)
    }

    /// floor(U * period).
    #[must_use]
    pub fn of_floor(self, period: Duration) -> Service {
        // The product of two u64 fits into u128, and a quotient by a larger number into u64.
        let product = u128::from(period.as_nanos()).saturating_mul(u128::from(self.numerator));
        let quotient = product
            .checked_div(u128::from(self.denominator))
            .unwrap_or(0);
        Service::from_nanos(u64::try_from(quotient).unwrap_or(u64::MAX))
    }

    /// ceil(used / U): how long a CPU takes to supply `used` at this share; saturates.
    #[must_use]
    pub fn distance_ceil(self, used: Service) -> Duration {
        if used.is_zero() {
            return Duration::ZERO;
        }
        if self.numerator == 0 {
            return Duration::from_nanos(u64::MAX);
        }
        let product = u128::from(used.as_nanos()).saturating_mul(u128::from(self.denominator));
        let quotient = product.div_ceil(u128::from(self.numerator));
        Duration::from_nanos(u64::try_from(quotient).unwrap_or(u64::MAX))
    }
}

/// What a PIBS inherited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Activation {
    /// On whose behalf it runs.
    pub on_behalf_of: ServerId,
    /// That server's priority.
    pub priority: u32,
    /// What it may execute.
    pub capacity: Service,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Resting,
    Activated(Activation),
    Burst {
        activation: Activation,
        start: Instant,
        used: Service,
    },
}

/// A PIBS at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pibs {
    utilization: Utilization,
    /// The share at the last activation, by which what was executed is spread (rule d).
    share: Utilization,
    eligible: Instant,
    /// When the last burst began, and what was executed since then.
    last: (Instant, Service),
    phase: Phase,
}

impl Pibs {
    /// A server that may be activated from the epoch on.
    #[must_use]
    pub const fn new(utilization: Utilization) -> Self {
        Self {
            utilization,
            share: utilization,
            eligible: Instant::EPOCH,
            last: (Instant::EPOCH, Service::ZERO),
            phase: Phase::Resting,
        }
    }

    /// What it inherited, from its activation to the end of its burst.
    #[must_use]
    pub const fn activation(&self) -> Option<Activation> {
        match self.phase {
            Phase::Resting => None,
            Phase::Activated(activation) | Phase::Burst { activation, .. } => Some(activation),
        }
    }

    /// Whether it was activated and waits for the confirmation that it runs.
    #[must_use]
    pub const fn awaits_start(&self) -> bool {
        matches!(self.phase, Phase::Activated(_))
    }

    /// From when on it may be activated.
    #[must_use]
    pub const fn eligible(&self) -> Instant {
        self.eligible
    }

    /// Whether it may be activated at `now`.
    #[must_use]
    pub fn is_activatable(&self, now: Instant) -> bool {
        self.phase == Phase::Resting && self.eligible <= now
    }

    /// The capacity on behalf of a server with `period`.
    #[must_use]
    pub fn capacity_for(&self, period: Duration) -> Service {
        self.utilization.of_floor(period)
    }

    /// Fixes capacity and priority (rule a).
    pub fn activate(&mut self, activation: Activation) {
        if self.phase == Phase::Resting {
            self.share = self.utilization;
            self.phase = Phase::Activated(activation);
        }
    }

    /// Breaks rule (a), for the test that shows what it is good for.
    #[cfg(test)]
    pub(crate) fn inherit_while_active(&mut self, more_urgent: u32) {
        match &mut self.phase {
            Phase::Resting => {}
            Phase::Activated(activation) | Phase::Burst { activation, .. } => {
                activation.priority = activation.priority.max(more_urgent);
            }
        }
    }

    /// The world confirmed at `start` that it runs (rule c).
    pub fn start(&mut self, start: Instant) {
        if let Phase::Activated(activation) = self.phase {
            self.phase = Phase::Burst {
                activation,
                start,
                used: Service::ZERO,
            };
        }
    }

    pub(super) fn charge(&mut self, now: Instant, amount: Service) {
        if amount.is_zero() {
            return;
        }
        // Charged although no start was confirmed: the world began a burst of its own accord.
        self.start(now);
        match &mut self.phase {
            Phase::Burst {
                activation, used, ..
            } => {
                *used = used.saturating_add(amount);
                if *used >= activation.capacity {
                    self.end_burst();
                }
            }
            // Executed after the end of a burst, until the world stopped it: that counts as well.
            Phase::Resting | Phase::Activated(_) => {
                let distance = self.share.distance_ceil(amount);
                self.last.1 = self.last.1.saturating_add(amount);
                self.eligible = self.eligible.saturating_add(distance);
            }
        }
    }

    pub(super) fn settle_work(&mut self, work: bool) {
        if !work {
            self.end_burst();
        }
    }

    /// What was executed counts; the rest of the capacity is gone.
    pub fn end_burst(&mut self) {
        if let Phase::Burst { start, used, .. } = self.phase {
            self.eligible = start.saturating_add(self.share.distance_ceil(used));
            self.last = (start, used);
        }
        self.phase = Phase::Resting;
    }

    /// The mode has changed.
    pub fn set_utilization(&mut self, utilization: Utilization) {
        self.utilization = utilization;
    }

    /// The mode has risen, and its host has this period: a burst under way goes on with the capacity of the new mode
    /// (rule d). It ends if that is used up.
    pub fn resize(&mut self, period: Duration) {
        let capacity = self.capacity_for(period);
        let used = match &mut self.phase {
            Phase::Resting => return,
            Phase::Activated(activation) => {
                activation.capacity = capacity;
                Service::ZERO
            }
            Phase::Burst {
                activation, used, ..
            } => {
                activation.capacity = capacity;
                *used
            }
        };
        if used >= capacity {
            self.end_burst();
        }
    }

    /// The mode has risen: with a larger share the last burst counts for a shorter time, whether it is over or not.
    pub fn regain(&mut self) {
        if !self.utilization.exceeds(self.share) {
            return;
        }
        self.share = self.utilization;
        if self.phase == Phase::Resting {
            let (start, used) = self.last;
            let eligible = start.saturating_add(self.utilization.distance_ceil(used));
            self.eligible = self.eligible.min(eligible);
        }
    }

    pub(super) const fn remaining(&self) -> Service {
        match self.phase {
            Phase::Resting => Service::ZERO,
            Phase::Activated(activation) => activation.capacity,
            Phase::Burst {
                activation, used, ..
            } => activation.capacity.saturating_sub(used),
        }
    }

    pub(super) fn next_replenishment(&self, now: Instant) -> Option<Instant> {
        match self.phase {
            Phase::Resting if self.eligible > now => Some(self.eligible),
            Phase::Resting | Phase::Activated(_) | Phase::Burst { .. } => None,
        }
    }

    /// I1.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        match self.phase {
            Phase::Resting => true,
            Phase::Activated(activation) => !activation.capacity.is_zero(),
            Phase::Burst {
                activation, used, ..
            } => used < activation.capacity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now: u64) -> Instant {
        Instant::from_nanos(now)
    }

    fn activated(utilization: Utilization, period: u64) -> Pibs {
        let mut server = Pibs::new(utilization);
        let capacity = server.capacity_for(Duration::from_nanos(period));
        server.activate(Activation {
            on_behalf_of: ServerId(0),
            priority: 1,
            capacity,
        });
        server
    }

    #[test]
    fn the_next_burst_waits_from_the_confirmed_start_for_the_used_part_only() {
        let mut server = activated(Utilization::new(1, 4).unwrap(), 16);
        assert_eq!(server.remaining(), Service::from_nanos(4));
        server.start(at(9));
        server.charge(at(10), Service::from_nanos(1));
        server.settle_work(false);
        assert_eq!(server.eligible(), at(13));
        assert!(!server.is_activatable(at(12)) && server.is_activatable(at(13)));
    }

    #[test]
    fn capacities_round_down_and_distances_up() {
        let third = Utilization::new(1, 3).unwrap();
        assert_eq!(
            third.of_floor(Duration::from_nanos(10)),
            Service::from_nanos(3)
        );
        let two_thirds = Utilization::new(2, 3).unwrap();
        assert_eq!(
            two_thirds.distance_ceil(Service::from_nanos(3)),
            Duration::from_nanos(5)
        );
        assert_eq!(Utilization::new(3, 2), None);
        assert_eq!(
            Utilization::ZERO.of_floor(Duration::from_nanos(9)),
            Service::ZERO
        );
    }

    #[test]
    fn execution_beyond_a_burst_postpones_the_next_one() {
        let mut server = activated(Utilization::new(1, 4).unwrap(), 16);
        server.start(at(0));
        server.charge(at(4), Service::from_nanos(4));
        assert_eq!(server.eligible(), at(16));
        server.charge(at(6), Service::from_nanos(2));
        assert_eq!(server.eligible(), at(24));
    }
}
