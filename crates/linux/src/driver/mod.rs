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
//! | [`Huang2014`] | a guard | signals of timers, and calls, in `epoll_wait` | what the paper's managers hear of |
//!
//! What all have in common is here: the beginning and the end, the beat, the spans of a recording, and what
//! the manager's thread costs.

mod enactor;
mod huang2014;
mod kind;
mod managed;
mod native;

pub(crate) use enactor::Enactor;
pub(crate) use huang2014::Huang2014;
pub(crate) use kind::Kind;
pub(crate) use managed::Managed;
pub(crate) use native::Native;

use crate::account::{Duty, Thread, Wanted};
use crate::class::span;
use crate::cpu::Cpu;
use crate::error::message_of;
use crate::evidence::Intervals;
use crate::meter::Meter;
use crate::recording::Tracer;
use crate::round::ManagerRecord;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched;
use crate::words::Cause;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use vestal_core::{ContractViolation, Scheduler};
use vestal_trace::{Edge, Mechanism, Recorder};

/// The manager goes round at least this often, so that its watchdog sees it alive. Seldom: a beat takes
/// the CPU from a job.
pub(crate) const BEAT_NANOS: u64 = 500_000_000;

/// The outcome of a part of a manager's round.
pub(crate) type Step<T = ()> = Result<T, ContractViolation>;

/// What one manager does in a way of its own. It runs on the manager's thread.
pub(crate) trait Driver: Sized {
    /// Who decides.
    type Decider: Scheduler;
    /// What ended a wait.
    type Woken;

    /// Who decides, and the manager's trace.
    fn decider(&mut self) -> &mut Recorder<Self::Decider, Tracer>;

    /// The run begins: what it waits for is made.
    fn start(&mut self, shared: &Cpu) -> io::Result<()>;

    /// When it wants the CPU again if nobody calls, as a clock reading; monitors what runs until then.
    fn arm(&mut self, shared: &Cpu) -> u64;

    /// Waits until `until` at most. A call since the last wait ends it at once.
    fn wait(&mut self, shared: &Cpu, until: u64) -> Self::Woken;

    /// Since when the manager is wanted if nobody called: it was to wake at `until`.
    fn wanted_since(&self, _: &Cpu, _: &Self::Woken, until: u64) -> u64 {
        until
    }

    /// Counts why the manager is awake at `now`, before it takes what was reported.
    fn count(&self, shared: &Cpu, woken: &Self::Woken, now: u64, record: &mut ManagerRecord);

    /// Whether there is something to do.
    fn is_wanted(&self, shared: &Cpu, woken: &Self::Woken, now: u64) -> bool;

    /// Reports to the decider what happened, and carries out what it says.
    fn round(
        &mut self,
        shared: &Cpu,
        record: &mut ManagerRecord,
        woken: &Self::Woken,
        now: u64,
    ) -> Step;

    /// The run is over: notes down what no worker knows of. Gives the decider back.
    fn finish(self, shared: &Cpu) -> Recorder<Self::Decider, Tracer>;
}

/// A manager, and what it notes down.
pub(crate) struct Manager<D> {
    shared: Arc<Cpu>,
    driver: D,
    record: ManagerRecord,
    /// Of its thread, from when the run begins.
    own: Option<Intervals>,
    priority: i32,
}

impl<D: Driver> Manager<D> {
    pub(crate) const fn new(
        shared: Arc<Cpu>,
        driver: D,
        record: ManagerRecord,
        priority: i32,
    ) -> Self {
        Self {
            shared,
            driver,
            record,
            own: None,
            priority,
        }
    }

    /// Prepares the calling thread.
    pub(crate) fn set_up(&self) -> io::Result<()> {
        sched::enter_real_time(self.shared.processor, self.priority)?;
        self.shared.manager_tid.set(sched::own_tid());
        Ok(())
    }

    /// Manages until the run ends. Whatever happens in here, the run is halted afterwards.
    pub(crate) fn main(mut self) -> ManagerRecord {
        let shared = Arc::clone(&self.shared);
        let meter = Meter::start();
        let failed = match catch_unwind(AssertUnwindSafe(|| self.manage(&shared))) {
            Ok(outcome) => outcome
                .err()
                .map(|violation| format!("contract violated: {violation}")),
            Err(panic) => Some(message_of(panic.as_ref())),
        };
        if let Some(message) = failed {
            shared.stop_for_manager(message);
        }
        shared.halt();
        let _ = sched::set_other(sched::own_tid());
        if let Some(own) = self.own.take() {
            own.leave();
        }
        meter.stop(&shared.accounts.manager);
        self.driver.decider().sink().close();
        self.finish(&shared)
    }

    /// The end of its record, and of its trace.
    fn finish(mut self, shared: &Cpu) -> ManagerRecord {
        let decider = self.driver.finish(shared);
        decider.sink().open();
        let (decider, trace, end) = decider.leave(shared.instant(monotonic_nanos()));
        trace.close();
        self.record.lost_notices = decider.lost_notices();
        self.record.end = Some(end);
        self.record
    }

    fn manage(&mut self, shared: &Cpu) -> Step {
        if !shared.phase.await_begin() {
            return Ok(());
        }
        self.own = Some(Intervals::of_this_thread(Thread::Manager, &self.shared));
        if self.driver.start(shared).is_err() {
            shared.run.request_stop(Cause::SetupFailed);
            return Ok(());
        }
        let end = shared.run.end.get();
        loop {
            let now = monotonic_nanos();
            let until = self.driver.arm(shared).min(end).min(now + BEAT_NANOS);
            // A run that is to end is ended after a wait too, which takes no time: with it ends what the manager took
            // for its last round, and what of that it slept is nobody else's.
            let until = if shared.run.is_stop_requested() {
                now
            } else {
                until
            };
            self.about_to_wait(shared);
            let woken = self.driver.wait(shared, until);
            let wanted = self.driver.wanted_since(shared, &woken, until);
            let now = self.awake(shared, wanted);
            self.driver.count(shared, &woken, now, &mut self.record);
            if !goes_on(shared, now, end) {
                return Ok(());
            }
            if self.driver.is_wanted(shared, &woken, now) {
                self.round(shared, &woken, now)?;
            }
            self.driver.decider().sink().close();
        }
    }

    /// To be called last of all before the manager asks the kernel to wait.
    fn about_to_wait(&mut self, shared: &Cpu) {
        #[cfg(feature = "real")]
        crate::fault::delay(shared, crate::fault::Point::BeforeWait(Duty::Manager));
        if let Some(own) = &mut self.own {
            let trace = self.driver.decider().sink();
            own.wait(Duty::Manager, trace);
        }
    }

    /// The manager has the CPU, which without a call it wanted at `until`. Opens a group of records, and gives
    /// the clock.
    fn awake(&mut self, shared: &Cpu, until: u64) -> u64 {
        self.driver.decider().sink().open();
        let now = monotonic_nanos();
        let wanted = Wanted::AtOnceSince(shared.online.wanted_since(until, now));
        if let Some(own) = &mut self.own {
            own.wake(wanted, now);
        }
        #[cfg(feature = "real")]
        crate::fault::delay(shared, crate::fault::Point::RoundBegins);
        now
    }

    /// Does what there is to do for the manager that woke at `now`, and records that and how long it took.
    fn round(&mut self, shared: &Cpu, woken: &D::Woken, now: u64) -> Step {
        let decide = Mechanism::Decide;
        span(shared, self.driver.decider(), now, (decide, Edge::Begin));
        self.driver.round(shared, &mut self.record, woken, now)?;
        let done = monotonic_nanos();
        span(shared, self.driver.decider(), done, (decide, Edge::End));
        self.record.handling.record(done.saturating_sub(now));
        Ok(())
    }
}

/// Shows that the manager lives; says whether the run goes on.
fn goes_on(shared: &Cpu, now: u64, end: u64) -> bool {
    shared.beat.go_on();
    if shared.stop_requested() || shared.run.is_stop_requested() {
        return false;
    }
    if now >= end {
        shared.run.request_stop(Cause::Finished);
        return false;
    }
    #[cfg(feature = "real")]
    crate::fault::strike(shared, now);
    true
}

#[cfg(test)]
mod tests;
