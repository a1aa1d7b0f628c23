//! A worker: the thread that releases and runs the jobs of one task.
//!
//! ```text
//!            release (1)            permitted (2)            body returns (4)
//!  waiting -------------> released ---------------> running ------------------> waiting
//!     ^                      | not admitted (2)        | demoted by the manager (3)
//!     +----------------------+                         v
//!     +--------------------------------------- background
//!            cancellation point, priority restored (4)
//! ```
//! (1) [`RunningWorker::run_released_jobs`], (2) [`RunningWorker::release`], (3) in [`crate::driver::Enactor`],
//! (4) [`RunningWorker::end`].

use super::waiting::{Waited, wait_for_manager, wait_for_release};
use crate::account::{Duty, Note, Suspensions, TaskNote, Thread, Wanted};
use crate::armed::Armed;
use crate::body::{Body, JobContext};
use crate::cpu::{Cpu, JobWatch};
use crate::duties::Source;
use crate::error::message_of;
use crate::evidence::{ClockLook, Intervals, NotedCpu};
use crate::job::Ended;
use crate::meter::Meter;
use crate::queue::JobQueue;
use crate::recording::Tracer;
use crate::request::Request;
use crate::sys;
use crate::sys::clock::{monotonic_nanos, own_cpu_nanos};
use crate::sys::sched::enter_real_time;
use crate::task::TaskShared;
use crate::words::Allowance;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{DropReason, Fact, JobId, Service, StopReason};
use vestal_trace::{Edge, Mechanism, What};

/// What a worker thread is made of.
pub(crate) struct Worker {
    pub(crate) cpu: Arc<Cpu>,
    pub(crate) index: usize,
    pub(crate) body: Box<Body>,
    pub(crate) demand: Box<dyn FnMut(u64) -> Service + Send>,
    pub(crate) queue: JobQueue,
    pub(crate) trace: Tracer,
}

impl Worker {
    fn task(&self) -> Option<&TaskShared> {
        self.cpu.tasks.get(self.index)
    }

    /// Prepares the calling thread; what it returns is reported to the starter.
    pub(crate) fn set_up(&self) -> std::io::Result<()> {
        let Some(task) = self.task() else {
            return Ok(());
        };
        enter_real_time(self.cpu.processor, task.fifo)?;
        if self.cpu.terms.duties.has_monitors {
            let manager = self.cpu.manager_tid.get();
            if let Some(armed) = Armed::of_this_thread(self.cpu.terms.monitor, manager, self.index)?
            {
                // Set once, here.
                let _ = task.monitor.set(armed);
            }
        }
        if let Some(slack) = &task.slack
            && self.cpu.terms.duties.sets_instants
        {
            slack.create_timer(self.cpu.manager_tid.get())?;
        }
        // Whatever a job body does, it does not rise above its priority: only the manager sets priorities.
        sys::capability::drop_scheduling()?;
        task.jobs.tid.set(sys::sched::own_tid());
        Ok(())
    }

    /// Runs jobs until the run ends.
    pub(crate) fn main(self) {
        self.work_by(|worker| match worker.cpu.terms.duties.source {
            Source::Assigned => worker.run_assigned_jobs(),
            Source::Own | Source::Counted => worker.run_released_jobs(),
            // A walker says itself what it does.
            Source::Sequence => {}
        });
    }

    /// Does `work` from when the run begins until it ends.
    pub(crate) fn work_by(self, work: impl FnOnce(&mut RunningWorker<'_>)) {
        let cpu = Arc::clone(&self.cpu);
        let Some(task) = cpu.tasks.get(self.index) else {
            return;
        };
        if !cpu.phase.await_begin() {
            return;
        }
        if task.is_sliced() {
            task.suspension.behind(|| self.work(&cpu, task, work));
        } else {
            self.work(&cpu, task, work);
        }
    }

    fn work(self, cpu: &Arc<Cpu>, task: &TaskShared, work: impl FnOnce(&mut RunningWorker<'_>)) {
        let mut running = RunningWorker {
            cpu,
            task,
            body: self.body,
            demand: self.demand,
            queue: self.queue,
            end_is_awaited: false,
            own: Intervals::of_this_thread(Thread::Worker(self.index), cpu),
            trace: self.trace,
        };
        let meter = Meter::start();
        work(&mut running);
        running.own.leave();
        let _ = sys::sched::set_other(sys::sched::own_tid());
        let used = meter.used_until(task.jobs.at_stop());
        running.note(TaskNote::Used(used));
    }
}

/// A worker while the run goes on.
pub(crate) struct RunningWorker<'a> {
    pub(crate) cpu: &'a NotedCpu,
    pub(crate) task: &'a TaskShared,
    pub(super) body: Box<Body>,
    pub(super) demand: Box<dyn FnMut(u64) -> Service + Send>,
    queue: JobQueue,
    /// The manager is to be called when all is done about the job that was taken off.
    end_is_awaited: bool,
    pub(crate) own: Intervals,
    pub(crate) trace: Tracer,
}

impl RunningWorker<'_> {
    /// Releases jobs until the run ends. The thread stays until all leave: its number must not name another thread.
    fn run_released_jobs(&mut self) {
        let (cpu, task) = (self.cpu, self.task);
        let end = cpu.run.end.get();
        let mut release = cpu.run.clock_at(task.release_of(0));
        let mut sequence = 0;
        if let Some(slack) = &task.slack {
            slack.await_end_of(release);
        }
        loop {
            // Behind the last job, too: who asks who may have the CPU finds that this thread has left it.
            self.is_done();
            self.own.wait(Duty::JobEnd, &self.trace);
            if release >= end {
                break;
            }
            let waited = match cpu.terms.duties.source {
                Source::Counted => {
                    let counter = &task.release_counter;
                    let is_released = || counter.is_released(sequence);
                    wait_for_manager(&cpu.phase, &counter.calls, is_released)
                }
                Source::Own | Source::Assigned | Source::Sequence => {
                    wait_for_release(&cpu.phase, release)
                }
            };
            match waited {
                Waited::RunOver => break,
                Waited::NotAtAll => {}
                Waited::Until(now) => self.note_released(release, now),
            }
            self.release(sequence, release);
            if std::mem::take(&mut self.end_is_awaited) {
                cpu.report_end();
            }
            if cpu.terms.duties.reports_ends {
                // Last of all: the manager takes the CPU at once.
                task.release_counter.finish(sequence);
                cpu.kick_manager();
            }
            sequence += 1;
            release = release.saturating_add(task.period_nanos());
        }
        cpu.phase.await_over();
    }

    /// The worker has done all about a job, and is about to wait.
    pub(crate) fn is_done(&self) {
        #[cfg(feature = "real")]
        self.own.delay_wait(Duty::JobEnd);
    }

    /// Notes when it went on that had waited for a release.
    fn note_released(&mut self, release: u64, now: u64) {
        self.note(TaskNote::Released { release, now });
    }

    /// Writes a note about its task.
    fn note(&mut self, what: TaskNote) {
        self.own.note(Note::Task(self.task.id.index(), what));
    }

    /// Handles one release: reads the permit, and runs the job if it has one.
    fn release(&mut self, sequence: u64, release: u64) {
        let (cpu, task) = (self.cpu, self.task);
        self.trace.open();
        let woken = monotonic_nanos();
        self.own.wake(Wanted::Since(release), woken);
        self.note_woken(woken);
        let no_room = self.queue.was_full(release);
        let first = task.limits.grant_first();
        // First say what runs, then read whether it may: see `crate::cpu`.
        task.jobs.begin(sequence, own_cpu_nanos());
        let limit = task.limits.grant_again(first);
        let stopping = cpu.stop_requested();
        if no_room
            || limit == Allowance::NotAdmitted
            || (task.jobs.is_demoted(sequence) && !stopping)
        {
            self.drop_before_begin((sequence, release), (woken, no_room));
            return;
        }
        if stopping {
            self.take_off(sequence, release);
            self.note_never_begun(woken, None);
            let job = (sequence, release);
            self.own.note_unfinished(task, job, 0, &self.trace);
            return;
        }
        let (started, ended) = self.run_job(sequence, release);
        // A job in the background makes room for the next one.
        let made_room = if task.jobs.is_demoted(sequence) {
            started
        } else {
            ended.finished
        };
        self.queue.ended(made_room);
        if self.end(&ended) {
            self.record_job_end(Edge::End);
        }
        self.note_costs(started.saturating_sub(woken), &ended);
    }

    /// Runs a job whose number its task shows; gives the clock when its body began, and how it ended.
    /// Where workers record jobs, that end is read from the clock in a group of records, which stays open.
    pub(crate) fn run_job(&mut self, sequence: u64, release: u64) -> (u64, Ended) {
        let (cpu, task) = (self.cpu, self.task);
        cpu.begin_job(task.id, sequence);
        self.own.begin_job(task, (sequence, release));
        #[cfg(feature = "real")]
        self.own.delay_job_start();
        let monitor = task.monitor.get();
        // A manager that dispatches arms it itself.
        if let (true, Some(monitor)) = (cpu.terms.duties.is_native(), monitor) {
            task.limits.arm(monitor, Some);
        }
        let watch = JobWatch::begin(&cpu.terms, task);
        let started = monotonic_nanos();
        let at = cpu.instant(started);
        self.trace.overhead(at, Mechanism::Release, Edge::End);
        let records_jobs = cpu.terms.duties.records_jobs();
        if records_jobs {
            let (cpu, job) = (CPU, task.job(sequence));
            self.trace.observed(at, Fact::Started { cpu, job });
        }
        let base = own_cpu_nanos();
        task.jobs.start_account(base);
        self.own.begin_body(started, base);
        self.trace.close();
        let (completed, end) = self.call_body(sequence, release);
        let (used, finished) = (end.cpu, end.wall);
        #[cfg(feature = "real")]
        self.own.delay_body_end();
        self.own.end_body(end);
        if let Some(monitor) = monitor {
            monitor.stop();
        }
        cpu.end_job();
        #[cfg(feature = "real")]
        self.own.delay_job_end();
        let ended = Ended {
            sequence,
            release,
            finished,
            executed: used.saturating_sub(base),
            completed,
        };
        if let Some(watch) = watch {
            watch.end(&cpu.terms, task, finished.saturating_sub(release));
        }
        (started, ended)
    }

    /// The job that was released does not begin, because there is no room for it or its permit says so.
    fn drop_before_begin(
        &mut self,
        (sequence, release): (u64, u64),
        (woken, no_room): (u64, bool),
    ) {
        let task = self.task;
        let demoted = self.take_off(sequence, release);
        // The manager may have met it as a job that has begun, and armed no monitor but its own.
        self.cpu.resume_preempted();
        let why = if no_room {
            DropReason::BacklogFull
        } else {
            self.queue.ended(woken);
            task.verdicts.why_dropped(sequence)
        };
        self.note_never_begun(woken, Some((task.job(sequence), why)));
        self.restore_priority(demoted);
        want_idle_above_lowest(self.cpu);
        self.own.note_dropped(task, sequence, why);
    }

    /// Runs the body of one job; says whether it did all its work, and what [`JobContext::end`] says. If jobs are recorded here,
    /// the group of records about its end is open.
    fn call_body(&mut self, sequence: u64, release: u64) -> (bool, ClockLook) {
        let (cpu, task) = (self.cpu, self.task);
        let mut job = JobContext {
            cpu,
            jobs: &task.jobs,
            handover: &task.handover,
            suspension: &task.suspension,
            job: task.job(sequence),
            release,
            due: task.due(release),
            demand: Service::ZERO,
            saw_cancellation: false,
            in_order: true,
            trace: &mut self.trace,
            counted: self.own.base(),
            looked: self.own.beginning(),
            own: &mut self.own,
        };
        if task.is_sliced() {
            task.suspension.enter();
        }
        job.observe(true);
        // A body that panics half-way is never called again: the run ends.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            job.demand = (self.demand)(sequence);
            (self.body)(&mut job)
        }));
        job.observe(false);
        let keeps = job.keeps_its_priority();
        if task.is_sliced() {
            let executed = job.executed().as_nanos();
            let mut counts = Suspensions::default();
            let was_suspended =
                task.suspension
                    .leave(executed, cpu.terms.tolerance_nanos, &mut counts);
            // Under native dispatch it was recorded that it stopped, and it ends all the same.
            if was_suspended && cpu.terms.duties.is_native() {
                job.note_gone_on();
            }
            if was_suspended {
                let suspended = TaskNote::Suspended(counts);
                job.own.note(Note::Task(task.id.index(), suspended));
            }
        }
        let completed = match outcome {
            Ok(outcome) => outcome == Ok(()) && !job.saw_cancellation,
            Err(panic) => {
                cpu.stop_for_body(task.id, message_of(panic.as_ref()));
                cpu.kick_manager();
                false
            }
        };
        (completed, job.end(keeps, cpu.terms.duties.records_jobs()))
    }

    /// The thread runs because a job was released.
    fn note_woken(&mut self, woken: u64) {
        let (at, task) = (self.cpu.instant(woken), self.task.id);
        let on_behalf_of = None;
        self.trace.observed(at, Fact::Woken { task, on_behalf_of });
        self.trace.overhead(at, Mechanism::Release, Edge::Begin);
    }

    /// The released job does not run at all; perhaps because it was dropped.
    fn note_never_begun(&mut self, now: u64, dropped: Option<(JobId, DropReason)>) {
        let at = self.cpu.instant(now);
        self.trace.overhead(at, Mechanism::Release, Edge::End);
        if let Some((job, why)) = dropped {
            self.trace.record(at, What::Dropped { job, why });
        }
        self.trace.close();
    }

    /// Takes the job off, restores the worker's priority, and notes the job down. The trace
    /// has an open group, in which the end of the job was read from the clock.
    ///
    /// Says whether the job was completed at its priority; then the span of its end is open.
    fn end(&mut self, job: &Ended) -> bool {
        let (cpu, task) = (self.cpu, self.task);
        let stopping = cpu.stop_requested();
        let lost = task.jobs.is_demoted(job.sequence);
        // At the end of the run everything is demoted; what was completed then counts as such.
        let lost_its_priority = task.jobs.lost_its_priority(job.sequence);
        let completed = job.completed && !lost_its_priority;
        let unfinished = stopping && !lost_its_priority;
        self.record_end(job, completed, unfinished);
        // By the limit it ran under: the mode may fall when it is off.
        let threshold = task.limits.threshold(task.limits.present_limit());
        let overran = !lost && threshold.is_some_and(|threshold| job.executed > threshold);
        let demoted = self.take_off(job.sequence, job.release);
        let consumed = self.own.end_job(task, job);
        want_idle_above_lowest(cpu);
        self.restore_priority(demoted);
        if overran {
            // Complete before the monitor noticed: an overrun all the same (contract C2).
            self.report_overrun(job);
        }
        cpu.resume_preempted();
        if completed {
            self.own.note_completed(task, (job, consumed), &self.trace);
        } else if unfinished {
            self.note_unfinished(job);
        } else {
            let why = task.verdicts.why_dropped(job.sequence);
            self.own.note_dropped(task, job.sequence, why);
        }
        completed
    }

    /// Notes a job that began, and that the end of the run met.
    pub(crate) fn note_unfinished(&mut self, job: &Ended) {
        let numbered = (job.sequence, job.release);
        self.own
            .note_unfinished(self.task, numbered, job.executed, &self.trace);
    }

    /// Notes what it cost to begin and to end a job.
    pub(crate) fn note_costs(&mut self, start: u64, job: &Ended) {
        let jobs = &self.task.jobs;
        let end = match jobs.lost_its_priority(job.sequence) {
            false => monotonic_nanos().saturating_sub(job.finished),
            // Jobs that kept theirs ran meanwhile.
            true => {
                let ended = jobs.account_base().saturating_add(job.executed);
                own_cpu_nanos().saturating_sub(ended)
            }
        };
        self.note(TaskNote::Costs {
            start,
            end,
            executed: job.executed,
        });
    }

    /// Takes a job off; says whether this thread was demoted since it began.
    fn take_off(&mut self, sequence: u64, release: u64) -> bool {
        let off = self.task.take_off(sequence, release);
        self.end_is_awaited |= off.awaited;
        off.demoted
    }

    /// Records how the job ended, and for a job that keeps its priority that its end takes time: one that was
    /// demoted may have to wait for its priority.
    pub(super) fn record_end(&mut self, job: &Ended, completed: bool, unfinished: bool) {
        let at = self.cpu.instant(job.finished);
        let (cpu, id) = (CPU, self.task.job(job.sequence));
        if completed {
            self.trace.overhead(at, Mechanism::JobEnd, Edge::Begin);
            self.trace.observed(at, Fact::Completed { cpu, job: id });
        } else {
            let why = StopReason::Cancelled;
            self.trace.observed(at, Fact::Stopped { cpu, job: id, why });
            if !unfinished {
                let why = self.task.verdicts.why_dropped(job.sequence);
                self.trace.record(at, What::Dropped { job: id, why });
            }
        }
        self.trace.close();
    }

    /// Records that taking a job off begins or ends now.
    pub(crate) fn record_job_end(&mut self, edge: Edge) {
        self.trace.open();
        let at = self.cpu.instant(monotonic_nanos());
        self.trace.overhead(at, Mechanism::JobEnd, edge);
        self.trace.close();
    }

    /// Asks for the priority of the calling worker, which has just taken its job off, if the manager took
    /// it from there, or if its body did: waking in SCHED_OTHER for the next release could take forever.
    /// Whether the next job may run at all, its release will ask.
    ///
    /// What counts is whether this thread was demoted, not whether its job is demoted: the manager may
    /// demote it after the last look at that, up to the moment at which the job is off.
    fn restore_priority(&mut self, demoted: bool) {
        if !self.cpu.stop_requested()
            && (demoted || sys::sched::own_priority() != self.task.present_priority())
        {
            self.ask_for_priority();
        }
    }

    /// Reports to the manager a job that completed beyond its limit, and waits until it knows: usually it
    /// takes the CPU at the kick, and there is nothing to wait for.
    fn report_overrun(&mut self, job: &Ended) {
        self.request(Request::Overran {
            sequence: job.sequence,
            executed: job.executed,
        });
    }

    /// Waits until the manager has given the worker its priority back: because its job was demoted, or
    /// because the body changed it.
    fn ask_for_priority(&mut self) {
        self.request(Request::Priority);
    }

    /// Asks the manager, and waits until it has taken the request. At the end of the run nobody takes one any
    /// more, and none is made.
    fn request(&mut self, request: Request) {
        if self.cpu.stop_requested() {
            return;
        }
        let mailbox = &self.task.request;
        mailbox.put(request);
        while mailbox.is_full() && !self.cpu.stop_requested() {
            self.wait_for_answer(|again| mailbox.wait_until_taken(Some(again)));
        }
    }

    /// Calls the manager and waits for it, whose time this is, until it is time to ask again.
    fn wait_for_answer(&mut self, wait: impl FnOnce(u64)) {
        let cpu = self.cpu;
        cpu.kick_manager();
        let again = monotonic_nanos().saturating_add(ASK_AGAIN_NANOS);
        self.own.wait(Duty::JobEnd, &self.trace);
        wait(again);
        self.trace.open();
        let now = monotonic_nanos();
        let wanted = Wanted::Since(now);
        self.own.wake(wanted, now);
        self.trace.close();
    }
}

/// How long a worker waits for an answer of the manager before it asks again.
const ASK_AGAIN_NANOS: u64 = 10_000_000;

/// Above mode 0 whoever takes a job off asks whether the CPU is idle now: a manager that saw that
/// job running has left the question to it.
fn want_idle_above_lowest(cpu: &Cpu) {
    if cpu.mode.get() > 0 {
        cpu.want_idle();
    }
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
