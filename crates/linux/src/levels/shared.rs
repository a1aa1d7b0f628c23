//! What managers of all CPUs share for levels C and D: who has the turn to decide, and of each CPU what it says and what it shall run.

use super::domain::{Domain, NEVER, SharedRecord};
use super::facts::{UpFact, WORDS};
use crate::words::{Claim, Claimed, Grant, Latest, Offer, Turn, Up};
use std::sync::{Mutex, MutexGuard};
use vestal_core::{CpuId, Instant, Scheduler};

/// Shared by all managers. Nobody waits for it.
#[derive(Debug)]
pub(crate) struct Shared<S> {
    pub(super) turn: Turn,
    /// Locked by who has the turn, and by nobody else.
    domain: Mutex<Domain<S>>,
    pub(super) seats: Box<[Seat]>,
    /// By task what goes with its offer.
    pub(super) grants: Box<[Grant]>,
}

/// One CPU's words.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) up: Up<WORDS>,
    pub(super) claim: Claim,
    /// When the CPU is to settle if nobody does before, as nanoseconds after the epoch.
    pub(super) wake: Latest<u64>,
    /// 1 if the CPU is open, as it told before it came for the turn last: for who looks for somebody to call.
    pub(super) open: Latest<u64>,
}

impl<S: Scheduler> Shared<S> {
    /// For so many CPUs and tasks, by the numbers of the scheduler; each CPU may have told so many facts that nobody has looked at.
    pub(crate) fn new(scheduler: S, (cpus, tasks): (usize, usize), facts: usize) -> Self {
        let seat = |_| Seat {
            up: Up::new(facts),
            claim: Claim::default(),
            wake: Latest::new(NEVER),
            open: Latest::default(),
        };
        Self {
            turn: Turn::default(),
            domain: Mutex::new(Domain::new(scheduler, cpus, tasks)),
            seats: (0..cpus).map(seat).collect(),
            grants: (0..tasks).map(|_| Grant::default()).collect(),
        }
    }

    /// The domain, for who has the turn. A holder that panicked has left it in the middle of something: then nobody decides any more, and
    /// the run ends.
    pub(super) fn domain(&self) -> Option<MutexGuard<'_, Domain<S>>> {
        // Whether it is poisoned, or locked after all.
        self.domain.try_lock().ok()
    }

    /// What happened to the domain, and itself, when the managers are gone.
    pub(crate) fn into_parts(self) -> (S, SharedRecord) {
        let domain = self.domain.into_inner();
        domain
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .into_parts()
    }
}

impl<S> Shared<S> {
    /// Adds a fact of a CPU; says whether there was room for it. By its manager.
    pub(super) fn push(&self, cpu: CpuId, fact: UpFact) -> bool {
        let seat = self.seats.get(cpu.index());
        seat.is_some_and(|seat| seat.up.push(fact.to_words()))
    }

    /// What a CPU shall run, and what it has taken.
    pub(crate) fn claim(&self, cpu: CpuId) -> Option<Claimed> {
        Some(self.seats.get(cpu.index())?.claim.look())
    }

    /// What goes with an offer that was taken: the number of the job, and what is left of its budget.
    pub(super) fn granted(&self, offer: Offer) -> Option<(u64, u64)> {
        Some(self.grants.get(usize::from(offer.task))?.read())
    }

    /// When a CPU is to settle if nobody does before.
    pub(crate) fn wake(&self, cpu: CpuId) -> Option<Instant> {
        let wake = self.seats.get(cpu.index())?.wake.get();
        (wake != NEVER).then(|| Instant::from_nanos(wake))
    }

    /// An open CPU, another one than `cpu`. Who has left the turn sees whether a CPU is open that came for it before.
    pub(super) fn open_other(&self, cpu: CpuId) -> Option<CpuId> {
        let mut each = (0..).map(CpuId).zip(&self.seats);
        each.find(|(other, seat)| *other != cpu && seat.open.get() == 1)
            .map(|(open, _)| open)
    }

    /// Takes what is left in the queues when all is over, of which nobody has heard.
    #[cfg(test)]
    pub(crate) fn unheard(&self) -> Vec<super::What> {
        let each = self.seats.iter();
        let each = each.flat_map(|seat| std::iter::from_fn(|| seat.up.take()));
        each.filter_map(UpFact::from_words)
            .map(|fact| fact.what)
            .collect()
    }

    /// Whether there is something that nobody has looked at.
    pub(crate) fn has_more(&self) -> bool {
        self.turn.has_more()
    }
}
