//! `amc-ub`: what every test for adaptive mixed criticality has to ask for.
//!
//! What is bounded: the response time of every task in each mode by itself, as if the mode never changed (Missimer,
//! Missimer and West, 2016, section V-A: an upper bound on what any test can accept; the two steady states of Baruah,
//! Burns and Davis, RTSS 2011). For each level L up to z_i, and with a degraded budget up to the highest criticality,
//!
//! R_i(L) = c_i(L) + sum over j in hp(i) of ceil(R_i(L) / T_j) * c_j(L) <= D_i,
//!
//! where c_j(L) is C_j(L) for z_j >= L, else min(C_j(z_j), G_j) with a degraded budget G_j, and 0 without one.
//!
//! Kind: necessary. Where it fails, some run breaks the guarantee of adaptive enforcement: all tasks with c(L) > 0, and no
//! others, release together, as often as they may from then on, and every job executes c(L) and no more. Nobody is
//! dropped or stopped in that run whenever the mode changes, and none of its jobs exceeds C(L); in it the response time of i
//! is R_i(L). Sporadic tasks may do that. Where it holds nothing is known. Audsley's algorithm is optimal for it, so
//! that a no without given priorities is one for all priorities.

use crate::assumptions::trivially_infeasible;
use crate::audsley::assign_one_by_one;
use crate::bounds::Bounds;
use crate::demand::{Bound, Demand};
use crate::fixed_priority::{accepts_in_order, analyse_or};
use crate::outcome::{Kind, Outcome, Verdict};
use crate::problem::{Phasing, Problem, Row};
use crate::scratch::Scratch;
use vestal_core::order::ClassicOrder;

/// The test's answer with the response times of steady states; `responses[L]` is R_i(L).
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    let mut demand = Demand::of_analysis();
    let mut bounds = SteadyBounds::new(problem, &mut demand);
    let kind = Kind::Necessary;
    let mut outcome = analyse_or(problem, kind, &mut bounds, |tables, bounds, position| {
        assign_one_by_one(problem, tables, |row, set| bounds.pass(row, set), position);
    });
    // The run that breaks a guarantee may not exist.
    if problem.phasing() == Phasing::Restricted {
        outcome.verdict = Verdict::NotProven;
    }
    outcome
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
    let mut bounds = SteadyBounds::new(problem, demand);
    match problem.priorities() {
        Some(_) => {
            let unused = ClassicOrder::DeadlineMonotonic;
            accepts_in_order(problem, unused, tables, &mut bounds)
        }
        None => assign_one_by_one(problem, tables, |row, set| bounds.pass(row, set), |_| {}),
    }
}

#[derive(Debug)]
struct SteadyBounds<'a> {
    problem: &'a Problem,
    /// The highest criticality of a task.
    highest: usize,
    demand: &'a mut Demand,
}

impl<'a> SteadyBounds<'a> {
    fn new(problem: &'a Problem, demand: &'a mut Demand) -> Self {
        let highest = problem.rows().iter().map(|row| row.criticality).max();
        Self {
            problem,
            highest: highest.unwrap_or(0),
            demand,
        }
    }

    fn pass(&mut self, row: &Row, set: &[Row]) -> bool {
        let is_found = |bound| matches!(bound, Bound::Found(_));
        (0..self.levels(row)).all(|level| is_found(self.at(set, level, row.deadline)))
    }

    /// c(L); `None` without one. Here what a job needs is what it takes: nothing is assumed of one that needs nothing.
    fn cost(&self, row: &Row, level: usize) -> Option<u64> {
        if row.criticality >= level {
            return Some(row.exact_wcet(level));
        }
        let budget = self.problem.tasks()[row.task].degraded?;
        Some(budget.as_nanos().min(row.own_wcet()))
    }
}

impl Bounds for SteadyBounds<'_> {
    fn is_undecided(&self) -> bool {
        self.demand.is_undecided()
    }

    fn levels(&self, row: &Row) -> usize {
        match self.cost(row, self.highest) {
            Some(_) => self.highest.max(row.criticality) + 1,
            None => row.criticality + 1,
        }
    }

    fn load(&mut self, _: &[Row]) {}

    fn at(&mut self, set: &[Row], level: usize, limit: u64) -> Bound {
        self.demand.clear();
        for row in set {
            if let Some(cost) = self.cost(row, level) {
                self.demand.add(row.period, cost);
            }
        }
        self.demand.solve(0, limit)
    }
}
