//! Integration: servers, their tasks, and periods.

use super::events::Event;
use super::server::Server;
use super::task::Task;
use super::{
    Error, Features, Hsf, Kind, LocalOrder, ServerId, ServerSpec, State, TaskId, has_room,
};
use crate::relteq::{Pass, Queue};

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize>
    Hsf<F, SERVERS, TASKS, NODES>
{
    /// Creates a server with full budget; its replenishments are at multiples of its period from now on.
    ///
    /// # Errors
    /// [`Error::NoRoom`], [`Error::SwitchedOff`], [`Error::Period`], [`Error::Capacity`].
    pub fn create_server(&mut self, spec: &ServerSpec) -> Result<ServerId, Error> {
        let by_deadline = spec.order == LocalOrder::EarliestDeadline;
        if !Self::has_kind(spec.kind) || (by_deadline && !F::EDF) {
            return Err(Error::SwitchedOff);
        }
        if spec.period == 0 {
            return Err(Error::Period);
        }
        if spec.capacity == 0 || spec.capacity > spec.period {
            return Err(Error::Capacity);
        }
        let server = ServerId::new(self.server_count);
        let entry = self.servers.get_mut(server.index());
        let entry = entry.ok_or(Error::NoRoom)?;
        let mut vq = Queue::new();
        let depletion = Event::depletion(server);
        has_room(self.pool.insert(&mut vq, spec.capacity.into(), depletion));
        *entry = Server {
            period: spec.period,
            capacity: spec.capacity,
            budget: spec.capacity,
            vq,
            kind: spec.kind,
            order: spec.order,
            state: State::Ready,
            priority: spec.priority,
            to_poll: F::POLLING && spec.kind == Kind::Polling,
            ..Server::NONE
        };
        self.to_poll |= entry.to_poll;
        self.server_count = self.server_count.saturating_add(1);
        self.settle();
        let (delay, replenishment) = (spec.period.into(), Event::replenishment(server));
        has_room(self.pool.insert(&mut self.system, delay, replenishment));
        if !self.is_always_live(server) {
            self.start_stopwatch(server);
        }
        self.rearm();
        Ok(server)
    }

    /// Adds a task to a server. It waits for its first arrival. Under fixed priorities a smaller `priority` is more
    /// urgent; under deadlines the `deadline` counts, in ticks after an arrival. Equally urgent tasks go in the order
    /// in which they were added.
    ///
    /// # Errors
    /// [`Error::NoRoom`], [`Error::UnknownServer`].
    pub fn add_task(
        &mut self,
        server: ServerId,
        priority: u8,
        deadline: u32,
    ) -> Result<TaskId, Error> {
        if server.index() >= self.server_count.into() {
            return Err(Error::UnknownServer);
        }
        let order = self.servers.get(server.index()).map(|entry| entry.order);
        // Equal deadlines go to the task added first, whatever the priorities.
        let priority = match order {
            Some(LocalOrder::FixedPriority) => priority,
            Some(LocalOrder::EarliestDeadline) | None => 0,
        };
        let task = TaskId::new(self.task_count);
        let entry = self.tasks.get_mut(task.index()).ok_or(Error::NoRoom)?;
        *entry = Task {
            deadline,
            server,
            priority,
            ..Task::NONE
        };
        self.task_count = self.task_count.saturating_add(1);
        self.enlist(server, task, priority);
        Ok(task)
    }

    /// Puts a task into the list of its server, behind those that are as urgent.
    fn enlist(&mut self, server: ServerId, task: TaskId, priority: u8) {
        let Some(entry) = self.servers.get_mut(server.index()) else {
            return;
        };
        let (mut previous, mut next) = (None, entry.first_task);
        while let Some(id) = next
            && let Some(other) = self.tasks.get(id.index())
            && other.priority <= priority
        {
            previous = next;
            next = other.next;
        }
        if let Some(new) = self.tasks.get_mut(task.index()) {
            new.next = next;
        }
        match previous {
            None => entry.first_task = Some(task),
            Some(id) => {
                if let Some(other) = self.tasks.get_mut(id.index()) {
                    other.next = Some(task);
                }
            }
        }
    }

    /// Has jobs of the task arrive every `period` ticks, the first one `offset` ticks from now on. If it was periodic
    /// already, that ends; its current job and pending arrivals stay.
    ///
    /// # Errors
    /// [`Error::UnknownTask`], [`Error::Period`].
    pub fn make_periodic(&mut self, task: TaskId, offset: u32, period: u32) -> Result<(), Error> {
        if task.index() >= self.task_count.into() {
            return Err(Error::UnknownTask);
        }
        if period == 0 {
            return Err(Error::Period);
        }
        let entry = self.tasks.get_mut(task.index()).ok_or(Error::UnknownTask)?;
        let server = entry.server;
        self.settle();
        // What has arrived so far did so by the old period.
        self.catch_up(server);
        if let Some(entry) = self.tasks.get_mut(task.index()) {
            entry.period = period;
        }
        if let Some(entry) = self.servers.get_mut(server.index()) {
            self.pool.delete(&mut entry.sq, Event::arrival(task));
        }
        // No queue ever holds an event that is due at once: that one is handled here.
        if offset == 0 {
            self.insert_arrival(task, &mut Pass::over(0));
            self.arrive(task, self.now);
            self.move_wake_up(server);
            self.rearm();
        } else {
            self.insert_local(server, offset, Event::arrival(task));
        }
        Ok(())
    }
}
