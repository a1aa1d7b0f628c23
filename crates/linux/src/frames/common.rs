//! What the walkers of all CPUs share: the domain behind its lock, how far each is, and the barrier.

use super::barrier::Meeting;
use super::domain::Domain;
use crate::stamps::{Stamp, Stamps};
use crate::sys::clock::monotonic_nanos;
use crate::words::Latest;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Shared by all walkers, by the watchdog, which closes the barrier, and by who started the run.
pub(super) struct Common {
    domain: Mutex<Domain>,
    /// The clock when who had the domain was about to leave it to others.
    freed: Latest<u64>,
    /// For how long threads had the domain until then, in nanoseconds, or were about to get it after they had waited. Whoever has it
    /// writes both.
    held: Latest<u64>,
    /// By CPU, how many jobs of its sequence its walker has begun. The walker writes it; who started the run reads it when
    /// that is over, also where a body does not return.
    begun: Vec<Latest<u64>>,
    /// Where threads wait for each other: one for each number of them that there may be, the least first.
    meetings: Vec<Box<dyn Meeting>>,
    /// For how long who waits there keeps its processor, in nanoseconds.
    pub(super) keeps_nanos: u64,
    /// How it is measured how long something takes.
    pub(super) stamps: Stamps,
    /// When the barrier was opened last, and what that is measured by: written by who opens it, which is one at a time,
    /// before it does.
    opened: Latest<u64>,
    opened_ticks: Latest<u64>,
    /// The clock when it was open: before `opened` until whoever opened it last has done so. Nothing kept those that waited
    /// from then on but the machine.
    let_go: Latest<u64>,
}

impl Common {
    /// Of so many CPUs; who waits at the barrier keeps its processor for so many nanoseconds.
    pub(super) fn new(
        domain: Domain,
        (meetings, keeps_nanos, stamps): (Vec<Box<dyn Meeting>>, u64, Stamps),
        cpus: usize,
    ) -> Self {
        Self {
            domain: Mutex::new(domain),
            freed: Latest::default(),
            held: Latest::default(),
            begun: (0..cpus).map(|_| Latest::default()).collect(),
            meetings,
            keeps_nanos,
            stamps,
            opened: Latest::default(),
            opened_ticks: Latest::default(),
            let_go: Latest::default(),
        }
    }

    /// The domain. A walker that panicked with the lock has ended the run, and what it left is whole enough to count.
    pub(super) fn domain(&self) -> Taken<'_> {
        let domain = self.domain.lock().unwrap_or_else(PoisonError::into_inner);
        self.taken(domain, monotonic_nanos())
    }

    /// The same for a thread that has found it taken. It has been this one's turn since it was left to others last, whatever kept
    /// it from taking it: others that wait, too, have waited for this one.
    pub(super) fn domain_in_turn(&self) -> Taken<'_> {
        let domain = self.domain.lock().unwrap_or_else(PoisonError::into_inner);
        let since = self.freed.get();
        self.taken(domain, since)
    }

    fn taken<'a>(&'a self, domain: MutexGuard<'a, Domain>, since: u64) -> Taken<'a> {
        let (freed, held) = (&self.freed, &self.held);
        Taken {
            domain,
            since,
            freed,
            held,
        }
    }

    /// The same if nobody has it.
    pub(super) fn free_domain(&self) -> Option<Taken<'_>> {
        let domain = match self.domain.try_lock() {
            Ok(domain) => domain,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(self.taken(domain, monotonic_nanos()))
    }

    /// For how long threads had the domain that have left it again, in nanoseconds.
    pub(super) fn held(&self) -> u64 {
        self.held.get()
    }

    /// The walker of a CPU has begun so many jobs of its sequence.
    pub(super) fn begins(&self, cpu: usize, jobs: usize) {
        if let Some(begun) = self.begun.get(cpu) {
            begun.set(jobs as u64);
        }
    }

    /// Where so many threads more than the least number meet; none if there are never so many.
    pub(super) fn meeting(&self, more: usize) -> Option<&dyn Meeting> {
        self.meetings.get(more).map(AsRef::as_ref)
    }

    /// Nobody waits any more, for ever: see [`Meeting::close`].
    pub(super) fn close(&self) {
        self.meetings.iter().for_each(|meeting| meeting.close());
    }

    /// Whoever came last is about to let all go on; says when.
    pub(super) fn begin_to_open(&self) -> Stamp {
        let now = self.stamps.now();
        self.opened.set(now.monotonic);
        self.opened_ticks.set(now.ticks);
        now
    }

    /// And does so; says how long it took since then.
    pub(super) fn open(&self, meeting: &dyn Meeting, since: Stamp) -> u64 {
        meeting.open();
        let took = self.stamps.since(since);
        self.let_go.set(since.monotonic.saturating_add(took));
        took
    }

    /// From when on nothing keeps those that waited but the machine, at `now`: whoever opens the barrier may be slow, which
    /// is the run's own.
    pub(super) fn let_go(&self, opened: Stamp, now: Stamp) -> u64 {
        let let_go = self.let_go.get();
        if let_go >= opened.monotonic {
            let_go.min(now.monotonic)
        } else {
            now.monotonic
        }
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

/// The domain, as long as a thread has it.
pub(super) struct Taken<'a> {
    domain: MutexGuard<'a, Domain>,
    /// The clock then, or when it was left to this thread.
    since: u64,
    freed: &'a Latest<u64>,
    held: &'a Latest<u64>,
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
        let now = monotonic_nanos();
        let held = now.saturating_sub(self.since);
        self.freed.set(now);
        self.held.set(self.held.get().saturating_add(held));
    }
}
