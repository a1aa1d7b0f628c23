//! `amc-rtb` where tasks keep a degraded budget: equations 7 to 9 of Missimer, Missimer and West (2016, after
//! Burns and Baruah, WMC 2013), for any number of levels.
//!
//! G_j is the degraded budget of task j, what a job of it may execute in all while the mode is above z_j; 0 without one.
//! Jobs released while the mode is at most z_j may have executed up to C_j(z_j), and those released later at most G_j. If
//! the job of i is incomplete when the mode leaves z_j, then that happens at R_i(z_j) at the latest, hence for G_j <= C_j(z_j)
//!
//! R_i(L) = C_i(L) + sum over j in hp(i), z_j >= L of ceil(R_i(L) / T_j) * C_j(L)
//!                 + sum over j in hp(i), z_j < L of ceil(R_i(z_j) / T_j) * C_j(z_j)
//!                                               + (ceil(R_i(L) / T_j) - ceil(R_i(z_j) / T_j)) * G_j <= D_i.
//!
//! For G_j > C_j(z_j) also a job that was released before may go on to G_j: all ceil(R_i(L) / T_j) jobs count for that.
//!
//! A task i with a degraded budget has R_i(L) also for each L above z_i, up to the highest criticality of the set: the same
//! equations with G_i for C_i(L), and from level 0 on with min(C_i(L), G_i) (equation 8). So each of its jobs has executed
//! G_i by its deadline, or is done: one that needs no more than that and C_i(z_i) meets its deadline in every mode. This
//! is asked for also where nobody cares for that guarantee, because a job that still had a part of G_i to execute at its
//! deadline would delay the next one, and ceil(R / T_i) jobs would not be all that interfere. Such a bound is not one of a
//! set of tasks: it depends on who is the least urgent.

use crate::bounds::Bounds;
use crate::demand::{Bound, Demand};
use crate::problem::{Problem, Row};

/// G of each task that keeps one below the highest criticality of the set, above which the mode never rises.
#[derive(Debug)]
pub(super) struct Budgets {
    by_task: Vec<Option<u64>>,
    /// The highest criticality of a task.
    highest: usize,
}

impl Budgets {
    /// `None` if no task keeps a budget that counts.
    pub(super) fn of(problem: &Problem) -> Option<Self> {
        let rows = problem.rows();
        let highest = rows.iter().map(|row| row.criticality).max()?;
        let counts =
            |row: &&Row| row.criticality < highest && problem.tasks()[row.task].degraded.is_some();
        rows.iter().find(counts)?;
        let budget = |row: &Row| {
            let budget = problem.tasks()[row.task].degraded?;
            // As with C: a job that may execute nothing waits for the CPU all the same.
            (row.criticality < highest).then_some(budget.as_nanos().max(1))
        };
        Some(Self {
            by_task: rows.iter().map(budget).collect(),
            highest,
        })
    }

    fn of_task(&self, row: &Row) -> Option<u64> {
        self.by_task[row.task]
    }
}

/// R_i(L) of the equations above.
#[derive(Debug)]
pub(super) struct DegradedBounds<'a> {
    budgets: &'a Budgets,
    demand: &'a mut Demand,
    least_urgent: Option<Row>,
}

impl<'a> DegradedBounds<'a> {
    pub(super) fn new(budgets: &'a Budgets, demand: &'a mut Demand) -> Self {
        Self {
            budgets,
            demand,
            least_urgent: None,
        }
    }

    /// Whether `row` may be the least urgent of `set`.
    pub(super) fn pass(&mut self, row: &Row, set: &[Row]) -> bool {
        self.least_urgent(row);
        let highest = self.levels(row) - 1;
        [row.criticality, highest]
            .into_iter()
            .all(|level| matches!(self.at(set, level, row.deadline), Bound::Found(_)))
    }

    /// What a job of the least urgent task counts for at `level`, if the question is when it has executed `budget` in a
    /// mode above its own.
    fn own(row: &Row, level: usize, budget: Option<u64>) -> u64 {
        match budget {
            Some(budget) if level > row.criticality => budget,
            Some(budget) => row.wcet[level].min(budget),
            None => row.wcet[level],
        }
    }
}

impl Bounds for DegradedBounds<'_> {
    fn is_undecided(&self) -> bool {
        self.demand.is_undecided()
    }

    fn least_urgent(&mut self, row: &Row) {
        self.least_urgent = Some(*row);
    }

    fn levels(&self, row: &Row) -> usize {
        match self.budgets.of_task(row) {
            Some(_) => self.budgets.highest + 1,
            None => row.criticality + 1,
        }
    }

    fn load(&mut self, _: &[Row]) {}

    /// From level 0 on each time: above its own level a task has other bounds at the levels below, too.
    fn at(&mut self, set: &[Row], level: usize, limit: u64) -> Bound {
        let (own_task, budget) = match &self.least_urgent {
            Some(row) if level > row.criticality => (row.task, self.budgets.of_task(row)),
            Some(row) => (row.task, None),
            None => return Bound::AtLeast(u64::MAX),
        };
        self.demand.clear();
        for row in set {
            let budget = budget.filter(|_| row.task == own_task);
            self.demand.add(row.period, Self::own(row, 0, budget));
        }
        for now in 0..level {
            let found = self.demand.solve(0, limit);
            if !matches!(found, Bound::Found(_)) {
                return found;
            }
            for (index, row) in set.iter().enumerate() {
                if row.task == own_task {
                    self.demand.raise(index, Self::own(row, now + 1, budget));
                } else if row.criticality > now {
                    self.demand.raise(index, row.wcet[now + 1]);
                } else if row.criticality == now {
                    let budget = self.budgets.of_task(row).unwrap_or(0);
                    self.demand.degrade(index, budget);
                }
            }
        }
        self.demand.solve(0, limit)
    }
}
