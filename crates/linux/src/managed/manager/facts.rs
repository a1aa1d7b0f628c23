//! What the manager tells the scheduler: what ran, what ended, what was released.

use super::Dispatcher;
use crate::managed::handover::Done;
use crate::managed::pending::Class;
use crate::manager::id_of;
use crate::shared::Shared;
use crate::worker::job_of;
use std::cmp::Reverse;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::fact::StopReason;
use vestal_core::job_table::BACKLOG_MAX;
use vestal_core::{ContractViolation, DropReason, Fact, Instant, JobId, Scheduler, Service};
use vestal_trace::What;

/// Releases that are no further apart than this are one event.
const MERGE_NANOS: u64 = 1_000;

impl Dispatcher {
    /// Charges the running job what its thread's clock says (C2).
    pub(super) fn charge_running(
        &mut self,
        shared: &Shared,
        now: u64,
    ) -> Result<(), ContractViolation> {
        let Some(job) = self.running else {
            return Ok(());
        };
        let (Some(task), Some(lane)) = (
            shared.tasks.get(job.task.index()),
            self.lanes.get(job.task.index()),
        ) else {
            return Ok(());
        };
        let executed = lane.executed(task, job.sequence);
        let at = shared.instant(now);
        if let Some(exhausted) = self.exhausted_at(shared, job)
            && executed >= exhausted
        {
            let overshoot = executed - exhausted;
            self.record.overshoot.record(overshoot);
            self.record.late += u64::from(overshoot > self.record.late_beyond_nanos);
        }
        self.charge(shared, at, job, executed)
    }

    /// Tells the scheduler what `job` has executed, less what this world itself adds to a job.
    fn charge(
        &mut self,
        shared: &Shared,
        at: Instant,
        job: JobId,
        executed: u64,
    ) -> Result<(), ContractViolation> {
        let Some(lane) = self.lanes.get_mut(job.task.index()) else {
            return Err(ContractViolation::UnknownTask(job.task));
        };
        if !shared.enforce {
            return Ok(());
        }
        let amount = lane.tell(
            job.sequence,
            executed.saturating_sub(shared.tolerance_nanos),
        );
        if amount == 0 {
            return Ok(());
        }
        let amount = Service::from_nanos(amount);
        let fact = Fact::Charged {
            cpu: CPU,
            job,
            amount,
        };
        self.scheduler.apply(at, fact)
    }

    /// The execution at which the budget of `job` that the last plan named is used up.
    pub(super) fn exhausted_at(&self, shared: &Shared, job: JobId) -> Option<u64> {
        let slot = self.slot.filter(|slot| shared.enforce && slot.job == job)?;
        // What a job in the background uses up is nobody's.
        let task = shared.tasks.get(job.task.index())?;
        if task.withdrawn(job.sequence) {
            return None;
        }
        let told = self.lanes.get(job.task.index())?.told(job.sequence);
        let remaining = slot.budget?.remaining.as_nanos();
        Some(
            told.saturating_add(remaining)
                .saturating_add(shared.tolerance_nanos),
        )
    }

    /// Takes the ends of jobs from the workers.
    pub(super) fn take_ends(&mut self, shared: &Shared) -> Result<(), ContractViolation> {
        for (index, task) in shared.tasks.iter().enumerate() {
            let Some(done) = task.handover.take_done() else {
                continue;
            };
            let job = JobId {
                task: id_of(index),
                sequence: done.sequence,
            };
            self.set_class(shared, index, Class::Run);
            let running = self.running;
            let Some(lane) = self.lanes.get_mut(index) else {
                continue;
            };
            lane.busy = None;
            if running == Some(job) {
                let executed = done.executed.saturating_add(lane.carried());
                self.end(shared, job, done, executed)?;
                continue;
            }
            lane.end_cleaning(task);
            match running {
                // The way is free for the job in whose name the worker came here.
                Some(next) if next.task == job.task => self.assign(shared, next),
                Some(_) | None => lane.ended = Some((done.sequence, done.whole)),
            }
        }
        Ok(())
    }

    /// The running job has ended.
    fn end(
        &mut self,
        shared: &Shared,
        job: JobId,
        done: Done,
        executed: u64,
    ) -> Result<(), ContractViolation> {
        let at = shared.instant(done.finished);
        self.charge(shared, at, job, executed)?;
        self.running = None;
        self.scheduler.apply(at, end_of(job, done.whole))
    }

    /// Takes all releases that are due, or as good as; gives the clock reading of the last one.
    pub(super) fn take_releases(
        &mut self,
        shared: &Shared,
        now: u64,
        end: u64,
    ) -> Result<u64, ContractViolation> {
        let mut latest = 0;
        while let Some(&Reverse((release, index))) = self.timers.peek() {
            if release > now.saturating_add(MERGE_NANOS) {
                break;
            }
            self.timers.pop();
            let (Some(task), Some(lane)) = (shared.tasks.get(index), self.lanes.get_mut(index))
            else {
                continue;
            };
            if release >= end {
                continue;
            }
            let period = task.configuration.task.period.as_nanos();
            self.timers
                .push(Reverse((release.saturating_add(period), index)));
            let sequence = lane.next_sequence;
            lane.next_sequence += 1;
            if lane.staged == BACKLOG_MAX {
                // The machine was away for that many periods.
                lane.dropped += 1;
                let (at, job) = (shared.instant(release), job_of(id_of(index), sequence));
                let why = DropReason::BacklogFull;
                let trace = self.scheduler.sink_mut();
                trace.observed(at, Fact::Released { job });
                trace.record(at, What::Dropped { job, why });
                continue;
            }
            lane.staged += 1;
            lane.released(sequence, release);
            latest = release;
            let job = JobId {
                task: id_of(index),
                sequence,
            };
            self.scheduler
                .apply(shared.instant(release), Fact::Released { job })?;
        }
        Ok(latest)
    }
}

pub(super) const fn end_of(job: JobId, whole: bool) -> Fact {
    if whole {
        Fact::Completed { cpu: CPU, job }
    } else {
        Fact::Stopped {
            cpu: CPU,
            job,
            why: StopReason::Cancelled,
        }
    }
}
