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
    /// Makes `server` the active one: brings its sq up to date and lets both of its queues count down.
    pub(super) fn switch_in(&mut self, server: ServerId) {
        self.set_state(server, State::Running);
        if !self.is_always_live(server) {
            let elapsed = self.take_stopwatch(server);
            let entry = self.servers.get(server.index());
            if entry.is_some_and(|entry| !entry.sq.is_empty()) {
                self.synchronise(server, elapsed);
            }
        }
        self.current = Some(server);
    }

    /// The active server is no longer: both of its queues rest. If it goes for want of work it leaves a wake-up.
    pub(super) fn switch_out(&mut self, server: ServerId) {
        self.current = None;
        if !self.is_always_live(server) {
            self.start_stopwatch(server);
        }
        let state = self.servers.get(server.index()).map(|entry| entry.state);
        if state == Some(State::Running) {
            self.set_state(server, State::Ready);
        }
        self.insert_wake_up(server);
    }

    /// The active server leaves if it has nothing to do and its kind says so. Says whether it did.
    pub(super) fn leave_without_work(&mut self) -> bool {
        let Some(server) = self.current else {
            return false;
        };
        let Some(entry) = self.servers.get(server.index()) else {
            return false;
        };
        if entry.state != State::Running || entry.ready > 0 {
            return false;
        }
        match entry.kind {
            Kind::Deferrable if F::DEFERRABLE => self.set_state(server, State::Waiting),
            Kind::Polling if F::POLLING => self.discard(server),
            Kind::Idling | Kind::Deferrable | Kind::Polling => return false,
        }
        self.switch_out(server);
        true
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

    pub(super) fn start_stopwatch(&mut self, server: ServerId) {
        let event = Event::SwitchOut(server);
        has_room(self.pool.push_front(&mut self.stopwatch, event));
    }
}
