//! Staging: what a fact records. No consequence is drawn here (C3).

use super::configuration::has_capacity;
use super::{CPU, Hierarchy, Work};
use crate::fact::StopReason;
use crate::ids::{DeviceId, JobId, ServerId, TaskId};
use crate::scheduler::ContractViolation;
use crate::server::{ByLevel, ServerKind};
use crate::store::Store;
use crate::time::{Instant, Service};

impl<S: Store> Hierarchy<S> {
    fn work_mut(&mut self, task: TaskId) -> Result<&mut Work, ContractViolation> {
        self.work
            .get_mut(task.index())
            .ok_or(ContractViolation::UnknownTask(task))
    }

    pub(super) fn release(&mut self, at: Instant, job: JobId) -> Result<(), ContractViolation> {
        let work = self.work_mut(job.task)?;
        if work.bottom_half {
            return Err(ContractViolation::NotOfThisPolicy);
        }
        let jobs = &mut work.jobs;
        jobs.arrived.stage(&mut jobs.next_sequence, at, job)?;
        self.dirty.insert(job.task);
        self.note_work(at, job.task);
        Ok(())
    }

    /// Work for the server of `task` came then.
    fn note_work(&mut self, at: Instant, task: TaskId) {
        let home = self.tasks.get(task.index()).map(|entry| entry.server);
        if let Some(seat) = home.and_then(|home| self.seats.get_mut(home.index())) {
            seat.work_came = Some(seat.work_came.map_or(at, |first| first.min(at)));
        }
    }

    pub(super) fn interrupt(
        &mut self,
        device: DeviceId,
        count: u32,
    ) -> Result<(), ContractViolation> {
        let task = self
            .devices
            .get(device.index())
            .ok_or(ContractViolation::UnknownDevice(device))?
            .bottom_half;
        let work = self.work_mut(task)?;
        let capacity = u32::MAX as usize;
        work.staged.interrupts = work
            .staged
            .interrupts
            .checked_add(count)
            .ok_or(ContractViolation::TooManyFacts { capacity })?;
        self.dirty.insert(task);
        Ok(())
    }

    /// The latest wake-up counts, and of several hosts the one that is preferred in each mode. One that cannot be inherited is
    /// none: a world names the server of whoever waits, and does not know which those are.
    pub(super) fn wake_up(
        &mut self,
        at: Instant,
        task: TaskId,
        on_behalf_of: Option<ServerId>,
    ) -> Result<(), ContractViolation> {
        let named = self.work_mut(task)?.staged.woken_for;
        let unknown = ContractViolation::UnknownTask(task);
        let own = self.tasks.get(task.index()).ok_or(unknown)?.server;
        if let Some(served) = on_behalf_of
            && self.seats.get(served.index()).is_none()
        {
            return Err(ContractViolation::UnknownServer(served));
        }
        let on_behalf_of = on_behalf_of.filter(|&served| self.is_inheritable(own, served));
        let woken_for =
            ByLevel::from_fn(|mode| self.preferred_host(own, mode, named.at(mode), on_behalf_of));
        let work = self.work_mut(task)?;
        work.staged.woken_at = work.staged.woken_at.max(Some(at));
        work.staged.woken_for = woken_for;
        let waits = work.blocked || work.staged.blocked_at.is_some();
        self.dirty.insert(task);
        if waits {
            self.note_work(at, task);
        }
        Ok(())
    }

    /// Whether server `own` can run on behalf of `served`: a PIBS needs a period that gives it a
    /// capacity; to other servers the name means nothing.
    fn is_inheritable(&self, own: ServerId, served: ServerId) -> bool {
        let (Some(own), Some(served)) =
            (self.seats.get(own.index()), self.seats.get(served.index()))
        else {
            return false;
        };
        let ServerKind::Pibs { utilization } = own.configuration.kind else {
            return true;
        };
        let period = served.configuration.kind.period();
        period.is_some_and(|period| has_capacity(&utilization, period, self.granularity))
    }

    pub(super) fn charge(&mut self, job: JobId, amount: Service) -> Result<(), ContractViolation> {
        if self.running != Some(job) {
            return Err(ContractViolation::ChargedWhileNotRunning(job));
        }
        let overflow = ContractViolation::ChargeOverflow { job, amount };
        let unknown = ContractViolation::UnknownTask(job.task);
        let server = self.tasks.get(job.task.index()).ok_or(unknown)?.server;
        let seat = self.seats.get_mut(server.index()).ok_or(unknown)?;
        let charged = seat.charged.checked_add(amount).ok_or(overflow)?;
        let work = self.work.get_mut(job.task.index()).ok_or(unknown)?;
        let current = work.jobs.current.as_mut();
        if let Some(current) = current.filter(|current| current.arrival.sequence == job.sequence) {
            current.executed = current.executed.checked_add(amount).ok_or(overflow)?;
            work.staged.charged = true;
            self.dirty.insert(job.task);
        }
        seat.charged = charged;
        Ok(())
    }

    pub(super) fn complete(&mut self, job: JobId) -> Result<(), ContractViolation> {
        if self.running() != Some(job) {
            return Err(ContractViolation::UnknownJob(job));
        }
        self.left = true;
        self.end_of(job)
    }

    fn end_of(&mut self, job: JobId) -> Result<(), ContractViolation> {
        let work = self.work_mut(job.task)?;
        if work.jobs.current_if(job.sequence).is_some() {
            work.jobs.completed = true;
            self.dirty.insert(job.task);
        }
        Ok(())
    }

    pub(super) fn start(&mut self, at: Instant, job: JobId) -> Result<(), ContractViolation> {
        if let Some(running) = self.running() {
            return Err(ContractViolation::CpuBusy { cpu: CPU, running });
        }
        let work = self.work_mut(job.task)?;
        if work.jobs.current_if(job.sequence).is_none() || work.jobs.completed {
            return Err(ContractViolation::UnknownJob(job));
        }
        self.running = Some(job);
        self.left = false;
        let server = self.tasks.get(job.task.index()).map(|entry| entry.server);
        if let Some(seat) = server.and_then(|server| self.seats.get_mut(server.index())) {
            seat.started = Some(seat.started.map_or(at, |first| first.min(at)));
        }
        Ok(())
    }

    pub(super) fn stop(
        &mut self,
        at: Instant,
        job: JobId,
        why: StopReason,
    ) -> Result<(), ContractViolation> {
        if self.running() != Some(job) {
            return Err(ContractViolation::UnknownJob(job));
        }
        self.left = true;
        match why {
            StopReason::Preempted => Ok(()),
            StopReason::Blocked => {
                let work = self.work_mut(job.task)?;
                if work.jobs.current_if(job.sequence).is_some() {
                    work.staged.blocked_at = work.staged.blocked_at.max(Some(at));
                    self.dirty.insert(job.task);
                }
                Ok(())
            }
            // The body is gone: whatever the job still stood for, it has ended.
            StopReason::Cancelled => self.end_of(job),
        }
    }
}
