//! Where tasks are placed.

use super::super::oracle::all_phases;
use super::super::pattern::Pattern;
use super::*;
use crate::parameters::Parameters;
use vestal_core::CpuId;

const fn cpu(number: u16) -> Option<CpuId> {
    Some(CpuId(number))
}

fn with_partition(problem: Problem, partition: Vec<Option<CpuId>>) -> Problem {
    let given = Parameters {
        partition: Some(partition),
        ..Parameters::default()
    };
    problem.with(&given).unwrap()
}

fn with_master(problem: &Problem, master: u16) -> Result<Found, LevelReason> {
    let question = Question {
        problem,
        grades: &GRADES,
        order: Order::Deadlines,
        interrupt_master: cpu(master),
    };
    ask(&question, &mut Effort::default())
}

/// Level A 0.6, 0.5, 0.3 of a CPU, level B 0.4, 0.3, 0.2; and one of level C.
fn six() -> Vec<Task> {
    let same = (10, 10);
    vec![
        task(A, same, &[1, 1, 1, 3]),
        task(B, same, &[1, 1, 3]),
        task(A, same, &[1, 1, 1, 6]),
        task(B, same, &[2, 2, 4]),
        task(A, same, &[1, 1, 1, 5]),
        task(B, same, &[2, 2, 2]),
        task(C, same, &[5, 5]),
    ]
}

#[test]
fn the_largest_shares_come_first_and_go_where_least_is() {
    // A: 0.6 on 0, 0.5 on 1, 0.3 on 1. B at its own times: 0.1 and 0.2 are taken; 0.4 on 0, 0.3 on 1, 0.2 on 0 (0.5 on both).
    let found = decide(&problem(six(), 2), Order::Deadlines).unwrap();
    let homes = [cpu(1), cpu(1), cpu(0), cpu(0), cpu(1), cpu(0), None];
    assert_eq!(found.homes, homes);
    assert_eq!(found.tables[0], table(10, &[slot(0, 6, 2)]));
    assert_eq!(found.tables[1], table(10, &[slot(0, 3, 0), slot(3, 5, 4)]));
    assert!(found.closed.iter().all(|closed| !closed.never()));
}

#[test]
fn what_takes_the_interrupts_is_left_free_where_there_are_others() {
    let found = with_master(&problem(six(), 3), 0).unwrap();
    let homes = [cpu(2), cpu(2), cpu(1), cpu(1), cpu(2), cpu(1), None];
    assert_eq!(found.homes, homes);
    assert!(found.closed[0].never() && !found.closed[1].never());
    assert_eq!(found.tables[0], DispatchTable::default());
    // A CPU alone takes all.
    let alone = problem(vec![task(B, (10, 10), &[3; 3])], 1);
    assert_eq!(with_master(&alone, 0).unwrap().homes, [cpu(0)]);
    // What is given there stays there.
    let given = vec![None, cpu(0), None, None, None, None, None];
    let found = with_master(&with_partition(problem(six(), 3), given), 0).unwrap();
    assert_eq!(found.homes[1], cpu(0));
    assert!(found.homes[2..6].iter().all(|&home| home != cpu(0)));
}

#[test]
fn given_cpus_come_first_and_what_fits_nowhere_is_named() {
    let given = vec![cpu(0), None, None, None, None, None, None];
    let found = decide(&with_partition(problem(six(), 2), given), Order::Deadlines).unwrap();
    // 0.3 is on 0; 0.6 on 1, 0.5 on 0.
    assert_eq!(found.homes[..3], [cpu(0), cpu(0), cpu(1)]);
    assert_eq!(found.homes[4], cpu(0));

    let why = |problem: Problem| decide(&problem, Order::Deadlines).map(|_| ()).unwrap_err();
    // 0.6 and 0.5 together: no table.
    let given = vec![None, None, cpu(0), None, cpu(0), None, None];
    let none = LevelReason::NoTable {
        cpu: CpuId(0),
        task: TaskId(4),
        job: 0,
    };
    assert_eq!(why(with_partition(problem(six(), 2), given)), none);
    // 0.5 beside 0.6 on either CPU does not fit.
    let mut more = six();
    more.push(task(A, (10, 10), &[6; 4]));
    assert_eq!(
        why(problem(more, 2)),
        LevelReason::FitsNowhere { task: TaskId(4) }
    );
    // Level B: 0.9 on 0; 0.4 and 0.3 beside 0.2 of level A on 1, and no room for 0.2.
    let mut more = six();
    more.push(task(B, (10, 10), &[9; 3]));
    assert_eq!(
        why(problem(more, 2)),
        LevelReason::FitsNowhere { task: TaskId(5) }
    );
    let given = vec![None, None, None, None, None, None, cpu(1)];
    assert_eq!(
        why(with_partition(problem(six(), 2), given)),
        LevelReason::HasCpu { task: TaskId(6) }
    );
}

#[test]
fn tables_are_for_tasks_that_come_at_the_multiples_of_their_periods() {
    let first = |first: Vec<Option<u64>>| {
        let tasks = vec![task(A, (10, 10), &[1; 4]), task(B, (10, 10), &[1; 3])];
        let first = first.into_iter().map(|first| first.map(span)).collect();
        let problem = problem(tasks, 1).with_first_releases(first);
        decide(&problem, Order::Deadlines).map(|_| ())
    };
    let why = Err(LevelReason::NotPeriodic { task: TaskId(0) });
    assert_eq!(first(vec![Some(0), None]), Ok(()));
    assert_eq!(first(vec![Some(20), Some(3)]), Ok(()));
    assert_eq!(first(vec![Some(3), Some(0)]), why);
    assert_eq!(first(vec![None, Some(0)]), why);
}

#[test]
fn given_tables_say_where_their_tasks_are() {
    let tasks = vec![task(A, (10, 10), &[2; 4]), task(A, (5, 5), &[1; 4])];
    let with = |tables: Vec<DispatchTable>, partition: Option<Vec<Option<CpuId>>>| {
        let given = Parameters {
            tables: Some(tables),
            partition,
            ..Parameters::default()
        };
        let problem = problem(tasks.clone(), 2).with(&given).unwrap();
        decide(&problem, Order::Deadlines).map(|found| found.homes)
    };
    let (first, second) = (table(10, &[slot(8, 2, 0)]), table(5, &[slot(2, 1, 1)]));
    let both = vec![second.clone(), first];
    assert_eq!(with(both.clone(), None), Ok(vec![cpu(1), cpu(0)]));
    let other = with(both, Some(vec![cpu(0), None]));
    let why = LevelReason::PeriodAndCycle {
        cpu: CpuId(0),
        task: TaskId(0),
    };
    assert_eq!(other, Err(why));
    let missing = with(vec![second, DispatchTable::default()], None);
    assert_eq!(missing, Err(LevelReason::NoSlot { task: TaskId(0) }));
}

#[test]
fn what_is_placed_keeps_its_deadlines() {
    let mut random = Random::new(60);
    let (mut placed, mut left_over) = (0, 0);
    while placed + left_over < 400 {
        let mut tasks = draw_level_a(&mut random, 4);
        for _ in 0..random.between(1, 4) {
            let period = random.one_of(&[4u64, 6, 8, 12, 24]);
            let time = random.between(1, period.div_ceil(2));
            tasks.push(task(B, (period, period), &[time; 3]));
        }
        let problem = problem(tasks, 2);
        let Ok(found) = decide(&problem, Order::Deadlines) else {
            left_over += 1;
            continue;
        };
        placed += 1;
        for (number, table) in (0..).zip(&found.tables) {
            let of = |level| {
                let rows = rows(&problem, level).into_iter();
                rows.filter(|row| found.homes[row.task] == cpu(number))
                    .collect::<Vec<&Row>>()
            };
            let (level_a, level_b) = (of(A), of(B));
            if !level_a.is_empty() {
                super::super::given::check(CpuId(number), table, &level_a).unwrap();
            }
            let pattern = Pattern::new(table, &level_a, usize::from(B));
            let closed: Vec<bool> = (0..pattern.cycle())
                .map(|tick| pattern.open_from(tick, 1) == 0)
                .collect();
            let run = all_phases(&closed, &level_b, Order::Deadlines);
            assert!(run.is_some(), "CPU {number} of {problem:?}");
        }
    }
    let percent = 100 * placed / (placed + left_over);
    assert!(
        (5..=95).contains(&percent),
        "{placed} placed, {left_over} not"
    );
}

#[test]
fn what_was_not_decided_is_said_to_be_so() {
    // Periods without common factors: a cycle of about 10^12, with 10^9 jobs.
    let long = |cpus| {
        let tasks = vec![
            task(A, (10_007, 10_007), &[1; 4]),
            task(A, (10_009, 10_009), &[1; 4]),
            task(A, (10_037, 10_037), &[1; 4]),
        ];
        decide(&problem(tasks, cpus), Order::Deadlines).map(|found| found.homes)
    };
    assert!(matches!(long(1), Err(LevelReason::CycleTooLong { .. })));
    // A CPU for each: no cycle is long.
    assert_eq!(long(3), Ok(vec![cpu(0), cpu(1), cpu(2)]));
    // No step is left for level B.
    let tasks = vec![task(A, (10, 10), &[5; 4]), task(B, (25, 25), &[10; 3])];
    let problem = problem(tasks, 1);
    for order in [Order::Deadlines, Order::Rates] {
        let question = Question {
            problem: &problem,
            grades: &GRADES,
            order,
            interrupt_master: None,
        };
        assert!(ask(&question, &mut Effort::default()).is_ok());
        // One is for the job of the table.
        let found = ask(&question, &mut Effort { left: 1 });
        let why = LevelReason::NotDecided { cpu: CpuId(0) };
        assert_eq!(found.map(|_| ()), Err(why));
        let found = ask(&question, &mut Effort { left: 0 });
        assert_eq!(found.map(|_| ()), Err(why));
    }
}
