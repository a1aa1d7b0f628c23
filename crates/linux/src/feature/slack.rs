//! Zero slack: what a manager does about jobs that have no slack left.

use crate::control::Control;
use crate::zss::{Rank, Slack};
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{ContractViolation, Fact, Instant, Permit, Scheduler, TaskId};

/// Per task: the job of which the decider knows that it is incomplete.
#[derive(Debug)]
pub(crate) struct Incomplete(Vec<Option<u64>>);

impl Incomplete {
    pub(crate) fn new(tasks: usize) -> Self {
        Self(vec![None; tasks])
    }

    /// Reports to the decider of jobs that have no slack left, and of the end of those it knows; says whether
    /// there was one.
    pub(crate) fn report(
        &mut self,
        control: &Control<'_>,
        decider: &mut impl Scheduler,
        now: Instant,
    ) -> Result<bool, ContractViolation> {
        let mut reported = false;
        for (task, known) in control.tasks.iter().zip(&mut self.0) {
            let Some(slack) = &task.slack else {
                continue;
            };
            let sequence = slack.first();
            if let Some(incomplete) = *known
                && incomplete < sequence
            {
                let (cpu, job) = (CPU, task.job(incomplete));
                decider.apply(now, Fact::Completed { cpu, job })?;
                *known = None;
                reported = true;
            }
            // A job that lost its priority stands for nothing, and the one behind it has no thread.
            if known.is_some() || task.jobs.is_demoted(sequence) {
                continue;
            }
            let release = task.release_of(sequence);
            if slack.instant_of(release) <= now.as_nanos() && slack.await_end(sequence) {
                *known = Some(sequence);
                let job = task.job(sequence);
                let released = Instant::from_nanos(release);
                decider.apply(released, Fact::Released { job })?;
                reported = true;
            }
        }
        Ok(reported)
    }

    /// Whether the worker of `task`, whose job has ended, waits to be heard of.
    pub(crate) fn is_end_unreported(&self, task: TaskId, slack: &Slack) -> bool {
        let known = self.0.get(task.index()).copied().flatten();
        known.is_some_and(|known| known < slack.first())
    }
}

/// Gives every worker the priority of its rank; says whether one has another than before. None
/// else moves meanwhile: all of them share the manager's CPU.
pub(crate) fn enact_ranks(control: &Control<'_>, decider: &impl Scheduler) -> bool {
    let mut moved = false;
    for task in control.tasks {
        let rank = match decider.permit(task.id) {
            Permit::Run { .. } | Permit::Demoted | Permit::Dropped { .. } | Permit::NotAdmitted => {
                Rank::Own
            }
            Permit::Below { .. } => Rank::BelowAll,
            Permit::Suspended { .. } => Rank::Suspended,
        };
        let Some(priority) = task.turn_to(rank) else {
            continue;
        };
        moved = true;
        // In the background it stays below all of them, and asks for its priority when it comes back.
        if !task.jobs.is_in_background() {
            // A worker lives as long as the run; the manager has the right, or there were no run.
            let _ = control.raise(task.jobs.tid(), priority);
        }
    }
    moved
}
