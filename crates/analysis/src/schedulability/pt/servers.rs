//! `pt:servers`: period transformation by plain deferrable servers on a fixed grid, to compare with.
//!
//! What is bounded: the response time of whole jobs where task i has a deferrable server of its own
//! with period Pi_i = floor(T_i / n_i) and capacity Theta_i = ceil(C_i(z_i) / n_i), replenished to
//! its capacity at every multiple of Pi_i since the start, whenever jobs are released. That is how
//! Huang, Gill and Lu (TECS 2014, section 5) carry period transformation out. The n_i and the
//! priorities are those of [`super`]. The guarantee is Vestal's, and stronger: a server's budget
//! protects each task from all others, whatever they need.
//!
//! Equation: every server gets its capacity in each period (Davis and Burns, RTSS 2005; the jitter of
//! deferrable servers by Strosnider, Lehoczky and Sha 1995),
//!
//! R_i = Theta_i + sum over j in hp(i) of ceil((R_i + Pi_j - Theta_j) / Pi_j) Theta_j <= Pi_i,
//!
//! and then the job is done when the least supply (Shin and Lee, RTSS 2003) covers it: in the worst
//! case the budget is used up just before the release at the earliest, and comes at the latest,
//!
//! R_i(l) = 2 (Pi_i - Theta_i) + a Pi_i + C_i(l) - a Theta_i <= D_i, a = ceil(C_i(l) / Theta_i) - 1.
//!
//! Assumptions: as for `pt`, but A5: budgets count from the start of the system.
//!
//! Kind: sufficient. The price of the grid is up to 2 (Pi_i - Theta_i): with D_i = T_i a task whose
//! server has just the capacity C_i / n_i is practically never accepted unless the server is full.
//! That is why the policy `pt` aligns slices with releases. Charging the release jitter to the
//! interference alone instead, as one might read the paper, is wrong: the own budget may be used up
//! when the job comes, and what a server leaves is lost at a replenishment.
//!
//! Slow twin: `pt::oracle::server_response`.

use crate::assumptions::trivially_infeasible;
use crate::fixed_point::{STEPS_MAX, Unbounded, least_fixed_point};
use crate::outcome::{Kind, Outcome, Reason};
use crate::parameters::task_id;
use crate::problem::Problem;
use crate::schedulability::pt::analyse_sliced;
use crate::schedulability::pt::slices::{Sliced, SlicedTables};
use crate::scratch::Scratch;
use vestal_core::Duration;

/// The test's answer with response times.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    analyse_sliced(problem, Kind::Sufficient, |order, position, _| {
        let task = &order[position];
        let (keeps_its_period, failing) = match keeps_its_period(order, position) {
            Ok(_) => (true, None),
            Err(Unbounded::AtLeast(_)) => (false, None),
            Err(Unbounded::Undecided) => (false, Some(Reason::SearchLimit { steps: STEPS_MAX })),
        };
        let response = |level| response_of(task, level).filter(|_| keeps_its_period);
        let responses: Vec<_> = (0..=task.row.criticality)
            .map(|level| response(level).map(Duration::from_nanos))
            .collect();
        let task = task_id(task.row.task);
        let is_too_small = responses.contains(&None);
        let failing = failing.unwrap_or(Reason::ServerTooSmall { task });
        (responses, is_too_small.then_some(failing))
    })
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, scratch: &mut Scratch) -> bool {
    let Scratch { own, ran_out, .. } = scratch;
    let sliced = own.of::<SlicedTables>();
    if trivially_infeasible(problem).is_some() || sliced.fill(problem).is_err() {
        return false;
    }
    let (order, _) = sliced.parts();
    (0..order.len()).all(|position| {
        let task = &order[position];
        response_of(task, task.row.criticality).is_some()
            && keeps_its_period(order, position)
                .inspect_err(|why| *ran_out |= matches!(why, Unbounded::Undecided))
                .is_ok()
    })
}

/// Pi and Theta.
fn server(task: &Sliced) -> (u64, u64) {
    (
        task.boundary_floor(1).min(task.row.period),
        task.granted_ceil(1),
    )
}

/// By when the server at this position of the order gets its capacity in each period, if that is within the period.
fn keeps_its_period(order: &[Sliced], position: usize) -> Result<u64, Unbounded> {
    let (period, capacity) = server(&order[position]);
    let needed = |window: u64| {
        let others = order[..position].iter().map(|other| {
            let (period, capacity) = server(other);
            let jitter = period.saturating_sub(capacity);
            let count = window.saturating_add(jitter).div_ceil(period);
            count.saturating_mul(capacity)
        });
        others.fold(capacity, u64::saturating_add)
    };
    match capacity <= period {
        true => least_fixed_point(capacity, period, needed),
        false => Err(Unbounded::AtLeast(capacity)),
    }
}

/// When the least supply covers C(level), if by the deadline.
fn response_of(task: &Sliced, level: usize) -> Option<u64> {
    let needed = task.enforced(level);
    let (period, capacity) = server(task);
    let Some(full) = needed.div_ceil(capacity).checked_sub(1) else {
        return Some(0);
    };
    let blackout = period.checked_sub(capacity)?.saturating_mul(2);
    let rest = needed - full.saturating_mul(capacity);
    let response = blackout
        .saturating_add(full.saturating_mul(period))
        .saturating_add(rest);
    (response <= task.row.deadline).then_some(response)
}
