//! Levels that share CPUs (MC²): is every budget used up once, and does no level wait for a lower one?
//!
//! Replay asks whether the same facts give the same plans again. This asks what the plans are for, and asks no scheduler: from
//! the tables, the releases and what jobs were seen to do it is worked out who should have had each CPU, at each instant, and
//! whose budget should have been used up by whom. What is looked for:
//!
//! - **L1** a CPU is a job's that may not have it just then: one of a lower level than the job that wants it, or one without slot
//!   or budget, or behind another of its level; a table says whose slot it is and a release when a job is ready, not a decision,
//!   so a scheduler that was late is found too;
//! - **L2** no job runs on two CPUs, and no CPU runs two jobs, so that the time of a CPU is that of its levels and idle time;
//! - **L3** each charge lies between a start and a stop of that job on that CPU, and all of them together are no more than that took;
//! - **L4** a budget is used by its task's jobs and its ghost, once: what is left of it by this account is what the scheduler gave;
//! - **L5** the shared domain is told that a CPU is open exactly while levels A and B do not want it, and it is not left to threads beside
//!   the run ([`crate::Mechanism::YIELD`]);
//! - **L6** the scheduler drops a job for want of room only if as many of its task wait as may, or have budgets, and the world by itself
//!   drops none, because the scheduler has to know of every release.
//!
//! In a simulation all of that holds to the nanosecond, and besides no CPU is idle that a job of levels A to C wants, charges are
//! exactly what a job ran, and the recorded ghosts are those of the account. On a real machine what is at most a tolerance long does not
//! count, and neither does time in which the machine held the CPU ([`crate::What::Gap`]); but what a job waits for lower ones adds up
//! until it begins or goes on, whoever else has the CPU meanwhile, or its budget is used up.
//!
//! What it cannot find: a publication that says again what was said before and is missing (the state is the same without it), and on
//! a real machine a stop that moved into time in which nothing else ran.
//!
//! Memory grows with the records. Complexity: O(r log r + e (n log n + m)) for r records, n tasks, m CPUs, and e instants at which
//! something is recorded, a slot begins or ends, or a ghost has used up its budget.

mod account;
mod collect;
mod fault;
mod sweep;
mod waits;

pub use fault::{Broken, Fault};

use crate::record::Record;
use account::Account;
use alloc::vec::Vec;
use collect::Collector;
use sweep::Sweep;
use vestal_core::{Container, CpuId, Duration, LevelledConfiguration};

/// What levels got of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Supply {
    /// For how long jobs of levels D, C, B and A ran.
    pub ran: [Duration; 4],
    /// For how long none did.
    pub idle: Duration,
    /// For how long a ghost of level A had its slot there, and one of level B used up its budget.
    pub ghosts: [Duration; 2],
}

impl Supply {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> Duration {
        let ran = self.ran.iter().copied();
        ran.fold(self.idle, Duration::saturating_add)
    }
}

/// What was found in a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What is wrong, by the instant from which on it is.
    pub broken: Vec<Broken>,
    /// How often something was wrong; of more than [`BROKEN_MAX`] the later ones are only counted.
    pub count: u64,
    /// By CPU.
    pub supply: Vec<Supply>,
    /// For how long ghosts of level C used up budgets.
    pub ghosts: Duration,
    /// How many spans between a start and a stop were compared with their charges.
    pub spans: u64,
    /// How often what is left of a budget was compared.
    pub budgets: u64,
}

/// So many things that are wrong are remembered.
pub const BROKEN_MAX: usize = 1000;

/// Looks at a recording of these levels, whose tasks and CPUs have the numbers of the configuration. Without a tolerance it is one
/// of exact time.
///
/// # Errors
/// What `records` gives.
pub fn check<E>(
    records: impl IntoIterator<Item = Result<Record, E>>,
    levels: &LevelledConfiguration<'_>,
    tolerance: Duration,
) -> Result<Found, E> {
    let mut collector = Collector::new(tolerance);
    for record in records {
        collector.take(record?);
    }
    let collected = collector.finish();
    let account = Account::new(levels, tolerance);
    Ok(Sweep::new(account, &collected, tolerance).run())
}

/// The level of a container, from D on.
fn grade(container: Container) -> usize {
    match container {
        Container::Table(_) => 3,
        Container::Local(_) => 2,
        Container::Global => 1,
        Container::BestEffort => 0,
    }
}

/// The CPU in a table of them.
fn of_cpu<T>(table: &mut [T], cpu: CpuId) -> Option<&mut T> {
    table.get_mut(cpu.index())
}
