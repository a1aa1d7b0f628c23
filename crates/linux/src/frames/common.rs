//! What the walkers of all CPUs share: the domain behind its lock, how far each is, and the barrier.

use super::barrier::Meeting;
use super::domain::Domain;
use crate::words::Latest;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shared by all walkers, by the watchdog, which closes the barrier, and by who started the run.
pub(super) struct Common {
    domain: Mutex<Domain>,
    /// By CPU, how many jobs of its sequence its walker has begun. The walker writes it; who started the run reads it when
    /// that is over, also where a body does not return.
    begun: Vec<Latest<u64>>,
    pub(super) meeting: Box<dyn Meeting>,
    /// For how long who waits there keeps its processor, in nanoseconds.
    pub(super) keeps_nanos: u64,
    /// The clock when the barrier was opened last: written by who opens it, which is one at a time.
    pub(super) opened: Latest<u64>,
    /// The clock when it was open: before `opened` until whoever opened it last has done so. Nothing kept those that waited
    /// from then on but the machine.
    pub(super) let_go: Latest<u64>,
}

impl Common {
    /// Of so many CPUs; who waits at the barrier keeps its processor for so many nanoseconds.
    pub(super) fn new(
        domain: Domain,
        (meeting, keeps_nanos): (Box<dyn Meeting>, u64),
        cpus: usize,
    ) -> Self {
        Self {
            domain: Mutex::new(domain),
            begun: (0..cpus).map(|_| Latest::default()).collect(),
            meeting,
            keeps_nanos,
            opened: Latest::default(),
            let_go: Latest::default(),
        }
    }

    /// The domain. A walker that panicked with the lock has ended the run, and what it left is whole enough to count.
    pub(super) fn domain(&self) -> MutexGuard<'_, Domain> {
        self.domain.lock().unwrap_or_else(PoisonError::into_inner)
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
