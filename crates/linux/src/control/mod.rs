//! What the manager of a CPU works with, whatever drives it: the CPU, and what it notes down of it.
//!
//! Here is what managers alone do: they take priorities and give them back, and say what their deciders found.

mod record;

pub(crate) use record::ManagerRecord;

use crate::account::{Note, TaskNote};
use crate::config::Termination;
use crate::cpu::Cpu;
use crate::evidence::take_priority;
use crate::recording::Tracer;
use crate::request::Request;
use crate::sys::clock::monotonic_nanos;
use crate::sys::{self, Tid};
use crate::task::TaskShared;
use crate::words::Cause;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{Event, Instant, JobId, Notice, Scheduler};
use vestal_trace::{Edge, Mechanism, Record, Recorder, What};

/// A decider with the trace of its manager.
pub(crate) type Traced<S> = Recorder<S, Tracer>;

/// What a manager has in hand.
pub(crate) struct Control<'a> {
    pub(crate) cpu: &'a Cpu,
    pub(crate) record: &'a mut ManagerRecord,
}

impl<'a> Control<'a> {
    pub(crate) const fn new(cpu: &'a Cpu, record: &'a mut ManagerRecord) -> Self {
        Self { cpu, record }
    }

    /// The present instant.
    pub(crate) fn now(&self) -> Instant {
        self.cpu.instant(monotonic_nanos())
    }

    /// The manager has decided, and has enacted nothing yet.
    pub(crate) fn has_decided(&self) {
        #[cfg(feature = "real")]
        crate::fault::delay(self.cpu, crate::fault::Point::BeforeEnact);
    }

    /// The kernel refused what the run cannot do without: it is to end.
    pub(crate) fn fail(&self) {
        self.cpu.run.request_stop(Cause::SetupFailed);
    }

    /// Takes what the decider says: for the report, and for the workers.
    pub(crate) fn take_notice(&mut self, notice: &Notice) {
        let task = |job: JobId| self.cpu.tasks.get(job.task.index());
        match notice.what {
            Event::Overrun { job, level, .. } => {
                if task(job).is_some_and(|task| task.note_overrun(job.sequence, level)) {
                    let used_up = TaskNote::UsedUp {
                        sequence: job.sequence,
                        after: notice.at.as_nanos(),
                    };
                    let note = Note::Task(job.task.index(), used_up);
                    self.cpu.notes.write(note);
                }
            }
            Event::Dropped { job, why } => {
                // A manager that dispatches knows whether the worker has the job.
                if let Some(task) = task(job)
                    && self.cpu.duties.is_native()
                {
                    task.note_drop(job.sequence, why);
                }
            }
            Event::ModeChanged { .. }
            | Event::Depleted { .. }
            | Event::Postponed { .. }
            | Event::FrameOverrun { .. }
            | Event::FramesSkipped { .. }
            | Event::Late { .. } => {}
        }
        self.record.note(notice);
    }

    /// `task` loses its job number `sequence` and all before it.
    pub(crate) fn demote_job(&self, task: &TaskShared, sequence: u64) {
        task.demote_up_to(sequence);
        if task.running_admitted().is_none()
            && let Some(note) = take_priority(&self.cpu.online, task)
        {
            self.cpu.notes.write(note);
        }
        match self.cpu.run.termination {
            Termination::Immediate => task.cancel_demoted(),
            // The idle detector says when.
            Termination::Deferred => self.cpu.want_idle(),
        }
    }

    /// The CPU is idle: time for demoted jobs to end.
    pub(crate) fn end_demoted(&self) {
        for task in &self.cpu.tasks {
            task.cancel_demoted();
        }
    }

    /// Gives the worker `tid` a SCHED_FIFO priority: nobody but the manager of its CPU does. If the run is being ended
    /// meanwhile, perhaps by the watchdog, the worker is lowered again, so that nobody stays raised; if that began
    /// before, the number may be another thread's by now.
    pub(crate) fn raise(&self, tid: Tid, priority: i32) -> std::io::Result<()> {
        if self.cpu.phase.is_ending() {
            return Ok(());
        }
        sys::sched::set_fifo(tid, priority)?;
        if self.cpu.phase.is_ending_after_raising() {
            // Leaving the real-time class needs no right; the thread exists, see [`Cpu::halt`].
            let _ = sys::sched::set_other(tid);
        }
        Ok(())
    }

    /// Gives a worker its priority back.
    pub(crate) fn restore_priority(&self, task: &TaskShared) {
        if self.raise(task.tid(), task.present_priority()).is_err() {
            self.fail();
        }
    }

    /// Does so for workers between two jobs.
    pub(crate) fn restore_priorities(&self) {
        for task in &self.cpu.tasks {
            if task.request.look() == Some(Request::Priority) {
                #[cfg(feature = "real")]
                crate::fault::delay(self.cpu, crate::fault::Point::BeforePriority);
                self.restore_priority(task);
                task.request.take();
            }
        }
    }

    /// Changes a worker's class or priority; gives the time it took.
    pub(crate) fn switch<S: Scheduler>(
        &self,
        decider: &mut Traced<S>,
        change: impl FnOnce(),
    ) -> u64 {
        let before = monotonic_nanos();
        self.span(decider, before, (Mechanism::Switch, Edge::Begin));
        change();
        let after = monotonic_nanos();
        self.span(decider, after, (Mechanism::Switch, Edge::End));
        after.saturating_sub(before)
    }

    /// Records where one of the manager's own mechanisms begins or ends.
    pub(crate) fn span<S: Scheduler>(
        &self,
        decider: &mut Traced<S>,
        now: u64,
        (mechanism, edge): (Mechanism, Edge),
    ) {
        let what = What::Overhead {
            cpu: CPU,
            mechanism,
            edge,
        };
        let at = self.cpu.instant(now);
        decider.put(Record { at, what });
    }
}
