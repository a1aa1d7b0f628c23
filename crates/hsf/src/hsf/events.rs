//! Events, and what each does.

use super::{Features, Hsf, Kind, ServerId, State, TaskId, has_room};
use crate::relteq::Pass;

/// A timed event. There is at most one of each in all queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A server's budget comes back (system queue).
    Replenishment(ServerId),
    /// The first event of a waiting server is due (system queue).
    WakeUp(ServerId),
    /// A server was switched out (stopwatch).
    SwitchOut(ServerId),
    /// A server's budget is used up (its vq).
    Depletion(ServerId),
    /// A periodic task's next job arrives (its server's sq).
    Arrival(TaskId),
    /// A task's delay ends (its server's sq or vq).
    Resume(TaskId),
}

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize>
    Hsf<F, SERVERS, TASKS, NODES>
{
    /// Handles an event that was popped in `pass`.
    pub(super) fn handle(&mut self, event: Event, pass: &mut Pass) {
        match event {
            Event::Replenishment(server) => self.replenish(server, pass),
            Event::WakeUp(server) => self.wake_up(server),
            Event::Depletion(server) => self.deplete(server),
            Event::Arrival(task) => self.handle_arrival(task, pass),
            Event::Resume(task) => self.make_ready(task),
            // Such an event is looked up, and does not expire.
            Event::SwitchOut(_) => {}
        }
    }

    /// The queue's now is the expiry: the next arrival is one period after this one, however late it is handled.
    fn handle_arrival(&mut self, task: TaskId, pass: &mut Pass) {
        self.insert_arrival(task, pass);
        self.arrive(task, self.now.saturating_sub(pass.left()));
    }

    /// Has the next job of a periodic task arrive one period from its queue's now on.
    pub(super) fn insert_arrival(&mut self, task: TaskId, pass: &mut Pass) {
        if let Some(entry) = self.tasks.get(task.index())
            && let Some(server) = self.servers.get_mut(entry.server.index())
        {
            let (delay, event) = (entry.period.into(), Event::Arrival(task));
            has_room(self.pool.insert_again(&mut server.sq, pass, delay, event));
        }
    }

    /// The whole capacity, whatever was left. A depletion that is due at the same tick does not happen.
    fn replenish(&mut self, server: ServerId, pass: &mut Pass) {
        let Some(entry) = self.servers.get_mut(server.index()) else {
            return;
        };
        entry.budget = entry.capacity;
        let depletion = Event::Depletion(server);
        self.pool.delete(&mut entry.vq, depletion);
        has_room(
            self.pool
                .insert(&mut entry.vq, entry.capacity.into(), depletion),
        );
        let (delay, again) = (entry.period.into(), Event::Replenishment(server));
        has_room(self.pool.insert_again(&mut self.system, pass, delay, again));
        entry.to_poll = F::POLLING && entry.kind == Kind::Polling;
        if entry.state == State::Depleted {
            self.set_state(server, State::Ready);
        }
    }

    fn wake_up(&mut self, server: ServerId) {
        let entry = self.servers.get(server.index());
        if entry.is_some_and(|entry| entry.state == State::Waiting) {
            self.set_state(server, State::Ready);
        }
    }

    /// It is still the active server, until it is switched out.
    fn deplete(&mut self, server: ServerId) {
        if let Some(entry) = self.servers.get_mut(server.index()) {
            entry.budget = 0;
            self.set_state(server, State::Depleted);
        }
    }

    /// A polling server has no work: its budget is gone until the next replenishment.
    pub(super) fn discard(&mut self, server: ServerId) {
        if let Some(entry) = self.servers.get_mut(server.index()) {
            self.pool.delete(&mut entry.vq, Event::Depletion(server));
            self.deplete(server);
        }
    }
}
