//! Jobs of workers that have not come back when patience with them ends: a body without a cancellation
//! point, or one that blocks. They count like all others, and so do the releases behind them.

use crate::account::{Cut, Note, TaskNote};
use crate::cpu::Cpu;
use crate::evidence::record_dropped;
use crate::recording::Tracer;
use crate::task::TaskShared;
use vestal_trace::Record;

/// Notes what the workers of the tasks at these indices will not; gives the records about it.
///
/// To be called when all other threads of the run are gone.
pub(crate) fn note(shared: &Cpu, stuck: &[usize]) -> Vec<Record> {
    let mut trace = Tracer::list();
    for &index in stuck {
        let Some(task) = shared.tasks.get(index) else {
            continue;
        };
        if let Some(sequence) = task.running() {
            shared.notes.write(shared.stays(task, sequence));
        }
        // Natively what is missing are all jobs that were released since, which the judge knows.
        if shared.managed.is_some() {
            note_assigned(shared, task, &mut trace);
        }
    }
    trace.into_records()
}

/// Under managed dispatch the manager has noted all but the job that the worker has.
fn note_assigned(shared: &Cpu, task: &TaskShared, trace: &mut Tracer) {
    let not_begun = task.handover.take_assigned();
    let not_begun = not_begun.map(|assignment| assignment.sequence);
    let Some(sequence) = not_begun.or_else(|| task.running()) else {
        return;
    };
    let job = (sequence, shared.release_of(task, sequence));
    let dropped = task.lost_its_priority(sequence);
    if dropped {
        // As the worker would have said at its end.
        record_dropped(shared, task, sequence, trace);
    }
    let cut = shared.unfinished(task, job, executed(task, sequence));
    let cut = TaskNote::Unfinished(Cut { dropped, ..cut });
    shared.notes.write(Note::Task(task.id.index(), cut));
}

/// What job `sequence` has executed until now.
fn executed(task: &TaskShared, sequence: u64) -> u64 {
    let begun = task.running() == Some(sequence);
    begun.then(|| task.executed()).flatten().unwrap_or(0)
}
