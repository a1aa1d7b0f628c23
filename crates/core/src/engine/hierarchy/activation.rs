//! On whose behalf a PIBS runs: rules (a) and (b) of [`crate::server::Pibs`].

use super::{Hierarchy, Work};
use crate::ids::{ServerId, TaskId};
use crate::model::Level;
use crate::server::{Activation, ByLevel, Server};
use crate::store::Store;
use core::cmp::Reverse;

impl<S: Store> Hierarchy<S> {
    /// Work of `task` has arrived on behalf of those `named`, or of whom its configuration names. If work
    /// of it is pending already, both wait on behalf of the host preferred of the two.
    pub(super) fn inherit(
        &mut self,
        task: TaskId,
        waited: bool,
        named: &ByLevel<Option<ServerId>>,
    ) {
        let (Some(entry), Some(work)) = (self.tasks.get(task.index()), self.work.get(task.index()))
        else {
            return;
        };
        let hosts = ByLevel::from_fn(|mode| {
            let served = named.at(mode).or(entry.on_behalf_of);
            let before = work.hosts.at(mode).filter(|_| waited);
            self.preferred_host(entry.server, mode, before, served)
        });
        if let Some(work) = self.work.get_mut(task.index()) {
            work.hosts = hosts;
        }
        #[cfg(test)]
        super::counterexamples::break_rule_a(self, task);
    }

    /// Of two servers on whose behalf work of a PIBS waits the one that it runs for in `mode`: the more urgent; but
    /// one that this mode does not let it serve must not hold back the other.
    pub(super) fn preferred_host(
        &self,
        pibs: ServerId,
        mode: Level,
        one: Option<ServerId>,
        other: Option<ServerId>,
    ) -> Option<ServerId> {
        #[cfg(test)]
        let mode = match super::counterexamples::is_broken(super::counterexamples::Rule::Hosts) {
            true => self.mode,
            false => mode,
        };
        let key = |&id: &ServerId| {
            let seat = self.seats.get(id.index());
            let priority = seat.map(|seat| seat.configuration.priority);
            (Reverse((self.may_serve(pibs, id, mode), priority)), id)
        };
        one.into_iter().chain(other).min_by_key(key)
    }

    /// Activates a PIBS that rests, is eligible and has work, on behalf of the most urgent server
    /// for whom any of its ready tasks works.
    pub(super) fn try_activation(&mut self, id: ServerId) {
        let Some(seat) = self.seats.get(id.index()) else {
            return;
        };
        let Server::Pibs(pibs) = &seat.server else {
            return;
        };
        if seat.ready == 0 || !pibs.is_activatable(self.clock.now) {
            return;
        }
        let mut served = None;
        for task in self.members.get(seat.members.clone()).unwrap_or(&[]) {
            let work = self.work.get(task.index()).filter(|work| work.ready);
            let candidate = work.and_then(|work| self.host_of(id, work, self.mode));
            served = self.preferred_host(id, self.mode, served, candidate);
        }
        let Some(on_behalf_of) = served else { return };
        let Some(host) = self.seats.get(on_behalf_of.index()) else {
            return;
        };
        let Some(period) = host.configuration.kind.period() else {
            return;
        };
        let capacity = pibs.capacity_for(period);
        if capacity.is_zero() {
            return;
        }
        let priority = host.configuration.priority;
        if let Some((seat, _)) = self.seat_mut(id)
            && let Server::Pibs(pibs) = &mut seat.server
        {
            pibs.activate(Activation {
                on_behalf_of,
                priority,
                capacity,
            });
        }
    }

    /// On whose behalf a PIBS does `work` in `mode`; `None`: it does not do it in that mode.
    pub(super) fn host_of(&self, pibs: ServerId, work: &Work, mode: Level) -> Option<ServerId> {
        let host = work.hosts.at(mode);
        host.filter(|&host| self.may_serve(pibs, host, mode))
    }

    /// Rule (b): while the mode is above the PIBS' criticality it may serve only those that the mode
    /// is about.
    pub(super) fn may_serve(&self, pibs: ServerId, served: ServerId, mode: Level) -> bool {
        #[cfg(test)]
        if super::counterexamples::is_broken(super::counterexamples::Rule::B) {
            return true;
        }
        let criticality = |id: ServerId| {
            let seat = self.seats.get(id.index());
            seat.map(|seat| seat.configuration.criticality)
        };
        criticality(pibs) >= Some(mode) || criticality(served) >= Some(mode)
    }
}
