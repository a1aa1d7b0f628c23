//! MC²: four levels on several CPUs, A and B on their own CPU, C and D on all (Herman, Kenna,
//! Mollison, Anderson and Johnson, RTAS 2012).
//!
//! On each CPU level A follows a table and level B goes by earliest deadline or by period; what they leave is
//! open to level C, globally by earliest deadline, and then to level D, best effort. Every task of
//! levels A to C has a budget per period. A job that needs less leaves a *ghost*, which uses the rest
//! up while lower levels run (slack shifting); one that needs more goes on with the next budget.
//!
//! ```text
//!   CPU 0: [ A table | B EDF ]--- open? --+        +-- claim --> CPU 0
//!   CPU 1: [ A table | B EDF ]--- open? --+-> [ C G-EDF | D ] -- claim --> CPU 1
//!             local domains               +     shared domain
//! ```
//! Each box is a domain: a scheduler of its own with a lock of its own, which can be recorded and
//! replayed by itself. A CPU's step ([`step`]) is: the local domain decides; whether it leaves the CPU
//! open is *published*, a fact of the shared domain ([`Fact::CpuOpen`]); the shared domain decides, and
//! its slot for the CPU is a claim. Never are two locks held at once, and CPUs whose claim changed are
//! called to take a step too (C9). Claims depend on facts, publications among them, and not on earlier
//! claims, so the order in which CPUs take their steps does not matter. CPUs and tasks have the same
//! numbers in all domains. [`Levelled`] takes all steps in sequence and gives one total plan.
//!
//! Assumptions: A1 cycles of tables begin at multiples of their length from the epoch, and level-A
//! jobs are released at multiples of their period; A2 levels B and C get a budget with each release,
//! so that a job which overran waits for its task's next release; A3 the world reports every release, since the
//! budget is wanted even if the job finds no room: such a job is dropped here ([`Scheduler::backlog`] is unbounded).
//! Invariants: I1 a budget is used up once, by its task's jobs and ghost together; I2 a CPU is used
//! by one level at a time, and by the highest that wants it; I3 a job is offered to one CPU at a
//! time, and to another only after it stopped. The tests compare every plan with a reference that
//! takes one step per tick.
//! Complexity: `apply` O(1); `decide` O(log n) per CPU and O(m log n + m²) for the m CPUs' claims.

mod configuration;
mod local;
mod servers;
mod shared;

pub use configuration::{
    Budgets, Container, CpuTable, LevelB, LevelledConfiguration, LevelledTask, TableSlot,
};
pub use local::LocalDomain;
pub use shared::SharedDomain;

use crate::configuration_error::ConfigurationError;
use crate::engine::clock::advance;
use crate::fact::Fact;
use crate::ids::{CpuId, TaskId};
use crate::model::Level;
use crate::notice::Notice;
use crate::plan::{Permit, Plan, Sequences, Slot, Wake};
use crate::scheduler::{ContractViolation, Scheduler};
use crate::table_error::TableError;
use crate::time::{Instant, Service};
use alloc::boxed::Box;
use alloc::vec;

/// All domains in one hand, called in sequence: for the simulator and for tests. It lives on the
/// heap; a world on bare metal gives each domain the storage it needs and calls [`step`].
///
/// `L` stands for the domain of each CPU and `S` for the shared one: the domains themselves, or
/// schedulers around them, such as recorders.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Levelled<L = LocalDomain, S = SharedDomain> {
    homes: Box<[Option<CpuId>]>,
    locals: Box<[L]>,
    shared: S,
    slots: Box<[Option<Slot>]>,
    wake: Option<Wake>,
    clock: Instant,
}

impl Levelled {
    /// An engine for as many CPUs as there are tables.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn new(configuration: &LevelledConfiguration<'_>) -> Result<Self, ConfigurationError> {
        // Once: a long table is looked at job by job.
        configuration.check()?;
        let shared = SharedDomain::of_checked(configuration)?;
        let local = |(cpu, _)| LocalDomain::of_checked(configuration, CpuId(cpu));
        let locals = (0..).zip(configuration.tables).map(local);
        let locals = locals.collect::<Result<Box<[_]>, _>>()?;
        Self::of_checked(configuration, locals, shared)
    }

    /// The task whose ghost uses up its budget on `cpu` since the last decision: of level B if
    /// `local`, otherwise of level C.
    #[must_use]
    pub fn ghost(&self, cpu: CpuId, local: bool) -> Option<TaskId> {
        if local {
            self.locals.get(cpu.index())?.ghost()
        } else {
            self.shared.ghost(cpu)
        }
    }

    /// Whether the invariants of all domains hold; for tests.
    #[must_use]
    pub fn check_invariants(&self) -> bool {
        self.locals.iter().all(LocalDomain::check_invariants) && self.shared.check_invariants()
    }
}

impl<L, S> Levelled<L, S> {
    /// An engine over the domains of this configuration or what stands for them: in the order of their
    /// numbers one for each CPU, and the shared one. They are fresh, or as [`Self::into_domains`] gave
    /// them; the engine's own clock begins at the epoch.
    ///
    /// # Errors
    /// [`ConfigurationError`]; a [`TableError::Length`] if there are not as many domains as CPUs.
    pub fn with_domains(
        configuration: &LevelledConfiguration<'_>,
        locals: impl IntoIterator<Item = L>,
        shared: S,
    ) -> Result<Self, ConfigurationError> {
        configuration.check()?;
        Self::of_checked(configuration, locals.into_iter().collect(), shared)
    }

    fn of_checked(
        configuration: &LevelledConfiguration<'_>,
        locals: Box<[L]>,
        shared: S,
    ) -> Result<Self, ConfigurationError> {
        let (expected, found) = (configuration.tables.len(), locals.len());
        if found != expected {
            let list = "domains";
            let wrong = TableError::Length {
                list,
                expected,
                found,
            };
            return Err(wrong.into());
        }
        let tasks = configuration.tasks.iter();
        Ok(Self {
            homes: tasks.map(|entry| entry.container.home()).collect(),
            locals,
            shared,
            slots: vec![None; expected].into_boxed_slice(),
            wake: None,
            clock: Instant::EPOCH,
        })
    }

    /// The domains, for worlds and tests that call them one by one. Plans of the whole are not up to
    /// date afterwards, until the next decision.
    pub fn domains(&mut self) -> (&mut [L], &mut S) {
        (&mut self.locals, &mut self.shared)
    }

    /// The domains: one for each CPU, and the shared one.
    #[must_use]
    pub fn into_domains(self) -> (Box<[L]>, S) {
        (self.locals, self.shared)
    }

    fn local(&mut self, cpu: CpuId) -> Result<&mut L, ContractViolation> {
        self.locals
            .get_mut(cpu.index())
            .ok_or(ContractViolation::UnknownCpu(cpu))
    }
}

/// The step of one CPU: what it shall run. Worlds with locks take one lock around each half, the local
/// domain's decision and the rest.
///
/// # Errors
/// Those of [`Scheduler::apply`] and [`Scheduler::decide`]. A publication that was told before the
/// shared domain refused to decide is not lost: that domain's next decision follows it.
pub fn step<L: Scheduler, S: Scheduler>(
    cpu: CpuId,
    now: Instant,
    local: &mut L,
    shared: &mut S,
) -> Result<Option<Slot>, ContractViolation> {
    let own = local.decide(now)?.slot(cpu);
    publish(shared, now, cpu, own)?;
    let claim = shared.decide(now)?.slot(cpu);
    Ok(own.or(claim))
}

/// Tells the shared domain whether a CPU is open, which its own domain gave `own`.
fn publish(
    shared: &mut impl Scheduler,
    now: Instant,
    cpu: CpuId,
    own: Option<Slot>,
) -> Result<(), ContractViolation> {
    let open = own.is_none();
    shared.apply(now, Fact::CpuOpen { cpu, open })
}

impl<L: Scheduler, S: Scheduler> Scheduler for Levelled<L, S> {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        let task = match fact {
            Fact::Released { job }
            | Fact::Completed { job, .. }
            | Fact::Charged { job, .. }
            | Fact::Started { job, .. }
            | Fact::Stopped { job, .. } => job.task,
            Fact::Timer
            | Fact::Idle { .. }
            | Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::ModeRequested { .. } => return self.shared.apply(at, fact),
            // Its own domains say so.
            Fact::CpuOpen { .. } => return Err(ContractViolation::NotOfThisPolicy),
        };
        match self.homes.get(task.index()) {
            Some(Some(cpu)) => self.local(*cpu)?.apply(at, fact),
            Some(None) => self.shared.apply(at, fact),
            None => Err(ContractViolation::UnknownTask(task)),
        }
    }

    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        advance(&mut self.clock, now)?;
        let mut wake = None;
        for ((cpu, local), slot) in (0..)
            .map(CpuId)
            .zip(self.locals.iter_mut())
            .zip(self.slots.iter_mut())
        {
            let plan = local.decide(now)?;
            *slot = plan.slot(cpu);
            wake = Wake::earlier(wake, plan.next);
            publish(&mut self.shared, now, cpu, *slot)?;
        }
        let plan = self.shared.decide(now)?;
        for (slot, claim) in self.slots.iter_mut().zip(plan.slots) {
            *slot = slot.or(*claim);
        }
        self.wake = Wake::earlier(wake, plan.next);
        Ok(Plan {
            slots: &self.slots,
            sequences: Sequences::NONE,
            next: self.wake,
            mode: Level::LOWEST,
        })
    }

    fn permit(&self, task: TaskId) -> Permit {
        match self.homes.get(task.index()) {
            Some(Some(cpu)) => self
                .locals
                .get(cpu.index())
                .map_or(Permit::NotAdmitted, |local| local.permit(task)),
            Some(None) => self.shared.permit(task),
            None => Permit::NotAdmitted,
        }
    }

    /// Notices of lower CPU numbers first, those of levels C and D last.
    fn take_notice(&mut self) -> Option<Notice> {
        self.locals
            .iter_mut()
            .find_map(Scheduler::take_notice)
            .or_else(|| self.shared.take_notice())
    }

    fn lost_notices(&self) -> u64 {
        self.locals
            .iter()
            .map(Scheduler::lost_notices)
            .fold(self.shared.lost_notices(), u64::saturating_add)
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

    fn ghost_of(&self, task: TaskId) -> Option<CpuId> {
        match *self.homes.get(task.index())? {
            Some(cpu) => self.locals.get(cpu.index())?.ghost_of(task),
            None => self.shared.ghost_of(task),
        }
    }

    fn ghost_time(&self, task: TaskId) -> Option<Service> {
        match *self.homes.get(task.index())? {
            Some(cpu) => self.locals.get(cpu.index())?.ghost_time(task),
            None => self.shared.ghost_time(task),
        }
    }
}
