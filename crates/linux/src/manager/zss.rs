//! What the manager does about jobs that have no slack left.

use super::Manager;
use crate::shared::{Shared, TaskShared};
use crate::sys::clock::monotonic_nanos;
use crate::thread::start::Step;
use crate::zss::{Rank, Slack};
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{Fact, Instant, Permit, Scheduler};

impl Manager {
    /// How long until the guard wants to be called.
    pub(crate) fn until_wake(&self, shared: &Shared, now: u64) -> u64 {
        let now = shared.instant(now);
        self.wake
            .map_or(u64::MAX, |wake| wake.saturating_since(now).as_nanos())
    }

    /// Reports to the guard of jobs that have no slack left, and of the end of those it knows; lets it decide
    /// if there is one, or if it asked for that.
    pub(super) fn settle_slack(&mut self, shared: &Shared) -> Step {
        let now = shared.instant(monotonic_nanos());
        let mut reported = self.wake.is_some_and(|wake| wake <= now);
        if reported {
            self.guard.apply(now, Fact::Timer)?;
        }
        for task in &shared.tasks {
            if let Some(slack) = &task.slack {
                reported |= self.report_slack(task, slack, now)?;
            }
        }
        if reported {
            self.decide(shared)?;
        }
        Ok(())
    }

    fn report_slack(&mut self, task: &TaskShared, slack: &Slack, now: Instant) -> Step<bool> {
        let mut reported = false;
        let Some(known) = self.incomplete.get_mut(task.id.index()) else {
            return Ok(false);
        };
        let sequence = slack.first();
        if let Some(incomplete) = *known
            && incomplete < sequence
        {
            let (cpu, job) = (CPU, task.job(incomplete));
            self.guard.apply(now, Fact::Completed { cpu, job })?;
            *known = None;
            reported = true;
        }
        // A job that lost its priority stands for nothing, and the one behind it has no thread.
        if known.is_some() || task.is_demoted(sequence) {
            return Ok(reported);
        }
        let release = task.release_of(sequence);
        if slack.instant_of(release) <= now.as_nanos() && slack.await_end(sequence) {
            *known = Some(sequence);
            let job = task.job(sequence);
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
        for task in &shared.tasks {
            let rank = match self.guard.permit(task.id) {
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
                let _ = shared.raise(task.tid(), priority);
            }
        }
        moved
    }
}
