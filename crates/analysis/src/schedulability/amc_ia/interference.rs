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

use crate::bounds::Bounds;
use crate::demand::{Bound, Demand};
use crate::problem::Row;
use crate::schedulability::amc_max::change_instants::{Goal, STEPS_MAX, Stop, VALUE_STEPS_MAX};
use vestal_core::model::LEVELS_MAX;

/// Which instants are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// Deadlines of the more urgent tasks, released together at 0.
    Deadlines,
    /// All.
    Full,
}

/// Memory of the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct InterferenceTables {
    exact: Demand,
    branch: Demand,
}

/// The greatest response times of the task named by [`Bounds::least_urgent`] in a set.
#[derive(Debug)]
pub(crate) struct InterferenceBounds<'a> {
    tables: &'a mut InterferenceTables,
    range: Range,
    goal: Goal,
    own: usize,
    /// How many of the [`STEPS_MAX`] are left for all decisions together.
    steps_left: u64,
}

impl<'a> InterferenceBounds<'a> {
    pub(crate) fn new(range: Range, goal: Goal, tables: &'a mut InterferenceTables) -> Self {
        Self {
            tables,
            range,
            goal,
            own: 0,
            steps_left: STEPS_MAX,
        }
    }

    /// Whether a search reached its limit undecided.
    pub(crate) fn gave_up(&self) -> bool {
        self.steps_left == 0
    }

    /// Marks the search as undecided: another one on whose answer this one rests is.
    pub(crate) fn give_up(&mut self) {
        self.steps_left = 0;
    }

    fn search(
        &mut self,
        set: &[Row],
        target: usize,
        limit: u64,
        goal: Goal,
        steps_left: &mut u64,
    ) -> Result<u64, Stop> {
        let mut walk = Walk {
            set,
            own: self.own,
            tables: self.tables,
            range: self.range,
            instants: [0; LEVELS_MAX],
            target,
            limit,
            goal,
            reached: 0,
            steps_left,
        };
        walk.descend(0)?;
        Ok(walk.reached)
    }
}

impl Bounds for InterferenceBounds<'_> {
    fn least_urgent(&mut self, row: &Row) {
        self.own = row.task;
    }

    fn load(&mut self, _: &[Row]) {}

    fn at(&mut self, set: &[Row], level: usize, limit: u64) -> Bound {
        let mut value_steps = VALUE_STEPS_MAX;
        let mut found = match self.goal {
            Goal::Value => self.search(set, level, limit, Goal::Value, &mut value_steps),
            Goal::Decision => Err(Stop::OutOfSteps),
        };
        if let Err(Stop::OutOfSteps) = found {
            let mut steps = self.steps_left;
            found = self.search(set, level, limit, Goal::Decision, &mut steps);
            self.steps_left = steps;
        }
        match found {
            Ok(greatest) => Bound::Found(greatest),
            Err(Stop::Exceeds(response)) => Bound::AtLeast(response),
            Err(Stop::OutOfSteps) => Bound::AtLeast(limit.saturating_add(1)),
        }
    }
}

/// One depth-first search. At depth l the instants s_1 to s_l are fixed.
struct Walk<'a> {
    /// Sorted by criticality, lowest first.
    set: &'a [Row],
    /// The task whose response time is sought; it has one job.
    own: usize,
    tables: &'a mut InterferenceTables,
    range: Range,
    /// s_{l + 1} at index l.
    instants: [u64; LEVELS_MAX],
    target: usize,
    limit: u64,
    goal: Goal,
    /// The greatest value seen, bounds of pruned branches included.
    reached: u64,
    steps_left: &'a mut u64,
}

impl Walk<'_> {
    fn descend(&mut self, level: usize) -> Result<(), Stop> {
        let response = match self.response(level) {
            Bound::Found(response) => response,
            Bound::AtLeast(response) => return Err(Stop::Exceeds(response)),
        };
        if level == self.target {
            self.reached = self.reached.max(response);
            return Ok(());
        }
        if let Bound::Found(bound) = self.branch_bound(level, response)
            && self.settles(bound)
        {
            return Ok(());
        }
        let latest = self.latest(level);
        let mut instant = self.next_after(latest);
        if instant > response {
            // Nothing lies in the range: the mode changes where it changed before.
            self.step()?;
            self.instants[level] = latest;
            return self.descend(level + 1);
        }
        while instant <= response {
            self.step()?;
            self.instants[level] = instant;
            self.descend(level + 1)?;
            instant = self.next_after(self.same_jobs_until(level, instant));
        }
        Ok(())
    }

    /// Whether a branch with this upper bound may be left out.
    fn settles(&mut self, bound: u64) -> bool {
        let enough = match self.goal {
            Goal::Decision => self.limit,
            Goal::Value => self.reached,
        };
        if bound > enough {
            return false;
        }
        self.reached = self.reached.max(bound);
        true
    }

    fn step(&mut self) -> Result<(), Stop> {
        *self.steps_left = self.steps_left.saturating_sub(1);
        if *self.steps_left == 0 {
            return Err(Stop::OutOfSteps);
        }
        Ok(())
    }

    /// s_level, with s_0 = 0.
    fn latest(&self, level: usize) -> u64 {
        level.checked_sub(1).map_or(0, |index| self.instants[index])
    }

    /// The index in the set of the first task of at least this criticality.
    fn start(&self, level: usize) -> usize {
        self.set.partition_point(|row| row.criticality < level)
    }

    /// The first candidate after `instant`.
    fn next_after(&self, instant: u64) -> u64 {
        match self.range {
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
        let rows = &self.set[self.start(level)..self.start(level + 1)];
        let others = rows.iter().filter(|row| row.task != self.own);
        let last = others.map(|row| instant.div_ceil(row.period).saturating_mul(row.period));
        last.min().unwrap_or(u64::MAX)
    }

    /// R(level; s_1, ..., s_level).
    fn response(&mut self, level: usize) -> Bound {
        let start = self.start(level);
        let fixed = &self.instants[..level];
        let demand = &mut self.tables.exact;
        demand.clear();
        for row in &self.set[..start] {
            let (cost, confined) = confined(row, &fixed[..row.criticality]);
            let jobs = fixed[row.criticality].div_ceil(row.period);
            let rest = jobs.saturating_sub(confined);
            let rest = rest.saturating_mul(row.wcet[row.criticality]);
            demand.add_constant(cost.saturating_add(rest));
        }
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
        demand.solve(0, self.limit)
    }

    /// The bound of `amc-rtb` for R(target; s) with s_1, ..., s_level as they are and
    /// R(level; s) = `response`.
    fn branch_bound(&mut self, level: usize, response: u64) -> Bound {
        let start = self.start(level);
        let fixed = &self.instants[..level];
        let demand = &mut self.tables.branch;
        demand.clear();
        for row in &self.set[..start] {
            let (cost, confined) = confined(row, &fixed[..row.criticality]);
            let jobs = fixed[row.criticality].div_ceil(row.period);
            let rest = jobs.saturating_sub(confined);
            let rest = rest.saturating_mul(row.wcet[row.criticality]);
            demand.add_constant(cost.saturating_add(rest));
        }
        for row in &self.set[start..] {
            let jobs = if row.criticality == level && row.task != self.own {
                response.div_ceil(row.period)
            } else {
                1
            };
            let next = jobs.saturating_mul(row.period);
            demand.add_running(next, row.period, row.wcet[level], jobs);
        }
        let mut bound = Bound::Found(response);
        for mode in level + 1..=self.target {
            let below = self.start(mode) - start;
            for (index, row) in self.set[start..].iter().enumerate().skip(below) {
                self.tables.branch.raise(index, row.wcet[mode]);
            }
            bound = self.tables.branch.solve(below, self.limit);
            if let Bound::AtLeast(_) = bound {
                break;
            }
        }
        bound
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
