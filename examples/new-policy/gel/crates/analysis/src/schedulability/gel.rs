//! `gel`: any work-conserving order, limits in two halves.
//!
//! Condition: 4 sum over all tasks of C_j(z_j) <= min over all tasks of D_i, with D_i <= T_i.
//!
//! Why it is enough: let L = min D_i / 2, and let no deadline have been missed so far. A half that may be
//! executed from t on finds at most one job of each task pending, and until t + L each task releases at most
//! one more, as L < T_i. So whatever the order is, the CPU is busy with at most 2 sum C_j(z_j) <= L of
//! other work and of it, and the half is complete by t + L: the first one before the second one begins, that
//! one at the deadline.
//!
//! Kind: sufficient. It chooses the priority points Y_i = D_i unless they are given.

use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::parameters::Parameters;
use crate::problem::Problem;
use crate::scratch::Scratch;

/// The test's answer with priority points. There are no response times.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    let why = (!holds(problem)).then(|| {
        Reason::Own("four times the sum of C_i(z_i) exceeds the shortest deadline".to_owned())
    });
    let tasks = vec![TaskOutcome::default(); problem.tasks().len()];
    let points = problem.given().priority_points.clone();
    let deadlines = || problem.tasks().iter().map(|task| task.deadline).collect();
    Outcome {
        parameters: Parameters {
            priority_points: Some(points.unwrap_or_else(deadlines)),
            ..Parameters::default()
        },
        ..Outcome::decided(Kind::Sufficient, why, tasks)
    }
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, _: &mut Scratch) -> bool {
    holds(problem)
}

fn holds(problem: &Problem) -> bool {
    let rows = problem.rows();
    let work: u128 = rows.iter().map(|row| u128::from(row.own_wcet())).sum();
    rows.iter().all(|row| 4 * work <= u128::from(row.deadline))
}
