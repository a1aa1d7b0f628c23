//! `edf-vd`: EDF with virtual deadlines, two levels, as published.
//!
//! What is decided: whether a factor x exists such that EDF with deadlines shortened to x T_i for
//! the tasks of level 1 in mode 0, and real deadlines in mode 1, keeps the guarantee of adaptive
//! enforcement: no task misses while the mode is 0, and the tasks of level 1 never miss. The mode
//! rises when a job of level 1 has executed C_i(0) without completing; the tasks of level 0 are
//! dropped then; at an idle instant the mode is 0 again.
//!
//! Condition (Baruah, Bonifaci, D'Angelo, Li, Marchetti-Spaccamela, van der Ster and Stougie, ECRTS
//! 2012). With a = sum over z_i = 0 of C_i(0) / T_i, and b and c the sums over z_i = 1 of
//! C_i(0) / T_i and C_i(1) / T_i:
//!
//! 1. a + c <= 1: plain EDF does, x = 1.
//! 2. Else a < 1, c <= 1 and a b <= (1 - a) (1 - c): any x with b / (1 - a) <= x <= (1 - c) / a.
//!    The lower end keeps mode 0 schedulable (Theorem 1), the upper end mode 1 (Theorem 2). With
//!    a + c > 1 the upper end is below 1, so x is a factor to shorten by. The upper end is used.
//!
//! a < 1 has to be asked for: beyond it b / (1 - a) turns negative, and every comparison with it
//! holds. Leaving out step 1 rejects sets that need no virtual deadlines at all.
//!
//! Assumptions: A1 one CPU, preemptive, no blocking, no overhead. A2 sporadic tasks, D_i = T_i. A3
//! two levels. A4 no task keeps a degraded budget. A5 an overrun is noticed exactly at C_i(0).
//! With overheads a monitor may be one more task of level 1, whose overruns are looked for that late: Lemma IV.1 of Sigrist
//! et al. (RTAS 2015; [`crate::overheads`]), whose condition, with the least x, is step 2.
//! Outside of them the answer is *not proven*. Kind: sufficient. Sums and products are exact
//! (`rational`).
//!
//! # Whole nanoseconds
//!
//! The engine takes virtual deadlines V_i in whole nanoseconds, and rounding x T_i in either
//! direction costs something: up, mode 1 may fail; down, mode 0. With V_i = floor(x T_i) mode 1 is
//! safe (`edf_vd_given` has the argument), and mode 0 is if sum over z_i = 1 of
//! C_i(0) / V_i + a <= 1, which is checked. Where virtual deadlines are given, none are chosen, and
//! those are decided about. If the check fails for the largest x, there is nothing to be gained from
//! smaller ones: they make every V_i smaller or leave it, and the sum larger. Then [`Parameters`] has
//! the factor but no virtual deadlines: the set is schedulable by the theorem, with deadlines that are not
//! whole numbers. Periods of microseconds and more lose nothing measurable; sets with periods of a
//! few nanoseconds do.
//!
//! Slow twin: `tests/schedulability/edf_vd.rs` repeats the condition in fractions of machine words, and looks for
//! integer deadlines by trying all of them. A campaign that simulates accepted sets would refute
//! the test by one miss; `crate::controls` holds a variant without the guard and one with
//! a factor rounded up, which it has to find.

#[cfg(feature = "controls")]
pub(crate) mod control;
mod given;
pub mod util;

use crate::assumptions::trivially_infeasible;
use crate::charge;
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::parameters::task_id;
use crate::parameters::{Parameters, Ratio};
use crate::problem::{Problem, Row};
use crate::rational::{Bracket, Fraction};
use crate::scratch::Scratch;
use std::borrow::Cow;
use vestal_core::Duration;

/// The test's answer with factor and virtual deadlines. There are no response times.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    analyse_by(problem, Sums::pass_exact_condition)
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, _: &mut Scratch) -> bool {
    accepts_by(problem, Sums::pass_exact_condition)
}

/// The answer of a test whose condition on the sums implies that of this file.
pub(super) fn analyse_by(problem: &Problem, condition: fn(&Sums, &[Row]) -> bool) -> Outcome {
    let count = problem.tasks().len();
    if let Some(reason) = outside(problem) {
        return Outcome::outside(Kind::Sufficient, reason, count);
    }
    let tasks = vec![TaskOutcome::default(); count];
    if let Some(reason) = trivially_infeasible(problem) {
        return Outcome::decided(Kind::Sufficient, Some(reason), tasks);
    }
    let given = problem.given().virtual_deadlines.as_deref();
    match decide(problem, problem.rows(), given, condition) {
        Err(reason) => Outcome::decided(Kind::Sufficient, Some(reason), tasks),
        Ok(parameters) => Outcome {
            parameters,
            ..Outcome::decided(Kind::Sufficient, None, tasks)
        },
    }
}

/// The tasks of `rows`, and behind them a monitor that is scheduled among them, if there is one.
pub(crate) fn with_monitor<'a>(problem: &Problem, rows: &'a [Row]) -> Cow<'a, [Row]> {
    let place = problem.tasks().len();
    let monitor = problem
        .overheads()
        .and_then(|them| charge::monitor(them, place));
    match monitor {
        None => Cow::Borrowed(rows),
        Some(monitor) => Cow::Owned(rows.iter().copied().chain([monitor]).collect()),
    }
}

/// The parameters of tasks that share a CPU, perhaps with a monitor, or why they are not proved schedulable there. `given`
/// virtual deadlines are those of `rows`, in that order. The assumptions and C_i(z_i) <= T_i must have been checked.
pub(crate) fn decide(
    problem: &Problem,
    rows: &[Row],
    given: Option<&[Duration]>,
    condition: fn(&Sums, &[Row]) -> bool,
) -> Result<Parameters, Reason> {
    let all = with_monitor(problem, rows);
    let sums = Sums::of(&all);
    if !condition(&sums, &all) {
        return Err(sums.reason());
    }
    let Some(given) = given else {
        let mut found = parameters(&all);
        // That of the monitor is nobody's parameter.
        if let Some(deadlines) = &mut found.virtual_deadlines {
            deadlines.truncate(rows.len());
        }
        return Ok(found);
    };
    if all.len() > rows.len() {
        return Err(NO_DEADLINE_OF_ITS_OWN);
    }
    match given::obstacle(rows, given) {
        Some(reason) => Err(reason),
        None => Ok(Parameters {
            virtual_deadlines: Some(given.to_vec()),
            ..Parameters::default()
        }),
    }
}

/// Where virtual deadlines are given, there is none for the monitor.
const NO_DEADLINE_OF_ITS_OWN: Reason = Reason::OverheadsNotTaken {
    what: "a monitor that is scheduled among tasks with given virtual deadlines",
};

/// Whether a condition on the sums holds within the assumptions.
pub(super) fn accepts_by(problem: &Problem, condition: fn(&Sums, &[Row]) -> bool) -> bool {
    if outside(problem).is_some() || trivially_infeasible(problem).is_some() {
        return false;
    }
    let rows = with_monitor(problem, problem.rows());
    let has_monitor = rows.len() > problem.rows().len();
    let given = problem.given().virtual_deadlines.as_ref();
    condition(&Sums::of(&rows), &rows)
        && given.is_none_or(|given| !has_monitor && given::obstacle(&rows, given).is_none())
}

/// The first assumption that the problem does not keep.
pub(crate) fn outside(problem: &Problem) -> Option<Reason> {
    if problem.levels().count() != 2 {
        return Some(Reason::NotTwoLevels {
            found: problem.levels().count(),
        });
    }
    let constrained = |row: &&Row| row.deadline < row.period;
    if let Some(row) = problem.rows().iter().find(constrained) {
        return Some(Reason::ConstrainedDeadline {
            task: task_id(row.task),
        });
    }
    let keeps_running =
        |row: &&Row| row.criticality == 0 && problem.tasks()[row.task].degraded.is_some();
    problem
        .rows()
        .iter()
        .find(keeps_running)
        .map(|row| Reason::DegradedBudget {
            task: task_id(row.task),
        })
}

/// Brackets of a, b and c. They decide unless the set is within some 2^-55 of the border; the
/// exact sums do then, and only they allocate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    low: Bracket,
    high_at_low: Bracket,
    high: Bracket,
}

impl Sums {
    /// C_i(z_i) <= T_i must have been checked.
    pub(crate) fn of(rows: &[Row]) -> Self {
        let mut sums = Self::default();
        for row in rows {
            sums.add(row);
        }
        sums
    }

    /// The same with another task.
    pub(crate) fn add(&mut self, row: &Row) {
        if row.criticality == 0 {
            self.low.add(row.exact_wcet(0), row.period);
        } else {
            self.high_at_low.add(row.exact_wcet(0), row.period);
            self.high.add(row.exact_wcet(1), row.period);
        }
    }

    /// a, b and c in millionths, to the nearest.
    pub(crate) fn millionths(&self) -> [u64; 3] {
        [self.low, self.high_at_low, self.high].map(Bracket::millionths_nearest)
    }

    pub(crate) fn reason(&self) -> Reason {
        let [low_ppm, high_at_low_ppm, high_ppm] = self.millionths();
        Reason::Utilizations {
            low_ppm,
            high_at_low_ppm,
            high_ppm,
        }
    }

    /// Step 1 or step 2.
    pub(crate) fn pass_exact_condition(&self, rows: &[Row]) -> bool {
        let (a, b, c) = (self.low, self.high_at_low, self.high);
        if a.high + c.high <= Bracket::ONE {
            return true;
        }
        if a.low > Bracket::ONE || c.low > Bracket::ONE {
            return false;
        }
        // Below, no factor exceeds 1, so no product exceeds 2^120.
        if a.high < Bracket::ONE
            && c.high <= Bracket::ONE
            && a.high * b.high <= (Bracket::ONE - a.high) * (Bracket::ONE - c.high)
        {
            return true;
        }
        if a.low + c.low > Bracket::ONE
            && a.low * b.low > (Bracket::ONE - a.low) * (Bracket::ONE - c.low)
        {
            return false;
        }
        ExactSums::of(rows).pass()
    }

    /// max(a + b, c) <= 3/4.
    pub(crate) fn are_within_three_quarters(&self, rows: &[Row]) -> bool {
        let (a, b, c) = (self.low, self.high_at_low, self.high);
        let limit = Bracket::ONE / 4 * 3;
        if (a.high + b.high).max(c.high) <= limit {
            return true;
        }
        if (a.low + b.low).max(c.low) > limit {
            return false;
        }
        let ExactSums { a, b, c } = ExactSums::of(rows);
        let limit = Fraction::new(3, 4);
        a.plus(&b).is_at_most(&limit) && c.is_at_most(&limit)
    }
}

/// The sums a, b and c themselves.
pub(crate) struct ExactSums {
    pub(crate) a: Fraction,
    pub(crate) b: Fraction,
    pub(crate) c: Fraction,
}

impl ExactSums {
    pub(crate) fn of(rows: &[Row]) -> Self {
        let sum = |criticality: usize, level: usize| {
            let of_level = rows
                .iter()
                .filter(move |row| row.criticality == criticality);
            Fraction::sum(of_level.map(|row| (row.exact_wcet(level), row.period)))
        };
        Self {
            a: sum(0, 0),
            b: sum(1, 0),
            c: sum(1, 1),
        }
    }

    pub(crate) fn plain_edf_does(&self) -> bool {
        self.a.plus(&self.c).is_at_most(&Fraction::new(1, 1))
    }

    pub(crate) fn pass(&self) -> bool {
        if self.plain_edf_does() {
            return true;
        }
        match (self.a.one_minus_self(), self.c.one_minus_self()) {
            (Some(rest_of_a), Some(rest_of_c)) => {
                let product = rest_of_a.times(&rest_of_c);
                !rest_of_a.is_zero() && self.a.times(&self.b).is_at_most(&product)
            }
            _ => false,
        }
    }

    /// The largest x, in words; `None` if it is 0, which no deadline can be.
    pub(crate) fn factor(&self) -> Option<Ratio> {
        let (numerator, denominator) = if self.plain_edf_does() {
            (1, 1)
        } else {
            self.c
                .one_minus_self()?
                .divided_by(&self.a)?
                .in_words_floor()
        };
        (numerator > 0).then_some(Ratio {
            numerator,
            denominator,
        })
    }
}

/// Factor and virtual deadlines of a set that passes.
fn parameters(rows: &[Row]) -> Parameters {
    let sums = ExactSums::of(rows);
    let Some(factor) = sums.factor() else {
        return Parameters::default();
    };
    let deadlines = rows.iter().map(|row| virtual_deadline_floor(row, factor));
    let deadlines: Vec<u64> = deadlines.collect();
    Parameters {
        deadline_factor: Some(factor),
        virtual_deadlines: mode_0_is_safe(rows, &deadlines, &sums.a)
            .then(|| deadlines.into_iter().map(Duration::from_nanos).collect()),
        ..Parameters::default()
    }
}

/// floor(x T_i) at level 1, T_i at level 0; x is at most 1.
pub(crate) fn virtual_deadline_floor(row: &Row, factor: Ratio) -> u64 {
    if row.criticality == 0 {
        return row.period;
    }
    let product = u128::from(row.period) * u128::from(factor.numerator);
    let deadline = product / u128::from(factor.denominator);
    u64::try_from(deadline).map_or(row.period, |deadline| deadline.min(row.period))
}

/// sum over z_i = 1 of C_i(0) / V_i + a <= 1, and no V_i is 0.
fn mode_0_is_safe(rows: &[Row], deadlines: &[u64], a: &Fraction) -> bool {
    if deadlines.contains(&0) {
        return false;
    }
    let high = rows
        .iter()
        .zip(deadlines)
        .filter(|(row, _)| row.criticality == 1);
    let density = Fraction::sum(high.map(|(row, &deadline)| (row.exact_wcet(0), deadline)));
    density.plus(a).is_at_most(&Fraction::new(1, 1))
}
