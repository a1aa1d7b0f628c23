//! Wrong on purpose: `amc-rtb` with the mistakes that implementations of it have made.
//!
//! A soundness campaign simulates what a test accepts and looks for a miss. That it finds none in
//! the real tests shows something only if it finds one in these: they are its positive controls.
//! Never use them for anything else. They are not in [`crate::tests`], exist only with the feature
//! `controls`, and their kind is [`Kind::Unsafe`]: what they accept stands in
//! [`Outcome::claim`], and [`Test::accepts`] gives the same.
//!
//! Each honours given priorities and else runs Audsley's algorithm on its wrong bound. The code is
//! slow and apart from the real analyses, which therefore carry no switch for a mistake.

use crate::fixed_priority::{Scratch, Tables};
use crate::order;
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::problem::{Problem, Row, task_id};
use crate::registry::Test;
use core::cmp::Reverse;
use vestal_core::Duration;
use vestal_core::order::ClassicOrder;

/// All controls.
#[must_use]
pub fn tests() -> &'static [Test] {
    CONTROLS
}

const CONTROLS: &[Test] = &[
    Test {
        name: "amc-rtb",
        variant: Some("control-one-pass"),
        kind: Kind::Unsafe,
        policy: "amc",
        summary: "WRONG: amc-rtb whose equation is evaluated once instead of to the fixed point",
        analyse: |problem| analyse(problem, one_pass),
        accepts: |problem, _: &mut Scratch| accepted_order(problem, one_pass).is_ok(),
    },
    Test {
        name: "amc-rtb",
        variant: Some("control-unchecked"),
        kind: Kind::Unsafe,
        policy: "amc",
        summary: "WRONG: amc-rtb that never compares C(l) with the deadline",
        analyse: |problem| analyse(problem, unchecked),
        accepts: |problem, _: &mut Scratch| accepted_order(problem, unchecked).is_ok(),
    },
];

/// A wrong way to find the window that an equation asks for: from the own execution time, the
/// right-hand side and the deadline.
type WrongSearch = fn(u64, &dyn Fn(u64) -> u64, u64) -> Option<u64>;

/// The mistake: the right-hand side for the window C_i(L) is taken for the response time. Jobs
/// released between C_i(L) and the end are forgotten.
fn one_pass(own: u64, needed: &dyn Fn(u64) -> u64, deadline: u64) -> Option<u64> {
    let window = needed(own);
    (own <= deadline && window <= deadline).then_some(window)
}

/// The mistake: the loop rejects an iterate beyond the deadline, but not the value it starts from.
/// Where nothing interferes, that value is a fixed point at once and comes back however large it
/// is. It takes a task with C_i(l) > D_i to see it.
fn unchecked(own: u64, needed: &dyn Fn(u64) -> u64, deadline: u64) -> Option<u64> {
    let mut window = own;
    loop {
        let next = needed(window);
        if next == window {
            return Some(window);
        }
        if next > deadline {
            return None;
        }
        window = next;
    }
}

fn analyse(problem: &Problem, search: WrongSearch) -> Outcome {
    let mut tasks = vec![TaskOutcome::default(); problem.rows().len()];
    let (order, why) = match accepted_order(problem, search) {
        Ok(order) => (order, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let count = order.len();
    for (place, row) in order.iter().enumerate() {
        let found = responses(row, &order[..place], search).unwrap_or_default();
        let computed = u32::try_from(count - place).unwrap_or(u32::MAX);
        let priority = problem
            .priorities()
            .map_or(computed, |given| given[row.task]);
        let responses = found
            .into_iter()
            .map(|nanos| Some(Duration::from_nanos(nanos)))
            .collect();
        tasks[row.task] = TaskOutcome {
            priority: Some(priority),
            responses,
        };
    }
    Outcome::decided(Kind::Unsafe, why, tasks)
}

/// An order, most urgent first, whose every task has a wrong bound.
fn accepted_order(problem: &Problem, search: WrongSearch) -> Result<Vec<Row>, Reason> {
    let mut tables = Tables::default();
    order::rows_by_urgency(problem, ClassicOrder::DeadlineMonotonic, &mut tables);
    let mut left = tables.order;
    if problem.priorities().is_none() {
        left.sort_by_key(|row| (row.deadline, Reverse((row.criticality, row.task))));
    }
    let mut order = Vec::new();
    for priority in 1.. {
        let candidates = match problem.priorities() {
            Some(_) => left.len().saturating_sub(1)..left.len(),
            None => 0..left.len(),
        };
        if candidates.is_empty() {
            break;
        }
        let fits = |&place: &usize| {
            let mut others = left.clone();
            let row = others.remove(place);
            responses(&row, &others, search).is_some()
        };
        let Some(place) = candidates.rev().find(fits) else {
            let left = left.iter().map(|row| task_id(row.task)).collect();
            return Err(Reason::NobodyFits { priority, left });
        };
        order.push(left.remove(place));
    }
    order.reverse();
    Ok(order)
}

/// The wrong R_i(L) for each level up to the task's own.
fn responses(row: &Row, more_urgent: &[Row], search: WrongSearch) -> Option<Vec<u64>> {
    let mut found: Vec<u64> = Vec::new();
    for level in 0..=row.criticality {
        let needed = |window: u64| {
            more_urgent.iter().fold(row.wcet[level], |sum, other| {
                let (until, cost) = if other.criticality < level {
                    (found[other.criticality], other.own_wcet())
                } else {
                    (window, other.wcet[level])
                };
                let jobs = until.div_ceil(other.period).max(1);
                sum.saturating_add(jobs.saturating_mul(cost))
            })
        };
        let bound = search(row.wcet[level], &needed, row.deadline)?;
        found.push(bound);
    }
    Some(found)
}
