//! From a task set to what a test is to prove, and what is given instead of being computed.

use crate::failure::Failure;
use crate::input::shown;
use std::path::Path;
use vestal_analysis::{FiniteJob, Phasing, Problem, Test};
use vestal_core::policy::{self, OrderRule, VirtualDeadlines};
use vestal_core::{Duration, Enforcement, LevelSet, Policy, SliceCount};
use vestal_workload::model::{Arrival, OnMiss};
use vestal_workload::{Parameters, TaskSet};

/// What is given instead of being computed, in task order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// With who gave them.
    pub(crate) priorities: Option<(Vec<u32>, Giver)>,
    /// Of `--parameters`.
    pub(crate) virtual_deadlines: Option<Vec<Duration>>,
    /// Of `--parameters`.
    pub(crate) slices: Option<Vec<u32>>,
    /// Of `--parameters`.
    pub(crate) zero_slack: Option<Vec<Duration>>,
    pub(crate) job_priorities: Option<Vec<Vec<u32>>>,
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
        slices: parameters.slices_of(set),
        zero_slack: parameters.zero_slack_of(set),
        job_priorities: parameters.job_priorities_of(set),
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
    if test.is_for_job_sets() {
        return job_set(set, test, given, what());
    }
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
    let instants = given.zero_slack.as_ref();
    if let Some(instants) = instants.filter(|_| takes_zero_slack(policy)) {
        problem = problem.and_then(|new| new.with_zero_slack(instants.clone()));
    }
    let lists = given.job_priorities.as_ref();
    if let Some(lists) = lists.filter(|_| takes_job_priorities(policy)) {
        problem = problem.and_then(|new| new.with_job_priorities(lists.clone()));
    }
    if let Some(counts) = given.slices.as_ref().filter(|_| takes_slices(policy)) {
        let counts = slice_counts(set, test.name, counts)?;
        problem = problem.and_then(|new| new.with_slices(counts));
    }
    problem.map_err(|error| Failure::input(what(), error.to_string()))
}

/// Numbers of slices, each checked against its task.
fn slice_counts(set: &TaskSet, name: &str, counts: &[u32]) -> Result<Vec<SliceCount>, Failure> {
    let what = || "use the slices of --parameters".to_owned();
    let tasks = match set.to_tasks(name) {
        Ok(tasks) => tasks,
        Err(found) => return Err(Failure::diagnosed(what(), found)),
    };
    let each = tasks.iter().zip(&set.tasks).zip(counts);
    each.map(|((task, spec), &count)| {
        SliceCount::new(count, task).ok_or_else(|| {
            let why = format!(
                "the jobs of `{}` cannot be cut into {count} slices",
                spec.name
            );
            Failure::input(what(), why)
                .with_help("a slice is at least a nanosecond long; give fewer slices")
        })
    })
    .collect()
}

/// Whether the policy's order takes numbers of slices.
pub(crate) fn takes_slices(policy: Option<&Policy>) -> bool {
    policy.is_some_and(|policy| policy.order == OrderRule::Slices)
}

/// The problem of a finite job set.
fn job_set(set: &TaskSet, test: &Test, given: &Given, what: String) -> Result<Problem, Failure> {
    let wcets = match set.to_jobs(test.name) {
        Ok(wcets) => wcets,
        Err(found) => return Err(Failure::diagnosed(what, found)),
    };
    let jobs = set.jobs.iter().zip(wcets).map(|(job, wcet)| FiniteJob {
        criticality: job.criticality,
        release: job.release,
        deadline: job.deadline,
        wcet,
    });
    let problem = Problem::of_jobs(jobs.collect(), levels(set)?);
    let problem = match &given.priorities {
        Some((priorities, _)) => problem.and_then(|new| new.with_priorities(priorities.clone())),
        None => problem,
    };
    problem.map_err(|error| Failure::input(what, error.to_string()))
}

/// Whether the policy's order takes lists of job priorities.
pub(crate) fn takes_job_priorities(policy: Option<&Policy>) -> bool {
    policy.is_some_and(|policy| matches!(policy.order, OrderRule::JobLists(_)))
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

/// Whether the policy's enforcement takes zero-slack instants.
pub(crate) fn takes_zero_slack(policy: Option<&Policy>) -> bool {
    policy.is_some_and(|policy| policy.enforcement == Enforcement::ZeroSlack)
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
