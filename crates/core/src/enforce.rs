//! How long a job may run, and what happens then: static limits, adaptive limits, zero slack.
//!
//! Huang, Gill and Lu (2014, section 2) separate this from the order of jobs; so does Vestal. The
//! rules here are pure functions of task and mode, so that the engine that sees every job and the
//! guard that sees only exceptions decide by the same lines.

use crate::model::{Level, Task};
use crate::plan::OnExhaustion;
use crate::time::Service;

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
    /// Zero slack (ZSS; de Niz, Lakshmanan and Rajkumar 2009; Huang, Gill and Lu 2014, sections 2.2
    /// and 5.1): a job that is incomplete at its zero-slack instant suspends all less critical tasks
    /// until it is complete, one that is incomplete at its deadline those of its own level too and
    /// goes on below everybody. A job may execute C_i(z_i) in all, as under [`Self::Static`]; there
    /// is one mode. For fixed task priorities.
    ZeroSlack,
}

/// What happens to a job that has used up its own level's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exhaustion {
    /// It runs on only where no admitted job wants the CPU, and ends when its successor is admitted.
    Background,
    /// It is withdrawn at once.
    Abort,
    /// Nothing: it goes on as if it had no limit. No analysis covers this; for comparison only.
    Continue,
}

/// What happens to a job that is incomplete at its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnMiss {
    /// It goes on, and its successor waits.
    Continue,
    /// It is withdrawn.
    Abort,
}

/// Of what a native world tells an [`crate::Enforcer`] besides limits that jobs used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interest {
    /// The newest release of each task: jobs that are dropped if the mode rises.
    NewestReleases,
    /// The release of a job, with its instant, before the job is charged for the first time: what it is
    /// granted counts from there.
    Releases,
    /// Each job that is incomplete at its zero-slack instant, with the instant of its release; and its end.
    IncompleteJobs,
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
    /// Whether there is more than one mode.
    #[must_use]
    pub const fn has_modes(self) -> bool {
        matches!(self, Self::Adaptive)
    }

    /// Of what a native world tells.
    #[must_use]
    pub const fn interest(self) -> Interest {
        match self {
            Self::Static | Self::Adaptive => Interest::NewestReleases,
            Self::ZeroSlack => Interest::IncompleteJobs,
        }
    }

    /// What a job does that stands at a level's C.
    #[must_use]
    pub const fn at_limit(self) -> AtLimit {
        match self {
            Self::Static => AtLimit::Harmless,
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
        match self {
            Self::Static | Self::ZeroSlack => true,
            Self::Adaptive => task.criticality >= mode || task.degraded.is_some(),
        }
    }

    /// What a job of an admitted `task` may execute in all before [`Self::on_exhaustion`].
    #[must_use]
    pub fn limit(self, task: &Task, mode: Level) -> Service {
        match self {
            Self::Static | Self::ZeroSlack => task.own_wcet(),
            Self::Adaptive if task.criticality >= mode => task.wcet.at(mode),
            Self::Adaptive => task.degraded.unwrap_or(Service::ZERO),
        }
    }

    /// The level whose C_i is that limit; the mode itself for a degraded budget.
    #[must_use]
    pub fn limit_level(self, task: &Task, mode: Level) -> Level {
        match self {
            Self::Static | Self::ZeroSlack => task.criticality,
            Self::Adaptive => mode,
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
        match self {
            Self::Adaptive if task.criticality > mode => {
                Some(OnExhaustion::RaiseMode(mode.next_higher()))
            }
            Self::Static | Self::Adaptive | Self::ZeroSlack => match exhaustion {
                Exhaustion::Background => Some(OnExhaustion::Demote),
                Exhaustion::Abort => Some(OnExhaustion::Abort),
                Exhaustion::Continue => None,
            },
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
