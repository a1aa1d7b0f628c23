//! Suspends jobs as the scheduler says: on a free CPU a lower priority does not.

use super::Dispatcher;
use crate::manager::waits_for_an_instant;
use crate::shared::TaskShared;
use vestal_core::{JobId, Scheduler};

impl Dispatcher {
    /// `job`, which has just lost the CPU, waits for its next slice: it does not go on even if no other thread
    /// else wants the CPU. See [`crate::suspension`].
    pub(super) fn hold_if_suspended(&mut self, task: &TaskShared, job: JobId) {
        if !task.is_sliced()
            || task.running_admitted() != Some(job.sequence)
            || !waits_for_an_instant(self.scheduler.permit(job.task))
        {
            return;
        }
        let executed = task.executed().unwrap_or(0);
        let counts = &mut self.record.suspensions;
        task.suspension.suspend(task.tid(), executed, counts);
    }
}
