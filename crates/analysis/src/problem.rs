//! What is to be proved: sporadic tasks with criticality levels, on one CPU if nothing else is said.

use crate::grade::{Grade, is_rising};
use crate::overheads::Overheads;
use crate::parameters::{ParameterError, Parameters, Scope, task_id};
use crate::served::{self, Device, ServedError, Server, Wait};
use core::num::NonZeroU16;
use vestal_core::model::{LEVELS_MAX, TASKS_MAX};
use vestal_core::time::HORIZON_NANOS;
use vestal_core::{
    CpuId, Duration, Instant, Level, LevelSet, Service, Task, TaskError, TaskId, Wcet,
};

/// Which release patterns the tasks can produce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phasing {
    /// Any task may be released together with any others: sporadic tasks, periodic tasks of unknown
    /// phase, or periodic tasks of equal offset.
    #[default]
    Arbitrary,
    /// Offsets are known and differ, so that all tasks may never be released together. A test that
    /// is exact for arbitrary phases is then only sufficient. Also the value to choose where jobs
    /// are dropped at their deadlines: the run in which a task misses may then not exist either.
    Restricted,
}

/// A set of constrained-deadline sporadic tasks, and optionally the priorities, virtual deadlines or
/// zero-slack instants they have; or a finite set of jobs ([`Problem::of_jobs`]).
///
/// Invariants: every deadline is in 1..=T, every criticality is a level of the set, every period
/// is at most [`HORIZON_NANOS`] (so a demand that saturates exceeds every deadline), every given
/// virtual deadline is in 1..=D, every given zero-slack instant in 0..=D, every given number of
/// slices fits its task, every given CPU is one of the problem's; servers, devices and waits are sound
/// ([`ServedError`]).
#[derive(Clone, Debug)]
pub struct Problem {
    tasks: Vec<Task>,
    rows: Vec<Row>,
    levels: LevelSet,
    given: Parameters,
    /// A finite job set instead of tasks.
    pub(crate) jobs: Vec<FiniteJob>,
    phasing: Phasing,
    cpus: NonZeroU16,
    servers: Vec<Server>,
    devices: Vec<Device>,
    /// Whether a test may choose the order of the servers.
    free_server_order: bool,
    /// By task; empty if none waits for a device.
    waits: Vec<Vec<Wait>>,
    /// By task; `None`, or no entry, for one that may be released at any time.
    first_releases: Vec<Option<Duration>>,
    /// By task; no entry: no.
    aborted: Vec<bool>,
    bus: Option<Bus>,
    overheads: Option<Overheads>,
    /// By level, lowest first; none if that is not known.
    grades: Vec<Grade>,
    interrupt_master: Option<CpuId>,
}

/// A memory bus that all CPUs share: a CPU has one access under way at most, and waits for at most one of each other
/// CPU before its own (in turns, or first come, first served).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bus {
    /// How long an access takes.
    pub access: Duration,
    /// For each task and each level from the lowest on, how often a job may access the memory at most; it never
    /// falls with the level, so that a value which is not known is at most the next one above that is. No list, or a
    /// list without any value: never.
    pub accesses: Vec<Vec<Option<u64>>>,
}

/// A job that is released once, at a known instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiniteJob {
    /// How critical it is.
    pub criticality: Level,
    /// When it is released.
    pub release: Instant,
    /// The instant by which it has to be done, after the release.
    pub deadline: Instant,
    /// c(l) for each level.
    pub wcet: Wcet,
}

impl FiniteJob {
    /// c(z) in ns.
    pub(crate) fn own_wcet(&self) -> u64 {
        self.wcet.at(self.criticality).as_nanos()
    }
}

impl Problem {
    /// The problem of `tasks` with `levels` criticality levels, phases arbitrary and priorities for
    /// the test to choose.
    ///
    /// # Errors
    /// Any of [`ProblemError`] except [`ProblemError::Parameter`] and [`ProblemError::Served`].
    pub fn new(tasks: Vec<Task>, levels: LevelSet) -> Result<Self, ProblemError> {
        if tasks.len() > TASKS_MAX {
            return Err(ProblemError::TooManyTasks { found: tasks.len() });
        }
        for (index, task) in tasks.iter().enumerate() {
            check(task_id(index), task, levels)?;
        }
        Ok(Self {
            rows: rows(&tasks),
            tasks,
            levels,
            given: Parameters::default(),
            jobs: Vec::new(),
            phasing: Phasing::Arbitrary,
            cpus: NonZeroU16::MIN,
            servers: Vec::new(),
            devices: Vec::new(),
            free_server_order: false,
            waits: Vec::new(),
            first_releases: Vec::new(),
            aborted: Vec::new(),
            bus: None,
            overheads: None,
            grades: Vec::new(),
            interrupt_master: None,
        })
    }

    /// The same tasks (or jobs of a finite set) with parameters that are given instead of being chosen,
    /// besides those that it has. Tests ignore what they do not take ([`crate::Test::takes`]). Among
    /// equal priorities the task that comes first in the set is the more urgent.
    ///
    /// # Errors
    /// [`ProblemError::Parameter`] if there is not exactly one value for each task, or one is not for its
    /// task. If the problem has servers, also parameters that are not for them, and [`ProblemError::Served`] if
    /// one has more above its own level than the given period.
    pub fn with(mut self, given: &Parameters) -> Result<Self, ProblemError> {
        given
            .check(&self.scope())
            .map_err(ProblemError::Parameter)?;
        self.given = given.or(&self.given);
        self.with_given_budgets()
    }

    /// The same tasks on so many CPUs of equal speed. Placements are given by
    /// [`Parameters::partition`]; most tests are for one CPU ([`crate::Test::is_for_several_cpus`]).
    ///
    /// # Errors
    /// [`ProblemError::Parameter`] if what is given speaks of more CPUs.
    pub fn with_cpus(mut self, cpus: NonZeroU16) -> Result<Self, ProblemError> {
        self.cpus = cpus;
        self.given
            .check(&self.scope())
            .map_err(ProblemError::Parameter)?;
        Ok(self)
    }

    /// The same tasks in these servers, with devices whose bottom halves run there; only tests for servers say
    /// something about them ([`crate::Test::is_for_servers`]). Budgets and priorities that are given as
    /// [`Parameters::servers`] take the place of those of the servers, up to the level of each.
    ///
    /// # Errors
    /// [`ProblemError::Served`] with what is wrong with a server or a device, [`ProblemError::Parameter`] if what
    /// is given is not for these servers.
    pub fn with_servers(
        mut self,
        servers: Vec<Server>,
        devices: Vec<Device>,
    ) -> Result<Self, ProblemError> {
        (self.servers, self.devices) = (servers, devices);
        self.check_servers()?;
        let waits = std::mem::take(&mut self.waits);
        let new = match waits.is_empty() {
            true => self,
            false => self.with_waits(waits)?,
        };
        new.with_given_budgets()
    }

    /// The same with what the jobs of each task wait for, in the order of their execution: a list for each task.
    ///
    /// # Errors
    /// [`ProblemError::Served`] if there are not as many lists as tasks, or one is about a device that there is
    /// not or about no event.
    pub fn with_waits(mut self, waits: Vec<Vec<Wait>>) -> Result<Self, ProblemError> {
        served::check_waits(&waits, self.tasks.len(), self.devices.len())
            .map_err(ProblemError::Served)?;
        self.waits = waits;
        Ok(self)
    }

    /// The same where the priorities of the servers stand for nothing: a test may choose others, if it can. Those that are
    /// given as [`Parameters::servers`] stay given.
    #[must_use]
    pub fn with_free_server_order(mut self) -> Self {
        self.free_server_order = true;
        self
    }

    /// Whether a test may choose the order of the servers.
    #[must_use]
    pub fn has_free_server_order(&self) -> bool {
        self.free_server_order && self.given.servers.is_none()
    }

    fn check_servers(&self) -> Result<(), ProblemError> {
        let (servers, devices) = (&self.servers, &self.devices);
        served::check_servers(servers, devices, self.tasks.len(), self.levels)
            .map_err(ProblemError::Served)
    }

    /// Without servers nothing: a test that is not for servers does not ask.
    fn with_given_budgets(mut self) -> Result<Self, ProblemError> {
        if let (Some(given), false) = (&self.given.servers, self.servers.is_empty()) {
            served::apply(&mut self.servers, given, self.levels)
                .map_err(ProblemError::Parameter)?;
            self.check_servers()?;
        }
        Ok(self)
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            tasks: &self.tasks,
            count: self.tasks.len() + self.jobs.len(),
            levels: self.levels,
            cpus: self.cpus(),
        }
    }

    /// The same with given priorities, larger = more urgent.
    ///
    /// # Errors
    /// As [`Problem::with`].
    pub fn with_priorities(self, priorities: Vec<u32>) -> Result<Self, ProblemError> {
        self.with(&Parameters {
            priorities: Some(priorities),
            ..Parameters::default()
        })
    }

    /// The same tasks with what is known about their phases.
    #[must_use]
    pub fn with_phasing(mut self, phasing: Phasing) -> Self {
        self.phasing = phasing;
        self
    }

    /// The same tasks of which some are periodic: for each task when its first job is released, or `None` if it may be
    /// released at any time. Without it nothing is known, and most tests ask for nothing.
    #[must_use]
    pub fn with_first_releases(mut self, first: Vec<Option<Duration>>) -> Self {
        self.first_releases = first;
        self
    }

    /// The same tasks of which some lose their jobs at their deadlines, by task; without it none does. That costs something
    /// where carrying out the policy does, and nothing else follows from it.
    #[must_use]
    pub fn with_aborted(mut self, aborted: Vec<bool>) -> Self {
        self.aborted = aborted;
        self
    }

    /// Whether the jobs of a task are dropped at their deadlines.
    pub(crate) fn is_aborted(&self, task: usize) -> bool {
        self.aborted.get(task).copied().unwrap_or(false)
    }

    /// The same tasks on CPUs that delay one another at the memory; without it none does.
    #[must_use]
    pub fn with_bus(mut self, bus: Bus) -> Self {
        self.bus = Some(bus);
        self
    }

    /// The same tasks with what each level is under MC², lowest first; without it tests of MC² say nothing. It is not taken if
    /// there is not one for each level, or one stands twice or in another order.
    #[must_use]
    pub fn with_grades(mut self, grades: Vec<Grade>) -> Self {
        if grades.len() == self.levels.count() && is_rising(&grades) {
            self.grades = grades;
        }
        self
    }

    /// What each level is under MC², lowest first, if that is known.
    #[must_use]
    pub fn grades(&self) -> Option<&[Grade]> {
        (!self.grades.is_empty()).then_some(self.grades.as_slice())
    }

    /// The same tasks on CPUs of which one takes all interrupts: tests of MC² place no task there that may be elsewhere.
    #[must_use]
    pub fn with_interrupt_master(mut self, cpu: Option<CpuId>) -> Self {
        self.interrupt_master = cpu;
        self
    }

    /// The CPU that takes all interrupts, if there is one.
    #[must_use]
    pub const fn interrupt_master(&self) -> Option<CpuId> {
        self.interrupt_master
    }

    /// The same where carrying out the policy costs so much on each CPU: an acceptance holds for such CPUs, and no refusal
    /// is exact. Tests that cannot take that into account prove nothing ([`crate::Test::charging`]).
    #[must_use]
    pub fn with_overheads(mut self, overheads: Overheads) -> Self {
        self.overheads = Some(overheads);
        self
    }

    /// What carrying out the policy costs, if that is to be taken into account.
    #[must_use]
    pub const fn overheads(&self) -> Option<&Overheads> {
        self.overheads.as_ref()
    }

    /// The same tasks, or jobs, with `numerator` / `denominator` times their execution times, rounded up. The largest factor with
    /// which a test accepts is the critical scaling factor (Lehoczky, Sha and Ding, RTSS 1989).
    #[must_use]
    pub fn scaled(&self, numerator: u64, denominator: u64) -> Self {
        self.with_wcets(|nanos| {
            let product = u128::from(nanos) * u128::from(numerator);
            let scaled = product.div_ceil(u128::from(denominator.max(1)));
            // Beyond the horizon no deadline is met; no task needs nothing at its own level.
            let scaled = u64::try_from(scaled).unwrap_or(u64::MAX);
            scaled.clamp(nanos.min(1), HORIZON_NANOS + 1)
        })
    }

    /// The same with a change of each execution time in ns, which keeps their order.
    pub(crate) fn with_wcets(&self, change: impl Fn(u64) -> u64) -> Self {
        let mut changed = self.clone();
        let service = |amount: Service| Service::from_nanos(change(amount.as_nanos()));
        for task in &mut changed.tasks {
            task.wcet = task.wcet.map(service);
            task.degraded = task.degraded.map(service);
        }
        for job in &mut changed.jobs {
            job.wcet = job.wcet.map(service);
        }
        changed.rows = rows(&changed.tasks);
        changed
    }

    /// When the first job of a task is released, if it is known to be periodic.
    #[must_use]
    pub fn first_release(&self, task: TaskId) -> Option<Duration> {
        self.first_releases.get(task.index()).copied().flatten()
    }

    /// The memory bus, if CPUs delay one another there.
    #[must_use]
    pub const fn bus(&self) -> Option<&Bus> {
        self.bus.as_ref()
    }

    /// The tasks; a [`TaskId`] is an index in this table.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The criticality levels of the set.
    #[must_use]
    pub fn levels(&self) -> LevelSet {
        self.levels
    }

    /// How many CPUs there are, at least one.
    #[must_use]
    pub fn cpus(&self) -> u16 {
        self.cpus.get()
    }

    /// The servers, with the budgets that are given where some are; a [`vestal_core::ServerId`] is an index in
    /// this list. Empty: tasks are scheduled by themselves.
    #[must_use]
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The devices; a [`vestal_core::DeviceId`] is an index in this list.
    #[must_use]
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// What the jobs of a task wait for, in the order of their execution.
    #[must_use]
    pub fn waits(&self, task: TaskId) -> &[Wait] {
        self.waits.get(task.index()).map_or(&[], Vec::as_slice)
    }

    /// What is given instead of being chosen.
    #[must_use]
    pub fn given(&self) -> &Parameters {
        &self.given
    }

    /// The given priorities in task order, larger = more urgent.
    #[must_use]
    pub fn priorities(&self) -> Option<&[u32]> {
        self.given.priorities.as_deref()
    }

    /// What is known about the phases.
    #[must_use]
    pub fn phasing(&self) -> Phasing {
        self.phasing
    }

    /// The tasks as the analyses read them, in task order.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

fn rows(tasks: &[Task]) -> Vec<Row> {
    let rows = tasks.iter().enumerate();
    rows.map(|(index, task)| Row::new(index, task)).collect()
}

/// A task as plain numbers, small enough that a set of them stays in the nearest cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// T_i in ns.
    pub(crate) period: u64,
    /// D_i in ns, at most T_i.
    pub(crate) deadline: u64,
    /// C_i(l) in ns for every level l, at least 1: see [`Row::new`].
    pub(crate) wcet: [u64; LEVELS_MAX],
    /// Below how many levels C_i(l) is 0.
    pub(crate) zeros: usize,
    /// z_i, below [`LEVELS_MAX`].
    pub(crate) criticality: usize,
    /// The task's index in the problem.
    pub(crate) task: usize,
}

impl Row {
    /// A job that needs nothing at a level counts for a nanosecond there: it is incomplete until the CPU is
    /// free for it, which in a busy period that lasts it never is. An equation that takes it for complete
    /// once no other task has work left, and lets the mode change by then, accepts sets that miss deadlines.
    pub(crate) fn new(index: usize, task: &Task) -> Self {
        let mut wcet = [0; LEVELS_MAX];
        for (level, value) in (0..).map(Level).zip(&mut wcet) {
            *value = task.wcet.at(level).as_nanos();
        }
        let zeros = wcet.iter().take_while(|&&value| value == 0).count();
        wcet[..zeros].fill(1);
        Self {
            period: task.period.as_nanos(),
            deadline: task.deadline.as_nanos(),
            wcet,
            zeros,
            criticality: task.criticality.index(),
            task: index,
        }
    }

    /// C_i(l), also if it is 0: for demand bounds, which ask for no instant at which a job is complete.
    pub(crate) const fn exact_wcet(&self, level: usize) -> u64 {
        if level < self.zeros {
            0
        } else {
            self.wcet[level]
        }
    }

    /// C_i(z_i).
    pub(crate) fn own_wcet(&self) -> u64 {
        self.wcet[self.criticality]
    }
}

fn check(id: TaskId, task: &Task, levels: LevelSet) -> Result<(), ProblemError> {
    Task::new(task.criticality, task.period, task.deadline, task.wcet)
        .map_err(|error| ProblemError::Task { task: id, error })?;
    if task.criticality > levels.highest() {
        return Err(ProblemError::UnknownLevel {
            task: id,
            criticality: task.criticality,
            levels: levels.count(),
        });
    }
    if task.period.as_nanos() > HORIZON_NANOS {
        return Err(ProblemError::PeriodBeyondHorizon { task: id });
    }
    Ok(())
}

/// Why tasks do not make up a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemError {
    /// A task is not well-formed.
    #[error("task {}: {error}", .task.0)]
    Task {
        /// Which one.
        task: TaskId,
        /// What is wrong with it.
        error: TaskError,
    },
    /// A task's criticality is not a level of the set.
    #[error(
        "task {} has criticality {}, but the set has only {levels} levels, counted from 0",
        .task.0, .criticality.0
    )]
    UnknownLevel {
        /// Whose criticality.
        task: TaskId,
        /// The level it names.
        criticality: Level,
        /// How many levels there are.
        levels: usize,
    },
    /// A period is longer than any world runs ([`HORIZON_NANOS`]).
    #[error("the period of task {} is above {HORIZON_NANOS} ns, the longest time supported", .task.0)]
    PeriodBeyondHorizon {
        /// Whose period.
        task: TaskId,
    },
    /// More tasks than [`TASKS_MAX`].
    #[error("{found} tasks, at most {TASKS_MAX} are supported")]
    TooManyTasks {
        /// How many there were.
        found: usize,
    },
    /// A parameter is not for these tasks.
    #[error("{0}")]
    Parameter(ParameterError),
    /// Servers or devices are not for these tasks.
    #[error("{0}")]
    Served(ServedError),
    /// A job of a finite set is not due after its release, or beyond the horizon.
    #[error("job {} is not due after its release, or after {HORIZON_NANOS} ns", .job.0)]
    JobWindow {
        /// Which job.
        job: TaskId,
    },
}
