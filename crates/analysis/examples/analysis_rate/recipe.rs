//! Task sets by recipe and seed.

use vestal_analysis::Problem;
use vestal_core::{Duration, Level, LevelSet, Service, Task, Wcet};
use vestal_testkit::Random;

const TASKS: u32 = 20;
const LEVELS: u64 = 4;
const CRITICALITY_FACTOR: f64 = 1.5;
/// Periods are 100 times a whole number from 1 to this, in units of a microsecond.
const PERIODS: f64 = 100.0;
const UNIT_NS: u64 = 1_000;

/// The `index`-th set of this utilisation in percent: UUniFast over 20 tasks, T = 100 x, x uniform
/// in 1..=100, D = T, z_i = i mod 4, C_i(l) = max(floor(u_i T_i), 1) below z_i and floor(1.5 C_i(0))
/// from z_i on, except for tasks of level 0.
pub(crate) fn problem(index: u64, percent: u64) -> Problem {
    problem_of(TASKS, index, percent)
}

/// The same with another number of tasks.
pub(crate) fn problem_of(count: u32, index: u64, percent: u64) -> Problem {
    let seed = (index << 8 | percent).wrapping_mul(0xD1B5_4A32_D192_ED03);
    let mut random = Random::new(seed ^ 0x9E37_79B9_7F4A_7C15);
    let mut left = percent as f64 / 100.0;
    let tasks = (0..count).map(|position| {
        let remaining = count - position;
        let share = if remaining == 1 {
            left
        } else {
            let rest = left * libm::pow(unit(&mut random), 1.0 / f64::from(remaining - 1));
            let share = left - rest;
            left = rest;
            share
        };
        let period = 100 * (1 + (unit(&mut random) * PERIODS) as u64);
        let level = u64::from(position) % LEVELS;
        task(level as u8, period, ((share * period as f64) as u64).max(1))
    });
    let levels = LevelSet::new(LEVELS as usize).unwrap();
    Problem::new(tasks.collect(), levels).unwrap()
}

fn task(level: u8, period: u64, low: u64) -> Task {
    let high = match level {
        0 => low,
        _ => (low as f64 * CRITICALITY_FACTOR) as u64,
    };
    let wcet: Vec<Service> = (0..=level)
        .map(|l| if l < level { low } else { high })
        .map(|units| Service::from_nanos(units * UNIT_NS))
        .collect();
    let period = Duration::from_nanos(period * UNIT_NS);
    Task::new(Level(level), period, period, Wcet::new(&wcet).unwrap()).unwrap()
}

/// A number in (0, 1).
fn unit(random: &mut Random) -> f64 {
    ((random.next() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}
