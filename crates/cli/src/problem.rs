//! From a task set to what a test is to prove, and where priorities come from.

use crate::catalogue;
use crate::failure::Failure;
use crate::input::shown;
use std::path::Path;
use vestal_analysis::{Phasing, Problem, Test};
use vestal_core::LevelSet;
use vestal_core::OrderRule;
use vestal_workload::TaskSet;
use vestal_workload::model::{Arrival, OnMiss};

/// Priorities in task order, and who gave them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) priorities: Vec<u32>,
    pub(crate) by: Giver,
}

/// Who gave priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Giver {
    /// `--parameters`.
    Parameters,
    /// The task-set file, for every task.
    File,
}

/// The priorities of the parameters, else those of the file.
pub(crate) fn given_priorities(
    path: &Path,
    set: &TaskSet,
    parameters: Option<Vec<u32>>,
) -> Result<Option<Given>, Failure> {
    if let Some(priorities) = parameters {
        let by = Giver::Parameters;
        return Ok(Some(Given { priorities, by }));
    }
    let priorities = set
        .file_priorities()
        .map_err(|found| crate::input::unreadable(path, found))?;
    Ok(priorities.map(|priorities| Given {
        priorities,
        by: Giver::File,
    }))
}

/// How many levels the set has.
pub(crate) fn levels(set: &TaskSet) -> Result<LevelSet, Failure> {
    LevelSet::new(set.levels.len()).ok_or_else(|| {
        Failure::bug(
            "count the levels",
            format!("a valid file has {} levels", set.levels.len()),
        )
    })
}

/// The problem that `test` is to solve. Given priorities count only where the order is not the
/// policy's own rule.
pub(crate) fn problem(
    path: &Path,
    set: &TaskSet,
    test: &Test,
    given: Option<&Given>,
) -> Result<Problem, Failure> {
    let what = || format!("analyze {} with {test}", shown(path));
    let tasks = set
        .to_tasks(test.name)
        .map_err(|found| Failure::diagnosed(what(), found))?;
    let problem = Problem::new(tasks, levels(set)?)
        .map_err(|error| Failure::input(what(), error.to_string()))?
        .with_phasing(phasing(set));
    match given.filter(|_| takes_priorities(test)) {
        None => Ok(problem),
        Some(given) => problem
            .with_priorities(given.priorities.clone())
            .map_err(|error| Failure::input(what(), error.to_string())),
    }
}

/// Whether the order of the test's policy is not fixed by a rule of its own. That of an own policy
/// always is.
pub(crate) fn takes_priorities(test: &Test) -> bool {
    catalogue::own_policy(test.policy).is_none()
        && catalogue::find_policy(test.policy)
            .is_some_and(|policy| policy.order == OrderRule::Assigned)
}

/// Two periodic tasks with different offsets may never be released together; and where jobs are
/// withdrawn at their deadlines, the run in which a task misses may not exist.
fn phasing(set: &TaskSet) -> Phasing {
    if set
        .tasks
        .iter()
        .any(|task| task.on_miss == Some(OnMiss::Abort))
    {
        return Phasing::Restricted;
    }
    let mut offsets = set
        .tasks
        .iter()
        .filter(|task| task.arrival == Arrival::Periodic)
        .map(|task| task.offset);
    let first = offsets.next();
    match offsets.all(|offset| Some(offset) == first) {
        true => Phasing::Arbitrary,
        false => Phasing::Restricted,
    }
}
