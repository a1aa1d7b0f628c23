//! One worker in the hands of a manager that dispatches its jobs.

use super::clock::cpu_of;
use crate::account::Suspensions;
use crate::job::Ended;
use crate::sys::{self, Processor};
use crate::task::{Assignment, TaskShared};
use std::io;
use vestal_core::{CpuId, Level};

/// A worker, which has one job at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worker<'a>(&'a TaskShared);

impl<'a> Worker<'a> {
    pub(crate) const fn of(task: &'a TaskShared) -> Self {
        Self(task)
    }

    pub(crate) const fn task(self) -> &'a TaskShared {
        self.0
    }

    /// The clock of its thread; `None` if that is gone.
    pub(crate) fn clock(self) -> Option<u64> {
        cpu_of(&self.0.jobs)
    }

    /// When job `sequence` is released, in nanoseconds after the epoch.
    pub(crate) fn release_of(self, sequence: u64) -> u64 {
        self.0.release_of(sequence)
    }

    /// Lets it begin job `sequence`, which was released when the clock said `release`.
    pub(crate) fn assign(self, sequence: u64, release: u64) {
        self.0.handover.assign(Assignment { sequence, release });
    }

    /// Says that job `sequence` was released, by another manager than the worker's own.
    pub(crate) fn note_release(self, sequence: u64) {
        self.0.release_counter.note_release(sequence);
    }

    /// Whether somebody said so.
    pub(crate) fn is_released(self, sequence: u64) -> bool {
        self.0.release_counter.is_released(sequence)
    }

    /// Whether a job came back of which the manager has not heard yet.
    pub(crate) fn is_handed_back(self) -> bool {
        self.0.handover.is_handed_back()
    }

    /// The job that came back.
    pub(crate) fn take_done(self) -> Option<Ended> {
        self.0.handover.take_done()
    }

    /// This CPU has it from now on. Before the manager looks for an end of its job.
    pub(crate) fn move_to(self, cpu: CpuId) {
        self.0.host.move_to(cpu.0);
    }

    /// It may run on this processor only.
    pub(crate) fn pin(self, processor: Processor) -> io::Result<()> {
        sys::sched::pin(self.0.jobs.tid(), processor)
    }

    /// It is no thread of the real-time class any more.
    pub(crate) fn lower(self) {
        // Leaving the real-time class needs no right.
        let _ = sys::sched::set_other(self.0.jobs.tid());
    }

    /// It executes nothing of a body from now on, on whatever CPU.
    pub(crate) fn hold(self, counts: &mut Suspensions) {
        let suspension = &self.0.suspension;
        if suspension.is_held_anywhere() {
            return;
        }
        let executed = self.0.jobs.executed().unwrap_or(0);
        suspension.suspend_anywhere(self.0.jobs.tid(), executed, counts);
    }

    /// It goes on, if it was held.
    pub(crate) fn let_go(self, tolerance: u64, counts: &mut Suspensions) {
        let executed = self.0.jobs.executed().unwrap_or(0);
        self.0.suspension.resume(executed, tolerance, counts);
    }

    /// Its job used up the limit of a level; says whether that is the limit of its own level.
    pub(crate) fn note_overrun(self, sequence: u64, level: Level) -> bool {
        self.0.note_overrun(sequence, level)
    }
}
