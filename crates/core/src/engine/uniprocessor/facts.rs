//! Staging: what a fact records. No consequence is drawn here (C3).

use super::{CPU, Reported, Uniprocessor};
use crate::fact::StopReason;
use crate::ids::JobId;
use crate::job_table::{BACKLOG_MAX, Staged};
use crate::scheduler::ContractViolation;
use crate::store::Store;
use crate::time::{Instant, Service};

impl<S: Store> Uniprocessor<S> {
    #[inline(always)]
    pub(super) fn release(&mut self, at: Instant, job: JobId) -> Result<(), ContractViolation> {
        let jobs = self
            .jobs
            .get_mut(job.task.index())
            .ok_or(ContractViolation::UnknownTask(job.task))?;
        if job.sequence < jobs.next_sequence {
            return Err(ContractViolation::ReleaseOutOfOrder(job));
        }
        let Some(next) = job.sequence.checked_add(1) else {
            return Err(ContractViolation::ReleaseOutOfOrder(job));
        };
        let sequence = job.sequence;
        if !jobs.arrived.push(Staged { sequence, at }) {
            return Err(ContractViolation::TooManyFacts {
                capacity: BACKLOG_MAX,
            });
        }
        jobs.next_sequence = next;
        self.arrived.insert(job.task);
        // A job with a limit of nothing, which did not run, is beyond it all the same.
        if jobs.current.is_some() {
            self.dirty.insert(job.task);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn charge(&mut self, job: JobId, amount: Service) -> Result<(), ContractViolation> {
        if self.running != Some(job) {
            return Err(ContractViolation::ChargedWhileNotRunning(job));
        }
        let jobs = self
            .jobs
            .get_mut(job.task.index())
            .ok_or(ContractViolation::UnknownTask(job.task))?;
        // A job dropped by the last plan goes on until the world confirms that it stopped: what
        // it executes meanwhile counts for nothing.
        let Some(current) = jobs.current.as_mut() else {
            return Ok(());
        };
        if current.arrival.sequence != job.sequence {
            return Ok(());
        }
        current.executed = current
            .executed
            .checked_add(amount)
            .ok_or(ContractViolation::ChargeOverflow { job, amount })?;
        // Whether that is its limit is a matter of the decision: most jobs that reach it complete there.
        self.reported.add(Reported::CHARGED);
        Ok(())
    }

    #[inline]
    pub(super) fn complete(&mut self, job: JobId) -> Result<(), ContractViolation> {
        if self.running() != Some(job) {
            return Err(ContractViolation::UnknownJob(job));
        }
        self.left = true;
        self.finish(job);
        Ok(())
    }

    #[inline]
    pub(super) fn start(&mut self, job: JobId) -> Result<(), ContractViolation> {
        if let Some(running) = self.running() {
            return Err(ContractViolation::CpuBusy { cpu: CPU, running });
        }
        let jobs = self
            .jobs
            .get(job.task.index())
            .ok_or(ContractViolation::UnknownTask(job.task))?;
        match jobs.current_if(job.sequence) {
            Some(_) if !jobs.completed => {
                if self.reported != Reported::NOTHING {
                    self.remember_running();
                }
                self.running = Some(job);
                self.left = false;
                Ok(())
            }
            Some(_) | None => Err(ContractViolation::UnknownJob(job)),
        }
    }

    #[inline]
    pub(super) fn stop(&mut self, job: JobId, why: StopReason) -> Result<(), ContractViolation> {
        if self.running() != Some(job) {
            return Err(ContractViolation::UnknownJob(job));
        }
        self.left = true;
        match why {
            StopReason::Preempted | StopReason::Blocked => {}
            // The body is gone: whatever the job still stood for, it has ended.
            StopReason::Cancelled => self.finish(job),
        }
        Ok(())
    }

    /// The running job has ended, unless it had been dropped before.
    #[inline]
    fn finish(&mut self, job: JobId) {
        if let Some(jobs) = self.jobs.get_mut(job.task.index())
            && jobs.current_if(job.sequence).is_some()
        {
            jobs.completed = true;
            self.reported.add(Reported::FINISHED);
        }
    }

    /// Another job follows one of which something was reported.
    #[cold]
    fn remember_running(&mut self) {
        let reported = core::mem::take(&mut self.reported);
        let Some(job) = self.running else {
            return;
        };
        if reported.is_finished() {
            self.completed.insert(job.task);
        } else {
            self.dirty.insert(job.task);
        }
    }
}
