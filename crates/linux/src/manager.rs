//! The manager: the thread that owns the [`Guard`] and handles exceptions only.
//!
//! It has the highest priority of the run on the CPU of the run, so while it decides no worker
//! moves. A job that keeps its limits and its slack never wakes it. What does: a budget monitor, a worker
//! that completed beyond its limit, the idle detector, the end of the run; a job that has no slack left,
//! its deadline, and its end.

mod pt;
mod zss;

use crate::allowance::Allowance;
use crate::config::Monitor;
use crate::intervals::{Intervals, Thread};
use crate::mechanism::{Budgets, JobTimers, start_timers};
use crate::meter::Meter;
use crate::occupancy::Wanted;
use crate::recording::Tracer;
use crate::report::{Duty, ManagerRecord};
use crate::request::Request;
use crate::shared::{Armed, Shared, StopCause, TaskShared};
use crate::sys;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::enter_real_time;
use crate::sys::signal::{ManagerSignals, instant_signal, kick_signal};
use crate::thread::start::{Step, end_record, manage_to_the_end};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{
    ContractViolation, Enforcer, Fact, Guard, Instant, Interest, JobId, Level, Permit, Scheduler,
    Service, Until,
};
use vestal_trace::{Edge, Mechanism, Record, Recorder, What};

/// The manager goes round at least this often, so that its watchdog sees it alive. Seldom: a beat takes
/// the CPU from a job.
pub(crate) const BEAT_NANOS: u64 = 500_000_000;

/// The manager's own state.
pub(crate) struct Manager {
    pub(crate) shared: Arc<Shared>,
    pub(crate) guard: Recorder<Guard, Tracer>,
    /// Per task: the job that was charged last, and what was reported to the guard that it executed.
    pub(crate) charged: Vec<(u64, u64)>,
    /// When the guard wants to be called.
    pub(crate) wake: Option<Instant>,
    /// Per task: the suspended job that goes on, of which nothing was recorded yet.
    pub(crate) resumed: Vec<Option<u64>>,
    /// Per task: the job of which the guard knows that it is incomplete.
    pub(crate) incomplete: Vec<Option<u64>>,
    pub(crate) record: ManagerRecord,
    /// Of its thread, from when the run begins.
    pub(crate) own: Option<Intervals>,
    pub(crate) priority: i32,
}

impl Manager {
    pub(crate) fn new(
        shared: Arc<Shared>,
        guard: Recorder<Guard, Tracer>,
        record: ManagerRecord,
        priority: i32,
    ) -> Self {
        let count = shared.tasks.len();
        Self {
            shared,
            guard,
            charged: vec![(0, 0); count],
            wake: None,
            resumed: vec![None; count],
            incomplete: vec![None; count],
            record,
            own: None,
            priority,
        }
    }

    /// Prepares the calling thread.
    pub(crate) fn set_up(&self) -> std::io::Result<()> {
        enter_real_time(self.shared.cpu, self.priority)?;
        self.shared
            .manager_tid
            .store(sys::sched::own_tid(), Ordering::SeqCst);
        Ok(())
    }

    /// Manages until the run ends. Whatever happens in here, the run is halted afterwards.
    pub(crate) fn main(mut self) -> ManagerRecord {
        let shared = Arc::clone(&self.shared);
        let meter = Meter::start();
        manage_to_the_end(&shared, || self.manage());
        if let Some(own) = self.own.take() {
            own.leave(&shared);
        }
        meter.stop(&shared.accounts.manager);
        end_record(self.record, self.guard, &shared)
    }

    fn manage(&mut self) -> Step {
        let shared = Arc::clone(&self.shared);
        if !shared.phase.await_begin() {
            return Ok(());
        }
        self.own = Some(Intervals::of_this_thread(Thread::Manager));
        if let Some(wake_event) = &shared.wake_event {
            return if shared.paper_pt {
                self.manage_events::<Budgets>(&shared, wake_event)
            } else {
                self.manage_events::<JobTimers>(&shared, wake_event)
            };
        }
        // They signal as long as they live.
        let _timers = match shared.paper_zss.then(|| start_timers(&shared)).transpose() {
            Ok(timers) => timers,
            Err(_) => {
                shared.request_stop(StopCause::SetupFailed);
                return Ok(());
            }
        };
        let signals = ManagerSignals::default();
        let end = shared.end.load(Ordering::SeqCst);
        loop {
            let now = monotonic_nanos();
            if !goes_on(&shared, now, end) {
                return Ok(());
            }
            let heartbeat = shared.monitor == Monitor::Heartbeat;
            let beat = if heartbeat {
                shared.heartbeat_nanos
            } else {
                BEAT_NANOS
            };
            let span = (end - now).min(beat).min(self.until_wake(&shared, now));
            let until = now + span;
            self.about_to_wait(&shared);
            let signal = signals.wait(until.saturating_sub(monotonic_nanos()));
            let woken = self.woken(&shared, until);
            let due = self.until_wake(&shared, monotonic_nanos()) == 0;
            self.count_wakeup(&shared, signal, due);
            if signal.is_none() && !heartbeat && !due {
                continue;
            }
            let fired =
                signal.is_some_and(|signal| ![kick_signal(), instant_signal()].contains(&signal));
            self.round(&shared, woken, |manager| manager.handle(&shared, fired))?;
        }
    }

    /// To be called last of all before the manager asks the kernel to wait.
    pub(crate) fn about_to_wait(&mut self, shared: &Shared) {
        #[cfg(feature = "real")]
        crate::fault::delay(shared, crate::fault::Point::BeforeWait(Duty::Manager));
        if let Some(own) = &mut self.own {
            own.wait(shared, Duty::Manager, self.guard.sink_mut());
        }
    }

    /// The manager has the CPU, which without a call it wanted at `until`. Gives the clock.
    pub(crate) fn woken(&mut self, shared: &Shared, until: u64) -> u64 {
        self.guard.sink().open();
        let now = monotonic_nanos();
        let wanted = Wanted::AtOnceSince(shared.occupancy.wanted_since(until, now));
        if let Some(own) = &mut self.own {
            own.wake(shared, wanted, now, self.guard.sink_mut());
        }
        self.guard.sink().close();
        #[cfg(feature = "real")]
        crate::fault::delay(shared, crate::fault::Point::RoundBegins);
        now
    }

    /// Does what there is to do for the manager that woke at `woken`, and records that and how long it took.
    pub(crate) fn round(
        &mut self,
        shared: &Shared,
        woken: u64,
        handle: impl FnOnce(&mut Self) -> Step,
    ) -> Step {
        self.guard.sink().open();
        self.span(shared, woken, Mechanism::Decide, Edge::Begin);
        handle(self)?;
        let done = monotonic_nanos();
        self.span(shared, done, Mechanism::Decide, Edge::End);
        self.guard.sink().close();
        self.record.handling.record(done.saturating_sub(woken));
        Ok(())
    }

    /// Counts why the manager is awake, before it takes what was reported.
    fn count_wakeup(&mut self, shared: &Shared, signal: Option<i32>, due: bool) {
        let wakeups = &mut self.record.wakeups;
        let reported = |task: &TaskShared| task.asks() || is_end_unreported(task, &self.incomplete);
        let count = match signal {
            None if due => &mut wakeups.timer,
            Some(signal) if signal == instant_signal() => &mut wakeups.timer,
            None if shared.monitor == Monitor::Heartbeat => &mut wakeups.budget,
            None => &mut wakeups.beat,
            Some(signal) if signal != kick_signal() => &mut wakeups.budget,
            Some(_) if shared.tasks.iter().any(reported) => &mut wakeups.completion,
            Some(_) if shared.question.is_answered() => &mut wakeups.idle,
            Some(_) => &mut wakeups.other,
        };
        *count += 1;
    }

    /// Records where one of the manager's own mechanisms begins or ends.
    fn span(&mut self, shared: &Shared, now: u64, mechanism: Mechanism, edge: Edge) {
        let cpu = CPU;
        let what = What::Overhead {
            cpu,
            mechanism,
            edge,
        };
        let at = shared.instant(now);
        self.guard.put(Record { at, what });
    }

    /// Looks at everything that could have happened. Which signal came says little: they merge.
    pub(crate) fn handle(&mut self, shared: &Shared, monitor_fired: bool) -> Step {
        if !shared.is_running() {
            return Ok(());
        }
        restore_priorities(shared);
        let mut jobs_ran = self.note_completed_overruns(shared)?;
        if jobs_ran {
            // The guard judges a job before the next one of its task is reported.
            self.decide(shared)?;
        }
        #[cfg(feature = "real")]
        crate::fault::sleep(shared);
        // The guard wants to be called; before, what suspended jobs executed since is reported.
        let due = self.until_wake(shared, monotonic_nanos()) == 0;
        if due {
            self.charge_suspended(shared)?;
        }
        // A rise gives new limits, which degraded tasks may have used up already. Each round stops
        // a job or raises the mode, so this ends; the bound is a safeguard, not a parameter.
        for _ in 0..=shared.tasks.len() + vestal_core::model::LEVELS_MAX {
            if !self.charge_exhausted(shared)? {
                break;
            }
            self.decide(shared)?;
            jobs_ran = true;
        }
        self.settle_slack(shared)?;
        // The detector may have been preempted between its report and its signal. If jobs have
        // overrun since, others may have been released behind them that have not begun: the report
        // says nothing about them, and `decide` has asked again.
        if shared.question.take_answer() && !jobs_ran {
            shared.end_demoted();
            self.settle_idle(shared)?;
        }
        if monitor_fired || due {
            self.rearm(shared);
        }
        Ok(())
    }

    /// Jobs that completed beyond their limit before the monitor noticed.
    fn note_completed_overruns(&mut self, shared: &Shared) -> Step<bool> {
        let mut any = false;
        for task in &shared.tasks {
            let Some(Request::Overran { sequence, executed }) = task.request.look() else {
                continue;
            };
            task.request.take();
            let job = task.job(sequence);
            self.charge(shared, job, executed)?;
            let now = shared.instant(monotonic_nanos());
            self.guard.apply(now, Fact::Completed { cpu: CPU, job })?;
            any = true;
        }
        Ok(any)
    }

    /// Charges every running job that has used up its limit; says whether there was one.
    fn charge_exhausted(&mut self, shared: &Shared) -> Step<bool> {
        if shared.paper_zss {
            return Ok(false);
        }
        let mut any = false;
        for task in &shared.tasks {
            let Some(job) = task.running_admitted().map(|sequence| task.job(sequence)) else {
                continue;
            };
            let limit = task.present_limit();
            let (Some(threshold), Some(executed)) = (shared.threshold(limit), task.executed())
            else {
                continue;
            };
            // A job that is suspended has been charged.
            if executed < threshold || waits_for_an_instant(self.guard.permit_for(job)) {
                continue;
            }
            let overshoot = executed - threshold;
            self.record.overshoot.record(overshoot);
            self.record.late += u64::from(overshoot > self.record.late_beyond_nanos);
            self.charge(shared, job, executed)?;
            any = true;
        }
        Ok(any)
    }

    /// Reports to the guard what `job` has executed beyond what was reported before.
    fn charge(&mut self, shared: &Shared, job: JobId, executed: u64) -> Step {
        let index = job.task.index();
        let (Some(task), Some(charged)) = (shared.tasks.get(index), self.charged.get_mut(index))
        else {
            return Err(ContractViolation::UnknownTask(job.task));
        };
        // Never a job whose successor was charged: a worker whose job overran unnoticed begins the
        // next one when the report was taken. The guard would refuse it.
        let known = charged.0 == job.sequence + 1;
        let before = if known { charged.1 } else { 0 };
        *charged = (job.sequence + 1, executed);
        let amount = Service::from_nanos(executed.saturating_sub(before));
        if !known {
            self.announce(task, job)?;
        }
        let (now, cpu) = (shared.instant(monotonic_nanos()), CPU);
        self.guard.apply(now, Fact::Charged { cpu, job, amount })
    }

    /// Lets the guard decide, and carries the permits out.
    fn decide(&mut self, shared: &Shared) -> Step {
        let now = shared.instant(monotonic_nanos());
        for task in &shared.tasks {
            if self.guard.interest() == Interest::NewestReleases
                && let Some(sequence) = task.newest_release(now.as_nanos())
            {
                let job = task.job(sequence);
                self.guard.apply(now, Fact::Released { job })?;
            }
        }
        let before = self.guard.mode();
        self.wake = self.guard.decide(now)?.next.map(|wake| wake.at);
        self.take_notices(shared);
        #[cfg(feature = "real")]
        crate::fault::delay(shared, crate::fault::Point::BeforeEnact);
        self.enact(shared, now);
        if self.enact_ranks(shared) || self.guard.mode() != before {
            // The limits of running jobs have changed, or who runs, and with that what the monitors wait for.
            self.rearm(shared);
        }
        if self.guard.mode() > Level::LOWEST {
            shared.want_idle();
        }
        Ok(())
    }

    /// The CPU had nothing to run. That was an idle instant if no admitted job waits for something.
    pub(crate) fn settle_idle(&mut self, shared: &Shared) -> Step {
        if self.guard.mode() == Level::LOWEST {
            return Ok(());
        }
        let runs = |task: &TaskShared| task.running_admitted().is_some();
        if shared.tasks.iter().any(runs) {
            // Its completion will ask the idle detector again.
            return Ok(());
        }
        let now = shared.instant(monotonic_nanos());
        // Jobs released while their task was not admitted stay dropped in mode 0: a worker that was
        // busy in the background until now has not seen them yet.
        for task in &shared.tasks {
            if self.guard.permit(task.id) == Permit::NotAdmitted
                && let Some(newest) = task.newest_release(now.as_nanos())
            {
                shared.demote_job(task, newest);
            }
        }
        self.guard.apply(now, Fact::Idle { cpu: CPU })?;
        self.wake = self.guard.decide(now)?.next.map(|wake| wake.at);
        self.take_notices(shared);
        self.enact(shared, now);
        Ok(())
    }

    /// Publishes the permits, and takes the CPU from jobs that lost theirs.
    fn enact(&mut self, shared: &Shared, now: Instant) {
        shared.mode.set(self.guard.mode().0);
        for task in &shared.tasks {
            if let Some(next) = Allowance::of(self.guard.permit(task.id)) {
                task.next.set(next);
            }
            if let Some(newest) = task.newest_release(now.as_nanos())
                && self.loses_its_priority(task.job(newest))
            {
                shared.demote_job(task, newest);
            }
            let Some(running) = task.running() else {
                continue;
            };
            if task.is_sliced() {
                self.enact_slices(shared, task, task.job(running));
            }
            if self.loses_its_priority(task.job(running)) {
                shared.demote_job(task, running);
            }
            if task.is_demoted(running) && task.demote(running) {
                self.demote(shared, task);
            }
        }
        self.tell_who_goes_on(shared);
    }

    fn loses_its_priority(&self, job: JobId) -> bool {
        !self.guard.permit_for(job).keeps_place()
    }

    fn demote(&mut self, shared: &Shared, task: &TaskShared) {
        let cost = self.switch(shared, || {
            shared.occupancy.burns_no_more();
            take_out_of_real_time(task);
        });
        self.record.demotion.record(cost);
    }

    /// Changes a worker's class or priority; gives the time it took.
    fn switch(&mut self, shared: &Shared, change: impl FnOnce()) -> u64 {
        let before = monotonic_nanos();
        self.span(shared, before, Mechanism::Switch, Edge::Begin);
        change();
        let after = monotonic_nanos();
        self.span(shared, after, Mechanism::Switch, Edge::End);
        after.saturating_sub(before)
    }

    /// Arms the monitors of running jobs for what is left of their limits.
    ///
    /// A wall timer only makes sense for the job that runs when the manager has finished, the most
    /// urgent one; whoever ends before another goes on arms that one's (`worker::resume_preempted`).
    fn rearm(&self, shared: &Shared) {
        for task in shared.by_rank() {
            if task.running_ready().is_none() {
                continue;
            }
            if let Some(monitor) = task.monitor.get() {
                shared.arm_for_the_rest(task, monitor);
                if let Armed::Wall(_) = monitor {
                    return;
                }
            }
        }
    }

    fn take_notices(&mut self, shared: &Shared) {
        while let Some(notice) = self.guard.take_notice() {
            shared.note_notice(&notice);
            self.record.note(&notice);
        }
    }
}

/// Whether the guard takes a job of `task` for incomplete that has ended.
fn is_end_unreported(task: &TaskShared, incomplete: &[Option<u64>]) -> bool {
    let incomplete = incomplete.get(task.id.index()).copied().flatten();
    incomplete
        .zip(task.slack.as_ref())
        .is_some_and(|(incomplete, slack)| incomplete < slack.first())
}

/// Whether a job executes nothing before an instant, on a free CPU neither.
pub(crate) const fn waits_for_an_instant(permit: Permit) -> bool {
    matches!(
        permit,
        Permit::Suspended {
            until: Until::At(_)
        }
    )
}

/// Shows that the manager lives; says whether the run goes on.
pub(crate) fn goes_on(shared: &Shared, now: u64, end: u64) -> bool {
    shared.beat.go_on();
    if shared.stop_requested() || shared.is_stop_requested() {
        return false;
    }
    if now >= end {
        shared.request_stop(StopCause::Finished);
        return false;
    }
    #[cfg(feature = "real")]
    crate::fault::strike(shared, now);
    true
}

/// Takes a worker out of the real-time class, and stops its monitor.
fn take_out_of_real_time(task: &TaskShared) {
    // A worker lives as long as the run, and leaving the class needs no right.
    let _ = sys::sched::set_other(task.tid());
    if let Some(monitor) = task.monitor.get() {
        monitor.stop();
    }
}

/// Gives a worker its priority back.
fn restore_priority(shared: &Shared, task: &TaskShared) {
    if shared.raise(task.tid(), task.present_priority()).is_err() {
        shared.request_stop(StopCause::SetupFailed);
    }
}

/// Does so for workers between two jobs.
fn restore_priorities(shared: &Shared) {
    for task in &shared.tasks {
        if task.request.look() == Some(Request::Priority) {
            #[cfg(feature = "real")]
            crate::fault::delay(shared, crate::fault::Point::BeforePriority);
            restore_priority(shared, task);
            task.request.take();
        }
    }
}
