//! The manager that dispatches: reports to the scheduler what happened, and does what the plan says.

mod drops;
mod facts;
mod suspend;

use super::Managed;
use super::backlog::Backlog;
use super::handover::{Assignment, Handover};
use super::pending::{Class, TaskQueue, queue_of};
use crate::config::Monitor;
use crate::decider::BoxedScheduler;
use crate::intervals::{Intervals, Thread};
use crate::manager::{BEAT_NANOS, goes_on};
use crate::meter::Meter;
use crate::occupancy::Wanted;
use crate::recording::Tracer;
use crate::report::{Duty, ManagerRecord};
use crate::shared::{QUANTUM_NANOS, Shared, StopCause, TaskShared};
use crate::sys;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::enter_real_time;
use crate::sys::signal::{ManagerSignals, kick_signal};
use crate::thread::start::{Step, end_record, manage_to_the_end};
use facts::end_of;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::fact::StopReason;
use vestal_core::plan::{Slot, Wake};
use vestal_core::{Event, Fact, Instant, JobId, Level, Permit, Scheduler, TaskId};
use vestal_trace::{Edge, Mechanism, Recorder, What};

/// The priorities of the run, the manager's own apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Classes {
    pub(crate) run: i32,
    pub(crate) suspended: i32,
}

/// The manager's own state.
pub(crate) struct Dispatcher {
    pub(crate) shared: Arc<Shared>,
    scheduler: Recorder<BoxedScheduler, Tracer>,
    queues: Vec<TaskQueue>,
    /// The next release of each task, with its clock reading.
    timers: BinaryHeap<Reverse<(u64, TaskId)>>,
    /// What the scheduler takes for running (C5).
    running: Option<JobId>,
    slot: Option<Slot>,
    wake: Option<Wake>,
    mode: Level,
    /// The instant of the last decision (C1).
    clock: Instant,
    record: ManagerRecord,
    pub(crate) priority: i32,
    classes: Classes,
    /// When it wakes to look at the budget of the running job.
    budget_look: u64,
}

impl Dispatcher {
    /// `low` is the lowest priority of the run, `priority` the manager's.
    pub(crate) fn new(
        shared: Arc<Shared>,
        scheduler: Recorder<BoxedScheduler, Tracer>,
        record: ManagerRecord,
        (low, priority): (i32, i32),
    ) -> Self {
        let count = shared.tasks.len();
        let waiting = scheduler.backlog();
        let backlog = || Backlog::new(waiting, shared.backlog);
        let queues = shared.tasks.iter().map(|_| TaskQueue::new(backlog()));
        Self {
            queues: queues.collect(),
            shared,
            scheduler,
            timers: BinaryHeap::with_capacity(count),
            running: None,
            slot: None,
            wake: None,
            mode: Level::LOWEST,
            clock: Instant::EPOCH,
            record,
            priority,
            classes: Classes {
                run: low + 1,
                suspended: low,
            },
            budget_look: u64::MAX,
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
        manage_to_the_end(&shared, || self.manage(&shared));
        meter.stop(&shared.accounts.manager);
        self.scheduler.sink().close();
        self.account_for_the_rest(&shared);
        end_record(self.record, self.scheduler, &shared)
    }

    fn manage(&mut self, shared: &Shared) -> Step {
        let Some(managed) = &shared.managed else {
            return Ok(());
        };
        if !shared.await_begin() {
            return Ok(());
        }
        let signals = ManagerSignals::default();
        let end = shared.end.load(Ordering::SeqCst);
        let epoch = shared.epoch();
        for task in &shared.tasks {
            let first = shared.release_of(task, 0);
            self.timers.push(Reverse((first, task.id)));
        }
        let mut own = Intervals::of_this_thread(Thread::Manager);
        let outcome = self.rounds(shared, managed, &signals, (epoch, end), &mut own);
        own.leave(shared);
        outcome
    }

    /// Goes round until the run ends at `end`, on the clock.
    fn rounds(
        &mut self,
        shared: &Shared,
        managed: &Managed,
        signals: &ManagerSignals,
        (epoch, end): (u64, u64),
        own: &mut Intervals,
    ) -> Step {
        let mut until = monotonic_nanos();
        loop {
            // Read before looking, so that a call that comes while looking ends the wait.
            let calls = managed.calls.count();
            self.scheduler.sink().open();
            let now = monotonic_nanos();
            let wanted = Wanted::AtOnceSince(shared.occupancy.wanted_since(until, now));
            own.wake(shared, wanted, now, self.scheduler.sink_mut());
            #[cfg(feature = "real")]
            crate::fault::delay(shared, crate::fault::Point::RoundBegins);
            if !goes_on(shared, now, end) {
                return Ok(());
            }
            if now >= epoch {
                self.span(shared, now, Edge::Begin);
                self.step(shared, managed, now, end)?;
                let after = monotonic_nanos();
                self.span(shared, after, Edge::End);
                self.record.handling.record(after.saturating_sub(now));
            }
            self.scheduler.sink().close();
            until = self.next_look(shared).min(end).min(now + BEAT_NANOS);
            #[cfg(feature = "real")]
            crate::fault::delay(shared, crate::fault::Point::BeforeWait(Duty::Manager));
            own.wait(shared, Duty::Manager, self.scheduler.sink_mut());
            let signal = self.wait(managed, signals, calls, until);
            self.count_wakeup(shared, signal);
            self.note_lateness();
        }
    }

    /// Records where a round of the manager begins or ends.
    fn span(&mut self, shared: &Shared, now: u64, edge: Edge) {
        let (at, mechanism) = (shared.instant(now), Mechanism::Decide);
        self.scheduler.sink_mut().overhead(at, mechanism, edge);
    }

    /// Waits for a call or an instant; gives the signal that was the call, if it was one.
    fn wait(
        &self,
        managed: &Managed,
        signals: &ManagerSignals,
        calls: u32,
        until: u64,
    ) -> Option<i32> {
        if managed.waits_on_futex {
            managed.calls.wait_beyond(calls, Some(until));
            return None;
        }
        let span = until.saturating_sub(monotonic_nanos());
        (span > 0).then(|| signals.wait(span)).flatten()
    }

    /// Counts why the manager is awake, before it looks at what happened.
    fn count_wakeup(&mut self, shared: &Shared, signal: Option<i32>) {
        let now = monotonic_nanos();
        let mut ended = shared.tasks.iter().map(|task| &task.handover);
        let release = self.timers.peek().map(|&Reverse((at, _))| at);
        let fired = signal.is_some_and(|signal| signal != kick_signal());
        let wakeups = &mut self.record.wakeups;
        let count = if ended.any(Handover::is_handed_back) {
            &mut wakeups.completion
        } else if release.is_some_and(|release| release <= now) {
            &mut wakeups.release
        } else if self.wake.is_some_and(|wake| wake.at <= shared.instant(now)) {
            &mut wakeups.timer
        } else if fired || self.budget_look <= now {
            &mut wakeups.budget
        } else {
            &mut wakeups.beat
        };
        *count += 1;
    }

    /// How late this is for a release that found the CPU free.
    fn note_lateness(&mut self) {
        let Some(&Reverse((release, _))) = self.timers.peek() else {
            return;
        };
        let now = monotonic_nanos();
        if self.running.is_some() || now < release {
            return;
        }
        self.record.lateness.record(now - release);
    }

    /// One round: what happened, what follows, what is to be done.
    fn step(&mut self, shared: &Shared, managed: &Managed, now: u64, end: u64) -> Step {
        self.charge_running(shared, now)?;
        self.take_ends(shared)?;
        let latest = self.take_releases(shared, now, end)?;
        let mut at = shared.instant(now.max(latest));
        // Each further round ends a job that was over already, so that it ends; the bound is a
        // safeguard, not a parameter.
        for _ in 0..=2 * shared.tasks.len() {
            self.decide(shared, at)?;
            #[cfg(feature = "real")]
            crate::fault::delay(shared, crate::fault::Point::BeforeEnact);
            if !self.enact(shared, managed, at)? {
                break;
            }
            at = shared.instant(monotonic_nanos());
        }
        Ok(())
    }

    fn decide(&mut self, shared: &Shared, at: Instant) -> Step {
        self.clock = at.max(self.clock);
        self.hand_on(shared)?;
        loop {
            let plan = self.scheduler.decide(self.clock)?;
            (self.slot, self.wake, self.mode) = (plan.slot(CPU), plan.next, plan.mode);
            for queue in &mut self.queues {
                queue.staged = 0;
            }
            shared.mode.store(self.mode.0, Ordering::SeqCst);
            while let Some(notice) = self.scheduler.take_notice() {
                shared.note_notice(&notice);
                self.record.note(&notice);
                if let Event::Dropped { job, why } = notice.what {
                    self.drop_job(shared, job, why)?;
                }
            }
            // What was dropped has made room.
            if !self.hand_on(shared)? {
                return Ok(());
            }
        }
    }

    /// Takes the CPU from the running job.
    fn stop_running(&mut self, shared: &Shared) -> Step {
        let Some(job) = self.running.take() else {
            return Ok(());
        };
        let task = shared.task(job.task)?;
        let queue = queue_of(&mut self.queues, job.task)?;
        queue.end_cleaning(task);
        if let Some(busy) = queue.busy {
            let class = if task.is_demoted(busy) {
                Class::Background
            } else {
                Class::Suspended
            };
            self.set_class(shared, task, class);
            self.hold_if_suspended(task, job);
        }
        let (cpu, why) = (CPU, StopReason::Preempted);
        self.scheduler
            .apply(self.clock, Fact::Stopped { cpu, job, why })
    }

    /// Carries the plan out; says whether something came of it that needs another decision.
    fn enact(&mut self, shared: &Shared, managed: &Managed, at: Instant) -> Step<bool> {
        self.drop_background(shared);
        let target = self.slot.map(|slot| slot.job);
        managed.plan(target);
        // Nothing that keeps its priority wants the CPU.
        if target.is_none_or(|job| self.scheduler.permit(job.task) == Permit::Demoted) {
            shared.end_demoted();
        }
        if self.running == target {
            return Ok(false);
        }
        self.stop_running(shared)?;
        match target {
            Some(job) => self.start(shared, job, at),
            None => Ok(false),
        }
    }

    /// Gives the CPU to `job`; says whether it turned out to be over already.
    fn start(&mut self, shared: &Shared, job: JobId, at: Instant) -> Step<bool> {
        let task = shared.task(job.task)?;
        let queue = queue_of(&mut self.queues, job.task)?;
        let demoted = task.is_demoted(job.sequence);
        let over = match queue.busy {
            Some(busy) if busy == job.sequence => {
                let class = if demoted {
                    Class::Background
                } else {
                    Class::Run
                };
                self.set_class(shared, task, class);
                None
            }
            // Never begun, and used up already by the way to the cancellation point before it.
            Some(_) if demoted => return Ok(false),
            Some(_) => {
                queue.begin_cleaning(task, job.sequence);
                self.set_class(shared, task, Class::Run);
                None
            }
            None => match queue.ended.take() {
                Some((ended, whole)) if ended == job.sequence => Some(whole),
                Some(_) | None if demoted => {
                    if queue.take_waiting(job.sequence).is_some() {
                        let why = task.why_dropped(job.sequence);
                        queue.dropped.add(why, 1);
                        let what = What::Dropped { job, why };
                        self.scheduler.sink_mut().record(at, what);
                    }
                    Some(false)
                }
                Some(_) | None => {
                    queue.open_account(job.sequence);
                    self.assign(shared, task, job);
                    None
                }
            },
        };
        let started = Fact::Started { cpu: CPU, job };
        self.scheduler.apply(at, started)?;
        if let Some(whole) = over {
            let queue = queue_of(&mut self.queues, job.task)?;
            queue.backlog.forget(job.sequence);
            self.scheduler.apply(at, end_of(job, whole))?;
        } else {
            self.running = Some(job);
        }
        Ok(over.is_some())
    }

    /// Lets the worker, which has no job, begin `job`.
    fn assign(&mut self, shared: &Shared, task: &TaskShared, job: JobId) {
        let Ok(queue) = queue_of(&mut self.queues, task.id) else {
            return;
        };
        let Some(release) = queue.take_waiting(job.sequence) else {
            return;
        };
        queue.busy = Some(job.sequence);
        queue.ended = None;
        // Whatever the body of the job before did to its own priority ends here.
        queue.class = Class::Background;
        self.set_class(shared, task, Class::Run);
        task.handover.assign(Assignment {
            sequence: job.sequence,
            release,
        });
    }

    fn set_class(&mut self, shared: &Shared, task: &TaskShared, class: Class) {
        let Ok(queue) = queue_of(&mut self.queues, task.id) else {
            return;
        };
        if queue.class == class {
            return;
        }
        queue.class = class;
        let tid = task.tid();
        let before = monotonic_nanos();
        if class != Class::Run {
            shared.occupancy.burns_no_more();
        }
        let done = match class {
            Class::Run => sys::sched::set_fifo(tid, self.classes.run),
            Class::Suspended => sys::sched::set_fifo(tid, self.classes.suspended),
            Class::Background => sys::sched::set_other(tid),
        };
        if done.is_err() {
            shared.request_stop(StopCause::SetupFailed);
        }
        if class != Class::Run {
            let cost = monotonic_nanos().saturating_sub(before);
            self.record.demotion.record(cost);
        }
        if class != Class::Suspended && task.suspension.is_suspended() {
            // Whatever the worker does from now on, it is not suspended.
            let executed = task.executed().unwrap_or(0);
            task.suspension.resume(executed, shared.tolerance_nanos);
        }
    }

    /// When to look again if no thread calls, as a clock reading; arms the monitor of the running job.
    fn next_look(&mut self, shared: &Shared) -> u64 {
        let epoch = shared.epoch();
        let release = self
            .timers
            .peek()
            .map_or(u64::MAX, |&Reverse((release, _))| release);
        let asked = self.wake.map_or(u64::MAX, |wake| {
            epoch.saturating_add(wake.at.saturating_since(Instant::EPOCH).as_nanos())
        });
        self.budget_look = self.watch_budget(shared);
        release.min(asked).min(self.budget_look)
    }

    /// When to look at the budget of the running job.
    fn watch_budget(&self, shared: &Shared) -> u64 {
        let Some(job) = self.running else {
            return u64::MAX;
        };
        let index = job.task.index();
        let (Some(task), Some(queue), Some(exhausted)) = (
            shared.tasks.get(index),
            self.queues.get(index),
            self.exhausted_at(shared, job),
        ) else {
            return u64::MAX;
        };
        let left = exhausted
            .saturating_sub(queue.executed(task, job.sequence))
            .max(QUANTUM_NANOS);
        match (shared.monitor, task.monitor.get()) {
            (Monitor::Perf | Monitor::PosixTimer, Some(monitor)) => {
                monitor.start(left);
                u64::MAX
            }
            (Monitor::Heartbeat, _) => monotonic_nanos().saturating_add(shared.heartbeat_nanos),
            (Monitor::Manager | Monitor::Perf | Monitor::PosixTimer, _) => {
                monotonic_nanos().saturating_add(left)
            }
        }
    }
}
