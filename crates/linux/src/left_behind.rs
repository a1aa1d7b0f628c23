//! Jobs of workers that have not come back when patience with them ends: a body without a cancellation
//! point, or one that blocks. They count like all others, and so do the releases behind them.

use crate::outcome::{note_unfinished, record_dropped};
use crate::recording::Tracer;
use crate::shared::{Shared, TaskShared};
use vestal_trace::Record;

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
            Some(_) => account_assigned(shared, task, &mut trace),
            None => account_all(shared, task, &mut trace),
        }
    }
    trace.into_records()
}

/// Natively a worker notes down its jobs one after the other: what is missing are all that were released
/// since.
fn account_all(shared: &Shared, task: &TaskShared, trace: &mut Tracer) {
    let end = shared.end.get();
    let stopped = shared.stopped_at.get().min(end);
    let mut sequence = task.record().jobs.released;
    while shared.release_of(task, sequence) < stopped {
        let release = shared.release_of(task, sequence);
        let executed = executed(task, sequence);
        note_unfinished(shared, task, (release, executed), trace);
        sequence += 1;
    }
}

/// Under managed dispatch the manager has noted down all but the job that the worker has.
fn account_assigned(shared: &Shared, task: &TaskShared, trace: &mut Tracer) {
    let not_begun = task.handover.take_assigned();
    let not_begun = not_begun.map(|assignment| assignment.sequence);
    let Some(sequence) = not_begun.or_else(|| task.running()) else {
        return;
    };
    let release = shared.release_of(task, sequence);
    let dropped = task.lost_its_priority(sequence);
    if dropped {
        // As the worker would have said at its end.
        record_dropped(shared, task, sequence, trace);
    }
    let executed = executed(task, sequence);
    note_unfinished(shared, task, (release, executed), trace);
    if dropped {
        let mut record = task.record();
        record.jobs.unfinished -= 1;
        record.jobs.dropped += 1;
    }
}

/// What job `sequence` has executed until now.
fn executed(task: &TaskShared, sequence: u64) -> u64 {
    let begun = task.running() == Some(sequence);
    begun.then(|| task.executed()).flatten().unwrap_or(0)
}
