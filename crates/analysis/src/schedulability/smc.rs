//! `smc`: static mixed criticality. Fixed priorities, each job stopped at its own level's value.
//!
//! What is bounded: the response time of every task under preemptive fixed priorities where a job
//! of task j is stopped once it has executed C_j(z_j). The guarantee is Vestal's: a job of task i
//! meets its deadline in every run in which each job of every task j needs at most C_j(z_i).
//! Priorities are the problem's own, or Audsley's.
//!
//! Equation (Vestal, RTSS 2007; Baruah, Burns and Davis, RTSS 2011, section III):
//! R_i = C_i(z_i) + sum over j in hp(i) of ceil(R_i / T_j) * C_j(min(z_i, z_j)) <= D_i.
//! For z_j > z_i the assumption of level z_i itself limits j to C_j(z_i); for z_j <= z_i the
//! enforcement stops it at C_j(z_j) <= C_j(z_i).
//!
//! Assumptions: A1 one CPU, preemptive, no blocking, no overhead. A2 sporadic tasks with
//! D_i <= T_i. A3 releases of any phase. A4 a job is stopped exactly at C_j(z_j), at the latest
//! then it runs only in the background.
//!
//! # Exact, and why
//!
//! Under A4 the work that the jobs of j can impose on i in the runs of level z_i is exactly that of
//! a sporadic task with execution time C_j(min(z_i, z_j)), and every amount up to it is possible
//! for all tasks at once. The proof in [`super::classic`] applies word for word. Audsley's algorithm
//! is optimal for this test, so without given priorities a no means that no fixed-priority order
//! is schedulable under this enforcement.
//!
//! # Variant `printed`
//!
//! Huang, Gill and Lu (TECS 2014, equation 2) print C_j(z_j) for each interfering job, although
//! their text speaks of the demand at the confidence of z_i. The printed form charges the
//! worst of every level at once: it is safe and needlessly pessimistic, so the variant is only
//! sufficient.
//!
//! Slow twins: `crate::oracle::Formula::Enforced` and `crate::oracle::Formula::Own` with
//! `crate::oracle::assign` and the exhaustive `crate::oracle::some_order_passes`.
//! A campaign that simulates accepted sets under static enforcement would refute it by one miss.

use crate::assumptions::trivially_infeasible;
use crate::audsley;
use crate::bounds::{Charge, StaticBounds};
use crate::demand::Demand;
use crate::fixed_priority::{accepts_static, analyse_or_assign};
use crate::outcome::{Kind, Outcome};
use crate::problem::Problem;
use crate::scratch::Scratch;
use vestal_core::order::ClassicOrder;

/// The answer of a test of this kind that charges each job so, with response times.
#[must_use]
pub(crate) fn analyse(problem: &Problem, kind: Kind, charge: Charge) -> Outcome {
    let mut demand = Demand::of_analysis();
    analyse_or_assign(problem, kind, &mut StaticBounds::new(charge, &mut demand))
}

/// Whether the condition holds.
#[must_use]
pub(crate) fn accepts(problem: &Problem, charge: Charge, scratch: &mut Scratch) -> bool {
    if problem.priorities().is_some() {
        // The rule is not used: the problem's own priorities go before it.
        return accepts_static(problem, ClassicOrder::DeadlineMonotonic, charge, scratch);
    }
    let Scratch {
        tables,
        demands: [demand, ..],
        ..
    } = scratch;
    trivially_infeasible(problem).is_none()
        && audsley::assign(
            problem,
            tables,
            &mut StaticBounds::new(charge, demand),
            |_| {},
        )
}
