//! `fjp-own`: fixed job priorities, with a pattern in which every job takes its own level's value.
//!
//! What is decided: whether there are job-priority lists with which list reuse (PLRS; Guan, Ekberg,
//! Stigge and Yi, RTSS 2011) and the online recomputation (Li and Baruah, RTSS 2010) keep the
//! guarantee of adaptive enforcement, with as many jobs in a list as a busy period can contain if
//! every job of task i takes C_i(z_i):
//!
//! B = least fixed point of sum over i of ceil(B / T_i) C_i(z_i), n_i = ceil(B / T_i),
//!
//! and jobs charged C_j(min(z_i, z_j)) when the lists are made (OCBP, `job_order::lists`). Given lists
//! are decided about instead: they have to be long enough, and every job of the pattern in time.
//!
//! Assumptions: A1 one CPU, preemptive, no blocking, no overhead. A2 sporadic tasks with D_i <= T_i.
//! A3 a job of a task below the mode is discarded, never resumed, and does not give its list entry
//! back. A4 no task keeps a degraded budget in modes above its own level. A5 an overrun is noticed
//! exactly at the budget. Kind: sufficient; a no means nothing. It accepts a subset of what
//! [`super::fjp_mode`] accepts, whose pattern is never longer.
//!
//! Why the lists suffice: no admitted job executes more than C_j(z_j), so a busy period ends by B and
//! has at most n_i jobs of task i: no list runs out. A job with priority p is delayed by jobs above p
//! of the busy period at level p it belongs to, as many as the lists have entries above p, and each
//! takes at most C_j(min(z_i, z_j)) where task i has a guarantee.
//!
//! Slow twins: `tests/schedulability/plrs.rs` counts jobs tick by tick, and tries all orders of small patterns. A
//! campaign that simulates accepted sets would refute the test by one miss, or one list that runs out.

use super::pattern::{Pattern, check_utilization};
use crate::outcome::Reason;
use crate::problem::{Problem, Row};

impl Pattern {
    pub(super) fn find_own(&mut self, problem: &Problem, limit: u64) -> Result<(), Reason> {
        let rows = problem.rows();
        check_utilization(rows, 0, Row::own_wcet)?;
        self.demand.clear();
        for row in rows {
            self.demand.add(row.period, row.own_wcet());
        }
        let busy = self.solve(0, limit)?;
        self.set_all(problem, busy, limit)
    }
}
