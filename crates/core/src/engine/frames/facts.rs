//! Staging: what a fact records. No consequence is drawn here (C3).

use super::{Cpu, Frames, Phase};
use crate::fact::StopReason;
use crate::ids::{BarrierId, CpuId, JobId};
use crate::model::Level;
use crate::scheduler::ContractViolation;
use crate::store::Store;
use crate::time::Instant;

impl<S: Store> Frames<S> {
    pub(super) fn cpu(&mut self, cpu: CpuId) -> Result<&mut Cpu, ContractViolation> {
        self.cpus
            .get_mut(cpu.index())
            .ok_or(ContractViolation::UnknownCpu(cpu))
    }

    pub(super) fn release(&mut self, at: Instant, job: JobId) -> Result<(), ContractViolation> {
        let jobs = self
            .jobs
            .get_mut(job.task.index())
            .ok_or(ContractViolation::UnknownTask(job.task))?;
        jobs.arrived.stage(&mut jobs.next_sequence, at, job)?;
        self.dirty.insert(job.task);
        Ok(())
    }

    /// Only the time counts here: what a job executed concerns its sub-frame only.
    pub(super) fn charge(&mut self, cpu: CpuId, job: JobId) -> Result<(), ContractViolation> {
        if self.cpu(cpu)?.running == Some(job) {
            Ok(())
        } else {
            Err(ContractViolation::ChargedWhileNotRunning(job))
        }
    }

    /// The job in the sequence of this CPU, if it is not complete.
    fn check_placed(&self, cpu: CpuId, job: JobId) -> Result<(), ContractViolation> {
        self.jobs
            .get(job.task.index())
            .ok_or(ContractViolation::UnknownTask(job.task))?
            .placed
            .filter(|placed| {
                placed.sequence == job.sequence && placed.cpu == cpu.index() && !placed.completed
            })
            .map(|_| ())
            .ok_or(ContractViolation::UnknownJob(job))
    }

    fn mark_completed(&mut self, cpu: CpuId, job: JobId) -> Result<(), ContractViolation> {
        let entry = self.cpu(cpu)?;
        entry.completed = entry.completed.saturating_add(1);
        if entry.running == Some(job) {
            entry.running = None;
        }
        if let Some(jobs) = self.jobs.get_mut(job.task.index())
            && let Some(placed) = jobs.placed.as_mut()
        {
            placed.completed = true;
        }
        Ok(())
    }

    /// A worker that walks by itself may report a completion without a start before it.
    pub(super) fn complete(&mut self, cpu: CpuId, job: JobId) -> Result<(), ContractViolation> {
        let running = self.cpu(cpu)?.running;
        self.check_placed(cpu, job)?;
        if running.is_some_and(|running| running != job) {
            return Err(ContractViolation::UnknownJob(job));
        }
        self.mark_completed(cpu, job)
    }

    pub(super) fn start(&mut self, cpu: CpuId, job: JobId) -> Result<(), ContractViolation> {
        if let Some(running) = self.cpu(cpu)?.running {
            return Err(ContractViolation::CpuBusy { cpu, running });
        }
        self.check_placed(cpu, job)?;
        self.cpu(cpu)?.running = Some(job);
        Ok(())
    }

    pub(super) fn stop(
        &mut self,
        cpu: CpuId,
        job: JobId,
        why: StopReason,
    ) -> Result<(), ContractViolation> {
        if self.cpu(cpu)?.running != Some(job) {
            return Err(ContractViolation::UnknownJob(job));
        }
        match why {
            StopReason::Preempted | StopReason::Blocked => {
                self.cpu(cpu)?.running = None;
                Ok(())
            }
            // The body is gone: the sequence goes on with the next job.
            StopReason::Cancelled => self.mark_completed(cpu, job),
        }
    }

    pub(super) fn reach(
        &mut self,
        cpu: CpuId,
        barrier: BarrierId,
    ) -> Result<(), ContractViolation> {
        let rows = self.shape.frames.saturating_mul(self.shape.levels.count());
        let known = usize::try_from(barrier.0).is_ok_and(|position| position < rows);
        let present = match self.phase {
            Phase::Running(level) => self.present_barrier(level) == Some(barrier),
            Phase::BetweenFrames | Phase::Next(_) => false,
        };
        let entry = self.cpu(cpu)?;
        if !known {
            return Err(ContractViolation::UnknownBarrier(barrier));
        }
        if present {
            entry.reached = true;
            entry.running = None;
        }
        Ok(())
    }

    pub(super) fn present_barrier(&self, criticality: Level) -> Option<BarrierId> {
        self.barrier(self.row(), criticality)
    }
}
