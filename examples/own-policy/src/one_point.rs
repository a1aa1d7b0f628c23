//! A sufficient test for the policy `slack-monotonic`: the demand at one point, the deadline.
//!
//! For each task i and each level L <= z_i, with hp(i) the tasks of higher priority:
//!
//! w_i(L) = C_i(L) + sum over j in hp(i) of ceil(D_i / T_j) * C_j(min(L, z_j)) <= D_i
//!
//! (the demand of Lehoczky, Sha and Ding, RTSS 1989, at t = D_i only). In D_i after an instant at
//! which nothing of i or hp(i) was pending, hp(i) releases at most ceil(D_i / T_j) jobs each, and in
//! modes up to L none of them executes more than C_j(min(L, z_j)) before it is stopped or dropped.
//! So all of it is done w_i(L) later, and w_i(L) bounds the response time. A no means nothing.
//!
//! Assumptions: one CPU, sporadic tasks, D_i <= T_i, no degraded budgets. O(n^2), no iteration.

use crate::slack_monotonic;
use vestal_analysis::{Kind, Outcome, Problem, Reason, TaskOutcome, Test};
use vestal_core::{Duration, Enforcement, Level, Task, TaskId};

/// The test.
pub const TEST: Test = Test::own(
    "one-point",
    Kind::Sufficient,
    Some(Enforcement::Adaptive),
    &[],
    "slack-monotonic priorities, adaptive limits: the demand at the deadline",
    analyse,
);

/// Its page for `explain`.
pub const PAGE: &str = "\
# one-point: the demand at the deadline

Proves `slack-monotonic`: what a task and all of higher priority can ask for within its deadline
must fit into it. Sufficient; sporadic tasks with D <= T on one CPU, without degraded budgets.
";

/// The answer, with w_i(L) as bound on the response time.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    let tasks = problem.tasks();
    let numbered = || (0..).map(TaskId).zip(tasks);
    if let Some((task, _)) = numbered().find(|(_, task)| task.degraded.is_some()) {
        let why = Reason::DegradedBudget { task };
        return Outcome::outside(Kind::Sufficient, why, tasks.len());
    }
    let priorities = slack_monotonic::priorities(tasks);
    let mut why = None;
    let mut outcomes = Vec::new();
    for ((id, task), &priority) in numbered().zip(&priorities) {
        let ranked = tasks.iter().zip(&priorities);
        let higher = ranked.filter(|&(_, other)| *other > priority);
        let higher: Vec<&Task> = higher.map(|(task, _)| task).collect();
        let mut responses = Vec::new();
        for level in task.criticality.up_to_self() {
            let demand = demand(task, &higher, level);
            responses.push((demand <= task.deadline).then_some(demand));
            if demand > task.deadline && why.is_none() {
                why = Some(Reason::ResponseExceedsDeadline {
                    task: id,
                    level,
                    at_least: demand,
                    deadline: task.deadline,
                });
            }
        }
        let priority = Some(priority);
        outcomes.push(TaskOutcome {
            priority,
            responses,
            ..TaskOutcome::default()
        });
    }
    Outcome::decided(Kind::Sufficient, why, outcomes)
}

/// w_i(L). Where it would not fit into the type it is the largest time, above every deadline.
fn demand(task: &Task, higher: &[&Task], level: Level) -> Duration {
    let deadline = task.deadline.as_nanos();
    let jobs = higher.iter().map(|other| {
        let releases = u128::from(deadline.div_ceil(other.period.as_nanos()));
        releases * u128::from(other.enforced_wcet(level).as_nanos())
    });
    let own = u128::from(task.enforced_wcet(level).as_nanos());
    let sum = jobs.fold(own, u128::saturating_add);
    Duration::from_nanos(u64::try_from(sum).unwrap_or(u64::MAX))
}
