//! Response times straight from the equations.

use super::cost;
use vestal_core::{Duration, Level, Task, TaskId};

/// Which equation bounds the response time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// `rms`, `dms`, `cms`: interfering jobs take C_j(l).
    Unenforced,
    /// `smc`: interfering jobs take C_j(min(l, z_j)).
    Enforced,
    /// `smc:printed`: interfering jobs take C_j(z_j), and i itself C_i(z_i).
    Own,
    /// `amc-rtb`: tasks below the level interfere until the mode leaves theirs.
    Adaptive,
}

/// The bound on the response time of `task` at `level` below the tasks `more_urgent`, by trying
/// every window from 0 to the deadline; `None` if none of them is long enough. At a level above its own: how long it
/// takes a task until it has executed its degraded budget.
#[must_use]
pub fn response(
    tasks: &[Task],
    formula: Formula,
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
) -> Option<Duration> {
    let own = own_costs(tasks, formula, task, level);
    bounded(tasks, formula, (task, &own), more_urgent, level).map(Duration::from_nanos)
}

fn bounded(
    tasks: &[Task],
    formula: Formula,
    (task, own): (TaskId, &[u64]),
    more_urgent: &[TaskId],
    level: Level,
) -> Option<u64> {
    let lower = lower_responses(formula, level, |below| {
        bounded(tasks, formula, (task, own), more_urgent, below)
    })?;
    let deadline = tasks[task.index()].deadline.as_nanos();
    let own = own[level.index()];
    (0..=deadline).find(|&window| {
        needed(tasks, formula, own, more_urgent, level, &lower, window) <= u128::from(window)
    })
}

/// As [`response`], by the loop of the textbooks: R := f(R) from the own execution time on, until
/// it stands still or exceeds the deadline. Lower levels are computed anew for every level.
#[must_use]
pub fn iterated_response(
    tasks: &[Task],
    formula: Formula,
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
) -> Option<Duration> {
    let own = own_costs(tasks, formula, task, level);
    iterated(tasks, formula, (task, &own), more_urgent, level).map(Duration::from_nanos)
}

fn iterated(
    tasks: &[Task],
    formula: Formula,
    (task, own): (TaskId, &[u64]),
    more_urgent: &[TaskId],
    level: Level,
) -> Option<u64> {
    let lower = lower_responses(formula, level, |below| {
        iterated(tasks, formula, (task, own), more_urgent, below)
    })?;
    let deadline = tasks[task.index()].deadline.as_nanos();
    let own = own[level.index()];
    let mut window = 0;
    loop {
        let next = needed(tasks, formula, own, more_urgent, level, &lower, window);
        let next = u64::try_from(next).ok().filter(|&next| next <= deadline)?;
        if next == window {
            return Some(window);
        }
        window = next;
    }
}

/// Whether `task` meets its deadline at every level up to its own, and with its degraded budget at every level up to
/// the highest of a task.
#[must_use]
pub fn passes(tasks: &[Task], formula: Formula, task: TaskId, more_urgent: &[TaskId]) -> bool {
    let Task {
        criticality,
        deadline,
        degraded,
        ..
    } = tasks[task.index()];
    let highest = tasks.iter().map(|task| task.criticality).max();
    let last = match (formula, degraded, highest) {
        (Formula::Adaptive, Some(_), Some(highest)) => highest,
        _ => criticality,
    };
    last.up_to_self().all(|level| {
        let own = level.min(criticality);
        !tasks[task.index()].wcet.at(own).exceeds(deadline)
            && response(tasks, formula, task, more_urgent, level).is_some()
    })
}

/// Whether all tasks of `order`, most urgent first, pass.
#[must_use]
pub fn order_passes(tasks: &[Task], formula: Formula, order: &[TaskId]) -> bool {
    order
        .iter()
        .enumerate()
        .all(|(position, &task)| passes(tasks, formula, task, &order[..position]))
}

/// What a job of `task` counts for at each level up to `level`, if the question is about `level`.
fn own_costs(tasks: &[Task], formula: Formula, task: TaskId, level: Level) -> Vec<u64> {
    let this = &tasks[task.index()];
    let own = this.criticality;
    let levels = level.up_to_self();
    let each = |now: Level| match formula {
        Formula::Unenforced | Formula::Enforced => cost(this, now),
        Formula::Own => cost(this, own),
        Formula::Adaptive if level <= own => cost(this, now),
        Formula::Adaptive if now <= own => cost(this, now).min(budget(this)),
        Formula::Adaptive => budget(this),
    };
    levels.map(each).collect()
}

/// What a job of a task with a degraded budget may execute in all above its own level; it counts for something.
fn budget(task: &Task) -> u64 {
    task.degraded.map_or(0, |budget| budget.as_nanos().max(1))
}

/// R_i(l) for each l below `level` where the formula asks for them; `None` if one is not bounded.
fn lower_responses(
    formula: Formula,
    level: Level,
    search: impl Fn(Level) -> Option<u64>,
) -> Option<Vec<u64>> {
    match formula {
        Formula::Unenforced | Formula::Enforced | Formula::Own => Some(Vec::new()),
        Formula::Adaptive => (0..level.0).map(|lower| search(Level(lower))).collect(),
    }
}

/// The right-hand side of the equation for a window, `own` the task's own part.
fn needed(
    tasks: &[Task],
    formula: Formula,
    own: u64,
    more_urgent: &[TaskId],
    level: Level,
    lower: &[u64],
    window: u64,
) -> u128 {
    let interference = more_urgent.iter().map(|id| {
        let other = &tasks[id.index()];
        let jobs = |until: u64| u128::from(until.div_ceil(other.period.as_nanos()));
        let each = match formula {
            Formula::Unenforced => cost(other, level),
            Formula::Enforced => cost(other, level.min(other.criticality)),
            Formula::Own => cost(other, other.criticality),
            Formula::Adaptive if other.criticality < level => {
                let before = jobs(lower[other.criticality.index()]);
                let after = jobs(window).saturating_sub(before);
                let (full, less) = (cost(other, other.criticality), budget(other));
                return match less > full {
                    true => (before + after) * u128::from(less),
                    false => before * u128::from(full) + after * u128::from(less),
                };
            }
            Formula::Adaptive => cost(other, level),
        };
        jobs(window) * u128::from(each)
    });
    u128::from(own) + interference.sum::<u128>()
}
