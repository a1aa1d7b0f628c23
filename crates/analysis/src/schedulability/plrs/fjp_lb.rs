//! `fjp-lb`: fixed job priorities, with a busy-period bound in closed form.
//!
//! What is decided: as [`super::fjp_own`], with a longer pattern from
//!
//! B = floor(sum of C_i(z_i) / (1 - sum of C_i(z_i) / T_i)), n_i = ceil(B / T_i),
//!
//! which bounds the least fixed point there, because ceil(x) < x + 1. Assumptions, guarantee and
//! treatment of given lists are those of `fjp-own`; kind: sufficient. It accepts a subset of it.
//!
//! It stands in for the pattern of Li and Baruah (RTSS 2010), called FJP-LB by Huang, Gill and Lu (TECS
//! 2014), which bounds busy periods in closed form from the *load* of the levels; its exact form was not
//! available. Huang, Gill and Lu report that computing the load took too long to finish ten sets of 8
//! tasks in a day. With D_i = T_i the load of a level is just a sum of utilisations, so that need
//! not be so. What they report of acceptance (far below IJA) can be compared in tendency only.

use super::pattern::{Pattern, unbounded, utilization};
use crate::outcome::Reason;
use crate::problem::{Problem, Row};
use crate::rational::{Bracket, Fraction};

impl Pattern {
    pub(super) fn find_closed_form(&mut self, problem: &Problem, limit: u64) -> Result<(), Reason> {
        let rows = problem.rows();
        let busy = closed_form(rows).ok_or_else(|| unbounded(rows, 0, Row::own_wcet))?;
        self.set_all(problem, busy, limit)
    }
}

/// floor(sum of C_i(z_i) / (1 - sum of C_i(z_i) / T_i)); `None` if the utilisation is 1 or more.
///
/// It bounds the least fixed point of [`Rule::Own`], because ceil(x) < x + 1.
fn closed_form(rows: &[Row]) -> Option<u64> {
    let work: u128 = rows.iter().map(|row| u128::from(row.own_wcet())).sum();
    let sum = utilization(rows, Row::own_wcet);
    if sum.low >= Bracket::ONE {
        return None;
    }
    let at = |part: u128| {
        let rest = Bracket::ONE.checked_sub(part).filter(|rest| *rest > 0)?;
        let scaled = work.checked_mul(Bracket::ONE)?;
        u64::try_from(scaled / rest).ok()
    };
    let low = at(sum.low);
    if low.is_some() && low == at(sum.high) {
        return low;
    }
    // The largest B with B (1 - U) <= sum of C_i(z_i), in exact numbers.
    let sum = Fraction::sum(rows.iter().map(|row| (row.own_wcet(), row.period)));
    sum.one_minus_self()?.divides_floor(work)
}
