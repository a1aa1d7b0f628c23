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
use crate::sys::sched::enter_real_time;
use crate::sys::stamp::StampCounter;
use crate::sys::{Processor, distinct};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{hint, io, thread};

/// So many answers are enough, and so long is asked for them at most.
const ANSWERS: u64 = 2_000;
const PATIENCE_NANOS: u64 = 10_000_000;

/// By how much the clocks of processors differ at most, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockSkew {
    /// Two readings of `CLOCK_MONOTONIC`, by which everything in a run is dated.
    pub monotonic_nanos: u64,
    /// Two readings of the time stamp counter; `None` where there is no invariant one.
    pub stamp_nanos: Option<u64>,
}

/// The clocks of these processors, by threads of this SCHED_FIFO priority, which spin for some milliseconds; `None` where it
/// is one processor, which has one clock.
///
/// # Errors
/// What system calls say; and that nothing was found in time.
pub fn clock_skew(
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
    let compared = |read: &(dyn Fn() -> u64 + Sync)| -> io::Result<u64> {
        let against = |&other| between([*first, other], priority, [read, read]);
        let bounds = others.iter().map(against);
        Ok(Bounds::widest(&bounds.collect::<io::Result<Vec<_>>>()?))
    };
    let stamp = match StampCounter::find() {
        Some(counter) => {
            let before = (monotonic_nanos(), counter.ticks());
            let ticks = compared(&|| counter.ticks())?;
            let after = (monotonic_nanos(), counter.ticks());
            Some(in_nanos(ticks, after.0 - before.0, after.1 - before.1))
        }
        None => None,
    };
    Ok(Some(ClockSkew {
        monotonic_nanos: compared(&monotonic_nanos)?,
        stamp_nanos: stamp,
    }))
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
    /// Nothing is known.
    const UNKNOWN: Self = Self {
        least: i64::MIN,
        most: i64::MAX,
    };

    /// The clock that is compared with others, and with itself.
    const SAME: Self = Self { least: 0, most: 0 };

    /// One more answer.
    fn narrow(&mut self, asked: u64, read: u64, answered: u64) {
        self.least = self.least.max(read.wrapping_sub(answered).cast_signed());
        self.most = self.most.min(read.wrapping_sub(asked).cast_signed());
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
    /// How often was asked, and how often answered.
    asked: AtomicU64,
    answered: AtomicU64,
    /// What the other one's clock read.
    read: AtomicU64,
    ended: AtomicBool,
}

/// What the second processor's clock is ahead of the first one's by, as their two functions read them.
fn between(
    [one, other]: [Processor; 2],
    priority: i32,
    [here, there]: [&(dyn Fn() -> u64 + Sync); 2],
) -> io::Result<Bounds> {
    let words = Words::default();
    let until = monotonic_nanos() + PATIENCE_NANOS;
    let bounds = thread::scope(|scope| {
        let answers = scope.spawn(|| {
            enter_real_time(other, priority)?;
            answer(&words, there, until);
            Ok(())
        });
        let asks = scope.spawn(|| {
            enter_real_time(one, priority)?;
            Ok(ask(&words, here, until))
        });
        let panicked = |_| Err(io::Error::other("a thread that reads a clock panicked"));
        let bounds = asks.join().unwrap_or_else(panicked);
        // Also where it did not come to ask.
        words.ended.store(true, Ordering::Release);
        let answered: io::Result<()> = answers
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("a thread that reads a clock panicked")));
        answered.and(bounds)
    })?;
    match bounds {
        Bounds::UNKNOWN => Err(io::Error::other(
            "two CPUs did not answer each other in time",
        )),
        known => Ok(known),
    }
}

fn ask(words: &Words, clock: &dyn Fn() -> u64, until: u64) -> Bounds {
    let mut bounds = Bounds::UNKNOWN;
    for number in 1..=ANSWERS {
        let asked = clock();
        words.asked.store(number, Ordering::Release);
        while words.answered.load(Ordering::Acquire) != number {
            if monotonic_nanos() >= until {
                return bounds;
            }
            hint::spin_loop();
        }
        let answered = clock();
        bounds.narrow(asked, words.read.load(Ordering::Relaxed), answered);
    }
    bounds
}

fn answer(words: &Words, clock: &dyn Fn() -> u64, until: u64) {
    let mut answered = 0;
    while !words.ended.load(Ordering::Acquire) && monotonic_nanos() < until {
        let asked = words.asked.load(Ordering::Acquire);
        if asked != answered {
            words.read.store(clock(), Ordering::Relaxed);
            words.answered.store(asked, Ordering::Release);
            answered = asked;
        }
        hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads that take turns, as far as the machine lets them: without rights, and on any processor.
    fn with_threads(here: &(dyn Fn() -> u64 + Sync), there: &(dyn Fn() -> u64 + Sync)) -> Bounds {
        let (words, until) = (Words::default(), monotonic_nanos() + 100 * PATIENCE_NANOS);
        thread::scope(|scope| {
            scope.spawn(|| answer(&words, there, until));
            let bounds = ask(&words, here, until);
            words.ended.store(true, Ordering::Release);
            bounds
        })
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
        let mut bounds = Bounds::UNKNOWN;
        bounds.narrow(1_000, 1_150, 1_200);
        assert_eq!((bounds.least, bounds.most), (-50, 150));
        // Interrupted before it was answered.
        bounds.narrow(2_000, 9_000, 9_040);
        assert_eq!((bounds.least, bounds.most), (-40, 150));
        bounds.narrow(10_000, 10_060, 19_000);
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
        let none = clock_skew([Processor(0), Processor(0)], 1).unwrap();
        assert_eq!(none, None);
        assert_eq!(clock_skew([], 1).unwrap(), None);
    }
}
