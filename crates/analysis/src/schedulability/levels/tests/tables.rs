//! Tables and what they leave, drawn tick by tick.

use super::super::oracle::{burst, closed_ticks, edf_ticks, open, owners, supply};
use super::super::pattern::Pattern;
use super::super::{given, table as built};
use super::*;
use vestal_core::store::Boxed;
use vestal_core::{
    Budgets, Container, CpuId, CpuTable, LevelB, LevelledConfiguration, LevelledTask, LocalDomain,
    TableError,
};

const CPU: CpuId = CpuId(0);

#[test]
fn a_table_is_the_run_by_deadlines_and_there_is_none_where_that_is_late() {
    let mut random = Random::new(1);
    let (mut found, mut late) = (0, 0);
    for _ in 0..3_000 {
        let problem = problem(draw_level_a(&mut random, 4), 1);
        let rows = rows(&problem, A);
        let drawn = edf_ticks(&rows);
        match (built::build(CPU, &rows, &mut Effort::default()), &drawn) {
            (Ok(table), Some(ticks)) => {
                assert_eq!(&owners(&table), ticks, "{problem:?}");
                let checked = match rows.is_empty() {
                    true => table.slots.is_empty(),
                    false => given::check(CPU, &table, &rows).is_ok(),
                };
                assert!(checked, "{problem:?}");
                found += 1;
            }
            (Err(LevelReason::NoTable { .. }), None) => late += 1,
            (table, drawn) => panic!("{table:?} and {drawn:?} for {problem:?}"),
        }
    }
    assert!(found > 1_000 && late > 300, "{found} tables, {late} late");
}

/// What the core says of a table.
fn by_core(
    problem: &Problem,
    table: &DispatchTable,
) -> Result<(), vestal_core::ConfigurationError> {
    let tasks = problem.tasks().iter().map(|&task| {
        let container = match task.criticality {
            Level(A) => Container::Table(CPU),
            Level(B) => Container::Local(CPU),
            _ => Container::Global,
        };
        LevelledTask { task, container }
    });
    let tasks: Vec<LevelledTask> = tasks.collect();
    let configuration = LevelledConfiguration {
        tasks: &tasks,
        tables: &[CpuTable {
            cycle: table.cycle,
            slots: &table.slots,
        }],
        backlog: 1,
        budgets: Budgets::Enforced,
        level_b: LevelB::EarliestDeadline,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    LocalDomain::<Boxed>::with_store(&configuration, CPU).map(|_| ())
}

#[test]
fn given_tables_are_those_that_the_core_takes() {
    let mut random = Random::new(2);
    let mut counts = [0; 6];
    for _ in 0..6_000 {
        let mut tasks = draw_level_a(&mut random, 3);
        tasks.push(task(B, (8, 8), &[1]));
        let problem = problem(tasks, 1);
        let rows = rows(&problem, A);
        let cycles = random.between(1, 2);
        let Some(mut table) = draw_table(&mut random, &rows, cycles) else {
            continue;
        };
        // One fault in half of them.
        if random.once_in(2) && !table.slots.is_empty() {
            let position = random.index(table.slots.len());
            let slot = &mut table.slots[position];
            match random.below(5) {
                0 => slot.task = TaskId(random.below(problem.tasks().len() as u64) as u16),
                1 => slot.length = span(random.below(4)),
                2 => slot.start = span(random.below(24)),
                3 => table.cycle = span(random.below(30)),
                _ => drop(table.slots.remove(position)),
            }
        }
        let (own, core) = (given::check(CPU, &table, &rows), by_core(&problem, &table));
        let shown = || format!("{own:?} and {core:?}: {table:?} {problem:?}");
        let kind = match (own, core) {
            (Ok(()), Ok(())) => 0,
            (Err(LevelReason::SlotOrder { .. }), Err(_)) => 1,
            (Err(LevelReason::WrongSlot { task, .. }), Err(why)) => {
                let core = TableError::WrongSlot { cpu: 0, task };
                assert_eq!(why, core.into(), "{}", shown());
                2
            }
            (Err(LevelReason::PeriodAndCycle { .. }), Err(_)) => 3,
            (Err(LevelReason::SlotsTooShort { task, job, .. }), Err(why)) => {
                let core = TableError::SlotsTooShort { task, job };
                assert_eq!(why, core.into(), "{}", shown());
                4
            }
            _ => panic!("{}", shown()),
        };
        counts[kind] += 1;
    }
    let each = counts[..5].iter().all(|&count| count > 50);
    assert!(each && counts[0] > 1_000, "{counts:?}");
}

#[test]
fn what_a_table_leaves_is_what_is_drawn() {
    let mut random = Random::new(3);
    let (mut compared, mut long) = (0, 0);
    for _ in 0..400 {
        let problem = problem(draw_level_a(&mut random, 3), 1);
        let rows = rows(&problem, A);
        let cycles = random.between(1, 2);
        let Some(table) = draw_table(&mut random, &rows, cycles) else {
            continue;
        };
        if given::check(CPU, &table, &rows).is_err() {
            continue;
        }
        let level = random.index(4);
        let pattern = Pattern::new(&table, &rows, level);
        let closed = closed_ticks(&table, &rows, level);
        let cycle = closed.len() as u64;
        assert_eq!(
            u128::from(pattern.closed_in_cycle()),
            (cycle - open(&closed, 0, cycle)).into()
        );
        let drawn: Vec<u64> = (0..=2 * cycle)
            .map(|window| supply(&closed, window))
            .collect();
        for (window, &least) in (0..).zip(&drawn) {
            assert_eq!(pattern.supply(window), least, "{window} of {pattern:?}");
            let start = random.below(cycle);
            let found = pattern.open_from(start, window);
            assert_eq!(
                found,
                open(&closed, start, window),
                "{start} {window} of {pattern:?}"
            );
        }
        // The inverse, as far as it was drawn.
        for amount in 0..=drawn.last().copied().unwrap_or(0) {
            let least = drawn.iter().position(|&supply| supply >= amount).unwrap() as u64;
            assert_eq!(
                pattern.time_for(amount),
                Some(least),
                "{amount} of {pattern:?}"
            );
        }
        if pattern.closed_in_cycle() == cycle {
            assert_eq!((pattern.time_for(0), pattern.time_for(1)), (Some(0), None));
        }
        // b is in multiples of 1 / P, and P is 1 where nothing is closed.
        if pattern.closed_in_cycle() > 0 {
            assert_eq!(pattern.burst(), burst(&closed), "{pattern:?}");
            long += 1;
        } else {
            assert_eq!((pattern.burst(), burst(&closed)), (0, 0));
        }
        compared += 1;
    }
    assert!(compared > 200 && long > 100, "{compared} and {long}");
}

#[test]
fn numbers_near_the_largest_do_not_overflow() {
    let horizon = vestal_core::time::HORIZON_NANOS;
    let pattern = Pattern::of_pieces(horizon, vec![(0, horizon - 1)]);
    assert_eq!(pattern.supply(u64::MAX), u64::MAX / horizon);
    assert_eq!(pattern.supply(horizon), 1);
    assert_eq!(pattern.time_for(1), Some(horizon));
    assert_eq!(pattern.time_for(u64::MAX), None);
    assert!(u128::from(pattern.burst_nanos()) < 2);
}
