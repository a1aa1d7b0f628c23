//! EDF-VD with given virtual deadlines V_i: one for each task, not necessarily x T_i.
//!
//! What is decided: whether a task set that keeps the assumptions of [`super`] keeps its
//! guarantee with exactly these V_i. Tasks of level 0 have V_i = T_i. With x the largest V_i / T_i of
//! level 1, and a = sum over z_i = 0 of C_i(0) / T_i:
//!
//! 1. a + sum over z_i = 1 of C_i(0) / V_i <= 1 (mode 0), and
//! 2. x a + sum over z_i = 1 of m_i <= 1 (mode 1), where m_i = C_i(1) / T_i if V_i + 1 > x T_i, that
//!    is if V_i is x T_i or its next lower whole number, and otherwise
//!    m_i = max(C_i(1) / T_i, x C_i(0) / V_i).
//!
//! The theorem's own second condition, x a + c <= 1, is not enough for V_i that are not proportional
//! to the T_i: a task with a long period and a short V_i goes before others although its real
//! deadline is far, and its whole C_i(0) stands against their short windows. Example: level 0 (C 1,
//! T 10); level 1 (C 3/3, T 1000, V 9) and (C 1/8, T 10, V 10). Both sums are below 1, and of the 10
//! units after a common release the latter two tasks alone want 11.
//!
//! # Why it is enough
//!
//! Mode 0: the densities C_i(0) / V_i do not exceed 1, so every virtual deadline is met in mode 0.
//! Mode 1 follows the proof of Theorem 2 (Baruah et al., ECRTS 2012). Consider a shortest run in
//! which a job of level 1 is the first to miss, at t. Let J, of task j, be the earliest released job
//! that executes after the change of mode, released at r. While the mode is 0 it is pending from r
//! on, so that only jobs virtually due by r + V_j <= r + x (t - r) execute in between; earlier jobs
//! that are virtually due later than that can be left out of the run. The work until t:
//!
//! - Level 0: at most (r + x (t - r)) a.
//! - Task i of level 1 whose jobs until t are all due by t, one or more of them released from r on: at
//!   most r C_i(0) / T_i + (t - r) C_i(1) / T_i.
//! - Else the last job of i that executes is released at some s, has s + V_i <= r + x (t - r), and
//!   executes at most C_i(0). With m_i = max(...) the work is at most r C_i(0) / V_i + (t - r) m_i:
//!   for s < r write the jobs before the last one as at most s / T_i, for s >= r as at most
//!   r C_i(0) / T_i + (s - r) m_i, and use C_i(0) <= V_i m_i / x.
//!   With m_i = C_i(1) / T_i the work exceeds that bound by less than C_i(0) / V_i, because V_i is
//!   short of x T_i by less than 1.
//!
//! With 1. and 2. the sum is less than r + (t - r) + sum of C_i(0) / V_i, that is less than t + 1.
//! Releases and execution times are whole nanoseconds, so the work is a whole number, at most t, and
//! no task misses.
//!
//! The V_i that [`super`] chooses pass by the first form of m_i. Slow twin: `tests/schedulability/edf_vd.rs`
//! repeats the conditions in fractions of machine words; runs with random V_i try to refute them.

use crate::outcome::Reason;
use crate::parameters::task_id;
use crate::problem::Row;
use crate::rational::{Bracket, Fraction};
use vestal_core::Duration;

/// Why these virtual deadlines keep no guarantee; `None` if they do. C_i(z_i) <= D_i = T_i and two
/// levels must have been checked.
pub(super) fn obstacle(rows: &[Row], given: &[Duration]) -> Option<Reason> {
    let pairs = || {
        let given = given.iter().map(|due| due.as_nanos());
        rows.iter().zip(given)
    };
    let low = |(row, _): &(&Row, u64)| row.criticality == 0;
    if let Some((row, _)) = pairs().filter(low).find(|(row, due)| *due != row.period) {
        return Some(Reason::LowVirtualDeadline {
            task: task_id(row.task),
        });
    }
    let high: Vec<(&Row, u64)> = pairs().filter(|pair| !low(pair)).collect();
    let a = || {
        pairs()
            .filter(low)
            .map(|(row, _)| (row.exact_wcet(0), row.period))
    };
    let density = || high.iter().map(|(row, due)| (row.exact_wcet(0), *due));
    let x = largest_ratio(&high);
    // The tasks that count by their density in mode 1, and those that count by their utilisation.
    let (dense, plain): (Vec<_>, Vec<_>) = high
        .iter()
        .map(|&(row, due)| (row, due))
        .partition(|&(row, due)| !is_rounded(row, due, x) && is_dense(row, due, x));
    let carried = || a().chain(dense.iter().map(|(row, due)| (row.exact_wcet(0), *due)));
    let own = || plain.iter().map(|(row, _)| (row.exact_wcet(1), row.period));
    let mode_0 = Fraction::sum(a().chain(density()));
    let mode_1 = Fraction::sum(carried())
        .times(&Fraction::new(x.0, x.1))
        .plus(&Fraction::sum(own()));
    let one = Fraction::new(1, 1);
    let (mode_0_fits, mode_1_fits) = (mode_0.is_at_most(&one), mode_1.is_at_most(&one));
    (!mode_0_fits || !mode_1_fits).then(|| {
        let share = |(numerator, denominator)| approximate(numerator, denominator);
        let carried = carried().map(share).fold(0, u128::saturating_add);
        let carried = (carried >> 30).saturating_mul(share(x) >> 30);
        Reason::VirtualDeadlines {
            mode_0_ppm: shown(a().chain(density()).map(share), mode_0_fits),
            mode_1_ppm: shown(own().map(share).chain([carried]), mode_1_fits),
        }
    })
}

/// x, the largest V_i / T_i; 0 without a task of level 1.
fn largest_ratio(high: &[(&Row, u64)]) -> (u64, u64) {
    high.iter().fold((0, 1), |x, &(row, due)| {
        let is_larger =
            u128::from(due) * u128::from(x.1) > u128::from(x.0) * u128::from(row.period);
        if is_larger { (due, row.period) } else { x }
    })
}

/// V_i + 1 > x T_i.
fn is_rounded(row: &Row, due: u64, x: (u64, u64)) -> bool {
    let next = u128::from(due) + 1;
    next * u128::from(x.1) > u128::from(x.0) * u128::from(row.period)
}

/// x C_i(0) / V_i > C_i(1) / T_i.
fn is_dense(row: &Row, due: u64, x: (u64, u64)) -> bool {
    let dense = Fraction::new(x.0, x.1).times(&Fraction::new(row.exact_wcet(0), due));
    !dense.is_at_most(&Fraction::new(row.exact_wcet(1), row.period))
}

/// A share in units of [`Bracket::ONE`], for messages.
fn approximate(numerator: u64, denominator: u64) -> u128 {
    (u128::from(numerator) << 60) / u128::from(denominator)
}

/// The sum in millionths. Rounding hides on neither side whether it is above 1.
fn shown(shares: impl Iterator<Item = u128>, fits: bool) -> u64 {
    const MILLION: u64 = 1_000_000;
    let sum = shares.fold(0, u128::saturating_add);
    let nearest = sum
        .saturating_mul(MILLION.into())
        .saturating_add(Bracket::ONE / 2)
        / Bracket::ONE;
    let nearest = u64::try_from(nearest).unwrap_or(u64::MAX);
    if fits {
        nearest.min(MILLION)
    } else {
        nearest.max(MILLION + 1)
    }
}
