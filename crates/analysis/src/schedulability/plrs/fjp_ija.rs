//! `fjp-ija`: fixed job priorities, with the improved job-arrival pattern of Huang, Gill and Lu. Refuted.
//!
//! Published (TECS 2014, section 3.2; misprints corrected): for m = 0, 1, ... with n_i(-1) = 0,
//!
//! B(m) = least fixed point of sum over l < m, i of (n_i(l) - n_i(l-1)) C_i(l)
//!        + sum over z_i >= m of max(0, ceil(B / T_i) - n_i(m-1)) C_i(m)
//!
//! - n_i(m) = max(n_i(m-1), ceil(B(m) / T_i)) for z_i = m, and n_i(m-1) for z_i < m.
//! - s = max over z_i = m of (n_i(m) - 1) T_i + C_i(m): the mode is said not to leave m before s.
//! - n_i(m) = max(n_i(m-1), ceil(s / T_i)) for z_i > m; in the variant `floor`, floor(s / T_i).
//!
//! A list has n_i(z_i) entries, and jobs that the pattern places in a lower mode than the one looked
//! at are charged that mode's value. The paper uses `floor` where that pattern has lists, else
//! `ceil`; so does the test without a variant.
//!
//! # Why it is unsafe
//!
//! The first jobs of a critical task are charged C(0) because they are released before s, but they may
//! be the very ones that overrun and end mode 0, long before s. Example (D = T): tau1 z 1 C 1/2 T 5;
//! tau2 z 1 C 2/5 T 14; tau3 z 0 C 1 T 4; tau4 z 1 C 1/5 T 14. `ceil` gives the lists 5,0; 1; 3,2; 4. All
//! released at 0, tau4 and tau2 overrun in turn, and tau1's second job, last in the order, misses at 10.
//! `fjp-mode` and `fjp-own` reject the set. The run is a test in the simulator, and the campaign
//! refutes both variants with random sets.
//!
//! Kind: unsafe. [`Outcome::claim`] is what the paper says.

use super::analyse;
use super::pattern::{Pattern, Rounding, Rule, check_utilization, released_within};
use crate::outcome::{Outcome, Reason};
use crate::problem::{Problem, Row};
use vestal_core::model::LEVELS_MAX;

/// What the paper says: the pattern of the variant `floor` if it has lists, else that of `ceil`.
pub(crate) fn analyse_printed(problem: &Problem) -> Outcome {
    let floor = analyse(problem, Rule::Ija(Rounding::Floor));
    match floor.why {
        None => floor,
        Some(_) => analyse(problem, Rule::Ija(Rounding::Ceil)),
    }
}

impl Pattern {
    /// Jobs that an earlier mode has counted do not grow with B, so above mode 0 there can be a fixed point
    /// although the tasks ask for more than the CPU.
    pub(super) fn find_ija(
        &mut self,
        rows: &[Row],
        level: usize,
        rounding: Rounding,
        limit: u64,
    ) -> Result<(), Reason> {
        if level == 0 {
            check_utilization(rows, level, |row| row.wcet[level])?;
        }
        self.demand.clear();
        for row in rows {
            let jobs = &self.jobs[row.task];
            for lower in 0..level {
                let before = if lower > 0 { jobs[lower - 1] } else { 0 };
                let more = jobs[lower] - before;
                self.demand
                    .add_constant(more.saturating_mul(row.wcet[lower.min(row.criticality)]));
            }
            if row.criticality < level {
                continue;
            }
            match if level > 0 { jobs[level - 1] } else { 0 } {
                0 => self.demand.add(row.period, row.wcet[level]),
                before => {
                    let next = before.saturating_mul(row.period);
                    self.demand
                        .add_running(next, row.period, row.wcet[level], 0);
                }
            }
        }
        self.busy[level] = self.solve(level, limit)?;
        let before = |jobs: &[u64; LEVELS_MAX]| if level > 0 { jobs[level - 1] } else { 0 };
        let mut change = 0;
        for row in rows {
            let jobs = &mut self.jobs[row.task];
            jobs[level] = before(jobs);
            if row.criticality == level {
                jobs[level] = jobs[level].max(released_within(self.busy[level], row.period));
                let last = (jobs[level] - 1).saturating_mul(row.period);
                change = change.max(last.saturating_add(row.wcet[level]));
            }
        }
        for row in rows.iter().filter(|row| row.criticality > level) {
            let jobs = &mut self.jobs[row.task][level];
            *jobs = (*jobs).max(match rounding {
                Rounding::Ceil => change.div_ceil(row.period),
                Rounding::Floor => change / row.period,
            });
        }
        Ok(())
    }
}
