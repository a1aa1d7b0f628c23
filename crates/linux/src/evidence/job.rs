//! What is noted of a job: that it begins and ends, and what became of it.

use super::Intervals;
use crate::account::{Cut, Ending, Note, Return, TaskNote};
use crate::cpu::Cpu;
use crate::job::Ended;
use crate::notes::Online;
use crate::recording::Tracer;
use crate::run::Run;
use crate::sys::clock::monotonic_nanos;
use crate::sys::futex::wait_until;
use crate::task::TaskShared;
use std::sync::atomic::AtomicU32;
use vestal_core::DropReason;
use vestal_trace::{Record, What};

impl Intervals {
    /// Job `sequence` of `task`, released at `release`, begins on this thread.
    pub(crate) fn begin_job(&mut self, task: &TaskShared, (sequence, release): (u64, u64)) {
        let online = &self.cpu.online;
        let seems_first = online.begins(release);
        let begins = TaskNote::Begins {
            release,
            consumed: seems_first.then(|| self.cpu.consumed()),
        };
        self.note(Note::Task(task.id.index(), begins));
        let online = &self.cpu.online;
        online.note_due(&task.online, task.due(release));
        task.online.gets_priority();
        // The manager could not see it there before.
        if task.jobs.lost_its_priority(sequence)
            && let Some(note) = take_priority(online, task)
        {
            self.note(note);
        }
    }

    /// The body of a job of `task` has returned. Gives what the threads of the run have consumed, if the judge will want to
    /// know: of a late job that nobody has looked at.
    pub(crate) fn end_job(&mut self, task: &TaskShared, job: &Ended) -> Option<u64> {
        let was_seen = !task.online.is_not_due();
        leave_priority(&self.cpu.online, task, job.finished);
        let ends = TaskNote::Ends(Return {
            sequence: job.sequence,
            executed: job.executed,
            now: job.finished,
            lost: task.jobs.lost_its_priority(job.sequence),
        });
        self.note(Note::Task(task.id.index(), ends));
        let is_judged = self.cpu.terms.guarantee && is_late(task, job) && !was_seen;
        is_judged.then(|| self.cpu.consumed())
    }

    /// Notes a job that is complete. `consumed`: what [`Self::end_job`] gave.
    pub(crate) fn note_completed(
        &mut self,
        task: &TaskShared,
        (job, consumed): (&Ended, Option<u64>),
        trace: &Tracer,
    ) {
        let late = is_late(task, job);
        if late {
            // There will be a record of it, with this instant.
            trace.open();
        }
        let completed = TaskNote::Completed(Ending {
            sequence: job.sequence,
            release: job.release,
            finished: job.finished,
            executed: job.executed,
            at: if late {
                monotonic_nanos()
            } else {
                job.finished
            },
            consumed,
        });
        self.note(Note::Task(task.id.index(), completed));
        if late {
            trace.close();
        }
    }

    /// Notes a job that the end of the run met.
    pub(crate) fn note_unfinished(
        &mut self,
        task: &TaskShared,
        job: (u64, u64),
        executed: u64,
        trace: &Tracer,
    ) {
        trace.open();
        let cut = TaskNote::Unfinished(self.cpu.unfinished(job, task.due(job.1), executed));
        self.note(Note::Task(task.id.index(), cut));
        trace.close();
    }
    /// Notes that job `sequence` of `task` was dropped.
    pub(crate) fn note_dropped(&mut self, task: &TaskShared, sequence: u64, why: DropReason) {
        let native = self.cpu.planned.is_none();
        let dropped = TaskNote::Dropped {
            why,
            count: 1,
            next: if native { sequence + 1 } else { 0 },
        };
        self.note(Note::Task(task.id.index(), dropped));
    }
}

impl Cpu {
    /// Writes a note when the run is over, however long it takes until there is room for it: a second at most.
    pub(crate) fn note_patiently(&self, note: Note) {
        const PATIENCE_NANOS: u64 = 1_000_000_000;
        const POLL_NANOS: u64 = 1_000_000;
        let never = AtomicU32::new(0);
        let until = monotonic_nanos().saturating_add(PATIENCE_NANOS);
        loop {
            let now = monotonic_nanos();
            if self.notes.has_room() || now >= until {
                break;
            }
            wait_until(&never, 0, Some(now + POLL_NANOS));
        }
        self.notes.write(note);
    }

    /// Job `sequence` of a task, released at `release` and due at `due`, was met by the end of the run when it had executed
    /// so much: the note about it.
    pub(crate) fn unfinished(
        &self,
        (sequence, release): (u64, u64),
        due: u64,
        executed: u64,
    ) -> Cut {
        let stopped = self.stopped_at.get();
        let is_judged = self.terms.guarantee && due < stopped.max(release);
        Cut {
            sequence,
            release,
            executed,
            stopped,
            consumed: is_judged.then(|| self.consumed()),
            at: monotonic_nanos(),
            dropped: false,
        }
    }
}

/// The present job of `task` loses its priority, if it has one: then that is to be noted.
pub(crate) fn take_priority(online: &Online, task: &TaskShared) -> Option<Note> {
    if !task.online.has_priority() {
        return None;
    }
    let (executed, now) = (task.jobs.executed().unwrap_or(0), monotonic_nanos());
    let loses = TaskNote::LosesPriority { executed, now };
    let had_it = leave_priority(online, task, now);
    had_it.then_some(Note::Task(task.id.index(), loses))
}

fn leave_priority(online: &Online, task: &TaskShared, now: u64) -> bool {
    task.online.is_not_due();
    let had_it = task.online.leaves_priority();
    if had_it {
        online.leaves(now);
    }
    had_it
}

fn is_late(task: &TaskShared, job: &Ended) -> bool {
    let deadline = task.configuration.task.deadline.as_nanos();
    job.finished.saturating_sub(job.release) > deadline
}

/// Records that job `sequence` of `task`, which has come to its end, was dropped; says why.
pub(crate) fn record_dropped(
    run: &Run,
    task: &TaskShared,
    sequence: u64,
    trace: &mut Tracer,
) -> DropReason {
    let (job, why) = (task.job(sequence), task.verdicts.why_dropped(sequence));
    trace.open();
    let at = run.instant(monotonic_nanos());
    trace.record(at, What::Dropped { job, why });
    trace.close();
    why
}

/// Jobs of workers that have not come back when patience with them ends: a body without a cancellation point, or one that
/// blocks. They count like all others, and so do the releases behind them. Notes what the workers of the tasks at these
/// indices will not; gives the records about it.
///
/// To be called when all other threads of the run are gone.
pub(crate) fn note_left_behind(cpu: &Cpu, stuck: &[usize]) -> Vec<Record> {
    let mut trace = Tracer::list();
    for &index in stuck {
        let Some(task) = cpu.tasks.get(index) else {
            continue;
        };
        if let Some(sequence) = task.jobs.running() {
            cpu.notes.write(stays(&cpu.online, task, sequence));
        }
        // Natively what is missing are all jobs that were released since, which the judge knows.
        if cpu.planned.is_some() {
            note_assigned(cpu, task, &mut trace);
        }
    }
    trace.into_records()
}

/// The body of job `sequence` of `task` does not return: the note about it.
fn stays(online: &Online, task: &TaskShared, sequence: u64) -> Note {
    let (executed, now) = (task.jobs.executed().unwrap_or(0), monotonic_nanos());
    leave_priority(online, task, now);
    let stays = TaskNote::Stays(Return {
        sequence,
        executed,
        now,
        lost: task.jobs.lost_its_priority(sequence),
    });
    Note::Task(task.id.index(), stays)
}

/// Under managed dispatch the manager has noted all but the job that the worker has.
fn note_assigned(cpu: &Cpu, task: &TaskShared, trace: &mut Tracer) {
    let not_begun = task.handover.take_assigned();
    let not_begun = not_begun.map(|assignment| assignment.sequence);
    let Some(sequence) = not_begun.or_else(|| task.jobs.running()) else {
        return;
    };
    let job = (sequence, cpu.run.clock_at(task.release_of(sequence)));
    let dropped = task.jobs.lost_its_priority(sequence);
    if dropped {
        // As the worker would have said at its end.
        record_dropped(&cpu.run, task, sequence, trace);
    }
    let begun = task.jobs.running() == Some(sequence);
    let executed = begun.then(|| task.jobs.executed()).flatten().unwrap_or(0);
    let cut = cpu.unfinished(job, task.due(job.1), executed);
    let cut = TaskNote::Unfinished(Cut { dropped, ..cut });
    cpu.notes.write(Note::Task(task.id.index(), cut));
}
