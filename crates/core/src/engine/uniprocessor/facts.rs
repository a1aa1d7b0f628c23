//! Staging: what a fact records. No consequence is drawn here (C3).

use super::settle::is_used_up;
use super::{CPU, Uniprocessor};
use crate::fact::StopReason;
use crate::ids::JobId;
use crate::job_table::{Arrival, BACKLOG_MAX};
use crate::order::JobPriority;
use crate::scheduler::ContractViolation;
use crate::store::Store;
use crate::time::{Instant, Service};

impl<S: Store> Uniprocessor<S> {
    #[inline]
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
        if !jobs.arrived.push(Arrival {
            sequence: job.sequence,
            at,
            priority: JobPriority::BEYOND_PATTERN,
        }) {
            return Err(ContractViolation::TooManyFacts {
                capacity: BACKLOG_MAX,
            });
        }
        jobs.next_sequence = next;
        self.arrived.insert(job.task);
        self.staged.arrived = true;
        // A job with a limit of nothing, which did not run, is beyond it all the same.
        if jobs.current.is_some() {
            self.touch(job.task);
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
        // A job withdrawn by the last plan goes on until the world confirms that it stopped: what
        // it executes meanwhile concerns nobody.
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
        // Most charges leave the job below its limit, and then there is nothing to settle: until the
        // decision the mode stays, and a rise touches those whose limit it lowers.
        let (executed, completed) = (current.executed, jobs.completed);
        let used_up = self.tasks.get(job.task.index()).is_some_and(|entry| {
            let limit = self.enforcement.limit(&entry.task, self.mode);
            is_used_up(limit, executed, self.granularity)
        });
        if used_up && !completed {
            let before = self.at_limit.replace(job.task);
            if let Some(other) = before.filter(|&other| other != job.task) {
                self.touch(other);
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn complete(&mut self, job: JobId) -> Result<(), ContractViolation> {
        if self.running() != Some(job) {
            return Err(ContractViolation::UnknownJob(job));
        }
        self.left = true;
        if let Some(jobs) = self.jobs.get_mut(job.task.index())
            && jobs.current_if(job.sequence).is_some()
        {
            jobs.completed = true;
            self.completed.insert(job.task);
            self.staged.completed = true;
            if self.at_limit == Some(job.task) {
                self.at_limit = None;
            }
        }
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
            StopReason::Cancelled => {
                if let Some(jobs) = self.jobs.get_mut(job.task.index())
                    && jobs.current_if(job.sequence).is_some()
                {
                    jobs.completed = true;
                    self.completed.insert(job.task);
                    self.staged.completed = true;
                    if self.at_limit == Some(job.task) {
                        self.at_limit = None;
                    }
                }
            }
        }
        Ok(())
    }
}
