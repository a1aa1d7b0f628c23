//! `amc-max`: adaptive mixed criticality, the worst change instants, for any number of levels.
//!
//! What is bounded, guarantee and assumptions are those of [`crate::schedulability::amc_rtb`]: preemptive fixed
//! priorities with adaptive enforcement; a job of task i meets its deadline in every run in which
//! the mode never exceeds z_i. Priorities are the problem's own, or Audsley's.
//!
//! Equation. The mode becomes l at s_l, s_1 <= ... <= s_L. For j in hp(i) and a window of length t
//! that starts with the busy period: the demand of j ends at end_j = t if z_j >= L, else at
//! s_{z_j + 1}. Of its N_j jobs, m_{l+1} may need more than C_j(l):
//!
//! N_j = ceil(t / T_j) if z_j >= L, else floor(end_j / T_j) + 1;
//! m_0 = N_j; m_{l+1} = min(m_l, ceil((end_j - s_{l+1} - (T_j - D_j))^+ / T_j) + 1), l < min(z_j, L);
//! R_i(L; s) = C_i(L) + sum over j of [ sum over l < min(z_j, L) of (m_l - m_{l+1}) C_j(l)
//!             + m_{min(z_j, L)} C_j(min(z_j, L)) ], the least solution t;
//! R_i(L) = max over s of R_i(L; s) <= D_i for each L <= z_i,
//!
//! where s_l < R_i(l - 1; s_1, ..., s_{l-1}), or s_l = 0. For two levels this is Baruah, Burns and
//! Davis, RTSS 2011, section IV; for more it is the generalisation along the lines of Fleming and
//! Burns, WMC 2013. The "+ 1" in m is the job that is under way when the mode changes.
//!
//! # The instants that matter
//!
//! A later s_l adds to the demand of the tasks of criticality l - 1 and takes from the others. The
//! maximum is therefore at s_l = s_{l-1} or where some j with z_j = l - 1 gains: a job at n T_j, or
//! an upgraded job just after s_{l'} + (T_j - D_j) + n T_j for some l' < l, which in whole
//! nanoseconds is one later. The last set is empty for two levels. Without it the search misses the
//! maximum for three, also where all deadlines equal the periods: `tests/schedulability/amc_max.rs` has a
//! set of each kind.
//!
//! Kind: sufficient. The bound combines the worst releases for each task, which need not be
//! possible together. It accepts what `amc-rtb` accepts on the same priorities: s_{l+1} < R_i(l)
//! leaves no task more jobs, and no job is charged more.
//!
//! # Priorities
//!
//! A bound depends on the *set* of more urgent tasks only and never falls when that grows: every s
//! that is possible for the smaller set is for the larger. So Audsley's algorithm is optimal for
//! this test. Of the tasks of one criticality only the one with the longest deadline needs to be
//! tried, as the bound of a whole set does not depend on which member is the least urgent
//! (module `bounds`). A task that passes `amc-rtb` is preferred to one that does not: it costs
//! less to find, and a set that `amc-rtb` accepts gets the same priorities from both tests.
//!
//! # Limits
//!
//! The decisions of one analysis may visit ten million vectors of instants together; beyond that
//! the answer is *not proven* with [`crate::Reason::SearchLimit`]. A reported value may visit twenty
//! thousand; beyond that the table has an upper bound of R_i(L) that is within the deadline. Two
//! levels stay far below both.
//!
//! Slow twins: `amc_max::oracle::greatest_response` tries all integer instants and windows;
//! `amc_max::oracle::greatest_assign` is Audsley's algorithm without reduction on top of it.
//! A campaign that simulates accepted sets would refute the test by one miss at a guaranteed level;
//! `crate::controls` has the variant without the "+ 1", which it has to find.

pub(crate) mod change_instants;
#[cfg(feature = "controls")]
pub(crate) mod control;
#[cfg(feature = "oracle")]
pub mod oracle;

use crate::bounds::Bounds;
use crate::demand::Bound;
use crate::outcome::{Kind, Outcome};
use crate::problem::{Problem, Row};
use crate::schedulability::amc_max::change_instants::ChangeInstants;
use crate::schedulability::instants::{self, Goal, SearchedBounds};
use crate::scratch::Scratch;
use vestal_core::{Duration, Level, TaskId};

/// The test's answer with response times; `responses[L]` is R_i(L), or an upper bound of it where
/// the value takes too long to find.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    instants::analyse(problem, Kind::Sufficient, ChangeInstants::default)
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, scratch: &mut Scratch) -> bool {
    instants::accepts(problem, scratch, |_: &mut ChangeInstants| {})
}

/// R_i(L) of `task` below the tasks `more_urgent`, for a level up to the task's own. `limit` may be
/// beyond the deadline; `None` if R_i(l) exceeds it for some l <= L, or if the search reached its limit.
///
/// For looking at single values: the test itself stops at deadlines. Where the value takes too long
/// to find, the result is an upper bound of it that is within the limit. A task that the problem does
/// not have has no response time.
#[must_use]
pub fn response(
    problem: &Problem,
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
    limit: Duration,
) -> Option<Duration> {
    let row = |id: &TaskId| problem.rows().get(id.index()).copied();
    let mut set: Vec<Row> = more_urgent.iter().map(row).collect::<Option<_>>()?;
    // Beyond its deadline, a window may contain a second job of i. Only the first is looked at.
    let alone = Row {
        period: u64::MAX,
        deadline: u64::MAX,
        ..row(&task)?
    };
    if level.index() > alone.criticality {
        return None;
    }
    set.push(alone);
    set.sort_by_key(|row| row.criticality);
    let mut bounds = SearchedBounds::new(Goal::Value, ChangeInstants::default());
    let mut greatest = None;
    for level in 0..=level.index() {
        match bounds.at(&set, level, limit.as_nanos()) {
            Bound::Found(nanos) => greatest = Some(Duration::from_nanos(nanos)),
            Bound::AtLeast(_) | Bound::Undecided => return None,
        }
    }
    greatest
}
