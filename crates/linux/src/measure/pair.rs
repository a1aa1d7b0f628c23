//! A barrier of frame tables between two threads, apart from a run.

use crate::barrier::Barrier;
use crate::frames::{Meeting, meeting};
use crate::stamps::{Clock, Stamps};
use crate::sys::clock::monotonic_nanos;
use crate::words::Passed;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// The barrier that walkers of frame tables have, for two threads on a processor each, which come to it round after
/// round.
///
/// Who comes last is found by a counter here, and under the lock of the domain in a run; all else is the same.
#[derive(Debug)]
pub struct Pair {
    meeting: Box<dyn Meeting>,
    arrived: AtomicU64,
    /// Whoever waited goes on so much later, for tests.
    #[cfg(feature = "real")]
    delay_nanos: u64,
}

/// What one of the two saw of a round: readings of the clock, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// Before it said that it had come.
    pub came: u64,
    /// When it went on.
    pub went_on: u64,
    /// Whether it came last, and let the other one go on.
    pub was_last: bool,
}

impl Pair {
    /// A barrier of this kind, whose threads read `clock` while they spin.
    ///
    /// # Errors
    /// What the pthread library says, and where that clock is not there.
    pub fn new(kind: Barrier, clock: Clock) -> io::Result<Self> {
        Ok(Self {
            meeting: meeting(kind, 2, false, Stamps::of(clock)?)?,
            arrived: AtomicU64::new(0),
            #[cfg(feature = "real")]
            delay_nanos: 0,
        })
    }

    /// The same, but that whoever waited goes on so many nanoseconds later.
    #[cfg(feature = "real")]
    #[doc(hidden)]
    #[must_use]
    pub fn with_delay(mut self, nanos: u64) -> Self {
        self.delay_nanos = nanos;
        self
    }

    /// Comes to the barrier, and goes on when both have come; `None` if it was closed meanwhile.
    pub fn meet(&self) -> Option<Met> {
        let ticket = self.meeting.ticket();
        let came = monotonic_nanos();
        let was_last = self.arrived.fetch_add(1, Ordering::AcqRel) % 2 == 1;
        if was_last {
            self.meeting.open();
        } else {
            match self.meeting.wait(ticket) {
                Passed::Open => self.delay(),
                Passed::Closed => return None,
            }
        }
        let went_on = monotonic_nanos();
        Some(Met {
            came,
            went_on,
            was_last,
        })
    }

    #[cfg(feature = "real")]
    fn delay(&self) {
        if self.delay_nanos == 0 {
            return;
        }
        let until = monotonic_nanos().saturating_add(self.delay_nanos);
        while monotonic_nanos() < until {}
    }

    #[cfg(not(feature = "real"))]
    #[expect(clippy::unused_self, reason = "nobody is delayed but in tests")]
    const fn delay(&self) {}

    /// Nobody waits any more, for ever. It may start threads and wait for them.
    pub fn close(&self) {
        self.meeting.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const KINDS: [Barrier; 3] = [Barrier::Pthread, Barrier::Futex, Barrier::Spin];

    #[test]
    fn in_each_round_one_of_the_two_is_the_last_and_nobody_goes_on_before_it_comes() {
        for kind in KINDS {
            let pair = Pair::new(kind, Clock::Monotonic).unwrap();
            let rounds = || -> Vec<Met> { (0..100).filter_map(|_| pair.meet()).collect() };
            let (here, there) = thread::scope(|scope| {
                let there = scope.spawn(rounds);
                (rounds(), there.join().unwrap())
            });
            assert_eq!((here.len(), there.len()), (100, 100), "{kind:?}");
            for (here, there) in here.iter().zip(&there) {
                assert_ne!(here.was_last, there.was_last, "{kind:?}");
                let [last, waited] = match here.was_last {
                    true => [here, there],
                    false => [there, here],
                };
                assert!(waited.went_on >= last.came, "{kind:?}: {last:?} {waited:?}");
            }
        }
    }

    #[test]
    fn who_waits_when_it_is_closed_has_met_nobody() {
        for kind in KINDS {
            let pair = Pair::new(kind, Clock::Monotonic).unwrap();
            thread::scope(|scope| {
                let waiting = scope.spawn(|| pair.meet());
                while pair.arrived.load(Ordering::SeqCst) == 0 {
                    thread::yield_now();
                }
                pair.close();
                assert_eq!(waiting.join().unwrap(), None, "{kind:?}");
            });
        }
    }
}
