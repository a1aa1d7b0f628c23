//! What is noted of a job: that it begins and ends, and what became of it.

use super::Intervals;
use crate::account::{Cut, Ending, Note, Return, TaskNote};
use crate::cpu::Cpu;
use crate::job::Ended;
use crate::recording::Tracer;
use crate::sys::clock::monotonic_nanos;
use crate::task::TaskShared;
use vestal_core::DropReason;
use vestal_trace::What;

impl Cpu {
    /// Job `sequence` of `task`, released at `release`, begins on the thread that `own` is of.
    pub(crate) fn begin_at_priority(
        &self,
        task: &TaskShared,
        (sequence, release): (u64, u64),
        own: &mut Intervals,
    ) {
        let seems_first = self.online.begins(release);
        let begins = TaskNote::Begins {
            release,
            consumed: seems_first.then(|| self.consumed()),
        };
        own.note(&self.notes, Note::Task(task.id.index(), begins));
        let deadline = task.configuration.task.deadline.as_nanos();
        self.online
            .note_due(&task.online, release.saturating_add(deadline));
        task.online.gets_priority();
        // The manager could not see it there before.
        if task.lost_its_priority(sequence)
            && let Some(note) = self.take_priority(task)
        {
            own.note(&self.notes, note);
        }
    }

    /// The present job of `task` loses its priority, if it has one: then that is to be noted.
    pub(crate) fn take_priority(&self, task: &TaskShared) -> Option<Note> {
        if !task.online.has_priority() {
            return None;
        }
        let (executed, now) = (task.executed().unwrap_or(0), monotonic_nanos());
        let loses = TaskNote::LosesPriority { executed, now };
        let had_it = self.leave_priority(task, now);
        had_it.then_some(Note::Task(task.id.index(), loses))
    }

    /// The body of a job of `task` has returned. Gives what the threads of the run have consumed, if the judge will want to
    /// know: of a late job that nobody has looked at.
    pub(crate) fn end_at_priority(
        &self,
        task: &TaskShared,
        job: &Ended,
        own: &mut Intervals,
    ) -> Option<u64> {
        let was_seen = !task.online.is_not_due();
        self.leave_priority(task, job.finished);
        let ends = TaskNote::Ends(Return {
            sequence: job.sequence,
            executed: job.executed,
            now: job.finished,
            lost: task.lost_its_priority(job.sequence),
        });
        own.note(&self.notes, Note::Task(task.id.index(), ends));
        let is_judged = self.guarantee && is_late(task, job) && !was_seen;
        is_judged.then(|| self.consumed())
    }

    /// The body of job `sequence` of `task` does not return: the note about it.
    pub(crate) fn stays(&self, task: &TaskShared, sequence: u64) -> Note {
        let (executed, now) = (task.executed().unwrap_or(0), monotonic_nanos());
        self.leave_priority(task, now);
        let stays = TaskNote::Stays(Return {
            sequence,
            executed,
            now,
            lost: task.lost_its_priority(sequence),
        });
        Note::Task(task.id.index(), stays)
    }

    fn leave_priority(&self, task: &TaskShared, now: u64) -> bool {
        task.online.is_not_due();
        let had_it = task.online.leaves_priority();
        if had_it {
            self.online.leaves(now);
        }
        had_it
    }

    /// Job `sequence` of `task`, released at `release`, was met by the end of the run when it had executed so much: the note
    /// about it.
    pub(crate) fn unfinished(
        &self,
        task: &TaskShared,
        (sequence, release): (u64, u64),
        executed: u64,
    ) -> Cut {
        let stopped = self.stopped_at.get();
        let due = release.saturating_add(task.configuration.task.deadline.as_nanos());
        let is_judged = self.guarantee && due < stopped.max(release);
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

    /// Job `sequence` of a task was dropped: the note about it.
    pub(crate) fn dropped(&self, sequence: u64, why: DropReason) -> TaskNote {
        let native = self.managed.is_none();
        TaskNote::Dropped {
            why,
            count: 1,
            next: if native { sequence + 1 } else { 0 },
        }
    }
}

fn is_late(task: &TaskShared, job: &Ended) -> bool {
    let deadline = task.configuration.task.deadline.as_nanos();
    job.finished.saturating_sub(job.release) > deadline
}

/// Notes a job that is complete. `consumed`: what [`Cpu::end_at_priority`] gave.
pub(crate) fn note_completed(
    shared: &Cpu,
    task: &TaskShared,
    (job, consumed): (&Ended, Option<u64>),
    own: &mut Intervals,
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
    own.note(&shared.notes, Note::Task(task.id.index(), completed));
    if late {
        trace.close();
    }
}

/// Notes a job that the end of the run met.
pub(crate) fn note_unfinished(
    shared: &Cpu,
    task: &TaskShared,
    job: (u64, u64),
    executed: u64,
    (own, trace): (&mut Intervals, &Tracer),
) {
    trace.open();
    let cut = TaskNote::Unfinished(shared.unfinished(task, job, executed));
    own.note(&shared.notes, Note::Task(task.id.index(), cut));
    trace.close();
}

/// Records that job `sequence` of `task`, which has come to its end, was dropped; says why.
pub(crate) fn record_dropped(
    shared: &Cpu,
    task: &TaskShared,
    sequence: u64,
    trace: &mut Tracer,
) -> DropReason {
    let (job, why) = (task.job(sequence), task.why_dropped(sequence));
    trace.open();
    let at = shared.instant(monotonic_nanos());
    trace.record(at, What::Dropped { job, why });
    trace.close();
    why
}
