//! Jobs that find no room in the scheduler's bounded backlog: the world keeps them, and reports them
//! when there is room (contract C7).
//!
//! ```text
//!               room              no room                    room (1)
//!  reported <------------ arrived --------> kept ------------------------> reported
//!                                            | its task is not admitted (2), or more wait than may (3)
//!                                            +------------------------------> discarded
//! ```
//! (1) `hand_on`, (2) `discard_with`, (3) `discard_surplus`.
//!
//! After each instant, I1: what is kept of a task is younger than all that was reported of it, and I2: while
//! something is kept, as much was reported as there is room for, so that the scheduler sees no idle instant.
//! The order of C3 decides who has room: an end that is reported makes room before the decision, one that the
//! decision brings about makes room after it, and then the scheduler is asked once more at the same
//! instant. Whether a job that arrives is one too many is known after that.

use super::{Step, World, report};
use crate::count;
use crate::error::SimulationError;
use crate::observer::{JobState, Observer};
use crate::outside::Surroundings;
use crate::workload::{Demand, Releases};
use vestal_core::job_table::BACKLOG_MAX;
use vestal_core::{DropReason, Fact, Scheduler, TaskId};

impl<'a, S, R, D, O, X, const ALONE: bool> World<'a, '_, S, R, D, O, X, ALONE>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
    X: Surroundings<'a>,
{
    /// Releases a job of a task that has pending ones.
    #[cold]
    #[inline(never)]
    pub(super) fn release_behind(&mut self, task: TaskId, sequence: u64) -> Step {
        let job = self.arrival(task, sequence);
        if self.jobs[task.index()].push(job, self.room) {
            self.tell_of(&job)
        } else {
            self.keep(job)
        }
    }

    /// Keeps a job that arrives just now. With as many as may be kept the run ends, and the observers
    /// are reported so.
    fn keep(&mut self, job: JobState) -> Step {
        let (at, task) = (self.now, job.id.task);
        let kept = self.kept;
        if kept >= self.setting.backlog.kept_max {
            self.finish();
            return Err(Box::new(SimulationError::TooManyKept { at, kept }));
        }
        let pending = &mut self.jobs[task.index()];
        if pending.kept() == 0 {
            self.crowded.push(task);
        }
        pending.keep(job);
        self.kept += 1;
        count(&mut self.admitted);
        count(&mut self.fresh);
        self.observer.released(at, &job);
        self.observer.kept(at, &job);
        Ok(())
    }

    /// Reports kept jobs to the scheduler for which there is room; says whether there were any.
    #[cold]
    #[inline(never)]
    pub(super) fn hand_on(&mut self) -> Step<bool> {
        let before = self.kept;
        // What arrives at the end is not part of the run, and no room is needed for it.
        if before == 0 || self.now >= self.end {
            return Ok(false);
        }
        for &task in &self.crowded {
            let pending = &mut self.jobs[task.index()];
            // A scheduler has room for no more arrivals of a task at once.
            for _ in 0..BACKLOG_MAX {
                let Some(job) = pending.hand_on(self.room) else {
                    break;
                };
                self.kept -= 1;
                let released = Fact::Released { job: job.id };
                report(self.scheduler, &mut self.effort, job.released, released)?;
            }
        }
        self.forget_uncrowded();
        Ok(self.kept < before)
    }

    /// After a decision: reports those to the scheduler for which it made room, until there are none, and
    /// drops those that are too many. Says whether it wants something else than what runs; `differs` is
    /// what it said so far.
    #[cold]
    #[inline(never)]
    pub(super) fn settle_kept(&mut self, mut differs: bool) -> Step<bool> {
        while self.hand_on()? {
            differs = self.ask()?;
        }
        self.discard_surplus();
        Ok(differs)
    }

    /// A rise of the mode has dropped jobs of `task`: those that are kept from earlier instants are lost
    /// with them. What arrived just now is admitted or not after that.
    #[cold]
    pub(super) fn discard_with(&mut self, task: TaskId) {
        let now = self.now;
        while let Some(job) = self
            .jobs
            .get_mut(task.index())
            .and_then(|pending| pending.take_kept_before(now))
        {
            self.discard(&job, DropReason::Mode);
        }
        self.forget_uncrowded();
    }

    /// Drops the jobs that arrived just now although as many as may wait do.
    fn discard_surplus(&mut self) {
        let Some(most) = self.setting.backlog.per_task else {
            return;
        };
        for position in 0..self.crowded.len() {
            let task = self.crowded[position];
            while let Some(job) = self.jobs[task.index()].take_kept_beyond(most) {
                self.discard(&job, DropReason::BacklogFull);
            }
        }
        self.forget_uncrowded();
    }

    fn discard(&mut self, job: &JobState, why: DropReason) {
        self.kept -= 1;
        self.leave(job.released);
        self.observer.discarded(self.now, job, why);
    }

    fn forget_uncrowded(&mut self) {
        let jobs = &self.jobs;
        self.crowded.retain(|task| jobs[task.index()].kept() > 0);
    }
}
