//! How long a job may run, and what happens then: static limits, adaptive limits, limits in slices,
//! zero slack.
//!
//! Huang, Gill and Lu (2014, section 2) separate this from the order of jobs; so does Vestal. What a rule
//! says of a task in a mode is a pure function of both ([`Enforcement`]); what it has to remember of jobs
//! is in `Rule`, behind one small interface. The engine that sees every job and the guard to which only
//! exceptions are reported decide by the same lines of both, and neither knows which rule it has.
//!
//! A new rule is a file of this room and a line in each `match` of this one.

mod pt;
mod zss;

use crate::configuration_error::ConfigurationError;
use crate::ids::{JobId, TaskId};
use crate::model::{Level, Task};
use crate::plan::{OnExhaustion, Permit, Wake};
use crate::scheduler::{ContractViolation, Interest};
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;
use crate::time::{Duration, Instant, Service};
use pt::Slices;
use zss::ZeroSlack;

/// The rule by which jobs get limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Enforcement {
    /// Static: a job may execute its own level's C_i(z_i), whatever happens; there is one mode.
    /// RMS, DMS, CMS and SMC.
    Static,
    /// Adaptive (AMC; Baruah, Burns and Davis 2011, Fleming and Burns 2013 for more levels): in
    /// mode k a job may execute C_i(k); one that needs more raises the mode, and tasks below the
    /// mode are not admitted until the next idle instant.
    Adaptive,
    /// Period transformation (PT; Sha, Lehoczky and Rajkumar 1986, Vestal 2007): as [`Self::Static`],
    /// but a job is granted C_i(z_i) in slices ([`crate::SliceCount`]). For fixed task priorities.
    Slices,
    /// Zero slack (ZSS; de Niz, Lakshmanan and Rajkumar 2009; Huang, Gill and Lu 2014, sections 2.2
    /// and 5.1): a job that is incomplete at its zero-slack instant suspends all less critical tasks
    /// until it is complete, one that is incomplete at its deadline those of its own level too and
    /// goes on below all others. A job may execute C_i(z_i) in all, as under [`Self::Static`]; there
    /// is one mode. For fixed task priorities.
    ZeroSlack,
}

/// What happens to a job that has used up its own level's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exhaustion {
    /// It runs on only where no admitted job wants the CPU, and ends when its successor is admitted.
    Background,
    /// It is dropped at once.
    Abort,
    /// Nothing: it goes on as if it had no limit. No analysis covers this; for comparison only.
    Continue,
}

/// Whether it makes a difference that a job which stands exactly at the C of a level below its own is
/// incomplete, before it exceeds that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtLimit {
    /// It does not.
    Harmless,
    /// The job raises the mode at once.
    RaisesMode,
    /// It suspends others from its zero-slack instant on, also at its own level's C where that is no limit.
    Suspends,
}

impl Enforcement {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Static, Self::Adaptive, Self::ZeroSlack, Self::Slices];

    /// Whether there is more than one mode.
    #[must_use]
    pub const fn has_modes(self) -> bool {
        matches!(self, Self::Adaptive)
    }

    /// Whether jobs are suspended, or have less than their limit for a while.
    #[must_use]
    pub const fn suspends(self) -> bool {
        matches!(self, Self::Slices | Self::ZeroSlack)
    }

    /// Whether limits cut off only what a guarantee does not cover anyway: it holds without them too.
    #[must_use]
    pub const fn is_dispensable(self) -> bool {
        matches!(self, Self::Static)
    }

    /// Whether the rule is made for fixed priorities of tasks only.
    pub(crate) const fn is_for_fixed_priorities(self) -> bool {
        self.suspends()
    }

    /// Checks what the rule needs of tasks.
    pub(crate) fn check(self, tasks: &[TaskConfiguration]) -> Result<(), ConfigurationError> {
        match self {
            Self::Static | Self::Adaptive => Ok(()),
            Self::Slices => pt::check(tasks),
            Self::ZeroSlack => zss::check(tasks),
        }
    }

    /// What a native world reports.
    #[must_use]
    pub const fn interest(self) -> Interest {
        match self {
            Self::Static | Self::Adaptive => Interest::NewestReleases,
            Self::Slices => Interest::Releases,
            Self::ZeroSlack => Interest::IncompleteJobs,
        }
    }

    /// What a job does that stands at a level's C.
    #[must_use]
    pub const fn at_limit(self) -> AtLimit {
        match self {
            Self::Static | Self::Slices => AtLimit::Harmless,
            Self::Adaptive => AtLimit::RaisesMode,
            Self::ZeroSlack => AtLimit::Suspends,
        }
    }

    /// The limits that jobs of `task` can have in modes up to their own level, and the level of each.
    pub fn limits(self, task: &Task) -> impl Iterator<Item = (Level, Service)> {
        let highest = if self.has_modes() {
            task.criticality
        } else {
            Level::LOWEST
        };
        let modes = highest.up_to_self();
        modes.map(move |mode| (self.limit_level(task, mode), self.limit(task, mode)))
    }

    /// Whether a job of `task` is admitted in `mode`.
    #[must_use]
    pub fn admits(self, task: &Task, mode: Level) -> bool {
        !self.has_modes() || task.criticality >= mode || task.degraded.is_some()
    }

    /// What a job of an admitted `task` may execute in all before [`Self::on_exhaustion`].
    #[must_use]
    pub fn limit(self, task: &Task, mode: Level) -> Service {
        if !self.has_modes() {
            return task.own_wcet();
        }
        if task.criticality >= mode {
            task.wcet.at(mode)
        } else {
            task.degraded.unwrap_or(Service::ZERO)
        }
    }

    /// The level whose C_i is that limit; the mode itself for a degraded budget.
    #[must_use]
    pub const fn limit_level(self, task: &Task, mode: Level) -> Level {
        if self.has_modes() {
            mode
        } else {
            task.criticality
        }
    }

    /// What using up that limit means; `None` if it means nothing.
    #[must_use]
    pub fn on_exhaustion(
        self,
        task: &Task,
        mode: Level,
        exhaustion: Exhaustion,
    ) -> Option<OnExhaustion> {
        if self.has_modes() && task.criticality > mode {
            return Some(OnExhaustion::RaiseMode(mode.next_higher()));
        }
        match exhaustion {
            Exhaustion::Background => Some(OnExhaustion::Demote),
            Exhaustion::Abort => Some(OnExhaustion::Abort),
            Exhaustion::Continue => None,
        }
    }
}

/// How far a job is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress<'a> {
    pub(crate) task: TaskId,
    pub(crate) entry: &'a TaskConfiguration,
    /// How long ago it was released.
    pub(crate) since_release: Duration,
    /// What it was charged.
    pub(crate) executed: Service,
    /// The instant of the decision.
    pub(crate) now: Instant,
}

/// Whose permit is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) task: TaskId,
    pub(crate) entry: &'a TaskConfiguration,
    /// Of which job; `None`: of the task's first incomplete one.
    pub(crate) sequence: Option<u64>,
    /// Whether that is the job that the rule may have suspended.
    pub(crate) is_present: bool,
    /// How long ago it was released.
    pub(crate) since_release: Duration,
    /// What it may execute in all, as far as the mode says.
    pub(crate) limit: Option<Service>,
}

/// What an engine, for tests, sees of a task's job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// When it was released, if it is admitted.
    pub(crate) admitted: Option<Instant>,
    /// It waits for its next slice.
    pub(crate) is_suspended: bool,
    /// It may run by its urgency.
    pub(crate) runs: bool,
}

/// What a rule remembers of jobs, for one engine or guard. Each method says what it means under every rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rule<S: Store> {
    /// Limits follow from task and mode: there is nothing to remember.
    OfMode,
    /// Jobs are suspended until their next slice.
    Slices(Slices<S>),
    /// Jobs are suspended for the sake of more critical ones.
    ZeroSlack(ZeroSlack<S>),
}

impl<S: Store> Rule<S> {
    /// No job yet; `None` if the storage is too small.
    pub(crate) fn new(enforcement: Enforcement, tasks: usize) -> Option<Self> {
        match enforcement {
            Enforcement::Static | Enforcement::Adaptive => Some(Self::OfMode),
            Enforcement::Slices => Slices::new(tasks).map(Self::Slices),
            Enforcement::ZeroSlack => ZeroSlack::new(tasks).map(Self::ZeroSlack),
        }
    }

    /// Whether an admitted job may run only once [`Self::settle`] has said so.
    #[inline]
    pub(crate) const fn admits_jobs(&self) -> bool {
        match self {
            Self::OfMode | Self::Slices(_) => false,
            Self::ZeroSlack(_) => true,
        }
    }

    /// An incomplete job counts, since its release at `at`.
    pub(crate) fn released(&mut self, job: JobId, at: Instant) -> Result<(), ContractViolation> {
        match self {
            Self::OfMode | Self::Slices(_) => Ok(()),
            Self::ZeroSlack(zero_slack) => zero_slack.released(job, at),
        }
    }

    /// The same for an engine that settles at this very instant, `now`; says whether the job may be queued by its priority at
    /// once. Otherwise [`Self::settle`] says whether it runs.
    #[inline]
    pub(crate) fn begins(
        &mut self,
        job: JobId,
        at: Instant,
        now: Instant,
        entry: &TaskConfiguration,
    ) -> bool {
        match self {
            Self::OfMode | Self::Slices(_) => true,
            Self::ZeroSlack(zero_slack) => zero_slack.begins(job, (at, now), entry),
        }
    }

    /// A job, and with it every earlier one of its task, has ended, or is guaranteed nothing any more.
    #[inline]
    pub(crate) fn ended(&mut self, job: JobId) {
        match self {
            Self::OfMode | Self::Slices(_) => {}
            Self::ZeroSlack(zero_slack) => zero_slack.ended(job),
        }
    }

    /// Whatever the present job of `task` was suspended for will not come.
    #[inline]
    pub(crate) fn forget(&mut self, task: TaskId) {
        match self {
            Self::OfMode | Self::ZeroSlack(_) => {}
            Self::Slices(slices) => slices.forget(task),
        }
    }

    /// Whether [`Self::grant`] has anything to say of any job.
    #[inline]
    pub(crate) const fn grants_in_parts(&self) -> bool {
        match self {
            Self::OfMode | Self::ZeroSlack(_) => false,
            Self::Slices(_) => true,
        }
    }

    /// What a job may execute so far, if that is less than the mode allows.
    #[inline]
    pub(crate) fn grant(
        &self,
        entry: &TaskConfiguration,
        since_release: Duration,
    ) -> Option<Service> {
        match self {
            Self::OfMode | Self::ZeroSlack(_) => None,
            Self::Slices(_) => pt::grant(entry, since_release),
        }
    }

    /// Whether less is left to a job than its whole limit: it is suspended if it has executed what it
    /// was granted so far.
    pub(crate) fn suspend(&mut self, job: &Progress<'_>, granularity: Service) -> bool {
        match self {
            Self::OfMode | Self::ZeroSlack(_) => false,
            Self::Slices(slices) => slices.suspend(job, granularity),
        }
    }

    /// Whether there is one whose job [`Self::resume`] brings back.
    #[inline]
    pub(crate) fn resumes(&self, now: Instant) -> bool {
        match self {
            Self::OfMode | Self::ZeroSlack(_) => false,
            Self::Slices(slices) => slices.resumes(now),
        }
    }

    /// A task whose job [`Self::suspend`] has suspended until `now` or an earlier instant.
    pub(crate) fn resume(&mut self, now: Instant) -> Option<TaskId> {
        match self {
            Self::OfMode | Self::ZeroSlack(_) => None,
            Self::Slices(slices) => slices.resume(now),
        }
    }

    /// Whether [`Self::settle`] has anything to do.
    #[inline]
    pub(crate) fn has_to_settle(&self, now: Instant) -> bool {
        match self {
            Self::OfMode | Self::Slices(_) => false,
            Self::ZeroSlack(zero_slack) => zero_slack.has_to_settle(now),
        }
    }

    /// Everything up to `now`, last before the selection: a job released just now may have no slack from
    /// the beginning. `place` is called for every task for which it may have changed whether its job runs by
    /// its priority.
    pub(crate) fn settle(
        &mut self,
        now: Instant,
        tasks: &[TaskConfiguration],
        place: impl FnMut(TaskId, bool),
    ) {
        match self {
            Self::OfMode | Self::Slices(_) => {}
            Self::ZeroSlack(zero_slack) => zero_slack.settle(now, tasks, place),
        }
    }

    /// The task whose job goes on below all others, ahead of those in the background.
    pub(crate) fn first_below(&self) -> Option<TaskId> {
        match self {
            Self::OfMode | Self::Slices(_) => None,
            Self::ZeroSlack(zero_slack) => zero_slack.first_late(),
        }
    }

    /// What an admitted job is permitted as of the last settlement.
    pub(crate) fn permit(&self, asked: &Asked<'_>) -> Permit {
        let permit = match self {
            Self::OfMode => None,
            Self::Slices(slices) if asked.is_present => slices.permit(asked.task),
            Self::Slices(_) => None,
            Self::ZeroSlack(zero_slack) => zero_slack.permit(asked),
        };
        permit.unwrap_or_else(|| Permit::Run {
            limit: self.grant(asked.entry, asked.since_release).or(asked.limit),
        })
    }

    /// When something happens that no fact reports.
    #[inline]
    pub(crate) fn next(&self, tasks: &[TaskConfiguration]) -> Option<Wake> {
        match self {
            Self::OfMode => None,
            Self::Slices(slices) => slices.next(),
            Self::ZeroSlack(zero_slack) => zero_slack.next(tasks),
        }
    }

    /// Up to which level tasks are suspended; `None` if none is.
    pub(crate) const fn suspension_level(&self) -> Option<Level> {
        match self {
            Self::OfMode | Self::Slices(_) => None,
            Self::ZeroSlack(zero_slack) => zero_slack.level(),
        }
    }

    /// Whether what is remembered of all tasks is what an engine sees of them; for tests.
    pub(crate) fn check(
        &self,
        now: Instant,
        tasks: &[TaskConfiguration],
        seen: impl Fn(TaskId) -> Seen,
    ) -> bool {
        match self {
            Self::OfMode => true,
            Self::Slices(slices) => {
                let mut all = (0..=u16::MAX).map(TaskId).zip(tasks);
                all.all(|(task, _)| slices.permit(task).is_some() == seen(task).is_suspended)
            }
            Self::ZeroSlack(zero_slack) => zero_slack.check(now, tasks, seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Wcet;
    use crate::time::Duration;

    fn hi_task() -> Task {
        let wcet = Wcet::new(&[Service::from_nanos(2), Service::from_nanos(5)]).unwrap();
        Task::new(
            Level(1),
            Duration::from_nanos(10),
            Duration::from_nanos(10),
            wcet,
        )
        .unwrap()
    }

    #[test]
    fn amc_gives_a_hi_task_its_lo_budget_first_and_its_hi_budget_after_the_switch() {
        let task = hi_task();
        let amc = Enforcement::Adaptive;
        assert_eq!(amc.limit(&task, Level(0)), Service::from_nanos(2));
        assert_eq!(
            amc.on_exhaustion(&task, Level(0), Exhaustion::Background),
            Some(OnExhaustion::RaiseMode(Level(1)))
        );
        assert_eq!(amc.limit(&task, Level(1)), Service::from_nanos(5));
        assert_eq!(
            amc.on_exhaustion(&task, Level(1), Exhaustion::Background),
            Some(OnExhaustion::Demote)
        );
        assert!(!amc.admits(&task, Level(2)));
    }

    #[test]
    fn a_degraded_task_stays_admitted_with_its_degraded_budget() {
        let task = Task {
            degraded: Some(Service::from_nanos(3)),
            ..hi_task()
        };
        assert!(Enforcement::Adaptive.admits(&task, Level(2)));
        assert_eq!(
            Enforcement::Adaptive.limit(&task, Level(2)),
            Service::from_nanos(3)
        );
    }

    #[test]
    fn smc_gives_each_task_its_own_levels_budget() {
        assert_eq!(
            Enforcement::Static.limit(&hi_task(), Level(0)),
            Service::from_nanos(5)
        );
    }
}
