//! What is accepted with overheads in runs in which carrying the policy out takes time.

use super::run::misses;
use super::{ALONE, NOTHING, analyse, ns};
use crate::common::run::Order;
use crate::common::{Random, problem, task};
use vestal_analysis::{Heartbeat, Overheads, Verdict, find};
use vestal_core::{Duration, Task};

/// A set of two or three tasks near the border.
fn drawn(random: &mut Random) -> Vec<Task> {
    let count = random.between(2, 3);
    let tasks = (0..count).map(|index| {
        let period = random.between(20, 100);
        let deadline = if random.once_in(2) {
            period
        } else {
            random.between(period / 2, period)
        };
        let wcet = random.between(1, (deadline * 2 / (3 * count)).max(1));
        match index == 0 || random.once_in(2) {
            true => {
                let more = random.between(0, wcet);
                task(1, period, deadline, &[wcet, wcet + more])
            }
            false => task(0, period, deadline, &[wcet]),
        }
    });
    tasks.collect()
}

/// Several costs at once.
fn mixed(random: &mut Random) -> Overheads {
    let mut cost = || ns(random.between(0, 2));
    let mixed = Overheads {
        job: cost(),
        release: cost(),
        detection: cost(),
        exhaustion: cost(),
        change: cost(),
        termination: cost(),
        ..NOTHING
    };
    if random.once_in(2) {
        return mixed;
    }
    let heartbeat = Heartbeat {
        period: ns(random.between(6, 15)),
        cost: ns(1),
        is_scheduled: false,
    };
    Overheads {
        detection: Duration::ZERO,
        // Jobs that do not execute may be found to have used up their budgets, each once.
        late: mixed.exhaustion,
        heartbeat: Some(heartbeat),
        ..mixed
    }
}

/// The priorities with which the test accepts the set with these overheads.
fn order(tasks: &[Task], overheads: Overheads) -> Option<Vec<u32>> {
    let set = problem(2, tasks.to_vec()).with_overheads(overheads);
    let outcome = find("amc-rtb", None).unwrap().analyse(&set);
    let found = outcome.parameters.priorities;
    found.filter(|_| outcome.verdict == Verdict::Schedulable)
}

/// What is accepted meets its deadlines where everything takes its time.
#[test]
fn accepted_sets_meet_their_deadlines_where_it_takes_time() {
    let mut random = Random::new(7);
    let mut seen = [0; 2];
    for _ in 0..6_000 {
        let tasks = drawn(&mut random);
        let overheads = match random.once_in(2) {
            true => ALONE[random.index(ALONE.len())](ns(random.between(1, 6))),
            false => mixed(&mut random),
        };
        let found = order(&tasks, overheads);
        seen[usize::from(found.is_some())] += 1;
        let Some(priorities) = found else {
            continue;
        };
        for _ in 0..4 {
            let by = Order::Priorities(&priorities);
            let late = misses(&tasks, &by, &overheads, (600, &mut random));
            assert!(!late, "{tasks:?} {overheads:?} {priorities:?}");
        }
    }
    assert!(seen.iter().all(|&count| count > 1_000), "{seen:?}");
}

/// The same under virtual deadlines, which are found with overheads.
#[test]
fn virtual_deadlines_are_met_where_it_takes_time() {
    let mut random = Random::new(9);
    let mut seen = [0; 2];
    for _ in 0..6_000 {
        let mut tasks = drawn(&mut random);
        tasks
            .iter_mut()
            .for_each(|task| task.deadline = task.period);
        let overheads = match random.once_in(2) {
            true => ALONE[random.index(ALONE.len())](ns(random.between(1, 6))),
            false => mixed(&mut random),
        };
        let set = problem(2, tasks.clone()).with_overheads(overheads);
        let found = analyse("edf-vd", None, &set).parameters.virtual_deadlines;
        seen[usize::from(found.is_some())] += 1;
        let Some(deadlines) = found else {
            continue;
        };
        let deadlines: Vec<u64> = deadlines.iter().map(|due| due.as_nanos()).collect();
        for _ in 0..4 {
            let by = Order::VirtualDeadlines(&deadlines);
            let late = misses(&tasks, &by, &overheads, (600, &mut random));
            assert!(!late, "{tasks:?} {overheads:?} {deadlines:?}");
        }
    }
    assert!(seen.iter().all(|&count| count > 500), "{seen:?}");
}

/// What is accepted without one of the costs does not always: each is found to be missing.
#[test]
fn refuted_whatever_cost_is_left_out() {
    let mut random = Random::new(8);
    for (number, alone) in ALONE.iter().enumerate() {
        let mut refuted = 0;
        for _ in 0..4_000 {
            let tasks = drawn(&mut random);
            let overheads = alone(ns(random.between(2, 8)));
            let with_it = order(&tasks, overheads).is_some();
            let Some(priorities) = order(&tasks, NOTHING).filter(|_| !with_it) else {
                continue;
            };
            let by = Order::Priorities(&priorities);
            let late = (0..4).any(|_| misses(&tasks, &by, &overheads, (600, &mut random)));
            refuted += u32::from(late);
        }
        assert!(refuted > 0, "cost {number}");
        println!("cost {number}: {refuted}");
    }
}
