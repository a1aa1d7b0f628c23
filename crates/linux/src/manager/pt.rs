//! What the manager does for jobs in slices: holds them back between two, and lets them go on.
//!
//! A job within its slices costs the manager nothing. It is called when a job has executed what it was
//! granted, as for any other limit, and when a slice begins for which a suspended job waits. A suspended worker
//! also leaves the real-time class, so that a body that cannot be suspended keeps no other thread of the run
//! from the CPU: see [`crate::suspension`].

use super::{Manager, restore_priority, take_out_of_real_time, waits_for_an_instant};
use crate::allowance::Allowance;
use crate::shared::{Shared, TaskShared};
use crate::sys::clock::monotonic_nanos;
use crate::thread::start::Step;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{Enforcer, Fact, Instant, JobId, Scheduler, StopReason};
use vestal_trace::{Record, What};

impl Manager {
    /// Reports to the guard what suspended jobs executed since they were suspended, before it decides about their next
    /// slices.
    pub(super) fn charge_suspended(&mut self, shared: &Shared) -> Step {
        for task in &shared.tasks {
            if task.is_sliced()
                && let Some(sequence) = task.running_admitted()
                && let Some(executed) = task.executed()
            {
                let job = task.job(sequence);
                if waits_for_an_instant(self.guard.permit_for(job)) {
                    self.charge(shared, job, executed)?;
                }
            }
        }
        Ok(())
    }

    /// The slices of a job count from its release, so that is reported to the guard before it is charged.
    pub(super) fn announce(&mut self, task: &TaskShared, job: JobId) -> Step {
        if !task.is_sliced() {
            return Ok(());
        }
        let released = Instant::from_nanos(task.release_of(job.sequence));
        self.guard.apply(released, Fact::Released { job })
    }

    /// Carries out what the guard allows the running job of a task with slices.
    pub(super) fn enact_slices(&mut self, shared: &Shared, task: &TaskShared, job: JobId) {
        let permit = self.guard.permit_for(job);
        match Allowance::of(permit) {
            None if waits_for_an_instant(permit) => self.suspend(shared, task, job),
            None => {}
            // It goes on outside the real-time class.
            Some(Allowance::NotAdmitted) => self.let_go(shared, task, job),
            Some(allowance) => {
                task.grant(allowance);
                self.go_on(shared, task, job);
            }
        }
    }

    /// The job has executed what it was granted.
    fn suspend(&mut self, shared: &Shared, task: &TaskShared, job: JobId) {
        let executed = task.executed().unwrap_or(0);
        let counts = &mut self.record.suspensions;
        if !task.suspension.suspend(task.tid(), executed, counts) {
            return;
        }
        shared.occupancy.burns_no_more();
        let cost = self.switch(shared, || take_out_of_real_time(task));
        self.record.demotion.record(cost);
        let (cpu, why) = (CPU, StopReason::Blocked);
        self.observed(shared, Fact::Stopped { cpu, job, why });
    }

    /// The job has a new slice; or none, and goes on as before.
    fn go_on(&mut self, shared: &Shared, task: &TaskShared, job: JobId) {
        if !task.suspension.is_suspended() {
            return;
        }
        self.switch(shared, || restore_priority(shared, task));
        self.let_go(shared, task, job);
    }

    fn let_go(&mut self, shared: &Shared, task: &TaskShared, job: JobId) {
        let executed = task.executed().unwrap_or(0);
        let counts = &mut self.record.suspensions;
        let was_suspended = task
            .suspension
            .resume(executed, shared.tolerance_nanos, counts);
        if was_suspended && let Some(resumed) = self.resumed.get_mut(job.task.index()) {
            *resumed = Some(job.sequence);
        }
    }

    /// Records which jobs go on. Of several, and of those that they do not take the CPU from,
    /// the most urgent one comes last: a reader takes the job that started last for the one that runs.
    pub(super) fn tell_who_goes_on(&mut self, shared: &Shared) {
        if self.resumed.iter().all(Option::is_none) {
            return;
        }
        let mut reported = false;
        // Whoever lost its priority goes behind all others.
        for demoted in [true, false] {
            for &index in shared.by_urgency.iter().rev() {
                let (Some(task), Some(resumed)) =
                    (shared.tasks.get(index), self.resumed.get_mut(index))
                else {
                    continue;
                };
                let goes_on = match *resumed {
                    Some(sequence) if task.is_demoted(sequence) == demoted => resumed.take(),
                    // It runs since before, and a job that is less urgent was recorded after it.
                    None if reported && !demoted && task.suspension.is_inside() => {
                        task.running_ready()
                    }
                    Some(_) | None => None,
                };
                if let Some(sequence) = goes_on {
                    reported = true;
                    let (cpu, job) = (CPU, task.job(sequence));
                    self.observed(shared, Fact::Started { cpu, job });
                }
            }
        }
    }

    fn observed(&mut self, shared: &Shared, fact: Fact) {
        let at = shared.instant(monotonic_nanos());
        let what = What::Observed(fact);
        self.guard.put(Record { at, what });
    }
}
