//! `edf-vd` without its guard, and with virtual deadlines rounded the wrong way.

use crate::fixed_priority::hopeless;
use crate::outcome::{Kind, Outcome, Parameters, Ratio, TaskOutcome};
use crate::problem::{Problem, Row};
use crate::rational::Fraction;
use crate::schedulability::edf_vd::{ExactSums, Sums, outside};
use vestal_core::Duration;

/// The mistake: x = b / (1 - a) and x a + c <= 1 are computed whatever a is. Where the tasks of
/// level 0 ask for more than the CPU, x is negative and the comparison holds; a negative x cannot
/// be used and is replaced by 1.
pub(super) fn analyse_without_guard(problem: &Problem) -> Outcome {
    outcome(problem, accepts_without_guard(problem), |row, factor| {
        // As the real test.
        let product = u128::from(row.period) * u128::from(factor.numerator);
        product / u128::from(factor.denominator)
    })
}

pub(super) fn accepts_without_guard(problem: &Problem) -> bool {
    if outside(problem).is_some() || hopeless(problem).is_some() {
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

/// The mistake: V_i = ceil(x T_i) with the largest x that keeps mode 1 safe. Mode 0 gains what
/// mode 1 loses: a virtual deadline later than x T_i leaves the tasks of level 1 too little time
/// after the change.
pub(super) fn analyse_rounded_up(problem: &Problem) -> Outcome {
    outcome(problem, accepts_rounded_up(problem), |row, factor| {
        let product = u128::from(row.period) * u128::from(factor.numerator);
        product.div_ceil(u128::from(factor.denominator))
    })
}

pub(super) fn accepts_rounded_up(problem: &Problem) -> bool {
    outside(problem).is_none()
        && hopeless(problem).is_none()
        && ExactSums::of(problem.rows()).pass()
}

fn outcome(problem: &Problem, holds: bool, deadline: fn(&Row, Ratio) -> u128) -> Outcome {
    let count = problem.tasks().len();
    if let Some(reason) = outside(problem) {
        return Outcome::outside(Kind::Unsafe, reason, count);
    }
    let rows = problem.rows();
    let tasks = vec![TaskOutcome::default(); count];
    if !holds {
        let why = hopeless(problem).unwrap_or_else(|| Sums::of(rows).reason());
        return Outcome::decided(Kind::Unsafe, Some(why), tasks);
    }
    let one = Ratio {
        numerator: 1,
        denominator: 1,
    };
    let sums = ExactSums::of(rows);
    let factor = if sums.pass() { sums.factor() } else { None };
    let factor = factor.unwrap_or(one);
    let deadlines = rows.iter().map(|row| {
        let nanos = if row.criticality == 0 {
            row.period
        } else {
            u64::try_from(deadline(row, factor)).unwrap_or(row.period)
        };
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
