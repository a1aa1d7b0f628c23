//! AMC-IA straight from its equations, over all instants.

use crate::oracle::assign_by;
use vestal_core::{Duration, Level, Task, TaskId};

/// R_i(L) of `amc-ia` by trying every vector of instants (all integers if `full`, else deadlines of
/// the tasks `more_urgent`) and, for each, every window from 0 to the deadline; `None` if some
/// R_i(l; s) with l <= L exceeds it.
///
/// # Panics
/// If `task` or one of `more_urgent` is not in `tasks`.
#[must_use]
pub fn interference_response(
    tasks: &[Task],
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
    full: bool,
) -> Option<Duration> {
    let question = Question {
        own: tasks[task.index()],
        others: more_urgent.iter().map(|id| tasks[id.index()]).collect(),
        full,
    };
    (0..=level.index())
        .map(|level| question.greatest(level, &mut Vec::new()))
        .collect::<Option<Vec<u64>>>()?
        .pop()
        .map(Duration::from_nanos)
}

/// R_i(L; s) for given instants s_1, ..., s_L.
///
/// # Panics
/// As [`interference_response`].
#[must_use]
pub fn interference_at(
    tasks: &[Task],
    task: TaskId,
    more_urgent: &[TaskId],
    instants: &[u64],
) -> Option<u64> {
    let question = Question {
        own: tasks[task.index()],
        others: more_urgent.iter().map(|id| tasks[id.index()]).collect(),
        full: true,
    };
    question.response(instants)
}

/// Audsley's algorithm for `amc-ia` without any reduction; the order found, most urgent first.
#[must_use]
pub fn interference_assign(tasks: &[Task], full: bool) -> Option<Vec<TaskId>> {
    assign_by(tasks, |candidate, others| {
        let this = &tasks[candidate.index()];
        let bound = interference_response(tasks, candidate, others, this.criticality, full);
        !this.own_wcet().exceeds(this.deadline) && bound.is_some()
    })
}

struct Question {
    own: Task,
    others: Vec<Task>,
    full: bool,
}

impl Question {
    /// The greatest R_i(level; s) over all s that begin with `instants`.
    fn greatest(&self, level: usize, instants: &mut Vec<u64>) -> Option<u64> {
        let response = self.response(instants)?;
        if instants.len() == level {
            return Some(response);
        }
        let last = instants.last().copied().unwrap_or(0);
        let mut range: Vec<u64> = (last + 1..=response)
            .filter(|&instant| self.full || self.others.iter().any(|task| is_due(task, instant)))
            .collect();
        if range.is_empty() {
            range.push(last);
        }
        let mut greatest = 0;
        for instant in range {
            instants.push(instant);
            let below = self.greatest(level, instants);
            instants.pop();
            greatest = greatest.max(below?);
        }
        Some(greatest)
    }

    fn response(&self, instants: &[u64]) -> Option<u64> {
        let level = instants.len();
        let own = cost(&self.own, level);
        (0..=self.own.deadline.as_nanos()).find(|&window| {
            let others = self.others.iter();
            let others = others.map(|task| demand(task, level, instants, window));
            own + others.sum::<u64>() <= window
        })
    }
}

/// Whether a job is due at `instant` if the first is released at 0.
fn is_due(task: &Task, instant: u64) -> bool {
    let (period, deadline) = (task.period.as_nanos(), task.deadline.as_nanos());
    instant >= deadline && (instant - deadline).is_multiple_of(period)
}

fn cost(task: &Task, level: usize) -> u64 {
    let level = u8::try_from(level).map_or(Level(u8::MAX), Level);
    crate::oracle::cost(task, level)
}

fn demand(task: &Task, level: usize, instants: &[u64], window: u64) -> u64 {
    let (period, z) = (task.period.as_nanos(), task.criticality.index());
    let jobs = if z >= level {
        window.div_ceil(period)
    } else {
        instants[z].div_ceil(period)
    };
    let top = z.min(level);
    let (mut confined, mut sum) = (0, 0);
    for (lower, &instant) in instants.iter().enumerate().take(top) {
        let due = (0..instant).filter(|release| release.is_multiple_of(period));
        let due = due.filter(|release| release + task.deadline.as_nanos() <= instant);
        let due = due.count() as u64;
        sum += (due - confined) * cost(task, lower);
        confined = due;
    }
    sum + jobs.saturating_sub(confined) * cost(task, top)
}
