//! Two schedulers without servers, to compare with: fixed priorities, and for time either counters of all tasks that every tick looks at
//! ([`Scan`], the baseline of Holenderski et al. 2010) or one relative timed event queue ([`Queue`]). They have the hooks of
//! `vestal-hsf`, and run on the same kernel with the same critical sections.

mod queue;
mod scan;
#[cfg(test)]
mod tests;

pub use queue::Queue;
pub use scan::Scan;

use crate::kernel::TASKS;
use vestal_hsf::{Change, Error, Hooks, Pick, TaskId, TaskState};

/// A time that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// Its next arrival.
    Arrival(TaskId),
    /// The end of its delay.
    Resume(TaskId),
}

/// Alarms: at most one of each kind by task.
pub trait Alarms {
    /// No alarm.
    fn new() -> Self;
    /// It goes off in so many ticks, at least 1.
    fn set(&mut self, alarm: Alarm, ticks: u32);
    /// It does not go off.
    fn clear(&mut self, alarm: Alarm);
    /// Ticks until [`Alarms::elapse`] has to be called at the latest.
    fn next(&self) -> u32;
    /// So many ticks pass, at most [`Alarms::next`]. O(1), or O(tasks).
    fn elapse(&mut self, ticks: u32);
    /// Takes an alarm that goes off now.
    fn due(&mut self) -> Option<Alarm>;
}

#[derive(Clone, Copy)]
struct Task {
    priority: u8,
    /// How many tasks are more urgent.
    rank: u8,
    state: TaskState,
    pending: u32,
    /// 0 if it is not periodic.
    period: u32,
}

impl Task {
    const NONE: Self = Self {
        priority: 0,
        rank: 0,
        state: TaskState::Waits,
        pending: 0,
        period: 0,
    };
}

/// Tasks with fixed priorities, a smaller number first, and among equals the one that was added first.
pub struct Flat<A> {
    tasks: [Task; TASKS],
    count: u8,
    alarms: A,
    /// Ready tasks by rank, and the tasks by rank.
    ready: u64,
    ranked: [u8; TASKS],
}

impl<A: Alarms> Default for Flat<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A: Alarms> Flat<A> {
    /// No task.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tasks: [Task::NONE; TASKS],
            count: 0,
            alarms: A::new(),
            ready: 0,
            ranked: [0; TASKS],
        }
    }

    /// A task that waits for an arrival. O(tasks).
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    pub fn add_task(&mut self, priority: u8) -> Result<TaskId, Error> {
        let id = self.count;
        let room = self.tasks.get_mut(usize::from(id)).ok_or(Error::NoRoom)?;
        *room = Task {
            priority,
            ..Task::NONE
        };
        self.count = id.saturating_add(1);
        let known = self.tasks.get(..usize::from(self.count)).unwrap_or(&[]);
        let rank = known.iter().filter(|task| task.priority <= priority);
        let rank = rank.fold(0_usize, |count, _| count.saturating_add(1));
        let rank = rank.saturating_sub(1);
        for task in self.tasks.iter_mut().take(id.into()) {
            if usize::from(task.rank) >= rank {
                task.rank = task.rank.saturating_add(1);
            }
        }
        if let Some(task) = self.tasks.get_mut(usize::from(id)) {
            task.rank = u8::try_from(rank).unwrap_or(u8::MAX);
        }
        self.ready = 0;
        for (number, task) in (0..self.count).zip(&self.tasks) {
            if let Some(place) = self.ranked.get_mut(usize::from(task.rank)) {
                *place = number;
            }
            if task.state == TaskState::Ready {
                self.ready |= 1_u64.unbounded_shl(task.rank.into());
            }
        }
        Ok(TaskId::new(id))
    }

    /// Its jobs arrive from `offset` on every `period` ticks.
    ///
    /// # Errors
    /// [`Error::UnknownTask`], [`Error::Period`] if it is 0.
    pub fn make_periodic(&mut self, task: TaskId, offset: u32, period: u32) -> Result<(), Error> {
        let entry = self.known(task)?;
        if period == 0 {
            return Err(Error::Period);
        }
        entry.period = period;
        if offset > 0 {
            self.alarms.set(Alarm::Arrival(task), offset);
        } else {
            self.arrives(task);
        }
        Ok(())
    }

    fn known(&mut self, task: TaskId) -> Result<&mut Task, Error> {
        let known = task.index() < usize::from(self.count);
        let entry = self.tasks.get_mut(task.index()).filter(|_| known);
        entry.ok_or(Error::UnknownTask)
    }

    fn arrives(&mut self, task: TaskId) {
        let Ok(entry) = self.known(task) else {
            return;
        };
        if entry.state == TaskState::Waits {
            self.goes_on(task);
        } else {
            entry.pending = entry.pending.saturating_add(1);
        }
        let period = self.known(task).map_or(0, |entry| entry.period);
        if period > 0 {
            self.alarms.set(Alarm::Arrival(task), period);
        }
    }

    fn goes_on(&mut self, task: TaskId) {
        if let Ok(entry) = self.known(task) {
            entry.state = TaskState::Ready;
            self.ready |= 1_u64.unbounded_shl(entry.rank.into());
        }
    }

    fn leaves(&mut self, task: TaskId, to: TaskState) {
        if let Ok(entry) = self.known(task) {
            entry.state = to;
            self.ready &= !1_u64.unbounded_shl(entry.rank.into());
        }
    }

    fn handle(&mut self, alarm: Alarm) {
        match alarm {
            Alarm::Arrival(task) => self.arrives(task),
            Alarm::Resume(task) => self.goes_on(task),
        }
    }
}

impl<A: Alarms> Hooks for Flat<A> {
    fn timer(&mut self, ticks: u32) -> bool {
        let (mut left, mut handled) = (ticks, false);
        while left > 0 {
            // Whoever calls at every tick need not know when something is due.
            let step = if left == 1 {
                1
            } else {
                left.min(self.alarms.next()).max(1)
            };
            self.alarms.elapse(step);
            while let Some(alarm) = self.alarms.due() {
                self.handle(alarm);
                handled = true;
            }
            left = left.saturating_sub(step);
        }
        handled
    }

    fn next_timer(&self) -> u32 {
        self.alarms.next().max(1)
    }

    fn pick(&mut self) -> Pick {
        let first = usize::try_from(self.ready.trailing_zeros()).ok();
        let task = first.and_then(|rank| self.ranked.get(rank));
        match task {
            Some(&task) if self.ready != 0 => Pick::Task(TaskId::new(task)),
            _ => Pick::Idle,
        }
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        let entry = self.known(task)?;
        match (change, entry.state) {
            // A job that arrives from outside is not a period's.
            (Change::Released, TaskState::Waits) => self.goes_on(task),
            (Change::Released, _) => entry.pending = entry.pending.saturating_add(1),
            (Change::Ready, TaskState::Blocked) => self.goes_on(task),
            (Change::Ready, TaskState::Delayed) => {
                self.alarms.clear(Alarm::Resume(task));
                self.goes_on(task);
            }
            (Change::Blocked, TaskState::Ready) => self.leaves(task, TaskState::Blocked),
            (Change::EndOfJob, TaskState::Ready) => match entry.pending.checked_sub(1) {
                Some(pending) => entry.pending = pending,
                None => self.leaves(task, TaskState::Waits),
            },
            // There are no servers, and so no time but one.
            (Change::Delayed(0) | Change::DelayedVirtual(0), TaskState::Ready) => {}
            (Change::Delayed(ticks) | Change::DelayedVirtual(ticks), TaskState::Ready) => {
                self.leaves(task, TaskState::Delayed);
                self.alarms.set(Alarm::Resume(task), ticks);
            }
            _ => return Err(Error::WrongState),
        }
        Ok(())
    }
}
