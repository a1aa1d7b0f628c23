//! `amc-max`: the search over change instants against all integer instants.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail loudly and say how much it has seen"
)]

use crate::common;

use common::{Random, problem, task};
use vestal_analysis::order::priorities_of;
use vestal_analysis::schedulability::amc_max;
use vestal_analysis::schedulability::amc_max::oracle::{
    greatest_assign, greatest_passes, greatest_response,
};
use vestal_analysis::{Decision, Problem, Reason, Scratch, Verdict, find};
use vestal_core::{Duration, Level, Task, TaskId};

fn ns(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// Enumerated and brute-force value of the last task below all others at its own level.
fn both(levels: usize, tasks: Vec<Task>, limit: u64) -> [Option<Duration>; 2] {
    let last = TaskId(u16::try_from(tasks.len() - 1).unwrap());
    let more_urgent: Vec<TaskId> = (0..last.0).map(TaskId).collect();
    let level = tasks[last.index()].criticality;
    let set = problem(levels, tasks);
    [
        amc_max::response(&set, last, &more_urgent, level, ns(limit)),
        greatest_response(set.tasks(), last, &more_urgent, level, ns(limit)),
    ]
}

/// Baruah, Burns and Davis's bound for the set of Huang, Gill and Lu (TECS 2014, section 3.1):
/// 64 where `amc-rtb` has 90.
#[test]
fn the_three_task_example_gives_64() {
    let set = problem(
        2,
        vec![
            task(0, 2, 2, &[1]),
            task(1, 10, 10, &[1, 5]),
            task(1, 100, 100, &[20, 20]),
        ],
    );
    let outcome = find("amc-max", None).unwrap().analyse(&set);
    assert_eq!(outcome.verdict, Verdict::Schedulable);
    assert_eq!(outcome.tasks[2].responses, [Some(ns(50)), Some(ns(64))]);
    let rtb = find("amc-rtb", None).unwrap().analyse(&set);
    assert_eq!(rtb.tasks[2].responses, [Some(ns(50)), Some(ns(90))]);
    assert_eq!(outcome.parameters, rtb.parameters);
    let tasks = set.tasks().to_vec();
    assert_eq!(both(2, tasks, 100), [Some(ns(64)), Some(ns(64))]);
}

/// The maximum is at s_2 = s_1 + (T - D) + n T + 1: an enumeration without these points has 22. And
/// 24 is reached: releases of t1 at 0 and 5, of t2 at 5 and 15 and of t3 at 0 leave t3 with 14 of
/// its 15 at 22.
#[test]
fn three_levels_need_the_instants_of_upgraded_jobs() {
    let tasks = vec![
        task(0, 5, 3, &[1]),
        task(1, 10, 5, &[1, 3]),
        task(2, 24, 22, &[9, 11, 15]),
    ];
    assert_eq!(both(3, tasks, 40), [Some(ns(24)), Some(ns(24))]);
}

/// The same where every interfering deadline equals its period; 14 without these points.
#[test]
fn three_levels_need_them_with_implicit_deadlines_too() {
    let tasks = vec![
        task(1, 15, 15, &[3, 3]),
        task(0, 7, 7, &[1]),
        task(1, 7, 7, &[1, 2]),
        task(2, 31, 14, &[5, 5, 6]),
    ];
    assert_eq!(both(3, tasks, 31), [Some(ns(15)), Some(ns(15))]);
}

/// Interfering tasks of short periods and a longer one of the highest level, execution times such
/// that its response ends near its deadline and several of the changes fall into it.
fn random_stack(random: &mut Random, levels: u64, longest: u64, implicit: bool) -> Vec<Task> {
    let count = random.between(2, 4);
    (1..=count)
        .map(|position| {
            let last = position == count;
            let (criticality, period, share) = if last {
                let period = random.between(longest * 2 / 3, longest);
                (levels - 1, period, 4)
            } else {
                let period = random.between(3, longest / 3);
                (random.between(0, levels - 1), period, 3 * (count - 1))
            };
            let deadline = if implicit {
                period
            } else {
                random.between(period.div_ceil(2), period)
            };
            let smallest = u64::from(!random.once_in(8));
            let mut cost = smallest + random.between(0, period / share);
            let wcet: Vec<u64> = (0..=criticality)
                .map(|level| {
                    if level > 0 && !random.once_in(4) {
                        cost += random.between(1, (period / share).max(1));
                    }
                    cost.clamp(u64::from(level == criticality), deadline)
                })
                .collect();
            task(u8::try_from(criticality).unwrap(), period, deadline, &wcet)
        })
        .collect()
}

/// Values at every level of every task below all others, up to and beyond its deadline.
fn compare_values(levels: u64, longest: u64, implicit: bool, sets: u32, seed: u64) {
    let mut random = Random::new(seed);
    let (mut values, mut beyond, mut unbounded, mut below_simple) = (0, 0, 0, 0);
    for _ in 0..sets {
        let tasks = random_stack(&mut random, levels, longest, implicit);
        let count = u16::try_from(tasks.len()).unwrap();
        let set = problem(usize::try_from(levels).unwrap(), tasks);
        for id in (0..count).map(TaskId) {
            let others: Vec<TaskId> = (0..count).map(TaskId).filter(|&o| o != id).collect();
            let this = &set.tasks()[id.index()];
            for level in this.criticality.up_to_self() {
                let limit = this.deadline.saturating_add(ns(longest / 2));
                let fast = amc_max::response(&set, id, &others, level, limit);
                let slow = greatest_response(set.tasks(), id, &others, level, limit);
                assert_eq!(fast, slow, "{id:?} at {level:?} of {:?}", set.tasks());
                match slow {
                    Some(value) if value > this.deadline => beyond += 1,
                    Some(value) => {
                        values += 1;
                        let simple = vestal_analysis::oracle::response(
                            set.tasks(),
                            vestal_analysis::oracle::Formula::Adaptive,
                            id,
                            &others,
                            level,
                        );
                        // No value is above the one of amc-rtb.
                        assert!(simple.is_none_or(|simple| value <= simple));
                        below_simple += u32::from(simple != Some(value));
                    }
                    None => unbounded += 1,
                }
            }
        }
    }
    let seen = [values, beyond, unbounded, below_simple];
    println!("{levels} levels: within, beyond, unbounded, below amc-rtb: {seen:?}");
    assert!(seen[..3].iter().all(|&count| count > sets / 10), "{seen:?}");
    assert!(below_simple > 3, "{below_simple}");
}

#[test]
fn two_levels_equal_all_integer_instants() {
    compare_values(2, 30, true, 4000, 1);
    compare_values(2, 30, false, 4000, 2);
}

#[test]
fn three_levels_equal_all_integer_instants() {
    compare_values(3, 24, true, 3000, 3);
    compare_values(3, 24, false, 3000, 4);
}

#[test]
fn four_levels_equal_all_integer_instants() {
    compare_values(4, 20, true, 2000, 5);
    compare_values(4, 20, false, 2000, 6);
}

fn small_set(random: &mut Random) -> (usize, Vec<Task>) {
    let levels = random.between(2, 4);
    let implicit = random.once_in(2);
    let longest = if levels == 4 { 14 } else { 20 };
    (
        usize::try_from(levels).unwrap(),
        random_stack(random, levels, longest, implicit),
    )
}

/// The values that an outcome reports are the greatest ones, for every task of a given order.
fn order_equals_the_twin(set: &Problem, order: &[TaskId]) -> bool {
    let outcome = find("amc-max", None).unwrap().analyse(set);
    for (position, &id) in order.iter().enumerate() {
        let this = &set.tasks()[id.index()];
        for (level, found) in (0..).map(Level).zip(&outcome.tasks[id.index()].responses) {
            let slow = greatest_response(set.tasks(), id, &order[..position], level, this.deadline);
            assert_eq!(
                *found,
                slow,
                "{id:?} {level:?} in {order:?} {:?}",
                set.tasks()
            );
        }
    }
    outcome.verdict == Verdict::Schedulable
}

/// Verdict of the pruned search with reduced candidates, of the unpruned one with all candidates,
/// and of the orders: given ones and the assigned one.
#[test]
fn pruning_and_reduction_change_no_verdict() {
    let mut random = Random::new(7);
    let mut scratch = Scratch::default();
    let test = find("amc-max", None).unwrap();
    let (mut total, mut accepted, mut given_accepted, mut beyond_simple) = (0, 0, 0, 0);
    for _ in 0..4000 {
        let (levels, tasks) = small_set(&mut random);
        let free = problem(levels, tasks);
        let full = greatest_assign(free.tasks());
        let outcome = test.analyse(&free);
        let passes = outcome.verdict == Verdict::Schedulable;
        assert_eq!(passes, full.is_some(), "{:?}", free.tasks());
        assert_eq!(
            passes,
            test.accepts(&free, &mut scratch),
            "{:?}",
            free.tasks()
        );
        let simple = find("amc-rtb", None).unwrap().analyse(&free);
        if simple.verdict == Verdict::Schedulable {
            assert_eq!(outcome.parameters, simple.parameters);
            assert!(passes);
        } else {
            beyond_simple += u32::from(passes);
        }
        if passes {
            let priorities = outcome.parameters.priorities.clone().unwrap();
            let mut order: Vec<TaskId> = (0..).map(TaskId).take(priorities.len()).collect();
            order.sort_by_key(|id| std::cmp::Reverse(priorities[id.index()]));
            let given = free.clone().with_priorities(priorities).unwrap();
            assert!(order_equals_the_twin(&given, &order));
            assert_eq!(test.analyse(&given), outcome);
        }
        let order: Vec<TaskId> = random
            .permutation(free.tasks().len())
            .into_iter()
            .map(|index| TaskId(u16::try_from(index).unwrap()))
            .collect();
        let given = free
            .clone()
            .with_priorities(priorities_of(&order, order.len()))
            .unwrap();
        let slow = order
            .iter()
            .enumerate()
            .all(|(position, &id)| greatest_passes(given.tasks(), id, &order[..position]));
        assert_eq!(order_equals_the_twin(&given, &order), slow);
        assert_eq!(test.accepts(&given, &mut scratch), slow);
        total += 1;
        accepted += u32::from(passes);
        given_accepted += u32::from(slow);
    }
    println!(
        "{total} sets: {accepted} accepted, {beyond_simple} of them not by amc-rtb; {given_accepted} in a given order"
    );
    assert!(accepted > total / 10 && accepted < total * 9 / 10);
    assert!(beyond_simple > 5 && given_accepted > total / 20);
}

/// On given priorities and through Audsley's algorithm, for any number of levels.
#[test]
fn amc_rtb_implies_amc_max() {
    let mut random = Random::new(8);
    let mut scratch = Scratch::default();
    let [simple, finer] = ["amc-rtb", "amc-max"].map(|name| find(name, None).unwrap());
    let mut only_finer = [0; 2];
    for _ in 0..20_000 {
        let (levels, tasks) = if random.once_in(2) {
            common::random_set(&mut random)
        } else {
            let levels = random.between(2, 4);
            let longest = random.between(20, 200);
            let implicit = random.once_in(2);
            let tasks = random_stack(&mut random, levels, longest, implicit);
            (usize::try_from(levels).unwrap(), tasks)
        };
        let given: Vec<u32> = random
            .permutation(tasks.len())
            .into_iter()
            .map(|p| u32::try_from(p).unwrap())
            .collect();
        let free = problem(levels, tasks);
        let fixed = free.clone().with_priorities(given).unwrap();
        for (set, count) in [free, fixed].iter().zip(&mut only_finer) {
            let [rtb, max] = [simple, finer].map(|test| test.accepts(set, &mut scratch));
            assert!(!rtb || max, "{:?} {:?}", set.tasks(), set.priorities());
            *count += u32::from(max && !rtb);
        }
    }
    println!("only amc-max accepts (free, fixed): {only_finer:?}");
    assert!(only_finer.iter().all(|&count| count > 3), "{only_finer:?}");
}

/// A demand of 2^62 ns and more neither panics nor wraps, and a set that would need an
/// astronomic search reaches its limit, which is the reason.
#[test]
fn enormous_numbers_and_searches_end() {
    let long = 1 << 62;
    let huge = problem(
        3,
        vec![
            task(0, long, long, &[long / 4]),
            task(1, long, long, &[long / 4, long / 2 + 1]),
            task(2, long, long, &[long / 4, long / 2, long]),
        ],
    );
    let outcome = find("amc-max", None).unwrap().analyse(&huge);
    assert_eq!(outcome.verdict, Verdict::NotProven);

    // The third task has 2^34 ns, in which the first releases a job every 10 ns. `amc-rtb` refuses,
    // because it charges all jobs of the second task 20 ns and those of the first until the end.
    let part = (1 << 34) / 100 * 47;
    let short = problem(
        2,
        vec![
            task(0, 10, 10, &[1]),
            task(1, 40, 40, &[2, 20]),
            task(1, 1 << 34, 1 << 34, &[part, part]),
        ],
    );
    let test = find("amc-max", None).unwrap();
    let given = short.with_priorities(vec![3, 2, 1]).unwrap();
    let outcome = test.analyse(&given);
    assert_eq!(outcome.verdict, Verdict::NotProven);
    assert!(matches!(outcome.why, Some(Reason::SearchLimit { .. })));
    let asked = test.decides(&given, &mut Scratch::default());
    assert_eq!(asked, Decision::Undecided);
}

/// Up to 20 tasks of milliseconds to a second, counted in nanoseconds, near the border.
fn set_of_real_size(random: &mut Random, levels: u64) -> Problem {
    let count = random.between(8, 20);
    // Execution times grow by about 30 % a level.
    let percent = random.between(100 - 8 * levels, 120 - 8 * levels);
    let weights: Vec<u64> = (0..count).map(|_| random.between(1, 1000)).collect();
    let total: u64 = weights.iter().sum();
    let tasks = weights.iter().map(|weight| {
        let scale =
            [1_000_000, 10_000_000, 100_000_000][usize::try_from(random.between(0, 2)).unwrap()];
        let period = scale * random.between(1000, 9999) / 1000;
        let deadline = if random.once_in(2) {
            period
        } else {
            random.between(period * 3 / 4, period)
        };
        let criticality = random.between(0, levels - 1);
        let mut cost = (period / 100 * weight * percent / total).max(1);
        let wcet: Vec<u64> = (0..=criticality)
            .map(|level| {
                if level > 0 {
                    cost = (cost + cost * random.between(1, 60) / 100).min(deadline);
                }
                cost.min(deadline)
            })
            .collect();
        task(u8::try_from(criticality).unwrap(), period, deadline, &wcet)
    });
    problem(usize::try_from(levels).unwrap(), tasks.collect())
}

/// The limit is for pathological sets only, and the verdicts of both ways to ask agree.
#[test]
fn sets_of_real_size_are_decided() {
    let mut random = Random::new(9);
    let mut scratch = Scratch::default();
    let test = find("amc-max", None).unwrap();
    for levels in 2..=5 {
        let (mut accepted, mut beyond_simple) = (0, 0);
        for _ in 0..60 {
            let set = set_of_real_size(&mut random, levels);
            let outcome = test.analyse(&set);
            let undecided = matches!(outcome.why, Some(Reason::SearchLimit { .. }));
            assert!(!undecided, "{:?}", set.tasks());
            let passes = outcome.verdict == Verdict::Schedulable;
            assert_eq!(passes, test.accepts(&set, &mut scratch));
            accepted += u32::from(passes);
            let simple = find("amc-rtb", None).unwrap().accepts(&set, &mut scratch);
            beyond_simple += u32::from(passes && !simple);
        }
        println!("{levels} levels: {accepted} of 60 accepted, {beyond_simple} not by amc-rtb");
        assert!(accepted > 6 && accepted < 54);
    }
}
