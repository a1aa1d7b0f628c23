//! Task sets for the tests of this crate: written by hand, and random with a seed.
#![allow(dead_code, reason = "each test file uses its part of this module")]

pub(crate) mod run;

use vestal_analysis::Problem;
use vestal_core::{Duration, Level, LevelSet, Service, Task, Wcet};

/// A task from its criticality, T, D and C(0), C(1), ... in nanoseconds.
pub(crate) fn task(criticality: u8, period: u64, deadline: u64, wcet: &[u64]) -> Task {
    let wcet: Vec<Service> = wcet
        .iter()
        .map(|&nanos| Service::from_nanos(nanos))
        .collect();
    Task::new(
        Level(criticality),
        Duration::from_nanos(period),
        Duration::from_nanos(deadline),
        Wcet::new(&wcet).unwrap(),
    )
    .unwrap()
}

/// The problem of these tasks, priorities not given.
pub(crate) fn problem(levels: usize, tasks: Vec<Task>) -> Problem {
    Problem::new(tasks, LevelSet::new(levels).unwrap()).unwrap()
}

pub(crate) use vestal_testkit::Random;

/// A set of 1 to 5 tasks with 1 to 4 levels, periods 2 to 30, deadlines on both sides of half the
/// period, execution times that put the set near the border of schedulability, zero at level 0 now
/// and then, and values above the own level for some.
pub(crate) fn random_set(random: &mut Random) -> (usize, Vec<Task>) {
    let levels = random.between(1, 4);
    let count = random.between(1, 5);
    let tasks = (0..count)
        .map(|_| random_task(random, levels, count))
        .collect();
    (usize::try_from(levels).unwrap(), tasks)
}

fn random_task(random: &mut Random, levels: u64, count: u64) -> Task {
    let criticality = random.between(0, levels - 1);
    let period = random.between(2, 30);
    let deadline = if random.once_in(2) {
        period
    } else {
        random.between(period.div_ceil(2), period)
    };
    // Shares of 2/(3 count) up to the double make about one set in two fail.
    let largest = (period * 4 / (3 * count)).max(1);
    let smallest = u64::from(!random.once_in(8));
    let mut value = random.between(smallest, largest).min(deadline);
    let defined = if random.once_in(3) {
        levels
    } else {
        criticality + 1
    };
    let wcet: Vec<u64> = (0..defined)
        .map(|level| {
            if level > 0 {
                value += random.between(0, (value / 2).max(1));
            }
            if level >= criticality {
                value = value.max(1);
            }
            value
        })
        .collect();
    task(u8::try_from(criticality).unwrap(), period, deadline, &wcet)
}

/// A set of `count` tasks with three levels, periods of 1 us to 100 ms spread evenly over the
/// magnitudes, a load of 50 to 100 % at level 0, and up to half as much again for each level above.
pub(crate) fn large_set(random: &mut Random, count: u64) -> Vec<Task> {
    let percent = random.between(50, 100);
    let weights: Vec<u64> = (0..count).map(|_| random.between(1, 100)).collect();
    let total: u64 = weights.iter().sum();
    let task = |weight: &u64| {
        let magnitude = 10_u64.pow(u32::try_from(random.between(3, 7)).unwrap());
        let period = random.between(magnitude, 10 * magnitude);
        let deadline = random.between(period * 3 / 4, period);
        let criticality = random.between(0, 2);
        let mut value = (period * weight * percent / (total * 100)).max(1);
        let wcet: Vec<u64> = (0..=criticality)
            .map(|level| {
                if level > 0 {
                    value += random.between(0, value / 2);
                }
                value
            })
            .collect();
        task(u8::try_from(criticality).unwrap(), period, deadline, &wcet)
    };
    weights.iter().map(task).collect()
}
