//! `amc-max` without the "+ 1" of the upgraded jobs.
//!
//! The mistake: of the jobs of j that can need more than C_j(l), those released with a deadline
//! after the change are counted, ceil((end - s - (T_j - D_j))^+ / T_j), but not the one that is
//! under way when the mode changes, although it is the one whose overrun changes it.

use crate::problem::Row;

/// The wrong R_i(L) for each level up to the task's own.
pub(crate) fn responses_without_plus_one(row: &Row, more_urgent: &[Row]) -> Option<Vec<u64>> {
    if row.own_wcet() > row.deadline {
        return None;
    }
    let levels = 0..=row.criticality;
    let walk = Walk { row, more_urgent };
    levels
        .map(|level| walk.greatest(level, &mut Vec::new()))
        .collect()
}

struct Walk<'a> {
    row: &'a Row,
    more_urgent: &'a [Row],
}

impl Walk<'_> {
    /// The greatest value over all candidate instants that begin with `instants`.
    fn greatest(&self, level: usize, instants: &mut Vec<u64>) -> Option<u64> {
        let depth = instants.len();
        let response = self.response(depth, instants)?;
        if depth == level {
            return Some(response);
        }
        let mut greatest = 0;
        for instant in self.candidates(depth, instants, response) {
            instants.push(instant);
            let below = self.greatest(level, instants);
            instants.pop();
            greatest = greatest.max(below?);
        }
        Some(greatest)
    }

    /// As for the real test: the previous instant, and where a task of this level gains a job.
    fn candidates(&self, level: usize, instants: &[u64], response: u64) -> Vec<u64> {
        let latest = instants.last().copied().unwrap_or(0);
        let mut candidates = vec![latest];
        for row in self
            .more_urgent
            .iter()
            .filter(|row| row.criticality == level)
        {
            let upgraded = instants
                .iter()
                .map(|instant| instant + (row.period - row.deadline) + 1);
            for first in upgraded.chain([0]) {
                let mut next = first;
                while next < response {
                    if next > latest {
                        candidates.push(next);
                    }
                    next += row.period;
                }
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    fn response(&self, level: usize, instants: &[u64]) -> Option<u64> {
        let mut window = self.row.wcet[level];
        loop {
            let needed = self
                .more_urgent
                .iter()
                .fold(self.row.wcet[level], |sum, other| {
                    sum.saturating_add(demand(other, level, instants, window))
                });
            if needed > self.row.deadline {
                return None;
            }
            if needed == window {
                return Some(window);
            }
            window = needed;
        }
    }
}

fn demand(row: &Row, level: usize, instants: &[u64], window: u64) -> u64 {
    let (end, jobs) = if row.criticality >= level {
        (window, window.div_ceil(row.period).max(1))
    } else {
        let end = instants[row.criticality];
        (end, end / row.period + 1)
    };
    let mut sum = jobs.saturating_mul(row.wcet[0]);
    let changes = row.criticality.min(level);
    for (lower, instant) in instants.iter().enumerate().take(changes) {
        let after = end.saturating_sub(instant + (row.period - row.deadline));
        // Right would be one more.
        let upgraded = jobs.min(after.div_ceil(row.period));
        let growth = row.wcet[lower + 1] - row.wcet[lower];
        sum = sum.saturating_add(upgraded.saturating_mul(growth));
    }
    sum
}
