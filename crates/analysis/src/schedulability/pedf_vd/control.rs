//! `pedf-vd` that forgets what overruns ask for.

use super::{Order, outcome, place};
use crate::assumptions::trivially_infeasible;
use crate::outcome::{Kind, Outcome, TaskOutcome};
use crate::parameters::{Parameters, Ratio};
use crate::problem::{Problem, Row};
use crate::rational::Fraction;
use crate::reason::{PlacementRule, Reason};
use crate::schedulability::edf_vd::{ExactSums, Sums, outside, virtual_deadline_floor};
use vestal_core::Duration;

/// The mistake: a CPU takes a task if a + b <= 3/4, what its tasks need in mode 0; c, what those of level 1 need
/// when they overrun, is not looked at, and nothing else is at the end. Where no factor exists, the virtual
/// deadlines are the real ones.
pub(crate) fn analyse_mode_0(problem: &Problem) -> Outcome {
    let count = problem.tasks().len();
    if let Some(reason) = outside(problem) {
        return Outcome::outside(Kind::Unsafe, reason, count);
    }
    if let Some(reason) = trivially_infeasible(problem) {
        let tasks = vec![TaskOutcome::default(); count];
        return Outcome::decided(Kind::Unsafe, Some(reason), tasks);
    }
    let (cpus, left_over) = place(problem, Order::File, mode_0_is_within_three_quarters);
    let found = match left_over {
        Some((task, tried)) => Err(Reason::FitsNowhere {
            task,
            rule: PlacementRule::ThreeQuarters,
            tried,
        }),
        None => Ok(cpus.iter().map(|cpu| parameters(&cpu.rows)).collect()),
    };
    outcome(Kind::Unsafe, &cpus, count, found)
}

fn mode_0_is_within_three_quarters(_: &Sums, rows: &[Row]) -> bool {
    let ExactSums { a, b, .. } = ExactSums::of(rows);
    a.plus(&b).is_at_most(&Fraction::new(3, 4))
}

fn parameters(rows: &[Row]) -> Parameters {
    let sums = ExactSums::of(rows);
    let one = Ratio {
        numerator: 1,
        denominator: 1,
    };
    let factor = sums.pass().then(|| sums.factor()).flatten().unwrap_or(one);
    let deadlines = rows.iter().map(|row| {
        let nanos = virtual_deadline_floor(row, factor);
        Duration::from_nanos(nanos.clamp(1, row.period))
    });
    Parameters {
        virtual_deadlines: Some(deadlines.collect()),
        ..Parameters::default()
    }
}
