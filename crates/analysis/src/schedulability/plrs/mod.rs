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
use crate::scratch::Scratch;
use lists::{Charge, Ranking};
use pattern::{Pattern, Rule};
use vestal_core::Duration;

/// Memory that the fast path uses again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobTables {
    pattern: Pattern,
    ranking: Ranking,
}

/// The answer of the test that finds its pattern by `rule`, with lists, pattern and busy periods. There are no response
/// times.
pub(crate) fn analyse(problem: &Problem, rule: Rule) -> Outcome {
    let (kind, charge) = match rule {
        Rule::Own | Rule::ClosedForm | Rule::Mode => (Kind::Sufficient, Charge::Own),
        Rule::Ija(_) => (Kind::Unsafe, Charge::PatternAware),
    };
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

/// Whether the condition of a sound test, whose jobs are charged their own level's values, holds.
pub(crate) fn accepts(problem: &Problem, rule: Rule, scratch: &mut Scratch) -> bool {
    let Scratch { own, ran_out, .. } = scratch;
    let JobTables { pattern, ranking } = own.of();
    let found = assumptions::degraded(problem).is_none()
        && trivially_infeasible(problem).is_none()
        && match pattern.find(problem, rule) {
            Ok(()) => true,
            Err(why) => {
                *ran_out |= why.is_undecided();
                false
            }
        };
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
