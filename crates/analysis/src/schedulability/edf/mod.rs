//! `edf`: earliest deadline first, each job stopped at its own level's value.
//!
//! What is decided: whether preemptive EDF by real deadlines meets every deadline when each job of
//! every task j needs at most C_j(z_j). The guarantee for a set with several levels follows: in a
//! run in which each job of every j needs at most C_j(z_i), a task with z_j >= z_i needs no more
//! than C_j(z_j), and one with z_j < z_i is stopped there.
//!
//! Condition (Baruah, Rosier and Howell, Real-Time Systems 2(4), 1990): with U the sum of
//! C_i(z_i) / T_i, U <= 1 and for every t > 0
//!
//! h(t) = sum over i with D_i <= t of (floor((t - D_i) / T_i) + 1) C_i(z_i) <= t.
//!
//! Where all D_i = T_i, U <= 1 alone is enough (Liu and Layland 1973). Only t up to the end L of the
//! first busy period matter, and, for U < 1, only those up to
//! max(D_i, sum of (T_i - D_i) C_i / T_i / (1 - U)). They are looked at from L downwards by QPA
//! (Zhang and Burns, IEEE TC 58(9), 2009): from a t with h(t) < t to h(t), since no t' in between
//! can fail (h(t') <= h(t) < t'); from a t with h(t) = t to the last deadline before t.
//!
//! Assumptions: A1 one CPU, preemptive, no blocking, no overhead. A2 sporadic tasks with
//! D_i <= T_i. A3 releases of any phase. A4 a job is stopped exactly at C_j(z_j), at the latest
//! then it runs only in the background.
//!
//! # Kind
//!
//! Exact where no task's execution time depends on the level up to its own, in particular for one
//! level. *Yes is right* for every set: if some deadline is missed, let t2 be the first one missed
//! and t1 the last instant before it at which no job due by t2 is pending. In [t1, t2) only jobs
//! that are released and due in it are executed; they need more than t2 - t1, but no more than
//! h(t2 - t1). *No is right* for such sets: releasing all tasks at 0 and then as early as possible,
//! each job executing C_j(0) = C_j(z_j), is a legal run of every level, and the jobs due by t need
//! h(t) > t: some deadline is missed that every level guarantees.
//!
//! With execution times that grow with the level that run is legal only at the highest level that
//! matters, and the deadline that is missed may be one that is not guaranteed there. EDF does not
//! know criticality, so a finer yes is not to be had from it; the no becomes *not proven*.
//!
//! After a million evaluations of h the test ends with [`Reason::SearchLimit`]. That takes a
//! set with U = 1 to within 2^-60, deadlines below the periods and an enormous hyperperiod.
//!
//! Slow twins: `edf::oracle::first_overfull_window` looks at every t, and `tests/schedulability/edf.rs`
//! executes the synchronous run tick by tick.

#[cfg(feature = "oracle")]
pub mod oracle;

use crate::assumptions::{kind_for, trivially_infeasible};
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::problem::{Problem, Row};
use crate::rational::{Bracket, Fraction};
use crate::scratch::Scratch;
use vestal_core::Duration;

/// After so many evaluations of the demand the test ends.
const STEPS_MAX: u64 = 1_000_000;

/// The test's answer. There are no response times and no priorities.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    let kind = kind_for(problem, kind(problem));
    let count = problem.tasks().len();
    match obstacle(problem) {
        Some(why @ Reason::SearchLimit { .. }) => Outcome::outside(kind, why, count),
        why => Outcome::decided(kind, why, vec![TaskOutcome::default(); count]),
    }
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, scratch: &mut Scratch) -> bool {
    let why = obstacle(problem);
    scratch.ran_out |= why.as_ref().is_some_and(Reason::is_undecided);
    why.is_none()
}

/// Exact, unless an execution time grows with the level: see the head of this file.
fn kind(problem: &Problem) -> Kind {
    let constant = |row: &Row| row.exact_wcet(0) == row.own_wcet();
    if problem.rows().iter().all(constant) {
        Kind::Exact
    } else {
        Kind::Sufficient
    }
}

/// Why the condition does not hold.
fn obstacle(problem: &Problem) -> Option<Reason> {
    let rows = problem.rows();
    if let Some(reason) = trivially_infeasible(problem) {
        return Some(reason);
    }
    let mut utilization = Bracket::default();
    for row in rows {
        utilization.add(row.own_wcet(), row.period);
    }
    if is_above_one(rows, utilization) {
        return Some(Reason::Overload {
            // A sum just above 1 must not read as 1.
            utilization_ppm: utilization.millionths_nearest().max(1_000_001),
        });
    }
    if rows.iter().all(|row| row.deadline == row.period) {
        return None;
    }
    let mut steps = STEPS_MAX;
    match longest_window(rows, utilization, &mut steps) {
        Some(longest) => overfull_window(rows, longest, &mut steps),
        None => Some(Reason::SearchLimit { steps: STEPS_MAX }),
    }
}

fn is_above_one(rows: &[Row], utilization: Bracket) -> bool {
    if utilization.high <= Bracket::ONE {
        return false;
    }
    if utilization.low > Bracket::ONE {
        return true;
    }
    let exact = Fraction::sum(rows.iter().map(|row| (row.own_wcet(), row.period)));
    !exact.is_at_most(&Fraction::new(1, 1))
}

/// A length beyond which no window needs to be looked at: the end of the first busy period or the
/// bound by slack, whichever is found to be shorter; `None` if neither is found.
fn longest_window(rows: &[Row], utilization: Bracket, steps: &mut u64) -> Option<u64> {
    let by_slack = bound_by_slack(rows, utilization);
    let mut busy = 0;
    let mut next = rows
        .iter()
        .fold(0u64, |sum, row| sum.saturating_add(row.own_wcet()));
    while next > busy {
        busy = next;
        if *steps == 0 || by_slack.is_some_and(|bound| busy >= bound) {
            return by_slack;
        }
        *steps -= 1;
        next = rows.iter().fold(0, |sum, row| {
            let jobs = busy.div_ceil(row.period);
            sum.saturating_add(jobs.saturating_mul(row.own_wcet()))
        });
    }
    (busy < u64::MAX).then_some(busy)
}

/// max(D_i, sum of (T_i - D_i) C_i / T_i / (1 - U)), rounded up; `None` if U is not known to be
/// below 1 or the bound does not fit.
fn bound_by_slack(rows: &[Row], utilization: Bracket) -> Option<u64> {
    let rest = Bracket::ONE
        .checked_sub(utilization.high)
        .filter(|&rest| rest > 0)?;
    let mut slack: u128 = 0;
    for row in rows {
        let product = u128::from(row.period - row.deadline) * u128::from(row.own_wcet());
        slack += product.div_ceil(u128::from(row.period));
    }
    let bound = slack.checked_mul(Bracket::ONE)?.div_ceil(rest);
    let longest_deadline = rows.iter().map(|row| row.deadline).max().unwrap_or(0);
    Some(u64::try_from(bound).ok()?.max(longest_deadline))
}

/// QPA: a window of at most `longest` whose jobs need more than it.
fn overfull_window(rows: &[Row], longest: u64, steps: &mut u64) -> Option<Reason> {
    let shortest_deadline = rows.iter().map(|row| row.deadline).min()?;
    let mut window = last_deadline(rows, longest)?;
    loop {
        if *steps == 0 {
            return Some(Reason::SearchLimit { steps: STEPS_MAX });
        }
        *steps -= 1;
        let needed = demand(rows, window);
        if needed > window {
            return Some(Reason::DemandExceedsWindow {
                window: Duration::from_nanos(window),
                demand: Duration::from_nanos(needed),
            });
        }
        if needed <= shortest_deadline {
            return None;
        }
        window = if needed < window {
            needed
        } else {
            last_deadline(rows, window - 1)?
        };
    }
}

/// h(window), saturating.
fn demand(rows: &[Row], window: u64) -> u64 {
    rows.iter().fold(0, |sum: u64, row| {
        let jobs = window
            .checked_sub(row.deadline)
            .map_or(0, |since| since / row.period + 1);
        sum.saturating_add(jobs.saturating_mul(row.own_wcet()))
    })
}

/// The last deadline of the synchronous release that is at most `until`.
fn last_deadline(rows: &[Row], until: u64) -> Option<u64> {
    let last = |row: &Row| {
        let since = until.checked_sub(row.deadline)?;
        Some(since / row.period * row.period + row.deadline)
    };
    rows.iter().filter_map(last).max()
}
