//! Job-arrival patterns: how many jobs of each task a busy period can contain.
//!
//! A *busy period* runs from an instant at which nothing is pending to the next such instant. B(m)
//! bounds its length up to the instant at which the mode exceeds m, and n_i(m) the number of jobs of
//! task i that are released in it before that. A job of task i is admitted only while the mode is at
//! most z_i, so n_i(z_i) bounds them all. The rules are in the files of the tests:
//!
//! | rule | test | B(m) is the least fixed point of |
//! |---|---|---|
//! | [`Rule::Own`] | `fjp-own` | sum over i of ceil(B / T_i) C_i(z_i), the same for every m |
//! | [`Rule::ClosedForm`] | `fjp-lb` | an upper bound of that in closed form |
//! | [`Rule::Mode`] | `fjp-mode` | sum over z_i < m of n_i C_i(z_i) + sum over z_i >= m of ceil(B / T_i) C_i(m) |
//! | [`Rule::Ija`] | `fjp-ija` | the equation there |
//!
//! A bound that would make the pattern longer than [`JOBS_MAX`] jobs is not sought.

use crate::demand::{Bound, Demand};
use crate::fixed_priority::OUT_OF_STEPS;
use crate::outcome::Reason;
use crate::problem::{Problem, Row};
use crate::rational::Bracket;
use vestal_core::Level;
use vestal_core::model::LEVELS_MAX;

/// How many jobs a pattern may have. Twenty tasks near the border of what is schedulable have some
/// hundreds; beyond this, lists would not fit where they are used.
pub(crate) const JOBS_MAX: u64 = 1 << 16;

/// How a pattern is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Every job at its own level's value.
    Own,
    /// The same bounded in closed form.
    ClosedForm,
    /// Mode by mode.
    Mode,
    /// The improved job-arrival pattern of Huang, Gill and Lu, which is refuted.
    Ija(Rounding),
}

/// How many jobs of a more critical task count as released before the mode leaves a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// ceil(s / T_i): those released before s.
    Ceil,
    /// floor(s / T_i): those due by s where D_i = T_i.
    Floor,
}

/// B(m) and n_i(m).
#[derive(Clone, Debug, Default)]
pub(crate) struct Pattern {
    pub(super) busy: [u64; LEVELS_MAX],
    pub(super) jobs: Vec<[u64; LEVELS_MAX]>,
    pub(super) demand: Demand,
}

impl Pattern {
    /// n_i(z_i) of the task of `row`.
    pub(crate) fn jobs(&self, row: &Row) -> u64 {
        self.jobs[row.task][row.criticality]
    }

    /// min{m : k <= n_i(m)}: the lowest mode in which the k-th job of the task can be released;
    /// counted from 1.
    pub(crate) fn level_of(&self, row: &Row, job: u64) -> usize {
        let levels = 0..row.criticality;
        let mut levels = levels.filter(|&level| job <= self.jobs[row.task][level]);
        levels.next().unwrap_or(row.criticality)
    }

    /// n_i(0), ..., n_i(z_i) for each task.
    pub(crate) fn by_task(&self, problem: &Problem) -> Vec<Vec<u64>> {
        let rows = problem.rows().iter();
        rows.map(|row| self.jobs[row.task][..=row.criticality].to_vec())
            .collect()
    }

    /// B(m) for each level.
    pub(crate) fn busy(&self, problem: &Problem) -> &[u64] {
        &self.busy[..problem.levels().count()]
    }

    /// Finds the pattern of a problem in which every C_i(z_i) <= D_i.
    pub(crate) fn find(&mut self, problem: &Problem, rule: Rule) -> Result<(), Reason> {
        let rows = problem.rows();
        self.busy = [0; LEVELS_MAX];
        self.jobs.clear();
        self.jobs.resize(rows.len(), [0; LEVELS_MAX]);
        let limit = longest(rows);
        match rule {
            Rule::Own => self.find_own(problem, limit)?,
            Rule::ClosedForm => self.find_closed_form(problem, limit)?,
            Rule::Mode => {
                for level in 0..problem.levels().count() {
                    self.find_mode(rows, level, limit)?;
                }
            }
            Rule::Ija(rounding) => {
                for level in 0..problem.levels().count() {
                    self.find_ija(rows, level, rounding, limit)?;
                }
            }
        }
        let total = rows.iter().map(|row| self.jobs(row));
        match total.fold(0, u64::saturating_add) > JOBS_MAX {
            true => Err(too_long(problem.levels().highest().index())),
            false => Ok(()),
        }
    }

    /// One bound for all modes.
    pub(super) fn set_all(
        &mut self,
        problem: &Problem,
        busy: u64,
        limit: u64,
    ) -> Result<(), Reason> {
        if busy > limit {
            return Err(too_long(0));
        }
        for level in 0..problem.levels().count() {
            self.busy[level] = busy;
            for row in problem.rows() {
                self.jobs[row.task][level] = released_within(busy, row.period);
            }
        }
        Ok(())
    }

    pub(super) fn solve(&mut self, level: usize, limit: u64) -> Result<u64, Reason> {
        match self.demand.solve(0, limit) {
            Bound::Found(busy) => Ok(busy),
            Bound::AtLeast(_) => Err(too_long(level)),
            Bound::Undecided => Err(OUT_OF_STEPS),
        }
    }
}

/// The jobs of a period that are released within a busy period; the first one begins it.
pub(super) fn released_within(busy: u64, period: u64) -> u64 {
    busy.div_ceil(period).max(1)
}

/// The longest busy period that has at most [`JOBS_MAX`] jobs, or a little above it.
fn longest(rows: &[Row]) -> u64 {
    const SCALE: u32 = 100;
    let reciprocals = rows.iter().map(|row| (1 << SCALE) / u128::from(row.period));
    let rate: u128 = reciprocals.sum();
    let longest = (u128::from(JOBS_MAX) << SCALE) / rate.max(1);
    u64::try_from(longest).map_or(u64::MAX - 1, |longest| longest.min(u64::MAX - 1))
}

/// The fixed point need not exist where the jobs that never end ask for more than the CPU. On the
/// border itself the search ends at its limit.
pub(super) fn check_utilization<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    level: usize,
    cost: impl Fn(&Row) -> u64,
) -> Result<(), Reason> {
    let sum = utilization(rows, cost);
    match sum.low > Bracket::ONE {
        true => Err(unbounded_by(sum, level)),
        false => Ok(()),
    }
}

pub(super) fn utilization<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    cost: impl Fn(&Row) -> u64,
) -> Bracket {
    let mut sum = Bracket::default();
    for row in rows {
        sum.add(cost(row), row.period);
    }
    sum
}

pub(super) fn unbounded(rows: &[Row], level: usize, cost: impl Fn(&Row) -> u64) -> Reason {
    unbounded_by(utilization(rows, cost), level)
}

fn unbounded_by(sum: Bracket, level: usize) -> Reason {
    Reason::BusyPeriodUnbounded {
        level: level_of(level),
        // Below one million only by rounding.
        utilization_ppm: sum.millionths_nearest().max(1_000_000),
    }
}

fn too_long(level: usize) -> Reason {
    Reason::PatternTooLong {
        level: level_of(level),
        jobs_max: JOBS_MAX,
    }
}

fn level_of(index: usize) -> Level {
    Level(u8::try_from(index).unwrap_or(u8::MAX))
}
