//! By how much the clocks of the processors of a run differ: what overlaps across CPUs by less than that is not known to.
//!
//! A thread on each of two processors: one asks, the other one answers with what its clock reads, as often as there is time.
//! It reads its clock between the question and the answer, which the first one's clock brackets:
//!
//! ```text
//!   one     asked --------------------------- answered      least = max over all of  read - answered
//!   other              read                                  most = min over all of  read - asked
//! ```
//!
//! So what the second clock is ahead of the first by lies between the two, whatever interrupts either thread: an
//! interruption only makes one bracket wider, and the narrowest counts. No rate is estimated, so a drift during the few
//! milliseconds shows as bounds in the wrong order, which are then taken for those of where it went.

use crate::sys::clock::monotonic_nanos;
use crate::sys::event::sleep_until;
use crate::sys::sched::enter_real_time;
use crate::sys::stamp::StampCounter;
use crate::sys::{Processor, distinct};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::{hint, io};

/// So many answers are enough, and so long is asked for them at most.
const ANSWERS: u64 = 2_000;
const PATIENCE_NANOS: u64 = 50_000_000;
/// Threads have so long to come to their processors, and look so often whether both have.
const HEAD_START_NANOS: u64 = 1_000_000_000;
const LOOK_NANOS: u64 = 50_000;
const STACK_BYTES: usize = 128 * 1024;

/// By how much the clocks of processors differ at most, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockSkew {
    /// Two readings of `CLOCK_MONOTONIC`, by which everything in a run is dated.
    pub monotonic_nanos: u64,
    /// Two readings of the time stamp counter; `None` where there is no invariant one.
    pub stamp_nanos: Option<u64>,
}

/// The clocks of these processors, by threads of this SCHED_FIFO priority, which spin for some milliseconds; `None` where it
/// is one processor, which has one clock, and where it cannot be measured: something kept the threads from answering each other
/// in time, or the kernel from starting there. Nothing follows from it but a statement, so that is no error.
pub fn clock_skew(
    processors: impl IntoIterator<Item = Processor>,
    priority: i32,
) -> Option<ClockSkew> {
    measured(processors, priority).ok().flatten()
}

/// The same, or what system calls say.
fn measured(
    processors: impl IntoIterator<Item = Processor>,
    priority: i32,
) -> io::Result<Option<ClockSkew>> {
    let processors = distinct(processors);
    let [first, others @ ..] = processors.as_slice() else {
        return Ok(None);
    };
    if others.is_empty() {
        return Ok(None);
    }
    let compared = |read: &(dyn Fn() -> u64 + Sync)| -> io::Result<Option<u64>> {
        let against = |&other| between([*first, other], priority, [read, read]);
        let bounds = others.iter().map(against);
        let bounds = bounds.collect::<io::Result<Option<Vec<_>>>>()?;
        Ok(bounds.map(|bounds| Bounds::widest(&bounds)))
    };
    let Some(monotonic_nanos) = compared(&monotonic_nanos)? else {
        return Ok(None);
    };
    let stamp_nanos = match StampCounter::find() {
        Some(counter) => in_ticks(counter, || compared(&|| counter.ticks()))?,
        None => None,
    };
    Ok(Some(ClockSkew {
        monotonic_nanos,
        stamp_nanos,
    }))
}

/// What is measured in ticks of the counter, in nanoseconds: at the rate that it has meanwhile.
fn in_ticks(
    counter: StampCounter,
    measure: impl FnOnce() -> io::Result<Option<u64>>,
) -> io::Result<Option<u64>> {
    let before = (monotonic_nanos(), counter.ticks());
    let ticks = measure()?;
    let nanos = monotonic_nanos().saturating_sub(before.0);
    let in_them = counter.ticks().saturating_sub(before.1);
    Ok(ticks.map(|ticks| in_nanos(ticks, nanos, in_them)))
}

/// So many ticks, where it is known how many there were in so many nanoseconds; rounded up.
fn in_nanos(ticks: u64, nanos: u64, in_them: u64) -> u64 {
    let product = u128::from(ticks) * u128::from(nanos);
    u64::try_from(product.div_ceil(u128::from(in_them.max(1)))).unwrap_or(u64::MAX)
}

/// What one clock is ahead of another by, in its own unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    least: i64,
    most: i64,
}

impl Bounds {
    /// The clock that is compared with others, and with itself.
    const SAME: Self = Self { least: 0, most: 0 };

    /// By one answer.
    const fn of(asked: u64, read: u64, answered: u64) -> Self {
        Self {
            least: read.wrapping_sub(answered).cast_signed(),
            most: read.wrapping_sub(asked).cast_signed(),
        }
    }

    /// By both.
    fn and(self, other: Self) -> Self {
        Self {
            least: self.least.max(other.least),
            most: self.most.min(other.most),
        }
    }

    /// By how much two clocks may differ of which this and `other` say what they are ahead of a third one.
    fn apart(self, other: Self) -> u64 {
        let [(least, most), (others_least, others_most)] = [self, other].map(Self::in_order);
        let one_way = others_most.saturating_sub(least);
        let other_way = most.saturating_sub(others_least);
        one_way.max(other_way).max(0).unsigned_abs()
    }

    /// Where something drifted, from where to where.
    fn in_order(self) -> (i64, i64) {
        (self.least.min(self.most), self.least.max(self.most))
    }

    /// By how much any two clocks may differ, of which each of these says what one is ahead of the same other one.
    fn widest(each: &[Self]) -> u64 {
        let all: Vec<Self> = each.iter().copied().chain([Self::SAME]).collect();
        let pairs = all.iter().enumerate();
        let pairs = pairs.flat_map(|(place, one)| {
            let rest = all.iter().skip(place + 1);
            rest.map(|other| one.apart(*other))
        });
        pairs.max().unwrap_or(0)
    }
}

/// What is asked and answered.
#[derive(Default)]
struct Words {
    /// How many of the two threads are on their processors.
    there: AtomicU64,
    /// How often was asked, and how often answered.
    asked: AtomicU64,
    answered: AtomicU64,
    /// What the other one's clock read.
    read: AtomicU64,
    /// Nobody asks any more.
    ended: AtomicBool,
}

/// What the second processor's clock is ahead of the first one's by, as their two functions read them; `None` if there was
/// no answer in time.
fn between(
    [one, other]: [Processor; 2],
    priority: i32,
    [here, there]: [&(dyn Fn() -> u64 + Sync); 2],
) -> io::Result<Option<Bounds>> {
    let words = Words::default();
    // Where memory is locked a usual stack counts whole.
    let start = || thread::Builder::new().stack_size(STACK_BYTES);
    thread::scope(|scope| {
        let answers = start().spawn_scoped(scope, || {
            words.come(other, priority)?;
            words.answer(there);
            Ok(())
        })?;
        let asks = start().spawn_scoped(scope, || {
            let found = words.come(one, priority).map(|()| words.ask(here));
            words.ended.store(true, Ordering::Release);
            found
        });
        let found = asks.and_then(joined);
        // Also where nobody could be started to ask.
        words.ended.store(true, Ordering::Release);
        joined(answers).and(found)
    })
}

/// What a thread came to.
fn joined<T>(thread: ScopedJoinHandle<'_, io::Result<T>>) -> io::Result<T> {
    let panicked = |_| Err(io::Error::other("a thread that reads a clock panicked"));
    thread.join().unwrap_or_else(panicked)
}

impl Words {
    /// The calling thread goes to its processor, and waits for the other one without being in anybody's way.
    fn come(&self, processor: Processor, priority: i32) -> io::Result<()> {
        enter_real_time(processor, priority)?;
        self.there.fetch_add(1, Ordering::AcqRel);
        let until = monotonic_nanos() + HEAD_START_NANOS;
        while self.there.load(Ordering::Acquire) < 2
            && !self.ended.load(Ordering::Acquire)
            && monotonic_nanos() < until
        {
            sleep_until(monotonic_nanos() + LOOK_NANOS);
        }
        Ok(())
    }

    fn ask(&self, clock: &dyn Fn() -> u64) -> Option<Bounds> {
        let until = monotonic_nanos() + PATIENCE_NANOS;
        let mut bounds: Option<Bounds> = None;
        for number in 1..=ANSWERS {
            let asked = clock();
            self.asked.store(number, Ordering::Release);
            while self.answered.load(Ordering::Acquire) != number {
                if monotonic_nanos() >= until {
                    return bounds;
                }
                hint::spin_loop();
            }
            let answered = clock();
            let one = Bounds::of(asked, self.read.load(Ordering::Relaxed), answered);
            bounds = Some(bounds.map_or(one, |bounds| bounds.and(one)));
        }
        bounds
    }

    fn answer(&self, clock: &dyn Fn() -> u64) {
        let until = monotonic_nanos() + 2 * PATIENCE_NANOS;
        let mut answered = 0;
        while !self.ended.load(Ordering::Acquire) && monotonic_nanos() < until {
            let asked = self.asked.load(Ordering::Acquire);
            if asked != answered {
                self.read.store(clock(), Ordering::Relaxed);
                self.answered.store(asked, Ordering::Release);
                answered = asked;
            }
            hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads that take turns, as far as the machine lets them: without rights, and on any processor.
    fn with_threads(here: &(dyn Fn() -> u64 + Sync), there: &(dyn Fn() -> u64 + Sync)) -> Bounds {
        // On a machine that is busy they may not have met in time.
        let attempts = (0..20).find_map(|_| {
            let words = Words::default();
            thread::scope(|scope| {
                scope.spawn(|| words.answer(there));
                let bounds = words.ask(here);
                words.ended.store(true, Ordering::Release);
                bounds
            })
        });
        attempts.unwrap()
    }

    #[test]
    fn a_clock_that_is_ahead_lies_within_the_bounds_and_one_that_is_not_outside() {
        const AHEAD: u64 = 1_000_000_000;
        let contains = |bounds: Bounds, value: i64| (bounds.least..=bounds.most).contains(&value);
        let same = with_threads(&monotonic_nanos, &monotonic_nanos);
        assert!(contains(same, 0), "{same:?}");
        let ahead = with_threads(&monotonic_nanos, &|| monotonic_nanos() + AHEAD);
        assert!(contains(ahead, AHEAD.cast_signed()), "{ahead:?}");
        assert!(!contains(ahead, 0), "{ahead:?}");
        let behind = with_threads(&|| monotonic_nanos() + AHEAD, &monotonic_nanos);
        assert!(contains(behind, -AHEAD.cast_signed()), "{behind:?}");
        assert!(Bounds::widest(&[behind]) >= AHEAD, "{behind:?}");
    }

    #[test]
    fn the_narrowest_brackets_count_and_those_of_interrupted_threads_do_not() {
        let first = Bounds::of(1_000, 1_150, 1_200);
        assert_eq!((first.least, first.most), (-50, 150));
        // Interrupted before it was answered, and after.
        let bounds = first.and(Bounds::of(2_000, 9_000, 9_040));
        assert_eq!((bounds.least, bounds.most), (-40, 150));
        let bounds = bounds.and(Bounds::of(10_000, 10_060, 19_000));
        assert_eq!((bounds.least, bounds.most), (-40, 60));
    }

    #[test]
    fn of_several_clocks_the_two_that_may_differ_most_count() {
        let bounds = |least, most| Bounds { least, most };
        assert_eq!(Bounds::widest(&[bounds(-40, 60)]), 60);
        assert_eq!(Bounds::widest(&[bounds(-70, 60)]), 70);
        // One up to 60 ahead of the first, the other up to 70 behind it.
        assert_eq!(Bounds::widest(&[bounds(-40, 60), bounds(-70, -10)]), 130);
        // It drifted meanwhile.
        assert_eq!(Bounds::widest(&[bounds(25, 20)]), 25);
        assert_eq!(Bounds::widest(&[bounds(-20, -30)]), 30);
    }

    #[test]
    fn ticks_are_so_many_nanoseconds_rounded_up() {
        assert_eq!(in_nanos(26, 1_000, 2_600), 10);
        assert_eq!(in_nanos(27, 1_000, 2_600), 11);
        assert_eq!(in_nanos(5, 7, 0), 35);
    }

    #[test]
    fn one_processor_has_one_clock() {
        let none = measured([Processor(0), Processor(0)], 1).unwrap();
        assert_eq!(none, None);
        assert_eq!(measured([], 1).unwrap(), None);
    }

    #[test]
    fn of_a_processor_that_no_thread_can_go_to_nothing_is_said() {
        let nowhere = [Processor(0), Processor(100_000)];
        measured(nowhere, 1).unwrap_err();
        assert_eq!(clock_skew(nowhere, 1), None);
    }
}
