//! The job of level C that a CPU has: how it comes there, and how it goes.
//!
//! ```text
//! take the claim -> the worker's memory -> the CPU has it (`Host`) -> has it ended? -> it may run here only -> let it run
//! hold it -> what did it use? -> tell that, and that it stopped -> put the memory back -> give the claim back
//! ```
//! A guest that no CPU has is held, or has no job: so nobody has to look at it before it is taken. The memory is put back before the claim
//! is, and taken after it; that it is not there, or there already, is a broken contract, and the run ends.

use super::common::{Common, GuestPlace};
use super::fault::{Fault, is_injected};
use super::hands::{Hands, Step};
use super::memory::{Memory, Next};
use crate::control::Class;
use crate::driver::dispatch::Worker;
use crate::levels::{Full, NoStep, Side, Taken, What};
use vestal_core::{ContractViolation, CpuId, Instant, JobId, Service};

/// So many facts are kept of each CPU for which there is no room.
pub(super) const KEPT: usize = 4_096;

/// What a CPU has taken.
#[derive(Debug)]
pub(super) struct Hosted {
    taken: Taken,
    memory: Memory,
    /// What it was charged since.
    used: u64,
}

/// What of a CPU a guest needs.
pub(super) struct Host<'h, S> {
    pub(super) common: &'h Common<S>,
    pub(super) side: &'h mut Side,
    pub(super) cpu: CpuId,
}

/// How a guest leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    /// It may go on, here or elsewhere.
    Stops,
    /// Its job has ended, whole or not.
    Ends { whole: bool },
}

impl<S> Host<'_, S> {
    pub(super) fn tell(&mut self, at: Instant, what: What) -> Step {
        let told = self.side.tell(&self.common.shared, at, what);
        // Nobody has looked for long: the manager that has the turn stands still.
        told.map_err(|Full| ContractViolation::TooManyFacts { capacity: KEPT })
    }

    /// Takes what is wanted, and lets it run; says what it has then, and whether it turned out to be over already.
    pub(super) fn take<'a>(
        &mut self,
        hands: &mut impl Hands<'a>,
        at: Instant,
    ) -> Step<(Option<Hosted>, bool)> {
        let common = self.common;
        // From then on numbers of guests may be other threads'.
        if common.guests.phase.is_ending() {
            return Ok((None, false));
        }
        let Some(taken) = self.side.take(&common.shared) else {
            return Ok((None, false));
        };
        let job = taken.guest.job;
        // First of all: who decides may have to know.
        self.tell(at, What::Started(taken.guest))?;
        let (worker, place) = common.guest(job)?;
        let memory = place.take();
        let mut memory = memory.ok_or(ContractViolation::UnknownJob(job))?;
        worker.move_to(self.cpu);
        // What it says from here on it says here.
        if let Some(done) = worker.take_done() {
            memory.end(&done, false);
        }
        hands.pin(worker);
        let release = hands.clock_at(worker.release_of(job.sequence));
        let next = memory.run(hands, worker, (job.sequence, release));
        self.lower_if_over(worker);
        let used = 0;
        let hosted = Hosted {
            taken,
            memory,
            used,
        };
        match next {
            Next::GoesOn => Ok((Some(hosted), false)),
            Next::Over { whole } => {
                self.leave(at, (hosted, place), Leaves::Ends { whole })?;
                Ok((None, true))
            }
        }
    }

    /// The guests' block may have ended since its worker was raised: nobody stays raised.
    fn lower_if_over(&self, worker: Worker<'_>) {
        if self.common.guests.phase.is_ending_after_raising() {
            worker.lower();
        }
    }

    /// Charges the guest what its thread used; gives that.
    pub(super) fn charge(&mut self, at: Instant, hosted: &mut Hosted) -> Step<u64> {
        let guest = hosted.taken.guest;
        let (worker, _) = self.common.guest(guest.job)?;
        let used = hosted.memory.charge(worker, guest.job.task);
        if used > 0 {
            hosted.used = hosted.used.saturating_add(used);
            self.tell(at, What::Charged(guest, Service::from_nanos(used)))?;
        }
        Ok(used)
    }

    /// Takes the end of the guest's job, if it has ended; gives the guest back otherwise, with what was charged.
    pub(super) fn take_end<'a>(
        &mut self,
        hands: &impl Hands<'a>,
        mut hosted: Hosted,
    ) -> Step<(Option<Hosted>, u64)> {
        let guest = hosted.taken.guest;
        let (worker, place) = self.common.guest(guest.job)?;
        let Some(done) = worker.take_done() else {
            return Ok((Some(hosted), 0));
        };
        let is_running = done.sequence == guest.job.sequence;
        hosted.memory.end(&done, is_running);
        if !is_running {
            return Ok((Some(hosted), 0));
        }
        let at = hands.instant(done.finished);
        let used = self.charge(at, &mut hosted)?;
        let whole = done.completed;
        self.leave(at, (hosted, place), Leaves::Ends { whole })?;
        Ok((None, used))
    }

    /// Stops the guest, wherever in its body it is, and leaves it in this class.
    pub(super) fn stop<'a>(
        &mut self,
        hands: &mut impl Hands<'a>,
        (at, mut hosted): (Instant, Hosted),
        class: Class,
    ) -> Step<u64> {
        let (worker, place) = self.common.guest(hosted.taken.guest.job)?;
        if !self.common.guests.phase.is_ending() {
            hosted.memory.stop(hands, worker, class);
            if !is_injected(Fault::LeavesGuestsFree) {
                hosted.memory.hold(hands, worker);
            }
            self.lower_if_over(worker);
        }
        let used = self.charge(at, &mut hosted)?;
        self.leave(at, (hosted, place), Leaves::Stops)?;
        Ok(used)
    }

    fn leave(&mut self, at: Instant, (hosted, place): (Hosted, &GuestPlace), how: Leaves) -> Step {
        let guest = hosted.taken.guest;
        self.tell(
            at,
            match how {
                Leaves::Stops => What::Stopped(guest),
                Leaves::Ends { whole: true } => What::Completed(guest),
                Leaves::Ends { whole: false } => What::Cancelled(guest),
            },
        )?;
        match is_injected(Fault::KeepsMemory) || place.put(hosted.memory) {
            true => Ok(()),
            false => Err(ContractViolation::UnknownJob(guest.job)),
        }
    }
}

impl Hosted {
    pub(super) const fn job(&self) -> JobId {
        self.taken.guest.job
    }

    /// What is left of its budget, beside what it has used and was not charged; `None`: it has none.
    pub(super) fn left<S>(&self, common: &Common<S>) -> Option<u64> {
        let (worker, _) = common.guest(self.job()).ok()?;
        let used = self.used.saturating_add(self.memory.uncharged(worker));
        let remaining = self.taken.remaining?.as_nanos();
        Some(remaining.saturating_sub(used))
    }

    /// Whether it was charged all of its budget.
    pub(super) fn is_used_up(&self) -> bool {
        let remaining = self.taken.remaining;
        let is_over = remaining.is_some_and(|remaining| remaining.as_nanos() <= self.used);
        is_over && !is_injected(Fault::IgnoresBudgets)
    }
}

/// Why a manager cannot go on.
pub(super) const fn refused(why: NoStep) -> ContractViolation {
    match why {
        NoStep::Refused(violation) => violation,
        NoStep::Full => ContractViolation::TooManyFacts { capacity: KEPT },
    }
}
