//! What the run's own threads cost: CPU time, switches, and why the manager was woken.

use crate::account::ThreadCost;
use crate::beside::Beside;
use crate::sys::clock::own_cpu_nanos;
use crate::sys::sched::{Switches, own_switches};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use vestal_core::Service;

/// Reads the accounts of the calling thread from now on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    cpu_nanos: u64,
    switches: Switches,
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self {
            cpu_nanos: own_cpu_nanos(),
            switches: own_switches(),
        }
    }

    /// What the calling thread used since.
    pub(crate) fn used(self) -> ThreadCost {
        self.used_until(u64::MAX)
    }

    /// The same, where what counts of its CPU time is what it had executed when its clock showed `until`, if it has come there.
    pub(crate) fn used_until(self, until: u64) -> ThreadCost {
        let after = own_switches();
        let before = self.switches;
        let cpu = own_cpu_nanos().min(until);
        ThreadCost {
            cpu: Service::from_nanos(cpu.saturating_sub(self.cpu_nanos)),
            voluntary: after.voluntary.saturating_sub(before.voluntary),
            involuntary: after.involuntary.saturating_sub(before.involuntary),
        }
    }

    /// Notes that down.
    pub(crate) fn stop(self, account: &Account) {
        // Set once, by the thread that leaves.
        let _ = account.0.set(self.used());
    }
}

/// What one thread used during the run; nothing until it has left.
#[derive(Debug, Default)]
pub(crate) struct Account(OnceLock<ThreadCost>);

impl Account {
    pub(crate) fn cost(&self) -> ThreadCost {
        self.0.get().copied().unwrap_or_default()
    }
}

/// The accounts of the threads of a CPU that are not workers.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    pub(crate) manager: Account,
    pub(crate) idle: Account,
    /// Of a thread that waits for devices.
    pub(crate) top_half: Account,
    beside: Mutex<Beside>,
}

impl Accounts {
    /// What threads beside the manager counted; each puts its own there when it leaves.
    pub(crate) fn beside(&self) -> MutexGuard<'_, Beside> {
        // Who panics with it has counted nothing by halves.
        self.beside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
