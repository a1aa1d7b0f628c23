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
//! While the CPU is *open*, levels C and D may have it. A slot without work is a ghost by itself: it
//! is over when its time is. At most one ghost of level B uses up budget at a time: behind it comes
//! level C, not the next level-B task.

use super::configuration::{Container, CpuTable, LevelledConfiguration, TableSlot};
use super::servers::Servers;
use crate::configuration_error::ConfigurationError;
use crate::fact::Fact;
use crate::ids::{CpuId, TaskId};
use crate::notice::Notice;
use crate::plan::{Permit, Slot, Until, Wake, WakeReason};
use crate::scheduler::ContractViolation;
use crate::store::{Boxed, Store};
use crate::time::{Duration, Instant, Service};

/// What the domain of one CPU answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocalPlan {
    /// The level-A or level-B job to run; `None`: the CPU is open to levels C and D. This is the
    /// value to publish to the shared domain.
    pub slot: Option<Slot>,
    /// When to settle this domain at the latest if nothing happens before.
    pub next: Option<Wake>,
}

/// Levels A and B of one CPU.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LocalDomain<S: Store = Boxed> {
    servers: Servers<S>,
    slots: S::Table<TableSlot>,
    cycle: Duration,
    /// The level-B task whose ghost uses up budget since the last decision.
    ghost: Option<TaskId>,
    plan: LocalPlan,
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
            slots: S::copied(table.slots, filler).ok_or(too_many)?,
            cycle: table.cycle,
            ghost: None,
            plan: LocalPlan {
                slot: None,
                next: None,
            },
        })
    }

    /// Records one thing that happened to a level-A or level-B task of this CPU. O(1).
    ///
    /// # Errors
    /// A [`ContractViolation`] by the world; the state is then unchanged.
    pub fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.servers.apply(at, fact)
    }

    /// Draws all consequences, and says whether the CPU is open.
    ///
    /// # Errors
    /// [`ContractViolation::ClockWentBack`], [`ContractViolation::BeyondHorizon`]; the state is then
    /// unchanged.
    pub fn settle(&mut self, now: Instant) -> Result<LocalPlan, ContractViolation> {
        let elapsed = self.servers.clock.advance(now, self.plan.next)?;
        if let Some(task) = self.ghost.take() {
            let elapsed = Service::supplied_during(elapsed);
            self.servers.consume_as_ghost(task, elapsed);
        }
        self.servers.settle_past();
        self.servers.admit_all();
        self.select(now);
        Ok(self.plan)
    }

    /// What enforcement allows a task of this CPU since the last decision.
    #[must_use]
    pub fn permit(&self, task: TaskId) -> Permit {
        match self.servers.entry(task).map(|entry| entry.container) {
            Some(Container::Local(_)) => self.servers.permit(task),
            Some(Container::Table(_)) if self.owner() == Some(task) => Permit::Run { limit: None },
            Some(Container::Table(_)) => Permit::Suspended {
                until: Until::Event,
            },
            Some(Container::Global | Container::BestEffort) | None => Permit::NotAdmitted,
        }
    }

    /// Takes the oldest notice not yet taken.
    pub fn take_notice(&mut self) -> Option<Notice> {
        self.servers.clock.take_notice()
    }

    /// How many notices were lost because they were not taken in time.
    #[must_use]
    pub fn lost_notices(&self) -> u64 {
        self.servers.clock.lost_notices()
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
        let later = self.slots.partition_point(|slot| slot.end() <= phase);
        let (task, end) = match self.slots.get(later) {
            Some(slot) if slot.start <= phase => (Some(slot.task), slot.end()),
            Some(slot) => (None, slot.start),
            // The gap at the end of the cycle goes on to the first slot of the next one.
            None => {
                let first = self.slots.first()?.start;
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
            wake = Some(Wake {
                at: now.saturating_add(rest),
                why: WakeReason::TableSlot,
            });
        }
        if slot.is_none()
            && let Some((_, task)) = self.servers.by_deadline.first()
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
        self.plan = LocalPlan { slot, next: wake };
    }
}
