//! Jobs that lose their priorities, and those that never had one.

use super::queue::queue_of;
use super::{Managed, Step};
use crate::account::{Note, TaskNote};
use crate::control::{Class, Control};
use crate::evidence::record_dropped;
use vestal_core::{DropReason, JobId, Permit, Scheduler};
use vestal_trace::What;

impl Managed {
    /// The scheduler has dropped a job: it never began, or goes to the background until its next
    /// cancellation point.
    pub(super) fn drop_job(
        &mut self,
        control: &mut Control<'_>,
        job: JobId,
        why: DropReason,
    ) -> Step {
        let task = control.tasks.of(job.task)?;
        let queue = queue_of(&mut self.queues, job.task)?;
        let waited = queue.take_waiting(job.sequence).is_some();
        let mut is_waiting = false;
        if waited {
            queue.dropped.add(why, 1);
        }
        queue.backlog.forget(job.sequence);
        if why == DropReason::Mode {
            // What is kept of the task is lost with it (contract C7).
            while let Some(sequence) = queue.backlog.take_kept() {
                queue.dropped.add(why, 1);
                let job = JobId { sequence, ..job };
                let what = What::Dropped { job, why };
                self.scheduler.sink_mut().record(self.clock, what);
            }
        }
        if queue.ended.is_some_and(|(ended, _)| ended == job.sequence) {
            queue.ended = None;
        }
        if queue.busy == Some(job.sequence) {
            task.verdicts.note_drop(job.sequence, why);
            // Nothing is served for it any more, and it goes on to its end.
            if queue.waits.take().is_some() || std::mem::take(&mut queue.is_blocked) {
                self.waits
                    .forget(job, |device| control.devices.served(device));
                is_waiting = true;
            }
        }
        // One that waited has no thread, and those before it keep theirs.
        if !waited {
            control.demote_job(task, job.sequence);
        }
        if self.running == Some(job) {
            self.stop_running(control)?;
        } else if queue.busy == Some(job.sequence) {
            self.set_class(control, task.id, Class::Background);
        }
        // Last of all: it learns that it was dropped.
        if is_waiting {
            task.handover.go_on();
        }
        Ok(())
    }

    /// A running job that the scheduler has put into the background is cancelled at its next
    /// cancellation point, and runs outside the real-time class until then.
    pub(super) fn drop_background(&mut self, control: &mut Control<'_>) {
        let Some(job) = self.running else {
            return;
        };
        if self.scheduler.permit(job.task) == Permit::Demoted
            && let Ok(task) = control.tasks.of(job.task)
            && !task.jobs.is_demoted(job.sequence)
        {
            control.demote_job(task, job.sequence);
            self.set_class(control, task.id, Class::Background);
        }
    }

    /// Notes down the jobs of which no worker ever heard.
    pub(super) fn account_for_the_rest(&mut self, control: &Control<'_>) {
        let trace = self.scheduler.sink_mut();
        for (task, queue) in control.tasks.iter().zip(&mut self.queues) {
            let mut dropped = queue.dropped;
            // Of a job that never began, and that the end of the run met.
            let unfinished = |sequence, release| {
                let cut = control.unfinished((sequence, release), task.due(release));
                let note = Note::Task(task.id.index(), TaskNote::Unfinished(cut));
                control.note_patiently(note);
            };
            while let Some(kept) = queue.backlog.take_kept() {
                unfinished(kept, control.run.clock_at(task.release_of(kept)));
            }
            for (sequence, release) in queue.never_begun() {
                if task.jobs.lost_its_priority(sequence) {
                    dropped.add(record_dropped(control.run, task, sequence, trace), 1);
                } else {
                    unfinished(sequence, release);
                }
            }
            let some = dropped.by_reason().filter(|&(_, count)| count > 0);
            for (why, count) in some {
                let next = 0;
                let dropped = TaskNote::Dropped { why, count, next };
                control.note_patiently(Note::Task(task.id.index(), dropped));
            }
        }
    }
}
