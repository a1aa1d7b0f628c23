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
use crate::control::{Control, Reason, Traced};
use crate::duties::Source;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::own_tid;
use crate::sys::waiting::{Waiter, Woken};
use budgets::Budgets;
use std::io;
use timers::{Kind, Periodic, Tag};
use vestal_core::Guard;

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

    fn decider(&mut self) -> &mut Traced<Guard> {
        &mut self.enactor.guard
    }

    fn start(&mut self, control: &Control<'_>) -> io::Result<()> {
        let event = control.call.event();
        let event = event.ok_or_else(|| io::Error::other("the run has no event"))?;
        self.clocks = Some(Clocks {
            waiter: Waiter::new(event)?,
            budgets: Budgets::start(control.tasks, self.paper, own_tid())?,
            _periodic: Periodic::start(control.tasks, control.run.epoch(), self.paper, own_tid())?,
        });
        Ok(())
    }

    /// The timers come first; where one is missing the guard is not late by more than this.
    fn arm(&mut self, control: &Control<'_>) -> u64 {
        self.enactor.wake(control.run.epoch())
    }

    fn wait(&mut self, control: &Control<'_>, until: u64) -> Woken {
        let span = until.saturating_sub(monotonic_nanos());
        match (&self.clocks, control.call.event()) {
            (Some(clocks), Some(event)) => clocks.waiter.wait(event, span),
            _ => Woken::nothing(),
        }
    }

    /// The earliest release that one of the timers stands for and that was not handled yet, on the clock.
    fn wanted_since(&self, control: &Control<'_>, woken: &Woken, until: u64) -> u64 {
        if control.terms.duties.source != Source::Counted {
            return until;
        }
        let releases = tags(woken).filter(|tag| tag.kind == Kind::Release);
        let earliest = releases.filter_map(|tag| {
            let task = control.tasks.get(tag.index)?;
            Some(
                control
                    .run
                    .clock_at(task.release_of(task.release_counter.next())),
            )
        });
        earliest.min().unwrap_or(until)
    }

    fn reason(&self, control: &mut Control<'_>, woken: &Woken, now: u64) -> Reason {
        let of_end = || {
            control.terms.duties.reports_ends || self.enactor.is_called_by_a_worker(control.tasks)
        };
        let fired = tags(woken).any(|tag| tag.kind != Kind::Budget);
        if woken.called && of_end() {
            Reason::Completion
        } else if fired || self.enactor.is_due(control.run.epoch(), now) {
            match self.paper {
                Paper::Jobs => Reason::Release,
                Paper::Slices | Paper::Instants => Reason::Timer,
            }
        } else if woken.called && control.question.is_answered() {
            Reason::Idle
        } else if woken.called {
            Reason::Other
        } else if woken.is_nothing() {
            Reason::Beat
        } else {
            Reason::Budget
        }
    }

    fn is_wanted(&self, control: &Control<'_>, woken: &Woken, now: u64) -> bool {
        !woken.is_nothing() || self.enactor.is_due(control.run.epoch(), now)
    }

    fn round(&mut self, control: &mut Control<'_>, woken: &Woken, now: u64) -> Step {
        let Self {
            enactor,
            clocks: Some(clocks),
            ..
        } = self
        else {
            return Ok(());
        };
        if !control.is_running() {
            return Ok(());
        }
        let since_epoch = control.now().as_nanos();
        for tag in tags(woken) {
            if let (Kind::Release, Some(task)) = (tag.kind, control.tasks.get(tag.index))
                && let Some(newest) = task.newest_release(since_epoch)
            {
                match control.terms.duties.source {
                    Source::Counted => task.release_counter.release(newest),
                    // Its worker releases it itself.
                    Source::Own | Source::Assigned | Source::Sequence => {
                        task.release_counter.note_release(newest)
                    }
                }
            }
            clocks.budgets.fired(tag);
        }
        if enactor.is_due(control.run.epoch(), now) || has_to_look(control, woken) {
            enactor.handle(control, false)?;
        }
        // The manager knows by itself what the idle detector tells elsewhere.
        if control.question.is_asked() && clocks.budgets.is_idle(control.tasks) {
            control.question.answer();
            control.question.take_answer();
            control.end_demoted();
            enactor.settle_idle(control)?;
        }
        clocks.budgets.settle(control.tasks);
        Ok(())
    }

    fn finish(self, _: &Control<'_>) -> Traced<Guard> {
        self.enactor.guard
    }
}

/// The tags of the timers that fired.
fn tags(woken: &Woken) -> impl Iterator<Item = Tag> {
    woken.tags().filter_map(Tag::of_word)
}

/// Whether all that could have happened has to be looked at.
fn has_to_look(control: &Control<'_>, woken: &Woken) -> bool {
    let exceptions = [Kind::Budget, Kind::Instant];
    // Where no worker reports each end, a call has another reason.
    (woken.called && !control.terms.duties.reports_ends)
        || tags(woken).any(|tag| exceptions.contains(&tag.kind))
        || control.tasks.iter().any(|task| task.asks())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::ManagerRecord;
    use crate::cpu::{Cpu, Terms};
    use crate::driver::Kind as DriverKind;
    use crate::monitor::Monitor;

    #[test]
    fn a_call_is_an_exception_where_no_worker_reports_each_end() {
        let mut cpu = Cpu::in_test(Vec::new(), Terms::in_test(Monitor::Manager));
        let mut called = Woken::nothing();
        called.called = true;
        for (paper, is_exception) in [
            (Paper::Jobs, false),
            (Paper::Slices, false),
            (Paper::Instants, true),
        ] {
            cpu.terms.duties = DriverKind::Huang2014(paper).duties();
            let mut record = ManagerRecord::new(0, 0);
            let control = Control::new(&cpu, &mut record);
            assert_eq!(has_to_look(&control, &called), is_exception, "{paper:?}");
            assert!(!has_to_look(&control, &Woken::nothing()));
        }
    }
}
