//! Who has the turn decides for all CPUs.
//!
//! ```text
//! drain all queues -> see what was taken -> decide -> withdraw -> offer -> let go
//!      ^                                               |                    |
//!      +---- something was taken or given back --------+                    |
//!      +---- somebody came meanwhile ---------------------------------------+
//! ```
//! A job is offered when nobody has it any more: it is wanted nowhere, taken nowhere, and what whoever had it told has been looked at. A
//! CPU tells before it gives back, and gives back before it comes for the turn; so whoever finds a claim that it does not know of finds in
//! that CPU's queue what came before, and if something keeps a job from being offered, somebody will come when it does not any more.
//!
//! A CPU takes by one change of a word, and tells that it has started what it took right after: where the claim says so, and the queue does
//! not yet, the holder tells the scheduler itself, and passes over the fact when it comes. Nobody waits for a manager that something keeps
//! from telling.
//!
//! Complexity: O(m) queues and claims a round beside the decision; each further round is one for an offer that was taken or given back
//! meanwhile, of which there are two a CPU at most.

use super::domain::{Domain, Known, NEVER, Offered};
use super::facts::{Guest, UpFact, What};
use super::fault::{Fault, is_injected};
use super::shared::Shared;
use super::side::{Published, Side, UNLIMITED};
use crate::words::Offer;
use vestal_core::fact::StopReason;
use vestal_core::{ContractViolation, CpuId, Fact, Instant, JobId, Notice, Scheduler};

/// So often whoever has the turn and whose CPU is open looks at what came meanwhile, before it looks after its own.
pub(crate) const ROUNDS: u32 = 4;

/// The outcome of a settlement.
pub(crate) type Step<T = ()> = Result<T, ContractViolation>;

/// Who settles hears what the domain says, and may do something between two words: tests do.
pub(crate) trait Settler {
    /// The domain says this.
    fn notice(&mut self, notice: &Notice);

    /// A word was read or changed, and the next one was not.
    fn between(&mut self) {}
}

/// The turn. It is let go when this is dropped, also by who fails. As long as it lives its CPU's own domain cannot decide.
pub(crate) struct Held<'a, S> {
    shared: &'a Shared<S>,
    side: &'a mut Side,
    is_over: bool,
}

impl<S> Drop for Held<'_, S> {
    fn drop(&mut self) {
        if !self.is_over {
            self.shared.turn.leave();
        }
    }
}

impl<'a, S: Scheduler> Held<'a, S> {
    pub(super) const fn new(shared: &'a Shared<S>, side: &'a mut Side) -> Self {
        Self {
            shared,
            side,
            is_over: false,
        }
    }

    /// Looks at all that was told, decides, and offers, until nobody has come meanwhile; a closed CPU does so once, and an open one
    /// [`ROUNDS`] times, for both have jobs of their own to look after, and leave what comes meanwhile to an open one. Says whether that is
    /// the caller, because there is no other: then it is to come again when it has done so. `now` is the instant at which the caller read its clock. Adds to `calls`, in which there is
    /// room for all CPUs, those that have something to look at; the caller itself may be among them. They are to be called when this
    /// has come back.
    ///
    /// # Errors
    /// [`ContractViolation`]: then the run is to end.
    pub(crate) fn settle(
        mut self,
        now: Instant,
        (settler, calls): (&mut impl Settler, &mut Vec<CpuId>),
    ) -> Step<bool> {
        let rounds = match self.side.is_open() {
            true => ROUNDS,
            false => 1,
        };
        for round in 1_u32.. {
            // None only where somebody has panicked.
            let Some(mut domain) = self.shared.domain() else {
                return Ok(false);
            };
            domain.record.turns += 1;
            domain.round(self.shared, now, (&mut *settler, &mut *calls))?;
            drop(domain);
            settler.between();
            while is_injected(Fault::LeavesFacts) && !self.is_over {
                self.is_over = self.shared.turn.let_go();
            }
            if self.is_over || self.shared.turn.let_go() {
                self.is_over = true;
                return Ok(false);
            }
            settler.between();
            if round >= rounds {
                if let Some(mut domain) = self.shared.domain() {
                    domain.record.handed_on += 1;
                }
                self.is_over = true;
                self.shared.turn.leave();
                // Whoever opened and came before that is seen here, and who comes later gets the turn. Where no CPU is open nobody can
                // use a claim.
                let other = self.shared.open_other(self.side.cpu());
                if let Some(open) = other {
                    add(calls, open);
                }
                return Ok(other.is_none() && self.side.is_open());
            }
        }
        Ok(false)
    }
}

impl Published {
    /// Comes for the turn: who has it already will look at what this CPU has told.
    pub(crate) fn attempt<'a, S: Scheduler>(
        self,
        side: &'a mut Side,
        shared: &'a Shared<S>,
    ) -> Option<Held<'a, S>> {
        debug_assert_eq!(self.cpu(), side.cpu(), "another CPU's step");
        side.forget_news();
        shared.turn.attempt().then(|| Held::new(shared, side))
    }
}

fn add(calls: &mut Vec<CpuId>, cpu: CpuId) {
    if !calls.contains(&cpu) {
        calls.push(cpu);
    }
}

/// Whether nothing was taken or given back in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    AsKnown,
    Other,
}

impl<S: Scheduler> Domain<S> {
    fn numbers(&self) -> impl Iterator<Item = CpuId> + use<S> {
        (0..).map(CpuId).take(self.cpus.len())
    }

    fn known(&mut self, cpu: CpuId) -> Step<&mut Known> {
        let known = self.cpus.get_mut(cpu.index());
        known.ok_or(ContractViolation::UnknownCpu(cpu))
    }

    fn round(
        &mut self,
        shared: &Shared<S>,
        now: Instant,
        (settler, calls): (&mut impl Settler, &mut Vec<CpuId>),
    ) -> Step {
        // One for each offer that may be taken, or given back, and the last one.
        for _ in 0..=2 * self.cpus.len() {
            for cpu in self.numbers() {
                self.drain(shared, cpu, settler)?;
                settler.between();
            }
            for cpu in self.numbers() {
                self.see_taken(shared, cpu, settler)?;
            }
            self.decide(now, settler)?;
            let mut found = Found::AsKnown;
            for cpu in self.numbers() {
                if self.withdraw(shared, cpu, (settler, calls))? == Found::Other {
                    found = Found::Other;
                }
                settler.between();
            }
            if found == Found::AsKnown {
                for cpu in self.numbers() {
                    self.offer(shared, cpu, calls)?;
                    settler.between();
                }
                self.tell_wake(shared, calls);
                return Ok(());
            }
        }
        // Safe, if there were more: what they told is looked at before the turn is let go.
        shared.turn.leave_work();
        Ok(())
    }

    fn decide(&mut self, now: Instant, settler: &mut impl Settler) -> Step {
        let told = self.cpus.iter().map(|known| known.latest);
        let now = told.fold(now.max(self.clock), Instant::max);
        self.clock = now;
        self.record.decisions += 1;
        let plan = self.scheduler.decide(now)?;
        for (slot, planned) in self.slots.iter_mut().zip(plan.slots) {
            *slot = *planned;
        }
        self.next = plan.next;
        while let Some(notice) = self.scheduler.take_notice() {
            settler.notice(&notice);
        }
        Ok(())
    }

    /// Tells the scheduler what a CPU has told until now.
    fn drain(&mut self, shared: &Shared<S>, cpu: CpuId, settler: &mut impl Settler) -> Step {
        let Some(seat) = shared.seats.get(cpu.index()) else {
            return Ok(());
        };
        while let Some(words) = seat.up.take() {
            // Nothing else is ever written there.
            if let Some(fact) = UpFact::from_words(words) {
                self.hear(cpu, fact, settler)?;
            }
        }
        Ok(())
    }

    fn hear(
        &mut self,
        cpu: CpuId,
        UpFact { at, what }: UpFact,
        settler: &mut impl Settler,
    ) -> Step {
        self.record.facts += 1;
        let known = self.known(cpu)?;
        known.latest = known.latest.max(at);
        let stop = |job, why| Fact::Stopped { cpu, job, why };
        let fact = match what {
            What::Released(job) => Fact::Released { job },
            What::Opened | What::Closed => {
                let open = what == What::Opened;
                known.open = open;
                Fact::CpuOpen { cpu, open }
            }
            What::Started(guest) => {
                if known.ahead == Some(guest.offer()) {
                    known.ahead = None;
                    return Ok(());
                }
                known.running = Some(guest);
                let job = guest.job;
                Fact::Started { cpu, job }
            }
            What::Charged(Guest { job, .. }, amount) => Fact::Charged { cpu, job, amount },
            What::Stopped(guest) => stop(known.leaves(guest), StopReason::Preempted),
            What::Cancelled(guest) => stop(known.leaves(guest), StopReason::Cancelled),
            What::Completed(guest) => {
                let job = known.leaves(guest);
                Fact::Completed { cpu, job }
            }
        };
        match self.scheduler.apply(at, fact) {
            // Nobody has looked for several periods of a task: a decision takes its releases, and makes room for others.
            Err(ContractViolation::TooManyFacts { .. }) => {
                self.decide(at, settler)?;
                self.scheduler.apply(at, fact)
            }
            outcome => outcome,
        }
    }

    /// A CPU has taken something of which it has not told yet, or has by now.
    fn see_taken(&mut self, shared: &Shared<S>, cpu: CpuId, settler: &mut impl Settler) -> Step {
        // It may have taken another one meanwhile, if that was offered too.
        for _ in 0..3 {
            let taken = shared.claim(cpu).and_then(|claim| claim.taken);
            settler.between();
            let Some(taken) = taken else {
                return Ok(());
            };
            if self.known(cpu)?.knows(taken) {
                return Ok(());
            }
            // What it told before it took this is there to be seen by now: above all what stopped before.
            if !is_injected(Fault::NoSecondDrain) {
                self.drain(shared, cpu, settler)?;
            }
            settler.between();
            if !self.known(cpu)?.knows(taken) {
                self.start_ahead(cpu, taken)?;
            }
        }
        Ok(())
    }

    /// Tells the scheduler that a CPU has started what it has taken.
    fn start_ahead(&mut self, cpu: CpuId, taken: Offer) -> Step {
        let known = self.known(cpu)?;
        let guest = known.wanted.filter(|wanted| wanted.offer() == taken);
        let Some(guest) = guest else {
            // It has taken and given back another one: the queue says so.
            return Ok(());
        };
        (known.running, known.ahead) = (Some(guest), Some(taken));
        let at = known.latest;
        self.record.ahead += 1;
        let job = guest.job;
        self.scheduler.apply(at, Fact::Started { cpu, job })
    }

    /// Takes back what a CPU is not to have any more.
    fn withdraw(
        &mut self,
        shared: &Shared<S>,
        cpu: CpuId,
        (settler, calls): (&mut impl Settler, &mut Vec<CpuId>),
    ) -> Step<Found> {
        let slot = self.slots.get(cpu.index()).copied().flatten();
        let known = self.known(cpu)?;
        let (Some(wanted), Some(seat)) = (known.wanted, shared.seats.get(cpu.index())) else {
            return Ok(Found::AsKnown);
        };
        let offer = Some(wanted.offer());
        if slot.is_some_and(|slot| slot.job == wanted.job) {
            // If not, it was taken and given back.
            return Ok(match seat.claim.look().wanted == offer {
                true => Found::AsKnown,
                false => Found::Other,
            });
        }
        known.wanted = None;
        let is_running = known.running == Some(wanted);
        let before = seat.claim.withdraw();
        if before.taken.is_some() {
            add(calls, cpu);
        }
        if before.wanted != offer {
            return Ok(Found::Other);
        }
        if before.taken != offer {
            self.record.withdrawn += 1;
            return Ok(Found::AsKnown);
        }
        if is_running || is_injected(Fault::GivesTwice) {
            return Ok(Found::AsKnown);
        }
        // It was taken since this looked.
        self.record.refused += 1;
        self.known(cpu)?.wanted = Some(wanted);
        self.drain(shared, cpu, settler)?;
        let known = self.known(cpu)?;
        if !known.knows(wanted.offer()) {
            self.start_ahead(cpu, wanted.offer())?;
        }
        self.known(cpu)?.wanted = None;
        Ok(Found::Other)
    }

    /// Offers a CPU what it is to have, if nobody has that.
    fn offer(&mut self, shared: &Shared<S>, cpu: CpuId, calls: &mut Vec<CpuId>) -> Step {
        let slot = self.slots.get(cpu.index()).copied().flatten();
        let known = *self.known(cpu)?;
        let (Some(slot), Some(seat)) = (slot, shared.seats.get(cpu.index())) else {
            return Ok(());
        };
        let has = |guest: Option<Guest>| guest.filter(|guest| guest.job == slot.job);
        if has(known.wanted).is_some() {
            return Ok(());
        }
        if let Some(running) = has(known.running) {
            // It was to stop, and is to go on now. If it has stopped already, its CPU comes for the turn.
            if seat.claim.keep(running.offer()) {
                self.known(cpu)?.wanted = Some(running);
            }
            return Ok(());
        }
        let Some(offered) = self.offered.get_mut(slot.job.task.index()) else {
            return Ok(());
        };
        let last = Guest::with(slot.job, offered.generation).offer();
        let is_held = shared
            .claim(offered.cpu)
            .is_some_and(|claim| claim.taken == Some(last));
        if is_held && !is_injected(Fault::OffersRunning) && !is_injected(Fault::GivesTwice) {
            // Its CPU has told that it stopped, gives it back, and comes for the turn.
            return Ok(());
        }
        let generation = offered.generation.wrapping_add(1);
        *offered = Offered { cpu, generation };
        let guest = Guest::with(slot.job, generation);
        if let Some(grant) = shared.grants.get(slot.job.task.index()) {
            let remaining = slot.budget.map(|budget| budget.remaining.as_nanos());
            grant.write(slot.job.sequence, remaining.unwrap_or(UNLIMITED));
        }
        self.known(cpu)?.wanted = Some(guest);
        self.record.offers += 1;
        seat.claim.offer(guest.offer());
        add(calls, cpu);
        Ok(())
    }

    /// The first open CPU looks when the scheduler asks to be called: a closed one is not woken for a ghost of those below.
    fn tell_wake(&mut self, shared: &Shared<S>, calls: &mut Vec<CpuId>) {
        let next = self.next.map_or(NEVER, |wake| wake.at.as_nanos());
        let mut is_told = false;
        let each = self.cpus.iter_mut().zip(&shared.seats);
        for (cpu, (known, seat)) in (0..).map(CpuId).zip(each) {
            let wake = if known.open && !is_told { next } else { NEVER };
            is_told |= known.open;
            if wake != known.wake {
                known.wake = wake;
                seat.wake.set(wake);
                // One that wakes for nothing finds that out by itself.
                if wake != NEVER {
                    add(calls, cpu);
                }
            }
        }
    }
}

impl Known {
    /// Whether this offer was started, or has stopped, as far as was told.
    fn knows(&self, offer: Offer) -> bool {
        self.gone == Some(offer) || self.running.is_some_and(|guest| guest.offer() == offer)
    }

    /// A job has stopped or ended here: it is not wanted any more.
    fn leaves(&mut self, guest: Guest) -> JobId {
        self.running = None;
        self.gone = Some(guest.offer());
        self.wanted = self.wanted.filter(|wanted| *wanted != guest);
        guest.job
    }
}
