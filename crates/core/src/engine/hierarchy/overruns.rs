//! Jobs that used more than the mode allows: under [`Modes::Adaptive`] they raise it.
//!
//! A job of a task above the mode, in a server with a period, that has used its execution time C(mode) and is
//! neither done nor blocked raises the mode to the next level with a larger one. A job that is complete, or blocked, is
//! judged by what it used beyond the world's granularity (C2). Judged is who ran since the last decision, and be it for no
//! time: a job that blocked exactly at C(mode) may complete as soon as it goes on, and gets a slot without budget to show
//! it.

use super::{Hierarchy, Modes};
use crate::ids::{JobId, ServerId, TaskId};
use crate::model::Level;
use crate::notice::Event;
use crate::server::{Server, ServerKind};
use crate::store::Store;
use crate::time::Service;

impl<S: Store> Hierarchy<S> {
    pub(super) fn settle_overruns(&mut self) {
        let Modes::Adaptive { pibs_raise } = self.modes else {
            return;
        };
        let began_in = self.mode;
        self.for_dirty(|engine, task| engine.settle_completed_overrun(task, began_in));
        // A rise may leave a job, looked at before, with less than it has used.
        loop {
            let mode = self.mode;
            self.for_dirty(Self::settle_overrun);
            if self.mode == mode {
                break;
            }
        }
        self.for_servers(|engine, id| {
            let seat = engine.seats.get_mut(id.index());
            let ran_out = seat.is_some_and(|seat| core::mem::take(&mut seat.ran_out));
            if ran_out && pibs_raise {
                engine.settle_exhausted_pibs(id);
            }
        });
    }

    /// To which mode the current job of `task` can raise `mode`.
    pub(super) fn next_mode(&self, task: TaskId, mode: Level) -> Option<Level> {
        let work = self.work.get(task.index())?;
        if work.bottom_half || work.resumed {
            return None;
        }
        self.next_mode_of(task, mode)
    }

    /// The next mode that allows jobs of `task` more, and that its server can hold.
    fn next_mode_of(&self, task: TaskId, mode: Level) -> Option<Level> {
        let entry = self.tasks.get(task.index())?;
        let home = &self.seats.get(entry.server.index())?.configuration;
        home.kind.period()?;
        let task = &entry.task;
        let allowed = task.wcet.at(mode);
        let mut levels = task.criticality.up_to_self();
        levels.find(|level| *level > mode && task.wcet.at(*level) > allowed)
    }

    /// Before a completed job is gone.
    pub(super) fn note_completed_overrun(&mut self, task: TaskId) {
        if !self.is_adaptive() || self.next_mode(task, self.mode).is_none() {
            return;
        }
        let (mode, granularity) = (self.mode, self.granularity);
        let (Some(work), Some(entry)) = (
            self.work.get_mut(task.index()),
            self.tasks.get(task.index()),
        ) else {
            return;
        };
        let Some(current) = work.jobs.current else {
            return;
        };
        let tolerated = entry.task.wcet.at(mode).saturating_add(granularity);
        if current.executed > tolerated {
            work.jobs.overran = Some((current.arrival.sequence, current.executed));
        }
    }

    /// It raises the mode in which the decision began to where what it used is allowed; another job may have done so
    /// already.
    fn settle_completed_overrun(&mut self, task: TaskId, began_in: Level) {
        let (Some(work), Some(entry)) = (
            self.work.get_mut(task.index()),
            self.tasks.get(task.index()),
        ) else {
            return;
        };
        let Some((sequence, executed)) = work.jobs.overran.take() else {
            return;
        };
        let (wcet, job) = (entry.task.wcet, JobId { task, sequence });
        let mut level = began_in;
        while let Some(to) = self.next_mode_of(task, level) {
            if executed <= wcet.at(level).saturating_add(self.granularity) {
                break;
            }
            self.notice_overrun(job, level, executed);
            // It has ended: without another job that the mode would be about, it would return in the same decision.
            if to > self.mode && self.is_anything_busy(to) {
                self.change_mode(to, Some(job));
            }
            level = to;
        }
    }

    fn settle_overrun(&mut self, task: TaskId) {
        loop {
            let (Some(work), Some(entry)) =
                (self.work.get(task.index()), self.tasks.get(task.index()))
            else {
                return;
            };
            let ran = work.staged.charged && !work.jobs.completed;
            let Some(current) = work.jobs.current.filter(|_| ran) else {
                return;
            };
            let (blocked, granularity) = (work.blocked, self.granularity);
            let has_overrun = |limit: Service, executed: Service| match blocked {
                true => executed > limit.saturating_add(granularity),
                false => is_used_up(limit, executed, granularity),
            };
            let (executed, mode, own) = (current.executed, self.mode, entry.task.criticality);
            let wcet = entry.task.wcet;
            let job = JobId {
                task,
                sequence: current.arrival.sequence,
            };
            match self.next_mode(task, mode) {
                Some(to) if has_overrun(wcet.at(mode), executed) => {
                    self.notice_overrun(job, mode, executed);
                    self.change_mode(to, Some(job));
                }
                Some(_) | None => {
                    let is_news = !work.overran_own && !work.bottom_half;
                    if is_news && has_overrun(wcet.at(own), executed) {
                        self.notice_overrun(job, own, executed);
                        if let Some(work) = self.work.get_mut(task.index()) {
                            work.overran_own = true;
                        }
                    }
                    return;
                }
            }
        }
    }

    /// A PIBS whose burst has ended for want of capacity, and that has work left, raises the mode to the next one that
    /// gives it a larger share, if that mode would stay.
    fn settle_exhausted_pibs(&mut self, id: ServerId) {
        let mode = self.mode;
        let Some(seat) = self.seats.get(id.index()) else {
            return;
        };
        let own = seat.configuration.criticality;
        let (Server::Pibs(_), ServerKind::Pibs { utilization }) =
            (&seat.server, &seat.configuration.kind)
        else {
            return;
        };
        let mut higher = own.up_to_self().filter(|level| *level > mode);
        let to = higher.find(|level| utilization.at(*level).exceeds(utilization.at(mode)));
        if let Some(to) = to.filter(|_| seat.ready > 0)
            && self.is_anything_busy(to)
        {
            self.change_mode(to, None);
        }
    }

    fn notice_overrun(&mut self, job: JobId, level: Level, executed: Service) {
        self.clock.notice(Event::Overrun {
            job,
            level,
            executed,
        });
    }
}

/// C2: a remainder below the granularity of the world counts as exhausted.
fn is_used_up(limit: Service, executed: Service, granularity: Service) -> bool {
    let remaining = limit.saturating_sub(executed);
    remaining.is_zero() || remaining < granularity
}
