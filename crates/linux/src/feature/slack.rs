//! Zero slack: what a manager does about jobs that have no slack left.

use crate::shared::{Shared, TaskShared};
use crate::zss::{Rank, Slack};
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{ContractViolation, Fact, Instant, Permit, Scheduler};

/// Reports to the decider of jobs that have no slack left, and of the end of those it knows; says whether there
/// was one.
pub(crate) fn report(
    shared: &Shared,
    decider: &mut impl Scheduler,
    now: Instant,
) -> Result<bool, ContractViolation> {
    let mut reported = false;
    for task in &shared.tasks {
        if let Some(slack) = &task.slack {
            reported |= report_task(decider, task, slack, now)?;
        }
    }
    Ok(reported)
}

fn report_task(
    decider: &mut impl Scheduler,
    task: &TaskShared,
    slack: &Slack,
    now: Instant,
) -> Result<bool, ContractViolation> {
    let mut reported = false;
    let sequence = slack.first();
    if let Some(incomplete) = slack.incomplete()
        && incomplete < sequence
    {
        let (cpu, job) = (CPU, task.job(incomplete));
        decider.apply(now, Fact::Completed { cpu, job })?;
        slack.note_none_incomplete();
        reported = true;
    }
    // A job that lost its priority stands for nothing, and the one behind it has no thread.
    if slack.incomplete().is_some() || task.is_demoted(sequence) {
        return Ok(reported);
    }
    let release = task.release_of(sequence);
    if slack.instant_of(release) <= now.as_nanos() {
        slack.note_incomplete(sequence);
        let job = task.job(sequence);
        let released = Instant::from_nanos(release);
        decider.apply(released, Fact::Released { job })?;
        reported = true;
    }
    Ok(reported)
}

/// Gives every worker the priority of its rank; says whether one has another than before. None
/// else moves meanwhile: all of them share the manager's CPU.
pub(crate) fn enact_ranks(shared: &Shared, decider: &impl Scheduler) -> bool {
    let mut moved = false;
    for task in &shared.tasks {
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
        if !task.is_in_background() {
            // A worker lives as long as the run; the manager has the right, or there were no run.
            let _ = shared.raise(task.tid(), priority);
        }
    }
    moved
}

/// Whether a worker whose job has ended waits to be heard of.
pub(crate) fn is_end_unreported(task: &TaskShared) -> bool {
    task.slack.as_ref().is_some_and(Slack::is_end_unreported)
}
