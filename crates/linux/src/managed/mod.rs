//! *Managed dispatch* on one CPU: a manager asks a scheduler what to run, and carries its plans out
//! with three priorities.
//!
//! | class | where | who |
//! |---|---|---|
//! | manager | the highest SCHED_FIFO priority of the run | the manager |
//! | run | SCHED_FIFO below it | the worker of the job that the plan names, and workers without a job, which are blocked |
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

mod backlog;
mod handover;
mod manager;
mod pending;

pub(crate) use handover::{Assignment, Handover};
pub(crate) use manager::Dispatcher;

use crate::words::Bell;
use std::sync::atomic::{AtomicU64, Ordering};
use vestal_core::JobId;

/// What managed dispatch adds to the words that threads share.
#[derive(Debug, Default)]
pub(crate) struct Managed {
    /// Whether the manager waits for [`Self::calls`], rather than for the signals of a monitor.
    pub(crate) waits_on_futex: bool,
    /// For the manager.
    pub(crate) calls: Bell,
    /// Written by the manager: the job that the plan names; 0: none.
    planned: AtomicU64,
    inversions: AtomicU64,
}

impl Managed {
    pub(crate) fn new(waits_on_futex: bool) -> Self {
        Self {
            waits_on_futex,
            ..Self::default()
        }
    }

    pub(crate) fn plan(&self, job: Option<JobId>) {
        self.planned.store(job.map_or(0, word_of), Ordering::SeqCst);
    }

    /// Whether the plan names `job`.
    pub(crate) fn names(&self, job: JobId) -> bool {
        self.planned.load(Ordering::SeqCst) == word_of(job)
    }

    /// A worker finds itself running a job that the plan names or not. If not, it counts an inversion,
    /// unless the last look found the same already; says whether all is in order.
    pub(crate) fn observe(&self, named: bool, in_order: bool) -> bool {
        if !named && in_order {
            self.inversions.fetch_add(1, Ordering::SeqCst);
        }
        named
    }

    pub(crate) fn inversions(&self) -> u64 {
        self.inversions.load(Ordering::SeqCst)
    }
}

/// A job as one word other than 0. No run lasts for 2^48 jobs of one task.
fn word_of(job: JobId) -> u64 {
    const SEQUENCE_BITS: u32 = 48;
    (u64::from(job.task.0) << SEQUENCE_BITS)
        | (job.sequence.wrapping_add(1) & ((1 << SEQUENCE_BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::TaskId;

    const fn job(task: u16, sequence: u64) -> JobId {
        JobId {
            task: TaskId(task),
            sequence,
        }
    }

    #[test]
    fn an_inversion_is_counted_once() {
        let managed = Managed::new(true);
        managed.plan(Some(job(1, 0)));
        assert!(managed.observe(managed.names(job(1, 0)), true));
        assert_eq!(managed.inversions(), 0);
        assert!(!managed.observe(managed.names(job(0, 0)), true));
        assert!(!managed.observe(managed.names(job(0, 0)), false));
        assert!(!managed.observe(managed.names(job(1, 1)), true));
        assert_eq!(managed.inversions(), 2);
        managed.plan(None);
        assert!(!managed.observe(managed.names(job(0, 0)), true));
    }
}
