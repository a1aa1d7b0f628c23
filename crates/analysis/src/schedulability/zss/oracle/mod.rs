//! Zero-slack instants straight from the equations: every Z is tried, and for each every R.

mod search;

pub use search::{zero_slack_bounds, zero_slack_proves, zero_slack_search};

use crate::oracle::cost;
use vestal_core::{Duration, Level, Task, TaskId};

/// Which of the equations of [`crate::schedulability::zss`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlackFormula {
    /// `zss:form`.
    Sporadic,
    /// The form of `zss:tightened`.
    Tightened,
    /// `zss:harmonic`.
    Harmonic,
}

/// W_j(w, C).
fn workload(task: &Task, cost: u64, window: u64, formula: SlackFormula) -> u64 {
    let (period, deadline) = (task.period.as_nanos(), task.deadline.as_nanos());
    if window == 0 || cost == 0 {
        return 0;
    }
    let reach = match formula {
        SlackFormula::Sporadic | SlackFormula::Tightened => window + deadline - cost,
        SlackFormula::Harmonic => window,
    };
    let jobs = reach / period;
    jobs * cost + cost.min(reach - jobs * period)
}

/// C_j(min(l, z_j)).
pub(crate) fn charge(task: &Task, level: Level) -> u64 {
    cost(task, level.min(task.criticality))
}

/// C'_j of the task at `below` in `order`, for the one at `own`; Z of more critical tasks is known.
fn cost_below(
    order: &[&Task],
    own: usize,
    below: usize,
    level: Level,
    formula: SlackFormula,
    instants: &[u64],
) -> u64 {
    let (this, other) = (order[own], order[below]);
    let full = charge(other, level);
    let another_lets_it_run = order[below + 1..].iter().any(|between| {
        this.criticality < between.criticality && between.criticality <= other.criticality
    });
    if formula == SlackFormula::Sporadic || another_lets_it_run {
        return full;
    }
    let window = instants[below];
    let mut interference = 0;
    for (position, third) in order.iter().enumerate() {
        let before = position < below;
        let suspends = position > below && third.criticality > other.criticality;
        if before || suspends {
            interference += workload(third, charge(third, level), window, formula);
        }
    }
    let sure = window.saturating_sub(interference);
    full.saturating_sub(sure)
}

/// The bound on the response time at `level` of the task at `own` in `order`, most urgent first,
/// with the instant `instant`: the first R up to the deadline that is enough.
pub(super) fn response(
    order: &[&Task],
    own: usize,
    level: Level,
    instant: u64,
    formula: SlackFormula,
    instants: &[u64],
) -> Option<u64> {
    let this = order[own];
    let needed = |window: u64| {
        let mut sum = charge(this, level);
        for (position, other) in order.iter().enumerate() {
            let cost = charge(other, level);
            if position < own && other.criticality >= this.criticality {
                sum += workload(other, cost, window, formula);
            } else if position < own {
                let until = window.min(instant);
                sum += until.min(workload(other, cost, until, formula));
            } else if position > own && other.criticality > this.criticality {
                let cost = cost_below(order, own, position, level, formula, instants);
                sum += workload(other, cost, window, formula);
            }
        }
        sum
    };
    (1..=this.deadline.as_nanos()).find(|&window| needed(window) <= window)
}

/// The largest zero-slack instant of each task, in task order; `None` for a task without one. Of the
/// tasks with one level of criticality none depends on another. Expects C_i(z_i) <= D_i.
#[must_use]
pub fn zero_slack_instants(
    tasks: &[Task],
    formula: SlackFormula,
    order: &[TaskId],
) -> Vec<Option<Duration>> {
    let rows: Vec<&Task> = order.iter().map(|id| &tasks[id.index()]).collect();
    let mut instants = vec![0; rows.len()];
    let mut found = vec![None; tasks.len()];
    let highest = rows.iter().map(|task| task.criticality).max();
    for criticality in highest.into_iter().flat_map(Level::up_to_self).rev() {
        for position in 0..rows.len() {
            if rows[position].criticality != criticality {
                continue;
            }
            let deadline = rows[position].deadline.as_nanos();
            let instant = (0..=deadline).rev().find(|&instant| {
                response(&rows, position, criticality, instant, formula, &instants).is_some()
            });
            instants[position] = instant.unwrap_or(0);
            found[order[position].index()] = instant.map(Duration::from_nanos);
        }
    }
    found
}

/// The bound on the response time of each task at each level up to its own with the given instants,
/// both in task order; `None` where it exceeds the deadline.
#[must_use]
pub fn zero_slack_responses(
    tasks: &[Task],
    formula: SlackFormula,
    order: &[TaskId],
    instants: &[Duration],
) -> Vec<Vec<Option<Duration>>> {
    let rows: Vec<&Task> = order.iter().map(|id| &tasks[id.index()]).collect();
    let by_position = order.iter().map(|id| instants[id.index()].as_nanos());
    let by_position: Vec<u64> = by_position.collect();
    let mut found = vec![Vec::new(); tasks.len()];
    for (position, id) in order.iter().enumerate() {
        let levels = rows[position].criticality.up_to_self();
        found[id.index()] = levels
            .map(|level| {
                response(
                    &rows,
                    position,
                    level,
                    by_position[position],
                    formula,
                    &by_position,
                )
            })
            .map(|response| response.map(Duration::from_nanos))
            .collect();
    }
    found
}
