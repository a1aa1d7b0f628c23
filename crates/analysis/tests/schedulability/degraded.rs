//! `amc-rtb` of tasks that keep a degraded budget: worked by hand, against its slow twin, and beside the plain test.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use crate::common;

use common::{Random, problem, random_set, task};
use vestal_analysis::oracle::{self, Formula};
use vestal_analysis::{Overheads, Problem, Reason, Scratch, Test, Verdict, find};
use vestal_core::{Level, Service, Task, TaskId};

fn the_test() -> &'static Test {
    find("amc-rtb", None).unwrap()
}

fn keeps(budget: u64, task: Task) -> Task {
    Task {
        degraded: Some(Service::from_nanos(budget)),
        ..task
    }
}

/// R_i(L) of each task in ns.
fn bounds(set: &Problem) -> Vec<Vec<Option<u64>>> {
    let outcome = the_test().analyse(set);
    let nanos = |responses: Vec<Option<vestal_core::Duration>>| -> Vec<_> {
        let each = responses.into_iter();
        each.map(|bound| bound.map(vestal_core::Duration::as_nanos))
            .collect()
    };
    outcome
        .tasks
        .into_iter()
        .map(|task| nanos(task.responses))
        .collect()
}

/// t1 LO T 5 C 2 G 1 above t2 HI T 20 C 4/8. R_2(LO) = 4 + 2 * 2 = 8. In the run `11222112|22122` the mode rises at 8 and
/// the third job of t1 has one unit: 13 = 8 + 2 * 2 + 1 * 1. Without the budget t1 is dropped: 12. t1 itself has
/// executed its 1 unit after 1.
#[test]
fn jobs_after_the_rise_count_for_the_degraded_budget() {
    let t1 = task(0, 5, 5, &[2]);
    let t2 = task(1, 20, 20, &[4, 8]);
    let set = |t1: Task| {
        let set = problem(2, vec![t1, t2]);
        set.with_priorities(vec![2, 1]).unwrap()
    };
    let both = |t1: &[u64], t2: &[u64]| -> Vec<Vec<Option<u64>>> {
        [t1, t2]
            .map(|bounds| bounds.iter().copied().map(Some).collect())
            .to_vec()
    };
    assert_eq!(bounds(&set(keeps(1, t1))), both(&[2, 1], &[8, 13]));
    assert_eq!(bounds(&set(t1)), both(&[2], &[8, 12]));
    // All of C: as if the mode did not matter to t1. 8 + 3 * 2 = 14.
    assert_eq!(bounds(&set(keeps(2, t1))), both(&[2, 2], &[8, 14]));
    // More than C: three jobs of 3 within 17, and a fourth within 20.
    assert_eq!(bounds(&set(keeps(3, t1))), both(&[2, 3], &[8, 20]));
}

/// Found by a campaign: a job that may execute more above its level than C may still be there when the next one comes. With
/// 5 for 6 units of t4 its bound is 12, and its next job was late.
#[test]
fn a_budget_above_c_has_to_be_executed_by_the_deadline_too() {
    let tasks = |budget| {
        vec![
            task(1, 3, 2, &[1, 1]),
            keeps(1, task(0, 12, 12, &[1])),
            task(1, 15, 15, &[1, 2]),
            keeps(budget, task(0, 12, 12, &[5])),
        ]
    };
    let set = |budget| {
        let set = problem(2, tasks(budget));
        set.with_priorities(vec![4, 3, 2, 1]).unwrap()
    };
    assert_eq!(bounds(&set(5))[3], [Some(11), Some(12)]);
    assert_eq!(bounds(&set(6))[3], [Some(11), None]);
}

/// t1 HI T 10 C 2/6 above t2 LO T 10 D 9 C 4. At LO t2 takes 6. With G = 3 nine, in the run `11|1111222`; with G = 4 ten.
#[test]
fn a_degraded_task_has_to_come_to_its_budget_in_time_in_raised_modes() {
    let t1 = task(1, 10, 10, &[2, 6]);
    let t2 = |budget| keeps(budget, task(0, 10, 9, &[4]));
    let set = |budget| {
        let set = problem(2, vec![t1, t2(budget)]);
        set.with_priorities(vec![2, 1]).unwrap()
    };
    assert_eq!(bounds(&set(3))[1], [Some(6), Some(9)]);
    let outcome = the_test().analyse(&set(4));
    assert_eq!(outcome.verdict, Verdict::NotProven);
    assert!(matches!(
        outcome.why,
        Some(Reason::ResponseExceedsDeadline {
            task: TaskId(1),
            level: Level(1),
            ..
        })
    ));
    // Dropped, it has nothing to come to.
    let plain = problem(2, vec![t1, task(0, 10, 9, &[4])]);
    let plain = plain.with_priorities(vec![2, 1]).unwrap();
    assert_eq!(the_test().analyse(&plain).verdict, Verdict::Schedulable);
}

/// Equation 8: l1 LO T 4 C 2 G 1 above h HI T 40 C 2/10 above l2 LO T = 40 C 6, which is to have executed 2 in mode HI. With
/// C(LO) of l2 the change may come as late as R(LO) = 16; but after 8 (2 + 2 + 4) l2 has its 2 units.
#[test]
fn a_degraded_task_that_has_its_budget_does_not_care_about_a_later_rise() {
    let l1 = keeps(1, task(0, 4, 4, &[2]));
    let h = task(1, 40, 40, &[2, 10]);
    let l2 = keeps(2, task(0, 40, 40, &[6]));
    let set = problem(2, vec![l1, h, l2]);
    let set = set.with_priorities(vec![3, 2, 1]).unwrap();
    // 2 + 10 + 2 * 2 + (5 - 2) * 1 = 19, and ceil(19 / 4) = 5.
    assert_eq!(bounds(&set)[2], [Some(16), Some(19)]);
}

/// No mode above it is ever reached: in the first set the mode stays at LO, in the second it cannot rise above the own level.
#[test]
fn a_budget_that_cannot_take_effect_changes_nothing() {
    let low = task(0, 10, 10, &[3]);
    let high = task(1, 20, 20, &[2, 5]);
    for (plain, degraded) in [
        (vec![low, low], vec![keeps(1, low), low]),
        (vec![low, high], vec![low, keeps(1, high)]),
    ] {
        let [plain, degraded] = [plain, degraded].map(|tasks| problem(2, tasks));
        assert_eq!(the_test().analyse(&plain), the_test().analyse(&degraded));
    }
}

#[test]
fn overheads_of_tasks_that_keep_a_budget_are_not_taken() {
    let tasks = vec![keeps(1, task(0, 50, 50, &[2])), task(1, 50, 50, &[2, 4])];
    let set = problem(2, tasks).with_overheads(Overheads::default());
    let outcome = the_test().analyse(&set);
    assert_eq!(outcome.verdict, Verdict::NotProven);
    assert!(matches!(outcome.why, Some(Reason::WithOverheads { .. })));
    assert!(!the_test().accepts(&set, &mut Scratch::default()));
}

/// Half of the tasks below the highest level keep something, now and then more than C.
fn random_degraded_set(random: &mut Random) -> (usize, Vec<Task>) {
    let (levels, mut tasks) = random_set(random);
    for task in &mut tasks {
        if random.once_in(2) {
            let most = task.own_wcet().as_nanos() + u64::from(random.once_in(4));
            task.degraded = Some(Service::from_nanos(random.between(1, most)));
        }
    }
    (levels, tasks)
}

fn counts(tasks: &[Task]) -> bool {
    let highest = tasks.iter().map(|task| task.criticality).max();
    tasks
        .iter()
        .any(|task| task.degraded.is_some() && Some(task.criticality) < highest)
}

#[test]
fn given_priorities_get_the_values_of_the_slow_twin() {
    let mut random = Random::new(31);
    let mut scratch = Scratch::default();
    let (mut sets, mut accepted, mut above) = (0, 0, 0);
    while sets < 6000 {
        let (levels, tasks) = random_degraded_set(&mut random);
        if !counts(&tasks) {
            continue;
        }
        sets += 1;
        let order: Vec<TaskId> = random
            .permutation(tasks.len())
            .into_iter()
            .map(|index| TaskId(u16::try_from(index).unwrap()))
            .collect();
        let priorities = vestal_analysis::order::priorities_of(&order, order.len());
        let set = problem(levels, tasks).with_priorities(priorities).unwrap();
        let tasks = set.tasks();
        let expected = oracle::order_passes(tasks, Formula::Adaptive, &order);
        let outcome = the_test().analyse(&set);
        assert_eq!(outcome.why.is_none(), expected, "{order:?} {tasks:?}");
        assert_eq!(the_test().accepts(&set, &mut scratch), expected);
        accepted += u32::from(expected);
        for (position, &id) in order.iter().enumerate() {
            let mut late = false;
            for (level, &found) in (0..).map(Level).zip(&outcome.tasks[id.index()].responses) {
                let more_urgent = &order[..position];
                let slow = oracle::response(tasks, Formula::Adaptive, id, more_urgent, level);
                let textbook =
                    oracle::iterated_response(tasks, Formula::Adaptive, id, more_urgent, level);
                // After the first bound that exceeds the deadline no other is looked for.
                assert!(
                    late || found == slow,
                    "{id:?} at {level:?}, {order:?} of {tasks:?}"
                );
                assert_eq!(
                    slow, textbook,
                    "{id:?} at {level:?}, {order:?} of {tasks:?}"
                );
                late |= found.is_none();
                above += u32::from(level > tasks[id.index()].criticality && found.is_some());
            }
        }
    }
    assert!((300..5700).contains(&accepted), "{accepted} of {sets}");
    assert!(above > 1000, "{above}");
}

#[test]
fn audsleys_assignment_finds_an_order_whenever_there_is_one() {
    let mut random = Random::new(32);
    let mut scratch = Scratch::default();
    let (mut sets, mut accepted) = (0, 0);
    while sets < 2500 {
        let (levels, tasks) = random_degraded_set(&mut random);
        if !counts(&tasks) {
            continue;
        }
        sets += 1;
        let set = problem(levels, tasks);
        let order = oracle::assign(set.tasks(), Formula::Adaptive);
        let some = oracle::some_order_passes(set.tasks(), Formula::Adaptive);
        assert_eq!(order.is_some(), some, "{:?}", set.tasks());
        assert_eq!(the_test().accepts(&set, &mut scratch), some);
        let outcome = the_test().analyse(&set);
        assert_eq!(outcome.verdict == Verdict::Schedulable, some);
        let expected =
            order.map(|order| vestal_analysis::order::priorities_of(&order, order.len()));
        assert_eq!(outcome.parameters.priorities, expected, "{:?}", set.tasks());
        accepted += u32::from(some);
    }
    assert!((125..2375).contains(&accepted), "{accepted} of {sets}");
}

/// More of a budget never helps anyone else, and without one a set is accepted that is accepted with one.
#[test]
fn what_is_accepted_with_budgets_is_accepted_without() {
    let mut random = Random::new(33);
    let mut scratch = Scratch::default();
    let (mut with, mut without) = (0, 0);
    for _ in 0..4000 {
        let (levels, tasks) = random_degraded_set(&mut random);
        let dropped = tasks.iter().map(|&task| Task {
            degraded: None,
            ..task
        });
        let dropped = problem(levels, dropped.collect());
        let set = problem(levels, tasks);
        let accepted = the_test().accepts(&set, &mut scratch);
        let accepted_without = the_test().accepts(&dropped, &mut scratch);
        assert!(accepted_without || !accepted, "{:?}", set.tasks());
        with += u32::from(accepted);
        without += u32::from(accepted_without);
    }
    assert!(with + 50 < without, "{with} {without}");
}
