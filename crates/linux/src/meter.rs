//! What the run's own threads cost: CPU time, switches, and why the manager was woken.

use crate::intervals::Reactions;
use crate::report::ThreadCost;
use crate::sys::clock::own_cpu_nanos;
use crate::sys::sched::{Switches, own_switches};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
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

    /// Notes down what the calling thread used since.
    pub(crate) fn stop(self, account: &Account) {
        let switches = own_switches();
        let Switches {
            voluntary,
            involuntary,
        } = self.switches;
        for (word, value) in [
            (
                &account.cpu_nanos,
                own_cpu_nanos().saturating_sub(self.cpu_nanos),
            ),
            (
                &account.voluntary,
                switches.voluntary.saturating_sub(voluntary),
            ),
            (
                &account.involuntary,
                switches.involuntary.saturating_sub(involuntary),
            ),
        ] {
            word.store(value, Ordering::SeqCst);
        }
    }
}

/// What one thread used during the run; zero until it has left.
#[derive(Debug, Default)]
pub(crate) struct Account {
    cpu_nanos: AtomicU64,
    voluntary: AtomicU64,
    involuntary: AtomicU64,
}

impl Account {
    pub(crate) fn cost(&self) -> ThreadCost {
        ThreadCost {
            cpu: Service::from_nanos(self.cpu_nanos.load(Ordering::SeqCst)),
            voluntary: self.voluntary.load(Ordering::SeqCst),
            involuntary: self.involuntary.load(Ordering::SeqCst),
        }
    }
}

/// The accounts of the threads that are not workers.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    /// Of all threads, each of which adds its own when it leaves.
    pub(crate) reactions: Mutex<Reactions>,
    pub(crate) manager: Account,
    pub(crate) idle: Account,
    pub(crate) watchdog: Account,
}
