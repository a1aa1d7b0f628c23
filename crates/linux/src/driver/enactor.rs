//! Reports to a guard what a native world has to, and enacts its permits.
//!
//! A job that keeps its limits and its slack never needs it. What does: a used-up limit, a worker that completed
//! beyond its limit or wants its priority back, an idle CPU, an instant for which the guard asked; a job that has
//! no slack left, its deadline, and its end.

use super::Step;
use crate::armed::Armed;
use crate::class::{restore_priorities, switch, take_out_of_real_time};
use crate::cpu::Cpu;
use crate::feature::slack::{self, Incomplete};
use crate::feature::slices::{self, Slices, waits_for_an_instant};
use crate::recording::Tracer;
use crate::request::Request;
use crate::round::ManagerRecord;
use crate::sys::clock::monotonic_nanos;
use crate::task::TaskShared;
use crate::words::Allowance;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{
    ContractViolation, Enforcer, Fact, Guard, Instant, Interest, JobId, Level, Permit, Scheduler,
    Service,
};
use vestal_trace::Recorder;

/// A guard, and what the manager remembers of what it told it.
pub(crate) struct Enactor {
    pub(crate) guard: Recorder<Guard, Tracer>,
    /// Per task: the job that was charged last, plus one, and what was reported to the guard that it executed.
    charged: Vec<(u64, u64)>,
    /// When the guard wants to be called.
    wake: Option<Instant>,
    slices: Slices,
    incomplete: Incomplete,
}

impl Enactor {
    pub(crate) fn new(guard: Recorder<Guard, Tracer>, tasks: usize) -> Self {
        Self {
            guard,
            charged: vec![(0, 0); tasks],
            wake: None,
            slices: Slices::new(tasks),
            incomplete: Incomplete::new(tasks),
        }
    }

    /// When the guard wants to be called, as a clock reading.
    pub(crate) fn wake(&self, shared: &Cpu) -> u64 {
        self.wake.map_or(u64::MAX, |wake| {
            let after = wake.saturating_since(Instant::EPOCH);
            shared.epoch().saturating_add(after.as_nanos())
        })
    }

    /// Whether the guard wants to be called at `now` or did before.
    pub(crate) fn is_due(&self, shared: &Cpu, now: u64) -> bool {
        self.wake(shared) <= now
    }

    /// Whether a worker whose job has ended waits to be heard of.
    pub(crate) fn is_end_unreported(&self, task: &TaskShared) -> bool {
        self.incomplete.is_end_unreported(task)
    }

    /// Looks at everything that could have happened. Which signal came says little: they merge.
    pub(crate) fn handle(
        &mut self,
        shared: &Cpu,
        record: &mut ManagerRecord,
        monitor_fired: bool,
    ) -> Step {
        if !shared.is_running() {
            return Ok(());
        }
        restore_priorities(shared);
        let mut jobs_ran = self.note_completed_overruns(shared)?;
        if jobs_ran {
            // The guard judges a job before the next one of its task is reported.
            self.decide(shared, record)?;
        }
        #[cfg(feature = "real")]
        crate::fault::sleep(shared);
        // The guard wants to be called; before, what suspended jobs executed since is reported.
        let due = self.is_due(shared, monotonic_nanos());
        if due {
            self.charge_suspended(shared)?;
        }
        // A rise gives new limits, which degraded tasks may have used up already. Each round stops
        // a job or raises the mode, so this ends; the bound is a safeguard, not a parameter.
        for _ in 0..=shared.tasks.len() + vestal_core::model::LEVELS_MAX {
            if !self.charge_exhausted(shared, record)? {
                break;
            }
            self.decide(shared, record)?;
            jobs_ran = true;
        }
        self.settle_slack(shared, record)?;
        // The detector may have been preempted between its report and its signal. If jobs have
        // overrun since, others may have been released behind them that have not begun: the report
        // says nothing about them, and `decide` has asked again.
        if shared.question.take_answer() && !jobs_ran {
            shared.end_demoted();
            self.settle_idle(shared, record)?;
        }
        if monitor_fired || due {
            self.rearm(shared);
        }
        Ok(())
    }

    /// Jobs that completed beyond their limit before the monitor noticed.
    fn note_completed_overruns(&mut self, shared: &Cpu) -> Step<bool> {
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

    /// Reports to the guard what suspended jobs executed since they were suspended, before it decides about their next
    /// slices.
    fn charge_suspended(&mut self, shared: &Cpu) -> Step {
        for task in &shared.tasks {
            if let Some((job, executed)) = slices::suspended(&self.guard, task) {
                self.charge(shared, job, executed)?;
            }
        }
        Ok(())
    }

    /// Lets the guard decide if it asked for that, or if jobs have no slack left, or came to their end after that.
    fn settle_slack(&mut self, shared: &Cpu, record: &mut ManagerRecord) -> Step {
        let now = shared.instant(monotonic_nanos());
        let mut reported = self.wake.is_some_and(|wake| wake <= now);
        if reported {
            self.guard.apply(now, Fact::Timer)?;
        }
        reported |= self.incomplete.report(shared, &mut self.guard, now)?;
        if reported {
            self.decide(shared, record)?;
        }
        Ok(())
    }

    /// Charges every running job that has used up its limit; says whether there was one.
    fn charge_exhausted(&mut self, shared: &Cpu, record: &mut ManagerRecord) -> Step<bool> {
        if !shared.duties.watches_budgets {
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
            record.overshoot.record(overshoot);
            record.late += u64::from(overshoot > record.late_beyond_nanos);
            self.charge(shared, job, executed)?;
            any = true;
        }
        Ok(any)
    }

    /// Reports to the guard what `job` has executed beyond what was reported before.
    fn charge(&mut self, shared: &Cpu, job: JobId, executed: u64) -> Step {
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
            slices::announce(&mut self.guard, task, job)?;
        }
        let (now, cpu) = (shared.instant(monotonic_nanos()), CPU);
        self.guard.apply(now, Fact::Charged { cpu, job, amount })
    }

    /// Lets the guard decide, and carries the permits out.
    fn decide(&mut self, shared: &Cpu, record: &mut ManagerRecord) -> Step {
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
        self.take_notices(shared, record);
        #[cfg(feature = "real")]
        crate::fault::delay(shared, crate::fault::Point::BeforeEnact);
        self.enact(shared, record, now);
        if slack::enact_ranks(shared, &self.guard) || self.guard.mode() != before {
            // The limits of running jobs have changed, or who runs, and with that what the monitors wait for.
            self.rearm(shared);
        }
        if self.guard.mode() > Level::LOWEST {
            shared.want_idle();
        }
        Ok(())
    }

    /// The CPU had nothing to run. That was an idle instant if no admitted job waits for something.
    pub(crate) fn settle_idle(&mut self, shared: &Cpu, record: &mut ManagerRecord) -> Step {
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
        self.take_notices(shared, record);
        self.enact(shared, record, now);
        Ok(())
    }

    /// Publishes the permits, and takes the CPU from jobs that lost theirs.
    fn enact(&mut self, shared: &Cpu, record: &mut ManagerRecord, now: Instant) {
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
            let job = task.job(running);
            let (guard, counts) = (&mut self.guard, &mut record.suspensions);
            if let Some(cost) = self.slices.enact(shared, guard, task, job, counts) {
                record.demotion.record(cost);
            }
            if self.loses_its_priority(job) {
                shared.demote_job(task, running);
            }
            if task.is_demoted(running) && task.demote(running) {
                self.demote(shared, record, task);
            }
        }
        self.slices.tell_who_goes_on(shared, &mut self.guard);
    }

    fn loses_its_priority(&self, job: JobId) -> bool {
        !self.guard.permit_for(job).keeps_place()
    }

    fn demote(&mut self, shared: &Cpu, record: &mut ManagerRecord, task: &TaskShared) {
        let cost = switch(shared, &mut self.guard, || {
            shared.online.burns_no_more();
            take_out_of_real_time(task);
        });
        record.demotion.record(cost);
    }

    /// Arms the monitors of running jobs for what is left of their limits.
    ///
    /// A wall timer only makes sense for the job that runs when the manager has finished, the most
    /// urgent one; whoever ends before another goes on arms that one's (`worker::resume_preempted`).
    fn rearm(&self, shared: &Cpu) {
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

    fn take_notices(&mut self, shared: &Cpu, record: &mut ManagerRecord) {
        while let Some(notice) = self.guard.take_notice() {
            shared.note_notice(&notice);
            record.note(&notice);
        }
    }
}
