//! The greatest response time over all integer change instants, straight from the equation.

use crate::oracle::{assign_by, cost};
use vestal_core::{Duration, Level, Task, TaskId};

/// R_i(L) of `amc-max` by trying every vector of integer instants and, for each, every window from
/// 0 to `limit`; `None` if some R_i(l; s) with l <= L exceeds the limit.
///
/// # Panics
/// If `task` or one of `more_urgent` is not in `tasks`.
#[must_use]
pub fn greatest_response(
    tasks: &[Task],
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
    limit: Duration,
) -> Option<Duration> {
    let question = Question {
        tasks,
        task,
        more_urgent,
        limit: limit.as_nanos(),
    };
    (0..=level.0)
        .map(|level| question.greatest(Level(level), &mut Vec::new()))
        .collect::<Option<Vec<u64>>>()?
        .pop()
        .map(Duration::from_nanos)
}

/// Whether `task` passes below `more_urgent`: at each level up to its own, within its deadline.
///
/// # Panics
/// As [`greatest_response`].
#[must_use]
pub fn greatest_passes(tasks: &[Task], task: TaskId, more_urgent: &[TaskId]) -> bool {
    let Task {
        criticality,
        deadline,
        ..
    } = tasks[task.index()];
    !tasks[task.index()].own_wcet().exceeds(deadline)
        && greatest_response(tasks, task, more_urgent, criticality, deadline).is_some()
}

/// Audsley's algorithm for `amc-max` without any reduction; the order found, most urgent first.
#[must_use]
pub fn greatest_assign(tasks: &[Task]) -> Option<Vec<TaskId>> {
    assign_by(tasks, |candidate, others| {
        greatest_passes(tasks, candidate, others)
    })
}

struct Question<'a> {
    tasks: &'a [Task],
    task: TaskId,
    more_urgent: &'a [TaskId],
    limit: u64,
}

impl Question<'_> {
    /// The greatest R_i(level; s) over all s that begin with `instants`.
    fn greatest(&self, level: Level, instants: &mut Vec<u64>) -> Option<u64> {
        let depth = Level(u8::try_from(instants.len()).ok()?);
        let response = self.response(depth, instants)?;
        if depth == level {
            return Some(response);
        }
        let earliest = instants.last().copied().unwrap_or(0);
        let mut greatest = 0;
        for instant in earliest..response.max(earliest + 1) {
            instants.push(instant);
            let below = self.greatest(level, instants);
            instants.pop();
            greatest = greatest.max(below?);
        }
        Some(greatest)
    }

    /// R_i(level; s): the first window that is as long as its demand.
    fn response(&self, level: Level, instants: &[u64]) -> Option<u64> {
        let own = cost(&self.tasks[self.task.index()], level);
        (0..=self.limit).find(|&window| {
            let others = self
                .more_urgent
                .iter()
                .map(|id| demand(&self.tasks[id.index()], level, instants, window));
            own + others.sum::<u64>() <= window
        })
    }
}

/// The demand of an interfering task in the window.
fn demand(task: &Task, level: Level, instants: &[u64], window: u64) -> u64 {
    let (period, deadline) = (task.period.as_nanos(), task.deadline.as_nanos());
    let cost = |level: usize| {
        let level = u8::try_from(level).map_or(Level(u8::MAX), Level);
        cost(task, level)
    };
    let (end, jobs) = if task.criticality >= level {
        (window, window.div_ceil(period))
    } else {
        let end = instants[task.criticality.index()];
        (end, end / period + 1)
    };
    let top = task.criticality.min(level).index();
    let mut able = jobs;
    let mut sum = 0;
    for (lower, instant) in instants.iter().enumerate().take(top) {
        let after = end.saturating_sub(instant + (period - deadline));
        let more = able.min(after.div_ceil(period) + 1);
        sum += (able - more) * cost(lower);
        able = more;
    }
    sum + able * cost(top)
}
