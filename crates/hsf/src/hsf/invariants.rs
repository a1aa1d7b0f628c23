//! The invariants of the module, for tests and for hosts that want to check themselves.

use super::events::Event;
use super::{Features, Hsf, ServerId, State, TaskState};
use crate::relteq::{Entry, Item, Tick};
use core::iter;

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize>
    Hsf<F, SERVERS, TASKS, NODES>
{
    /// Whether I1 to I8 hold; true after every [`Hsf::schedule`].
    #[must_use]
    pub fn check_invariants(&self) -> bool {
        let queues = self.pool.is_consistent(&self.system, false)
            && self.pool.is_consistent(&self.stopwatch, true);
        let current = self.servers.get(self.current.index());
        let running = match current {
            Some(entry) => entry.state == State::Running,
            None => true,
        };
        queues && running && self.next_event() > 0 && self.server_ids().all(|id| self.is_sound(id))
    }

    /// The stopwatch from its head on, as it would be if it were settled now: the sum up to a server's
    /// entry is how long ago that was switched out.
    pub fn stopwatch(
        &self,
    ) -> impl Iterator<Item = Item<ServerId>> + use<'_, F, SERVERS, TASKS, NODES> {
        let mut items = self.pool.items(&self.stopwatch);
        let mut since = self.since.get();
        iter::from_fn(move || {
            let item = items.next()?;
            let time = item.time.saturating_add(core::mem::take(&mut since));
            let entry = match item.entry {
                Entry::Dummies { more } => Entry::Dummies { more },
                // No other event is ever inserted there.
                Entry::Event(event) => Entry::Event(event.switched_out()?),
            };
            Some(Item { time, entry })
        })
    }

    /// In how many ticks a server's budget comes back; nothing if there is no such server. O(events of the system queue).
    #[must_use]
    pub fn replenishes_in(&self, server: ServerId) -> Option<u64> {
        let at = self
            .pool
            .remaining(&self.system, Event::replenishment(server));
        at.map(|at| at.saturating_sub(self.since.get().into()))
    }

    /// How many queues the time moves: the system queue, the stopwatch, and those of active servers; at most four if
    /// there are wake-ups.
    #[must_use]
    pub fn active_queues(&self) -> usize {
        let live = self.server_ids().filter(|&server| self.is_live(server));
        live.count()
            .saturating_add(self.current().is_some().into())
            .saturating_add(2)
    }

    fn is_sound(&self, id: ServerId) -> bool {
        let Some(server) = self.servers.get(id.index()) else {
            return false;
        };
        let queues = self.pool.is_consistent(&server.sq, false)
            && self.pool.is_consistent(&server.vq, false);
        let depletion = self.pool.remaining(&server.vq, Event::depletion(id));
        let budget = server.budget <= server.capacity
            && depletion.unwrap_or(0) == u64::from(server.budget)
            && (server.state == State::Depleted) == (server.budget == 0);
        let running = (server.state == State::Running) == self.current.is(id);
        let stopwatch = self.pool.remaining(&self.stopwatch, Event::switch_out(id));
        let wake_up = self.pool.remaining(&self.system, Event::wake_up(id));
        let wakes = F::WAKE_UPS && server.state == State::Waiting && !server.sq.is_empty();
        let replenishes = self
            .replenishes_in(id)
            .is_some_and(|at| (1..=server.period.into()).contains(&at));
        let member = |task: &&super::task::Task| task.server == id;
        let tasks = self.tasks.iter().take(self.task_count.into());
        let ready = tasks
            .filter(member)
            .filter(|task| task.state == TaskState::Ready)
            // `count` may panic, which no call does.
            .fold(0_usize, |sum, _| sum.saturating_add(1));
        queues
            && budget
            && running
            && stopwatch.is_some() != self.is_live(id)
            && wake_up.is_some() == wakes
            && replenishes
            && ready == usize::from(server.ready)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ids::Active;
    use super::super::{Everything, Kind, LocalOrder, Pick, Queue, ServerSpec, TaskId, nodes};
    use super::*;

    type Small = Hsf<Everything<u8>, 3, 3, { nodes(3, 3) }>;

    /// Server 0 waits, server 1 runs task 1, server 2 is ready.
    fn busy() -> Small {
        let mut hsf = Small::new();
        for (number, kind) in (0..).zip([Kind::Deferrable, Kind::Idling, Kind::Idling]) {
            let spec = ServerSpec {
                kind,
                priority: number,
                order: LocalOrder::FixedPriority,
                period: 10,
                capacity: 5,
            };
            let server = hsf.create_server(&spec).unwrap();
            hsf.add_task(server, 0, 10).unwrap();
        }
        hsf.make_periodic(TaskId::new(0), 7, 20).unwrap();
        hsf.make_periodic(TaskId::new(1), 0, 20).unwrap();
        assert_eq!(hsf.schedule(), Pick::Task(TaskId::new(1)));
        assert!(!hsf.tick());
        assert_eq!(hsf.schedule(), Pick::Task(TaskId::new(1)));
        assert!(hsf.check_invariants());
        hsf
    }

    #[test]
    fn each_broken_invariant_is_found() {
        let breaks: [fn(&mut Small); 12] = [
            |hsf| hsf.servers[1].budget -= 1,
            |hsf| hsf.servers[1].capacity = 3,
            |hsf| hsf.servers[1].state = State::Ready,
            |hsf| hsf.servers[2].state = State::Running,
            |hsf| hsf.servers[2].state = State::Depleted,
            |hsf| hsf.current = Active::NONE,
            |hsf| hsf.servers[1].ready = 0,
            |hsf| hsf.stopwatch = Queue::new(),
            |hsf| hsf.system = Queue::new(),
            |hsf| hsf.servers[0].state = State::Ready,
            |hsf| hsf.earliest = 0,
            |hsf| hsf.servers[2].period = 8,
        ];
        for (number, break_it) in breaks.iter().enumerate() {
            let mut hsf = busy();
            break_it(&mut hsf);
            assert!(!hsf.check_invariants(), "break {number} goes unnoticed");
        }
    }
}
