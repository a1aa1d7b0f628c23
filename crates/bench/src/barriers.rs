//! What it takes two CPUs to meet at a barrier of frame tables, by the kind of barrier, where both come at almost the same
//! time.
//!
//! Two threads in SCHED_FIFO, each on a CPU of its own, come to one barrier after the other at instants that they know
//! beforehand, and look at the clock until then, so that both are awake:
//!
//! ```text
//!   one   ........looks at the clock...| comes, waits.............| goes on
//!   other ........looks at the clock......| comes last, opens | goes on
//!                                      <-->                   <---->
//!                                     apart                  goes on later
//! ```
//!
//! In each round they meet once at every barrier, the first of which is another one in each, so that what disturbs the
//! machine for a while disturbs all of them. Who comes first, and by how much, is the same for all barriers of a round.

use crate::{measured, system};
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use vestal_linux::measure::{Met, Pair, cpu_for};
use vestal_linux::{Rights, RunError};
use vestal_statistics::{Histogram, Summary};
use vestal_sys::Processor;
use vestal_sys::clock::monotonic_nanos;
use vestal_sys::event::sleep_until;
use vestal_sys::sched::{self, enter_real_time};

/// Rounds count whose threads come at most so far apart.
pub const APART_NANOS: u64 = 5_000;

/// From one meeting to the next: longer than it takes to go on from any barrier.
const GAP_NANOS: u64 = 100_000;
/// After so many meetings the CPUs have a rest of so many gaps, so that RT throttling never has to give them one.
const MEETINGS: u64 = 400;
const REST_GAPS: u64 = 100;
/// Before the end of a rest threads are awake again.
const AWAKE_NANOS: u64 = 1_000_000;
const HEAD_START_NANOS: u64 = 10_000_000;
/// So much later than planned everything is over, or it is ended.
const PATIENCE_NANOS: u64 = 2_000_000_000;
/// By how much later the second thread wants to come than the first, round after round.
const LATER_NANOS: [i64; 8] = [1_000, -1_000, 2_000, -2_000, 3_000, -3_000, 4_000, -4_000];
const PRIORITY: u8 = 2;

/// What meetings at one barrier took, in nanoseconds; rounds in which both came at most [`APART_NANOS`] apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Meetings {
    /// From when the last one came until the one that had waited went on, round by round.
    pub passed: Vec<u64>,
    /// From then until both had gone on.
    pub both: Vec<u64>,
    /// How many rounds do not count, because the two came further apart.
    pub apart: u64,
}

impl Meetings {
    /// Those of one barrier, by what both saw of each.
    fn of<'m>(rounds: impl Iterator<Item = &'m (Met, Met)>) -> Self {
        let (mut passed, mut both, mut apart) = (Vec::new(), Vec::new(), 0);
        for (one, other) in rounds {
            if one.came.abs_diff(other.came) > APART_NANOS {
                apart += 1;
                continue;
            }
            let (last, waited) = match one.was_last {
                true => (one, other),
                false => (other, one),
            };
            passed.push(waited.went_on.saturating_sub(last.came));
            both.push(waited.went_on.max(last.went_on).saturating_sub(last.came));
        }
        Self {
            passed,
            both,
            apart,
        }
    }

    /// Many of them in a few numbers.
    #[must_use]
    pub fn summary(values: &[u64]) -> Summary {
        let mut histogram = Histogram::default();
        values.iter().for_each(|&value| histogram.record(value));
        histogram.summary()
    }
}

/// The CPUs of the measurement: that of [`cpu_for`], and another one; `None` where this process may use only one.
///
/// # Errors
/// [`RunError`] without the right to SCHED_FIFO.
pub fn cpus() -> Result<Option<[usize; 2]>, RunError> {
    let rights = Rights::probe();
    let cpu = cpu_for(&rights, PRIORITY, None)?;
    let mut others = rights.processors.iter().map(|processor| processor.0);
    let other = others.find(|&other| other != cpu);
    Ok(other.map(|other| [cpu, other]))
}

/// Has the CPUs meet so many times at each of the barriers; what each took, in their order. A millisecond for ten
/// meetings, and a quarter of that for rests.
///
/// # Errors
/// [`RunError`] if a system call fails, or one of the threads did not come to an end in time.
pub fn measure(
    cpus: [usize; 2],
    barriers: Vec<Pair>,
    rounds: u32,
) -> Result<Vec<Meetings>, RunError> {
    let count = barriers.len();
    let met = meet(cpus, barriers, rounds).map_err(system("meet at barriers"))?;
    let of = |index| {
        let each = met.iter().enumerate();
        let here = each.filter(move |&(place, _)| barrier_at(place, count) == index);
        Meetings::of(here.map(|(_, met)| met))
    };
    Ok((0..count).map(of).collect())
}

/// At which of so many barriers the meeting with this number is.
fn barrier_at(meeting: usize, count: usize) -> usize {
    let (round, place) = (meeting / count.max(1), meeting % count.max(1));
    (round + place) % count.max(1)
}

/// When the meeting with this number is, from the first on.
const fn instant_of(meeting: u64) -> u64 {
    (meeting + meeting / MEETINGS * REST_GAPS) * GAP_NANOS
}

/// All meetings in their order.
fn meet(cpus: [usize; 2], barriers: Vec<Pair>, rounds: u32) -> io::Result<Vec<(Met, Met)>> {
    let meetings = barriers.len() * rounds as usize;
    let barriers = Arc::new(barriers);
    let begin = monotonic_nanos() + HEAD_START_NANOS;
    let sides = [false, true].map(|is_second| {
        let (barriers, cpu) = (Arc::clone(&barriers), cpus[usize::from(is_second)]);
        thread::spawn(move || {
            enter_real_time(Processor(cpu), i32::from(PRIORITY))?;
            let met = come(&barriers, meetings, begin, is_second);
            sched::set_other(sched::own_tid())?;
            Ok(met)
        })
    });
    let mut patience = begin + instant_of(meetings as u64) + PATIENCE_NANOS;
    while monotonic_nanos() < patience && !sides.iter().all(JoinHandle::is_finished) {
        if sides.iter().any(JoinHandle::is_finished) {
            // The other one is about to end, too; or waits for ever, if this one failed.
            patience = patience.min(monotonic_nanos() + PATIENCE_NANOS / 10);
        }
        sleep_until(monotonic_nanos() + AWAKE_NANOS);
    }
    barriers.iter().for_each(Pair::close);
    let [one, other] = sides.map(measured);
    let (one, other) = (one?, other?);
    if (one.len(), other.len()) != (meetings, meetings) {
        return Err(io::Error::other("two threads did not meet in time"));
    }
    Ok(one.into_iter().zip(other).collect())
}

/// One thread comes to all meetings, until a barrier is closed.
fn come(barriers: &[Pair], meetings: usize, begin: u64, is_second: bool) -> Vec<Met> {
    let mut met = Vec::with_capacity(meetings);
    for number in 0..meetings {
        let round = number / barriers.len();
        let later = match LATER_NANOS.get(round % LATER_NANOS.len()) {
            Some(later) if is_second => *later,
            _ => 0,
        };
        let planned = begin.saturating_add(instant_of(number as u64));
        let planned = planned.saturating_add_signed(later);
        sleep_until(planned.saturating_sub(AWAKE_NANOS));
        while monotonic_nanos() < planned {
            std::hint::spin_loop();
        }
        let barrier = barriers.get(barrier_at(number, barriers.len()));
        let Some(seen) = barrier.and_then(Pair::meet) else {
            break;
        };
        met.push(seen);
    }
    met
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(came: u64, went_on: u64, was_last: bool) -> Met {
        Met {
            came,
            went_on,
            was_last,
        }
    }

    #[test]
    fn only_rounds_in_which_both_come_at_almost_the_same_time_count() {
        let rounds = [
            // The second came last, and went on after the first.
            (met(1_000, 3_500, false), met(3_000, 3_700, true)),
            // The first came last, and the second needed longer.
            (met(9_000, 9_100, true), met(4_000, 29_000, false)),
            (met(9_001, 9_100, true), met(4_000, 29_000, false)),
            // The clocks of two CPUs may disagree by some nanoseconds.
            (met(5_000, 5_010, false), met(5_020, 5_020, true)),
        ];
        let found = Meetings::of(rounds.iter());
        assert_eq!(found.passed, [500, 20_000, 0]);
        assert_eq!(found.both, [700, 20_000, 0]);
        assert_eq!(found.apart, 1);
    }

    #[test]
    fn barriers_take_turns_in_being_the_first() {
        let places: Vec<usize> = (0..9).map(|meeting| barrier_at(meeting, 3)).collect();
        assert_eq!(places, [0, 1, 2, 1, 2, 0, 2, 0, 1]);
        assert_eq!(instant_of(MEETINGS - 1), (MEETINGS - 1) * GAP_NANOS);
        assert_eq!(instant_of(MEETINGS), (MEETINGS + REST_GAPS) * GAP_NANOS);
    }
}
