//! What is looked at before a test's own condition: whether it can hold, and whether the test speaks of such tasks.

use crate::outcome::{Kind, Reason};
use crate::parameters::task_id;
use crate::problem::{Phasing, Problem};
use vestal_core::Task;

/// The task, if any, that needs more than its deadline when it is alone: C_i(z_i) > D_i.
///
/// Execution times never fall with the level, so this covers C_i(l) > D_i for every l <= z_i.
/// Checked before any iteration: a fixed point that starts above the deadline is not a bound.
pub(crate) fn trivially_infeasible(problem: &Problem) -> Option<Reason> {
    let row = problem
        .rows()
        .iter()
        .find(|row| row.own_wcet() > row.deadline)?;
    Some(Reason::WcetExceedsDeadline {
        task: task_id(row.task),
    })
}

/// What the answer of a test of `kind` is worth for this problem.
pub(crate) fn kind_for(problem: &Problem, kind: Kind) -> Kind {
    match (problem.phasing(), kind) {
        (Phasing::Restricted, Kind::Exact) => Kind::Sufficient,
        (Phasing::Restricted | Phasing::Arbitrary, _) => kind,
    }
}

/// The first task with a degraded budget that counts, for tests in which jobs are dropped instead. A task of the highest level never sees a mode above.
pub(crate) fn degraded(problem: &Problem) -> Option<Reason> {
    let highest = problem.levels().highest();
    let counts = |task: &Task| task.degraded.is_some() && task.criticality < highest;
    let index = problem.tasks().iter().position(counts)?;
    Some(Reason::DegradedBudget {
        task: task_id(index),
    })
}
