//! What the manager does about jobs that have no slack left.

use super::{Manager, id_of};
use crate::shared::{Shared, TaskShared};
use crate::sys;
use crate::sys::clock::monotonic_nanos;
use crate::zss::Rank;
use std::sync::atomic::Ordering;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{ContractViolation, Fact, Instant, JobId, Permit, Scheduler, TaskId};

impl Manager {
    /// How long until the guard wants to be called.
    pub(crate) fn until_wake(&self, shared: &Shared, now: u64) -> u64 {
        let now = shared.instant(now);
        self.wake
            .map_or(u64::MAX, |wake| wake.saturating_since(now).as_nanos())
    }

    /// Reports to the guard of jobs that have no slack left, and of the end of those it knows; lets it decide
    /// if there is one, or if it asked for that.
    pub(super) fn settle_slack(&mut self, shared: &Shared) -> Result<(), ContractViolation> {
        let now = shared.instant(monotonic_nanos());
        let mut reported = self.wake.is_some_and(|wake| wake <= now);
        if reported {
            self.guard.apply(now, Fact::Timer)?;
        }
        for (index, task) in shared.tasks.iter().enumerate() {
            reported |= self.report_slack(task, id_of(index), now)?;
        }
        if reported {
            self.decide(shared)?;
        }
        Ok(())
    }

    fn report_slack(
        &mut self,
        task: &TaskShared,
        id: TaskId,
        now: Instant,
    ) -> Result<bool, ContractViolation> {
        let Some(slack) = &task.slack else {
            return Ok(false);
        };
        let mut reported = false;
        let sequence = slack.first();
        if let Some(incomplete) = slack
            .incomplete()
            .filter(|incomplete| *incomplete < sequence)
        {
            let job = JobId {
                task: id,
                sequence: incomplete,
            };
            self.guard.apply(now, Fact::Completed { cpu: CPU, job })?;
            slack.note_none_incomplete();
            reported = true;
        }
        // A job that lost its priority stands for nothing, and the one behind it has no thread.
        if slack.incomplete().is_some() || task.is_demoted(sequence) {
            return Ok(reported);
        }
        let period = task.configuration.task.period.as_nanos();
        let release = task
            .offset_nanos
            .saturating_add(period.saturating_mul(sequence));
        if slack.instant_of(release) <= now.as_nanos() {
            slack.note_incomplete(sequence);
            let job = JobId { task: id, sequence };
            let released = Instant::from_nanos(release);
            self.guard.apply(released, Fact::Released { job })?;
            reported = true;
        }
        Ok(reported)
    }

    /// Gives every worker the priority of its rank; says whether one has another than before. None
    /// else moves meanwhile: all of them share the manager's CPU.
    pub(super) fn enact_ranks(&mut self, shared: &Shared) -> bool {
        let mut moved = false;
        for (index, task) in shared.tasks.iter().enumerate() {
            let rank = match self.guard.permit(id_of(index)) {
                Permit::Run { .. }
                | Permit::Demoted
                | Permit::Dropped { .. }
                | Permit::NotAdmitted => Rank::Own,
                Permit::Below { .. } => Rank::BelowAll,
                Permit::Suspended { .. } => Rank::Suspended,
            };
            let Some(priority) = task.turn_to(rank) else {
                continue;
            };
            moved = true;
            // In the background it stays below all of them, and asks for its priority when it comes back.
            if !task.is_in_background() {
                // A worker lives as long as the run; the manager has the right, or there were no run.
                let _ = sys::sched::set_fifo(task.tid.load(Ordering::SeqCst), priority);
            }
        }
        moved
    }
}
