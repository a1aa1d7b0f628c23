//! Reports to a guard what a native world has to, and enacts its permits.
//!
//! A job that keeps its limits and its slack never needs it. What does: a used-up limit, a worker that completed
//! beyond its limit or wants its priority back, an idle CPU, an instant for which the guard asked; a job that has
//! no slack left, its deadline, and its end.

use super::Step;
use crate::armed::Armed;
use crate::control::{Control, Traced};
use crate::feature::slack::{self, Incomplete};
use crate::feature::slices::{self, Slices, waits_for_an_instant};
use crate::pace::LeastWait;
use crate::request::Request;
use crate::sys::clock::monotonic_nanos;
use crate::task::TaskShared;
use crate::words::Allowance;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{
    ContractViolation, Enforcer, Fact, Guard, Instant, Interest, JobId, Level, Permit, Scheduler,
    Service,
};

/// A guard, and what the manager remembers of what it told it.
pub(crate) struct Enactor {
    pub(crate) guard: Traced<Guard>,
    /// Per task: the job that was charged last, plus one, and what was reported to the guard that it executed.
    charged: Vec<(u64, u64)>,
    /// When the guard wants to be called.
    wake: Option<Instant>,
    slices: Slices,
    incomplete: Incomplete,
    /// Per task: what its monitor waits at least after a look.
    least: Vec<LeastWait<u64>>,
}

impl Enactor {
    pub(crate) fn new(guard: Traced<Guard>, tasks: usize) -> Self {
        Self {
            guard,
            charged: vec![(0, 0); tasks],
            wake: None,
            slices: Slices::new(tasks),
            incomplete: Incomplete::new(tasks),
            least: vec![LeastWait::default(); tasks],
        }
    }

    /// When the guard wants to be called, as a clock reading, in a run that began at `epoch`.
    pub(crate) fn wake(&self, epoch: u64) -> u64 {
        self.wake.map_or(u64::MAX, |wake| {
            let after = wake.saturating_since(Instant::EPOCH);
            epoch.saturating_add(after.as_nanos())
        })
    }

    /// Whether the guard wants to be called at `now` or did before.
    pub(crate) fn is_due(&self, epoch: u64, now: u64) -> bool {
        self.wake(epoch) <= now
    }

    /// Whether a worker waits to be heard of: one that asks for something, or whose job has ended.
    pub(crate) fn is_called_by_a_worker(&self, tasks: &[TaskShared]) -> bool {
        let ended = |task: &TaskShared| {
            let slack = task.slack.as_ref();
            slack.is_some_and(|slack| self.incomplete.is_end_unreported(task.id, slack))
        };
        tasks.iter().any(|task| task.asks() || ended(task))
    }

    /// Looks at everything that could have happened. Which signal came says little: they merge.
    pub(crate) fn handle(&mut self, control: &mut Control<'_>, monitor_fired: bool) -> Step {
        if !control.is_running() {
            return Ok(());
        }
        control.restore_priorities();
        let mut jobs_ran = self.note_completed_overruns(control)?;
        if jobs_ran {
            // The guard judges a job before the next one of its task is reported.
            self.decide(control)?;
        }
        control.has_looked_at_ends();
        // The guard wants to be called; before, what suspended jobs executed since is reported.
        let due = self.is_due(control.run.epoch(), monotonic_nanos());
        if due {
            self.charge_suspended(control)?;
        }
        // A rise gives new limits, which degraded tasks may have used up already. Each round stops
        // a job or raises the mode, so this ends; the bound is a safeguard, not a parameter.
        for turn in 0..=control.tasks.len() + vestal_core::model::LEVELS_MAX {
            // What exceeds a limit that was lowered just now was never within it.
            if !self.charge_exhausted(control, turn == 0)? {
                break;
            }
            self.decide(control)?;
            jobs_ran = true;
        }
        self.settle_slack(control)?;
        // The detector may have been preempted between its report and its signal. If jobs have
        // overrun since, others may have been released behind them that have not begun: the report
        // says nothing about them, and `decide` has asked again.
        if control.question.take_answer() && !jobs_ran {
            control.end_demoted();
            self.settle_idle(control)?;
        }
        if monitor_fired || due {
            self.rearm(control, monitor_fired);
        }
        Ok(())
    }

    /// Jobs that completed beyond their limit before the monitor noticed.
    fn note_completed_overruns(&mut self, control: &Control<'_>) -> Step<bool> {
        let mut any = false;
        for task in control.tasks {
            let Some(Request::Overran { sequence, executed }) = task.request.look() else {
                continue;
            };
            task.request.take();
            let job = task.job(sequence);
            self.charge(control, job, executed)?;
            let now = control.now();
            self.guard.apply(now, Fact::Completed { cpu: CPU, job })?;
            any = true;
        }
        Ok(any)
    }

    /// Reports to the guard what suspended jobs executed since they were suspended, before it decides about their next
    /// slices.
    fn charge_suspended(&mut self, control: &Control<'_>) -> Step {
        for task in control.tasks {
            if let Some((job, executed)) = slices::suspended(&self.guard, task) {
                self.charge(control, job, executed)?;
            }
        }
        Ok(())
    }

    /// Lets the guard decide if it asked for that, or if jobs have no slack left, or came to their end after that.
    fn settle_slack(&mut self, control: &mut Control<'_>) -> Step {
        let now = control.now();
        let mut reported = self.wake.is_some_and(|wake| wake <= now);
        if reported {
            self.guard.apply(now, Fact::Timer)?;
        }
        reported |= self.incomplete.report(control, &mut self.guard, now)?;
        if reported {
            self.decide(control)?;
        }
        Ok(())
    }

    /// Charges every running job that has used up its limit; says whether there was one. The first time in a round, what
    /// the monitor found is noted.
    fn charge_exhausted(&mut self, control: &mut Control<'_>, is_first: bool) -> Step<bool> {
        if !control.terms.duties.watches_budgets {
            return Ok(false);
        }
        #[cfg(feature = "real")]
        if control.looks_away() {
            return Ok(false);
        }
        let mut any = false;
        for task in control.tasks {
            let Some(job) = task
                .jobs
                .running_admitted()
                .map(|sequence| task.job(sequence))
            else {
                continue;
            };
            let limit = task.limits.present_limit();
            let (Some(threshold), Some(executed)) =
                (task.limits.threshold(limit), task.jobs.executed())
            else {
                continue;
            };
            let index = job.task.index();
            if executed < threshold {
                control.record.activations.note_within(index, job.sequence);
                continue;
            }
            // A job that is suspended has been charged.
            if waits_for_an_instant(self.guard.permit_for(job)) {
                continue;
            }
            let beyond = executed - threshold;
            control.record.note_overshoot(beyond);
            if is_first {
                let activations = &mut control.record.activations;
                activations.note_found(index, job.sequence, beyond);
                if activations.is_present() {
                    task.watched.find();
                }
            }
            self.charge(control, job, executed)?;
            any = true;
        }
        Ok(any)
    }

    /// Reports to the guard what `job` has executed beyond what was reported before.
    fn charge(&mut self, control: &Control<'_>, job: JobId, executed: u64) -> Step {
        let index = job.task.index();
        let (Some(task), Some(charged)) = (control.tasks.get(index), self.charged.get_mut(index))
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
        let (now, cpu) = (control.now(), CPU);
        self.guard.apply(now, Fact::Charged { cpu, job, amount })
    }

    /// Lets the guard decide, and carries the permits out.
    fn decide(&mut self, control: &mut Control<'_>) -> Step {
        let now = control.now();
        for task in control.tasks {
            if self.guard.interest() == Interest::NewestReleases
                && let Some(sequence) = task.newest_release(now.as_nanos())
            {
                let job = task.job(sequence);
                self.guard.apply(now, Fact::Released { job })?;
            }
        }
        let before = self.guard.mode();
        self.wake = self.guard.decide(now)?.next.map(|wake| wake.at);
        self.take_notices(control);
        control.has_decided();
        self.enact(control, now);
        if slack::enact_ranks(control, &self.guard) || self.guard.mode() != before {
            // The limits of running jobs have changed, or who runs, and with that what the monitors wait for.
            self.rearm(control, false);
        }
        if self.guard.mode() > Level::LOWEST {
            control.question.ask();
        }
        Ok(())
    }

    /// The CPU had nothing to run. That was an idle instant if no admitted job waits for something.
    pub(crate) fn settle_idle(&mut self, control: &mut Control<'_>) -> Step {
        if self.guard.mode() == Level::LOWEST {
            return Ok(());
        }
        let runs = |task: &TaskShared| task.jobs.running_admitted().is_some();
        if control.tasks.iter().any(runs) {
            // Its completion will ask the idle detector again.
            return Ok(());
        }
        let now = control.now();
        // Jobs released while their task was not admitted stay dropped in mode 0: a worker that was
        // busy in the background until now has not seen them yet.
        for task in control.tasks {
            if self.guard.permit(task.id) == Permit::NotAdmitted
                && let Some(newest) = task.newest_release(now.as_nanos())
            {
                control.demote_job(task, newest);
            }
        }
        self.guard.apply(now, Fact::Idle { cpu: CPU })?;
        self.wake = self.guard.decide(now)?.next.map(|wake| wake.at);
        self.take_notices(control);
        self.enact(control, now);
        Ok(())
    }

    /// Publishes the permits, and takes the CPU from jobs that lost theirs.
    fn enact(&mut self, control: &mut Control<'_>, now: Instant) {
        control.set_mode(self.guard.mode());
        for task in control.tasks {
            if let Some(next) = Allowance::of(self.guard.permit(task.id)) {
                task.limits.next.set(next);
            }
            if let Some(newest) = task.newest_release(now.as_nanos())
                && self.loses_its_priority(task.job(newest))
            {
                control.demote_job(task, newest);
            }
            let Some(running) = task.jobs.running() else {
                continue;
            };
            let job = task.job(running);
            if let Some(cost) = self.slices.enact(control, &mut self.guard, task, job) {
                control.record.demotion.record(cost);
            }
            if self.loses_its_priority(job) {
                control.demote_job(task, running);
            }
            if task.jobs.is_demoted(running) && task.jobs.demote(running) {
                self.demote(control, task);
            }
        }
        self.slices.tell_who_goes_on(control, &mut self.guard);
    }

    fn loses_its_priority(&self, job: JobId) -> bool {
        !self.guard.permit_for(job).keeps_place()
    }

    fn demote(&mut self, control: &mut Control<'_>, task: &TaskShared) {
        let cost = control.switch(&mut self.guard, || {
            control.burns_no_more();
            task.take_out_of_real_time();
        });
        control.record.demotion.record(cost);
    }

    /// Arms the monitors of running jobs for what is left of their limits.
    ///
    /// A wall timer only makes sense for the job that runs when the manager has finished, the most
    /// urgent one; whoever ends before another goes on arms that one's (`cpu::monitors`). Those of all others stand still,
    /// with a monitor that keeps the remainder.
    ///
    /// `is_look`: a monitor fired, and this round has looked at budgets.
    fn rearm(&mut self, control: &Control<'_>, is_look: bool) {
        let mut is_armed = false;
        for task in control.tasks.by_rank() {
            let Some(sequence) = task.running_ready() else {
                continue;
            };
            if control.terms.pauses_monitors() && is_armed {
                if let Some(monitor) = task.monitor.get() {
                    monitor.stop();
                }
                continue;
            }
            let (executed, bound) = (task.jobs.executed(), control.terms.bound_nanos);
            let least = self.least.get_mut(task.id.index());
            // One that goes by the thread's CPU clock fires only when the job has executed.
            let least = least.filter(|_| matches!(task.monitor.get(), Some(Armed::Wall(_))));
            let wait = least.map_or(bound, |least| {
                least.wait(is_look, (sequence, executed.unwrap_or(0)), bound)
            });
            if let Some(Armed::Wall(_)) = task.arm_for_the_rest(wait) {
                if !control.terms.pauses_monitors() {
                    return;
                }
                is_armed = true;
            }
        }
    }

    fn take_notices(&mut self, control: &mut Control<'_>) {
        while let Some(notice) = self.guard.take_notice() {
            control.take_notice(&notice);
        }
    }
}
