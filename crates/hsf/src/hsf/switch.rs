//! Switching servers in and out, and the stopwatch between.
//!
//! ```text
//!   switch out A:  C --4-- B ...          ->   A --0-- C --4-- B ...       A's queues rest
//!   ticks pass:    A --0-- C --4-- B      ->   A --5-- C --4-- B           only the head grows
//!   switch in C:   inactive for 5 + 4     ->   A --9-- B                   C's sq makes up for 9 ticks
//! ```
//! Where no server was switched out a dummy takes the growth instead, as in the paper's Figure 8.

use super::events::Event;
use super::ids::Active;
use super::{Features, Hsf, Kind, Server, ServerId, State, has_room};

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize>
    Hsf<F, SERVERS, TASKS, NODES>
{
    /// Has another server be the active one, or none: brings its sq up to date and lets both of its queues count down. Those of the active one rest; if it goes
    /// for want of work it leaves a wake-up. Whether nothing says that the next one has to leave at once.
    pub(super) fn switch(&mut self, next: Active) -> bool {
        let (from, to) = (self.current(), next.server());
        self.current = next;
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
        if let Some(server) = from
            && let Some(entry) = self.servers.get_mut(server.index())
        {
            let has_events = !entry.sq.is_empty();
            match entry.state {
                State::Running => Self::enter(server, entry, State::Ready),
                State::Waiting if F::WAKE_UPS && has_events => self.insert_wake_up(server),
                State::Waiting | State::Ready | State::Depleted => {}
            }
        }
        if let Some(server) = to
            && let Some(entry) = self.servers.get_mut(server.index())
        {
            let ready = entry.ready;
            Self::enter(server, entry, State::Running);
            if rested.is_some() {
                self.synchronise(server, elapsed);
            }
            // No event makes fewer of its tasks ready.
            if ready > 0 {
                return true;
            }
        }
        self.has_work()
    }

    /// Whether nothing says that the active server, if there is one, has to leave.
    pub(super) fn has_work(&self) -> bool {
        let entry = self.servers.get(self.current.index());
        entry.is_none_or(Server::has_work::<F>)
    }

    /// The active server, which has no work, is ready no longer.
    pub(super) fn leave(&mut self) {
        let Some(server) = self.current() else {
            return;
        };
        let Some(entry) = self.servers.get_mut(server.index()) else {
            return;
        };
        F::on_event();
        match entry.kind {
            Kind::Deferrable => Self::enter(server, entry, State::Waiting),
            Kind::Polling => self.discard(server),
            // It always has work.
            Kind::Idling => {}
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
        // The active one is up to date, and does not wait.
        let rests = !self.current.is(server);
        if rests {
            self.catch_up(server);
        }
        if let Some(entry) = self.servers.get_mut(server.index()) {
            has_room(self.pool.insert(&mut entry.sq, ticks.into(), event));
        }
        if rests {
            self.move_wake_up(server);
        }
        self.rearm();
    }

    /// A waiting server wakes up at the first event of its sq, now that this has changed. The sq is up to date.
    pub(super) fn move_wake_up(&mut self, server: ServerId) {
        let state = self.servers.get(server.index()).map(|entry| entry.state);
        if F::WAKE_UPS && F::DEFERRABLE && state == Some(State::Waiting) {
            self.take_back_wake_up(server);
            F::on_event();
            self.insert_wake_up(server);
        }
    }

    pub(super) fn take_back_wake_up(&mut self, server: ServerId) {
        F::on_event();
        self.pool.delete(&mut self.system, Event::wake_up(server));
    }

    /// The same for one that waits and has no wake-up yet.
    fn insert_wake_up(&mut self, server: ServerId) {
        if let Some(entry) = self.servers.get(server.index())
            && let Some((at, _)) = self.pool.first(&entry.sq)
        {
            has_room(
                self.pool
                    .insert(&mut self.system, at, Event::wake_up(server)),
            );
        }
    }

    /// How long ago `server` was switched out; from now on it does not matter.
    fn take_stopwatch(&mut self, server: ServerId) -> u64 {
        let event = Event::switch_out(server);
        let elapsed = self.pool.remove(&mut self.stopwatch, event);
        elapsed.unwrap_or(0)
    }

    /// `from` is switched out where `to` is switched in, and how long ago that was switched out. Most often `from` takes the node of `to`.
    fn exchange_stopwatch(&mut self, from: ServerId, to: ServerId) -> u64 {
        let (old, new) = (Event::switch_out(to), Event::switch_out(from));
        match self.pool.exchange(&mut self.stopwatch, old, new) {
            Ok(Some(elapsed)) => elapsed,
            // No inactive server is without its entry, and there is room for one more.
            Ok(None) | Err(_) => {
                self.start_stopwatch(from);
                0
            }
        }
    }

    pub(super) fn start_stopwatch(&mut self, server: ServerId) {
        let event = Event::switch_out(server);
        has_room(self.pool.push_front(&mut self.stopwatch, event));
    }
}
