//! The dispatcher: sleeps until jobs are released, registers them, and calls the scheduler when a frame begins.
//!
//! The bitmap of the paper, in which arrivals are registered (section VI-C), is that of the engine: the ready bits of its tasks. What
//! the dispatcher has not registered when the scheduler decides, that takes itself: else a frame that the scheduler
//! begins at once when the one before ends would find no jobs.
//!
//! It sleeps on the phase of its CPU with a timeout, by the same clock as `clock_nanosleep`, so that the end of the
//! run ends its sleep.

use super::scheduler::Beside;
use super::{Paper, is_ending};
use crate::account::{Duty, Wanted};
use crate::frames::domain::Step;
use crate::frames::record::WalkRecord;
use crate::frames::waits::{self, OwnNotes};
use crate::launch::SharedCpu;
use crate::parts::Part;
use crate::sys::clock::monotonic_nanos;
use crate::words::Stage;
use vestal_core::{Duration, Instant};

/// Says when frames begin until the run ends.
pub(super) fn main(beside: Beside) -> WalkRecord {
    beside.work(dispatch)
}

fn dispatch(paper: &Paper, host: &SharedCpu, own: &mut OwnNotes, record: &mut WalkRecord) -> Step {
    let end = host.instant(host.run.end.get());
    let (mut next, mut frame) = (Instant::EPOCH, Instant::EPOCH);
    while next < end && sleep(host, own, next) {
        let common = &paper.common;
        let mut domain = waits::domain(common, (&mut *own, None), Duty::Frame);
        domain.scheduler.sink().open();
        let since = common.stamps.now();
        let now = host.instant(since.monotonic);
        let release = domain.register(now);
        domain.scheduler.sink().close();
        // It is all in what this call takes.
        let _ = domain.take_spent();
        drop(domain);
        if frame <= now {
            frame = following(now, paper.terms.length);
            paper.called.set(monotonic_nanos());
            paper.calls.post();
        }
        let took = common.stamps.since(since);
        record.parts.record(Part::JobArrival, took);
        next = release?.map_or(frame, |release| release.min(frame));
    }
    Ok(())
}

/// When the next frame begins after `now`.
fn following(now: Instant, length: Duration) -> Instant {
    let age = now.saturating_since(Instant::EPOCH);
    let passed = age.div_floor(length).unwrap_or(0);
    Instant::EPOCH.saturating_add(length.saturating_mul(passed.saturating_add(1)))
}

/// Sleeps until an instant; says whether the run goes on.
fn sleep(host: &SharedCpu, own: &mut OwnNotes, at: Instant) -> bool {
    let since = at.saturating_since(Instant::EPOCH);
    let until = host.run.clock_at(since.as_nanos());
    let mut slept = false;
    loop {
        let now = monotonic_nanos();
        if is_ending(host) {
            return false;
        }
        if now >= until {
            if slept {
                own.wake(Wanted::Since(until), now);
            }
            return true;
        }
        if !std::mem::replace(&mut slept, true) {
            own.wait_untraced(Duty::Frame);
        }
        host.phase.wait_while(Stage::Running, Some(until));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Thread;
    use crate::cpu::{Cpu, Terms};
    use crate::frames::waits::notes_of;
    use crate::monitor::Monitor;
    use std::sync::Arc;
    use std::thread;

    /// It would look twenty times a second if it looked by itself: its thread sleeps once, and the end of the run wakes it.
    #[test]
    fn it_sleeps_once_until_the_next_arrival_and_the_end_of_the_run_wakes_it() {
        let host = Arc::new(Cpu::in_test(Vec::new(), Terms::in_test(Monitor::Manager)));
        host.run.epoch.set(monotonic_nanos());
        host.phase.begin();
        let sleeper = Arc::clone(&host);
        let sleeper = thread::spawn(move || {
            let mut own = notes_of(Thread::Dispatcher, &sleeper);
            let before = own.count();
            let goes_on = sleep(&sleeper, &mut own, Instant::from_nanos(60_000_000_000));
            let slept = before.zip(own.count());
            (
                goes_on,
                slept.map(|(before, after)| after.times - before.times),
            )
        });
        let until = monotonic_nanos() + 400_000_000;
        while monotonic_nanos() < until {
            thread::yield_now();
        }
        host.halt();
        let (goes_on, slept) = sleeper.join().unwrap();
        assert!(!goes_on);
        // Getting the CPU back from others counts as well. None where the kernel does not count.
        assert!(slept.is_none_or(|times| times <= 4), "{slept:?}");
    }

    #[test]
    fn the_frame_after_an_instant_begins_at_the_next_multiple_of_its_length() {
        let length = Duration::from_nanos(10);
        let after = |now| following(Instant::from_nanos(now), length).as_nanos();
        assert_eq!([0, 9, 10, 11, 39].map(after), [10, 10, 20, 20, 40]);
    }
}
