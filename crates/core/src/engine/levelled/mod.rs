//! MC²: four levels on several CPUs, A and B on their own CPU, C and D on all (Herman, Kenna,
//! Mollison, Anderson and Johnson, RTAS 2012).
//!
//! On each CPU level A follows a table and level B goes by earliest deadline; what they leave is
//! open to level C, globally by earliest deadline, and then to level D, best effort. Every task of
//! levels A to C has a budget per period. A job that needs less leaves a *ghost*, which uses the rest
//! up while lower levels run (slack shifting); one that needs more goes on with the next budget.
//!
//! ```text
//!   CPU 0: [ A table | B EDF ]--- open? --+        +-- claim --> CPU 0
//!   CPU 1: [ A table | B EDF ]--- open? --+-> [ C G-EDF | D ] -- claim --> CPU 1
//!             local domains               +     shared domain
//! ```
//! Each box is a domain with a lock of its own. A CPU's step is: settle the local domain, publish
//! whether the CPU is open, settle the shared domain, read the claim ([`step`]); never are two locks
//! held at once, and CPUs whose claim changed are called to take a step too (C9). Claims depend on
//! facts and on what was published, not on earlier claims, so the order in which CPUs take their
//! steps does not matter. [`Levelled`] takes them all in sequence and gives one total plan.
//!
//! Assumptions: A1 cycles of tables begin at multiples of their length from the epoch, and level-A
//! jobs are released at multiples of their period; A2 levels B and C get a budget with each release,
//! so that a job which overran waits for its task's next release.
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
    Budgets, Container, CpuTable, LevelledConfiguration, LevelledTask, TableSlot,
};
pub use local::{LocalDomain, LocalPlan};
pub use shared::{SharedDomain, SharedPlan};

use crate::configuration_error::ConfigurationError;
use crate::engine::clock::advance;
use crate::fact::Fact;
use crate::ids::{CpuId, TaskId};
use crate::model::Level;
use crate::notice::Notice;
use crate::plan::{Permit, Plan, Sequences, Slot, Wake};
use crate::scheduler::{ContractViolation, Scheduler};
use crate::store::Store;
use crate::time::Instant;
use alloc::boxed::Box;
use alloc::vec;

/// All domains in one hand, called in sequence: for the simulator and for tests. It lives on the
/// heap; a world on bare metal gives each domain the storage it needs and calls [`step`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Levelled {
    homes: Box<[Option<CpuId>]>,
    locals: Box<[LocalDomain]>,
    shared: SharedDomain,
    slots: Box<[Option<Slot>]>,
    wake: Option<Wake>,
    clock: Instant,
    backlog: usize,
}

impl Levelled {
    /// An engine for as many CPUs as there are tables.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn new(configuration: &LevelledConfiguration<'_>) -> Result<Self, ConfigurationError> {
        let shared = SharedDomain::with_store(configuration)?;
        let local = |(cpu, _)| LocalDomain::with_store(configuration, CpuId(cpu));
        let locals = (0..).zip(configuration.tables).map(local);
        Ok(Self {
            homes: configuration
                .tasks
                .iter()
                .map(|entry| entry.container.home())
                .collect(),
            locals: locals.collect::<Result<_, _>>()?,
            shared,
            slots: vec![None; configuration.tables.len()].into_boxed_slice(),
            wake: None,
            clock: Instant::EPOCH,
            backlog: configuration.backlog,
        })
    }

    /// The domains, for worlds and tests that call them one by one. Plans of the whole are not up to
    /// date afterwards, until the next decision.
    pub fn domains(&mut self) -> (&mut [LocalDomain], &mut SharedDomain) {
        (&mut self.locals, &mut self.shared)
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

    fn local(&mut self, cpu: CpuId) -> Result<&mut LocalDomain, ContractViolation> {
        self.locals
            .get_mut(cpu.index())
            .ok_or(ContractViolation::UnknownCpu(cpu))
    }
}

/// The step of one CPU: what it shall run. Worlds with locks take one lock around each half.
///
/// # Errors
/// Those of [`LocalDomain::settle`] and [`SharedDomain::settle`].
pub fn step<S: Store>(
    cpu: CpuId,
    now: Instant,
    local: &mut LocalDomain<S>,
    shared: &mut SharedDomain<S>,
) -> Result<Option<Slot>, ContractViolation> {
    let own = local.settle(now)?.slot;
    shared.settle(now, Some((cpu, own.is_none())))?;
    Ok(own.or(shared.claim(cpu)))
}

impl Scheduler for Levelled {
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
        };
        match self.homes.get(task.index()) {
            Some(Some(cpu)) => self.local(*cpu)?.apply(at, fact),
            Some(None) => self.shared.apply(at, fact),
            None => Err(ContractViolation::UnknownTask(task)),
        }
    }

    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        advance(&mut self.clock, now)?;
        // What passed until now was under the old publications.
        self.shared.pass(now)?;
        let mut wake = None;
        for ((cpu, local), slot) in (0..)
            .map(CpuId)
            .zip(self.locals.iter_mut())
            .zip(self.slots.iter_mut())
        {
            let plan = local.settle(now)?;
            self.shared.publish(cpu, plan.slot.is_none());
            *slot = plan.slot;
            wake = Wake::earlier(wake, plan.next);
        }
        let plan = self.shared.settle(now, None)?;
        for (slot, claim) in self.slots.iter_mut().zip(plan.claims) {
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
            .find_map(LocalDomain::take_notice)
            .or_else(|| self.shared.take_notice())
    }

    fn lost_notices(&self) -> u64 {
        self.locals
            .iter()
            .map(LocalDomain::lost_notices)
            .fold(self.shared.lost_notices(), u64::saturating_add)
    }

    fn backlog(&self) -> usize {
        self.backlog
    }
}
