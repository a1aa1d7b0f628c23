//! Modes: when they change, and what becomes of the servers' budgets then.
//!
//! At a rise a burst under way goes on with the capacity that it began with, unless its PIBS has no share in the new
//! mode or may not run on behalf of its host any more. At the return every burst ends: it began with a capacity that
//! no analysis of mode 0 knows of.

use super::{Hierarchy, Seat};
use crate::ids::ServerId;
use crate::model::Level;
use crate::notice::Event;
use crate::server::{Server, ServerKind};
use crate::store::Store;

impl<S: Store> Hierarchy<S> {
    /// A request when nothing is pending that the new mode would be about means nothing: the mode would return in the
    /// same decision, with a fresh budget for every server that has none in it.
    pub(super) fn settle_mode_request(&mut self) {
        if let Some(level) = self.requested.take() {
            let to = level.min(self.levels.highest());
            let is_busy = self.is_anything_busy(to);
            #[cfg(test)]
            let is_busy = is_busy
                || super::counterexamples::is_broken(super::counterexamples::Rule::Requests);
            if to > self.mode && is_busy {
                self.change_mode(to);
            }
        }
    }

    fn change_mode(&mut self, to: Level) {
        let from = core::mem::replace(&mut self.mode, to);
        self.for_servers(|engine, id| engine.change_budget(id, to > from));
        let cause = None;
        self.clock.notice(Event::ModeChanged { from, to, cause });
    }

    /// Gives a server its budget of the present mode.
    fn change_budget(&mut self, id: ServerId, is_rise: bool) {
        let (now, to) = (self.clock.now, self.mode);
        let goes_on = self.may_go_on(id, is_rise);
        let Some((seat, chunks)) = self.seat_mut(id) else {
            return;
        };
        match (&mut seat.server, &seat.configuration.kind) {
            (Server::Pibs(pibs), ServerKind::Pibs { utilization }) => {
                if !goes_on {
                    pibs.end_burst();
                }
                pibs.set_utilization(utilization.at(to));
            }
            (server, kind) => {
                if let Some(capacity) = kind.capacity() {
                    #[cfg(test)]
                    super::counterexamples::break_growing(server, now);
                    server.set_capacity(chunks, now, capacity.at(to));
                }
            }
        }
    }

    /// Whether a PIBS may go on with its burst in the present mode, to which the mode has risen or returned.
    fn may_go_on(&self, id: ServerId, is_rise: bool) -> bool {
        #[cfg(test)]
        if super::counterexamples::is_broken(super::counterexamples::Rule::Bursts) {
            return true;
        }
        let Some(seat) = self.seats.get(id.index()) else {
            return false;
        };
        let Server::Pibs(pibs) = &seat.server else {
            return false;
        };
        is_rise
            && seat.configuration.kind.runs_in(self.mode)
            && pibs
                .activation()
                .is_none_or(|activation| self.may_serve(id, activation.on_behalf_of, self.mode))
    }

    /// Nothing is pending that the mode lets run: back to mode 0. Releases of this instant do not
    /// count, suspended jobs of degraded servers neither.
    pub(super) fn settle_idle_instant(&mut self) {
        if self.mode > Level::LOWEST && !self.is_anything_busy(self.mode) {
            self.change_mode(Level::LOWEST);
        }
    }

    fn is_anything_busy(&self, mode: Level) -> bool {
        let mut seats = (0..u16::MAX).map(ServerId).zip(self.seats.iter());
        seats.any(|(id, seat)| self.is_busy(id, seat, mode))
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
