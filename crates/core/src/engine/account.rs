//! The account of limits: what jobs may execute in the present mode, what it means to have used that up,
//! and the mode. One account for the engine that sees every job and for the guard to which only
//! exceptions are reported, so that both judge by the same lines.
//!
//! What a rule of limits remembers of jobs is not in it: [`crate::enforce`] is.

use crate::configuration_error::ConfigurationError;
use crate::enforce::{Enforcement, Exhaustion};
use crate::engine::clock::Clock;
use crate::engine::configuration::Configuration;
use crate::ids::{JobId, TaskId};
use crate::model::{Level, LevelSet};
use crate::notice::Event;
use crate::plan::OnExhaustion;
use crate::scheduler::Interest;
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;
use crate::time::Service;

/// What enforcement says about one task in one mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Allowance {
    /// What a job may execute in all.
    pub(super) limit: Service,
    /// What a job that is complete may have executed: its limit and the world's granularity (C2).
    pub(super) tolerated: Service,
    /// What using the limit up means; `None` if it means nothing.
    pub(super) on_exhaustion: Option<OnExhaustion>,
    /// Whether jobs are admitted.
    pub(super) admits: bool,
}

/// The limits of all tasks, the mode, and what is said of both.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Account<S: Store> {
    pub(super) tasks: S::Table<TaskConfiguration>,
    /// By task, what enforcement says in the present mode: computed once for each mode change.
    pub(super) allowances: S::Table<Allowance>,
    levels: LevelSet,
    enforcement: Enforcement,
    exhaustion: Exhaustion,
    pub(super) granularity: Service,
    pub(super) mode: Level,
    pub(super) clock: Clock<S>,
}

impl<S: Store> Account<S> {
    /// Mode 0, and nothing happened.
    pub(super) fn new(configuration: &Configuration<'_>) -> Result<Self, ConfigurationError> {
        configuration.check()?;
        let count = configuration.tasks.len();
        let too_many = ConfigurationError::TooManyTasks { found: count };
        let first = configuration.tasks.first();
        let first = *first.ok_or(ConfigurationError::NoTasks)?;
        let nothing = Allowance {
            limit: Service::ZERO,
            tolerated: Service::ZERO,
            on_exhaustion: None,
            admits: false,
        };
        let mut account = Self {
            tasks: S::copied(configuration.tasks, first).ok_or(too_many)?,
            allowances: S::table(count, nothing).ok_or(too_many)?,
            levels: configuration.levels,
            enforcement: configuration.enforcement,
            exhaustion: configuration.exhaustion,
            granularity: configuration.granularity,
            mode: Level::LOWEST,
            clock: Clock::new(configuration.wake_granularity, count),
        };
        account.set_mode(Level::LOWEST);
        Ok(account)
    }

    #[inline]
    pub(super) fn entry(&self, task: TaskId) -> Option<&TaskConfiguration> {
        self.tasks.get(task.index())
    }

    /// Whether jobs of `task` are admitted; `false` for one that does not exist.
    pub(super) fn admits(&self, task: TaskId) -> bool {
        let allowance = self.allowances.get(task.index());
        allowance.is_some_and(|allowance| allowance.admits)
    }

    /// Whether `mode` admits jobs of a task.
    #[inline]
    pub(super) fn admits_in(&self, entry: &TaskConfiguration, mode: Level) -> bool {
        self.enforcement.admits(&entry.task, mode)
    }

    /// What a job of `task` may execute in all; `None` if reaching that means nothing.
    pub(super) fn limit(&self, task: TaskId) -> Option<Service> {
        let allowance = self.allowances.get(task.index())?;
        allowance.on_exhaustion.map(|_| allowance.limit)
    }

    /// What becomes of a job that used up its own level's limit.
    pub(super) const fn exhaustion(&self) -> Exhaustion {
        self.exhaustion
    }

    pub(super) const fn interest(&self) -> Interest {
        self.enforcement.interest()
    }

    pub(super) const fn has_modes(&self) -> bool {
        self.enforcement.has_modes()
    }

    /// The limit of a task whose level this is; `None` if no limit has it.
    pub(super) fn limit_at(&self, task: TaskId, level: Level) -> Option<Service> {
        let entry = self.tasks.get(task.index())?;
        let mut limits = self.enforcement.limits(&entry.task);
        let limit = limits.find(|&(of, _)| of == level);
        limit.map(|(_, limit)| limit)
    }

    /// Whether a job that used up its own level's limit makes way for all others.
    pub(super) const fn stops_at_own_limit(&self) -> bool {
        !matches!(self.exhaustion, Exhaustion::Continue)
    }

    /// Whether jobs are suspended until instants.
    pub(super) const fn suspends_until_instants(&self) -> bool {
        matches!(self.interest(), Interest::Releases)
    }

    /// C2: a remainder below the granularity of the world counts as exhausted.
    #[inline]
    pub(super) fn is_used_up(&self, limit: Service, executed: Service) -> bool {
        let remaining = limit.saturating_sub(executed);
        remaining.is_zero() || remaining < self.granularity
    }

    /// Says that the limit of a mode was used up, and what that means; `None` if nothing.
    pub(super) fn overrun(
        &mut self,
        job: JobId,
        executed: Service,
        mode: Level,
    ) -> Option<OnExhaustion> {
        let entry = self.tasks.get(job.task.index())?;
        let (rule, task) = (self.enforcement, &entry.task);
        let verdict = rule.on_exhaustion(task, mode, self.exhaustion)?;
        let level = rule.limit_level(task, mode);
        self.clock.notice(Event::Overrun {
            job,
            level,
            executed,
        });
        Some(verdict)
    }

    /// A job that is complete: to which mode it raises the mode `mode`, because it used more than that
    /// allows and the world's granularity (C2). It can do nothing else any more.
    pub(super) fn raised_by(
        &mut self,
        job: JobId,
        executed: Service,
        mode: Level,
    ) -> Option<Level> {
        let entry = self.tasks.get(job.task.index())?;
        let limit = self.enforcement.limit(&entry.task, mode);
        if executed <= limit.saturating_add(self.granularity) {
            return None;
        }
        match self.overrun(job, executed, mode)? {
            OnExhaustion::RaiseMode(to) => Some(to),
            OnExhaustion::Demote | OnExhaustion::Abort | OnExhaustion::Suspend => None,
        }
    }

    /// Raises the mode, as far as there are levels. O(n).
    #[cold]
    pub(super) fn raise_mode(&mut self, to: Level, cause: JobId) {
        self.change_mode(to.min(self.levels.highest()), Some(cause));
    }

    /// An instant at which nothing admitted is pending: back to mode 0. O(n).
    #[cold]
    pub(super) fn return_to_lowest(&mut self) {
        self.change_mode(Level::LOWEST, None);
    }

    fn change_mode(&mut self, to: Level, cause: Option<JobId>) {
        let from = self.mode;
        self.set_mode(to);
        self.clock.notice(Event::ModeChanged { from, to, cause });
    }

    fn set_mode(&mut self, mode: Level) {
        self.mode = mode;
        for (allowance, entry) in self.allowances.iter_mut().zip(self.tasks.iter()) {
            let (rule, task) = (self.enforcement, &entry.task);
            let limit = rule.limit(task, mode);
            *allowance = Allowance {
                limit,
                tolerated: limit.saturating_add(self.granularity),
                on_exhaustion: rule.on_exhaustion(task, mode, self.exhaustion),
                admits: rule.admits(task, mode),
            };
        }
    }

    /// Whether the table is that of the present mode, for tests.
    pub(super) fn check_allowances(&self) -> bool {
        let mut again = self.clone();
        again.set_mode(self.mode);
        again.allowances == self.allowances
    }
}
