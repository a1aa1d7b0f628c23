//! The end of one CPU's manager: what it tells, what it takes, and the order in which it may.
//!
//! A round is: the CPU's own domain decides, and whether it leaves the CPU open is told ([`LocalStep`]); only then may the manager come
//! for the turn ([`Published`]), and only who has it gets at the shared domain ([`super::settle::Held`]). So no two domains are ever in one hand (C9).

use super::facts::{Guest, UpFact, What};
use super::shared::Shared;
use crate::words::Offer;
use std::collections::VecDeque;
use vestal_core::plan::{Slot, Wake};
use vestal_core::{ContractViolation, CpuId, Duration, Instant, Scheduler, Service};

/// A job that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) guest: Guest,
    /// What is left of its budget; `None`: it has none.
    pub(crate) remaining: Option<Service>,
}

/// In the place of a budget: none.
pub(super) const UNLIMITED: u64 = u64::MAX;

/// The manager has more to tell than there is room for, here or there: nobody has looked for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// What the manager of a CPU remembers of that.
#[derive(Debug)]
pub(crate) struct Side {
    cpu: CpuId,
    is_open: bool,
    /// When that was told last.
    published: Option<Instant>,
    /// What it has taken, and not given back.
    held: Option<Guest>,
    /// Told, when there was no room: nothing overtakes it.
    kept: VecDeque<UpFact>,
    /// Whether something was told since the manager came for the turn last at which somebody has to look.
    has_news: bool,
}

impl Side {
    /// Of a CPU that counts as closed; it keeps so many facts for which there is no room.
    pub(crate) fn new(cpu: CpuId, keeps: usize) -> Self {
        Self {
            cpu,
            is_open: false,
            published: None,
            held: None,
            kept: VecDeque::with_capacity(keeps),
            has_news: false,
        }
    }

    /// Tells a fact.
    ///
    /// # Errors
    /// [`Full`]; the fact is not told.
    pub(crate) fn tell<S>(
        &mut self,
        shared: &Shared<S>,
        at: Instant,
        what: What,
    ) -> Result<(), Full> {
        let fact = UpFact { at, what };
        // Who decides learns of a start by the claim, and of a charge with what comes after it.
        self.has_news |= !matches!(what, What::Started(_) | What::Charged(..));
        if self.flush(shared) && shared.push(self.cpu, fact) {
            return Ok(());
        }
        if self.kept.len() == self.kept.capacity() {
            return Err(Full);
        }
        self.kept.push_back(fact);
        Ok(())
    }

    /// Tells what was kept, at which somebody has to look then; says whether nothing is left of it.
    pub(crate) fn flush<S>(&mut self, shared: &Shared<S>) -> bool {
        while let Some(&fact) = self.kept.front() {
            if !shared.push(self.cpu, fact) {
                return false;
            }
            self.kept.pop_front();
            self.has_news = true;
        }
        true
    }

    /// Whether something is kept: then the manager comes for the turn again when it was told.
    pub(crate) fn keeps(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Whether something was told since it came for the turn last at which somebody has to look.
    pub(crate) const fn has_news(&self) -> bool {
        self.has_news
    }

    /// Tells whether the CPU is open, if that is news.
    pub(super) fn publish<S>(
        &mut self,
        shared: &Shared<S>,
        at: Instant,
        open: bool,
    ) -> Result<(), Full> {
        if open == self.is_open {
            return Ok(());
        }
        let what = if open { What::Opened } else { What::Closed };
        // Of two that contradict each other at one instant the domain believes that the CPU is closed.
        let after = Duration::from_nanos(u64::from(open));
        let least = self.published.map(|last| last.saturating_add(after));
        let at = least.map_or(at, |least| at.max(least));
        self.tell(shared, at, what)?;
        (self.is_open, self.published) = (open, Some(at));
        if let Some(seat) = shared.seats.get(self.cpu.index()) {
            seat.open.set(u64::from(open));
        }
        Ok(())
    }

    pub(super) const fn cpu(&self) -> CpuId {
        self.cpu
    }

    /// Its manager comes for the turn, or leaves it to others.
    pub(super) const fn forget_news(&mut self) {
        self.has_news = false;
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// What the CPU has taken.
    pub(crate) const fn held(&self) -> Option<Guest> {
        self.held
    }

    /// Whether the CPU is to stop what it has taken: another job is wanted, or none.
    pub(crate) fn is_to_stop<S>(&self, shared: &Shared<S>) -> bool {
        let claim = shared.claim(self.cpu);
        self.held.is_some() && claim.is_none_or(|claim| !claim.is_settled())
    }

    /// Takes what is wanted. The caller tells at once that it has started, and says so before the job can run. Nothing is taken
    /// while the CPU is closed, or facts are kept.
    pub(crate) fn take<S>(&mut self, shared: &Shared<S>) -> Option<Taken> {
        if !self.is_open || self.keeps() {
            return None;
        }
        let offer: Offer = shared.seats.get(self.cpu.index())?.claim.take()?;
        let (sequence, remaining) = shared.granted(offer)?;
        let guest = Guest::of(offer, sequence);
        self.held = Some(guest);
        let remaining = (remaining != UNLIMITED).then(|| Service::from_nanos(remaining));
        Some(Taken { guest, remaining })
    }

    /// Gives back what was taken, which has stopped or ended, when that was told. What the CPU remembers of the job is where the next
    /// one finds it. `false`: it has nothing, or what it told is kept still; it is to try again.
    pub(crate) fn give_back<S>(&mut self, shared: &Shared<S>) -> bool {
        let is_told = self.flush(shared);
        let seat = shared.seats.get(self.cpu.index());
        if let (true, Some(_), Some(seat)) = (is_told, self.held, seat) {
            seat.claim.give_back();
            self.held = None;
            return true;
        }
        false
    }
}

/// A CPU's own domain, before it decides.
#[derive(Debug)]
pub(crate) struct LocalStep<'a, L>(pub(crate) &'a mut L);

/// The CPU's own domain has decided, and is in nobody's hand; what that means for others was told.
#[derive(Debug)]
pub(crate) struct Published(CpuId);

/// What came of a step.
#[derive(Debug)]
pub(crate) struct Decided {
    /// What the CPU is to run of its own.
    pub(crate) own: Option<Slot>,
    /// When its own domain is to decide again.
    pub(crate) wake: Option<Wake>,
    pub(crate) published: Published,
}

/// Why there was no step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoStep {
    Refused(ContractViolation),
    Full,
}

impl<L: Scheduler> LocalStep<'_, L> {
    /// The domain decides; gives what the CPU is to run of its own, which is to be carried out before the manager comes for the turn,
    /// and when the domain asks to decide again. The CPU is told to be open if nothing of its own is to run, and it may be, which is asked then.
    pub(crate) fn decide<S>(
        self,
        now: Instant,
        (side, shared): (&mut Side, &Shared<S>),
        may_be_open: impl FnOnce() -> bool,
    ) -> Result<Decided, NoStep> {
        let plan = self.0.decide(now).map_err(NoStep::Refused)?;
        let (own, wake) = (plan.slot(side.cpu), plan.next);
        let told = side.publish(shared, now, own.is_none() && may_be_open());
        told.map_err(|Full| NoStep::Full)?;
        let published = Published(side.cpu);
        Ok(Decided {
            own,
            wake,
            published,
        })
    }
}

impl Published {
    /// Whose own domain has decided.
    pub(super) const fn cpu(&self) -> CpuId {
        self.0
    }

    /// Leaves what was told to whoever has the turn, or comes for it next.
    pub(crate) fn leave<S>(self, side: &mut Side, shared: &Shared<S>) {
        side.forget_news();
        shared.turn.leave_work();
    }
}
