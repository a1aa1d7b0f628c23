//! The greatest response time of AMC-IA over the instants of mode changes.
//!
//! Equations and corrections stand in [`crate::schedulability::amc_ia`]. For an instant vector s the
//! fixed point counts, of each more urgent task, the jobs due by s_{l+1} at C(l): they are *confined*
//! to level l. The search is depth first. Of s_{l+1} only one value matters between two releases of
//! the tasks of criticality l, the smallest: later ones confine more jobs of the others, leave less
//! room for s_{l+2}, and give the tasks of criticality l no further job.
//!
//! Pruning: with s_1, ..., s_l fixed, the equation of `amc-rtb` with R(l; s) in place of R(l) bounds
//! everything below. No instant lies after R(l; s), and confined jobs cost no more than others.

use crate::demand::{Bound, Demand};
use crate::problem::Row;
use crate::schedulability::instants::{Path, Search, Stop, start};

/// Which instants are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Range {
    /// Deadlines of the more urgent tasks, released together at 0.
    #[default]
    Deadlines,
    /// All.
    Full,
}

/// The search.
#[derive(Debug, Default)]
pub(crate) struct Interference {
    pub(super) range: Range,
    exact: Demand,
    branch: Demand,
}

impl Interference {
    pub(super) fn over(range: Range) -> Self {
        Self {
            range,
            ..Self::default()
        }
    }
}

impl Search for Interference {
    fn walk(&mut self, set: &[Row], own: usize, path: &mut Path<'_>) -> Result<(), Stop> {
        let mut walk = Walk {
            set,
            own,
            search: self,
            path,
        };
        walk.descend(0)
    }
}

/// One depth-first search. At depth l the instants s_1 to s_l are fixed.
struct Walk<'a, 'p> {
    /// Sorted by criticality, lowest first.
    set: &'a [Row],
    /// The task whose response time is sought; it has one job.
    own: usize,
    search: &'a mut Interference,
    path: &'a mut Path<'p>,
}

impl Walk<'_, '_> {
    fn descend(&mut self, level: usize) -> Result<(), Stop> {
        let response = self.response(level);
        let Some(response) = self.path.descend(level, response)? else {
            return Ok(());
        };
        if let Bound::Found(bound) = self.branch_bound(level, response)
            && self.path.settles(bound)
        {
            return Ok(());
        }
        let latest = self.path.latest(level);
        let mut instant = self.next_after(latest);
        if instant > response {
            // Nothing lies in the range: the mode changes where it changed before.
            self.path.step()?;
            self.path.instants[level] = latest;
            return self.descend(level + 1);
        }
        while instant <= response {
            self.path.step()?;
            self.path.instants[level] = instant;
            self.descend(level + 1)?;
            instant = self.next_after(self.same_jobs_until(level, instant));
        }
        Ok(())
    }

    /// The first candidate after `instant`.
    fn next_after(&self, instant: u64) -> u64 {
        match self.search.range {
            Range::Full => instant.saturating_add(1),
            Range::Deadlines => {
                let others = self.set.iter().filter(|row| row.task != self.own);
                let next = others.map(|row| match instant.checked_sub(row.deadline) {
                    None => row.deadline,
                    Some(since) => (since / row.period + 1)
                        .saturating_mul(row.period)
                        .saturating_add(row.deadline),
                });
                next.min().unwrap_or(u64::MAX)
            }
        }
    }

    /// The last instant at which the tasks of criticality `level` have as many jobs as at `instant`.
    fn same_jobs_until(&self, level: usize, instant: u64) -> u64 {
        let rows = &self.set[start(self.set, level)..start(self.set, level + 1)];
        let others = rows.iter().filter(|row| row.task != self.own);
        let last = others.map(|row| instant.div_ceil(row.period).saturating_mul(row.period));
        last.min().unwrap_or(u64::MAX)
    }

    /// R(level; s_1, ..., s_level).
    fn response(&mut self, level: usize) -> Bound {
        let start = start(self.set, level);
        let fixed = &self.path.instants[..level];
        let demand = &mut self.search.exact;
        demand.clear();
        add_left(demand, &self.set[..start], fixed);
        for row in &self.set[start..] {
            if row.task == self.own {
                demand.add_constant(row.wcet[level]);
                continue;
            }
            let (cost, confined) = confined(row, fixed);
            demand.add_constant(cost);
            if confined == 0 {
                demand.add(row.period, row.wcet[level]);
            } else {
                let next = confined.saturating_mul(row.period);
                demand.add_running(next, row.period, row.wcet[level], 0);
            }
        }
        demand.solve(0, self.path.limit)
    }

    /// See [`Path::branch_bound`].
    fn branch_bound(&mut self, level: usize, response: u64) -> Bound {
        let start = start(self.set, level);
        let demand = &mut self.search.branch;
        demand.clear();
        add_left(demand, &self.set[..start], &self.path.instants[..level]);
        let (own, rows) = (Some(self.own), &self.set[start..]);
        self.path.branch_bound(demand, rows, level, own, response)
    }
}

/// The demand of tasks whose levels the mode has left at these instants.
fn add_left(demand: &mut Demand, left: &[Row], fixed: &[u64]) {
    for row in left {
        let (cost, confined) = confined(row, &fixed[..row.criticality]);
        let jobs = fixed[row.criticality].div_ceil(row.period);
        let rest = jobs.saturating_sub(confined);
        let rest = rest.saturating_mul(row.wcet[row.criticality]);
        demand.add_constant(cost.saturating_add(rest));
    }
}

/// What the jobs due by these instants need, each at the level it is confined to, and how many they
/// are.
fn confined(row: &Row, instants: &[u64]) -> (u64, u64) {
    let (mut cost, mut jobs) = (0_u64, 0);
    for (level, instant) in instants.iter().enumerate() {
        let due = match instant.checked_sub(row.deadline) {
            Some(since) => since / row.period + 1,
            None => 0,
        };
        let more: u64 = due - jobs;
        cost = cost.saturating_add(more.saturating_mul(row.wcet[level]));
        jobs = due;
    }
    (cost, jobs)
}
