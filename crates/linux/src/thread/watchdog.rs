//! The watchdog, one for all CPUs of a run: ends a CPU whose manager does not, and carries the user's signals, and
//! that the run is to end, to all managers.
//!
//! It lives on another processor than the run if the process has one, above every other thread of the
//! run, and does almost nothing. A CPU whose manager lives is ended by that manager, which alone raises
//! workers there.

use crate::account::{Duty, Thread, Wanted};
use crate::cpu::Cpu;
use crate::driver::BEAT_NANOS;
use crate::evidence::Intervals;
use crate::meter::Meter;
use crate::run::Run;
use crate::sys;
use crate::sys::Processor;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::enter_real_time;
use crate::sys::stop;
use crate::words::{Cause, Stage};
use std::sync::Arc;

/// How often it looks, if no thread calls.
const PERIOD_NANOS: u64 = BEAT_NANOS;

/// How many looks in a row may find the manager as it was: three beats. Only a look that comes in time
/// counts: where the watchdog itself was late, the process was stopped or the machine paused, and the
/// manager could not have done better.
const LOOKS_MAX: u32 = 3;

/// A look that is later than this is not in time.
const LATE_NANOS: u64 = PERIOD_NANOS / 2;

/// What the watchdog saw of the manager.
#[derive(Debug, Default)]
struct Watch {
    beat: u64,
    looks: u32,
}

impl Watch {
    /// Looks at `now`, which was to be at `due`; says whether the manager hangs, whose last sign of life
    /// was `beat`; 0: there was none yet.
    fn look(&mut self, due: u64, now: u64, beat: u64) -> bool {
        if beat != self.beat || now.saturating_sub(due) > LATE_NANOS {
            (self.beat, self.looks) = (beat, 0);
            return false;
        }
        self.looks += 1;
        beat != 0 && self.looks >= LOOKS_MAX
    }
}

/// What the watchdog's thread is made of.
pub(crate) struct Watchdog {
    pub(crate) run: Arc<Run>,
    /// All CPUs of the set: nobody else knows more than one.
    pub(crate) cpus: Vec<Arc<Cpu>>,
    pub(crate) processor: Processor,
    pub(crate) priority: i32,
    /// Where CPUs have no managers, whose beats it would wait for: it ends them itself, which is the time to end what they
    /// have in common.
    pub(crate) common: Option<Box<dyn Fn() + Send>>,
}

/// A CPU that is watched.
struct Watched<'a> {
    cpu: &'a Cpu,
    watch: Watch,
    /// What the watchdog notes of itself where it lives on the CPU's processor.
    own: Option<Intervals>,
}

impl Watchdog {
    /// Prepares the calling thread.
    pub(crate) fn set_up(&self) -> std::io::Result<()> {
        enter_real_time(self.processor, self.priority)?;
        for cpu in &self.cpus {
            if self.is_at(cpu) {
                cpu.watchdog_tid.set(sys::sched::own_tid());
            }
        }
        Ok(())
    }

    /// Whether what it does is time of this CPU.
    fn is_at(&self, cpu: &Cpu) -> bool {
        self.processor == cpu.processor
    }

    /// Watches until all CPUs have ended, and ends those that do not do so themselves.
    pub(crate) fn main(self) {
        let meter = Meter::start();
        let watched = self.cpus.iter().map(|cpu| Watched {
            cpu,
            watch: Watch::default(),
            own: self
                .is_at(cpu)
                .then(|| Intervals::of_this_thread(Thread::Watchdog, cpu)),
        });
        let mut watched: Vec<Watched<'_>> = watched.collect();
        let mut next = monotonic_nanos();
        loop {
            // Read before looking, so that a call that comes while looking ends the wait.
            let calls = stop::CALLS.count();
            if watched.iter().all(Watched::is_over) {
                break;
            }
            let now = monotonic_nanos();
            self.look(&mut watched, next, now);
            if now >= next {
                next = now + PERIOD_NANOS;
            }
            watched.iter_mut().for_each(Watched::about_to_wait);
            stop::CALLS.wait_beyond(calls, Some(self.until(next)));
            watched.iter_mut().for_each(Watched::awake);
        }
        for cpu in &watched {
            if let Some(own) = &cpu.own {
                own.leave();
            }
        }
        let _ = sys::sched::set_other(sys::sched::own_tid());
        meter.stop(&self.run.watchdog);
    }

    /// One look at `now`, which was to be at `due`.
    fn look(&self, watched: &mut [Watched<'_>], due: u64, now: u64) {
        #[cfg(feature = "real")]
        if let Some(first) = watched.first() {
            crate::fault::delay(first.cpu, crate::fault::Point::WatchdogLook);
        }
        if let Some(signal) = stop::asked() {
            self.run.request_stop(Cause::Signal(signal));
        }
        if let Some(common) = &self.common {
            self.end_all(now, common);
            return;
        }
        if now >= due {
            for cpu in watched.iter_mut() {
                cpu.end_if_it_hangs(due, now);
            }
        }
        if self.run.is_stop_requested() {
            watched.iter().for_each(Watched::call);
        }
    }

    /// When it looks again if nobody calls and it would at `next`: at the end of a run that has nobody else to end it.
    fn until(&self, next: u64) -> u64 {
        match (self.run.end.get(), &self.common) {
            // It has not begun.
            (0, _) | (_, None) => next,
            (end, Some(_)) => next.min(end),
        }
    }

    /// Ends all CPUs, if it is time or somebody asked for it: none of them has a manager, so nobody raises a thread.
    fn end_all(&self, now: u64, common: &(dyn Fn() + Send)) {
        let end = self.run.end.get();
        if end != 0 && now >= end {
            self.run.request_stop(Cause::Finished);
        }
        if self.run.is_stop_requested() {
            self.cpus.iter().for_each(|cpu| cpu.halt());
            common();
        }
    }
}

impl Watched<'_> {
    fn is_over(&self) -> bool {
        self.cpu.phase.stage() == Stage::Over
    }

    /// Ends this CPU if its manager hangs. The others end by their own managers.
    fn end_if_it_hangs(&mut self, due: u64, now: u64) {
        let cpu = self.cpu;
        let hangs = self.watch.look(due, now, cpu.beat.count());
        if hangs && !self.is_over() {
            cpu.run.request_stop(Cause::ManagerHung(cpu.id.0));
            // The manager first: it may hold the processor that the others need to shut down.
            let _ = sys::sched::set_other(cpu.manager_tid.get());
            cpu.halt();
        }
    }

    /// Calls the manager of a CPU that is to end.
    fn call(&self) {
        if !self.cpu.stop_requested() {
            self.cpu.kick_manager();
        }
    }

    fn about_to_wait(&mut self) {
        if let Some(own) = &mut self.own {
            own.wait_untraced(Duty::Watchdog);
        }
    }

    fn awake(&mut self) {
        if let Some(own) = &mut self.own {
            let now = monotonic_nanos();
            own.wake(Wanted::Since(now), now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: u64 = PERIOD_NANOS;

    #[test]
    fn a_manager_without_a_beat_in_three_timely_looks_hangs() {
        let mut watch = Watch::default();
        assert!(!watch.look(STEP, STEP, 7));
        assert!(!watch.look(2 * STEP, 2 * STEP, 7));
        assert!(!watch.look(3 * STEP, 3 * STEP + LATE_NANOS, 7));
        assert!(watch.look(4 * STEP, 4 * STEP, 7));
    }

    #[test]
    fn a_beat_begins_anew_and_before_the_first_nobody_hangs() {
        let mut watch = Watch::default();
        for step in 1..10 {
            assert!(
                !watch.look(step * STEP, step * STEP, 0),
                "the run has not begun"
            );
            assert!(!Watch { beat: 1, looks: 9 }.look(step * STEP, step * STEP, step + 1));
        }
    }

    #[test]
    fn a_process_that_was_stopped_accuses_nobody() {
        let mut watch = Watch { beat: 7, looks: 2 };
        assert!(!watch.look(3 * STEP, 3 * STEP + LATE_NANOS + 1, 7));
        assert!(!watch.look(8 * STEP, 8 * STEP, 7));
        assert!(!watch.look(9 * STEP, 9 * STEP, 7));
        assert!(watch.look(10 * STEP, 10 * STEP, 7));
    }
}
