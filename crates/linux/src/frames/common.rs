//! What the walkers of all CPUs share: the domain behind its lock, how far each is, and the barrier.

use super::barrier::Meeting;
use super::domain::Domain;
use crate::sys::clock::monotonic_nanos;
use crate::words::Latest;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Shared by all walkers, by the watchdog, which closes the barrier, and by who started the run.
pub(super) struct Common {
    domain: Mutex<Domain>,
    /// The clock when who had the domain was about to leave it to others.
    freed: Latest<u64>,
    /// By CPU, how many jobs of its sequence its walker has begun. The walker writes it; who started the run reads it when
    /// that is over, also where a body does not return.
    begun: Vec<Latest<u64>>,
    pub(super) meeting: Box<dyn Meeting>,
    /// The clock when the barrier was opened last: written by who opens it, which is one at a time.
    pub(super) opened: Latest<u64>,
    /// The clock when it was open: before `opened` until whoever opened it last has done so. Nothing kept those that waited
    /// from then on but the machine.
    pub(super) let_go: Latest<u64>,
}

impl Common {
    /// Of so many CPUs.
    pub(super) fn new(domain: Domain, meeting: Box<dyn Meeting>, cpus: usize) -> Self {
        Self {
            domain: Mutex::new(domain),
            freed: Latest::default(),
            begun: (0..cpus).map(|_| Latest::default()).collect(),
            meeting,
            opened: Latest::default(),
            let_go: Latest::default(),
        }
    }

    /// The domain. A walker that panicked with the lock has ended the run, and what it left is whole enough to count.
    pub(super) fn domain(&self) -> Taken<'_> {
        let domain = self.domain.lock().unwrap_or_else(PoisonError::into_inner);
        let freed = &self.freed;
        Taken { domain, freed }
    }

    /// The same if nobody has it.
    pub(super) fn free_domain(&self) -> Option<Taken<'_>> {
        let domain = match self.domain.try_lock() {
            Ok(domain) => domain,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let freed = &self.freed;
        Some(Taken { domain, freed })
    }

    /// The clock when the domain was left to others last.
    pub(super) fn freed(&self) -> u64 {
        self.freed.get()
    }

    /// The walker of a CPU has begun so many jobs of its sequence.
    pub(super) fn begins(&self, cpu: usize, jobs: usize) {
        if let Some(begun) = self.begun.get(cpu) {
            begun.set(jobs as u64);
        }
    }

    /// How many that are.
    pub(super) fn begun(&self, cpu: usize) -> usize {
        let begun = self.begun.get(cpu).map_or(0, Latest::get);
        usize::try_from(begun).unwrap_or(usize::MAX)
    }
}

/// The domain, as long as a thread has it.
pub(super) struct Taken<'a> {
    domain: MutexGuard<'a, Domain>,
    freed: &'a Latest<u64>,
}

impl Deref for Taken<'_> {
    type Target = Domain;

    fn deref(&self) -> &Domain {
        &self.domain
    }
}

impl DerefMut for Taken<'_> {
    fn deref_mut(&mut self) -> &mut Domain {
        &mut self.domain
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // With the lock: one thread at a time writes it.
        self.freed.set(monotonic_nanos());
    }
}
