//! From a task set to what a test is to prove, and what is given instead of being computed.

use crate::failure::Failure;
use crate::input::shown;
use std::path::Path;
use vestal_analysis::{Phasing, Problem, Test};
use vestal_core::policy::{self, OrderRule, VirtualDeadlines};
use vestal_core::{Duration, LevelSet, Policy};
use vestal_workload::model::{Arrival, OnMiss};
use vestal_workload::{Parameters, TaskSet};

/// What is given instead of being computed, in task order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// With who gave them.
    pub(crate) priorities: Option<(Vec<u32>, Giver)>,
    /// Of `--parameters`.
    pub(crate) virtual_deadlines: Option<Vec<Duration>>,
}

/// Who gave priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Giver {
    /// `--parameters`.
    Parameters,
    /// The task-set file, for every task.
    File,
}

/// What the parameters give; else the priorities of the task-set file.
pub(crate) fn given(path: &Path, set: &TaskSet, parameters: &Parameters) -> Result<Given, Failure> {
    let named = parameters.priorities.as_ref();
    let priorities = match named {
        Some(named) => {
            // The reader has put one for every task in the order of the tasks.
            let values = named.iter().map(|(_, priority)| *priority).collect();
            Some((values, Giver::Parameters))
        }
        None => set
            .file_priorities()
            .map_err(|found| crate::input::unreadable(path, found))?
            .map(|priorities| (priorities, Giver::File)),
    };
    Ok(Given {
        priorities,
        virtual_deadlines: parameters.virtual_deadlines_of(set),
    })
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

/// The problem that `test` is to solve. What is given counts only where the policy's order takes it.
pub(crate) fn problem(
    path: &Path,
    set: &TaskSet,
    test: &Test,
    given: &Given,
) -> Result<Problem, Failure> {
    let what = || format!("analyze {} with {test}", shown(path));
    let tasks = set
        .to_tasks(test.name)
        .map_err(|found| Failure::diagnosed(what(), found))?;
    let mut problem = Problem::new(tasks, levels(set)?).map(|new| new.with_phasing(phasing(set)));
    let policy = policy::find(test.policy);
    if let Some((priorities, _)) = given
        .priorities
        .as_ref()
        .filter(|_| takes_priorities(policy))
    {
        problem = problem.and_then(|new| new.with_priorities(priorities.clone()));
    }
    let deadlines = given.virtual_deadlines.as_ref();
    if let Some(deadlines) = deadlines.filter(|_| takes_virtual_deadlines(policy)) {
        problem = problem.and_then(|new| new.with_virtual_deadlines(deadlines.clone()));
    }
    problem.map_err(|error| Failure::input(what(), error.to_string()))
}

/// Whether the policy's order is one of priorities that are not fixed by a rule of its own.
pub(crate) fn takes_priorities(policy: Option<&Policy>) -> bool {
    policy.is_some_and(|policy| policy.order == OrderRule::Assigned)
}

/// Whether the policy's order takes virtual deadlines.
pub(crate) fn takes_virtual_deadlines(policy: Option<&Policy>) -> bool {
    let rule = OrderRule::EarliestDeadline(VirtualDeadlines::Assigned);
    policy.is_some_and(|policy| policy.order == rule)
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
