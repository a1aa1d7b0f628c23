//! `fjp-mode`: fixed job priorities, with a pattern found mode by mode.
//!
//! What is decided: as [`super::fjp_own`], with a shorter pattern. For m = 0, 1, ...
//!
//! B(m) = least fixed point of
//!   sum over z_i < m of n_i C_i(z_i) + sum over z_i >= m of ceil(B / T_i) C_i(m),
//!
//! and n_i = ceil(B(m) / T_i) for z_i = m. The pattern is derived here; it is the one of
//! Huang, Gill and Lu (TECS 2014, section 3.2) without the step that [`super::fjp_ija`] shows to be
//! wrong.
//!
//! Why it is sound: as long as the mode has not exceeded m, every admitted job of criticality m or
//! more has executed at most C_i(m), and there are at most n_i jobs of each task below m. So the part
//! of a busy period before the mode exceeds m is at most B(m) long, and jobs of criticality m are
//! admitted in that part only. The rest of the argument is that of `fjp-own`.
//!
//! Assumptions, guarantee and treatment of given lists are those of `fjp-own`. Kind: sufficient; a
//! no means nothing. It accepts every set that `fjp-own` accepts: by induction over m, with more of the
//! terms at own-level values B(m) only grows, so no n_i exceeds that of `fjp-own`, and lists remain
//! valid when jobs are taken away.
//!
//! Slow twins: `tests/schedulability/plrs.rs`. The campaign simulates accepted sets with two to four levels.

use super::pattern::{Pattern, check_utilization, released_within};
use crate::outcome::Reason;
use crate::problem::Row;

impl Pattern {
    pub(super) fn find_mode(
        &mut self,
        rows: &[Row],
        level: usize,
        limit: u64,
    ) -> Result<(), Reason> {
        let stays = |row: &&Row| row.criticality >= level;
        check_utilization(rows.iter().filter(stays), level, |row| row.wcet[level])?;
        self.demand.clear();
        for row in rows {
            if row.criticality >= level {
                self.demand.add(row.period, row.wcet[level]);
            } else {
                let jobs = self.jobs[row.task][level - 1];
                self.demand
                    .add_constant(jobs.saturating_mul(row.own_wcet()));
                self.jobs[row.task][level] = jobs;
            }
        }
        self.busy[level] = self.solve(level, limit)?;
        for row in rows.iter().filter(stays) {
            self.jobs[row.task][level] = released_within(self.busy[level], row.period);
        }
        Ok(())
    }
}
