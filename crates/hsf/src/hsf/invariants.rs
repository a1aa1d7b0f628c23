//! The invariants of the module, for tests and for hosts that want to check themselves.

use super::events::Event;
use super::{Features, Hsf, ServerId, State, TaskState};

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize>
    Hsf<F, SERVERS, TASKS, NODES>
{
    /// Whether I1 to I7 hold; true after every [`Hsf::schedule`].
    #[must_use]
    pub fn check_invariants(&self) -> bool {
        let queues = self.pool.is_consistent(&self.system, false)
            && self.pool.is_consistent(&self.stopwatch, true);
        let current = self.current.and_then(|id| self.servers.get(id.index()));
        let running = match current {
            Some(entry) => entry.state == State::Running,
            None => true,
        };
        queues && running && self.next_event() > 0 && self.server_ids().all(|id| self.is_sound(id))
    }

    fn is_sound(&self, id: ServerId) -> bool {
        let Some(server) = self.servers.get(id.index()) else {
            return false;
        };
        let queues = self.pool.is_consistent(&server.sq, false)
            && self.pool.is_consistent(&server.vq, false);
        let depletion = self.pool.remaining(&server.vq, Event::Depletion(id));
        let budget = server.budget <= server.capacity
            && depletion.unwrap_or(0) == u64::from(server.budget)
            && (server.state == State::Depleted) == (server.budget == 0);
        let running = (server.state == State::Running) == (self.current == Some(id));
        let stopwatch = self.pool.remaining(&self.stopwatch, Event::SwitchOut(id));
        let wake_up = self.pool.remaining(&self.system, Event::WakeUp(id));
        let wakes = F::WAKE_UPS && server.state == State::Waiting && !server.sq.is_empty();
        let member = |task: &&super::task::Task| task.server == id;
        let tasks = self.tasks.iter().take(self.task_count.into());
        let ready = tasks
            .filter(member)
            .filter(|task| task.state == TaskState::Ready)
            .count();
        queues
            && budget
            && running
            && stopwatch.is_some() != self.is_live(id)
            && wake_up.is_some() == wakes
            && ready == usize::from(server.ready)
    }
}
