//! `rms`, `dms` and `cms`: fixed priorities in one of the classic orders; jobs may run to completion.
//!
//! - `rms`: by rate, the shorter period first.
//! - `dms`: the shorter relative deadline first. In a set with one level the order is optimal among fixed
//!   priorities (Leung and Whitehead 1982), so there a no also means that no other order helps; with
//!   several levels it is not.
//! - `cms`: the higher criticality first, by rate inside a level. No task is delayed by one of lower
//!   criticality, which is why the order needs no enforcement to protect the critical tasks, and why it
//!   wastes so much: a critical task with a long period blocks all others (Huang, Gill and Lu, TECS
//!   2014, section 2.3).
//!
//! What is bounded: the response time of every task under preemptive fixed priorities, in the order of the
//! test (or by the problem's own priorities), where nothing is relied on to stop a job. The
//! guarantee is Vestal's: a job of task i meets its deadline in every run in which each job of every
//! task j executes for at most C_j(z_i).
//!
//! Equation (Joseph and Pandya 1986 with Vestal's execution times, RTSS 2007):
//! R_i = C_i(z_i) + sum over j in hp(i) of ceil(R_i / T_j) * C_j(z_i); the least solution is to be at
//! most D_i. Values C_j(l) above j's own level count as given; where a set gives none, the own
//! level's value continues.
//!
//! Assumptions: A1 one CPU, preemptive, no blocking, no overhead. A2 sporadic tasks with
//! D_i <= T_i. A3 releases of any phase ([`crate::Phasing::Arbitrary`]).
//!
//! # Exact where jobs run to completion, and why
//!
//! *Yes is right.* Take a run in which each job of every j executes for at most C_j(z_i), a job of
//! i released at r, and the last instant t0 <= r before which no job of i or hp(i) is pending. In
//! [t0, t0 + x) the tasks of hp(i) release at most ceil(x / T_j) jobs each, and i at most
//! ceil(x / T_i). For x = R_i <= D_i <= T_i all of these jobs together need at most R_i: at
//! t0 + R_i at the latest nothing of i or hp(i) is pending, and the job has finished by r + R_i.
//! Whether the tasks of hp(i) meet their own deadlines in that run does not matter, nor does it
//! matter whether C_j(z_i) exceeds D_j or T_j: their backlog is part of the same interval. Stopping
//! a job only removes work, so the yes holds with static limits, too.
//!
//! *No is right.* Let every task release its first job at 0 and further jobs as early as it may,
//! each job of j executing exactly C_j(z_i). The run is legal at level z_i. For every t <= D_i with
//! t < R_i the work released before t by i and hp(i) exceeds t, so the first job of i cannot have
//! finished: it misses if R_i > D_i.
//!
//! The policies `rms`, `dms` and `cms` stop a job at C_j(z_j) unless configured otherwise
//! ([`vestal_core::enforce::Enforcement::Static`]). As long as no task has a value above its own
//! level's, that run never exceeds a limit and the no stands. With such values the limits may save
//! what the equation does not count, so the test then reports itself as sufficient. It also does where
//! offsets are fixed and differ, because the run may be impossible
//! ([`crate::Phasing::Restricted`]). "Unschedulable" means: under *this* order, not under every
//! order.
//!
//! In a set with one level `rms` is the classic exact test for RM. Slow twin:
//! `crate::oracle::response` with `crate::oracle::Formula::Unenforced`, and
//! `crate::oracle::synchronous_response`, which executes the run of the second half tick by tick.
//! Complexity: pseudo-polynomial; O(n) tasks counted into one growing demand for each level.

use crate::bounds::{Charge, StaticBounds};
use crate::demand::Demand;
use crate::fixed_priority::{accepts_static, analyse_in_order};
use crate::outcome::{Kind, Outcome};
use crate::problem::Problem;
use crate::scratch::Scratch;
use vestal_core::order::ClassicOrder;

/// The answer for this order, with response times.
#[must_use]
pub(crate) fn analyse(problem: &Problem, rule: ClassicOrder) -> Outcome {
    let mut demand = Demand::of_analysis();
    let mut bounds = StaticBounds::new(Charge::Unenforced, &mut demand);
    analyse_in_order(problem, kind(problem), rule, &mut bounds)
}

/// Whether the condition holds.
#[must_use]
pub(crate) fn accepts(problem: &Problem, rule: ClassicOrder, scratch: &mut Scratch) -> bool {
    accepts_static(problem, rule, Charge::Unenforced, scratch)
}

/// Exact, unless a task has a value above its own level's: see the head of this file.
fn kind(problem: &Problem) -> Kind {
    let highest = problem.levels().highest().index();
    if problem
        .rows()
        .iter()
        .any(|row| row.wcet[highest] > row.own_wcet())
    {
        Kind::Sufficient
    } else {
        Kind::Exact
    }
}
