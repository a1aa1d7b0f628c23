//! Fixed job priorities: the part that the tests of PLRS share.
//!
//! `pattern` bounds how many jobs of each task a busy period can contain; `lists` gives each of
//! these jobs a priority, or checks given ones.

pub mod fjp_ija;
pub mod fjp_lb;
pub mod fjp_mode;
pub mod fjp_own;
#[cfg(feature = "oracle")]
pub mod oracle;

pub(crate) mod lists;
pub(crate) mod pattern;

use crate::assumptions::{self, trivially_infeasible};
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::parameters::task_id;
use crate::problem::Problem;
use lists::{Charge, Ranking};
use pattern::{Pattern, Rule};
use vestal_core::Duration;

/// Memory that the fast path uses again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobTables {
    pattern: Pattern,
    ranking: Ranking,
}

/// The answer of a sound test that finds its pattern by `rule`.
pub(crate) fn analyse_by(problem: &Problem, rule: Rule) -> Outcome {
    analyse_charged(problem, Kind::Sufficient, rule, Charge::Own)
}

/// The answer of a test of `kind`: the pattern of `rule`, and each job of it charged by `charge`.
pub(crate) fn analyse_charged(
    problem: &Problem,
    kind: Kind,
    rule: Rule,
    charge: Charge,
) -> Outcome {
    let count = problem.tasks().len();
    if let Some(reason) = assumptions::degraded(problem) {
        return Outcome::outside(kind, reason, count);
    }
    let tasks = vec![TaskOutcome::default(); count];
    if let Some(reason) = trivially_infeasible(problem) {
        return Outcome::decided(kind, Some(reason), tasks);
    }
    let JobTables {
        mut pattern,
        mut ranking,
    } = JobTables::default();
    if let Err(reason) = pattern.find(problem, rule) {
        return Outcome::decided(kind, Some(reason), tasks);
    }
    let decided = match &problem.given().job_priorities {
        Some(given) => {
            let rows = problem.rows();
            let decided = ranking.check(rows, &pattern, charge, given);
            decided.map(|()| lists::cut(rows, &pattern, given))
        }
        None => ranking.lists(problem.rows(), &pattern, charge),
    };
    let mut outcome = Outcome::decided(kind, decided.as_ref().err().cloned(), tasks);
    let parameters = &mut outcome.parameters;
    parameters.job_priorities = decided.ok();
    parameters.patterns = Some(pattern.by_task(problem));
    let busy = pattern.busy(problem).iter();
    parameters.busy_periods = Some(busy.map(|&nanos| Duration::from_nanos(nanos)).collect());
    outcome
}

/// Whether the condition of [`analyse_by`] holds.
pub(crate) fn accepts_by(problem: &Problem, rule: Rule, tables: &mut JobTables) -> bool {
    let JobTables { pattern, ranking } = tables;
    let found = assumptions::degraded(problem).is_none()
        && trivially_infeasible(problem).is_none()
        && pattern.find(problem, rule).is_ok();
    found
        && match &problem.given().job_priorities {
            Some(given) => {
                let rows = problem.rows();
                ranking.check(rows, pattern, Charge::Own, given).is_ok()
            }
            None => ranking.some_order_passes(problem.rows(), pattern),
        }
}

/// Why no job of those left may have `priority`.
fn nobody_fits(priority: u32, left: &[u64]) -> Reason {
    let with_jobs = left.iter().enumerate().filter(|(_, jobs)| **jobs > 0);
    Reason::NoLowestJob {
        priority,
        left: with_jobs.map(|(index, _)| task_id(index)).collect(),
    }
}
