//! The two-level scheduler.

use super::ids::Active;
use super::server::Server;
use super::{Features, Hsf, Kind, LocalOrder, Pick, State, TaskId, TaskState, has_room};
use crate::relteq::Tick;

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize>
    Hsf<F, SERVERS, TASKS, NODES>
{
    /// Chooses the most urgent server that may run and the most urgent of its ready tasks, and switches servers if that
    /// changes the active one. Calling it once more changes nothing.
    pub fn schedule(&mut self) -> Pick {
        // Who goes on changes no queue. Before the first call no timer is known.
        let unarmed = self.earliest == F::Tick::ZERO;
        let mut works = self.has_work();
        let mut changes = unarmed || F::POLLING && self.to_poll || !works;
        if changes {
            self.settle();
            if F::POLLING && core::mem::take(&mut self.to_poll) {
                self.poll();
                works = self.has_work();
            }
            if !works {
                self.leave();
            }
        }
        let highest = self.highest_ready_server();
        if highest == self.current {
            self.resume();
        } else {
            if !changes {
                self.settle();
            }
            self.switch_to(highest);
            changes = true;
        }
        if changes {
            self.rearm_at_once();
        }
        self.picked()
    }

    /// Switches to a server, and from one that is found to have no work to the next.
    #[inline]
    fn switch_to(&mut self, mut highest: Active) {
        if self.current == Active::NONE {
            has_room(self.pool.push_dummy(&mut self.stopwatch));
        }
        let mut rounds = self.server_count;
        loop {
            let works = self.switch(highest);
            // What it was brought up to date with made nobody else ready. Each round but the last finds a ready server without work, which
            // then is ready no longer.
            if works || rounds == 0 {
                break;
            }
            rounds = rounds.wrapping_sub(1);
            self.leave();
            highest = self.highest_ready_server();
        }
    }

    /// An active server that was depleted and replenished since the last call, against the rules, goes on.
    fn resume(&mut self) {
        if let Some(server) = self.current()
            && let Some(entry) = self.servers.get_mut(server.index())
            && entry.state == State::Ready
        {
            Self::enter(server, entry, State::Running);
        }
    }

    /// A polling server whose budget has just come discards it if it has no work at that very instant, active
    /// or not. Who has none that is known of is brought up to date first.
    #[inline(never)]
    fn poll(&mut self) {
        for server in self.server_ids() {
            let Some(entry) = self.servers.get_mut(server.index()) else {
                continue;
            };
            if !core::mem::take(&mut entry.to_poll) {
                continue;
            }
            F::on_event();
            if entry.ready == 0 {
                self.catch_up(server);
            }
            let entry = self.servers.get(server.index());
            if entry.is_some_and(|entry| entry.ready == 0 && entry.state != State::Depleted) {
                self.discard(server);
            }
        }
    }

    /// O(servers).
    #[inline(never)]
    fn highest_ready_server(&self) -> Active {
        // By hand: of iterators that compare tuples each step takes three times as many instructions. No priority is as low as the first.
        let (mut highest, mut urgency) = (Active::NONE, 0x100_u32);
        for (server, entry) in self.server_ids().zip(&self.servers) {
            let may_run = matches!(entry.state, State::Ready | State::Running);
            if may_run && u32::from(entry.priority) < urgency {
                (highest, urgency) = (Active::of(server), entry.priority.into());
            }
        }
        highest
    }

    #[inline]
    fn picked(&self) -> Pick {
        let entry = self.servers.get(self.current.index());
        let task = entry.and_then(|entry| self.highest_ready_task(entry));
        match (task, self.current()) {
            (Some(task), _) => Pick::Task(task),
            (None, Some(server)) => Pick::Idling(server),
            (None, None) => Pick::Idle,
        }
    }

    /// O(tasks of the server).
    fn highest_ready_task(&self, entry: &Server) -> Option<TaskId> {
        if entry.ready == 0 {
            return None;
        }
        let by_deadline = F::EDF && entry.order == LocalOrder::EarliestDeadline;
        let (mut next, mut earliest, mut urgency) = (entry.first_task, None, u64::MAX);
        while let Some(id) = next {
            let task = self.tasks.get(id.index())?;
            if task.state == TaskState::Ready {
                // They stand in the order of their priorities.
                if !by_deadline {
                    return Some(id);
                }
                if earliest.is_none() || task.due < urgency {
                    (earliest, urgency) = (Some(id), task.due);
                }
            }
            F::Tick::on_pass();
            next = task.next;
        }
        earliest
    }

    /// Whether this kind of server is switched on.
    pub(super) const fn has_kind(kind: Kind) -> bool {
        match kind {
            Kind::Polling => F::POLLING,
            Kind::Idling => true,
            Kind::Deferrable => F::DEFERRABLE,
        }
    }
}
