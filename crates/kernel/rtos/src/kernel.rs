//! The kernel as far as it knows no processor: contexts, calls of tasks, time that tasks execute.

use crate::call::Call;
use crate::glue::Glue;
use crate::semaphore::Semaphores;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use vestal_hsf::{Change, Error, Hooks, Pick, TaskId};

/// Tasks at most: six servers with six each.
pub const TASKS: usize = 36;

/// By task, the ticks for which it will still spin: the kernel counts them down, the task looks.
pub(crate) type Work = [AtomicU32; TASKS];

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The scheduler refused what a task or an interrupt told it.
    Refused(Error),
    /// There is no such call, or no semaphore with that number.
    Unknown,
    /// The idle task makes a call of tasks.
    NotATask,
    /// A task is to execute that has no program.
    NoProgram(TaskId),
    /// A task has used up its stack.
    Stack(TaskId),
    /// A tick ended while the kernel was busy with the one before: another one would be lost. In an exact run, a tick ended while the
    /// kernel was busy at all, and is charged to whoever executes next.
    Late,
    /// A task went on for a whole tick after its work had ended, without a call, and somebody was to be picked. The scheduler has to
    /// pick before it is told of that tick.
    Overdue(TaskId),
    /// A task or the world asks for a run while there is one.
    Runs,
}

/// What is fixed for a run.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// For how many ticks.
    pub(crate) end: u32,
    /// The scheduler is told of the time when an event is due, and else at every tick.
    pub(crate) told_when_due: bool,
    /// No tick ends while the kernel is busy.
    pub(crate) exact: bool,
}

/// What is outside of the kernel: devices, and who looks on. Called from the timer's handler.
pub trait World {
    /// A tick has ended, and this is who executed in it.
    fn ran(&mut self, tick: u32, who: Pick);

    /// An instant begins, and interrupts may call [`Kernel::release`], [`Kernel::ready`] and [`Kernel::give`].
    fn instant(&mut self, now: u32, kernel: &mut Kernel);
}

/// The kernel's state. Between runs it has neither scheduler nor world.
pub struct Kernel {
    glue: Glue,
    world: Option<&'static mut dyn World>,
    work: &'static Work,
    semaphores: Semaphores,
    /// Where the contexts of tasks and of the idle task are saved; 0 for those that have none.
    contexts: [usize; TASKS],
    idle: usize,
    now: u32,
    plan: Plan,
    /// Whether somebody is to be picked who is not before the running task's next call, its work having ended.
    owes_pick: bool,
    over: bool,
    fault: Option<Fault>,
}

impl Kernel {
    pub(crate) const fn new(work: &'static Work) -> Self {
        Self {
            glue: Glue::new(),
            world: None,
            work,
            semaphores: Semaphores::new(),
            contexts: [0; TASKS],
            idle: 0,
            now: 0,
            plan: Plan {
                end: 0,
                told_when_due: false,
                exact: false,
            },
            owes_pick: false,
            over: false,
            fault: None,
        }
    }

    /// A run begins. Nobody works any more.
    pub(crate) fn begin(
        &mut self,
        hooks: &'static mut dyn Hooks,
        world: &'static mut dyn World,
        plan: Plan,
    ) {
        for work in self.work {
            work.store(0, Relaxed);
        }
        *self = Self {
            glue: Glue::begin(hooks, plan.told_when_due),
            world: Some(world),
            plan,
            ..Self::new(self.work)
        };
        self.outside();
    }

    /// The run is over: scheduler and world are given back.
    pub(crate) fn finish(&mut self) -> Option<Fault> {
        self.glue.leave();
        self.world = None;
        self.fault
    }

    /// A tick has ended. Says whether [`Kernel::switch`] has to be called now: not if the work of the running task ends with
    /// this tick, whose next call comes first.
    pub(crate) fn tick(&mut self) -> bool {
        if self.over {
            return true;
        }
        if let Some(world) = &mut self.world {
            world.ran(self.now, self.glue.running());
        }
        self.now = self.now.saturating_add(1);
        if self.now >= self.plan.end {
            self.over = true;
            return true;
        }
        if let Some(task) = self.glue.task().filter(|_| self.owes_pick) {
            self.fail(Fault::Overdue(task));
            return true;
        }
        self.glue.tick();
        self.outside();
        let goes_on = self.ends_work();
        self.owes_pick = goes_on && self.glue.has_changed();
        self.over || !goes_on && self.is_to_switch()
    }

    /// A handler has done its work: that of a tick, or another. `pending` says whether a tick has ended that is not handled
    /// yet. Whether that ends the run: after a tick another one would be lost; and else it is handled next, late.
    pub(crate) fn is_late(&mut self, of_tick: bool, pending: bool) -> bool {
        let late = pending && !self.over && (of_tick || self.plan.exact);
        if late {
            self.fail(Fault::Late);
        }
        late
    }

    fn outside(&mut self) {
        if let Some(world) = self.world.take() {
            world.instant(self.now, self);
            self.world = Some(world);
        }
    }

    /// Counts a tick of the running task. Whether it was the last one for which it spins.
    fn ends_work(&mut self) -> bool {
        let work = self
            .glue
            .task()
            .and_then(|task| self.work.get(task.index()));
        let Some(work) = work else {
            return false;
        };
        let left = work.load(Relaxed);
        work.store(left.saturating_sub(1), Relaxed);
        left == 1
    }

    /// Takes where the context of the running task was saved, and gives that of the next.
    pub(crate) fn switch(&mut self, saved: usize) -> usize {
        match self.glue.task() {
            Some(task) => self.set_context(task, saved),
            None => self.idle = saved,
        }
        self.glue.pick();
        self.owes_pick = false;
        let task = self.glue.task().filter(|_| !self.over);
        let context = task.and_then(|task| self.contexts.get(task.index()));
        match (task, context) {
            (Some(_), Some(&context)) if context != 0 => return context,
            (Some(task), _) => self.fail(Fault::NoProgram(task)),
            (None, _) => {}
        }
        if self.over {
            self.glue.leave();
        }
        self.idle
    }

    pub(crate) fn set_context(&mut self, task: TaskId, saved: usize) {
        if let Some(context) = self.contexts.get_mut(task.index()) {
            *context = saved;
        }
    }

    /// A call of the running task, as [`Call`] has it. Its result, and whether [`Kernel::switch`] has to be called.
    pub(crate) fn call(&mut self, number: u32, argument: u32) -> (u32, bool) {
        let mut result = 0;
        match (Call::of(number, argument), self.glue.task()) {
            (Some(Call::Go), _) => {}
            (Some(Call::Now), _) => return (self.now, false),
            (None, _) => self.fail(Fault::Unknown),
            (Some(_), None) => self.fail(Fault::NotATask),
            (Some(Call::Work(ticks)), Some(task)) => {
                if let Some(work) = self.work.get(task.index()) {
                    work.store(ticks, Relaxed);
                }
                result = u32::try_from(task.index()).unwrap_or(0);
            }
            (Some(Call::Change(change)), Some(task)) => self.tell(task, change),
            (Some(Call::Release(other)), _) => self.release(other),
            (Some(Call::Ready(other)), _) => self.ready(other),
            (Some(Call::Take(semaphore)), Some(task)) => self.take(semaphore, task),
            (Some(Call::Give(semaphore)), _) => self.give(semaphore),
        }
        (result, self.is_to_switch())
    }

    fn tell(&mut self, task: TaskId, change: Change) {
        if let Err(error) = self.glue.tell(task, change) {
            self.fail(Fault::Refused(error));
        }
    }

    fn take(&mut self, semaphore: u8, task: TaskId) {
        match self.semaphores.take(semaphore, task) {
            Some(true) => {}
            Some(false) => self.tell(task, Change::Blocked),
            None => self.fail(Fault::Unknown),
        }
    }

    /// A job of a task arrives.
    pub fn release(&mut self, task: TaskId) {
        self.tell(task, Change::Released);
    }

    /// What a task was blocked for has come. One that waits for a semaphore has to be given it, and this is refused.
    pub fn ready(&mut self, task: TaskId) {
        if self.semaphores.is_waiting(task) {
            self.fail(Fault::Refused(Error::WrongState));
        } else {
            self.tell(task, Change::Ready);
        }
    }

    /// Gives a semaphore: the task that has waited longest for it goes on, or it is counted.
    pub fn give(&mut self, semaphore: u8) {
        match self.semaphores.give(semaphore) {
            Some(Some(task)) => self.tell(task, Change::Ready),
            Some(None) => {}
            None => self.fail(Fault::Unknown),
        }
    }

    /// The run ends with the next switch, for the first reason that there was.
    pub(crate) fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
        self.over = true;
    }

    fn is_to_switch(&self) -> bool {
        self.over || self.glue.has_changed()
    }

    /// Whether the run is over.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// The task that executes.
    pub(crate) fn task(&self) -> Option<TaskId> {
        self.glue.task()
    }
}
