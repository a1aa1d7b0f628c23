//! The manager of a CPU: the thread that decides. One loop, whatever drives it.
//!
//! It has the highest priority of the run on the CPU of the run, so while it decides no worker moves. A
//! [`Driver`] says what it waits for, what of what happened it reports to its decider, and how it carries out what
//! that says:
//!
//! | driver | decider | waits for | hears of |
//! |---|---|---|---|
//! | [`Native`] | a guard | signals of monitors, and calls | exceptions |
//! | [`Managed`] | a scheduler | a futex with one timeout, or signals | each release and each end |
//! | `Levels` | a scheduler of its own, and one of all CPUs | a futex with one timeout | each release and each end |
//! | [`Huang2014`] | a guard | signals of timers, and calls, in `epoll_wait` | what the paper's managers hear of |
//!
//! What all have in common is here: the beginning and the end, the beat, the spans of a recording, and what
//! the manager's thread costs.

mod dispatch;
mod enactor;
mod huang2014;
mod kind;
#[cfg_attr(
    not(any(test, feature = "real")),
    expect(dead_code, reason = "no run has levels on several CPUs yet")
)]
mod levels;
mod managed;
mod native;
mod step;

pub(crate) use enactor::Enactor;
pub(crate) use huang2014::Huang2014;
pub(crate) use kind::Kind;
#[cfg(feature = "real")]
pub(crate) use levels::{Common, Demand, Home, Levels, Merging, Parts, Share, Together, Ways};
pub(crate) use managed::Managed;
pub(crate) use native::Native;
pub(crate) use step::Step;

use crate::account::{Duty, Thread, Wanted};
use crate::control::{Control, ManagerRecord, Reason, Traced};
use crate::cpu::Cpu;
use crate::error::message_of;
use crate::evidence::Intervals;
use crate::meter::Meter;
use crate::parts::Part;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched;
use crate::words::Cause;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use vestal_core::Scheduler;
use vestal_trace::{Edge, Mechanism};

/// The manager goes round at least this often, so that its watchdog sees it alive. Seldom: a beat takes
/// the CPU from a job.
pub(crate) const BEAT_NANOS: u64 = 500_000_000;

/// What one manager does in a way of its own. It runs on the manager's thread.
pub(crate) trait Driver: Sized {
    /// Who decides.
    type Decider: Scheduler;
    /// What ended a wait.
    type Woken;

    /// Who decides, and the manager's trace.
    fn decider(&mut self) -> &mut Traced<Self::Decider>;

    /// The run begins: what it waits for is made.
    fn start(&mut self, control: &Control<'_>) -> io::Result<()>;

    /// When it wants the CPU again if nobody calls, as a clock reading; monitors what runs until then.
    fn arm(&mut self, control: &Control<'_>) -> u64;

    /// Waits until `until` at most. A call since the last wait ends it at once.
    fn wait(&mut self, control: &Control<'_>, until: u64) -> Self::Woken;

    /// Since when the manager is wanted if nobody called: it was to wake at `until`.
    fn wanted_since(&self, _: &Control<'_>, _: &Self::Woken, until: u64) -> u64 {
        until
    }

    /// Why the manager is awake at `now`, before it takes what was reported.
    fn reason(&self, control: &mut Control<'_>, woken: &Self::Woken, now: u64) -> Reason;

    /// Whether there is something to do.
    fn is_wanted(&self, control: &Control<'_>, woken: &Self::Woken, now: u64) -> bool;

    /// Reports to the decider what happened, and carries out what it says.
    fn round(&mut self, control: &mut Control<'_>, woken: &Self::Woken, now: u64) -> Step;

    /// The run is over: notes down what no worker knows of. Gives the decider back.
    fn finish(self, control: &Control<'_>) -> Traced<Self::Decider>;
}

/// A manager, and what it notes down.
pub(crate) struct Manager<D> {
    cpu: Arc<Cpu>,
    driver: D,
    record: ManagerRecord,
    /// Of its thread, from when the run begins.
    own: Option<Intervals>,
    priority: i32,
}

impl<D: Driver> Manager<D> {
    pub(crate) const fn new(
        cpu: Arc<Cpu>,
        driver: D,
        record: ManagerRecord,
        priority: i32,
    ) -> Self {
        Self {
            cpu,
            driver,
            record,
            own: None,
            priority,
        }
    }

    /// Prepares the calling thread.
    pub(crate) fn set_up(&self) -> io::Result<()> {
        sched::enter_real_time(self.cpu.processor, self.priority)?;
        self.cpu.manager_tid.set(sched::own_tid());
        self.cpu.notes.fetch();
        Ok(())
    }

    /// Manages until the run ends. Whatever happens in here, the run is halted afterwards.
    pub(crate) fn main(mut self) -> ManagerRecord {
        let meter = Meter::start();
        let failed = match catch_unwind(AssertUnwindSafe(|| self.manage())) {
            Ok(outcome) => outcome
                .err()
                .map(|violation| format!("contract violated: {violation}")),
            Err(panic) => Some(message_of(panic.as_ref())),
        };
        if let Some(message) = failed {
            self.cpu.stop_for_manager(message);
        }
        self.cpu.halt();
        let _ = sched::set_other(sched::own_tid());
        if let Some(own) = self.own.take() {
            own.leave();
        }
        meter.stop(&self.cpu.accounts.manager);
        self.driver.decider().sink().close();
        self.finish()
    }

    /// The end of its record, and of its trace.
    fn finish(mut self) -> ManagerRecord {
        let control = Control::new(&self.cpu, &mut self.record);
        let decider = self.driver.finish(&control);
        decider.sink().open();
        let (decider, trace, end) = decider.leave(control.now());
        trace.close();
        self.record.lost_notices = decider.lost_notices();
        self.record.end = Some(end);
        self.record
    }

    fn manage(&mut self) -> Step {
        if !self.cpu.phase.await_begin() {
            return Ok(());
        }
        let own = Intervals::of_this_thread(Thread::Manager, &self.cpu);
        let mut rounds = Rounds {
            cpu: &self.cpu,
            control: Control::new(&self.cpu, &mut self.record),
            driver: &mut self.driver,
            own: self.own.insert(own),
        };
        if rounds.driver.start(&rounds.control).is_err() {
            rounds.control.fail();
            return Ok(());
        }
        while rounds.go_on()? {}
        Ok(())
    }
}

/// A manager while the run goes on.
struct Rounds<'a, D> {
    cpu: &'a Cpu,
    control: Control<'a>,
    driver: &'a mut D,
    own: &'a mut Intervals,
}

impl<D: Driver> Rounds<'_, D> {
    /// Waits, and does what there is to do then; says whether the run goes on.
    fn go_on(&mut self) -> Step<bool> {
        let run = self.control.run;
        let (now, end) = (monotonic_nanos(), run.end.get());
        let until = self.driver.arm(&self.control);
        let took = monotonic_nanos().saturating_sub(now);
        self.control.record.parts.record(Part::Monitoring, took);
        let until = until.min(end).min(now + BEAT_NANOS);
        // A run that is to end is ended after a wait too, which takes no time: with it ends what the manager took
        // for its last round, and what of that it slept is nobody else's.
        let until = if run.is_stop_requested() { now } else { until };
        self.about_to_wait();
        let woken = self.driver.wait(&self.control, until);
        let wanted = self.driver.wanted_since(&self.control, &woken, until);
        let now = self.awake(wanted);
        let reason = self.driver.reason(&mut self.control, &woken, now);
        self.control.record.note_woken(reason);
        if !goes_on(self.cpu, now, end) {
            return Ok(false);
        }
        if self.driver.is_wanted(&self.control, &woken, now) {
            self.round((&woken, reason), now)?;
        }
        self.driver.decider().sink().close();
        Ok(true)
    }

    /// To be called last of all before the manager asks the kernel to wait.
    fn about_to_wait(&mut self) {
        #[cfg(feature = "real")]
        self.own.delay_wait(Duty::Manager);
        let trace = self.driver.decider().sink();
        self.own.wait(Duty::Manager, trace);
    }

    /// The manager has the CPU, which without a call it wanted at `until`. Opens a group of records, and gives
    /// the clock.
    fn awake(&mut self, until: u64) -> u64 {
        self.driver.decider().sink().open();
        let now = monotonic_nanos();
        let since = self.cpu.online.wanted_since(until, now);
        self.own.wake(Wanted::AtOnceSince(since), now);
        #[cfg(feature = "real")]
        self.own.delay_round();
        now
    }

    /// Does what there is to do for the manager that woke at `now` for a reason, and records that and how long it took.
    fn round(&mut self, (woken, reason): (&D::Woken, Reason), now: u64) -> Step {
        let decide = Mechanism::Decide;
        let (control, driver) = (&mut self.control, &mut *self.driver);
        control.span(driver.decider(), now, (decide, Edge::Begin));
        driver.round(control, woken, now)?;
        let done = monotonic_nanos();
        control.span(driver.decider(), done, (decide, Edge::End));
        control.record.note_round(reason, done.saturating_sub(now));
        control.mark_modes();
        Ok(())
    }
}

/// Shows that the manager lives; says whether the run goes on.
fn goes_on(cpu: &Cpu, now: u64, end: u64) -> bool {
    cpu.beat.go_on();
    if cpu.stop_requested() || cpu.run.is_stop_requested() {
        return false;
    }
    if now >= end {
        cpu.run.request_stop(Cause::Finished);
        return false;
    }
    #[cfg(feature = "real")]
    crate::fault::strike(cpu, now);
    true
}

#[cfg(test)]
mod tests;
