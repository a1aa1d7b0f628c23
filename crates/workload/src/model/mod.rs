//! The resolved task set: everything a file said, in exact units, with defaults filled in.

mod device;
mod file;
mod rules;
mod server;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::number::Ratio;
use crate::quantity::Unit;
use crate::source::{Place, Source};
use crate::table::fields::Fields;
pub use crate::table::kinds::{CPUS_MAX, PerLevel};
use crate::table::kinds::{
    Count, Cpu, Cpus, Inline, LevelName, List, Name, OneOrPerLevel, PerLevelOf, PositiveTime,
    Reference, Time, Word, Words, WorkText, words,
};
use crate::table::names::{ADevice, Names, Written};
use crate::table::{Keys, no_rules, table};
pub use crate::work::Work;
pub(crate) use file::FileTable;
use std::sync::Arc;
pub use vestal_core::OnMiss;
use vestal_core::{Duration, Instant, Level, Service};

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

impl Origin {
    pub(crate) fn none() -> Self {
        Self {
            source: Source::new("", ""),
            warnings: Vec::new(),
        }
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

table! {
    /// `[platform]`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Platform from PlatformTable, no_rules {
        /// How many CPUs; default: 1.
        cpus: u16 = Cpus, or 1;
        /// The tick of a tick-driven world; default: time is exact.
        tick: Option<Duration> = PositiveTime, optional;
        /// The CPU that takes all interrupts (mc2); default: none.
        interrupt_master: Option<u16> = Cpu, optional;
        /// The shared memory bus (ftts); default: no interference.
        bus: Option<Bus> = Inline<BusTable>, optional;
    }
    /// Where it stands.
    place: Place = Fields::place
}

table! {
    /// A shared memory bus.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Bus from BusTable, no_rules {
        /// Who goes next.
        arbitration: Arbitration = Words<Arbitration>, required "arbitration = \"round-robin\"";
        /// How long one access takes.
        access: Duration = PositiveTime, required "access = \"50ns\"";
    }
}

/// Who gets the bus next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// In turns.
    RoundRobin,
    /// First come, first served.
    Fcfs,
}

table! {
    /// `[[task]]`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TaskSpec from TaskTable, rules::task {
        /// The name, unique among the tasks.
        name: String = Name, required "name = \"sensor\"";
        /// One of the levels.
        criticality: Level = LevelName, required "criticality = \"HI\"";
        /// Period, or the minimum inter-arrival time of a sporadic task.
        period: Duration = PositiveTime, required "period = \"10ms\"";
        /// Relative deadline, at most the period; default: the period.
        deadline: Duration = PositiveTime, or period;
        /// The release of the first job, for a sporadic task the earliest instant of it; default: 0.
        offset: Duration = Time, or Duration::ZERO;
        /// How jobs arrive; default: periodic.
        arrival: Arrival = Words<Arrival>, or Arrival::Periodic;
        /// Worst-case execution times per level, never decreasing with the level.
        wcet: PerLevel<Service> = PerLevelOf<Time>, required "wcet = { LO = 1 }";
        /// The budget of a job while the mode is above the task's own level; default: such a job is not admitted.
        degraded: PerLevel<Service> = PerLevelOf<PositiveTime>, empty;
        /// Larger is more urgent; for all tasks or for none; default: the policy assigns it.
        priority: Option<u32> = Count<0>, optional;
        /// The CPU, counted from 0; default: the policy partitions.
        cpu: Option<u16> = Cpu, optional;
        /// The largest number of memory accesses of a job; default: none.
        accesses: PerLevel<u64> = OneOrPerLevel<Count<0>>, empty;
        /// What happens to a job past its deadline, unless the policy has a rule of its own; default: continue.
        on_miss: Option<OnMiss> = Words<OnMiss>, optional;
        /// Where a job blocks on a device, in the order of execution; default: it never blocks.
        io: Vec<IoSpec> = List<Inline<IoTable>>, empty;
        /// What a job does in `run`: spin, array:SIZE or alloc:COUNTxSIZE@PROBABILITY; default: spin.
        work: Option<Work> = WorkText, optional;
    }
    /// Where things stand, for later diagnostics.
    places: TaskPlaces = TaskPlaces::of
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
    pub keys: Vec<(&'static str, Place)>,
}

impl PartialEq for TaskPlaces {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for TaskPlaces {}

impl TaskPlaces {
    fn of(fields: &Fields<'_>) -> Self {
        let at = fields.name_place();
        let value = |key: &str| fields.get(key).map_or(at, |node| Place(node.span));
        // As the program has it: a file has many.
        let known = |key: &str| TaskTable::KEYS.iter().find(|known| known.name == key);
        let name = |key: &str| known(key).map(|known| known.name);
        Self {
            name: at,
            wcet: value("wcet"),
            degraded: value("degraded"),
            keys: fields
                .keys()
                .filter_map(|(key, span)| Some((name(key)?, Place(span))))
                .collect(),
        }
    }
}

/// How jobs arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrival {
    /// Every period.
    #[default]
    Periodic,
    /// At least a period apart.
    Sporadic,
}

table! {
    /// One blocking operation inside a job.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct IoSpec from IoTable, no_rules {
        /// How much of the job's execution comes before.
        after: Service = Time, required "after = \"1ms\"";
        /// The name of a device.
        device: String = Reference<ADevice>, required "device = \"camera\"";
        /// How many events must be served before the job goes on.
        events: u64 = Count<1>, required "events = 1";
    }
    /// Where its values stand, for later diagnostics.
    places: IoPlaces = IoPlaces::of
}

/// Where the values of an `io` stand. Always equal, as [`Place`]s are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoPlaces {
    /// That of `device`.
    pub device: Place,
    /// That of `events`.
    pub events: Place,
}

impl IoPlaces {
    fn of(fields: &Fields<'_>) -> Self {
        let value = |key: &str| Place(fields.value(key).0);
        Self {
            device: value("device"),
            events: value("events"),
        }
    }
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
    /// Where some of its values stand, for later diagnostics.
    pub places: ServerPlaces,
}

/// Where values of a server stand; where the file does not give one, the server's name. Always equal, as [`Place`]s are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerPlaces {
    /// That of `kind`.
    pub kind: Place,
    /// That of `criticality`.
    pub criticality: Place,
    /// That of `utilization`.
    pub utilization: Place,
}

impl ServerPlaces {
    pub(crate) fn of(fields: &Fields<'_>) -> Self {
        let name = fields.name_place();
        let value = |key: &str| fields.get(key).map_or(name, |node| Place(node.span));
        Self {
            kind: value("kind"),
            criticality: value("criticality"),
            utilization: value("utilization"),
        }
    }

    /// Of a server that stands in no file, but for this one.
    #[must_use]
    pub const fn at(place: Place) -> Self {
        Self {
            kind: place,
            criticality: place,
            utilization: place,
        }
    }
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
    /// What it is in a real run, if the file says so.
    pub real: Option<DeviceKind>,
    /// Where it stands.
    pub place: Place,
}

/// What the events of a device come by in a real run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// A pipe of packets.
    Pipe,
    /// A pseudo-terminal, each byte of which is an event.
    Pty,
    /// Datagrams from one network namespace to another.
    Udp,
    /// Packets of a TUN device.
    Tun,
}

impl DeviceKind {
    /// As files and results say it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.word()
    }
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

table! {
    /// `[[job]]`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct JobSpec from JobTable, rules::job {
        /// The name, unique among the jobs.
        name: String = Name, required "name = \"first\"";
        /// When it is released.
        release: Instant = Time, required "release = 0";
        /// The instant by which it must be done, after its release, on the same clock.
        deadline: Instant = PositiveTime, required "deadline = \"10ms\"";
        /// One of the levels.
        criticality: Level = LevelName, required "criticality = \"HI\"";
        /// Execution times per level, never decreasing with the level.
        wcet: PerLevel<Service> = PerLevelOf<Time>, required "wcet = { LO = 1 }";
    }
    /// Where it stands.
    place: Place = Fields::name_place
}

words! {
    Arbitration "ArbitrationWord" { RoundRobin "round-robin", Fcfs "fcfs" }
    Arrival "ArrivalWord" { Periodic "periodic", Sporadic "sporadic" }
    DeviceKind "DeviceKindWord" { Pipe "pipe", Pty "pty", Udp "udp", Tun "tun" }
    LocalScheduler "SchedulerWord" { FixedPriority "fixed-priority", Edf "edf" }
    MergeAt "FullWord" { Head "head", Tail "tail" }
}

impl TaskSet {
    /// What tables refer to.
    pub(crate) fn names(&self) -> Written {
        Written {
            levels: self.levels.clone(),
            tasks: Names::of(self.tasks.iter().map(|task| task.name.clone())),
            servers: Names::of(self.servers.iter().map(|server| server.name.clone())),
            devices: Names::of(self.devices.iter().map(|device| device.name.clone())),
        }
    }
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
    /// What is worth a warning although the file is valid; `None` if nothing is.
    #[must_use]
    pub fn warnings(&self) -> Option<Diagnostics> {
        let Origin { source, warnings } = &self.origin;
        (!warnings.is_empty()).then(|| Diagnostics::from_list(Arc::clone(source), warnings.clone()))
    }
}
