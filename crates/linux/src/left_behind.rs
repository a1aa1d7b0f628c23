//! Jobs of workers that have not come back when patience with them ends: a body without a cancellation
//! point, or one that blocks. They count like all others, and so do the releases behind them.

use crate::manager::id_of;
use crate::outcome::note_unfinished;
use crate::recording::Tracer;
use crate::shared::{Shared, TaskShared};
use crate::sys::clock::monotonic_nanos;
use crate::worker::job_of;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use vestal_core::TaskId;
use vestal_trace::{Record, What};

/// Notes down what the workers of the tasks at these indices will not; gives the records about it.
///
/// To be called when all other threads of the run are gone.
pub(crate) fn account(shared: &Shared, stuck: &[usize]) -> Vec<Record> {
    let mut trace = Tracer::list();
    for &index in stuck {
        let Some(task) = shared.tasks.get(index) else {
            continue;
        };
        if let Some(sequence) = task.running() {
            shared.stays(task, sequence);
        }
        match shared.managed {
            Some(_) => account_assigned(shared, task, id_of(index), &mut trace),
            None => account_all(shared, task, id_of(index), &mut trace),
        }
    }
    trace.into_records()
}

/// Natively a worker notes down its jobs one after the other: what is missing are all that were released
/// since.
fn account_all(shared: &Shared, task: &TaskShared, id: TaskId, trace: &mut Tracer) {
    let end = shared.end.load(Ordering::SeqCst);
    let stopped = shared.stopped_at.load(Ordering::SeqCst).min(end);
    let mut sequence = {
        let record = task.record.lock().unwrap_or_else(PoisonError::into_inner);
        record.jobs.released
    };
    while let Some(release) = released(shared, task, sequence).filter(|&at| at < stopped) {
        let executed = executed(task, sequence);
        note_unfinished(shared, task, id, (release, executed), trace);
        sequence += 1;
    }
}

/// Under managed dispatch the manager has noted down all but the job that the worker has.
fn account_assigned(shared: &Shared, task: &TaskShared, id: TaskId, trace: &mut Tracer) {
    let not_begun = task.handover.take_assigned();
    let not_begun = not_begun.map(|assignment| assignment.sequence);
    let Some(sequence) = not_begun.or_else(|| task.running()) else {
        return;
    };
    let Some(release) = released(shared, task, sequence) else {
        return;
    };
    let dropped = task.lost_its_priority(sequence);
    if dropped {
        // As the worker would have said at its end.
        let (job, why) = (job_of(id, sequence), task.why_dropped(sequence));
        let at = shared.instant(monotonic_nanos());
        trace.record(at, What::Dropped { job, why });
    }
    let executed = executed(task, sequence);
    note_unfinished(shared, task, id, (release, executed), trace);
    if dropped {
        let mut record = task.record.lock().unwrap_or_else(PoisonError::into_inner);
        record.jobs.unfinished -= 1;
        record.jobs.dropped += 1;
    }
}

/// What job `sequence` has executed until now.
fn executed(task: &TaskShared, sequence: u64) -> u64 {
    let begun = task.running() == Some(sequence);
    begun.then(|| task.executed()).flatten().unwrap_or(0)
}

/// When job `sequence` is released, as a clock reading.
fn released(shared: &Shared, task: &TaskShared, sequence: u64) -> Option<u64> {
    let period = task.configuration.task.period.as_nanos();
    let first = shared
        .epoch
        .load(Ordering::SeqCst)
        .checked_add(task.offset_nanos)?;
    sequence.checked_mul(period)?.checked_add(first)
}
