//! What a scheduler says beside its plans, and what follows for the jobs.

use super::{Step, World, find};
use crate::costs::Cause;
use crate::error::SimulationError;
use crate::observer::{JobState, Observer};
use crate::outside::Surroundings;
use crate::workload::{Demand, Releases};
use vestal_core::{DropReason, Event, JobId, Level, Notice, Scheduler};

impl<'a, S, R, D, O, X, const ALONE: bool> World<'a, '_, S, R, D, O, X, ALONE>
where
    S: Scheduler + ?Sized,
    R: Releases + ?Sized,
    D: Demand + ?Sized,
    O: Observer + ?Sized,
    X: Surroundings<'a>,
{
    /// Passes on what the scheduler says, of which `first` is the beginning.
    #[cold]
    pub(super) fn hear_notices(&mut self, first: Notice) -> Step {
        let at = self.now;
        let mut next = Some(first);
        while let Some(notice) = next {
            match notice.what {
                Event::ModeChanged { from, to, cause } => {
                    self.observer.mode_changed(at, from, to, cause);
                    self.charge_all(Cause::Mode);
                }
                Event::Overrun { job, level, .. } => {
                    self.observer.overran(at, job, level);
                    self.demote(job, level);
                }
                Event::Dropped { job, why } => {
                    if let Some(state) = self.forget(job) {
                        if let Some(outside) = self.outside.outside() {
                            outside.forget(job);
                        }
                        self.observer.dropped(at, &state, why);
                        // One that arrives just now has not begun: nothing has to be terminated.
                        if why == DropReason::Mode && state.released < at {
                            self.charge_termination(job.task);
                        }
                    }
                    if why == DropReason::Mode && self.kept > 0 {
                        self.discard_with(job.task);
                    }
                }
                Event::Depleted { server } => self.observer.depleted(at, server),
                Event::Postponed { server, amount } => {
                    self.observer.postponed(at, server, amount);
                }
                Event::FrameOverrun { frame } => self.observer.frame_overran(at, frame),
                Event::FramesSkipped { first, count } => {
                    self.observer.frames_skipped(at, first, count);
                }
                Event::Late { .. } => {}
            }
            next = self.scheduler.take_notice();
        }
        self.look_for_lost_notices()
    }

    #[cold]
    pub(super) fn look_for_lost_notices(&self) -> Step {
        let (at, lost) = (self.now, self.scheduler.lost_notices());
        if lost > self.lost {
            let lost = lost - self.lost;
            return Err(Box::new(SimulationError::NoticesLost { at, lost }));
        }
        Ok(())
    }

    /// A job that used up the limit of its own level, or of a mode above it, was demoted or dropped, if that is what its
    /// scheduler does then.
    fn demote(&mut self, id: JobId, level: Level) {
        let own = self
            .setting
            .tasks
            .get(id.task.index())
            .map(|task| task.criticality);
        let at = self.now;
        if own.is_none_or(|own| level < own) || !self.scheduler.stops_at_own_limit() {
            return;
        }
        if let Some(job) = find(&mut self.jobs, id)
            && job.demoted.is_none()
        {
            job.demoted = Some(at);
            let job = *job;
            self.leave(job.released);
            self.observer.demoted(at, &job);
            self.charge_task(id.task, Cause::Exhaustion);
        }
    }

    fn forget(&mut self, id: JobId) -> Option<JobState> {
        let job = self.jobs.get_mut(id.task.index())?.remove(id)?;
        if job.demoted.is_none() {
            self.leave(job.released);
        }
        Some(job)
    }
}
