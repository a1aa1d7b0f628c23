//! What the walkers of all CPUs share: the domain behind its lock, what each told of its jobs, and the barrier.

use super::barrier::Meeting;
use super::domain::{Domain, Told};
use crate::words::Latest;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shared by all walkers, by the watchdog, which closes the barrier, and by who started the run.
///
/// Who has both locks took that of the domain first.
pub(super) struct Common {
    domain: Mutex<Domain>,
    /// By CPU. Its walker writes, and takes the lock for that alone; who started the run reads what is left when the
    /// body of a job does not return.
    told: Vec<Mutex<Told>>,
    pub(super) meeting: Box<dyn Meeting>,
    /// The clock when the barrier was opened last: written by who opens it, which is one at a time.
    pub(super) opened: Latest<u64>,
}

impl Common {
    /// Of so many CPUs.
    pub(super) fn new(domain: Domain, meeting: Box<dyn Meeting>, cpus: usize) -> Self {
        // A job starts and ends.
        let room = 2 * domain.tasks.len();
        Self {
            domain: Mutex::new(domain),
            told: (0..cpus)
                .map(|_| Mutex::new(Vec::with_capacity(room)))
                .collect(),
            meeting,
            opened: Latest::default(),
        }
    }

    /// The domain. A walker that panicked with the lock has ended the run, and what it left is whole enough to count.
    pub(super) fn domain(&self) -> MutexGuard<'_, Domain> {
        self.domain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the walker of a CPU told of its jobs, and the scheduler was not told yet.
    pub(super) fn told(&self, cpu: usize) -> Option<MutexGuard<'_, Told>> {
        let told = self.told.get(cpu)?;
        Some(told.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
