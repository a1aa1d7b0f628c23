//! What a levelled engine is built from: where each task is served, and the level-A tables.

use crate::configuration_error::ConfigurationError;
use crate::ids::{CpuId, TaskId};
use crate::model::{TASKS_MAX, Task};
use crate::table_error::TableError;
use crate::time::{Duration, Instant, Service};

/// Where a task is served: the containers of MC².
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Container {
    /// Level A: in the slots of one CPU's table.
    Table(CpuId),
    /// Level B: on one CPU, by [`LevelB`].
    Local(CpuId),
    /// Level C: on every CPU that A and B leave open, earliest deadline first.
    Global,
    /// Level D: where no other task wants a CPU, in the order of release.
    BestEffort,
}

impl Container {
    /// Whether a task there has a budget that comes with each release.
    pub(super) fn has_budget(self) -> bool {
        match self {
            Self::Local(_) | Self::Global => true,
            Self::Table(_) | Self::BestEffort => false,
        }
    }

    /// Whether a task there is guaranteed anything at all.
    pub(super) fn is_best_effort(self) -> bool {
        match self {
            Self::Table(_) | Self::Local(_) | Self::Global => false,
            Self::BestEffort => true,
        }
    }

    /// Whose domain it belongs to: a CPU's own, or the shared one.
    pub(super) fn home(self) -> Option<CpuId> {
        match self {
            Self::Table(cpu) | Self::Local(cpu) => Some(cpu),
            Self::Global | Self::BestEffort => None,
        }
    }
}

/// A task and where it is served. Its budget per period is what it needs at its own level,
/// [`Task::own_wcet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LevelledTask {
    /// The task.
    pub task: Task,
    /// Where it is served.
    pub container: Container,
}

/// Whether budgets of levels B and C hold (Herman et al., RTAS 2012, section 4, compares both).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Budgets {
    /// A job runs within its task's budgets, and leaves a ghost.
    Enforced,
    /// A job runs to its completion with its own deadline; there are no ghosts. No guarantee of a
    /// lower or equal level holds while a job overruns. Level A stays within its table all the same.
    Ignored,
}

/// Who goes first at level B of a CPU, among those with a budget. Level C always goes by deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LevelB {
    /// Who has the earliest deadline.
    EarliestDeadline,
    /// Who has the shortest period.
    RateMonotonic,
}

/// A part of a CPU's cycle that belongs to one level-A task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableSlot {
    /// When it begins, from the beginning of the cycle.
    pub start: Duration,
    /// How long it is.
    pub length: Duration,
    /// Whose it is.
    pub task: TaskId,
}

impl TableSlot {
    pub(super) fn end(&self) -> Duration {
        self.start.saturating_add(self.length)
    }
}

/// The level-A table of one CPU. Cycles begin at multiples of their length from the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTable<'a> {
    /// How long the cycle is; not used without slots.
    pub cycle: Duration,
    /// The slots, in their order; between them the CPU belongs to the lower levels.
    pub slots: &'a [TableSlot],
}

/// What a levelled engine is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelledConfiguration<'a> {
    /// The tasks; a [`TaskId`] is the index in this list.
    pub tasks: &'a [LevelledTask],
    /// The level-A table of each CPU; how many there are says how many CPUs there are.
    pub tables: &'a [CpuTable<'a>],
    /// How many jobs of one task may wait behind its current one, and how many budgets. A level-C
    /// task needs its tardiness bound divided by its period, plus 2. What finds no room is dropped, a job without its
    /// budget where that finds one.
    pub backlog: usize,
    /// Whether the budgets of levels B and C hold.
    pub budgets: Budgets,
    /// Who goes first at level B.
    pub level_b: LevelB,
    /// The smallest budget the world can enforce: a smaller remainder counts as exhausted (C2).
    pub granularity: Service,
    /// How late the world may wake the scheduler before that is worth a notice (C6).
    pub wake_granularity: Duration,
}

impl LevelledConfiguration<'_> {
    /// Checks all that construction and running rely on.
    pub(super) fn check(&self) -> Result<(), ConfigurationError> {
        if self.tasks.is_empty() {
            return Err(ConfigurationError::NoTasks);
        }
        let found = self.tasks.len();
        if found >= TASKS_MAX {
            return Err(ConfigurationError::TooManyTasks { found });
        }
        if self.tables.is_empty() || u16::try_from(self.tables.len()).is_err() {
            return Err(TableError::NoCpus.into());
        }
        for (cpu, table) in self.tables.iter().enumerate() {
            self.check_slots(cpu, table)?;
        }
        for (index, entry) in self.tasks.iter().enumerate() {
            if let Ok(number) = u16::try_from(index) {
                self.check_task(TaskId(number), entry)?;
            }
        }
        Ok(())
    }

    fn check_slots(&self, cpu: usize, table: &CpuTable<'_>) -> Result<(), TableError> {
        let mut free = Duration::ZERO;
        for (position, slot) in table.slots.iter().enumerate() {
            if slot.length.is_zero() || slot.start < free || slot.end() > table.cycle {
                return Err(TableError::SlotOrder { cpu, position });
            }
            free = slot.end();
            let here = self.tasks.get(slot.task.index()).is_some_and(
                |entry| matches!(entry.container, Container::Table(home) if home.index() == cpu),
            );
            if !here {
                let task = slot.task;
                return Err(TableError::WrongSlot { cpu, task });
            }
        }
        if table.cycle > Duration::from_nanos(Instant::HORIZON.as_nanos()) {
            return Err(TableError::SlotOrder { cpu, position: 0 });
        }
        Ok(())
    }

    /// Every level-A job has its budget in slots between its release and its deadline. O(j + s) for j jobs of the task in a cycle and s slots.
    fn check_task(&self, task: TaskId, entry: &LevelledTask) -> Result<(), TableError> {
        let Some(home) = entry.container.home() else {
            return Ok(());
        };
        let table = self
            .tables
            .get(home.index())
            .ok_or(TableError::UnknownCpu(task))?;
        if entry.container != Container::Table(home) {
            return Ok(());
        }
        let jobs = table
            .cycle
            .div_floor(entry.task.period)
            .filter(|&jobs| jobs > 0 && entry.task.period.checked_mul(jobs) == Some(table.cycle))
            .ok_or(TableError::PeriodAndCycle(task))?;
        // Windows of jobs follow one another, as slots do: each is looked at once, and again where the next job's begins in it.
        let mut own = table.slots.iter().filter(|slot| slot.task == task);
        let mut current = own.next();
        for job in 0..jobs {
            let release = entry.task.period.saturating_mul(job);
            let deadline = release.saturating_add(entry.task.deadline);
            let next = release.saturating_add(entry.task.period);
            let mut given = Duration::ZERO;
            while let Some(slot) = current {
                let (start, end) = (slot.start.max(release), slot.end().min(deadline));
                given = given.saturating_add(end.saturating_sub(start));
                if slot.end() > next {
                    break;
                }
                current = own.next();
            }
            if entry.task.own_wcet().exceeds(given) {
                return Err(TableError::SlotsTooShort { task, job });
            }
        }
        Ok(())
    }
}
