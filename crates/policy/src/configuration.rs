//! From what schedulers are made: owned, comparable forms of the core's configurations.

mod frames;
mod levels;

use crate::engine::Engine;
use crate::refusal::Refusal;
use std::fmt;
use std::sync::Arc;
use vestal_core::{
    self as core, DeviceConfiguration, Duration, Enforcement, Exhaustion, Guard, Hierarchy,
    HierarchyConfiguration, LevelSet, Modes, Rank, Scheduler, ServedTask, ServerConfiguration,
    Service, TaskConfiguration, TaskOrder, Uniprocessor,
};

pub use frames::{FrameFault, FrameLists};
pub use levels::Levels;

/// What the world that a scheduler is made for can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision {
    /// The smallest budget that it can enforce (C2).
    pub granularity: Service,
    /// How late it may wake the scheduler before that is worth a notice (C6).
    pub wake_granularity: Duration,
}

impl Precision {
    /// A world in which time is exact.
    pub const EXACT: Self = Self {
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
}

/// From what the schedulers of a cluster are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Configuration {
    /// One CPU, an order and limits.
    OneCpu(OneCpu),
    /// One CPU, servers with an order inside each.
    Servers(Servers),
    /// Several CPUs, four levels.
    Levels(Levels),
    /// Several CPUs, a cycle of frames.
    Frames(FrameLists),
    /// What a program's own policy makes of it.
    User(User),
}

/// One CPU, an order and limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneCpu {
    /// The tasks.
    pub tasks: Vec<TaskConfiguration>,
    /// How many levels there are.
    pub levels: LevelSet,
    /// How long jobs may run.
    pub enforcement: Enforcement,
    /// What happens to a job that used up its own level's limit.
    pub exhaustion: Exhaustion,
    /// In which order admitted jobs go.
    pub order: TaskOrder<'static>,
}

/// One CPU, servers by their priorities, and an order inside each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servers {
    /// The tasks as a person sees them: with the priorities of their servers. The bottom halves of devices stand
    /// behind those of the file.
    pub tasks: Vec<TaskConfiguration>,
    /// What the servers are called.
    pub names: Vec<String>,
    /// The servers.
    pub servers: Vec<ServerConfiguration>,
    /// The tasks with their servers.
    pub served: Vec<ServedTask>,
    /// The devices.
    pub devices: Vec<DeviceConfiguration>,
    /// How many levels there are.
    pub levels: LevelSet,
    /// When the mode changes.
    pub modes: Modes,
}

/// Makes a scheduler, or says in one sentence without a full stop why it cannot.
type Build = dyn Fn(Precision) -> Result<Box<dyn Scheduler + Send>, String> + Send + Sync;

/// What a program's own policy makes of a set: anything that keeps the contract. Two are equal if they are
/// the same closure; what it does is checked by replays.
#[derive(Clone)]
pub struct User {
    /// The tasks.
    pub tasks: Vec<TaskConfiguration>,
    pub(crate) build: Arc<Build>,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User")
            .field("tasks", &self.tasks)
            .finish_non_exhaustive()
    }
}

impl PartialEq for User {
    fn eq(&self, other: &Self) -> bool {
        self.tasks == other.tasks && Arc::ptr_eq(&self.build, &other.build)
    }
}

impl OneCpu {
    /// The core's borrowed form.
    #[must_use]
    pub fn with(&self, precision: Precision) -> core::Configuration<'_> {
        core::Configuration {
            tasks: &self.tasks,
            levels: self.levels,
            enforcement: self.enforcement,
            exhaustion: self.exhaustion,
            granularity: precision.granularity,
            wake_granularity: precision.wake_granularity,
        }
    }
}

impl Servers {
    /// The core's borrowed form.
    #[must_use]
    pub fn with(&self, precision: Precision) -> HierarchyConfiguration<'_> {
        HierarchyConfiguration {
            servers: &self.servers,
            tasks: &self.served,
            devices: &self.devices,
            levels: self.levels,
            modes: self.modes,
            granularity: precision.granularity,
            wake_granularity: precision.wake_granularity,
        }
    }
}

/// Why fixed priorities cannot carry out what a scheduler plans.
pub(crate) const BY_SCHEDULER: &str =
    "fixed priorities cannot carry out the plans of its own scheduler";
/// Why they cannot carry out MC².
pub(crate) const BY_LEVEL: &str =
    "fixed priorities of tasks keep neither tables nor deadlines of jobs";
/// Why they cannot carry out a frame table.
pub(crate) const BY_FRAME: &str =
    "fixed priorities of tasks keep neither frames nor their barriers";
pub(crate) const BY_SERVER: &str = "fixed priorities of tasks cannot give them servers";

impl Configuration {
    /// The tasks.
    #[must_use]
    pub fn tasks(&self) -> &[TaskConfiguration] {
        match self {
            Self::OneCpu(OneCpu { tasks, .. })
            | Self::Servers(Servers { tasks, .. })
            | Self::Levels(Levels { tasks, .. })
            | Self::Frames(FrameLists { tasks, .. })
            | Self::User(User { tasks, .. }) => tasks,
        }
    }

    /// A scheduler that decides everything.
    ///
    /// # Errors
    /// What is wrong with the parameters, or what a program's own policy has against the set.
    pub fn engine(&self, precision: Precision) -> Result<Engine, Refusal> {
        let refused = |why: String| Refusal::input(why);
        Ok(match self {
            Self::OneCpu(one) => {
                let engine = Uniprocessor::with_order(&one.with(precision), &one.order)
                    .map_err(|error| refused(error.to_string()))?;
                Engine::Uniprocessor(Box::new(engine))
            }
            Self::Servers(servers) => {
                let engine = Hierarchy::new(&servers.with(precision));
                Engine::Hierarchy(Box::new(
                    engine.map_err(|error| refused(error.to_string()))?,
                ))
            }
            Self::Levels(levels) => Engine::Levelled(Box::new(levels.whole(precision)?)),
            Self::Frames(frames) => Engine::Frames(Box::new(frames.engine(precision)?)),
            Self::User(user) => Engine::User((user.build)(precision).map_err(refused)?),
        })
    }

    /// Enforcement alone, for a world in which fixed priorities keep the order.
    ///
    /// # Errors
    /// Why they cannot, or what is wrong with the parameters.
    pub fn guard(&self, precision: Precision) -> Result<Guard, Refusal> {
        let one = match self {
            Self::OneCpu(one) => one,
            Self::Servers(_) => return Err(Refusal::input(BY_SERVER)),
            Self::Levels(_) => return Err(Refusal::input(BY_LEVEL)),
            Self::Frames(_) => return Err(Refusal::input(BY_FRAME)),
            Self::User(_) => return Err(Refusal::input(BY_SCHEDULER)),
        };
        if let Some(why) = one.order.beyond_fixed_priorities() {
            return Err(Refusal::input(why));
        }
        Guard::new(&one.with(precision)).map_err(|error| Refusal::input(error.to_string()))
    }

    /// Its servers, if it has any.
    #[must_use]
    pub const fn servers(&self) -> Option<&Servers> {
        match self {
            Self::Servers(servers) => Some(servers),
            Self::OneCpu(_) | Self::Levels(_) | Self::Frames(_) | Self::User(_) => None,
        }
    }

    /// Its frames, if it has any.
    #[must_use]
    pub const fn frames(&self) -> Option<&FrameLists> {
        match self {
            Self::Frames(frames) => Some(frames),
            Self::OneCpu(_) | Self::Servers(_) | Self::Levels(_) | Self::User(_) => None,
        }
    }

    /// Four levels on several CPUs, whose schedulers come domain by domain as well; `None` for what is decided in one
    /// piece.
    #[must_use]
    pub const fn levels(&self) -> Option<&Levels> {
        match self {
            Self::Levels(levels) => Some(levels),
            Self::OneCpu(_) | Self::Servers(_) | Self::Frames(_) | Self::User(_) => None,
        }
    }

    /// Whether its scheduler is a program's own.
    #[must_use]
    pub const fn is_own(&self) -> bool {
        matches!(self, Self::User(_))
    }

    /// The priorities of the tasks, if they alone order jobs, and none is suspended.
    #[must_use]
    pub fn fixed_priorities(&self) -> Option<Vec<u32>> {
        let Self::OneCpu(one) = self else {
            return None;
        };
        let alone = one.order.is_fixed() && !one.enforcement.suspends();
        alone.then(|| one.tasks.iter().map(|entry| entry.priority).collect())
    }

    /// Whether a proof holds if nothing is enforced: limits that cut off only what the guarantee does not cover
    /// anyway.
    #[must_use]
    pub fn holds_unenforced(&self) -> bool {
        match self {
            Self::OneCpu(one) => one.enforcement.is_dispensable(),
            Self::Servers(_) | Self::Levels(_) | Self::Frames(_) | Self::User(_) => false,
        }
    }

    /// How urgent a task is before any job is there; `None` if its scheduler does not say. Levels go before each other
    /// as priorities do, and so do the criticalities of sub-frames; what orders tasks of one level is another thing.
    #[must_use]
    pub fn rank(&self, task: usize) -> Option<Rank<'_>> {
        let entry = self.tasks().get(task)?;
        match self {
            Self::OneCpu(one) => Some(one.order.rank(task, entry)),
            Self::Servers(_) => Some(Rank::Priority(entry.priority)),
            Self::Levels(levels) => Some(Rank::Priority(levels.precedence(task)?)),
            Self::Frames(_) => Some(Rank::Priority(u32::from(entry.task.criticality.0))),
            Self::User(_) => None,
        }
    }
}
