//! The synchronous run, executed tick by tick.

use super::cost;
use super::response::Formula;
use vestal_core::{Duration, Level, Task, TaskId};

/// When the first job of `task` finishes if it and the tasks `more_urgent` (most urgent first)
/// release at 0 and as early as possible from then on, and each job takes what the formula allows
/// it at `level`; `None` if it has not finished by its deadline.
///
/// The run is legal in the policy's model, so this shows that a bound is reached. Not for
/// [`Formula::Adaptive`], whose bound is the worst of many runs: the answer is `None`.
#[must_use]
pub fn synchronous_response(
    tasks: &[Task],
    formula: Formula,
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
) -> Option<Duration> {
    let takes = |id: &TaskId| {
        let task = &tasks[id.index()];
        let value = match formula {
            Formula::Unenforced => cost(task, level),
            Formula::Enforced => cost(task, level.min(task.criticality)),
            Formula::Own => cost(task, task.criticality),
            Formula::Adaptive => return None,
        };
        Some(value)
    };
    let order: Vec<TaskId> = more_urgent.iter().chain([&task]).copied().collect();
    let costs: Vec<u64> = order.iter().map(takes).collect::<Option<_>>()?;
    let mut backlog = vec![0; order.len()];
    let mut remaining = *costs.last()?;
    for tick in 0..=tasks[task.index()].deadline.as_nanos() {
        for (position, id) in order.iter().enumerate() {
            if tick % tasks[id.index()].period.as_nanos() == 0 {
                backlog[position] += costs[position];
            }
        }
        match backlog.iter().position(|&pending| pending > 0) {
            Some(position) => {
                backlog[position] -= 1;
                if position == order.len() - 1 {
                    remaining -= 1;
                    if remaining == 0 {
                        let end = tick + 1;
                        let met = end <= tasks[task.index()].deadline.as_nanos();
                        return met.then(|| Duration::from_nanos(end));
                    }
                }
            }
            None => return None,
        }
    }
    None
}
