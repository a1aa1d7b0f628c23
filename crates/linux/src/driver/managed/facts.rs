//! What the manager reports to the scheduler: what ran, what ended, what waits and what it waited for, what was released.
//!
//! Where threads of their own check for overruns, a checker is told of a job when that gets the CPU for the first time, and
//! when its budget is another one; and that there is nothing to check when the job has ended or lost its priority. What the way
//! to a cancellation point executes for the next job of a task is on the account of a job that has not begun: that the
//! manager watches itself.
//!
//! What this world itself adds to a job is no use of its own. Where a budget is the job's, it is taken off before the job is
//! charged. Where a budget outlives jobs it is not, because it would be given again with each; unless that is wanted, where a server has what
//! one job needs, and a job that takes no longer is to be in time, and to raise no mode. What was taken off is on nobody's account, but is counted by server.

use super::ends::end_of;
use super::queue::{TaskQueue, queue_of};
use super::{Managed, Step};
use crate::control::{Class, Control};
use crate::driver::dispatch::cpu_of;
use crate::job::Ended;
use crate::sys::clock::monotonic_nanos;
use crate::task::{TaskShared, Wait};
use crate::words::Watched;
use std::cmp::Reverse;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::fact::StopReason;
use vestal_core::job_table::BACKLOG_MAX;
use vestal_core::plan::BudgetOwner;
use vestal_core::{DeviceId, DropReason, Fact, Instant, JobId, Permit, Scheduler, Service, TaskId};
use vestal_trace::What;

/// Releases that are no further apart than this are one event.
const MERGE_NANOS: u64 = 1_000;

impl Managed {
    /// Charges the running job what its thread's clock says (C2).
    pub(super) fn charge_running(&mut self, control: &mut Control<'_>, now: u64) -> Step {
        let Some(job) = self.running else {
            return Ok(());
        };
        let task = control.tasks.of(job.task)?;
        let at = control.run.instant(now);
        if let Some(budget) = self.server_budget(control, job) {
            return self.charge_server(control, (at, job), budget);
        }
        let executed = queue_of(&mut self.queues, job.task)?.executed(&task.jobs, job.sequence);
        #[cfg(feature = "real")]
        if control.looks_away() {
            return Ok(());
        }
        if let Some(exhausted) = self.exhausted_at(control, job) {
            let by = (exhausted, self.is_due);
            note_look(control, task, (job.sequence, executed), by);
        }
        self.charge(control, at, job, executed)
    }

    /// What the last plan leaves `job` of a budget that outlives jobs: a task's or a server's. It is charged by the clock
    /// of the worker's thread, whole: what it takes to begin and to end a job counts.
    pub(super) fn server_budget(&self, control: &Control<'_>, job: JobId) -> Option<ServerBudget> {
        #[cfg(feature = "real")]
        if control.charges_by_job() {
            return None;
        }
        let slot = self
            .slot
            .filter(|slot| control.terms.duties.enforces && slot.job == job)?;
        let budget = slot.budget?;
        let is_tolerated =
            control.terms.tolerates_each_job && control.devices.of_task(job.task).is_none();
        let tolerable = match is_tolerated {
            true => {
                let queue = self.queues.get(job.task.index())?;
                queue.tolerable(job.sequence, control.terms.tolerance_nanos)
            }
            false => 0,
        };
        (budget.owner != BudgetOwner::Job).then(|| ServerBudget {
            owner: budget.owner,
            remaining: budget.remaining.as_nanos(),
            tolerable,
        })
    }

    /// Charges what the thread of the running job used since its last charge, and what other threads used after the same
    /// budget had paid for them. What a thread uses
    /// after its job's end was reported is charged with the next job that the same budget pays for, for a scheduler takes no
    /// charge without a running job.
    fn charge_server(
        &mut self,
        control: &mut Control<'_>,
        (at, job): (Instant, JobId),
        budget: ServerBudget,
    ) -> Step {
        let clock = cpu_of(&control.tasks.of(job.task)?.jobs);
        let lane = &mut queue_of(&mut self.queues, job.task)?.lane;
        let now = monotonic_nanos();
        // It was not stopped since.
        control.note_exceeded(lane.take_exceeded(None, now));
        let mut used = lane.charge(clock, budget.owner);
        for (task, queue) in control.tasks.iter().zip(&mut self.queues) {
            if task.id != job.task && queue.lane.owes(budget.owner) {
                used =
                    used.saturating_add(queue.lane.charge_rest(cpu_of(&task.jobs), budget.owner));
            }
        }
        let queue = queue_of(&mut self.queues, job.task)?;
        let tolerated = used.min(budget.tolerable);
        queue.tolerate(job.sequence, tolerated);
        let off = Service::from_nanos(tolerated);
        control.record.note_tolerated(budget.owner, off);
        used = used.saturating_sub(tolerated);
        if let Some(beyond) = used.checked_sub(budget.remaining) {
            queue.lane.exceeded(beyond);
        }
        queue.lane.goes_on(now);
        // A slot without a budget ends with that: the job was looked at, and was not done (C2).
        if used > 0 || budget.remaining == 0 {
            let (cpu, amount) = (CPU, Service::from_nanos(used));
            control.record.note_charged(budget.owner, amount);
            self.scheduler
                .apply(at, Fact::Charged { cpu, job, amount })?;
        }
        Ok(())
    }

    /// Reports to the scheduler what `job` has executed, less what this world itself adds to a job.
    fn charge(&mut self, control: &Control<'_>, at: Instant, job: JobId, executed: u64) -> Step {
        let queue = queue_of(&mut self.queues, job.task)?;
        if !control.terms.duties.enforces {
            return Ok(());
        }
        let amount = queue.report(
            job.sequence,
            executed.saturating_sub(control.terms.tolerance_nanos),
        );
        if amount == 0 {
            return Ok(());
        }
        let (cpu, amount) = (CPU, Service::from_nanos(amount));
        self.scheduler.apply(at, Fact::Charged { cpu, job, amount })
    }

    /// The execution at which the budget of `job` that the last plan named is used up.
    pub(super) fn exhausted_at(&self, control: &Control<'_>, job: JobId) -> Option<u64> {
        let slot = self
            .slot
            .filter(|slot| control.terms.duties.enforces && slot.job == job)?;
        // What a job in the background uses up is on no account.
        let task = control.tasks.of(job.task).ok()?;
        if task.jobs.is_demoted(job.sequence) {
            return None;
        }
        let reported = self.queues.get(job.task.index())?.reported(job.sequence);
        let remaining = slot.budget?.remaining.as_nanos();
        Some(
            reported
                .saturating_add(remaining)
                .saturating_add(control.terms.tolerance_nanos),
        )
    }

    /// A round begins at `now`, because of the monitor or not: an activation of it is about the running job. Those of
    /// checkers are counted by them.
    pub(super) fn count_look(&mut self, control: &mut Control<'_>, by_monitor: bool, now: u64) {
        for (task, queue) in control.tasks.iter().zip(&mut self.queues) {
            queue.overruns = task.overruns.count();
        }
        let is_counted = by_monitor && !control.terms.duties.has_checkers;
        control.record.activations.begin_round(now, is_counted);
        if let Some(job) = self.running.filter(|_| is_counted)
            && let Some(task) = control.tasks.get(job.task.index())
        {
            task.watched.activate(now, true);
        }
    }

    /// Whether a checker has found an overrun since the manager looked last.
    pub(super) fn have_checkers_found(&self, control: &Control<'_>) -> bool {
        let mut each = control.tasks.iter().zip(&self.queues);
        each.any(|(task, queue)| task.overruns.count() > queue.overruns)
    }

    /// Tells each checker what it is to watch from now on, if that is another job or another budget.
    pub(super) fn tell_checkers(&mut self, control: &Control<'_>) {
        let running = self
            .running
            .map(|job| (job.task, self.checked(control, job)));
        for (task, queue) in control.tasks.iter().zip(&mut self.queues) {
            let keeps = |watched: &Watched| {
                queue.busy == Some(watched.sequence) && !task.jobs.is_demoted(watched.sequence)
            };
            let watched = match running {
                Some((id, watched)) if id == task.id => watched,
                Some((TaskId(_), _)) | None => queue.watched.filter(keeps),
            };
            if watched != queue.watched {
                queue.watched = watched;
                task.watch.watch(watched);
            }
        }
    }

    /// What the checker of the running job's task is to watch.
    fn checked(&self, control: &Control<'_>, job: JobId) -> Option<Watched> {
        let queue = self.queues.get(job.task.index())?;
        let has_begun = queue.busy == Some(job.sequence);
        let exhausted = self.exhausted_at(control, job).filter(|_| has_begun)?;
        Some(Watched {
            sequence: job.sequence,
            // A checker does not know of what was paid before the job began.
            deadline: exhausted.saturating_sub(queue.carried()),
        })
    }

    /// Takes the ends of jobs from the workers.
    pub(super) fn take_ends(&mut self, control: &mut Control<'_>) -> Step {
        for task in control.tasks {
            let Some(done) = task.handover.take_done() else {
                continue;
            };
            let job = task.job(done.sequence);
            self.set_class(control, task.id, Class::Run);
            let running = self.running;
            let queue = queue_of(&mut self.queues, task.id)?;
            queue.busy = None;
            if control.devices.unmask(task.id).is_err() {
                control.fail();
            }
            if running == Some(job) {
                let executed = done.executed.saturating_add(queue.carried());
                self.end(control, (job, done), executed)?;
                continue;
            }
            queue.end_cleaning(&task.jobs);
            match running {
                // The way is free for the job in whose name the worker came here.
                Some(next) if next.task == job.task => self.assign(control, task.id, next),
                Some(_) | None => queue.ended = Some((done.sequence, done.completed)),
            }
        }
        Ok(())
    }

    /// The running job has ended.
    fn end(
        &mut self,
        control: &mut Control<'_>,
        (job, done): (JobId, Ended),
        executed: u64,
    ) -> Step {
        let at = control.run.instant(done.finished);
        match self.server_budget(control, job) {
            Some(budget) => {
                self.charge_server(control, (at, job), budget)?;
            }
            None => self.charge(control, at, job, executed)?,
        }
        self.running = None;
        let queue = queue_of(&mut self.queues, job.task)?;
        queue.backlog.forget(job.sequence);
        self.scheduler.apply(at, end_of(job, done.completed))
    }

    /// Takes from the workers that their jobs wait for events.
    pub(super) fn take_waits(&mut self, control: &mut Control<'_>) -> Step {
        for task in control.tasks {
            let Some(wait) = task.handover.take_wait() else {
                continue;
            };
            let job = task.job(wait.sequence);
            if task.jobs.is_demoted(wait.sequence) {
                // It was dropped before this was known.
                task.handover.go_on();
            } else if self.running == Some(job) {
                self.block(control, (control.run.instant(wait.at), job), &wait)?;
            } else {
                queue_of(&mut self.queues, task.id)?.waits = Some(wait);
            }
        }
        Ok(())
    }

    /// `job`, which the scheduler counts as running and has charged, waits from here on; events that are there already are served
    /// on behalf of its server too.
    pub(super) fn block(
        &mut self,
        control: &mut Control<'_>,
        (at, job): (Instant, JobId),
        wait: &Wait,
    ) -> Step {
        let task = control.tasks.of(job.task)?;
        let slot = self.slot.filter(|slot| slot.job == job);
        let host = slot.and_then(|slot| match slot.budget?.owner {
            BudgetOwner::Server(server) => Some(server),
            BudgetOwner::Job | BudgetOwner::Task(_) => None,
        });
        self.running = None;
        let (cpu, why) = (CPU, StopReason::Blocked);
        self.scheduler.apply(at, Fact::Stopped { cpu, job, why })?;
        let queue = queue_of(&mut self.queues, job.task)?;
        (queue.is_blocked, queue.blocked_at) = (true, at);
        self.waits.begin(job, wait, host);
        // It goes to sleep, which is all that it does.
        self.set_class(control, task.id, Class::Run);
        let mut devices = control.devices.iter();
        match devices.nth(wait.device) {
            Some(attached) if attached.device.is_told() && host.is_some() => {
                let (task, on_behalf_of) = (attached.task, host);
                self.scheduler.apply(at, Fact::Woken { task, on_behalf_of })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether a device was found ready, a job has begun to wait, or one has what it waited for, and nobody has looked at that yet.
    pub(super) fn is_about_devices(&self, control: &Control<'_>) -> bool {
        let mut tasks = control.tasks.iter();
        let mut devices = control.devices.iter().enumerate();
        control.devices.are_raised()
            || tasks.any(|task| task.handover.has_wait())
            || devices.any(|(device, attached)| {
                let target = self.waits.next_target(device);
                target.is_some_and(|target| target <= attached.device.served())
            })
    }

    /// Tells the scheduler which devices were found ready, and on whose behalf their bottom halves run: of all who wait.
    pub(super) fn take_interrupts(&mut self, control: &Control<'_>) -> Step {
        let end = control.run.end.get();
        for (device, attached) in control.devices.iter().enumerate() {
            let Some(came) = attached.device.take_interrupt(end) else {
                continue;
            };
            let (at, task) = (control.run.instant(came), attached.task);
            // The scheduler numbers the jobs of a bottom half as they begin, and here is one for each interrupt.
            let queue = queue_of(&mut self.queues, task)?;
            let sequence = queue.next_sequence;
            queue.next_sequence += 1;
            queue.staged += 1;
            queue.backlog.report(sequence);
            queue.released(sequence, came);
            control.has_release();
            let number = DeviceId(u16::try_from(device).unwrap_or(u16::MAX));
            let (device, count) = (number, 1);
            self.scheduler
                .apply(at, Fact::Interrupt { device, count })?;
            #[cfg(feature = "real")]
            control.unmask_at_once(task);
            for place in 0..self.waits.len() {
                let on_behalf_of = self.waits.host(place, number.index());
                if on_behalf_of.is_some() {
                    self.scheduler
                        .apply(at, Fact::Woken { task, on_behalf_of })?;
                }
            }
        }
        Ok(())
    }

    /// Tells the scheduler which jobs have the events that they waited for, since when, and bottom halves at which they are to call.
    /// Says whether there was any.
    pub(super) fn wake_served(&mut self, control: &Control<'_>, at: Instant) -> Step<bool> {
        self.waits.take_changes();
        let mut any = false;
        for (device, attached) in control.devices.iter().enumerate() {
            // Each turn ends a wait.
            while let Some(target) = self.waits.next_target(device) {
                let served = attached.device.call_at(target);
                let Some(job) = self.waits.take_over(device, served) else {
                    break;
                };
                let (task, on_behalf_of) = (job.task, None);
                let blocked_at = queue_of(&mut self.queues, task)?.blocked_at;
                let came = control.run.instant(attached.device.served_at());
                let came = came.max(blocked_at).min(at);
                self.scheduler
                    .apply(came, Fact::Woken { task, on_behalf_of })?;
                any = true;
            }
        }
        Ok(any)
    }

    /// Whether the next release of a task, which is due at a clock reading, is there at `now`: because the clock says so, or
    /// because it was dispatched.
    pub(super) fn has_come(
        &self,
        control: &Control<'_>,
        (release, id): (u64, TaskId),
        now: u64,
    ) -> bool {
        if !control.terms.duties.has_dispatcher {
            return release <= now.saturating_add(MERGE_NANOS);
        }
        let index = id.index();
        let (task, queue) = (control.tasks.get(index), self.queues.get(index));
        let both = task.zip(queue);
        both.is_some_and(|(task, queue)| task.release_counter.is_released(queue.next_sequence))
    }

    /// Takes all releases that are due, or as good as; gives the clock reading of the last one.
    pub(super) fn take_releases(&mut self, control: &Control<'_>, now: u64) -> Step<u64> {
        let end = control.run.end.get();
        // Those that have waited longer come first.
        self.hand_on(control)?;
        let mut latest = 0;
        while let Some(&Reverse((release, id))) = self.timers.peek() {
            if !self.has_come(control, (release, id), now) {
                break;
            }
            self.timers.pop();
            if release >= end {
                continue;
            }
            let task = control.tasks.of(id)?;
            let queue = queue_of(&mut self.queues, id)?;
            let sequence = queue.next_sequence;
            queue.next_sequence += 1;
            let next = control.run.clock_at(task.release_of(queue.next_sequence));
            self.timers.push(Reverse((next, id)));
            latest = release;
            control.has_release();
            self.release(control, task, sequence)?;
        }
        Ok(latest)
    }

    /// Reports to the scheduler a release, keeps it for want of room, or drops it because as many jobs
    /// wait as may.
    fn release(&mut self, control: &Control<'_>, task: &TaskShared, sequence: u64) -> Step {
        let in_background = self.is_in_background(task);
        let queue = queue_of(&mut self.queues, task.id)?;
        if queue.backlog.kept() == 0 && may_tell(queue, in_background) {
            return self.tell_release(control, task, sequence);
        }
        let at = control
            .run
            .instant(control.run.clock_at(task.release_of(sequence)));
        let job = task.job(sequence);
        let trace = self.scheduler.sink_mut();
        trace.observed(at, Fact::Released { job });
        if queue.backlog.is_full(in_background) {
            let why = DropReason::BacklogFull;
            queue.dropped.add(why, 1);
            trace.record(at, What::Dropped { job, why });
        } else {
            queue.backlog.keep(sequence);
        }
        Ok(())
    }

    /// Reports to the scheduler kept releases for which it has room; says whether there were any.
    pub(super) fn hand_on(&mut self, control: &Control<'_>) -> Step<bool> {
        let mut any = false;
        for task in control.tasks {
            while queue_of(&mut self.queues, task.id)?.backlog.kept() > 0 {
                let in_background = self.is_in_background(task);
                let queue = queue_of(&mut self.queues, task.id)?;
                if !may_tell(queue, in_background) {
                    break;
                }
                if let Some(sequence) = queue.backlog.take_kept() {
                    self.tell_release(control, task, sequence)?;
                    any = true;
                }
            }
        }
        Ok(any)
    }

    fn tell_release(&mut self, control: &Control<'_>, task: &TaskShared, sequence: u64) -> Step {
        let (release, job) = (
            control.run.clock_at(task.release_of(sequence)),
            task.job(sequence),
        );
        let queue = queue_of(&mut self.queues, task.id)?;
        queue.staged += 1;
        queue.backlog.report(sequence);
        queue.released(sequence, release);
        self.scheduler
            .apply(control.run.instant(release), Fact::Released { job })
    }

    /// Whether the scheduler has put the current job of the task into the background.
    fn is_in_background(&self, task: &TaskShared) -> bool {
        self.scheduler.permit(task.id) == Permit::Demoted
    }
}

/// What the last plan leaves of a budget that outlives jobs, and whose it is.
#[derive(Clone, Copy)]
pub(super) struct ServerBudget {
    owner: BudgetOwner,
    remaining: u64,
    /// How much more than that the thread may use: what is taken off before the job is charged.
    tolerable: u64,
}

impl ServerBudget {
    /// What is left when so much was used that has not been charged yet.
    pub(super) const fn left(self, uncharged: u64) -> u64 {
        let most = self.remaining.saturating_add(self.tolerable);
        most.saturating_sub(uncharged)
    }
}

/// The manager looked at a job of `task` that has executed so much, of a budget that is used up at `exhausted`. `is_due`: as much
/// time has passed as was left of that.
fn note_look(
    control: &mut Control<'_>,
    task: &TaskShared,
    (sequence, executed): (u64, u64),
    (exhausted, is_due): (u64, bool),
) {
    let index = task.id.index();
    let record = &mut *control.record;
    let Some(beyond) = executed.checked_sub(exhausted) else {
        record.activations.note_within(index, sequence);
        if is_due {
            task.watched.interrupt();
        }
        return;
    };
    record.note_overshoot(beyond);
    record.activations.note_found(index, sequence, beyond);
    if record.activations.is_present() {
        task.watched.find();
    }
}

/// Whether the scheduler has room for one more release, now and in all.
fn may_tell(queue: &TaskQueue, in_background: bool) -> bool {
    queue.staged < BACKLOG_MAX && queue.backlog.has_room(in_background)
}
