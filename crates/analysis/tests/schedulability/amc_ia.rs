//! AMC-IA: the paper's numbers, the slow twin, and the sets that refute it.

use crate::common;

use common::{Random, problem, random_set, task};
use vestal_analysis::order::priorities_of;
use vestal_analysis::schedulability::amc_ia;
use vestal_analysis::{Kind, Outcome, Problem, Scratch, Verdict, find};
use vestal_core::{Duration, Level, Task, TaskId};

fn analyse(variant: Option<&str>, problem: &Problem) -> Outcome {
    find("amc-ia", variant).unwrap().analyse(problem)
}

/// The value at the highest level of the last of these tasks, which are in order of urgency.
fn last_value(name: &str, variant: Option<&str>, tasks: &[Task]) -> Option<u64> {
    let count = u32::try_from(tasks.len()).unwrap();
    let given = problem(2, tasks.to_vec())
        .with_priorities((1..=count).rev().collect())
        .unwrap();
    let found = find(name, variant).unwrap().analyse(&given);
    let last = found.tasks.last().unwrap().responses.last().unwrap();
    last.map(Duration::as_nanos)
}

/// Huang, Gill and Lu (TECS 2014, section 3.1): 58, at s = 48.
fn paper() -> Vec<Task> {
    vec![
        task(0, 2, 2, &[1]),
        task(1, 10, 10, &[1, 5]),
        task(1, 100, 100, &[20, 20]),
    ]
}

#[test]
fn the_papers_example_gives_58_at_48_and_59_over_all_instants() {
    let tasks = paper();
    assert_eq!(last_value("amc-ia", None, &tasks), Some(58));
    assert_eq!(last_value("amc-ia", Some("full"), &tasks), Some(59));
    assert_eq!(last_value("amc-max", None, &tasks), Some(64));
    assert_eq!(last_value("amc-rtb", None, &tasks), Some(90));
    let higher = [TaskId(0), TaskId(1)];
    let at =
        |instant| amc_ia::oracle::interference_at(&tasks, TaskId(2), &higher, &[instant]).unwrap();
    assert_eq!(
        amc_ia::oracle::interference_at(&tasks, TaskId(2), &higher, &[]),
        Some(50)
    );
    assert_eq!((2..=50).step_by(2).map(at).max(), Some(58));
    assert_eq!(at(48), 58);
    // The range as printed reaches to 200, and gives what no run can take.
    let wide = vec![tasks[0], tasks[1], task(1, 1000, 1000, &[20, 20])];
    assert_eq!(
        amc_ia::oracle::interference_at(&wide, TaskId(2), &higher, &[200]),
        Some(140)
    );
    let found = analyse(None, &problem(2, tasks));
    assert_eq!(
        (found.verdict, found.kind),
        (Verdict::NotProven, Kind::Unsafe)
    );
    assert_eq!(found.claim, Some(Verdict::Schedulable));
}

/// No deadline lies in (0, 2]: the mode change at 2 is not looked at.
fn no_deadline_in_range() -> Vec<Task> {
    vec![task(0, 4, 4, &[1]), task(1, 4, 4, &[1, 4])]
}

/// With every instant: tau_3, released at 2, needs its HI value after s.
fn released_late() -> Vec<Task> {
    vec![
        task(0, 4, 4, &[1]),
        task(0, 10, 10, &[2]),
        task(1, 5, 5, &[1, 2]),
        task(1, 10, 10, &[2, 3]),
    ]
}

/// The runs in which they miss are drawn in the simulator's tests.
#[test]
fn the_counterexamples_are_claimed_schedulable_and_amc_max_rejects_them() {
    assert_eq!(last_value("amc-ia", None, &no_deadline_in_range()), Some(4));
    assert_eq!(last_value("amc-max", None, &no_deadline_in_range()), None);
    assert_eq!(
        last_value("amc-ia", Some("full"), &released_late()),
        Some(10)
    );
    assert_eq!(last_value("amc-max", None, &released_late()), None);
    let order: Vec<TaskId> = (0..3).map(TaskId).collect();
    let limit = Duration::from_nanos(100);
    let set = problem(2, released_late());
    let max = vestal_analysis::schedulability::amc_max::response;
    assert_eq!(
        max(&set, TaskId(3), &order, Level(1), limit)
            .unwrap()
            .as_nanos(),
        13
    );
}

#[test]
fn values_and_decisions_are_those_of_the_slow_twin() {
    let mut random = Random::new(21);
    let mut scratch = Scratch::default();
    let (mut accepted, mut total, mut above_rtb) = (0, 0, 0);
    for _ in 0..1_500 {
        let (levels, tasks) = random_set(&mut random);
        if levels == 4 && tasks.len() > 3 {
            continue;
        }
        let order = random.permutation(tasks.len());
        let order: Vec<TaskId> = order
            .into_iter()
            .map(|position| TaskId(u16::try_from(position).unwrap()))
            .collect();
        let set = problem(levels, tasks.clone())
            .with_priorities(priorities_of(&order, order.len()))
            .unwrap();
        for full in [false, true] {
            let variant = full.then_some("full");
            let found = analyse(variant, &set);
            let mut expected = true;
            for (position, &id) in order.iter().enumerate() {
                let this = &tasks[id.index()];
                expected &= !this.own_wcet().exceeds(this.deadline);
                for level in this.criticality.up_to_self() {
                    let slow = amc_ia::oracle::interference_response(
                        &tasks,
                        id,
                        &order[..position],
                        level,
                        full,
                    );
                    let fast = found.tasks[id.index()].responses[level.index()];
                    assert_eq!(
                        fast, slow,
                        "{variant:?} {id:?} {level:?} in {order:?} {tasks:?}"
                    );
                    if slow.is_none() {
                        expected = false;
                        break;
                    }
                }
            }
            let test = find("amc-ia", variant).unwrap();
            assert_eq!(
                test.accepts(&set, &mut scratch),
                expected,
                "{order:?} {tasks:?}"
            );
            assert_eq!(found.claim == Some(Verdict::Schedulable), expected);
            let simple = find("amc-rtb", None).unwrap().accepts(&set, &mut scratch);
            assert!(expected || !simple, "{variant:?} {order:?} {tasks:?}");
            total += 1;
            accepted += u32::from(expected);
            above_rtb += u32::from(expected && !simple);
        }
    }
    assert!(
        accepted > total / 20 && accepted < total * 19 / 20,
        "{accepted} of {total}"
    );
    assert!(above_rtb > 5, "{above_rtb}");
}

/// Trying only the longest deadline of each criticality loses no set.
#[test]
fn the_reduced_assignment_accepts_what_the_printed_one_does() {
    let mut random = Random::new(22);
    let mut scratch = Scratch::default();
    let mut accepted = 0;
    for _ in 0..700 {
        let (levels, tasks) = random_set(&mut random);
        if levels == 4 && tasks.len() > 3 {
            continue;
        }
        for full in [false, true] {
            let slow = amc_ia::oracle::interference_assign(&tasks, full).is_some();
            let test = find("amc-ia", full.then_some("full")).unwrap();
            let set = problem(levels, tasks.clone());
            assert_eq!(test.accepts(&set, &mut scratch), slow, "{full} {tasks:?}");
            accepted += u32::from(slow);
        }
    }
    assert!(accepted > 50, "{accepted}");
}

/// The four tasks for which whole ticks hide the worst instant, between 4 and 5, and the three that
/// `amc-ia:full` accepts in every unit although they miss; the simulator's drawings have both runs.
#[test]
fn a_finer_unit_saves_the_four_tasks_and_not_the_three() {
    let scaled = |tasks: &[(u8, u64, u64, &[u64])], unit: u64| -> Vec<Task> {
        let tasks = tasks.iter();
        tasks
            .map(|&(criticality, period, deadline, wcet)| {
                let wcet: Vec<u64> = wcet.iter().map(|value| value * unit).collect();
                task(criticality, period * unit, deadline * unit, &wcet)
            })
            .collect()
    };
    let four: [(u8, u64, u64, &[u64]); 4] = [
        (0, 4, 4, &[1]),
        (0, 10, 10, &[2]),
        (1, 5, 5, &[1, 2]),
        (1, 10, 10, &[2, 3]),
    ];
    let three: [(u8, u64, u64, &[u64]); 3] =
        [(0, 4, 2, &[1]), (1, 6, 4, &[1, 2]), (1, 8, 6, &[3, 3])];
    assert_eq!(
        last_value("amc-ia", Some("full"), &scaled(&four, 1)),
        Some(10)
    );
    for unit in [2, 3, 64, 1_000_000] {
        assert_eq!(
            last_value("amc-ia", Some("full"), &scaled(&four, unit)),
            None
        );
    }
    for unit in [1, 2, 3, 64, 1_000_000] {
        let tasks = scaled(&three, unit);
        assert_eq!(last_value("amc-ia", Some("full"), &tasks), Some(6 * unit));
        assert_eq!(last_value("amc-max", None, &tasks), None);
    }
}
