//! The positive controls really are wrong, and wrong only where they say.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail loudly and say how much it has seen"
)]

use crate::common;

use common::run::{Order, misses};
use common::{Random, problem, random_set, task};
use vestal_analysis::oracle::{Formula, synchronous_response};
use vestal_analysis::{Kind, Problem, Scratch, Test, Verdict, controls, find, tests};
use vestal_core::{Level, Task, TaskId};

fn control(variant: &str) -> &'static Test {
    controls::tests()
        .iter()
        .find(|test| test.variant == Some(variant))
        .unwrap()
}

fn accepts(test: &Test, set: &Problem) -> bool {
    test.accepts(set, &mut Scratch::default())
}

#[test]
fn controls_are_no_tests() {
    for control in controls::tests() {
        assert_eq!(control.kind, Kind::Unsafe);
        assert!(find(control.name, control.variant).is_none());
        assert!(
            tests()
                .iter()
                .all(|test| test.to_string() != control.to_string())
        );
    }
}

/// Both tasks at one level: 2 + 2 within the first pass, but the second job of the first task comes
/// at 3 and the second task ends at 6 > 5 in a legal run.
#[test]
fn one_pass_accepts_a_set_that_misses_in_a_legal_run() {
    let set = problem(1, vec![task(0, 3, 3, &[2]), task(0, 6, 5, &[2])]);
    assert!(accepts(control("control-one-pass"), &set));
    assert!(!accepts(find("amc-rtb", None).unwrap(), &set));
    for (low, high) in [(0, 1), (1, 0)] {
        let run = synchronous_response(
            set.tasks(),
            Formula::Unenforced,
            TaskId(low),
            &[TaskId(high)],
            Level(0),
        );
        assert_eq!(run, None, "task {low} below task {high}");
    }
}

#[test]
fn unchecked_accepts_a_task_longer_than_its_deadline() {
    let set = problem(2, vec![task(1, 20, 6, &[2, 7]), task(0, 30, 30, &[4])]);
    let wrong = control("control-unchecked");
    assert!(accepts(wrong, &set));
    let outcome = wrong.analyse(&set);
    assert_eq!(outcome.verdict, Verdict::NotProven);
    assert_eq!(outcome.claim, Some(Verdict::Schedulable));
    assert!(!accepts(find("amc-rtb", None).unwrap(), &set));
}

/// On random sets: one pass is optimistic, never pessimistic; unchecked differs from the real test
/// only where some C(z) exceeds the deadline.
#[test]
fn each_control_is_wrong_only_in_the_way_it_says() {
    let mut random = Random::new(21);
    let real = find("amc-rtb", None).unwrap();
    let mut optimistic = [0; 2];
    for _ in 0..5000 {
        let (levels, tasks) = random_set(&mut random);
        let given: Vec<u32> = random
            .permutation(tasks.len())
            .into_iter()
            .map(|p| u32::try_from(p).unwrap())
            .collect();
        let free = problem(levels, tasks);
        let fixed = free.clone().with_priorities(given).unwrap();
        for set in [free, fixed] {
            let proven = accepts(real, &set);
            let long = set
                .tasks()
                .iter()
                .any(|task| task.own_wcet().exceeds(task.deadline));
            let one_pass = accepts(control("control-one-pass"), &set);
            let unchecked = accepts(control("control-unchecked"), &set);
            assert!(one_pass || !proven, "{:?}", set.tasks());
            assert!(
                unchecked == proven || (unchecked && long),
                "{:?}",
                set.tasks()
            );
            optimistic[0] += u32::from(one_pass && !proven);
            optimistic[1] += u32::from(unchecked && !proven);
            for test in controls::tests() {
                let claims = test.analyse(&set).claim == Some(Verdict::Schedulable);
                assert_eq!(claims, accepts(test, &set));
            }
        }
    }
    println!("accepted although not proven (one pass, unchecked): {optimistic:?}");
    assert!(optimistic.iter().all(|&count| count > 20), "{optimistic:?}");
}

/// What random legal runs do with the sets that a control accepts and the real test does not, and
/// with those that the real test accepts.
#[derive(Debug, Default)]
struct Refutation {
    wrongly_accepted: u32,
    /// Of the wrongly accepted ones, those for which a run with a miss was found.
    refuted: u32,
}

const RUNS: u32 = 60;

fn some_run_misses(tasks: &[Task], order: &Order<'_>, random: &mut Random) -> bool {
    (0..RUNS).any(|_| misses(tasks, order, 400, random))
}

/// Without the job under way, `amc-max` accepts more than it does, never less, and runs miss.
#[test]
fn amc_max_without_plus_one_is_refuted_by_runs() {
    let mut random = Random::new(22);
    let wrong = control("control-no-plus-one");
    let real = find("amc-max", None).unwrap();
    let mut seen = Refutation::default();
    for _ in 0..20_000 {
        let (levels, tasks) = random_set(&mut random);
        if tasks.iter().any(|task| task.wcet.at(Level(0)).is_zero()) {
            continue;
        }
        let set = problem(levels, tasks);
        let proven = accepts(real, &set);
        let claimed = accepts(wrong, &set);
        assert!(claimed || !proven, "{:?}", set.tasks());
        if proven {
            continue;
        }
        let outcome = wrong.analyse(&set);
        assert_eq!(outcome.claim == Some(Verdict::Schedulable), claimed);
        if let Some(priorities) = outcome.parameters.priorities.filter(|_| claimed) {
            seen.wrongly_accepted += 1;
            let order = Order::Priorities(&priorities);
            seen.refuted += u32::from(some_run_misses(set.tasks(), &order, &mut random));
        }
    }
    println!("without + 1: {seen:?}");
    assert!(seen.refuted > 5, "{seen:?}");
}

/// Sets of two levels and implicit deadlines near the border of `edf-vd`.
fn implicit_set(random: &mut Random) -> Vec<Task> {
    let count = random.between(2, 4);
    (0..count)
        .map(|_| {
            let period = random.between(5, 30);
            let low = random.between(1, (period * 3 / (2 * count)).max(1));
            if random.once_in(2) {
                task(0, period, period, &[low])
            } else {
                let high = (low + random.between(0, low + 3)).min(period);
                task(1, period, period, &[low, high])
            }
        })
        .collect()
}

fn refute_virtual_deadlines(variant: &str, seed: u64) -> Refutation {
    let mut random = Random::new(seed);
    let wrong = control(variant);
    let real = find("edf-vd", None).unwrap();
    let mut seen = Refutation::default();
    for _ in 0..40_000 {
        let set = problem(2, implicit_set(&mut random));
        let outcome = wrong.analyse(&set);
        let claimed = outcome.claim == Some(Verdict::Schedulable);
        assert_eq!(claimed, accepts(wrong, &set));
        let proven = real.analyse(&set);
        assert!(claimed || proven.verdict != Verdict::Schedulable);
        let deadlines = outcome.parameters.virtual_deadlines;
        if !claimed || proven.parameters.virtual_deadlines == deadlines {
            continue;
        }
        seen.wrongly_accepted += 1;
        let deadlines: Vec<u64> = deadlines.unwrap().iter().map(|d| d.as_nanos()).collect();
        let order = Order::VirtualDeadlines(&deadlines);
        seen.refuted += u32::from(some_run_misses(set.tasks(), &order, &mut random));
    }
    println!("{variant}: {seen:?}");
    seen
}

#[test]
fn edf_vd_without_the_guard_is_refuted_by_runs() {
    let seen = refute_virtual_deadlines("control-no-guard", 23);
    assert!(seen.refuted > 100, "{seen:?}");
}

/// a = 2/3, b = 3/16, c = 9/16, so x <= 21/32; the control takes 3/4. Both tasks are then due at 12,
/// the first goes first until 8, the second overruns at 11 and ends at 17 > 16. With the real
/// virtual deadline 10 it ends at 9.
#[test]
fn a_factor_rounded_up_is_refuted_by_runs() {
    let tasks = vec![task(0, 12, 12, &[8]), task(1, 16, 16, &[3, 9])];
    let set = problem(2, tasks);
    let deadlines = |test: &Test| -> Vec<u64> {
        let deadlines = test.analyse(&set).parameters.virtual_deadlines.unwrap();
        deadlines
            .iter()
            .map(|deadline| deadline.as_nanos())
            .collect()
    };
    assert_eq!(deadlines(control("control-rounded-up")), [12, 12]);
    assert_eq!(deadlines(find("edf-vd", None).unwrap()), [12, 10]);
    let seen = refute_virtual_deadlines("control-rounded-up", 24);
    assert!(seen.refuted > 3, "{seen:?}");
}

/// A set that the campaign found. The simulator's drawings show its miss.
#[test]
fn tightening_everywhere_accepts_a_set_that_misses() {
    let tasks = vec![
        task(1, 10, 10, &[1, 4]),
        task(1, 6, 6, &[2, 2]),
        task(0, 3, 3, &[1]),
    ];
    let set = problem(2, tasks);
    let wrong = control("control-tightened-everywhere");
    assert!(accepts(wrong, &set));
    let instants = wrong.analyse(&set).parameters.zero_slack.unwrap();
    assert_eq!(instants[0].as_nanos(), 0);
    assert!(!accepts(find("zss", Some("tightened")).unwrap(), &set));
}
