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
    /// The schedulability test that states its promise, and that finds its priorities or virtual
    /// deadlines where the order leaves them to an analysis.
    pub test: &'static str,
}

/// Where a policy's order comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderRule {
    /// From the tasks alone.
    Classic(ClassicOrder),
    /// From an analysis (Audsley's assignment), a parameter file or the task set.
    Assigned,
    /// Rate-monotonic over slices, whose numbers an analysis or a parameter file gives.
    Slices,
    /// There are none: the job that is due first goes first.
    EarliestDeadline(VirtualDeadlines),
    /// Each job has a priority of its own, from lists that an analysis or a parameter file gives.
    JobLists(ListRule),
}

/// What happens to the job priorities above those of pending jobs when jobs arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListRule {
    /// The heads of the lists are used again.
    Reuse,
    /// They are computed anew.
    Recomputation,
}

/// When a job counts as due while the mode is 0; in higher modes its real deadline counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VirtualDeadlines {
    /// At its real deadline in every mode.
    Real,
    /// At its release plus a shorter time, which an analysis or a parameter file gives.
    Assigned,
}

/// Every policy of this version, in the order in which they are listed.
pub const POLICIES: [Policy; 11] = [
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
        name: "pt",
        summary: "period transformation: jobs in slices, rate-monotonic over slice periods",
        order: OrderRule::Slices,
        enforcement: Enforcement::Static,
        test: "pt",
    },
    Policy {
        name: "amc",
        summary: "adaptive mixed criticality: Audsley's priorities, limits C_i(mode), mode 0 at idle",
        order: OrderRule::Assigned,
        enforcement: Enforcement::Adaptive,
        test: "amc-rtb",
    },
    Policy {
        name: "zss",
        summary: "rate-monotonic priorities, jobs without slack suspend less critical tasks",
        order: OrderRule::Classic(ClassicOrder::RateMonotonic),
        enforcement: Enforcement::ZeroSlack,
        test: "zss",
    },
    Policy {
        name: "plrs",
        summary: "fixed job priorities from lists that are reused, limits C_i(mode), mode 0 at idle",
        order: OrderRule::JobLists(ListRule::Reuse),
        enforcement: Enforcement::Adaptive,
        test: "fjp-mode",
    },
    Policy {
        name: "ocbp",
        summary: "fixed job priorities computed anew at arrivals, limits C_i(mode), mode 0 at idle",
        order: OrderRule::JobLists(ListRule::Recomputation),
        enforcement: Enforcement::Adaptive,
        test: "fjp-mode",
    },
    Policy {
        name: "edf",
        summary: "earliest deadline first, static limits C_i(z_i)",
        order: OrderRule::EarliestDeadline(VirtualDeadlines::Real),
        enforcement: Enforcement::Static,
        test: "edf",
    },
    Policy {
        name: "edf-vd",
        summary: "earliest virtual deadline first, limits C_i(mode), mode 0 at idle",
        order: OrderRule::EarliestDeadline(VirtualDeadlines::Assigned),
        enforcement: Enforcement::Adaptive,
        test: "edf-vd",
    },
];

/// The policy of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Policy> {
    POLICIES.iter().find(|policy| policy.name == name)
}
