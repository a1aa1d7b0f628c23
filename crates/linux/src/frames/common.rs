//! What the walkers of all CPUs share: the domain behind its lock, how far each is, and the barrier.

use super::barrier::Meeting;
use super::domain::Domain;
use crate::stamps::{Stamp, Stamps};
use crate::words::Latest;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shared by all walkers, by the watchdog, which closes the barrier, and by who started the run.
pub(super) struct Common {
    domain: Mutex<Domain>,
    /// By CPU, how many jobs of its sequence its walker has begun. The walker writes it; who started the run reads it when
    /// that is over, also where a body does not return.
    begun: Vec<Latest<u64>>,
    pub(super) meeting: Box<dyn Meeting>,
    /// How it is measured how long something takes.
    pub(super) stamps: Stamps,
    /// When the barrier was opened last, and what that is measured by: written by who opens it, which is one at a time,
    /// before it does.
    opened: Latest<u64>,
    opened_ticks: Latest<u64>,
}

impl Common {
    /// Of so many CPUs.
    pub(super) fn new(
        domain: Domain,
        (meeting, stamps): (Box<dyn Meeting>, Stamps),
        cpus: usize,
    ) -> Self {
        Self {
            domain: Mutex::new(domain),
            begun: (0..cpus).map(|_| Latest::default()).collect(),
            meeting,
            stamps,
            opened: Latest::default(),
            opened_ticks: Latest::default(),
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

    /// Whoever came last lets all go on.
    pub(super) fn open(&self) {
        let Stamp { monotonic, ticks } = self.stamps.now();
        self.opened.set(monotonic);
        self.opened_ticks.set(ticks);
        self.meeting.open();
    }

    /// When that was; the same until all that waited have come again.
    pub(super) fn opened(&self) -> Stamp {
        Stamp {
            monotonic: self.opened.get(),
            ticks: self.opened_ticks.get(),
        }
    }

    /// How many that are.
    pub(super) fn begun(&self, cpu: usize) -> usize {
        let begun = self.begun.get(cpu).map_or(0, Latest::get);
        usize::try_from(begun).unwrap_or(usize::MAX)
    }
}
