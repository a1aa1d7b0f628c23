//! Jobs that were reported complete: whether they overran all the same.

use super::Guard;
use crate::ids::{JobId, TaskId};
use crate::model::Level;
use crate::store::Store;

/// Whether a job is complete, and how far it was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ending {
    /// It is not complete.
    Pending,
    /// It is complete since the last decision.
    Complete,
    /// The same, and it was charged more than it had when this decision began.
    Overran,
    /// A decision has judged it: nothing that happens later makes an overrun of it.
    Judged,
}

impl<S: Store> Guard<S> {
    /// Judges the jobs that are complete since the last decision: by the mode in which this decision
    /// begins, so that the tasks' numbers do not matter, and once (C2).
    pub(super) fn settle_completed(&mut self) {
        let began_in = self.account.mode;
        self.for_dirty(|guard, task| guard.judge_completed(task));
        self.for_dirty(|guard, task| guard.settle_completed_overrun(task, began_in));
    }

    fn judge_completed(&mut self, task: TaskId) {
        let (Some(allowance), Some(seen)) = (
            self.account.allowances.get(task.index()),
            self.seen.get_mut(task.index()),
        ) else {
            return;
        };
        if seen.ending != Ending::Complete {
            return;
        }
        let stopped = seen.exhausted || seen.dropped_up_to >= seen.sequence || !allowance.admits;
        let overran = !stopped && seen.executed > allowance.tolerated;
        seen.ending = if overran {
            Ending::Overran
        } else {
            Ending::Judged
        };
    }

    /// A job that is complete and used more than it had when the decision began, in mode `mode`. It can
    /// only raise the mode, to where what it used is allowed; another job may have done so already.
    fn settle_completed_overrun(&mut self, task: TaskId, mut mode: Level) {
        let Some(seen) = self.seen.get_mut(task.index()) else {
            return;
        };
        let (Ending::Overran, Some(sequence)) = (seen.ending, seen.sequence) else {
            return;
        };
        seen.ending = Ending::Judged;
        let (job, executed) = (JobId { task, sequence }, seen.executed);
        while let Some(to) = self.account.raised_by(job, executed, mode) {
            mode = to;
            if to > self.account.mode {
                self.raise_mode(to, job);
            }
        }
    }
}
