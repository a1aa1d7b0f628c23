//! The managers of Huang, Gill and Lu (2014, section 5), beside ours and for comparison with them: woken by POSIX
//! timers and by workers, in one `epoll_wait`.
//!
//! What differs is who calls the scheduler, and when; the decisions are those of the same
//! [`vestal_core::Guard`]. Which it is follows from what that asks to hear:
//!
//! | enforcement | the paper's threads and timers | here |
//! |---|---|---|
//! | static limits | none: the order of the kernel's priorities is all there is | nothing is enforced, see [`super::Kind`] |
//! | adaptive limits (5.3) | the manager handles each release and each completion | [`each_job`] |
//! | slices (5.2) | the manager replenishes and exhausts budgets, and cancels their timers | [`each_slice`] |
//! | zero slack (5.1) | periodic timers for the zero-slack instants and deadlines of all jobs | [`timers`] |
//! | fixed job priorities (5.3) | a dispatcher with three priorities | managed dispatch, see [`super::managed`] |
//!
//! The timers of zero slack wake the manager for *every* job, complete or not; it looks whether the job is
//! incomplete, and suspends others if so. A job that ends in its critical mode calls the manager as well.

mod budgets;
mod each_job;
mod each_slice;
mod timers;

use super::kind::Paper;
use super::{Driver, Enactor, Step};
use crate::cpu::Cpu;
use crate::duties::Source;
use crate::recording::Tracer;
use crate::round::ManagerRecord;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::own_tid;
use crate::sys::waiting::{Waiter, Woken};
use crate::task::TaskShared;
use budgets::Budgets;
use std::io;
use timers::{Kind, Periodic, Tag};
use vestal_core::Guard;
use vestal_trace::Recorder;

/// Waits for timers and calls.
pub(crate) struct Huang2014 {
    enactor: Enactor,
    paper: Paper,
    /// From when the run begins.
    clocks: Option<Clocks>,
}

/// What it waits with.
struct Clocks {
    waiter: Waiter,
    _periodic: Periodic,
    budgets: Budgets,
}

impl Huang2014 {
    pub(crate) const fn new(enactor: Enactor, paper: Paper) -> Self {
        Self {
            enactor,
            paper,
            clocks: None,
        }
    }
}

impl Driver for Huang2014 {
    type Decider = Guard;
    type Woken = Woken;

    fn decider(&mut self) -> &mut Recorder<Guard, Tracer> {
        &mut self.enactor.guard
    }

    fn start(&mut self, shared: &Cpu) -> io::Result<()> {
        let event = shared.call.event();
        let event = event.ok_or_else(|| io::Error::other("the run has no event"))?;
        self.clocks = Some(Clocks {
            waiter: Waiter::new(event)?,
            budgets: Budgets::start(shared, self.paper, own_tid())?,
            _periodic: Periodic::start(shared, self.paper, own_tid())?,
        });
        Ok(())
    }

    /// The timers come first; where one is missing the guard is not late by more than this.
    fn arm(&mut self, shared: &Cpu) -> u64 {
        self.enactor.wake(shared)
    }

    fn wait(&mut self, shared: &Cpu, until: u64) -> Woken {
        let span = until.saturating_sub(monotonic_nanos());
        match (&self.clocks, shared.call.event()) {
            (Some(clocks), Some(event)) => clocks.waiter.wait(event, span),
            _ => Woken::nothing(),
        }
    }

    /// The earliest release that one of the timers stands for and that was not handled yet, on the clock.
    fn wanted_since(&self, shared: &Cpu, woken: &Woken, until: u64) -> u64 {
        if shared.duties.source != Source::Counted {
            return until;
        }
        let releases = tags(woken).filter(|tag| tag.kind == Kind::Release);
        let earliest = releases.filter_map(|tag| {
            let task = shared.tasks.get(tag.index)?;
            Some(shared.release_of(task, task.release_counter.next()))
        });
        earliest.min().unwrap_or(until)
    }

    fn count(&self, shared: &Cpu, woken: &Woken, now: u64, record: &mut ManagerRecord) {
        let wakeups = &mut record.wakeups;
        let of_end = || {
            let reported = |task: &TaskShared| task.asks() || self.enactor.is_end_unreported(task);
            shared.duties.reports_ends || shared.tasks.iter().any(reported)
        };
        let fired = tags(woken).any(|tag| tag.kind != Kind::Budget);
        let count = if woken.called && of_end() {
            &mut wakeups.completion
        } else if fired || self.enactor.is_due(shared, now) {
            match self.paper {
                Paper::Jobs => &mut wakeups.release,
                Paper::Slices | Paper::Instants => &mut wakeups.timer,
            }
        } else if woken.called && shared.question.is_answered() {
            &mut wakeups.idle
        } else if woken.called {
            &mut wakeups.other
        } else if woken.is_nothing() {
            &mut wakeups.beat
        } else {
            &mut wakeups.budget
        };
        *count += 1;
    }

    fn is_wanted(&self, shared: &Cpu, woken: &Woken, now: u64) -> bool {
        !woken.is_nothing() || self.enactor.is_due(shared, now)
    }

    fn round(&mut self, shared: &Cpu, record: &mut ManagerRecord, woken: &Woken, now: u64) -> Step {
        let Self {
            enactor,
            clocks: Some(clocks),
            ..
        } = self
        else {
            return Ok(());
        };
        if !shared.is_running() {
            return Ok(());
        }
        let since_epoch = shared.instant(monotonic_nanos()).as_nanos();
        for tag in tags(woken) {
            if let (Kind::Release, Some(task)) = (tag.kind, shared.tasks.get(tag.index)) {
                release(shared, task, since_epoch);
            }
            clocks.budgets.fired(tag);
        }
        if enactor.is_due(shared, now) || has_to_look(shared, woken) {
            enactor.handle(shared, record, false)?;
        }
        // The manager knows by itself what the idle detector tells elsewhere.
        if shared.question.is_asked() && clocks.budgets.is_idle(shared) {
            shared.question.answer();
            shared.question.take_answer();
            shared.end_demoted();
            enactor.settle_idle(shared, record)?;
        }
        clocks.budgets.settle(shared);
        Ok(())
    }

    fn finish(self, _: &Cpu) -> Recorder<Guard, Tracer> {
        self.enactor.guard
    }
}

/// The tags of the timers that fired.
fn tags(woken: &Woken) -> impl Iterator<Item = Tag> {
    woken.tags().filter_map(Tag::of_word)
}

/// A job is released.
fn release(shared: &Cpu, task: &TaskShared, now: u64) {
    let Some(newest) = task.newest_release(now) else {
        return;
    };
    match shared.duties.source {
        Source::Counted => task.release_counter.release(newest),
        // Its worker releases it itself.
        Source::Own | Source::Assigned => task.release_counter.note_release(newest),
    }
}

/// Whether all that could have happened has to be looked at.
fn has_to_look(shared: &Cpu, woken: &Woken) -> bool {
    let exceptions = [Kind::Budget, Kind::Instant];
    // Where no worker reports each end, a call has another reason.
    (woken.called && !shared.duties.reports_ends)
        || tags(woken).any(|tag| exceptions.contains(&tag.kind))
        || shared.tasks.iter().any(TaskShared::asks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Kind as DriverKind;

    #[test]
    fn a_call_is_an_exception_where_no_worker_reports_each_end() {
        let mut shared = Cpu::in_test(Vec::new());
        let mut called = Woken::nothing();
        called.called = true;
        for (paper, is_exception) in [
            (Paper::Jobs, false),
            (Paper::Slices, false),
            (Paper::Instants, true),
        ] {
            shared.duties = DriverKind::Huang2014(paper).duties();
            assert_eq!(has_to_look(&shared, &called), is_exception, "{paper:?}");
            assert!(!has_to_look(&shared, &Woken::nothing()));
        }
    }
}
