//! The fast analyses against their slow twins, on random sets near the border.

use crate::common;

use common::{Random, problem, random_set};
use std::cmp::Reverse;
use vestal_analysis::oracle::{self, Formula};
use vestal_analysis::order::priorities_of;
use vestal_analysis::{Problem, Scratch, Test, Verdict, find};
use vestal_core::order::ClassicOrder;
use vestal_core::{Level, Task, TaskId};

const ASSIGNED: [(&str, Option<&str>, Formula); 3] = [
    ("smc", None, Formula::Enforced),
    ("smc", Some("printed"), Formula::Own),
    ("amc-rtb", None, Formula::Adaptive),
];

const ORDERED: [(&str, ClassicOrder); 3] = [
    ("rms", ClassicOrder::RateMonotonic),
    ("dms", ClassicOrder::DeadlineMonotonic),
    ("cms", ClassicOrder::CriticalityMonotonic),
];

/// Counts how often a test said yes; a campaign of which nearly all or nearly nothing passes shows
/// little.
#[derive(Default)]
struct Ratio {
    accepted: u32,
    total: u32,
}

impl Ratio {
    fn count(&mut self, accepted: bool) {
        self.accepted += u32::from(accepted);
        self.total += 1;
    }

    #[expect(
        clippy::print_stdout,
        reason = "the ratio tells a reader how much the campaign shows"
    )]
    fn is_telling(&self, what: impl std::fmt::Display) {
        let percent = 100.0 * f64::from(self.accepted) / f64::from(self.total);
        println!("{what}: {percent:.1} % of {} sets accepted", self.total);
        assert!((5.0..=95.0).contains(&percent), "{what}: {percent} %");
    }
}

fn test_of(name: &str, variant: Option<&str>) -> &'static Test {
    find(name, variant).unwrap()
}

fn random_order(random: &mut Random, count: usize) -> Vec<TaskId> {
    random
        .permutation(count)
        .into_iter()
        .map(|index| TaskId(u16::try_from(index).unwrap()))
        .collect()
}

/// The tasks by the priorities that the schedulers of these policies give them.
fn order_of(rule: ClassicOrder, tasks: &[Task]) -> Vec<TaskId> {
    let mut order: Vec<TaskId> = (0..).map(TaskId).take(tasks.len()).collect();
    order.sort_by_key(|&id| Reverse(rule.priority_of(id, tasks).unwrap()));
    order
}

fn in_order(set: &Problem, order: &[TaskId]) -> Problem {
    set.clone()
        .with_priorities(priorities_of(order, order.len()))
        .unwrap()
}

/// Compares verdict, fast path and every response time with the unit-by-unit twin.
fn compare_in_order(
    test: &Test,
    formula: Formula,
    set: &Problem,
    order: &[TaskId],
    scratch: &mut Scratch,
) -> bool {
    let tasks = set.tasks();
    let expected = oracle::order_passes(tasks, formula, order);
    let outcome = test.analyse(set);
    assert_eq!(
        outcome.verdict == Verdict::Schedulable,
        expected,
        "{test} {order:?} {tasks:?}"
    );
    assert_eq!(
        test.accepts(set, scratch),
        expected,
        "{test} {order:?} {tasks:?}"
    );
    assert_eq!(outcome.why.is_none(), expected);
    for (position, &id) in order.iter().enumerate() {
        let responses = &outcome.tasks[id.index()].responses;
        assert_eq!(responses.len(), tasks[id.index()].criticality.index() + 1);
        for (level, &found) in (0..).map(Level).zip(responses) {
            let slow = oracle::response(tasks, formula, id, &order[..position], level);
            assert_eq!(
                found, slow,
                "{test} {id:?} at {level:?} in {order:?} of {tasks:?}"
            );
            let textbook = oracle::iterated_response(tasks, formula, id, &order[..position], level);
            assert_eq!(
                slow, textbook,
                "{test} {id:?} at {level:?} in {order:?} of {tasks:?}"
            );
        }
    }
    expected
}

#[test]
fn given_priorities_get_the_values_of_the_slow_twin() {
    let mut random = Random::new(1);
    let mut scratch = Scratch::default();
    let mut ratios: [Ratio; 4] = Default::default();
    for _ in 0..4000 {
        let (levels, tasks) = random_set(&mut random);
        let order = random_order(&mut random, tasks.len());
        let set = in_order(&problem(levels, tasks), &order);
        let unenforced = [("rms", None, Formula::Unenforced)];
        for (ratio, (name, variant, formula)) in ratios
            .iter_mut()
            .zip(ASSIGNED.into_iter().chain(unenforced))
        {
            let test = test_of(name, variant);
            ratio.count(compare_in_order(test, formula, &set, &order, &mut scratch));
        }
        // Given priorities go before the rule of dms and cms, too.
        assert_eq!(
            test_of("dms", None).analyse(&set),
            test_of("rms", None).analyse(&set)
        );
        assert_eq!(
            test_of("cms", None).analyse(&set),
            test_of("rms", None).analyse(&set)
        );
    }
    for (ratio, name) in ratios.iter().zip(["smc", "smc:printed", "amc-rtb", "rms"]) {
        ratio.is_telling(format_args!("{name}, given priorities"));
    }
}

#[test]
fn the_policies_orders_get_the_values_of_the_slow_twin() {
    let mut random = Random::new(2);
    let mut scratch = Scratch::default();
    let mut ratios: [Ratio; 3] = Default::default();
    for _ in 0..3000 {
        let (levels, tasks) = random_set(&mut random);
        let set = problem(levels, tasks);
        for (ratio, (name, rule)) in ratios.iter_mut().zip(ORDERED) {
            let order = order_of(rule, set.tasks());
            let test = test_of(name, None);
            ratio.count(compare_in_order(
                test,
                Formula::Unenforced,
                &set,
                &order,
                &mut scratch,
            ));
            let priorities = test.analyse(&set).parameters.priorities;
            assert_eq!(priorities, Some(priorities_of(&order, order.len())));
        }
    }
    for (ratio, (name, _)) in ratios.iter().zip(ORDERED) {
        ratio.is_telling(name);
    }
}

#[test]
fn audsley_finds_an_order_iff_there_is_one_and_picks_what_the_unreduced_algorithm_picks() {
    let mut random = Random::new(3);
    let mut scratch = Scratch::default();
    let mut ratios: [Ratio; 3] = Default::default();
    for _ in 0..3000 {
        let (levels, tasks) = random_set(&mut random);
        let set = problem(levels, tasks);
        let tasks = set.tasks();
        for (ratio, (name, variant, formula)) in ratios.iter_mut().zip(ASSIGNED) {
            let test = test_of(name, variant);
            let outcome = test.analyse(&set);
            let accepted = outcome.verdict == Verdict::Schedulable;
            assert_eq!(
                accepted,
                oracle::some_order_passes(tasks, formula),
                "{test} {tasks:?}"
            );
            assert_eq!(
                accepted,
                test.accepts(&set, &mut scratch),
                "{test} {tasks:?}"
            );
            let full = oracle::assign(tasks, formula);
            let full_priorities = full.map(|order| priorities_of(&order, order.len()));
            assert_eq!(
                outcome.parameters.priorities, full_priorities,
                "{test} {tasks:?}"
            );
            // The response times that the assignment saw are those of the order it made.
            if let Some(priorities) = full_priorities {
                let given = set.clone().with_priorities(priorities).unwrap();
                assert_eq!(test.analyse(&given), outcome);
            }
            ratio.count(accepted);
        }
    }
    for (ratio, (name, variant, _)) in ratios.iter().zip(ASSIGNED) {
        ratio.is_telling(format_args!("{name} {variant:?}, assigned"));
    }
}

/// The legal run in the proof of exactness: it finishes exactly at the bound, or misses.
#[test]
fn the_synchronous_run_reaches_the_bound_of_the_exact_tests() {
    let mut random = Random::new(4);
    let mut ratio = Ratio::default();
    for _ in 0..3000 {
        let (levels, tasks) = random_set(&mut random);
        let order = random_order(&mut random, tasks.len());
        let set = in_order(&problem(levels, tasks), &order);
        for (name, formula) in [("rms", Formula::Unenforced), ("smc", Formula::Enforced)] {
            let outcome = test_of(name, None).analyse(&set);
            for (position, &id) in order.iter().enumerate() {
                let Task { criticality, .. } = set.tasks()[id.index()];
                let found = outcome.tasks[id.index()].responses[criticality.index()];
                let run = oracle::synchronous_response(
                    set.tasks(),
                    formula,
                    id,
                    &order[..position],
                    criticality,
                );
                assert_eq!(
                    found,
                    run,
                    "{name} {id:?} in {order:?} of {:?}",
                    set.tasks()
                );
                ratio.count(run.is_some());
            }
        }
    }
    ratio.is_telling("tasks that finish in the synchronous run");
}

/// Sets of real size: every bound of the order found, by the textbooks' loop. Periods from 1 us to
/// 100 ms, so that a window takes in thousands of jobs at once.
#[test]
fn sets_of_real_size_get_the_values_of_the_textbook_loop() {
    let mut random = Random::new(5);
    let mut scratch = Scratch::default();
    let mut ratio = Ratio::default();
    for _ in 0..300 {
        let set = problem(3, common::large_set(&mut random, 12));
        let tasks = set.tasks();
        for (name, variant, formula) in ASSIGNED {
            let test = test_of(name, variant);
            let outcome = test.analyse(&set);
            let accepted = outcome.verdict == Verdict::Schedulable;
            assert_eq!(accepted, test.accepts(&set, &mut scratch));
            assert_eq!(
                accepted,
                assignable_by_iteration(tasks, formula),
                "{test} {tasks:?}"
            );
            ratio.count(accepted);
            let Some(priorities) = outcome.parameters.priorities else {
                continue;
            };
            let mut order: Vec<TaskId> = (0..).map(TaskId).take(tasks.len()).collect();
            order.sort_by_key(|id| Reverse(priorities[id.index()]));
            for (position, &id) in order.iter().enumerate() {
                for (level, &found) in (0..).map(Level).zip(&outcome.tasks[id.index()].responses) {
                    let textbook =
                        oracle::iterated_response(tasks, formula, id, &order[..position], level);
                    assert!(found.is_some());
                    assert_eq!(
                        found, textbook,
                        "{test} {id:?} at {level:?} in {order:?} of {tasks:?}"
                    );
                }
            }
        }
    }
    ratio.is_telling("sets of real size, assigned");
}

/// Audsley's algorithm with the textbooks' loop: is there an order that passes?
fn assignable_by_iteration(tasks: &[Task], formula: Formula) -> bool {
    let mut left: Vec<TaskId> = (0..).map(TaskId).take(tasks.len()).collect();
    while !left.is_empty() {
        let fits = (0..left.len()).find(|&position| {
            let mut others = left.clone();
            let id = others.remove(position);
            let mut levels = tasks[id.index()].criticality.up_to_self();
            levels.all(|level| {
                oracle::iterated_response(tasks, formula, id, &others, level).is_some()
            })
        });
        match fits {
            Some(position) => left.remove(position),
            None => return false,
        };
    }
    true
}
