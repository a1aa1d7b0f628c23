//! Priority orders as sorted tables.

use crate::problem::{Problem, Row};
use crate::tables::Tables;
use vestal_core::TaskId;
use vestal_core::model::{LEVELS_MAX, TASKS_MAX};
use vestal_core::order::ClassicOrder;

/// Priorities n, n-1, ..., 1 for an order of n tasks, most urgent first; the result is in task
/// order. Tasks that the order does not contain have priority 0.
#[must_use]
pub fn priorities_of(order: &[TaskId], tasks: usize) -> Vec<u32> {
    let mut priorities = vec![0; tasks];
    for (priority, id) in (1..).zip(order.iter().rev()) {
        if let Some(slot) = priorities.get_mut(id.index()) {
            *slot = priority;
        }
    }
    priorities
}

/// Fills the order with the problem's rows, most urgent first: by the given priorities if there are
/// any, else by `rule`.
pub(crate) fn rows_by_urgency(problem: &Problem, rule: ClassicOrder, tables: &mut Tables) {
    let Tables {
        keys,
        order: into,
        set: _,
    } = tables;
    match problem.priorities() {
        Some(given) => {
            sort_rows(problem, keys, into, |row| {
                (0, u64::from(u32::MAX - given[row.task]))
            });
        }
        None => sort_rows(problem, keys, into, |row| match rule {
            ClassicOrder::RateMonotonic => (0, row.period),
            ClassicOrder::DeadlineMonotonic => (0, row.deadline),
            ClassicOrder::CriticalityMonotonic => {
                ((LEVELS_MAX - row.criticality) as u64, row.period)
            }
        }),
    }
}

/// Fills `into` with the problem's rows, smallest key first, equal keys in task order.
///
/// A row fills more than a cache line, so it is not the rows that are sorted but numbers made of
/// key and index; the first part of a key is to be below 2^48.
pub(crate) fn sort_rows(
    problem: &Problem,
    keys: &mut Vec<u128>,
    into: &mut Vec<Row>,
    key: impl Fn(&Row) -> (u64, u64),
) {
    const INDEX_BITS: u32 = 16;
    const { assert!(TASKS_MAX < 1 << INDEX_BITS) };
    keys.clear();
    keys.extend(problem.rows().iter().map(|row| {
        let (first, second) = key(row);
        ((u128::from(first) << 64 | u128::from(second)) << INDEX_BITS) | row.task as u128
    }));
    keys.sort_unstable();
    into.clear();
    let index = |key: &u128| (key & ((1 << INDEX_BITS) - 1)) as usize;
    into.extend(keys.iter().map(|key| problem.rows()[index(key)]));
}

/// The rows by urgency, an empty set beside them.
pub(crate) fn tables_by_urgency(problem: &Problem, rule: ClassicOrder) -> Tables {
    let mut tables = Tables::default();
    rows_by_urgency(problem, rule, &mut tables);
    tables
}
