//! `amc-rtb`: adaptive mixed criticality, response-time bound, for any number of levels.
//!
//! What is bounded: the response time of every task under preemptive fixed priorities with adaptive
//! enforcement. The mode starts at 0 and rises to l + 1 when a job has executed C(l) without
//! completing; tasks of a level below the mode are dropped, pending jobs included; at an idle
//! instant the mode is 0 again. The guarantee: a job of task i meets its deadline in every run in
//! which the mode never exceeds z_i. Priorities are the problem's own, or Audsley's.
//!
//! Equation (Baruah, Burns and Davis, RTSS 2011, section IV, for two levels; Fleming and Burns, WMC
//! 2013, for more): for each level L = 0..=z_i,
//!
//! R_i(L) = C_i(L) + sum over j in hp(i), z_j >= L of ceil(R_i(L) / T_j) * C_j(L)
//!                 + sum over j in hp(i), z_j < L of ceil(R_i(z_j) / T_j) * C_j(z_j) <= D_i.
//!
//! A task of a level below L interferes only until the mode leaves its level, and that happens
//! before i would have finished at that level: at R_i(z_j) at the latest.
//!
//! Assumptions: A1 one CPU, preemptive, no blocking, no overhead. A2 sporadic tasks with
//! D_i <= T_i. A3 a job of a task below the mode is discarded, never resumed; A4 no task keeps a
//! degraded budget in modes above its own level; where one does, the equation is that of `degraded`. A5 an overrun is noticed exactly at the budget.
//!
//! Kind: sufficient. A no means nothing: the bound lets every change of mode happen at the worst
//! instant for each task separately, and charges the higher value to all jobs of a window.
//! Audsley's algorithm is optimal for this test. It accepts what [`super::smc`] accepts, on the
//! same priorities: R_i(z_j) <= R_i(L), so no term is larger.
//!
//! Monotone in L: below R_i(L), the right-hand side for L + 1 is at least the one for L, because
//! the tasks of level L count until R_i(L) and the others have grown. So R_i(L) <= R_i(L + 1), the
//! search for L + 1 continues where the one for L ended, and R_i(z_i) <= D_i decides.
//!
//! Slow twins: `crate::oracle::Formula::Adaptive` with `crate::oracle::assign` and
//! `crate::oracle::some_order_passes`. A campaign that simulates accepted sets under adaptive
//! enforcement would refute it by one miss at a guaranteed level; `crate::controls` (feature
//! `controls`) holds the wrong variants that such a campaign has to find.

#[cfg(feature = "controls")]
pub(crate) mod control;
mod degraded;
pub mod steady;

use crate::assumptions::trivially_infeasible;
use crate::audsley::{self, assign_one_by_one};
use crate::bounds::Bounds;
use crate::demand::{Bound, Demand};
use crate::fixed_priority::{accepts_in_order, analyse_or, analyse_or_assign};
use crate::outcome::{Kind, Outcome, Reason};
use crate::problem::{Problem, Row};
use crate::scratch::Scratch;
use degraded::{Budgets, DegradedBounds};
use vestal_core::order::ClassicOrder;

/// The test's answer with response times; `responses[L]` is R_i(L), of a task with a degraded budget also for the levels
/// above its own.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    let mut demand = Demand::of_analysis();
    if let Some(budgets) = Budgets::of(problem) {
        if let Some(reason) = with_overheads(problem) {
            return Outcome::outside(Kind::Sufficient, reason, problem.tasks().len());
        }
        let mut bounds = DegradedBounds::new(&budgets, &mut demand);
        return analyse_or(
            problem,
            Kind::Sufficient,
            &mut bounds,
            |tables, bounds, position| {
                assign_one_by_one(problem, tables, |row, set| bounds.pass(row, set), position);
            },
        );
    }
    analyse_or_assign(
        problem,
        Kind::Sufficient,
        &mut AdaptiveBounds::new(&mut demand),
    )
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, scratch: &mut Scratch) -> bool {
    if trivially_infeasible(problem).is_some() {
        return false;
    }
    let Scratch {
        tables,
        demands: [demand, ..],
        ..
    } = scratch;
    // The rule is not used: the problem's own priorities go before it.
    let unused = ClassicOrder::DeadlineMonotonic;
    let are_given = problem.priorities().is_some();
    if let Some(budgets) = Budgets::of(problem) {
        let mut bounds = DegradedBounds::new(&budgets, demand);
        return with_overheads(problem).is_none()
            && match are_given {
                true => accepts_in_order(problem, unused, tables, &mut bounds),
                false => {
                    assign_one_by_one(problem, tables, |row, set| bounds.pass(row, set), |_| {})
                }
            };
    }
    let mut bounds = AdaptiveBounds::new(demand);
    match are_given {
        true => accepts_in_order(problem, unused, tables, &mut bounds),
        false => audsley::assign(problem, tables, &mut bounds, |_| {}),
    }
}

/// What a rise costs tasks that go on is in no formula of overheads.
fn with_overheads(problem: &Problem) -> Option<Reason> {
    problem.overheads().map(|_| Reason::OverheadsNotTaken {
        what: "overheads of tasks that keep a degraded budget",
    })
}

/// R_U(L) of the equation above for all of a set. Sorted by criticality, the tasks below level L
/// are the first ones of the set: their jobs stay as counted at R_U(z_j), and are not looked at
/// again.
#[derive(Debug)]
pub(super) struct AdaptiveBounds<'a> {
    demand: &'a mut Demand,
    /// How many tasks are below the level last asked for.
    below: usize,
}

impl<'a> AdaptiveBounds<'a> {
    pub(super) fn new(demand: &'a mut Demand) -> Self {
        Self { demand, below: 0 }
    }
}

impl Bounds for AdaptiveBounds<'_> {
    fn is_undecided(&self) -> bool {
        self.demand.is_undecided()
    }

    fn load(&mut self, set: &[Row]) {
        self.below = 0;
        self.demand.clear();
        for row in set {
            self.demand.add(row.period, row.wcet[0]);
        }
    }

    fn at(&mut self, set: &[Row], level: usize, limit: u64) -> Bound {
        if level > 0 {
            while set
                .get(self.below)
                .is_some_and(|row| row.criticality < level)
            {
                self.below += 1;
            }
            for (index, row) in set.iter().enumerate().skip(self.below) {
                self.demand.raise(index, row.wcet[level]);
            }
        }
        self.demand.solve(self.below, limit)
    }
}
