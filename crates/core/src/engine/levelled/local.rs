//! The domain of one CPU: its level-A table over its level-B tasks.
//!
//! ```text
//!            slot with work                     slot's task without work, or no slot
//!   level A ----------------> A runs      level A ------------------------------> level B
//!
//!            first budget with work             first budget without work: its ghost uses it up
//!   level B ----------------> B runs      level B ------------------------------> open
//!                                                no budget: open
//! ```
//! While the CPU is *open* (the plan has no slot for it), levels C and D may have it, and the shared
//! domain is told so: [`Fact::CpuOpen`]. A slot without work is a ghost by itself: it
//! is over when its time is. At most one ghost of level B uses up budget at a time: behind it comes
//! level C, not the next level-B task.

use super::configuration::{Container, CpuTable, LevelledConfiguration, TableSlot};
use super::servers::Servers;
use crate::configuration_error::ConfigurationError;
use crate::fact::Fact;
use crate::ids::{CpuId, TaskId};
use crate::model::Level;
use crate::notice::Notice;
use crate::plan::{Permit, Plan, Sequences, Slot, Until, Wake, WakeReason};
use crate::scheduler::{ContractViolation, Scheduler};
use crate::store::{Boxed, Store};
use crate::time::{Duration, Instant, Service};

/// Levels A and B of one CPU.
///
/// Its plan has slots up to its own CPU, and all others are `None`; it knows the tasks of the whole
/// cluster by their numbers, and admits those that are served here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LocalDomain<S: Store = Boxed> {
    servers: Servers<S>,
    table: S::Table<TableSlot>,
    cycle: Duration,
    /// The level-B task whose ghost uses up budget since the last decision.
    ghost: Option<TaskId>,
    /// The level-A task that has had no work in its slot since then, and how long the slot lasted.
    idle_slot: Option<(TaskId, Duration)>,
    /// The plan's slots; the last one is this CPU's.
    slots: S::Table<Option<Slot>>,
    wake: Option<Wake>,
}

/// Where in its table a CPU is.
struct Position {
    task: Option<TaskId>,
    /// How long the present slot or gap still lasts.
    rest: Duration,
}

impl<S: Store> LocalDomain<S> {
    /// The domain of `cpu`.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn with_store(
        configuration: &LevelledConfiguration<'_>,
        cpu: CpuId,
    ) -> Result<Self, ConfigurationError> {
        configuration.check()?;
        Self::of_checked(configuration, cpu)
    }

    /// The same of a configuration that was checked.
    pub(super) fn of_checked(
        configuration: &LevelledConfiguration<'_>,
        cpu: CpuId,
    ) -> Result<Self, ConfigurationError> {
        let found = configuration.tasks.len();
        let too_many = ConfigurationError::TooManyTasks { found };
        let table = configuration
            .tables
            .get(cpu.index())
            .copied()
            .unwrap_or(CpuTable {
                cycle: Duration::ZERO,
                slots: &[],
            });
        let filler = TableSlot {
            start: Duration::ZERO,
            length: Duration::ZERO,
            task: TaskId(0),
        };
        Ok(Self {
            servers: Servers::new(configuration, Some(cpu))?,
            table: S::copied(table.slots, filler).ok_or(too_many)?,
            cycle: table.cycle,
            ghost: None,
            idle_slot: None,
            slots: S::table(cpu.index().saturating_add(1), None).ok_or(too_many)?,
            wake: None,
        })
    }

    /// The level-B task whose ghost uses up its budget since the last decision.
    #[must_use]
    pub const fn ghost(&self) -> Option<TaskId> {
        self.ghost
    }

    /// Whether the invariants hold; for tests.
    #[must_use]
    pub fn check_invariants(&self) -> bool {
        self.servers.check_invariants()
    }

    /// Whose slot it is.
    fn owner(&self) -> Option<TaskId> {
        self.position(self.servers.clock.now)?.task
    }

    /// O(log s) for s slots; `None` without a table.
    fn position(&self, now: Instant) -> Option<Position> {
        let age = now.saturating_since(Instant::EPOCH).as_nanos();
        let phase = Duration::from_nanos(age.checked_rem(self.cycle.as_nanos())?);
        let later = self.table.partition_point(|slot| slot.end() <= phase);
        let (task, end) = match self.table.get(later) {
            Some(slot) if slot.start <= phase => (Some(slot.task), slot.end()),
            Some(slot) => (None, slot.start),
            // The gap at the end of the cycle goes on to the first slot of the next one.
            None => {
                let first = self.table.first()?.start;
                (None, self.cycle.saturating_add(first))
            }
        };
        let rest = end.saturating_sub(phase);
        Some(Position { task, rest })
    }

    fn select(&mut self, now: Instant) {
        let position = self.position(now);
        let mut slot = None;
        let mut wake = None;
        if let Some(Position { task, rest }) = position {
            slot = task.and_then(|task| {
                self.servers
                    .slot(task, Some(Service::supplied_during(rest)))
            });
            self.idle_slot = match slot {
                Some(_) => None,
                None => task.map(|task| (task, rest)),
            };
            wake = Some(Wake {
                at: now.saturating_add(rest),
                why: WakeReason::TableSlot,
            });
        }
        if slot.is_none()
            && let Some((_, task)) = self.servers.by_urgency.first()
        {
            slot = self.servers.budgeted_slot(task);
            if slot.is_none() {
                self.ghost = Some(task);
                let remaining = self.servers.remaining(task);
                let span = remaining.unwrap_or(Service::ZERO).time_on_dedicated_cpu();
                let at = now.saturating_add(span);
                let why = WakeReason::Consumption;
                wake = Wake::earlier(wake, Some(Wake { at, why }));
            }
        }
        if let Some(own) = self.slots.last_mut() {
            *own = slot;
        }
        self.wake = wake;
    }
}

impl<S: Store> Scheduler for LocalDomain<S> {
    /// Takes what happened to level-A and level-B tasks of this CPU.
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.servers.apply(at, fact)
    }

    /// Says what this CPU runs; without a slot it is open to levels C and D.
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        let elapsed = self.servers.clock.advance(now, self.wake)?;
        if let Some((task, rest)) = self.idle_slot.take() {
            let used = Service::supplied_during(elapsed.min(rest));
            self.servers.count_ghost(task, used);
        }
        if let Some(task) = self.ghost.take() {
            let elapsed = Service::supplied_during(elapsed);
            self.servers.consume_as_ghost(task, elapsed);
        }
        self.servers.settle_past();
        self.servers.admit_all();
        self.select(now);
        Ok(Plan {
            slots: &self.slots,
            sequences: Sequences::NONE,
            next: self.wake,
            mode: Level::LOWEST,
        })
    }

    fn permit(&self, task: TaskId) -> Permit {
        match self.servers.entry(task).map(|entry| entry.container) {
            Some(Container::Local(_)) => self.servers.permit(task),
            Some(Container::Table(_)) if self.owner() == Some(task) => Permit::Run { limit: None },
            Some(Container::Table(_)) => Permit::Suspended {
                until: Until::Event,
            },
            Some(Container::Global | Container::BestEffort) | None => Permit::NotAdmitted,
        }
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.servers.clock.take_notice()
    }

    fn lost_notices(&self) -> u64 {
        self.servers.clock.lost_notices()
    }

    fn backlog(&self) -> usize {
        usize::MAX
    }

    /// What a job executes beyond its own budget comes out of the next budgets of its task.
    fn stops_at_own_limit(&self) -> bool {
        false
    }

    /// A job whose slot or budget is over waits for the next one, and a ghost leaves the CPU to lower levels alone.
    fn suspends_until_instants(&self) -> bool {
        true
    }

    fn budgets_outlive_jobs(&self) -> bool {
        true
    }

    /// Of level A that of a slot without work, and of level B one at a time.
    fn ghost_of(&self, task: TaskId) -> Option<CpuId> {
        let of_slot = self.idle_slot.map(|(task, _)| task);
        let is_ghost = self.ghost == Some(task) || of_slot == Some(task);
        self.servers.home().filter(|_| is_ghost)
    }

    fn ghost_time(&self, task: TaskId) -> Option<Service> {
        self.servers.ghost_time(task)
    }
}
