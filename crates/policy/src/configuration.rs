//! From what schedulers are made: owned, comparable forms of the core's configurations.

use crate::engine::Engine;
use crate::refusal::Refusal;
use std::fmt;
use std::sync::Arc;
use vestal_core::{
    self as core, DeviceConfiguration, Duration, Enforcement, Exhaustion, Guard, Hierarchy,
    HierarchyConfiguration, LevelSet, Scheduler, ServedTask, ServerConfiguration, Service,
    SliceCount, TaskConfiguration, TaskOrder, Uniprocessor,
};

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
    pub order: Order,
}

/// In which order the admitted jobs of one CPU go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the priorities of tasks.
    FixedPriority,
    /// By priorities, and jobs have their limits in so many slices.
    Slices(Vec<SliceCount>),
    /// By deadlines, in mode 0 by these relative ones.
    EarliestDeadline(Vec<Duration>),
    /// By priorities of jobs from these lists, that are reused.
    JobLists(Vec<Vec<u32>>),
    /// The same, computed anew when jobs arrive.
    RecomputedLists(Vec<Vec<u32>>),
}

/// One CPU, servers by their priorities, and an order inside each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servers {
    /// The tasks as a person sees them: with the priorities of their servers.
    pub tasks: Vec<TaskConfiguration>,
    /// The servers.
    pub servers: Vec<ServerConfiguration>,
    /// The tasks with their servers.
    pub served: Vec<ServedTask>,
    /// The devices.
    pub devices: Vec<DeviceConfiguration>,
    /// How many levels there are.
    pub levels: LevelSet,
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

    fn engine(&self, precision: Precision) -> Result<Uniprocessor, core::ConfigurationError> {
        let configuration = self.with(precision);
        let lists: Vec<&[u32]> = match &self.order {
            Order::JobLists(lists) | Order::RecomputedLists(lists) => {
                lists.iter().map(Vec::as_slice).collect()
            }
            Order::FixedPriority | Order::Slices(_) | Order::EarliestDeadline(_) => Vec::new(),
        };
        let order = match &self.order {
            Order::FixedPriority => TaskOrder::FixedPriority,
            Order::Slices(counts) => TaskOrder::Slices { counts },
            Order::EarliestDeadline(virtual_deadlines) => {
                TaskOrder::EarliestDeadline { virtual_deadlines }
            }
            Order::JobLists(_) => TaskOrder::JobLists { lists: &lists },
            Order::RecomputedLists(_) => TaskOrder::RecomputedLists { lists: &lists },
        };
        Uniprocessor::with_order(&configuration, order)
    }

    fn guard(&self, precision: Precision) -> Result<Guard, Refusal> {
        let configuration = self.with(precision);
        let guard = match &self.order {
            Order::FixedPriority => Guard::new(&configuration),
            Order::Slices(counts) => Guard::with_slices(&configuration, counts),
            Order::EarliestDeadline(_) => return Err(Refusal::input(BY_DEADLINE)),
            Order::JobLists(_) | Order::RecomputedLists(_) => return Err(Refusal::input(BY_JOB)),
        };
        guard.map_err(|error| Refusal::input(error.to_string()))
    }
}

/// Why fixed priorities cannot carry out what orders jobs by deadline.
pub(crate) const BY_DEADLINE: &str = "fixed priorities cannot order jobs by deadline";
/// Why they cannot give each job its own.
pub(crate) const BY_JOB: &str = "fixed priorities of tasks cannot give each job its own";
/// Why they cannot carry out what a scheduler plans.
pub(crate) const BY_SCHEDULER: &str =
    "fixed priorities cannot carry out the plans of its own scheduler";
const BY_SERVER: &str = "fixed priorities of tasks cannot give them servers";

impl Configuration {
    /// The tasks.
    #[must_use]
    pub fn tasks(&self) -> &[TaskConfiguration] {
        match self {
            Self::OneCpu(OneCpu { tasks, .. })
            | Self::Servers(Servers { tasks, .. })
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
                let engine = one
                    .engine(precision)
                    .map_err(|error| refused(error.to_string()))?;
                Engine::Uniprocessor(Box::new(engine))
            }
            Self::Servers(servers) => {
                let engine = Hierarchy::new(&HierarchyConfiguration {
                    servers: &servers.servers,
                    tasks: &servers.served,
                    devices: &servers.devices,
                    levels: servers.levels,
                    granularity: precision.granularity,
                    wake_granularity: precision.wake_granularity,
                });
                Engine::Hierarchy(Box::new(
                    engine.map_err(|error| refused(error.to_string()))?,
                ))
            }
            Self::User(user) => Engine::User((user.build)(precision).map_err(refused)?),
        })
    }

    /// Enforcement alone, for a world in which fixed priorities keep the order.
    ///
    /// # Errors
    /// Why they cannot, or what is wrong with the parameters.
    pub fn guard(&self, precision: Precision) -> Result<Guard, Refusal> {
        match self {
            Self::OneCpu(one) => one.guard(precision),
            Self::Servers(_) => Err(Refusal::input(BY_SERVER)),
            Self::User(_) => Err(Refusal::input(BY_SCHEDULER)),
        }
    }

    /// The priorities of the tasks, if they alone order jobs, and nobody is suspended or cut in slices.
    #[must_use]
    pub fn fixed_priorities(&self) -> Option<Vec<u32>> {
        let Self::OneCpu(one) = self else {
            return None;
        };
        let alone = one.order == Order::FixedPriority && one.enforcement != Enforcement::ZeroSlack;
        alone.then(|| one.tasks.iter().map(|entry| entry.priority).collect())
    }

    /// Into how many slices the jobs of each task are cut, if they are.
    #[must_use]
    pub fn slices(&self) -> Option<&[SliceCount]> {
        match self {
            Self::OneCpu(OneCpu {
                order: Order::Slices(counts),
                ..
            }) => Some(counts),
            Self::OneCpu(_) | Self::Servers(_) | Self::User(_) => None,
        }
    }

    /// Whether a proof holds if nothing is enforced: limits that cut off only what the promise does not cover
    /// anyway.
    #[must_use]
    pub fn holds_unenforced(&self) -> bool {
        match self {
            Self::OneCpu(one) => one.enforcement == Enforcement::Static && self.slices().is_none(),
            Self::Servers(_) | Self::User(_) => false,
        }
    }

    /// What a column of [`Configuration::urgency`] is called.
    #[must_use]
    pub const fn column(&self) -> &'static str {
        match self {
            Self::OneCpu(one) => match one.order {
                Order::FixedPriority | Order::Slices(_) => "prio",
                Order::EarliestDeadline(_) => "due after",
                Order::JobLists(_) | Order::RecomputedLists(_) => "job prio",
            },
            Self::Servers(_) | Self::User(_) => "prio",
        }
    }

    /// How urgent a task is: a number that grows as it gets less urgent, and what stands in the column: its
    /// priority, the time after which its jobs count as due in mode 0, or the first priorities of its jobs.
    #[must_use]
    pub fn urgency(&self, task: usize) -> (u64, Urgency<'_>) {
        let priority = self.tasks().get(task).map_or(0, |entry| entry.priority);
        let by_priority = |priority: u32| u64::from(u32::MAX - priority);
        match self {
            Self::OneCpu(one) => match &one.order {
                Order::EarliestDeadline(due) => {
                    let due = due.get(task).copied().unwrap_or(Duration::ZERO);
                    (due.as_nanos(), Urgency::DueAfter(due))
                }
                Order::JobLists(lists) | Order::RecomputedLists(lists) => {
                    let list = lists.get(task).map_or(&[][..], Vec::as_slice);
                    let first = list.first().copied().unwrap_or(0);
                    (by_priority(first), Urgency::Jobs(list))
                }
                Order::FixedPriority | Order::Slices(_) => {
                    (by_priority(priority), Urgency::Priority(priority))
                }
            },
            Self::Servers(_) => (by_priority(priority), Urgency::Priority(priority)),
            Self::User(_) => (0, Urgency::Unknown),
        }
    }
}

/// What makes a task urgent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency<'a> {
    /// Its priority; larger is more urgent.
    Priority(u32),
    /// After which time its jobs count as due in mode 0.
    DueAfter(Duration),
    /// The priorities of its jobs.
    Jobs(&'a [u32]),
    /// Its scheduler does not say.
    Unknown,
}
