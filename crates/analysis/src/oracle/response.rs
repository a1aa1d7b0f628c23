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
/// every window from 0 to the deadline; `None` if none of them is long enough.
#[must_use]
pub fn response(
    tasks: &[Task],
    formula: Formula,
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
) -> Option<Duration> {
    let lower = lower_responses(tasks, formula, task, more_urgent, level, response)?;
    let deadline = tasks[task.index()].deadline.as_nanos();
    (0..=deadline)
        .find(|&window| {
            needed(tasks, formula, task, more_urgent, level, &lower, window) <= u128::from(window)
        })
        .map(Duration::from_nanos)
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
    let lower = lower_responses(tasks, formula, task, more_urgent, level, iterated_response)?;
    let deadline = tasks[task.index()].deadline.as_nanos();
    let mut window = 0;
    loop {
        let next = needed(tasks, formula, task, more_urgent, level, &lower, window);
        let next = u64::try_from(next).ok().filter(|&next| next <= deadline)?;
        if next == window {
            return Some(Duration::from_nanos(window));
        }
        window = next;
    }
}

/// Whether `task` meets its deadline at every level up to its own.
#[must_use]
pub fn passes(tasks: &[Task], formula: Formula, task: TaskId, more_urgent: &[TaskId]) -> bool {
    let Task {
        criticality,
        deadline,
        ..
    } = tasks[task.index()];
    criticality.up_to_self().all(|level| {
        !tasks[task.index()].wcet.at(level).exceeds(deadline)
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

/// The signature that the two ways to find a response time share.
type Search = fn(&[Task], Formula, TaskId, &[TaskId], Level) -> Option<Duration>;

/// R_i(l) for each l below `level` where the formula asks for them; `None` if one is not bounded.
fn lower_responses(
    tasks: &[Task],
    formula: Formula,
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
    search: Search,
) -> Option<Vec<u64>> {
    match formula {
        Formula::Unenforced | Formula::Enforced | Formula::Own => Some(Vec::new()),
        Formula::Adaptive => (0..level.0)
            .map(|lower| search(tasks, formula, task, more_urgent, Level(lower)))
            .map(|found| found.map(Duration::as_nanos))
            .collect(),
    }
}

/// The right-hand side of the equation for a window.
fn needed(
    tasks: &[Task],
    formula: Formula,
    task: TaskId,
    more_urgent: &[TaskId],
    level: Level,
    lower: &[u64],
    window: u64,
) -> u128 {
    let this = &tasks[task.index()];
    let own = match formula {
        Formula::Unenforced | Formula::Enforced | Formula::Adaptive => cost(this, level),
        Formula::Own => cost(this, this.criticality),
    };
    let interference = more_urgent.iter().map(|id| {
        let other = &tasks[id.index()];
        let (until, each) = match formula {
            Formula::Unenforced => (window, cost(other, level)),
            Formula::Enforced => (window, cost(other, level.min(other.criticality))),
            Formula::Own => (window, cost(other, other.criticality)),
            Formula::Adaptive if other.criticality < level => (
                lower[other.criticality.index()],
                cost(other, other.criticality),
            ),
            Formula::Adaptive => (window, cost(other, level)),
        };
        let jobs = until.div_ceil(other.period.as_nanos());
        u128::from(jobs) * u128::from(each)
    });
    u128::from(own) + interference.sum::<u128>()
}
