//! Policies: named compositions of order, enforcement and placement.

use crate::enforce::Enforcement;
use crate::order::ClassicOrder;

/// A named composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// The name on the command line and in results.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Who goes first.
    pub order: OrderRule,
    /// How long jobs may run.
    pub enforcement: Enforcement,
    /// The schedulability test that finds its priorities and states its promise, if the order is
    /// [`OrderRule::Assigned`]; otherwise the test that states its promise.
    pub test: &'static str,
}

/// Where a policy's task priorities come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderRule {
    /// From the tasks alone.
    Classic(ClassicOrder),
    /// From an analysis (Audsley's assignment), a parameter file or the task set.
    Assigned,
}

/// Every policy of this version, in the order in which they are listed.
pub const POLICIES: [Policy; 5] = [
    Policy {
        name: "rms",
        summary: "rate-monotonic priorities, static limits C_i(z_i)",
        order: OrderRule::Classic(ClassicOrder::RateMonotonic),
        enforcement: Enforcement::Static,
        test: "rms",
    },
    Policy {
        name: "dms",
        summary: "deadline-monotonic priorities, static limits C_i(z_i)",
        order: OrderRule::Classic(ClassicOrder::DeadlineMonotonic),
        enforcement: Enforcement::Static,
        test: "dms",
    },
    Policy {
        name: "cms",
        summary: "criticality-monotonic priorities, static limits C_i(z_i)",
        order: OrderRule::Classic(ClassicOrder::CriticalityMonotonic),
        enforcement: Enforcement::Static,
        test: "cms",
    },
    Policy {
        name: "smc",
        summary: "static mixed criticality: Audsley's priorities, static limits C_i(z_i)",
        order: OrderRule::Assigned,
        enforcement: Enforcement::Static,
        test: "smc",
    },
    Policy {
        name: "amc",
        summary: "adaptive mixed criticality: Audsley's priorities, limits C_i(mode), mode 0 at idle",
        order: OrderRule::Assigned,
        enforcement: Enforcement::Adaptive,
        test: "amc-rtb",
    },
];

/// The policy of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Policy> {
    POLICIES.iter().find(|policy| policy.name == name)
}
