//! Four levels on several CPUs (MC²), in one piece or domain by domain.

use super::Precision;
use crate::refusal::Refusal;
use vestal_analysis::parameters::DispatchTable;
use vestal_core::store::Boxed;
use vestal_core::{
    Budgets, ConfigurationError, Container, CpuId, CpuTable, LevelB, Levelled,
    LevelledConfiguration, LevelledTask, LocalDomain, SharedDomain, TaskConfiguration,
};

/// Levels A to D on several CPUs: tables and earliest deadlines on each, and what they leave, for all in common.
///
/// Its schedulers come in one piece, or one for each domain: for worlds that lock, record or replay them one by one.
/// Tasks and CPUs have the same numbers in all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The tasks.
    pub tasks: Vec<TaskConfiguration>,
    /// Where each is served, in the order of the tasks.
    pub containers: Vec<Container>,
    /// The level-A table of each CPU.
    pub tables: Vec<DispatchTable>,
    /// Whether budgets of levels B and C hold.
    pub budgets: Budgets,
    /// Who goes first at level B.
    pub level_b: LevelB,
    /// How many jobs and budgets of a task a scheduler has room for, beside the first.
    pub backlog: usize,
}

impl Levels {
    /// The CPUs, by their numbers inside.
    pub fn cpus(&self) -> impl Iterator<Item = CpuId> + use<> {
        (0..=u16::MAX).map(CpuId).take(self.tables.len())
    }

    /// The CPU of a task of level A or B; `None` for one that all CPUs serve.
    #[must_use]
    pub fn home(&self, task: usize) -> Option<CpuId> {
        match self.containers.get(task)? {
            Container::Table(cpu) | Container::Local(cpu) => Some(*cpu),
            Container::Global | Container::BestEffort => None,
        }
    }

    /// How urgent the level of a task is, beside all others: level A has 3, level D 0.
    #[must_use]
    pub(super) fn precedence(&self, task: usize) -> Option<u32> {
        Some(match self.containers.get(task)? {
            Container::Table(_) => 3,
            Container::Local(_) => 2,
            Container::Global => 1,
            Container::BestEffort => 0,
        })
    }

    /// All domains in one hand.
    ///
    /// # Errors
    /// What is wrong with the tables.
    pub fn whole(&self, precision: Precision) -> Result<Levelled, Refusal> {
        self.configured(precision, Levelled::new).map_err(refused)
    }

    /// Whether schedulers can be made of it.
    ///
    /// # Errors
    /// What is wrong with the tables.
    pub(crate) fn check(&self, precision: Precision) -> Result<(), ConfigurationError> {
        self.configured(precision, Levelled::new).map(|_| ())
    }

    /// Levels A and B of one CPU.
    ///
    /// # Errors
    /// What is wrong with the tables.
    pub fn local(&self, cpu: CpuId, precision: Precision) -> Result<LocalDomain, Refusal> {
        let local = |all: &LevelledConfiguration<'_>| LocalDomain::<Boxed>::with_store(all, cpu);
        self.configured(precision, local).map_err(refused)
    }

    /// Levels C and D of all CPUs.
    ///
    /// # Errors
    /// What is wrong with the tables.
    pub fn shared(&self, precision: Precision) -> Result<SharedDomain, Refusal> {
        let shared = SharedDomain::<Boxed>::with_store;
        self.configured(precision, shared).map_err(refused)
    }

    /// One scheduler out of the domains, or of what stands around them, such as recorders: one for each CPU, and the
    /// shared one.
    ///
    /// # Errors
    /// What is wrong with the tables, or with the number of domains.
    pub fn of_domains<L, S>(
        &self,
        locals: impl IntoIterator<Item = L>,
        shared: S,
    ) -> Result<Levelled<L, S>, Refusal> {
        let whole = |all: &LevelledConfiguration<'_>| Levelled::with_domains(all, locals, shared);
        self.configured(Precision::EXACT, whole).map_err(refused)
    }

    /// What is made of the core's borrowed form.
    pub fn configured<T>(
        &self,
        precision: Precision,
        make: impl FnOnce(&LevelledConfiguration<'_>) -> T,
    ) -> T {
        let served = self.tasks.iter().zip(&self.containers);
        let served = served.map(|(entry, &container)| LevelledTask {
            task: entry.task,
            container,
        });
        let served: Vec<LevelledTask> = served.collect();
        let tables = self.tables.iter().map(|table| CpuTable {
            cycle: table.cycle,
            slots: &table.slots,
        });
        let tables: Vec<CpuTable<'_>> = tables.collect();
        make(&LevelledConfiguration {
            tasks: &served,
            tables: &tables,
            backlog: self.backlog,
            budgets: self.budgets,
            level_b: self.level_b,
            granularity: precision.granularity,
            wake_granularity: precision.wake_granularity,
        })
    }
}

fn refused(error: ConfigurationError) -> Refusal {
    Refusal::input(error.to_string())
}
