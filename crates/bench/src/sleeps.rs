//! How long a thread really sleeps that asks for so much: Fig. 11 of Sigrist et al. (RTAS 2015), appendix A.
//!
//! One thread in SCHED_FIFO, without timer slack, calls `clock_nanosleep` with each argument from 1 ns to 1 s, and reads
//! the clock before and after. All arguments take turns, so that what disturbs the machine for a while does not disturb one
//! of them alone. The whole takes a quarter of a minute, most of it asleep.

use crate::{measured, system};
use std::thread;
use vestal_linux::measure::cpu_for;
use vestal_linux::{Rights, RunError};
use vestal_statistics::percentile;
use vestal_sys::Processor;
use vestal_sys::clock::monotonic_nanos;
use vestal_sys::event::sleep_for;
use vestal_sys::sched::{self, enter_real_time};

const PRIORITY: u8 = 1;
/// How often all arguments take turns.
const PASSES: u64 = 5;
/// For so long each argument is slept in a pass, but at least once and at most so many times.
const PASS_NANOS: u64 = 100_000_000;
const SLEEPS_MAX: u64 = 200;
const SECOND_NANOS: u64 = 1_000_000_000;

/// How long sleeps with one argument took, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleep {
    /// What was asked for.
    pub argument: u64,
    /// How often.
    pub count: u64,
    /// The mean, rounded up.
    pub mean: u64,
    /// The median.
    pub median: u64,
    /// The first percentile: with the next one what 98 % of the sleeps lie between, of fewer than a hundred all.
    pub low: u64,
    /// The 99th percentile.
    pub high: u64,
}

/// The arguments: 1, 2 and 5 of each power of ten from 1 ns to 1 s.
#[must_use]
pub fn arguments() -> Vec<u64> {
    let powers = std::iter::successors(Some(1_u64), |power| Some(power * 10));
    let all = powers.flat_map(|power| [1, 2, 5].map(|digit| digit * power));
    all.take_while(|&argument| argument <= SECOND_NANOS)
        .collect()
}

/// Sleeps with each of these arguments; also the CPU on which that was.
///
/// # Errors
/// [`RunError`] without the right to SCHED_FIFO, or if a system call fails.
pub fn measure(arguments: &[u64]) -> Result<(usize, Vec<Sleep>), RunError> {
    let cpu = cpu_for(&Rights::probe(), PRIORITY, None)?;
    let own = arguments.to_vec();
    // A thread of its own, so that the caller's class stays what it is.
    let slept = measured(thread::spawn(move || {
        enter_real_time(Processor(cpu), i32::from(PRIORITY))?;
        let slept = passes(&own);
        sched::set_other(sched::own_tid())?;
        Ok(slept)
    }));
    let slept = slept.map_err(system("measure how long threads sleep"))?;
    let each = arguments.iter().zip(slept);
    let each = each.filter_map(|(&argument, slept)| of(argument, slept));
    Ok((cpu, each.collect()))
}

/// How long each sleep took, by argument.
fn passes(arguments: &[u64]) -> Vec<Vec<u64>> {
    let mut slept: Vec<Vec<u64>> = arguments
        .iter()
        .map(|&argument| Vec::with_capacity(usize::try_from(PASSES * times(argument)).unwrap_or(0)))
        .collect();
    for _ in 0..PASSES {
        for (&argument, slept) in arguments.iter().zip(&mut slept) {
            for _ in 0..times(argument) {
                let before = monotonic_nanos();
                sleep_for(argument);
                slept.push(monotonic_nanos().saturating_sub(before));
            }
        }
    }
    slept
}

/// How often an argument is slept in a pass.
fn times(argument: u64) -> u64 {
    (PASS_NANOS / argument.max(1)).clamp(1, SLEEPS_MAX)
}

/// `None` of none.
fn of(argument: u64, mut slept: Vec<u64>) -> Option<Sleep> {
    slept.sort_unstable();
    let count = slept.len() as u64;
    let sum = slept
        .iter()
        .fold(0_u64, |sum, &one| sum.saturating_add(one));
    Some(Sleep {
        argument,
        count,
        mean: sum.div_ceil(count.max(1)),
        median: percentile(&slept, 500)?,
        low: percentile(&slept, 10)?,
        high: percentile(&slept, 990)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_go_from_a_nanosecond_to_a_second_and_take_a_bounded_time() {
        let arguments = arguments();
        assert_eq!(arguments.len(), 28);
        assert_eq!(arguments[..4], [1, 2, 5, 10]);
        assert_eq!(arguments[27], SECOND_NANOS);
        let asked: u64 = arguments.iter().map(|it| PASSES * times(*it) * it).sum();
        assert!(asked < 15 * SECOND_NANOS, "{asked}");
        assert_eq!([1, 1_000_000, SECOND_NANOS].map(times), [200, 100, 1]);
    }

    #[test]
    fn ninety_eight_percent_lie_between_the_first_and_the_last_percentile() {
        let slept: Vec<u64> = (1..=200).rev().collect();
        let found = of(7, slept).unwrap();
        let expected = Sleep {
            argument: 7,
            count: 200,
            mean: 101,
            median: 100,
            low: 2,
            high: 198,
        };
        assert_eq!(found, expected);
        let few = of(7, vec![9, 8, 30]).unwrap();
        assert_eq!((few.low, few.median, few.high), (8, 9, 30));
        assert_eq!(of(7, Vec::new()), None);
    }
}
