//! Task sets by recipe and seed.

use vestal_analysis::Problem;
use vestal_core::{Duration, Level, LevelSet, Service, Task, Wcet};
use vestal_testkit::Random;

const SEED: u64 = 2026;
const TASKS: u32 = 20;
/// Of all tasks together at level 0.
const UTILIZATION: f64 = 0.8;
const SHORTEST_NS: f64 = 10e6;
const LONGEST_NS: f64 = 1000e6;

/// The `index`-th set: UUniFast (Bini and Buttazzo, Real-Time Systems 30, 2005) over 20 tasks with
/// U = 0.8 at level 0, T log-uniform in 10 to 1000 ms, D = T, each task HI with probability 1/2,
/// C(HI) = 2 C(LO). With one level all tasks have C(LO).
pub(crate) fn problem(index: u64, levels: usize) -> Problem {
    let mut random = Random::new(
        SEED.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ index.wrapping_mul(0xD1B5_4A32_D192_ED03),
    );
    let mut left = UTILIZATION;
    let tasks = (1..=TASKS)
        .rev()
        .map(|remaining| {
            let share = if remaining == 1 {
                left
            } else {
                let rest = left * libm::pow(unit(&mut random), 1.0 / f64::from(remaining - 1));
                let share = left - rest;
                left = rest;
                share
            };
            let exponent = unit(&mut random) * libm::log(LONGEST_NS / SHORTEST_NS);
            let period = nanos(SHORTEST_NS * libm::exp(exponent));
            let high = unit(&mut random) < 0.5 && levels > 1;
            task(period, nanos(share * period as f64).max(1), high)
        })
        .collect();
    Problem::new(tasks, LevelSet::new(levels).unwrap()).unwrap()
}

fn task(period: u64, low: u64, high: bool) -> Task {
    let factor = if high { 2 } else { 1 };
    let wcet = Wcet::new(&[low, factor * low].map(Service::from_nanos)).unwrap();
    let period = Duration::from_nanos(period);
    Task::new(Level(u8::from(high)), period, period, wcet).unwrap()
}

fn nanos(value: f64) -> u64 {
    value as u64
}

/// A number in (0, 1).
fn unit(random: &mut Random) -> f64 {
    ((random.next() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}
