//! Switching servers in and out, and the stopwatch between.
//!
//! ```text
//!   switch out A:  C --4-- B ...          ->   A --0-- C --4-- B ...       A's queues rest
//!   ticks pass:    A --0-- C --4-- B      ->   A --5-- C --4-- B           only the head grows
//!   switch in C:   inactive for 5 + 4     ->   A --9-- B                   C's sq makes up for 9 ticks
//! ```
//! Where no server was switched out a dummy takes the growth instead, as in the paper's Figure 8.

use super::events::Event;
use super::{Features, Hsf, Kind, ServerId, State, has_room};

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize>
    Hsf<F, SERVERS, TASKS, NODES>
{
    /// Has another server be the active one, or none: brings its sq up to date and lets both of its queues count down. Those of the active one rest; if it goes
    /// for want of work it leaves a wake-up.
    pub(super) fn switch(&mut self, to: Option<ServerId>) {
        let from = self.current.take();
        let rests = from.filter(|&server| !self.is_always_live(server));
        let rested = to.filter(|&server| !self.is_always_live(server));
        let elapsed = match (rests, rested) {
            (Some(rests), Some(rested)) => self.exchange_stopwatch(rests, rested),
            (Some(rests), None) => {
                self.start_stopwatch(rests);
                0
            }
            (None, Some(rested)) => self.take_stopwatch(rested),
            (None, None) => 0,
        };
        if let Some(server) = from {
            let state = self.servers.get(server.index()).map(|entry| entry.state);
            if state == Some(State::Running) {
                self.set_state(server, State::Ready);
            }
            self.insert_wake_up(server);
        }
        if let Some(server) = to {
            self.set_state(server, State::Running);
            let entry = self.servers.get(server.index());
            if rested.is_some() && entry.is_some_and(|entry| !entry.sq.is_empty()) {
                self.synchronise(server, elapsed);
            }
            self.current = Some(server);
        }
    }

    /// Whether nothing says that the active server, if there is one, has to leave.
    pub(super) fn has_work(&self) -> bool {
        let current = self.current.map(ServerId::index);
        let Some(entry) = current.and_then(|server| self.servers.get(server)) else {
            return true;
        };
        let stays = match entry.kind {
            Kind::Deferrable => !F::DEFERRABLE,
            Kind::Polling => !F::POLLING,
            Kind::Idling => true,
        };
        stays || entry.ready > 0 || entry.state != State::Running
    }

    /// The active server is ready no longer if it has nothing to do and its kind says so.
    pub(super) fn leave_without_work(&mut self) {
        if self.has_work() {
            return;
        }
        let Some(server) = self.current else {
            return;
        };
        match self.servers.get(server.index()).map(|entry| entry.kind) {
            Some(Kind::Deferrable) => self.set_state(server, State::Waiting),
            Some(Kind::Polling) => self.discard(server),
            Some(Kind::Idling) | None => {}
        }
    }

    /// Brings the sq of an inactive server up to date, and has its stopwatch begin again.
    pub(super) fn catch_up(&mut self, server: ServerId) {
        if !self.is_live(server) {
            let elapsed = self.take_stopwatch(server);
            self.synchronise(server, elapsed);
            self.start_stopwatch(server);
        }
    }

    /// Inserts an event that expires `ticks` from now on into a server's sq.
    pub(super) fn insert_local(&mut self, server: ServerId, ticks: u32, event: Event) {
        self.catch_up(server);
        if let Some(entry) = self.servers.get_mut(server.index()) {
            has_room(self.pool.insert(&mut entry.sq, ticks.into(), event));
        }
        self.move_wake_up(server);
        self.rearm();
    }

    /// A waiting server wakes up at the first event of its sq, now that this has changed. The sq is up to date.
    pub(super) fn move_wake_up(&mut self, server: ServerId) {
        let state = self.servers.get(server.index()).map(|entry| entry.state);
        if F::WAKE_UPS && F::DEFERRABLE && state == Some(State::Waiting) {
            self.pool.delete(&mut self.system, Event::WakeUp(server));
        }
        self.insert_wake_up(server);
    }

    /// The same for one that has no wake-up yet, as it has just begun to wait.
    fn insert_wake_up(&mut self, server: ServerId) {
        let Some(entry) = self.servers.get(server.index()) else {
            return;
        };
        if F::WAKE_UPS && F::DEFERRABLE && entry.state == State::Waiting {
            let wake_up = Event::WakeUp(server);
            if let Some((at, _)) = self.pool.first(&entry.sq) {
                has_room(self.pool.insert(&mut self.system, at, wake_up));
            }
        }
    }

    /// How long ago `server` was switched out; from now on it does not matter.
    fn take_stopwatch(&mut self, server: ServerId) -> u64 {
        let event = Event::SwitchOut(server);
        let elapsed = self.pool.remove(&mut self.stopwatch, event);
        elapsed.unwrap_or(0)
    }

    /// `from` is switched out where `to` is switched in, and how long ago that was switched out. Who is the head, as after a preemption, leaves its
    /// place to the other.
    fn exchange_stopwatch(&mut self, from: ServerId, to: ServerId) -> u64 {
        let events = [to, from].map(Event::SwitchOut);
        if let Some(elapsed) = self.pool.exchange_head(&self.stopwatch, events) {
            return elapsed;
        }
        self.start_stopwatch(from);
        self.take_stopwatch(to)
    }

    pub(super) fn start_stopwatch(&mut self, server: ServerId) {
        let event = Event::SwitchOut(server);
        has_room(self.pool.push_front(&mut self.stopwatch, event));
    }
}
