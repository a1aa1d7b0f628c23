//! `edf-vd` without its guard, and with virtual deadlines rounded the wrong way.

use crate::assumptions::trivially_infeasible;
use crate::outcome::{Kind, Outcome, TaskOutcome};
use crate::parameters::{Parameters, Ratio};
use crate::problem::Problem;
use crate::rational::Fraction;
use crate::schedulability::edf_vd::{ExactSums, Sums, outside, virtual_deadline_floor};
use vestal_core::Duration;

/// The mistake: x = b / (1 - a) and x a + c <= 1 are computed whatever a is. Where the tasks of
/// level 0 ask for more than the CPU, x is negative and the comparison holds; a negative x cannot
/// be used and is replaced by 1.
pub(crate) fn analyse_without_guard(problem: &Problem) -> Outcome {
    outcome(problem, accepts_without_guard(problem), largest_factor)
}

pub(crate) fn accepts_without_guard(problem: &Problem) -> bool {
    if outside(problem).is_some() || trivially_infeasible(problem).is_some() {
        return false;
    }
    let sums = ExactSums::of(problem.rows());
    sums.pass() || a_is_above_one(&sums) && c_is_below_the_nonsense(&sums)
}

fn a_is_above_one(sums: &ExactSums) -> bool {
    !sums.a.is_at_most(&Fraction::new(1, 1))
}

/// x a + c <= 1 for x = -b / (a - 1): c <= 1 is more than enough, and a c above 1 is refused like
/// any other overload.
fn c_is_below_the_nonsense(sums: &ExactSums) -> bool {
    sums.c.is_at_most(&Fraction::new(1, 1))
}

/// The mistake: the largest x, (1 - c) / a, is rounded up, to a multiple of 1/8. A virtual deadline
/// later than x T_i leaves the tasks of level 1 too little time after the change of mode.
///
/// The step is coarse on purpose. Rounding each x T_i up to the next whole number is not covered by
/// the theorem either, but random runs with whole release and execution times do not refute it: the
/// work of level 0 that the later virtual deadline lets pass grows by less than a < 1.
pub(crate) fn analyse_rounded_up(problem: &Problem) -> Outcome {
    outcome(problem, accepts_by_theorem(problem), factor_in_eighths_ceil)
}

pub(crate) fn accepts_by_theorem(problem: &Problem) -> bool {
    outside(problem).is_none()
        && trivially_infeasible(problem).is_none()
        && ExactSums::of(problem.rows()).pass()
}

fn factor_in_eighths_ceil(sums: &ExactSums) -> Option<Ratio> {
    let Ratio {
        numerator,
        denominator,
    } = largest_factor(sums)?;
    let eighths = (u128::from(numerator) * 8).div_ceil(u128::from(denominator));
    Some(Ratio {
        numerator: u64::try_from(eighths).unwrap_or(8),
        denominator: 8,
    })
}

/// As the real test.
fn largest_factor(sums: &ExactSums) -> Option<Ratio> {
    if sums.pass() { sums.factor() } else { None }
}

fn outcome(problem: &Problem, holds: bool, factor: fn(&ExactSums) -> Option<Ratio>) -> Outcome {
    let count = problem.tasks().len();
    if let Some(reason) = outside(problem) {
        return Outcome::outside(Kind::Unsafe, reason, count);
    }
    let rows = problem.rows();
    let tasks = vec![TaskOutcome::default(); count];
    if !holds {
        let why = trivially_infeasible(problem).unwrap_or_else(|| Sums::of(rows).reason());
        return Outcome::decided(Kind::Unsafe, Some(why), tasks);
    }
    let one = Ratio {
        numerator: 1,
        denominator: 1,
    };
    let factor = factor(&ExactSums::of(rows)).unwrap_or(one);
    let deadlines = rows.iter().map(|row| {
        let nanos = virtual_deadline_floor(row, factor);
        Duration::from_nanos(nanos.clamp(1, row.period))
    });
    let mut outcome = Outcome::decided(Kind::Unsafe, None, tasks);
    outcome.parameters = Parameters {
        deadline_factor: Some(factor),
        virtual_deadlines: Some(deadlines.collect()),
        ..Parameters::default()
    };
    outcome
}
