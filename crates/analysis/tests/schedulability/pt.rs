//! Period transformation: printed numbers, the slow twins, and the steps of its proof.

use crate::common;

use common::{Random, problem, random_set, task};
use std::cmp::Reverse;
use vestal_analysis::schedulability::pt;
use vestal_analysis::{Kind, Outcome, Parameters, Problem, Scratch, Verdict, find};
use vestal_core::{Duration, Level, SliceCount, Task, TaskId};

fn ns(value: u64) -> Option<Duration> {
    Some(Duration::from_nanos(value))
}

fn analyse(variant: Option<&str>, problem: &Problem) -> Outcome {
    find("pt", variant).unwrap().analyse(problem)
}

fn accepts(variant: Option<&str>, problem: &Problem, scratch: &mut Scratch) -> bool {
    find("pt", variant).unwrap().accepts(problem, scratch)
}

/// tau_1: T 4, C 1, level 0. tau_2: T 15, C 3, level 1, hence ceil(15 / 4) slices by the rule; the
/// worked numbers are for three.
fn example() -> Problem {
    problem(2, vec![task(0, 4, 4, &[1]), task(1, 15, 15, &[3])])
}

#[test]
fn three_slices_take_12_and_the_first_of_them_2() {
    let tasks = example().tasks().to_vec();
    let counts = [1, 3].map(|count| SliceCount::new(count, &tasks[1]).unwrap());
    let given = example()
        .with(&Parameters {
            slices: Some(counts.to_vec()),
            ..Parameters::default()
        })
        .unwrap()
        .with_priorities(vec![2, 1])
        .unwrap();
    let found = analyse(None, &given);
    assert_eq!(
        (found.verdict, found.kind),
        (Verdict::Schedulable, Kind::Sufficient)
    );
    assert_eq!(found.tasks[1].responses[1], ns(12));
    assert_eq!(found.parameters.slices.as_deref(), Some(&counts[..]));
    let printed = analyse(Some("printed"), &given);
    assert_eq!(
        (printed.verdict, printed.kind),
        (Verdict::NotProven, Kind::Unsafe)
    );
    assert_eq!(printed.claim, Some(Verdict::Schedulable));
    assert_eq!(printed.tasks[1].responses[1], ns(2));
}

/// With a deadline of 11 the whole job is late, and the value as printed does not see it.
#[test]
fn the_first_slice_says_nothing_of_the_job() {
    let tasks = vec![task(0, 4, 4, &[1]), task(1, 15, 11, &[3])];
    let counts = [1, 3].map(|count| SliceCount::new(count, &tasks[1]).unwrap());
    let set = problem(2, tasks)
        .with(&Parameters {
            slices: Some(counts.to_vec()),
            ..Parameters::default()
        })
        .unwrap();
    let set = set.with_priorities(vec![2, 1]).unwrap();
    let mut scratch = Scratch::default();
    assert!(!accepts(None, &set, &mut scratch));
    assert!(accepts(Some("printed"), &set, &mut scratch));
    let late = pt::oracle::sliced_schedule(
        set.tasks(),
        &[1, 3],
        TaskId(1),
        &[TaskId(0)],
        Level(1),
        10,
        100,
    );
    assert_eq!(late, Some(12));
}

#[test]
fn the_rule_makes_the_order_of_slice_periods_one_of_criticality() {
    // 15 / 4 is cut into slices of at most 4: four of 3.75. They go before tau_1.
    let found = analyse(None, &example());
    let counts = found.parameters.slices.unwrap();
    assert_eq!([counts[0].get(), counts[1].get()], [1, 4]);
    assert_eq!(found.parameters.priorities, Some(vec![1, 2]));
    // Equal slice periods: the more critical one goes first.
    let equal = problem(2, vec![task(0, 4, 4, &[1]), task(1, 8, 8, &[2])]);
    let found = analyse(None, &equal);
    assert_eq!(found.parameters.slices.unwrap()[1].get(), 2);
    assert_eq!(found.parameters.priorities, Some(vec![1, 2]));
}

#[test]
fn periods_too_short_to_be_divided_are_outside_the_test() {
    let millis = 1_000_000;
    let set = problem(
        2,
        vec![
            task(0, 1, 1, &[1]),
            task(1, 2_000 * millis, 2_000 * millis, &[5]),
        ],
    );
    let found = analyse(None, &set);
    let why = found.why.unwrap().to_string();
    assert!(
        why.contains("task 1") && why.contains("too many slices"),
        "{why}"
    );
    assert!(!accepts(None, &set, &mut Scratch::default()));
}

fn order_of(tasks: &[Task], counts: &[u64]) -> Vec<TaskId> {
    let mut order: Vec<TaskId> = (0..).map(TaskId).take(tasks.len()).collect();
    // T / n as a fraction of a common multiple of all n.
    let common: u64 = counts.iter().product();
    order.sort_by_key(|id| {
        let i = id.index();
        let period = tasks[i].period.as_nanos() * (common / counts[i]);
        (period, Reverse(tasks[i].criticality), *id)
    });
    order
}

/// Slices drawn at random, not dividing anything, or those of the rule.
fn draw(random: &mut Random) -> (Problem, Vec<u64>) {
    loop {
        let (levels, tasks) = random_set(random);
        let counts: Vec<u64> = if random.once_in(2) {
            pt::oracle::slices_by_rule(&tasks)
        } else {
            let most = |task: &Task| task.period.as_nanos().min(7);
            tasks
                .iter()
                .map(|task| random.between(1, most(task)))
                .collect()
        };
        let pairs = tasks.iter().zip(&counts);
        let slices: Option<Vec<_>> = pairs
            .map(|(task, &count)| SliceCount::new(u32::try_from(count).unwrap(), task))
            .collect();
        if let Some(slices) = slices {
            let set = problem(levels, tasks)
                .with(&Parameters {
                    slices: Some(slices),
                    ..Parameters::default()
                })
                .unwrap();
            return (set, counts);
        }
    }
}

#[test]
fn response_times_are_those_of_the_slow_twin_and_the_fast_path_decides_alike() {
    let mut random = Random::new(3);
    let mut scratch = Scratch::default();
    let (mut accepted, mut total) = (0, 0);
    for _ in 0..6_000 {
        let (set, counts) = draw(&mut random);
        let (tasks, order) = (set.tasks(), order_of(set.tasks(), &counts));
        for variant in [None, Some("printed"), Some("servers")] {
            let found = analyse(variant, &set);
            let twin = match variant {
                None => pt::oracle::sliced_response,
                Some("printed") => pt::oracle::first_slice_response,
                Some(_) => pt::oracle::server_response,
            };
            let mut expected = true;
            for (position, &id) in order.iter().enumerate() {
                let this = &tasks[id.index()];
                expected &= !this.own_wcet().exceeds(this.deadline);
                for level in this.criticality.up_to_self() {
                    let slow = twin(tasks, &counts, id, &order[..position], level);
                    let fast = found.tasks[id.index()].responses[level.index()];
                    assert_eq!(
                        fast, slow,
                        "{variant:?} {id:?} at {level:?}, {counts:?} {tasks:?}"
                    );
                    if slow.is_none() {
                        expected = false;
                        break;
                    }
                }
            }
            assert_eq!(
                found.why.is_none(),
                expected,
                "{variant:?} {counts:?} {tasks:?}"
            );
            assert_eq!(
                accepts(variant, &set, &mut scratch),
                expected,
                "{variant:?} {counts:?} {tasks:?}"
            );
            if variant.is_none() {
                total += 1;
                accepted += u32::from(expected);
            }
        }
    }
    assert!(
        accepted > total / 20 && accepted < total * 19 / 20,
        "{accepted} of {total}"
    );
}

#[test]
fn the_rule_is_the_one_of_the_slow_twin() {
    let mut random = Random::new(4);
    for _ in 0..3_000 {
        let (levels, tasks) = random_set(&mut random);
        let expected = pt::oracle::slices_by_rule(&tasks);
        let found = analyse(None, &problem(levels, tasks.clone()))
            .parameters
            .slices;
        let Some(found) = found else {
            continue;
        };
        let found: Vec<u64> = found.iter().map(|count| u64::from(count.get())).collect();
        assert_eq!(found, expected, "{tasks:?}");
    }
}

/// The run of the proof, executed: the more urgent tasks come together with one of the slices. It
/// never exceeds the bound, and reaches it but for roundings.
#[test]
fn executed_slices_keep_to_the_bound_and_nearly_always_reach_it() {
    let mut random = Random::new(5);
    let (mut reached, mut exact, mut total) = (0, 0, 0);
    while total < 4_000 {
        let (set, counts) = draw(&mut random);
        let (tasks, order) = (set.tasks(), order_of(set.tasks(), &counts));
        let found = analyse(None, &set);
        if found.why.is_some() {
            continue;
        }
        for (position, &id) in order.iter().enumerate() {
            let this = &tasks[id.index()];
            let (period, count) = (this.period.as_nanos(), counts[id.index()]);
            for level in this.criticality.up_to_self() {
                if this.wcet.at(level).is_zero() {
                    continue;
                }
                let bound = found.tasks[id.index()].responses[level.index()].unwrap();
                let runs = (0..count).map(|slice| {
                    let others_at = slice * period / count;
                    pt::oracle::sliced_schedule(
                        tasks,
                        &counts,
                        id,
                        &order[..position],
                        level,
                        others_at,
                        4 * period,
                    )
                });
                let longest = runs.map(Option::unwrap).max().unwrap();
                assert!(
                    longest <= bound.as_nanos(),
                    "{id:?} {level:?} {counts:?} {tasks:?}"
                );
                let divides = period % count == 0 && this.own_wcet().as_nanos() % count == 0;
                let reaches = longest == bound.as_nanos();
                assert!(reaches || !divides, "{id:?} {level:?} {counts:?} {tasks:?}");
                total += 1;
                reached += u32::from(reaches);
                exact += u32::from(divides && count > 1);
            }
        }
    }
    assert!(reached * 100 >= total * 97, "{reached} of {total}");
    assert!(exact > 100, "{exact}");
}

/// g(a + b) <= g(a) + g(b), on which the proof and the fast path rest.
#[test]
fn what_slices_demand_is_subadditive() {
    for period in 1..=12 {
        for whole in 1..=period {
            for cost in 1..=whole {
                let this = task(1, period, period, &[cost, whole]);
                for count in 1..=period {
                    let g = |end| pt::oracle::sliced_demand(&this, count, Level(0), end);
                    let values: Vec<u64> = (0..=3 * period).map(g).collect();
                    for a in 0..values.len() {
                        for b in 0..values.len() - a {
                            assert!(values[a + b] <= values[a] + values[b], "{this:?} {count}");
                        }
                    }
                }
            }
        }
    }
}

/// One slice for each job is static mixed criticality.
#[test]
fn jobs_in_one_piece_have_the_response_times_of_smc() {
    let mut random = Random::new(6);
    for _ in 0..2_000 {
        let (levels, tasks) = random_set(&mut random);
        let order = random.permutation(tasks.len());
        let priorities = order
            .iter()
            .map(|&position| u32::try_from(position + 1).unwrap());
        let set = problem(levels, tasks)
            .with_priorities(priorities.collect())
            .unwrap();
        let whole = vec![SliceCount::ONE; set.tasks().len()];
        let found = analyse(
            None,
            &set.clone()
                .with(&Parameters {
                    slices: Some(whole),
                    ..Parameters::default()
                })
                .unwrap(),
        );
        let smc = find("smc", None).unwrap().analyse(&set);
        assert_eq!(found.tasks, smc.tasks, "{set:?}");
    }
}
