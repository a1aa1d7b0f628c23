//! Audsley's optimal priority assignment for analyses with the property of [`crate::bounds`].
//!
//! N. C. Audsley, "On priority assignment in fixed priority scheduling", Information Processing
//! Letters 79(1), 2001: fill the priorities from the least urgent up; any task that passes at the
//! bottom of the tasks still without priority may have it. Valid because a task's bound depends
//! only on the *set* of more urgent tasks and never falls when that set grows.
//!
//! Because R_U(l) is the same for every task of U, one search a level decides for all candidates of
//! a priority. Of the tasks of one criticality the one with the longest deadline passes if any
//! does (Baruah, Burns and Davis, RTSS 2011, section IV), so only that one is looked at. Among those
//! that pass, the longest deadline goes first, then the lowest criticality, then the lowest index:
//! exactly what the unreduced algorithm picks ([`crate::oracle::assign`] is its twin).
//!
//! O(n L) searches for n tasks and L levels.

use crate::bounds::Bounds;
use crate::demand::Bound;
use crate::problem::{Problem, Row};
use core::cmp::Reverse;
use vestal_core::model::LEVELS_MAX;

/// Gives every task a priority, least urgent first, and tells `place` of each: the task and its
/// bounds for the levels up to its own. `left` holds the tasks without priority, sorted by
/// criticality; whether it is empty at the end is the result.
///
/// C_i(z_i) <= D_i must have been checked.
pub(crate) fn assign(
    problem: &Problem,
    left: &mut Vec<Row>,
    bounds: &mut impl Bounds,
    mut place: impl FnMut(&Row, &[u64]),
) -> bool {
    left.clear();
    left.extend_from_slice(problem.rows());
    // The last task of each criticality is the one with the longest deadline and, among equals, the
    // lowest index.
    left.sort_unstable_by_key(|row| (row.criticality, row.deadline, Reverse(row.task)));
    let mut groups = Groups::of(left);
    let mut found = [0; LEVELS_MAX];
    while !left.is_empty() {
        let Some(level) = choose(left, &groups, bounds, &mut found) else {
            return false;
        };
        let row = left.remove(groups.last(level));
        groups.shrink(level);
        place(&row, &found[..=level]);
    }
    true
}

/// The criticality whose longest-deadline task takes the next priority; `found` gets R_U(l) up to
/// that level.
fn choose(
    left: &[Row],
    groups: &Groups,
    bounds: &mut impl Bounds,
    found: &mut [u64; LEVELS_MAX],
) -> Option<usize> {
    // longest[l]: the longest deadline among the tasks of level l and above. No bound at level l
    // beyond it is of use to anybody.
    let mut longest = [0; LEVELS_MAX + 1];
    for level in (0..LEVELS_MAX).rev() {
        let own = groups.has(level).then(|| left[groups.last(level)].deadline);
        longest[level] = own.unwrap_or(0).max(longest[level + 1]);
    }
    bounds.load(left);
    let mut best: Option<(usize, u64)> = None;
    for level in 0..LEVELS_MAX {
        // A deadline is never 0, so levels that nobody is left for end the search here, too.
        if best.map_or(0, |(_, deadline)| deadline) >= longest[level] {
            break;
        }
        match bounds.at(left, level, longest[level]) {
            Bound::Found(bound) => found[level] = bound,
            Bound::AtLeast(_) => break,
        }
        if groups.has(level) {
            let deadline = left[groups.last(level)].deadline;
            if found[level] <= deadline && best.is_none_or(|(_, other)| deadline > other) {
                best = Some((level, deadline));
            }
        }
    }
    best.map(|(level, _)| level)
}

/// Where the tasks of each criticality end in a table sorted by criticality.
struct Groups {
    ends: [usize; LEVELS_MAX],
}

impl Groups {
    fn of(rows: &[Row]) -> Self {
        let mut ends = [0; LEVELS_MAX];
        for (level, end) in ends.iter_mut().enumerate() {
            *end = rows.partition_point(|row| row.criticality <= level);
        }
        Self { ends }
    }

    fn start(&self, level: usize) -> usize {
        if level == 0 { 0 } else { self.ends[level - 1] }
    }

    fn has(&self, level: usize) -> bool {
        self.start(level) < self.ends[level]
    }

    /// The place of the level's last task; the level must have one.
    fn last(&self, level: usize) -> usize {
        self.ends[level] - 1
    }

    /// The level's last task has been removed from the table.
    fn shrink(&mut self, level: usize) {
        for end in &mut self.ends[level..] {
            *end -= 1;
        }
    }
}
