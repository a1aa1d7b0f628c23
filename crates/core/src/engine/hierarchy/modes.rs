//! Modes: what becomes of budgets and jobs when they change, and when they return.
//!
//! At a rise a burst under way goes on with the capacity of the new mode, as if it had begun with it, unless its PIBS has
//! no share in that mode or may not run on behalf of its host any more. At the return every burst ends: it began with a
//! capacity that no analysis of mode 0 knows of.
//!
//! Under [`Modes::Adaptive`] jobs of servers without a budget in a raised mode are dropped. If they waited, as under
//! [`Modes::Requested`], their backlog would be there at the return, when a response-time analysis of mode 0 begins
//! with none. Degraded servers keep theirs.
//!
//! At the return the use of a sporadic server ends, also where its work goes on or more has just come: what it has at
//! hand counts as of the return. Else it would come back less than a period after that, and the server could execute
//! more than its capacity from then on.

use super::{Hierarchy, Modes, Seat};
use crate::ids::{JobId, ServerId, TaskId};
use crate::model::Level;
use crate::notice::{DropReason, Event};
use crate::server::{Server, ServerKind};
use crate::store::Store;
use crate::time::{Duration, Service};

/// What becomes of a burst when the mode changes.
#[derive(Clone, Copy)]
pub(super) enum Burst {
    Ends,
    /// It has the capacity on behalf of a server with this period; none in a mode in which its PIBS has no share.
    HasCapacityFor(Duration),
    /// What it had.
    #[cfg(test)]
    GoesOn,
}

impl<S: Store> Hierarchy<S> {
    /// A request when nothing is pending that the new mode would be about means nothing: the mode would return in the
    /// same decision, and jobs be dropped for that. It is looked at before the idle instant, which it may prevent, and again
    /// after the releases of this instant: one that comes with the first job that it is about counts.
    pub(super) fn settle_mode_request(&mut self) {
        let Some(level) = self.requested else {
            return;
        };
        let to = level.min(self.levels.highest());
        let is_busy = self.is_anything_busy(to);
        #[cfg(test)]
        let is_busy =
            is_busy || super::counterexamples::is_broken(super::counterexamples::Rule::Requests);
        if to > self.mode && is_busy {
            self.requested = None;
            self.change_mode(to, None);
        }
    }

    pub(super) fn is_adaptive(&self) -> bool {
        matches!(self.modes, Modes::Adaptive { .. })
    }

    /// Whether jobs of `task` are admitted in this mode. Events of a device are, and wait.
    pub(super) fn admits(&self, task: TaskId) -> bool {
        let (Some(work), Some(entry)) = (self.work.get(task.index()), self.tasks.get(task.index()))
        else {
            return false;
        };
        let seat = self.seats.get(entry.server.index());
        #[cfg(test)]
        if super::counterexamples::is_broken(super::counterexamples::Rule::Drops) {
            return true;
        }
        !self.is_adaptive()
            || work.bottom_half
            || seat.is_some_and(|seat| seat.configuration.kind.runs_in(self.mode))
    }

    /// O(servers + tasks).
    pub(super) fn change_mode(&mut self, to: Level, cause: Option<JobId>) {
        let from = core::mem::replace(&mut self.mode, to);
        self.clock.notice(Event::ModeChanged { from, to, cause });
        self.for_servers(|engine, id| engine.change_budget(id, to > from));
        if self.is_adaptive() {
            self.for_tasks(|engine, task| engine.change_jobs(task, to > from));
        }
    }

    fn change_jobs(&mut self, task: TaskId, is_rise: bool) {
        if !is_rise {
            if let Some(work) = self.work.get_mut(task.index()) {
                work.resumed = work.jobs.current.is_some();
            }
        } else if !self.admits(task) {
            self.drop_jobs(task);
        }
    }

    /// The current job and those behind it. What was said of the current one is void.
    fn drop_jobs(&mut self, task: TaskId) {
        while let Some(work) = self.work.get_mut(task.index()) {
            let Some(current) = work.jobs.current else {
                work.blocked = false;
                work.resumed = false;
                work.overran_own = false;
                work.staged.blocked_at = None;
                work.staged.charged = false;
                break;
            };
            work.jobs.advance();
            self.notice_drop(task, current.arrival.sequence, DropReason::Mode);
        }
        self.count(task);
    }

    /// Gives a server its budget of the present mode.
    fn change_budget(&mut self, id: ServerId, is_rise: bool) {
        let (now, to) = (self.clock.now, self.mode);
        let burst = self.burst_after(id, is_rise);
        let mut postponed = Service::ZERO;
        #[cfg(test)]
        let is_rise =
            is_rise || super::counterexamples::is_broken(super::counterexamples::Rule::Uses);
        let Some((seat, chunks)) = self.seat_mut(id) else {
            return;
        };
        match (&mut seat.server, &seat.configuration.kind) {
            (Server::Pibs(pibs), ServerKind::Pibs { utilization }) => {
                pibs.set_utilization(utilization.at(to));
                #[cfg(test)]
                let (is_rise, burst) = super::counterexamples::break_bursts(is_rise, burst);
                if is_rise {
                    pibs.regain();
                }
                match burst {
                    Burst::Ends => pibs.end_burst(),
                    Burst::HasCapacityFor(period) => pibs.resize(period),
                    #[cfg(test)]
                    Burst::GoesOn => {}
                }
            }
            (server, kind) => {
                if let Some(capacity) = kind.capacity() {
                    #[cfg(test)]
                    super::counterexamples::break_growing(server, now);
                    if !is_rise {
                        postponed = server.end_use(chunks, now);
                    }
                    server.set_capacity(chunks, now, capacity.at(to));
                }
            }
        }
        self.notice_postponed(id, postponed);
    }

    /// What becomes of a PIBS' burst in the present mode, to which the mode has risen or returned.
    fn burst_after(&self, id: ServerId, is_rise: bool) -> Burst {
        let Some(seat) = self.seats.get(id.index()).filter(|_| is_rise) else {
            return Burst::Ends;
        };
        let Server::Pibs(pibs) = &seat.server else {
            return Burst::Ends;
        };
        let Some(activation) = pibs.activation() else {
            return Burst::Ends;
        };
        let host = activation.on_behalf_of;
        let served = self.seats.get(host.index());
        let period = served.and_then(|served| served.configuration.kind.period());
        match period {
            Some(period) if self.may_serve(id, host, self.mode) => Burst::HasCapacityFor(period),
            Some(_) | None => Burst::Ends,
        }
    }

    /// Nothing is pending that the mode is about: back to mode 0. Releases of this instant do not
    /// count, suspended jobs of degraded servers neither.
    pub(super) fn settle_idle_instant(&mut self) {
        if self.mode > Level::LOWEST && !self.is_anything_busy(self.mode) {
            self.change_mode(Level::LOWEST, None);
        }
    }

    pub(super) fn is_anything_busy(&self, mode: Level) -> bool {
        let mut seats = (0..u16::MAX).map(ServerId).zip(self.seats.iter());
        match self.modes {
            Modes::Requested => seats.any(|(id, seat)| self.is_busy(id, seat, mode)),
            Modes::Adaptive { .. } => seats.any(|(_, seat)| self.is_critical(seat, mode)),
        }
    }

    /// Whether a server with a period, of the criticality of `mode` at least, has a pending job that is no bottom half.
    fn is_critical(&self, seat: &Seat, mode: Level) -> bool {
        let own = &seat.configuration;
        let counts = seat.pending > 0 && own.criticality >= mode && own.kind.period().is_some();
        let members = self.members.get(seat.members.clone()).unwrap_or(&[]);
        let mut work = members
            .iter()
            .filter_map(|task| self.work.get(task.index()));
        counts && work.any(|work| work.pending && !work.bottom_half)
    }

    /// Whether a server has pending work that it may execute in `mode`, now or later.
    fn is_busy(&self, id: ServerId, seat: &Seat, mode: Level) -> bool {
        if seat.pending == 0 || !seat.configuration.kind.runs_in(mode) {
            return false;
        }
        match &seat.server {
            Server::Periodic(_) | Server::Sporadic(_) => true,
            // What it may not be activated for in this mode waits for the return to mode 0, and must
            // not hold it up.
            Server::Pibs(_) => {
                let members = self.members.get(seat.members.clone()).unwrap_or(&[]);
                let mut pending = members
                    .iter()
                    .filter_map(|task| self.work.get(task.index()))
                    .filter(|work| work.pending);
                pending.any(|work| self.host_of(id, work, mode).is_some())
            }
        }
    }
}
