//! A task, and the calls about one task.

use super::events::Event;
use super::{Error, Features, Hsf, ServerId, State, TaskId, has_room};

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskState {
    /// It has no job, and waits for an arrival.
    Waits,
    /// Its job may run.
    Ready,
    /// Its job waits for a delay to end.
    Delayed,
    /// Its job waits for [`Hsf::ready`].
    Blocked,
}

#[derive(Debug)]
pub(super) struct Task {
    /// The absolute deadline of its job, in ticks since the beginning.
    pub(super) due: u64,
    /// 0 if it is not periodic.
    pub(super) period: u32,
    pub(super) deadline: u32,
    pub(super) pending: u32,
    pub(super) server: ServerId,
    pub(super) priority: u8,
    pub(super) state: TaskState,
    /// The next task of its server.
    pub(super) next: Option<TaskId>,
}

impl Task {
    /// Fills positions without a task.
    pub(super) const NONE: Self = Self {
        due: 0,
        period: 0,
        deadline: 0,
        pending: 0,
        server: ServerId::new(0),
        priority: 0,
        state: TaskState::Waits,
        next: None,
    };
}

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize>
    Hsf<F, SERVERS, TASKS, NODES>
{
    /// The task's job has ended. If an arrival is pending the next job begins, and the task stays
    /// ready; else it waits. Then call [`Hsf::schedule`]. O(1).
    ///
    /// # Errors
    /// [`Error::UnknownTask`]; [`Error::WrongState`] unless the task is ready.
    pub fn wait_period(&mut self, task: TaskId) -> Result<(), Error> {
        let now = self.now();
        let entry = self.known_task(task)?;
        if entry.state != TaskState::Ready {
            return Err(Error::WrongState);
        }
        match entry.pending.checked_sub(1) {
            Some(pending) => {
                entry.pending = pending;
                // Arrivals of a periodic task are a period apart; those of others are counted, not
                // dated, and the deadline counts from the end of the job before.
                entry.due = match entry.period {
                    0 => now.saturating_add(entry.deadline.into()),
                    period => entry.due.saturating_add(period.into()),
                };
            }
            None => self.leave_ready(task, TaskState::Waits),
        }
        Ok(())
    }

    /// The task's job waits for so many ticks; 0 is nothing. Then call [`Hsf::schedule`].
    ///
    /// # Errors
    /// [`Error::UnknownTask`]; [`Error::WrongState`] unless the task is ready.
    pub fn delay(&mut self, task: TaskId, ticks: u32) -> Result<(), Error> {
        let server = self.ready_task(task)?;
        if ticks > 0 {
            self.settle();
            self.leave_ready(task, TaskState::Delayed);
            self.insert_local(server, ticks, Event::resume(task));
        }
        Ok(())
    }

    /// The task's job waits until its server has consumed so many ticks of budget; 0 is nothing. An idling server
    /// consumes by idling; a deferrable or polling one needs other tasks for that. Then call
    /// [`Hsf::schedule`].
    ///
    /// # Errors
    /// [`Error::UnknownTask`]; [`Error::WrongState`] unless the task is ready.
    pub fn delay_virtual(&mut self, task: TaskId, ticks: u32) -> Result<(), Error> {
        let server = self.ready_task(task)?;
        if ticks > 0 {
            self.settle();
            self.leave_ready(task, TaskState::Delayed);
            if let Some(entry) = self.servers.get_mut(server.index()) {
                let event = Event::resume(task);
                has_room(self.pool.insert(&mut entry.vq, ticks.into(), event));
            }
            self.rearm();
        }
        Ok(())
    }

    /// The task's job waits for [`Hsf::ready`]. Then call [`Hsf::schedule`]. O(1).
    ///
    /// # Errors
    /// [`Error::UnknownTask`]; [`Error::WrongState`] unless the task is ready.
    pub fn block(&mut self, task: TaskId) -> Result<(), Error> {
        self.ready_task(task)?;
        self.leave_ready(task, TaskState::Blocked);
        Ok(())
    }

    /// What the task's job was blocked for has come, or its delay ends early. Then call [`Hsf::schedule`].
    ///
    /// # Errors
    /// [`Error::UnknownTask`]; [`Error::WrongState`] unless the task is blocked or delayed.
    pub fn ready(&mut self, task: TaskId) -> Result<(), Error> {
        let entry = self.known_task(task)?;
        let server = entry.server;
        let state = entry.state;
        if matches!(state, TaskState::Waits | TaskState::Ready) {
            return Err(Error::WrongState);
        }
        // Its server's wake-up goes first, while there is an event that it is for.
        self.make_ready(task);
        if state == TaskState::Delayed {
            self.settle();
            if let Some(server) = self.servers.get_mut(server.index()) {
                let event = Event::resume(task);
                let _ = self.pool.delete(&mut server.sq, event)
                    || self.pool.delete(&mut server.vq, event);
            }
            self.rearm();
        }
        Ok(())
    }

    /// A job of the task arrives now, as from an interrupt: it begins if the task waits, and is counted
    /// otherwise. For tasks that are not periodic. Then call [`Hsf::schedule`].
    ///
    /// # Errors
    /// [`Error::UnknownTask`].
    pub fn release(&mut self, task: TaskId) -> Result<(), Error> {
        self.known_task(task)?;
        self.arrive(task, self.now());
        Ok(())
    }

    /// A job of `task` arrived at `at`. O(1); O(servers) if it wakes its server.
    pub(super) fn arrive(&mut self, task: TaskId, at: u64) {
        let Some(entry) = self.tasks.get_mut(task.index()) else {
            return;
        };
        if entry.state == TaskState::Waits {
            entry.due = at.saturating_add(entry.deadline.into());
            self.make_ready(task);
        } else {
            entry.pending = entry.pending.saturating_add(1);
        }
    }

    /// The task may run, and its server need not wait any longer.
    pub(super) fn make_ready(&mut self, task: TaskId) {
        let Some(entry) = self.tasks.get_mut(task.index()) else {
            return;
        };
        if entry.state == TaskState::Ready {
            return;
        }
        entry.state = TaskState::Ready;
        let id = entry.server;
        let Some(server) = self.servers.get_mut(id.index()) else {
            return;
        };
        server.ready = server.ready.saturating_add(1);
        if F::DEFERRABLE && server.state == State::Waiting {
            Self::enter(id, server, State::Ready);
            // Without an event it waits for there is none.
            if F::WAKE_UPS && !server.sq.is_empty() {
                self.wakes_early(id);
            }
        }
    }

    /// A waiting server has been made ready. What has passed is settled before its wake-up is taken back: the run of dummies that takes a head's time over may begin with
    /// one that is nearer than that.
    #[inline(never)]
    fn wakes_early(&mut self, server: ServerId) {
        self.settle();
        self.take_back_wake_up(server);
        self.rearm();
    }

    fn leave_ready(&mut self, task: TaskId, to: TaskState) {
        if let Some(entry) = self.tasks.get_mut(task.index()) {
            entry.state = to;
            if let Some(server) = self.servers.get_mut(entry.server.index()) {
                server.ready = server.ready.saturating_sub(1);
            }
        }
    }

    fn known_task(&mut self, task: TaskId) -> Result<&mut Task, Error> {
        let known = task.index() < self.task_count.into();
        let entry = self.tasks.get_mut(task.index()).filter(|_| known);
        entry.ok_or(Error::UnknownTask)
    }

    /// The server of a task that is ready.
    fn ready_task(&mut self, task: TaskId) -> Result<ServerId, Error> {
        let entry = self.known_task(task)?;
        if entry.state == TaskState::Ready {
            Ok(entry.server)
        } else {
            Err(Error::WrongState)
        }
    }
}
