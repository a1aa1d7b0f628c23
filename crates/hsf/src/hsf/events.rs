//! Events, and what each does.

use super::{Features, Hsf, Kind, ServerId, State, TaskId, has_room};
use crate::relteq::Pass;

/// A timed event: what happens, and to which server or task. There is at most one of each in all queues. In one number, which is compared as
/// a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event(u16);

impl Event {
    /// A server's budget comes back (system queue).
    pub(super) const fn replenishment(server: ServerId) -> Self {
        Self::of(REPLENISHMENT, server.number())
    }

    /// The first event of a waiting server is due (system queue).
    pub(super) const fn wake_up(server: ServerId) -> Self {
        Self::of(WAKE_UP, server.number())
    }

    /// A server was switched out (stopwatch).
    pub(super) const fn switch_out(server: ServerId) -> Self {
        Self::of(SWITCH_OUT, server.number())
    }

    /// A server's budget is used up (its vq).
    pub(super) const fn depletion(server: ServerId) -> Self {
        Self::of(DEPLETION, server.number())
    }

    /// A periodic task's next job arrives (its server's sq).
    pub(super) const fn arrival(task: TaskId) -> Self {
        Self::of(ARRIVAL, task.number())
    }

    /// A task's delay ends (its server's sq or vq).
    pub(super) const fn resume(task: TaskId) -> Self {
        Self::of(RESUME, task.number())
    }

    const fn of(what: u8, whom: u8) -> Self {
        Self(u16::from_be_bytes([what, whom]))
    }

    /// The server that was switched out, if it is that.
    pub(super) const fn switched_out(self) -> Option<ServerId> {
        match self.0.to_be_bytes() {
            [SWITCH_OUT, server] => Some(ServerId::new(server)),
            _ => None,
        }
    }
}

const REPLENISHMENT: u8 = 0;
const WAKE_UP: u8 = 1;
const SWITCH_OUT: u8 = 2;
const DEPLETION: u8 = 3;
const ARRIVAL: u8 = 4;
const RESUME: u8 = 5;

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize>
    Hsf<F, SERVERS, TASKS, NODES>
{
    /// Handles an event that was popped in `pass`.
    pub(super) fn handle(&mut self, event: Event, pass: &mut Pass) {
        F::on_event();
        let [what, whom] = event.0.to_be_bytes();
        let (server, task) = (ServerId::new(whom), TaskId::new(whom));
        match what {
            REPLENISHMENT => self.replenish(server, pass),
            WAKE_UP => self.wake_up(server),
            DEPLETION => self.deplete(server),
            ARRIVAL => self.handle_arrival(task, pass),
            RESUME => self.make_ready(task),
            // That a server was switched out is looked up, and does not expire.
            SWITCH_OUT => {}
            _ => debug_assert!(false, "there is no such event"),
        }
    }

    /// The queue's now is the expiry: the next arrival is one period after this one, however late it is handled.
    fn handle_arrival(&mut self, task: TaskId, pass: &mut Pass) {
        self.insert_arrival(task, pass);
        self.arrive(task, self.now.wrapping_sub(pass.left()));
    }

    /// Has the next job of a periodic task arrive one period from its queue's now on.
    #[inline]
    pub(super) fn insert_arrival(&mut self, task: TaskId, pass: &mut Pass) {
        if let Some(entry) = self.tasks.get(task.index())
            && let Some(server) = self.servers.get_mut(entry.server.index())
        {
            let (delay, event) = (entry.period.into(), Event::arrival(task));
            has_room(self.pool.insert_again(&mut server.sq, pass, delay, event));
        }
    }

    /// The whole capacity, whatever was left. A depletion that is due at the same tick does not happen.
    fn replenish(&mut self, server: ServerId, pass: &mut Pass) {
        let Some(entry) = self.servers.get_mut(server.index()) else {
            return;
        };
        entry.budget = entry.capacity;
        let depletion = Event::depletion(server);
        let capacity = entry.capacity.into();
        has_room(self.pool.renew(&mut entry.vq, capacity, depletion));
        if F::POLLING && entry.kind == Kind::Polling {
            entry.to_poll = true;
            self.to_poll = true;
        }
        if entry.state == State::Depleted {
            Self::enter(server, entry, State::Ready);
        }
        let (delay, again) = (entry.period.into(), Event::replenishment(server));
        has_room(self.pool.insert_again(&mut self.system, pass, delay, again));
    }

    fn wake_up(&mut self, server: ServerId) {
        if let Some(entry) = self.servers.get_mut(server.index())
            && entry.state == State::Waiting
        {
            Self::enter(server, entry, State::Ready);
        }
    }

    /// It is still the active server, until it is switched out.
    fn deplete(&mut self, server: ServerId) {
        if let Some(entry) = self.servers.get_mut(server.index()) {
            entry.budget = 0;
            Self::enter(server, entry, State::Depleted);
        }
    }

    /// A polling server has no work: its budget is gone until the next replenishment.
    pub(super) fn discard(&mut self, server: ServerId) {
        if let Some(entry) = self.servers.get_mut(server.index()) {
            self.pool.delete(&mut entry.vq, Event::depletion(server));
            self.deplete(server);
        }
    }
}
