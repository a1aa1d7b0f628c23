//! What the manager of a CPU works with, whatever drives it: the CPU, and what it notes down of it.
//!
//! Here is what managers alone do: they take priorities and give them back, and say what their deciders found.

mod activations;
mod class;
mod record;
mod traced;

pub(crate) use activations::Activations;
pub(crate) use class::{Class, Classes};
pub(crate) use record::{ManagerRecord, Reason};
pub(crate) use traced::Traced;

use crate::account::{Cut, Exceeded, Note, TaskNote};
use crate::cpu::{Call, Cpu, Terms, count_activation};
use crate::device::Devices;
use crate::evidence::take_priority;
use crate::request::Request;
use crate::run::Run;
use crate::sys::clock::monotonic_nanos;
use crate::sys::{self, Processor, Tid};
use crate::task::{TaskShared, Tasks};
use crate::words::{Cause, Question};
#[cfg(feature = "real")]
use vestal_core::TaskId;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{Event, Instant, JobId, Level, Notice, Scheduler};
use vestal_trace::{Edge, Mechanism, Record, What};

/// So many changes of the mode in one round are marked; there are one or two.
const MODES_A_ROUND: usize = 8;

/// What a manager has in hand.
pub(crate) struct Control<'a> {
    pub(crate) run: &'a Run,
    pub(crate) terms: &'a Terms,
    pub(crate) tasks: &'a Tasks,
    /// Whether the CPU is idle.
    pub(crate) question: &'a Question,
    pub(crate) call: &'a Call,
    pub(crate) devices: &'a Devices,
    pub(crate) record: &'a mut ManagerRecord,
    /// The modes of this round of which the kernel's trace was not told.
    unmarked: [Option<Level>; MODES_A_ROUND],
    cpu: &'a Cpu,
}

impl<'a> Control<'a> {
    pub(crate) fn new(cpu: &'a Cpu, record: &'a mut ManagerRecord) -> Self {
        Self {
            run: &cpu.run,
            terms: &cpu.terms,
            tasks: &cpu.tasks,
            question: &cpu.question,
            call: &cpu.call,
            devices: &cpu.devices,
            record,
            unmarked: [None; MODES_A_ROUND],
            cpu,
        }
    }

    /// The present instant.
    pub(crate) fn now(&self) -> Instant {
        self.run.instant(monotonic_nanos())
    }

    /// The processor of the CPU.
    pub(crate) fn processor(&self) -> Processor {
        self.cpu.processor
    }

    /// Whether jobs are released.
    pub(crate) fn is_running(&self) -> bool {
        self.cpu.is_running()
    }

    /// Says which mode it is.
    pub(crate) fn set_mode(&mut self, mode: Level) {
        let before = self.cpu.mode.get();
        self.cpu.mode.set(mode.0);
        if before != mode.0
            && let Some(free) = self.unmarked.iter_mut().find(|free| free.is_none())
        {
            *free = Some(mode);
        }
    }

    /// Tells the kernel's trace of the modes of this round. To be called when all that they bring is carried out, which a system
    /// call would put off.
    pub(crate) fn mark_modes(&mut self) {
        for mode in self.unmarked.iter_mut().map_while(Option::take) {
            if let Some(marker) = &self.cpu.run.marker {
                marker.mode(self.cpu.id, mode);
            }
        }
    }

    /// Under managed dispatch: says which job the plan names.
    pub(crate) fn plan(&self, job: Option<JobId>) {
        if let Some(planned) = &self.cpu.planned {
            planned.plan(job);
        }
    }

    /// A job that burns, if one does, will not look at the clock any more.
    pub(crate) fn burns_no_more(&self) {
        self.cpu.online.burns_no_more();
    }

    /// The note about a job of which no worker heard: see [`Cpu::unfinished`].
    pub(crate) fn unfinished(&self, job: (u64, u64), due: u64) -> Cut {
        self.cpu.unfinished(job, due, 0)
    }

    /// Writes a note.
    pub(crate) fn note(&self, note: Note) {
        self.cpu.notes.write(note);
    }

    /// A thread goes on that had used up a budget of a task or a server, if one had.
    pub(crate) fn note_exceeded(&self, exceeded: Option<Exceeded>) {
        if let Some(exceeded) = exceeded {
            self.note(Note::Exceeded(exceeded));
        }
    }

    /// Writes a note when the run is over, however long it takes until there is room for it: a second at most.
    pub(crate) fn note_patiently(&self, note: Note) {
        self.cpu.note_patiently(note);
    }

    /// Whether budgets of servers are charged job by job, which is a fault.
    #[cfg(feature = "real")]
    pub(crate) fn charges_by_job(&self) -> bool {
        self.cpu.injected.charges_by_job()
    }

    /// The manager has told of an interrupt of the device whose bottom half this is: it unmasks it, which is a fault.
    #[cfg(feature = "real")]
    pub(crate) fn unmask_at_once(&self, task: TaskId) {
        if self.cpu.injected.unmasks_at_once() && self.devices.unmask(task).is_err() {
            self.fail();
        }
    }

    /// The manager has a release in hand.
    pub(crate) fn has_release(&self) {
        #[cfg(feature = "real")]
        crate::fault::delay(self.cpu, crate::fault::Point::Released);
    }

    /// The manager arms the monitor of a budget.
    pub(crate) fn arms(&self) {
        #[cfg(feature = "real")]
        crate::fault::delay(self.cpu, crate::fault::Point::Armed);
    }

    /// Counts an activation of the monitor at `now`, of the timer of the task with the index `fired` if it is one.
    pub(crate) fn count_activation(&self, now: u64, fired: Option<usize>) {
        count_activation(self.tasks, self.terms, now, fired);
    }

    /// What the monitor is set for, of which so much is left; less is a fault.
    #[cfg(feature = "real")]
    pub(crate) fn early_or(&self, left: u64) -> u64 {
        self.cpu.injected.early_or(left)
    }

    /// Whether the present round looks at no job, which is a fault.
    #[cfg(feature = "real")]
    pub(crate) fn looks_away(&self) -> bool {
        let activations = &self.record.activations;
        activations.is_present() && self.cpu.injected.looks_away(activations.count)
    }

    /// The manager has decided, and has enacted nothing yet.
    pub(crate) fn has_decided(&self) {
        #[cfg(feature = "real")]
        crate::fault::delay(self.cpu, crate::fault::Point::BeforeEnact);
    }

    /// The manager has looked at jobs that completed, and not yet at those that run.
    pub(crate) fn has_looked_at_ends(&self) {
        #[cfg(feature = "real")]
        crate::fault::sleep(self.cpu);
    }

    /// The kernel refused what the run cannot do without: it is to end.
    pub(crate) fn fail(&self) {
        self.run.request_stop(Cause::SetupFailed);
    }

    /// Takes what the decider says: for the report, and for the workers.
    pub(crate) fn take_notice(&mut self, notice: &Notice) {
        let task = |job: JobId| self.tasks.get(job.task.index());
        match notice.what {
            Event::Overrun { job, level, .. } => {
                #[cfg(feature = "real")]
                crate::fault::delay(self.cpu, crate::fault::Point::Overrun);
                if task(job).is_some_and(|task| task.note_overrun(job.sequence, level)) {
                    let used_up = TaskNote::UsedUp {
                        sequence: job.sequence,
                        after: notice.at.as_nanos(),
                    };
                    let note = Note::Task(job.task.index(), used_up);
                    self.note(note);
                }
            }
            Event::Dropped { job, why } => {
                // A manager that dispatches knows whether the worker has the job.
                if let Some(task) = task(job)
                    && self.terms.duties.is_native()
                {
                    task.verdicts.note_drop(job.sequence, why);
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
        task.jobs.demote_up_to(sequence);
        if task.jobs.running_admitted().is_none()
            && let Some(note) = take_priority(&self.cpu.online, task)
        {
            self.note(note);
        }
        if self.run.ends_at_once {
            task.jobs.cancel_demoted();
        } else {
            // The idle detector says when.
            self.question.ask();
        }
    }

    /// The CPU is idle: time for demoted jobs to end.
    pub(crate) fn end_demoted(&self) {
        for task in self.tasks {
            task.jobs.cancel_demoted();
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

    /// Puts the worker of a task into a class, unless it is there at present. One that is not to be suspended is not held either.
    pub(crate) fn put(
        &mut self,
        (task, classes): (&TaskShared, Classes),
        (present, class): (&mut Class, Class),
    ) {
        if *present == class {
            return;
        }
        *present = class;
        let tid = task.jobs.tid();
        let before = monotonic_nanos();
        if class != Class::Run {
            self.burns_no_more();
        }
        let done = match class {
            Class::Run => self.raise(tid, classes.run),
            Class::Suspended => self.raise(tid, classes.suspended),
            Class::Background => sys::sched::set_other(tid),
        };
        if done.is_err() {
            self.fail();
        }
        if class != Class::Run {
            let cost = monotonic_nanos().saturating_sub(before);
            self.record.demotion.record(cost);
        }
        if class != Class::Suspended && task.suspension.is_suspended() {
            let executed = task.jobs.executed().unwrap_or(0);
            let (tolerance, counts) = (self.terms.tolerance_nanos, &mut self.record.suspensions);
            task.suspension.resume(executed, tolerance, counts);
        }
    }

    /// Gives a worker its priority back.
    pub(crate) fn restore_priority(&self, task: &TaskShared) {
        if self
            .raise(task.jobs.tid(), task.present_priority())
            .is_err()
        {
            self.fail();
        }
    }

    /// Does so for workers between two jobs.
    pub(crate) fn restore_priorities(&self) {
        for task in self.tasks {
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
        let at = self.run.instant(now);
        decider.put(Record { at, what });
    }
}
