//! Priority assignment by the book and by trying everything.

use super::response::{Formula, order_passes, passes};
use core::cmp::Reverse;
use vestal_core::{Task, TaskId};

/// Audsley's algorithm without any reduction: each task that is left is tried for each priority,
/// longest deadline first, then lowest criticality, then lowest index. The order found, most urgent
/// first.
#[must_use]
pub fn assign(tasks: &[Task], formula: Formula) -> Option<Vec<TaskId>> {
    assign_by(tasks, |candidate, others| {
        passes(tasks, formula, candidate, others)
    })
}

/// The same where `passes` says whether a task may stand below others.
pub(crate) fn assign_by(
    tasks: &[Task],
    passes: impl Fn(TaskId, &[TaskId]) -> bool,
) -> Option<Vec<TaskId>> {
    let mut left: Vec<TaskId> = (0..).map(TaskId).take(tasks.len()).collect();
    left.sort_by_key(|id| {
        let task = &tasks[id.index()];
        (Reverse(task.deadline), task.criticality, *id)
    });
    let mut least_urgent_first = Vec::new();
    while !left.is_empty() {
        let position = (0..left.len()).find(|&position| {
            let mut others = left.clone();
            let candidate = others.remove(position);
            passes(candidate, &others)
        })?;
        least_urgent_first.push(left.remove(position));
    }
    least_urgent_first.reverse();
    Some(least_urgent_first)
}

/// Whether any of the n! orders passes.
#[must_use]
pub fn some_order_passes(tasks: &[Task], formula: Formula) -> bool {
    let mut order: Vec<TaskId> = (0..).map(TaskId).take(tasks.len()).collect();
    some_completion_passes(tasks, formula, &mut order, 0)
}

/// Whether some order of the tasks from `fixed` on makes the whole order pass.
fn some_completion_passes(
    tasks: &[Task],
    formula: Formula,
    order: &mut [TaskId],
    fixed: usize,
) -> bool {
    if fixed == order.len() {
        return order_passes(tasks, formula, order);
    }
    (fixed..order.len()).any(|next| {
        order.swap(fixed, next);
        let passes = some_completion_passes(tasks, formula, order, fixed + 1);
        order.swap(fixed, next);
        passes
    })
}
