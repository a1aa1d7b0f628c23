//! What the walkers of all CPUs share: the domain behind its lock, how far each is, and the barrier.

use super::barrier::Meeting;
use super::domain::Domain;
use crate::stamps::{Stamp, Stamps};
use crate::sys::clock::monotonic_nanos;
use crate::words::{Latest, Opening, Openings, Passed, Ticket};
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
    meetings: Vec<MeetingPlace>,
    /// For how long who waits there keeps its processor, in nanoseconds.
    pub(super) keeps_nanos: u64,
    /// How it is measured how long something takes.
    pub(super) stamps: Stamps,
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
            meetings: meetings.into_iter().map(MeetingPlace::new).collect(),
            keeps_nanos,
            stamps,
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
    pub(super) fn meeting(&self, more: usize) -> Option<&MeetingPlace> {
        self.meetings.get(more)
    }

    /// Nobody waits any more, for ever: see [`Meeting::close`].
    pub(super) fn close(&self) {
        let places = self.meetings.iter();
        places.for_each(|place| place.meeting.close());
    }

    /// How many jobs the walker of a CPU has begun.
    pub(super) fn begun(&self, cpu: usize) -> usize {
        let begun = self.begun.get(cpu).map_or(0, Latest::get);
        usize::try_from(begun).unwrap_or(usize::MAX)
    }
}

/// A barrier, and when it was opened. By the threads of a paper those of one round may come to look at that when others have met
/// there again, or at another one: so it is remembered by barrier and round.
#[derive(Debug)]
pub(super) struct MeetingPlace {
    meeting: Box<dyn Meeting>,
    openings: Openings,
}

impl MeetingPlace {
    fn new(meeting: Box<dyn Meeting>) -> Self {
        let openings = Openings::default();
        Self { meeting, openings }
    }

    /// To be drawn before others can know that its owner has come: see [`Meeting`].
    pub(super) fn ticket(&self) -> Ticket {
        self.meeting.ticket()
    }

    /// Waits until the round of the ticket is over, or all are.
    pub(super) fn wait(&self, ticket: Ticket) -> Passed {
        self.meeting.wait(ticket)
    }

    /// Whoever came last, with this ticket, is about to let all go on; says when.
    pub(super) fn begin_to_open(&self, ticket: Ticket, stamps: Stamps) -> Stamp {
        let now = stamps.now();
        self.openings.begin(ticket, [now.monotonic, now.ticks]);
        now
    }

    /// And does so; says how long it took since then.
    pub(super) fn open(&self, ticket: Ticket, (since, stamps): (Stamp, Stamps)) -> u64 {
        self.meeting.open();
        let took = stamps.since(since);
        self.openings.end(ticket, took);
        took
    }

    /// When the round of a ticket was opened, for a thread that goes on `now`, and from when on nothing has kept that but the
    /// machine: whoever opens may be slow, which is the run's own. Of a round that is too long ago nothing is known, and
    /// nobody is said to have been kept from going on.
    pub(super) fn opened(&self, ticket: Ticket, now: Stamp) -> (Stamp, u64) {
        let Some(Opening { at, ticks, done }) = self.openings.of(ticket) else {
            return (now, now.monotonic);
        };
        let since = Stamp {
            monotonic: at,
            ticks,
        };
        (since, done.unwrap_or(u64::MAX).min(now.monotonic))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::barrier::Barrier;
    use crate::frames::barrier::meeting;

    /// Two meet; one of them does not get its CPU before two others have met there, much later.
    #[test]
    fn who_goes_on_late_learns_when_its_own_round_was_opened() {
        for kind in [Barrier::Futex, Barrier::Spin] {
            let place = MeetingPlace::new(meeting(kind, 2, false, Stamps::Monotonic).unwrap());
            let (own, stamps) = (place.ticket(), Stamps::Monotonic);
            let opened = place.begin_to_open(own, stamps);
            let done = opened.monotonic + place.open(own, (opened, stamps));
            let later = place.ticket();
            let second = place.begin_to_open(later, stamps);
            place.open(later, (second, stamps));
            assert!(second.monotonic > opened.monotonic);
            let now = stamps.now();
            let (since, let_go) = place.opened(own, now);
            assert_eq!((since.monotonic, let_go), (opened.monotonic, done));
            assert_eq!(place.opened(later, now).0.monotonic, second.monotonic);
            // Whoever opens it is still at it: what is slow is the run itself.
            let third = place.ticket();
            let opened = place.begin_to_open(third, stamps);
            let (since, let_go) = place.opened(third, now);
            assert_eq!((since.monotonic, let_go), (opened.monotonic, now.monotonic));
        }
    }
}
