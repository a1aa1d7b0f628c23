//! The worst instants at which the mode may change: the search behind `amc-max`.
//!
//! For a set U of tasks and change instants s_1 <= s_2 <= ... <= s_L (the mode becomes l at s_l)
//! the window R_U(L; s) is a least fixed point of the equation in [`crate::schedulability::amc_max`].
//! As in [`crate::bounds`], the least urgent task of U counts as one more interfering job: a window
//! that ends by its deadline contains one job of it, and that job needs C(L) whatever s is. So the
//! values depend on U alone, and R_U(L) is the greatest of them.
//!
//! # From counts to streams
//!
//! Write off = s_{l+1} + T_j - D_j. Of the N_j jobs of j in the window, those that may need more
//! than C_j(l) are m_{l+1} = min(m_l, ceil((end - off)^+ / T_j) + 1), and the demand of j is
//! N_j C_j(0) + sum over l of m_{l+1} (C_j(l+1) - C_j(l)). Instants do not fall, so neither do the
//! offsets, and the minimum matters for N_j only:
//!
//! - s_{l+1} < D_j, that is off < T_j: ceil((end - off)^+ / T_j) + 1 >= N_j, so all N_j jobs count;
//! - otherwise: one job at first, and one more whenever the end passes off + n T_j. Their number
//!   never exceeds N_j.
//!
//! Each summand thus grows by a constant at fixed distances, which is what a [`Demand`] counts.
//! It also follows that R_U(l; s) > s_l: up to s_l the demand is at least that of level l - 1, and
//! R_U(l - 1; s) > s_l. What has grown by s_l may be counted before the search starts.
//!
//! # Pruning
//!
//! With the instants up to s_l fixed, the equation of `amc-rtb` with R(l; s) in place of R(l) is an
//! upper bound of everything below. A branch is left out if that bound cannot change the answer.
//! At the root the bound is that of `amc-rtb` itself. In the innermost loop it only grows with the
//! instant, so that one count serves the whole loop.

use crate::demand::{Bound, Demand};
use crate::problem::Row;
use crate::schedulability::instants::{Path, Search, Stop, start};
use vestal_core::model::LEVELS_MAX;

/// The search.
#[derive(Debug, Default)]
pub(crate) struct ChangeInstants {
    /// Of one vector of instants.
    exact: Demand,
    /// Of the upper bound for a branch.
    branch: Demand,
    /// Of the upper bound in the innermost loop.
    innermost: Demand,
    /// The next candidates of all open loops, innermost last.
    points: Vec<Point>,
}

/// Instants `next`, `next + period`, ... at which a demand grows.
#[derive(Clone, Copy, Debug)]
struct Point {
    next: u64,
    period: u64,
    /// The execution time of the job released there; 0 if none is.
    cost: u64,
}

impl Search for ChangeInstants {
    fn walk(&mut self, set: &[Row], _: usize, path: &mut Path<'_>) -> Result<(), Stop> {
        self.points.clear();
        let mut walk = Walk {
            set,
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
    search: &'a mut ChangeInstants,
    path: &'a mut Path<'p>,
}

impl Walk<'_, '_> {
    /// Looks at all instants from s_{level + 1} on.
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
        let first = self.search.points.len();
        self.push_points(level);
        if level + 1 == self.path.target {
            self.try_innermost(level, response, first)?;
        } else {
            self.try_instants(level, response, first)?;
        }
        self.search.points.truncate(first);
        Ok(())
    }

    /// Tries each candidate for s_{level + 1}, from s_level on and below `response`.
    fn try_instants(&mut self, level: usize, response: u64, first: usize) -> Result<(), Stop> {
        let mut instant = self.path.latest(level);
        loop {
            self.path.step()?;
            self.path.instants[level] = instant;
            self.descend(level + 1)?;
            (instant, _) = next_instant(&mut self.search.points[first..], instant);
            if instant >= response {
                return Ok(());
            }
        }
    }

    /// As [`Self::try_instants`] where s_{level + 1} is the last instant: the bound is counted
    /// along, so that most instants need nothing more.
    fn try_innermost(&mut self, level: usize, response: u64, first: usize) -> Result<(), Stop> {
        let mut instant = self.path.latest(level);
        self.load_innermost(level);
        // Once the bound exceeds the limit it does so for all later instants.
        let mut bounded = true;
        loop {
            self.path.step()?;
            self.path.instants[level] = instant;
            let mut settled = false;
            if bounded {
                match self.search.innermost.solve(0, self.path.limit) {
                    Bound::Found(bound) => settled = self.path.settles(bound),
                    Bound::AtLeast(_) | Bound::Undecided => bounded = false,
                }
            }
            if !settled {
                self.descend(level + 1)?;
            }
            let gained;
            (instant, gained) = next_instant(&mut self.search.points[first..], instant);
            self.search.innermost.add_constant(gained);
            if instant >= response {
                return Ok(());
            }
        }
    }

    /// R_U(level; s_1, ..., s_level).
    fn response(&mut self, level: usize) -> Bound {
        let latest = self.path.latest(level);
        let (left, running) = self.set.split_at(start(self.set, level));
        let demand = &mut self.search.exact;
        demand.clear();
        for row in left {
            demand.add_constant(demand_of_left(row, &self.path.instants));
        }
        let fixed = &self.path.instants[..level];
        for row in running {
            let full = fixed.partition_point(|&instant| instant < row.deadline);
            let jobs = latest / row.period + 1;
            let next = jobs.saturating_mul(row.period);
            demand.add_running(next, row.period, row.wcet[full], jobs);
            for (index, &instant) in fixed.iter().enumerate().skip(full) {
                let growth = row.wcet[index + 1] - row.wcet[index];
                if growth == 0 {
                    continue;
                }
                let offset = instant.saturating_add(row.period - row.deadline);
                let passed = latest
                    .checked_sub(offset)
                    .map_or(0, |since| since / row.period + 1);
                let next = offset.saturating_add(passed.saturating_mul(row.period));
                demand.add_running(next, row.period, growth, passed + 1);
            }
        }
        demand.solve(0, self.path.limit)
    }

    /// The bound of `amc-rtb` for R_U(target; s) with s_1, ..., s_level as they are and
    /// R_U(level; s) = `response`.
    fn branch_bound(&mut self, level: usize, response: u64) -> Bound {
        let start = start(self.set, level);
        let demand = &mut self.search.branch;
        demand.clear();
        for row in &self.set[..start] {
            demand.add_constant(demand_of_left(row, &self.path.instants));
        }
        self.path
            .branch_bound(demand, &self.set[start..], level, None, response)
    }

    /// The candidates for s_{level + 1} after s_level. The demand of a task of criticality `level`
    /// ends there, so it gains a job at n T_j, and an upgraded one just after
    /// s_{l'} + (T_j - D_j) + n T_j for each earlier change l'. Between these instants a later one
    /// only moves jobs of the tasks that stay from the higher execution time to the lower.
    fn push_points(&mut self, level: usize) {
        let latest = self.path.latest(level);
        for row in &self.set[start(self.set, level)..start(self.set, level + 1)] {
            self.search.points.push(Point {
                next: (latest / row.period + 1).saturating_mul(row.period),
                period: row.period,
                cost: row.wcet[level],
            });
            for &instant in &self.path.instants[..level] {
                let gain = instant
                    .saturating_add(row.period - row.deadline)
                    .saturating_add(1);
                let passed = latest
                    .checked_sub(gain)
                    .map_or(0, |since| since / row.period + 1);
                self.search.points.push(Point {
                    next: gain.saturating_add(passed.saturating_mul(row.period)),
                    period: row.period,
                    cost: 0,
                });
            }
        }
    }

    /// The bound of the innermost loop at s_{level + 1} = s_level: all jobs of the tasks that stay
    /// need C(target), those of criticality `level` their own execution time.
    fn load_innermost(&mut self, level: usize) {
        let latest = self.path.latest(level);
        let (start, stay) = (start(self.set, level), start(self.set, level + 1));
        let demand = &mut self.search.innermost;
        demand.clear();
        for row in &self.set[..start] {
            demand.add_constant(demand_of_left(row, &self.path.instants));
        }
        for row in &self.set[start..stay] {
            let jobs = latest / row.period + 1;
            demand.add_constant(jobs.saturating_mul(row.wcet[level]));
        }
        for row in &self.set[stay..] {
            demand.add(row.period, row.wcet[level + 1]);
        }
    }
}

/// The demand of a task whose level the mode has left at s_{z + 1}.
fn demand_of_left(row: &Row, instants: &[u64; LEVELS_MAX]) -> u64 {
    let end = instants[row.criticality];
    let jobs = end / row.period + 1;
    let mut sum = jobs.saturating_mul(row.wcet[0]);
    for (level, instant) in instants[..row.criticality].iter().enumerate() {
        let offset = instant.saturating_add(row.period - row.deadline);
        let upgraded = end.saturating_sub(offset).div_ceil(row.period) + 1;
        let growth = row.wcet[level + 1] - row.wcet[level];
        sum = sum.saturating_add(jobs.min(upgraded).saturating_mul(growth));
    }
    sum
}

/// Moves all points to after `instant`. The result is the next candidate, `u64::MAX` if there is
/// none, and the execution time of the jobs that are gained there.
fn next_instant(points: &mut [Point], instant: u64) -> (u64, u64) {
    let (mut next, mut gained) = (u64::MAX, 0u64);
    for point in points {
        if point.next <= instant {
            point.next = point.next.saturating_add(point.period);
        }
        if point.next < next {
            (next, gained) = (point.next, point.cost);
        } else if point.next == next {
            gained = gained.saturating_add(point.cost);
        }
    }
    (next, gained)
}
