//! Audsley's optimal priority assignment for analyses with the property of [`crate::bounds`].
//!
//! N. C. Audsley, "On priority assignment in fixed priority scheduling", Information Processing
//! Letters 79(1), 2001: fill the priorities from the least urgent up; any task that passes at the
//! bottom of the tasks still without priority may have it. Valid because a task's bound depends
//! only on the *set* of more urgent tasks and never falls when that set grows.
//!
//! The result is that of the algorithm as printed, where each task is tried for each priority:
//! longest deadline first, then lowest criticality, then lowest index (the twin is
//! `crate::oracle::assign`). Three facts spare most of the trials:
//!
//! - R_U(l) is the same for every task of U, so one search a level decides for all candidates.
//! - Of the tasks of one criticality the one with the longest deadline passes if any does (Baruah,
//!   Burns and Davis, RTSS 2011, section IV), so only these *heads* are candidates.
//! - R_U(l) never rises when U shrinks, so a bound found for an earlier priority still holds. While
//!   the first head is within its old bound, nothing is searched at all.
//!
//! At most n L searches for n tasks and L levels.

use crate::bounds::Bounds;
use crate::demand::Bound;
use crate::order;
use crate::problem::{Problem, Row};
use crate::tables::Tables;
use core::cmp::Reverse;
use vestal_core::model::LEVELS_MAX;

/// Gives every task a priority, least urgent first, and reports each to `assigned`. The set of
/// `tables` holds those without priority, sorted by criticality; whether it is empty at the end is
/// the result.
///
/// C_i(z_i) <= D_i must have been checked.
pub(crate) fn assign(
    problem: &Problem,
    tables: &mut Tables,
    bounds: &mut impl Bounds,
    assigned: impl FnMut(&Row),
) -> bool {
    assign_with_rescue(problem, tables, bounds, |_, _| None, assigned)
}

/// As [`assign`] for an analysis that accepts whatever `bounds` do and more: where they let no task
/// pass, `rescue` may name the level of a head that does.
pub(crate) fn assign_with_rescue(
    problem: &Problem,
    tables: &mut Tables,
    bounds: &mut impl Bounds,
    mut rescue: impl FnMut(&[Row], &Heads) -> Option<usize>,
    mut assigned: impl FnMut(&Row),
) -> bool {
    let Tables {
        keys,
        set: left,
        order: _,
    } = tables;
    order::sort_rows(problem, keys, left, |row| {
        (row.criticality as u64, u64::MAX - row.deadline)
    });
    let mut heads = Heads::of(left, problem.levels().count());
    // R_U(l) of the smallest U for which it was searched.
    let mut known = [u64::MAX; LEVELS_MAX];
    while let Some((level, deadline)) = heads.first(left) {
        let level = if known[level] <= deadline {
            level
        } else {
            let found = search(left, &heads, bounds, &mut known);
            match found.or_else(|| rescue(left, &heads)) {
                Some(level) => level,
                None => return false,
            }
        };
        assigned(&left.remove(heads.starts[level]));
        heads.removed(level);
    }
    true
}

/// The algorithm as printed, for an analysis whose bound depends on who is the least urgent: `passes` says of a task
/// whether it may be that in the set of those without priority, itself among them. Reports as [`assign`]; the set stays
/// sorted by criticality. n (n + 1) / 2 questions at most.
pub(crate) fn assign_one_by_one(
    problem: &Problem,
    tables: &mut Tables,
    mut passes: impl FnMut(&Row, &[Row]) -> bool,
    mut assigned: impl FnMut(&Row),
) -> bool {
    let Tables {
        keys,
        set: left,
        order,
    } = tables;
    order::sort_rows(problem, keys, left, |row| {
        (row.criticality as u64, u64::MAX - row.deadline)
    });
    order.clone_from(left);
    order.sort_unstable_by_key(|row| (Reverse(row.deadline), row.criticality, row.task));
    while !order.is_empty() {
        let Some(position) = order.iter().position(|row| passes(row, left)) else {
            return false;
        };
        let row = order.remove(position);
        left.retain(|other| other.task != row.task);
        assigned(&row);
    }
    true
}

/// The level of the first head that passes, by new bounds; they go to `known`.
fn search(
    left: &[Row],
    heads: &Heads,
    bounds: &mut impl Bounds,
    known: &mut [u64; LEVELS_MAX],
) -> Option<usize> {
    // longest[l]: the longest deadline among the tasks of level l and above. No bound at level l
    // beyond it is of use.
    let mut longest = [0; LEVELS_MAX + 1];
    for level in (0..heads.levels).rev() {
        longest[level] = heads
            .deadline(left, level)
            .unwrap_or(0)
            .max(longest[level + 1]);
    }
    bounds.load(left);
    let mut best: Option<(usize, u64)> = None;
    for level in 0..heads.levels {
        // A deadline is never 0, so levels that no task is left for end the search here, too.
        if best.map_or(0, |(_, deadline)| deadline) >= longest[level] {
            break;
        }
        match bounds.at(left, level, longest[level]) {
            Bound::Found(bound) => known[level] = bound,
            Bound::AtLeast(_) | Bound::Undecided => break,
        }
        if let Some(deadline) = heads.deadline(left, level)
            && known[level] <= deadline
            && best.is_none_or(|(_, other)| deadline > other)
        {
            best = Some((level, deadline));
        }
    }
    best.map(|(level, _)| level)
}

/// Where the tasks of each criticality start in a table sorted by criticality and, inside one, by
/// falling deadline: the first of each is its head.
pub(crate) struct Heads {
    /// Level l occupies starts[l]..starts[l + 1].
    starts: [usize; LEVELS_MAX + 1],
    levels: usize,
}

impl Heads {
    fn of(rows: &[Row], levels: usize) -> Self {
        let mut starts = [rows.len(); LEVELS_MAX + 1];
        for (level, start) in starts.iter_mut().enumerate().take(levels) {
            *start = rows.partition_point(|row| row.criticality < level);
        }
        Self { starts, levels }
    }

    /// The number of levels.
    pub(crate) fn levels(&self) -> usize {
        self.levels
    }

    /// The deadline of a level's head, if the level has one.
    pub(crate) fn deadline(&self, rows: &[Row], level: usize) -> Option<u64> {
        let start = self.starts[level];
        (start < self.starts[level + 1]).then(|| rows[start].deadline)
    }

    /// A level's head, if the level has one.
    pub(crate) fn row<'a>(&self, rows: &'a [Row], level: usize) -> Option<&'a Row> {
        let start = self.starts[level];
        rows.get(start).filter(|_| start < self.starts[level + 1])
    }

    /// The level of the head to be tried first, and its deadline.
    fn first(&self, rows: &[Row]) -> Option<(usize, u64)> {
        let mut first: Option<(usize, u64)> = None;
        for level in 0..self.levels {
            if let Some(deadline) = self.deadline(rows, level)
                && first.is_none_or(|(_, other)| deadline > other)
            {
                first = Some((level, deadline));
            }
        }
        first
    }

    /// The level's head has been removed from the table.
    fn removed(&mut self, level: usize) {
        for start in &mut self.starts[level + 1..=self.levels] {
            *start -= 1;
        }
    }
}
