//! Where the kernel calls the three hooks of [`Hooks`]. The lines of code of this file are what connects a kernel with
//! `vestal-hsf`; `scripts/check-kernel.sh` counts them.

use vestal_hsf::{Change, Error, Hooks, Pick, TaskId};

/// The scheduler, who executes by it, and whether that has to be asked again.
pub(crate) struct Glue {
    /// Between runs there is none.
    hooks: Option<&'static mut dyn Hooks>,
    running: Pick,
    /// Whether something has happened since the last pick.
    changed: bool,
    /// Ticks of which the scheduler has not been told.
    owed: u32,
    told_when_due: bool,
}

impl Glue {
    pub(crate) const fn new() -> Self {
        Self {
            hooks: None,
            running: Pick::Idle,
            changed: true,
            owed: 0,
            told_when_due: false,
        }
    }

    /// At instant 0. With `told_when_due` the scheduler is told when an event is due, and else at every tick.
    pub(crate) fn begin(hooks: &'static mut dyn Hooks, told_when_due: bool) -> Self {
        Self {
            hooks: Some(hooks),
            told_when_due,
            ..Self::new()
        }
    }

    /// First hook: the timer. A tick has passed.
    pub(crate) fn tick(&mut self) {
        self.owed = self.owed.saturating_add(1);
        let hooks = self.hooks.as_ref().filter(|_| self.told_when_due);
        if hooks.is_none_or(|hooks| self.owed >= hooks.next_timer()) {
            self.tell_time();
        }
    }

    /// Before any other call, too, if the timer does not call at every tick.
    fn tell_time(&mut self) {
        let owed = core::mem::take(&mut self.owed);
        if let Some(hooks) = self.hooks.as_mut().filter(|_| owed > 0) {
            self.changed |= hooks.timer(owed);
        }
    }

    /// Second hook: who executes from now on.
    pub(crate) fn pick(&mut self) {
        if !self.changed {
            return;
        }
        self.tell_time();
        if let Some(hooks) = self.hooks.as_mut() {
            self.running = hooks.pick();
            self.changed = false;
        }
    }

    /// Third hook: a task becomes ready or blocked.
    pub(crate) fn tell(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        self.tell_time();
        self.changed = true;
        self.hooks
            .as_mut()
            .map_or(Ok(()), |hooks| hooks.task(task, change))
    }

    /// Whether [`Glue::pick`] may give another answer.
    pub(crate) fn has_changed(&self) -> bool {
        self.changed
    }

    pub(crate) fn running(&self) -> Pick {
        self.running
    }

    /// The task that executes.
    pub(crate) fn task(&self) -> Option<TaskId> {
        match self.running {
            Pick::Task(task) => Some(task),
            Pick::Idling(_) | Pick::Idle => None,
        }
    }

    /// The scheduler is given back, and the idle task executes.
    pub(crate) fn leave(&mut self) {
        (self.hooks, self.running) = (None, Pick::Idle);
    }
}
