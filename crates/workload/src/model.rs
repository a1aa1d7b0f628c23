//! The resolved task set: everything a file said, in exact units, with defaults filled in.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::number::Ratio;
use crate::quantity::Unit;
use crate::source::{Place, Source};
use std::sync::Arc;
pub use vestal_core::OnMiss;
use vestal_core::{Duration, Instant, Level, Service};

/// One value per level, lowest first; `None` where the file gives none.
pub type PerLevel<T> = Vec<Option<T>>;

/// The largest number of CPUs of a platform.
pub const CPUS_MAX: u16 = 1024;

/// A whole task-set file.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSet {
    /// The set's name; empty if the file gives none.
    pub name: String,
    /// The names of the criticality levels, lowest first: 1 to 8.
    pub levels: Vec<String>,
    /// The unit of bare numbers, if the file names one.
    pub unit: Option<Unit>,
    /// The machine the set is meant for.
    pub platform: Platform,
    /// The recurrent tasks, in the order of the file. The order is the last tie-breaker.
    pub tasks: Vec<TaskSpec>,
    /// The servers.
    pub servers: Vec<ServerSpec>,
    /// The devices.
    pub devices: Vec<DeviceSpec>,
    /// A finite job set; then there are no tasks.
    pub jobs: Vec<JobSpec>,
    /// Where it was read from, and what is worth a warning.
    pub origin: Origin,
}

/// Where a task set came from. Two origins are always equal, as [`Place`]s are.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The text.
    pub source: Arc<Source>,
    /// Warnings and notes of a file that is valid all the same.
    pub warnings: Vec<Diagnostic>,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// `[platform]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// How many CPUs; 1 if the file does not say.
    pub cpus: u16,
    /// The tick of a tick-driven world; `None`: exact time.
    pub tick: Option<Duration>,
    /// The CPU that takes all interrupts (MC²).
    pub interrupt_master: Option<u16>,
    /// The memory bus (FTTS).
    pub bus: Option<Bus>,
    /// Where it stands.
    pub place: Place,
}

/// A shared memory bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bus {
    /// Who goes next.
    pub arbitration: Arbitration,
    /// How long one access takes.
    pub access: Duration,
}

/// Who gets the bus next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// In turns.
    RoundRobin,
    /// First come, first served.
    Fcfs,
}

/// `[[task]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSpec {
    /// The name, unique among the tasks.
    pub name: String,
    /// How critical it is: z_i.
    pub criticality: Level,
    /// Period, or the minimum inter-arrival time of a sporadic task.
    pub period: Duration,
    /// Relative deadline; the period if the file does not say.
    pub deadline: Duration,
    /// The release of the first job, or the earliest instant of it for a sporadic task.
    pub offset: Duration,
    /// How jobs arrive.
    pub arrival: Arrival,
    /// C_i(l) as given; values above the own level are estimates.
    pub wcet: PerLevel<Service>,
    /// The budget of a job while the mode is above the task's own level; `None`: not admitted.
    pub degraded: PerLevel<Service>,
    /// Larger is more urgent; `None`: the policy assigns it.
    pub priority: Option<u32>,
    /// The CPU; `None`: the policy partitions.
    pub cpu: Option<u16>,
    /// The largest number of memory accesses of a job.
    pub accesses: PerLevel<u64>,
    /// What happens to a job past its deadline; `None`: not said, which means `continue`.
    pub on_miss: Option<OnMiss>,
    /// Where a job blocks on a device, in the order of execution.
    pub io: Vec<IoSpec>,
    /// What a job does in `run`; `None`: not said, which means `spin`.
    pub work: Option<Work>,
    /// Where things stand, for later diagnostics.
    pub places: TaskPlaces,
}

/// Where the fields of a task stand. Always equal, as [`Place`]s are.
#[derive(Clone, Debug, Default)]
pub struct TaskPlaces {
    /// The name.
    pub name: Place,
    /// The value of `wcet`.
    pub wcet: Place,
    /// The value of `degraded`, or the name.
    pub degraded: Place,
    /// Every key that the file gives, with its place.
    pub keys: Vec<(String, Place)>,
}

impl PartialEq for TaskPlaces {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for TaskPlaces {}

/// How jobs arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Every period.
    Periodic,
    /// At least a period apart.
    Sporadic,
}

/// One blocking operation inside a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoSpec {
    /// How much of the job's execution comes before it.
    pub after: Service,
    /// The name of the device.
    pub device: String,
    /// How many events must have been served before the job goes on.
    pub events: u64,
}

/// What a job does when it is run for real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Counts in registers.
    Spin,
    /// Walks over an array of this many bytes.
    Array {
        /// Size in bytes.
        bytes: u64,
    },
    /// Allocates blocks of memory in some of its jobs, to provoke overruns.
    Alloc {
        /// How many blocks.
        blocks: u64,
        /// The size of each in bytes.
        bytes: u64,
        /// The probability with which a job does it.
        probability: Ratio,
    },
}

/// `[[server]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSpec {
    /// The name, unique among the servers.
    pub name: String,
    /// The kind, with what only that kind has.
    pub kind: ServerKind,
    /// How critical it is; the lowest level if the file does not say.
    pub criticality: Level,
    /// Larger is more urgent; `None`: the policy assigns it.
    pub priority: Option<u32>,
    /// The CPU; `None`: the policy partitions.
    pub cpu: Option<u16>,
    /// The capacity while the mode is above the server's own level.
    pub degraded: PerLevel<Service>,
    /// The order inside the server.
    pub scheduler: LocalScheduler,
    /// The places in the task table of the tasks that it serves.
    pub tasks: Vec<usize>,
    /// Where it stands.
    pub place: Place,
}

/// The kinds of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerKind {
    /// A server with a period and a capacity.
    Periodic {
        /// The replenishment and idle rules.
        rule: ServerRule,
        /// The period.
        period: Duration,
        /// The capacity per level; `None` where the file gives none.
        capacity: PerLevel<Service>,
    },
    /// A priority-inheriting bandwidth-preserving server (Missimer et al.).
    Pibs {
        /// The utilisation per level.
        utilization: PerLevel<Ratio>,
        /// The places in the server table of the servers on whose behalf it runs; empty: any.
        serves: Vec<usize>,
    },
}

/// Replenishment and idle rules of servers with a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerRule {
    /// Loses its budget as soon as it has no work.
    Polling,
    /// Consumes its budget whether or not it has work.
    IdlingPeriodic,
    /// Keeps its budget until the end of the period.
    Deferrable,
    /// Replenishes what was used one period after it was used.
    Sporadic {
        /// The longest replenishment list; `None`: not said.
        replenishments: Option<u32>,
        /// Which entries merge when the list is full; `None`: not said, which means the head.
        full: Option<MergeAt>,
    },
}

/// Which entries of a full replenishment list merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeAt {
    /// The two earliest.
    Head,
    /// The two latest.
    Tail,
}

/// The order inside a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalScheduler {
    /// Fixed priorities.
    FixedPriority,
    /// Earliest deadline first.
    Edf,
}

/// `[[device]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSpec {
    /// The name, unique among the devices.
    pub name: String,
    /// The place in the server table of the server that runs its bottom half.
    pub server: usize,
    /// The execution time of one bottom half.
    pub cost: Service,
    /// When its events arrive.
    pub arrival: DeviceArrival,
    /// Where it stands.
    pub place: Place,
}

/// When the events of a device arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceArrival {
    /// When a task's `io` asks for them.
    Requested,
    /// One every period.
    Periodic {
        /// The period.
        period: Duration,
    },
    /// At least a period apart.
    Sporadic {
        /// The minimum inter-arrival time.
        period: Duration,
    },
    /// Several at once every period.
    Burst {
        /// The period.
        period: Duration,
        /// How many at once.
        burst: u64,
    },
}

/// `[[job]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSpec {
    /// The name, unique among the jobs.
    pub name: String,
    /// When it is released.
    pub release: Instant,
    /// The instant by which it must be done.
    pub deadline: Instant,
    /// How critical it is.
    pub criticality: Level,
    /// C(l) as given.
    pub wcet: PerLevel<Service>,
    /// Where it stands.
    pub place: Place,
}

impl TaskSet {
    /// The level of this name.
    #[must_use]
    pub fn level(&self, name: &str) -> Option<Level> {
        let at = self.levels.iter().position(|known| known == name)?;
        u8::try_from(at).ok().map(Level)
    }
    /// The name of a level; empty for one the set does not have.
    #[must_use]
    pub fn level_name(&self, level: Level) -> &str {
        self.levels.get(level.index()).map_or("", String::as_str)
    }
    /// The place of the task of this name in [`TaskSet::tasks`].
    #[must_use]
    pub fn task_index(&self, name: &str) -> Option<usize> {
        self.tasks.iter().position(|task| task.name == name)
    }
    /// The place of the device of this name in [`TaskSet::devices`].
    #[must_use]
    pub fn device_index(&self, name: &str) -> Option<usize> {
        self.devices.iter().position(|device| device.name == name)
    }
    /// What is worth a warning although the file is valid; `None` if nothing is.
    #[must_use]
    pub fn warnings(&self) -> Option<Diagnostics> {
        let Origin { source, warnings } = &self.origin;
        (!warnings.is_empty()).then(|| Diagnostics::from_list(Arc::clone(source), warnings.clone()))
    }
}
