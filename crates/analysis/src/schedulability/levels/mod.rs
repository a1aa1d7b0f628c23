//! MC² (Herman, Kenna, Mollison, Anderson and Johnson, RTAS 2012; Mollison et al., ICESS 2010): levels A and B of each CPU, and what
//! they leave to level C.
//!
//! What is decided: whether each level-A task has a CPU, and each CPU a table in which all jobs of its level-A tasks have C_i(A) in time
//! (`table`, or given: `given`); and whether what a table leaves in a run of level B, in which no job of levels A and B of
//! the CPU needs more than C_i(B), is enough for the CPU's level-B tasks (`pattern`, `local`). Tasks without a CPU are placed (`place`).
//! Level C has, on each CPU, at least the share that levels A and B leave in a run of level C, less a burst: `tardiness::Closed`.
//!
//! Assumptions: A1 preemptive CPUs without overhead that do not delay one another. A2 level-A tasks are periodic and come at the
//! multiples of their periods, as tables begin at time 0; level-B tasks are sporadic; D <= T. A3 budgets hold, and what a job does not need
//! of its own is used up by its ghost while lower levels have the CPU.
//!
//! Whether level C is bounded with that is `tardiness`, and all three levels together are the test: `answer`. Kind: sufficient. Levels A
//! and B are decided exactly for a placement and tables that are given, as far as they are decided; otherwise another placement may do,
//! or another table, which may leave more at once; and the bound for level C is one.
//!
//! Slow twins: `oracle`, `tardiness::oracle`. Known-wrong variants: `control`.

mod answer;
#[cfg(any(test, feature = "controls"))]
pub(crate) mod control;
mod given;
mod local;
#[cfg(test)]
mod oracle;
mod pattern;
mod place;
mod table;
pub mod tardiness;
#[cfg(test)]
mod tests;

pub(crate) use answer::analyse;

use crate::grade::Grade;
use crate::level_reason::LevelReason;
use crate::parameters::{DispatchTable, task_id};
use crate::problem::{Problem, Row};
use local::Local;
use pattern::Pattern;
use tardiness::{Closed, Wanted};
use vestal_core::CpuId;

/// In which order the level-B tasks of a CPU go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Earliest deadline first.
    Deadlines,
    /// Shorter periods first, equal ones as the tasks stand.
    Rates,
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    /// The tasks, the CPUs, and the placement and tables that are given.
    pub(crate) problem: &'a Problem,
    /// What each level of the problem is, lowest first; each at most once.
    pub(crate) grades: &'a [Grade],
    /// How level B goes.
    pub(crate) order: Order,
    /// The CPU on which no task is placed that may be elsewhere, if there are several.
    pub(crate) interrupt_master: Option<CpuId>,
}

/// What was found where level A is schedulable.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// By task; `None` for tasks of levels C and D.
    pub(crate) homes: Vec<Option<CpuId>>,
    /// By CPU.
    pub(crate) tables: Vec<DispatchTable>,
    /// By task, in ns: bounds on response times in runs of level B, where they are known.
    pub(crate) responses: Vec<Option<u64>>,
    /// By CPU, what level C does not have; empty if there is no level C.
    pub(crate) closed: Vec<Closed>,
    /// Why level B is not schedulable, or not known to be: then its homes are where there is least to do.
    pub(crate) why: Option<LevelReason>,
}

/// How many steps may still be taken: jobs of tables, and pieces of what they close that are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    left: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { left: 10_000_000 }
    }
}

impl Effort {
    /// Whether so many steps may be taken; they are.
    fn take(&mut self, steps: u64) -> bool {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

impl Question<'_> {
    fn grade(&self, row: &Row) -> Grade {
        self.grades
            .get(row.criticality)
            .copied()
            .unwrap_or(Grade::D)
    }

    /// Which level of the problem this is.
    fn level(&self, grade: Grade) -> Option<usize> {
        self.grades.iter().position(|&other| other == grade)
    }

    /// The level-B tasks of a CPU in their order.
    fn judge_local(&self, local: &Local<'_>, effort: &mut Effort) -> Result<Vec<u64>, LevelReason> {
        match self.order {
            Order::Deadlines => local.by_deadlines(effort).map(|()| Vec::new()),
            Order::Rates => local.by_rates(effort),
        }
    }

    /// Levels A and B, and what they leave.
    ///
    /// # Errors
    /// Why level A is not schedulable, or not known to be.
    pub(crate) fn find(&self, effort: &mut Effort) -> Result<Found, LevelReason> {
        self.check_assumptions()?;
        let cpus = usize::from(self.problem.cpus());
        let mut homes = vec![None; self.problem.tasks().len()];
        let tables = place::tables(self, &mut homes, effort)?;
        let level = self.level(Grade::B).or_else(|| self.level(Grade::A));
        let patterns: Vec<Pattern> = (0..cpus)
            .map(|cpu| match level {
                Some(level) => Pattern::new(&tables[cpu], &self.rows(&homes, Grade::A, cpu), level),
                None => Pattern::of_pieces(1, Vec::new()),
            })
            .collect();
        let mut why = place::local(self, &patterns, &mut homes, effort);
        let mut responses = vec![None; homes.len()];
        for (cpu, pattern) in (0..).map(CpuId).zip(&patterns) {
            let rows = self.rows(&homes, Grade::B, cpu.index());
            let local = Local {
                cpu,
                pattern,
                rows: &rows,
            };
            match self.judge_local(&local, effort) {
                Ok(found) => {
                    for (row, response) in rows.iter().zip(found) {
                        responses[row.task] = Some(response);
                    }
                }
                Err(late) => why = why.or(Some(late)),
            }
        }
        let closed = match self.level(Grade::C) {
            Some(level) => (0..cpus)
                .map(|cpu| self.closed(&homes, (cpu, &tables[cpu]), level))
                .collect(),
            None => Vec::new(),
        };
        Ok(Found {
            homes,
            tables,
            responses,
            closed,
            why,
        })
    }

    /// Tables are for periodic tasks, and CPUs for levels A and B.
    fn check_assumptions(&self) -> Result<(), LevelReason> {
        for row in self.problem.rows() {
            let task = task_id(row.task);
            let grade = self.grade(row);
            let is_local = matches!(grade, Grade::A | Grade::B);
            if is_local && row.own_wcet() > row.deadline {
                return Err(LevelReason::WcetExceedsDeadline { task });
            }
            match grade {
                Grade::A => {
                    let first = self.problem.first_release(task);
                    let in_step =
                        first.is_some_and(|first| first.as_nanos().is_multiple_of(row.period));
                    if !in_step {
                        return Err(LevelReason::NotPeriodic { task });
                    }
                }
                Grade::B => {}
                Grade::C | Grade::D => {
                    if self.given_home(row).is_some() {
                        return Err(LevelReason::HasCpu { task });
                    }
                }
            }
        }
        Ok(())
    }

    fn given_home(&self, row: &Row) -> Option<CpuId> {
        let partition = self.problem.given().partition.as_deref()?;
        partition.get(row.task).copied().flatten()
    }

    /// The tasks of a level that a CPU has, in their order.
    fn rows(&self, homes: &[Option<CpuId>], grade: Grade, cpu: usize) -> Vec<&Row> {
        let rows = self.problem.rows().iter();
        rows.filter(|row| {
            self.grade(row) == grade && homes[row.task].is_some_and(|home| home.index() == cpu)
        })
        .collect()
    }

    /// For how long a CPU is closed in a run of this level, in which no job of levels A and B needs more than its C of it.
    fn closed(
        &self,
        homes: &[Option<CpuId>],
        (cpu, table): (usize, &DispatchTable),
        level: usize,
    ) -> Closed {
        let pattern = Pattern::new(table, &self.rows(homes, Grade::A, cpu), level);
        let mut shares = vec![(pattern.closed_in_cycle(), pattern.cycle())];
        let mut burst = pattern.burst_nanos();
        for row in self.rows(homes, Grade::B, cpu) {
            let wanted = wanted(row, level);
            shares.push((wanted.wcet, wanted.period));
            burst = burst.saturating_add(wanted.burst());
        }
        Closed { shares, burst }
    }
}

/// What a task wants in a run of this level.
fn wanted(row: &Row, level: usize) -> Wanted {
    Wanted {
        wcet: row.exact_wcet(level),
        period: row.period,
        deadline: row.deadline,
    }
}
