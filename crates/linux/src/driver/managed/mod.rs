//! *Managed dispatch* on one CPU: a manager asks a scheduler what to run, and carries its plans out
//! with three priorities, four with devices.
//!
//! | class | where | who |
//! |---|---|---|
//! | manager | the highest SCHED_FIFO priority of the run | the manager |
//! | top half | SCHED_FIFO below it, on a CPU with devices | the thread that waits for them: see [`crate::device`] |
//! | run | SCHED_FIFO below that | the worker of the job that the plan names, and workers without a job or whose job waits for events, which are blocked |
//! | suspended | SCHED_FIFO below that | workers whose job was preempted |
//! | background | SCHED_OTHER | workers whose job was demoted, until its next cancellation point |
//!
//! Preempted jobs stay in SCHED_FIFO, because the kernel lends starved SCHED_OTHER threads time of
//! its own accord (the fair server), and would then run jobs that no plan names. Withdrawn ones go to
//! SCHED_OTHER as under native dispatch: a body that never ends must not use up real-time bandwidth.
//!
//! The manager lives on the CPU of the run, above all workers, so no worker moves while it decides,
//! and what it has arranged is what runs as soon as it waits again: it may confirm starts and stops
//! itself. It waits for one thing, a futex, with one timeout: the next release, the predicted
//! exhaustion of the running job's budget, or the instant that the plan asks for, whichever is first.
//!
//! With [`crate::Mechanism::Sigrist2015`] it does the same as the scheduler of that paper: threads of their own dispatch arrivals
//! ([`crate::thread`]) and check for overruns ([`facts`]), and call it.

mod backlog;
mod drops;
mod ends;
mod facts;
mod queue;
mod waits;

use super::dispatch::cpu_of;
use super::{Driver, Step};
use crate::control::{Class, Classes, Control, Reason, Traced};
use crate::cpu::Call;
use crate::decider::BoxedScheduler;
use crate::feature::slices;
use crate::pace::{LeastWait, next_beat};
use crate::sys::clock::monotonic_nanos;
use crate::sys::signal::{ManagerSignals, kick_signal};
use crate::task::{Assignment, Handover};
use backlog::Backlog;
use ends::end_of;
use queue::{TaskQueue, queue_of};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::fact::StopReason;
use vestal_core::plan::{Slot, Wake};
use vestal_core::{Event, Fact, Instant, JobId, Level, Permit, Scheduler, TaskId};
use vestal_trace::What;
use waits::Waits;

/// How soon the manager looks again for a worker that it could not hold.
const HOLD_AGAIN_NANOS: u64 = 20_000;

/// Dispatches: reports to the scheduler what happened, and does what the plan says.
pub(crate) struct Managed {
    scheduler: Traced<BoxedScheduler>,
    signals: ManagerSignals,
    /// How many calls there were when it began to look.
    seen: u32,
    queues: Vec<TaskQueue>,
    /// Jobs that wait for events of devices.
    waits: Waits,
    /// The next release of each task, with its clock reading.
    timers: BinaryHeap<Reverse<(u64, TaskId)>>,
    /// What the scheduler takes for running (C5).
    running: Option<JobId>,
    slot: Option<Slot>,
    wake: Option<Wake>,
    mode: Level,
    /// The instant of the last decision (C1).
    clock: Instant,
    classes: Classes,
    /// When it wakes to look at the budget of the running job.
    budget_look: u64,
    /// When it went to wait again after it had done so last.
    looked: u64,
    least: LeastWait<JobId>,
    /// Whether this round is one in which it does.
    is_look: bool,
    /// When the running job has used its budget up, unless others have the CPU meanwhile.
    due: u64,
    /// Whether the monitor called then, or later.
    is_due: bool,
    /// Whether a begun job that no plan names is still to be held.
    look_again: bool,
}

impl Managed {
    /// For so many tasks, of each of which as many jobs may wait behind the current one as `backlog` says. `low` is the lowest
    /// priority of the run.
    pub(crate) fn new(
        tasks: usize,
        scheduler: Traced<BoxedScheduler>,
        backlog: Option<usize>,
        low: i32,
    ) -> Self {
        let waiting = scheduler.backlog();
        let queues = (0..tasks).map(|_| TaskQueue::new(Backlog::new(waiting, backlog)));
        Self {
            queues: queues.collect(),
            scheduler,
            signals: ManagerSignals::default(),
            waits: Waits::new(tasks, 0),
            seen: 0,
            timers: BinaryHeap::with_capacity(tasks),
            running: None,
            slot: None,
            wake: None,
            mode: Level::LOWEST,
            clock: Instant::EPOCH,
            classes: Classes::above(low),
            budget_look: u64::MAX,
            looked: 0,
            least: LeastWait::default(),
            is_look: false,
            due: 0,
            is_due: false,
            look_again: false,
        }
    }
}

impl Driver for Managed {
    type Decider = BoxedScheduler;
    /// The signal that was the call, if it was one.
    type Woken = Option<i32>;

    fn decider(&mut self) -> &mut Traced<BoxedScheduler> {
        &mut self.scheduler
    }

    fn start(&mut self, control: &Control<'_>) -> io::Result<()> {
        if let Call::Futex(calls) = control.call {
            self.seen = calls.count();
        }
        self.waits = Waits::new(control.tasks.len(), control.devices.iter().count());
        for task in control.tasks {
            // Their devices release the jobs of bottom halves.
            if control.devices.of_task(task.id).is_some() {
                continue;
            }
            let first = control.run.clock_at(task.release_of(0));
            self.timers.push(Reverse((first, task.id)));
        }
        Ok(())
    }

    fn arm(&mut self, control: &Control<'_>) -> u64 {
        self.next_look(control)
    }

    fn wait(&mut self, control: &Control<'_>, until: u64) -> Option<i32> {
        if let Call::Futex(calls) = control.call {
            calls.wait_beyond(self.seen, Some(until));
            // Before the manager looks, so that a call that comes while it does ends the next wait.
            self.seen = calls.count();
            return None;
        }
        let span = until.saturating_sub(monotonic_nanos());
        let came = (span > 0).then(|| self.signals.wait(span)).flatten();
        came.map(|came| came.signal)
    }

    fn reason(&self, control: &mut Control<'_>, woken: &Option<i32>, now: u64) -> Reason {
        let next = self.timers.peek().map(|&Reverse(next)| next);
        let come = next.filter(|&next| self.has_come(control, next, now));
        let late = come.and_then(|(release, _)| now.checked_sub(release));
        let mut ended = control.tasks.iter().map(|task| &task.handover);
        let fired = woken.is_some_and(|signal| signal != kick_signal());
        // A release that found the CPU free.
        if let (Some(late), None) = (late, self.running) {
            control.record.lateness.record(late);
        }
        let is_due = |wake: Wake| wake.at <= control.run.instant(now);
        if ended.any(Handover::is_handed_back) {
            Reason::Completion
        } else if late.is_some() {
            Reason::Release
        } else if self.is_about_devices(control) {
            Reason::Device
        } else if self.wake.is_some_and(is_due) {
            Reason::Timer
        } else if fired || self.budget_look <= now || self.have_checkers_found(control) {
            Reason::Budget
        } else {
            Reason::Beat
        }
    }

    /// Each call is a reason to look, once the run has begun.
    fn is_wanted(&self, control: &Control<'_>, _: &Option<i32>, now: u64) -> bool {
        now >= control.run.epoch()
    }

    fn round(&mut self, control: &mut Control<'_>, woken: &Option<i32>, now: u64) -> Step {
        let by_monitor =
            woken.is_some_and(|signal| signal != kick_signal()) || self.budget_look <= now;
        self.is_look = by_monitor;
        self.is_due = by_monitor && now >= self.due;
        self.count_look(control, by_monitor, now);
        self.step(control, now)
    }

    fn finish(mut self, control: &Control<'_>) -> Traced<BoxedScheduler> {
        self.account_for_the_rest(control);
        self.scheduler
    }
}

impl Managed {
    /// One round: what happened, what follows, what is to be done.
    fn step(&mut self, control: &mut Control<'_>, now: u64) -> Step {
        self.charge_running(control, now)?;
        self.take_ends(control)?;
        self.take_waits(control)?;
        self.take_interrupts(control)?;
        self.wake_served(control, control.run.instant(now))?;
        let latest = self.take_releases(control, now)?;
        let mut at = control.run.instant(now.max(latest));
        // Each further round ends a job that was over already, or begins or ends a wait, so that it ends; the bound is a
        // safeguard, not a parameter.
        for _ in 0..=3 * control.tasks.len() {
            self.decide(control, at)?;
            control.has_decided();
            let ended = self.enact(control, at)?;
            if !self.wake_for_changes(control)? && !ended {
                break;
            }
            at = control.now();
        }
        Ok(())
    }

    /// What was decided and carried out may have begun waits, or moved others: nobody calls for events that were served before
    /// this looks. Says whether it ended any.
    fn wake_for_changes(&mut self, control: &Control<'_>) -> Step<bool> {
        if !self.waits.take_changes() {
            return Ok(false);
        }
        self.wake_served(control, self.clock.max(control.now()))
    }

    fn decide(&mut self, control: &mut Control<'_>, at: Instant) -> Step {
        self.clock = at.max(self.clock);
        self.hand_on(control)?;
        loop {
            let plan = self.scheduler.decide(self.clock)?;
            (self.slot, self.wake, self.mode) = (plan.slot(CPU), plan.next, plan.mode);
            for queue in &mut self.queues {
                queue.staged = 0;
            }
            control.set_mode(self.mode);
            while let Some(notice) = self.scheduler.take_notice() {
                control.take_notice(&notice);
                if let Event::Dropped { job, why } = notice.what {
                    self.drop_job(control, job, why)?;
                }
            }
            // What was dropped has made room.
            if !self.hand_on(control)? {
                return Ok(());
            }
        }
    }

    /// Takes the CPU from the running job.
    fn stop_running(&mut self, control: &mut Control<'_>) -> Step {
        let Some(job) = self.running.take() else {
            return Ok(());
        };
        let task = control.tasks.of(job.task)?;
        let queue = queue_of(&mut self.queues, job.task)?;
        queue.end_cleaning(&task.jobs);
        if let Some(busy) = queue.busy {
            let class = if task.jobs.is_demoted(busy) {
                Class::Background
            } else {
                Class::Suspended
            };
            self.set_class(control, task.id, class);
            let permit = self.scheduler.permit(job.task);
            slices::hold(task, job, permit, &mut control.record.suspensions);
        }
        let (cpu, why) = (CPU, StopReason::Preempted);
        let at = self.carried_out(control, self.clock);
        self.scheduler.apply(at, Fact::Stopped { cpu, job, why })
    }

    /// When something was carried out that was decided at `at`: where there are devices by the clock, so that a bottom half that went
    /// on until then is found by who looks for that; else as it was decided.
    fn carried_out(&mut self, control: &Control<'_>, at: Instant) -> Instant {
        if control.devices.is_empty() {
            return at;
        }
        self.clock = self.clock.max(at).max(control.now());
        self.clock
    }

    /// Carries the plan out; says whether something came of it that needs another decision.
    fn enact(&mut self, control: &mut Control<'_>, at: Instant) -> Step<bool> {
        self.drop_background(control);
        let target = self.slot.map(|slot| slot.job);
        control.plan(target);
        // Nothing that keeps its priority wants the CPU.
        if target.is_none_or(|job| self.scheduler.permit(job.task) == Permit::Demoted) {
            control.end_demoted();
        }
        if self.running != target {
            self.stop_running(control)?;
        } else if target.is_some() {
            return Ok(false);
        }
        self.look_again = false;
        match target {
            Some(job) => self.begin(control, job, at),
            None => {
                self.hold_all(control);
                Ok(false)
            }
        }
    }

    /// The plan leaves the CPU free: no begun job goes on. One whose worker is not inside its body cannot be held
    /// there, so the manager looks again soon; one that waits for events stays outside until it is told to go on.
    fn hold_all(&mut self, control: &mut Control<'_>) {
        for (task, queue) in control.tasks.iter().zip(&self.queues) {
            let begun = task.is_sliced() && queue.class == Class::Suspended;
            let waits = queue.waits.is_some();
            if let Some(sequence) = queue.busy.filter(|_| begun && !waits) {
                slices::hold_begun(task, sequence, &mut control.record.suspensions);
                self.look_again |= !task.suspension.is_suspended();
            }
        }
    }

    /// Gives the CPU to `job`; says whether it turned out to be over already.
    fn begin(&mut self, control: &mut Control<'_>, job: JobId, at: Instant) -> Step<bool> {
        let task = control.tasks.of(job.task)?;
        let queue = queue_of(&mut self.queues, job.task)?;
        let now = monotonic_nanos();
        control.note_exceeded(queue.lane.take_exceeded(cpu_of(&task.jobs), now));
        queue.lane.goes_on(now);
        let demoted = task.jobs.is_demoted(job.sequence);
        let over = match queue.busy {
            Some(busy) if busy == job.sequence => {
                if let Some(wait) = queue.waits.take() {
                    let at = self.carried_out(control, at);
                    let started = Fact::Started { cpu: CPU, job };
                    self.scheduler.apply(at, started)?;
                    self.block(control, (at, job), &wait)?;
                    return Ok(true);
                }
                if std::mem::take(&mut queue.is_blocked) {
                    task.handover.go_on();
                }
                let class = if demoted {
                    Class::Background
                } else {
                    Class::Run
                };
                self.set_class(control, task.id, class);
                None
            }
            // Never begun, and used up already by the way to the cancellation point before it.
            Some(_) if demoted => return Ok(false),
            Some(_) => {
                queue.begin_cleaning(&task.jobs, job.sequence);
                self.set_class(control, task.id, Class::Run);
                None
            }
            None => match queue.ended.take() {
                Some((ended, whole)) if ended == job.sequence => Some(whole),
                Some(_) | None if demoted => {
                    if queue.take_waiting(job.sequence).is_some() {
                        let why = task.verdicts.why_dropped(job.sequence);
                        queue.dropped.add(why, 1);
                        let what = What::Dropped { job, why };
                        self.scheduler.sink_mut().record(at, what);
                    }
                    Some(false)
                }
                Some(_) | None => {
                    queue.open_account(job.sequence);
                    self.assign(control, task.id, job);
                    None
                }
            },
        };
        let at = self.carried_out(control, at);
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
    fn assign(&mut self, control: &mut Control<'_>, id: TaskId, job: JobId) {
        let Ok(task) = control.tasks.of(id) else {
            return;
        };
        let Ok(queue) = queue_of(&mut self.queues, id) else {
            return;
        };
        let Some(release) = queue.take_waiting(job.sequence) else {
            return;
        };
        queue.lane.open(cpu_of(&task.jobs));
        queue.busy = Some(job.sequence);
        queue.ended = None;
        // Whatever the body of the job before did to its own priority ends here.
        queue.class = Class::Background;
        self.set_class(control, task.id, Class::Run);
        task.handover.assign(Assignment {
            sequence: job.sequence,
            release,
        });
    }

    fn set_class(&mut self, control: &mut Control<'_>, id: TaskId, class: Class) {
        let both = control
            .tasks
            .of(id)
            .ok()
            .zip(self.queues.get_mut(id.index()));
        if let Some((task, queue)) = both {
            control.put((task, self.classes), (&mut queue.class, class));
        }
    }

    /// When to look again if no thread calls, as a clock reading; arms the monitor of the running job.
    fn next_look(&mut self, control: &Control<'_>) -> u64 {
        let epoch = control.run.epoch();
        let release = match control.terms.duties.has_dispatcher {
            true => None,
            false => self.timers.peek(),
        };
        let release = release.map_or(u64::MAX, |&Reverse((release, _))| release);
        let asked = self.wake.map_or(u64::MAX, |wake| {
            epoch.saturating_add(wake.at.saturating_since(Instant::EPOCH).as_nanos())
        });
        if control.terms.duties.has_checkers {
            self.tell_checkers(control);
        }
        self.budget_look = self.watch_budget(control);
        let again = match self.look_again {
            true => monotonic_nanos().saturating_add(HOLD_AGAIN_NANOS),
            false => u64::MAX,
        };
        // Who calls before the run begins is not heard.
        let raised = match control.devices.are_raised() {
            true => epoch,
            false => u64::MAX,
        };
        let device = raised.min(again);
        release.min(asked).min(self.budget_look).min(device)
    }

    /// When to look at the budget of the running job.
    fn watch_budget(&mut self, control: &Control<'_>) -> u64 {
        let Some(job) = self.running else {
            return u64::MAX;
        };
        let index = job.task.index();
        let (Some(task), Some(queue)) = (control.tasks.get(index), self.queues.get(index)) else {
            return u64::MAX;
        };
        control.arms();
        if control.terms.duties.has_checkers && queue.busy == Some(job.sequence) {
            return u64::MAX;
        }
        let left = match self.server_budget(control, job) {
            Some(budget) => budget.left(queue.lane.uncharged(cpu_of(&task.jobs))),
            None => match self.exhausted_at(control, job) {
                Some(at) => at.saturating_sub(queue.executed(&task.jobs, job.sequence)),
                None => return u64::MAX,
            },
        };
        let now = monotonic_nanos();
        // Only after a look that came too early: see `crate::Config::bound`. It counts from here, however long the round took
        // that looked: else the job, whose rest is over before it gets to run, would be looked at for ever.
        let is_look = std::mem::take(&mut self.is_look);
        let (executed, bound) = (cpu_of(&task.jobs).unwrap_or(0), control.terms.bound_nanos);
        let wait = self.least.wait(is_look, (job, executed), bound);
        if is_look {
            self.looked = now;
        }
        let earliest = self.looked.saturating_add(wait);
        let left = left.max(earliest.saturating_sub(now)).max(1);
        self.due = now.saturating_add(left);
        #[cfg(feature = "real")]
        let left = control.early_or(left);
        // A manager that waits for a futex needs no monitor, and workers have none then.
        if let Some(monitor) = task.monitor.get() {
            monitor.start(left);
            return u64::MAX;
        }
        match control.terms.heartbeat_nanos {
            Some(period) => next_beat(control.run.epoch(), period, now),
            None => now.saturating_add(left),
        }
    }
}

#[cfg(test)]
mod devices_tests;

#[cfg(test)]
mod rises_tests;

#[cfg(test)]
mod scripted_tests;

#[cfg(test)]
mod servers_tests;

#[cfg(test)]
mod tests;
