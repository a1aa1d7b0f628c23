//! The search for zero-slack instants that keep every guarantee.
//!
//! The later an instant, the less the less critical tasks are suspended, and the sooner no task is at all;
//! the earlier, the sooner the task itself has the CPU, and the less of it is under way when others
//! begin. In runs of a level in which no task is suspended no task is in those of any lower one either, so
//! a search decides up to which level that shall be. Those levels' own tasks then suspend no task
//! before their deadlines. All others have to wait just as long as they may take in these runs, and an
//! instant any later only delays them; [`Candidate`] has what is tried. With one level above, the
//! first candidate is the best one; with more, what is rejected may still have instants.

use super::proof::{Ways, highest, is_used};
use super::{Form, SPORADIC, SlackTables, TIGHTENED};
use crate::problem::Row;

/// The instants of the tasks above the levels in whose runs no task is to be suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Candidate {
    /// The earliest: as long as they take in the runs of those levels.
    Earliest,
    /// As long as they take in the runs of the level below their own: no task above a level is
    /// critical in its runs, and gets ahead of its tasks.
    Staged,
    /// The latest by the form that looks at each task by itself.
    Latest,
}

impl SlackTables {
    /// Looks for instants that keep every guarantee, and leaves them in `instants`.
    pub(crate) fn search(&mut self, order: &[Row], ways: Ways) -> bool {
        if self.is_trivially_infeasible(order) {
            return false;
        }
        // In whose runs no task is to be suspended: levels below `quiet`.
        for quiet in (0..=highest(order) + 1).rev() {
            if self.prepare(order, quiet)
                && [Candidate::Earliest, Candidate::Staged]
                    .into_iter()
                    .any(|candidate| self.tries(order, quiet, candidate, ways))
            {
                return true;
            }
        }
        // What is dear comes last.
        let forms: &[Form] = match ways {
            Ways::Plain => &[SPORADIC],
            Ways::Tightened => &[SPORADIC, TIGHTENED],
        };
        for &form in forms {
            self.choose(order, form);
            self.latest.clone_from(&self.instants);
            for quiet in (0..=highest(order) + 1).rev() {
                if self.prepare(order, quiet) && self.tries(order, quiet, Candidate::Latest, ways) {
                    return true;
                }
            }
            self.instants.clone_from(&self.latest);
            if self.proves(order, ways).is_ok() {
                return true;
            }
        }
        false
    }

    /// Whether no instants prove the highest level. No task is critical above its tasks, so that the
    /// earliest instants give them the least bounds, and the form none that are less.
    fn is_trivially_infeasible(&mut self, order: &[Row]) -> bool {
        let top = highest(order);
        if self.plain_responses(order, top).is_ok() {
            return false;
        }
        self.earliest(order);
        self.bounded(order, top).is_err()
    }

    /// Computes what the tasks take in the runs of the levels below `quiet`; whether no task misses then.
    fn prepare(&mut self, order: &[Row], quiet: usize) -> bool {
        self.base.clear();
        match quiet.checked_sub(1) {
            None => self.base.resize(order.len(), 0),
            Some(level) => {
                if !is_used(order, level) || self.plain_responses(order, level).is_err() {
                    return false;
                }
                self.base.extend_from_slice(&self.responses);
            }
        }
        true
    }

    fn tries(&mut self, order: &[Row], quiet: usize, candidate: Candidate, ways: Ways) -> bool {
        let is_one = match candidate {
            Candidate::Earliest => self.take_earliest(order, quiet),
            Candidate::Staged => self.take_staged(order, quiet),
            Candidate::Latest => self.take_latest(order, quiet),
        };
        is_one && self.proves_from(order, quiet, ways).is_ok()
    }

    fn take_earliest(&mut self, order: &[Row], quiet: usize) -> bool {
        self.instants.clone_from(&self.base);
        self.wait_for_deadlines(order, quiet);
        true
    }

    /// Goes on from the earliest ones. Whether there are two levels at least, and no task misses.
    fn take_staged(&mut self, order: &[Row], quiet: usize) -> bool {
        let top = highest(order);
        let used = |level: &usize| is_used(order, *level);
        let Some(first) = (quiet..top).find(used) else {
            return false;
        };
        // Those of the first level wait as they do in the earliest candidate.
        for (instant, row) in self.instants.iter_mut().zip(order) {
            if row.criticality > first {
                *instant = row.deadline;
            }
        }
        for level in (first..top).filter(used) {
            if self.bounded(order, level).is_err() {
                return false;
            }
            let next = (level + 1..=top).find(used);
            for (position, row) in order.iter().enumerate() {
                if Some(row.criticality) == next {
                    self.instants[position] = self.responses[position];
                }
            }
        }
        true
    }

    /// Whether no task is suspended in the runs where no task is to be.
    fn take_latest(&mut self, order: &[Row], quiet: usize) -> bool {
        self.instants.clone_from(&self.latest);
        self.wait_for_deadlines(order, quiet);
        let mut pairs = self.base.iter().zip(&self.instants);
        pairs.all(|(base, instant)| base <= instant)
    }

    /// Tasks of levels below `quiet` suspend no task before their deadlines; the least critical have
    /// none to suspend.
    fn wait_for_deadlines(&mut self, order: &[Row], quiet: usize) {
        let lowest = order.iter().map(|row| row.criticality).min();
        for (instant, row) in self.instants.iter_mut().zip(order) {
            if row.criticality < quiet || Some(row.criticality) == lowest {
                *instant = row.deadline;
            }
        }
    }

    /// Moves one instant after the other, the most critical tasks' first, as late as the guarantees
    /// allow: less critical tasks are then suspended no sooner than they have to be. The present ones
    /// keep all guarantees.
    pub(crate) fn move_late(&mut self, order: &[Row], ways: Ways) {
        let top = highest(order);
        for criticality in (0..=top).rev() {
            for position in
                (0..order.len()).filter(|&position| order[position].criticality == criticality)
            {
                self.move_one_late(order, position, ways);
            }
        }
    }

    fn move_one_late(&mut self, order: &[Row], position: usize, ways: Ways) {
        let (mut fine, mut late) = (self.instants[position], order[position].deadline);
        let mut fits = |instant: u64| {
            self.instants[position] = instant;
            self.proves(order, ways).is_ok()
        };
        if fine == late || fits(late) {
            return;
        }
        while late - fine > 1 {
            let middle = fine + (late - fine) / 2;
            if fits(middle) {
                fine = middle;
            } else {
                late = middle;
            }
        }
        self.instants[position] = fine;
    }
}
