//! Examples worked out by hand.

use super::super::local::Local;
use super::super::oracle::all_phases;
use super::super::pattern::Pattern;
use super::super::{control, given, table as built};
use super::*;
use crate::parameters::Parameters;
use vestal_core::CpuId;

const CPU: CpuId = CpuId(0);

/// Herman et al. 2012, Table 1.
fn table_1() -> Problem {
    let same = |period: u64| (period, period);
    problem(
        vec![
            task(A, same(5), &[1, 1, 2, 3]),
            task(A, same(10), &[2, 2, 2, 4]),
            task(B, same(10), &[1, 2, 2]),
            task(B, same(20), &[1, 1, 2]),
            task(C, same(10), &[2, 2]),
            task(C, same(20), &[2, 2]),
            task(D, same(5), &[2]),
        ],
        1,
    )
}

#[test]
fn the_table_of_table_1_has_no_idle_slot_and_leaves_what_lower_levels_need() {
    let problem = table_1();
    for order in [Order::Deadlines, Order::Rates] {
        let found = decide(&problem, order).unwrap();
        let slots = [slot(0, 3, 0), slot(3, 2, 1), slot(5, 3, 0), slot(8, 2, 1)];
        assert_eq!(found.tables, [table(10, &slots)]);
        let homes = [Some(CPU), Some(CPU), Some(CPU), Some(CPU), None, None, None];
        assert_eq!(found.homes, homes);
        // At level B [0,2) [3,7) are closed, at level C [0,1) [3,6); T3 of level B has 2 in 10, T4 1 in 20.
        let shares = vec![(4, 10), (2, 10), (1, 20)];
        // b_A = 1.8, e (T + D - 2 e) / T = 3.2 and 1.9; each is rounded up.
        assert_eq!(
            found.closed,
            [super::super::Closed {
                shares,
                burst: 2 + 4 + 2
            }]
        );
    }
    // T3 from 0 on: 2 and 7 are open; T4 from 0 on 8 and 9, too, and from 3 on 7, 8, 9 and 12.
    let responses = decide(&problem, Order::Rates).unwrap().responses;
    assert_eq!(responses, [None, None, Some(8), Some(10), None, None, None]);
}

#[test]
fn the_pattern_of_table_1_by_hand() {
    let problem = table_1();
    let rows = rows(&problem, A);
    let table = built::build(CPU, &rows, &mut Effort::default()).unwrap();
    let of = |level: u8| Pattern::new(&table, &rows, usize::from(level));
    assert_eq!(of(B), Pattern::of_pieces(10, vec![(0, 2), (3, 7)]));
    assert_eq!(of(C), Pattern::of_pieces(10, vec![(0, 1), (3, 6)]));
    assert_eq!(of(A), Pattern::of_pieces(10, vec![(0, 10)]));
    // The worst windows begin at 3, those of 7 at 0.
    let supply = |window: u64| of(B).supply(window);
    assert_eq!([4, 5, 7, 9, 10, 14].map(supply), [0, 1, 1, 3, 4, 4]);
    // In tenths: level C has 3 of [3,6) at 0.4, level B 6 of [0,7) at 0.6.
    assert_eq!((of(C).burst(), of(C).burst_nanos()), (18, 2));
    assert_eq!((of(B).burst(), of(B).burst_nanos()), (18, 2));
}

/// One task of level A and one of level B, which has a table and is asked by deadlines.
fn one_each(
    (period, time): (u64, u64),
    table: &DispatchTable,
    (other, demand): (u64, u64),
) -> (Problem, Result<(), LevelReason>) {
    let problem = problem(
        vec![
            task(A, (period, period), &[time; 4]),
            task(B, (other, other), &[demand; 3]),
        ],
        1,
    );
    given::check(CPU, table, &rows(&problem, A)).unwrap();
    let given = Parameters {
        tables: Some(vec![table.clone()]),
        ..Parameters::default()
    };
    let problem = problem.with(&given).unwrap();
    let found = decide(&problem, Order::Deadlines).map(|_| ());
    (problem, found)
}

#[test]
fn where_the_slots_lie_decides() {
    let row = table(10, &[slot(0, 5, 0)]);
    let apart = table(10, &[0, 2, 4, 6, 8].map(|start| slot(start, 1, 0)));
    let (_, found) = one_each((10, 5), &row, (4, 1));
    let why = LevelReason::SupplyBelowDemand {
        cpu: CPU,
        window: span(4),
        demand: span(1),
        supply: span(0),
    };
    assert_eq!(found, Err(why));
    let (_, found) = one_each((10, 5), &apart, (4, 1));
    assert_eq!(found, Ok(()));
}

/// Whether a run is late, with the sums that a wrong test goes by: any periods, own cycle.
fn refuted(problem: &Problem, table: &DispatchTable) -> (bool, bool, bool) {
    let (level_a, level_b) = (rows(problem, A), rows(problem, B));
    let pattern = Pattern::new(table, &level_a, usize::from(B));
    let closed = super::super::oracle::closed_ticks(table, &level_a, usize::from(B));
    let local = Local {
        cpu: CPU,
        pattern: &pattern,
        rows: &level_b,
    };
    (
        all_phases(&closed, &level_b, Order::Deadlines).is_none(),
        control::any_periods(&local),
        control::own_cycle(&local, &level_a),
    )
}

#[test]
fn a_sum_of_one_is_not_enough_for_periods_that_are_no_multiples_of_the_cycle() {
    // Level A has [0,5) of 10; level B needs 2 in 4: late at 4.
    let first = table(10, &[slot(0, 5, 0)]);
    let (problem, found) = one_each((10, 5), &first, (4, 2));
    assert!(
        matches!(found, Err(LevelReason::SupplyBelowDemand { .. })),
        "{found:?}"
    );
    assert_eq!(refuted(&problem, &first), (true, true, false));
    // The task's own hyperperiod is 10, and the cycle is 20: nothing from 15 to 25.
    let twice = table(20, &[slot(0, 5, 0), slot(15, 5, 0)]);
    let (problem, found) = one_each((10, 5), &twice, (10, 5));
    let why = LevelReason::SupplyBelowDemand {
        cpu: CPU,
        window: span(10),
        demand: span(5),
        supply: span(0),
    };
    assert_eq!(found, Err(why));
    assert_eq!(refuted(&problem, &twice), (true, true, true));
    // A multiple of the cycle, and the sum is enough.
    let (problem, found) = one_each((10, 5), &twice, (20, 10));
    assert_eq!(found, Ok(()));
    assert_eq!(refuted(&problem, &twice), (false, true, true));
    // Beyond 1 nothing is.
    let (_, found) = one_each((10, 5), &twice, (20, 11));
    assert_eq!(found, Err(LevelReason::Overload { cpu: CPU }));
}

#[test]
fn rates_are_not_as_good_as_deadlines() {
    // 15 + 2 * 10 > 30, where the sum is 1.
    let problem = problem(
        vec![task(B, (20, 20), &[10; 3]), task(B, (30, 30), &[15; 3])],
        1,
    );
    assert!(decide(&problem, Order::Deadlines).is_ok());
    let level_b = rows(&problem, B);
    let pattern = Pattern::of_pieces(1, Vec::new());
    let local = Local {
        cpu: CPU,
        pattern: &pattern,
        rows: &level_b,
    };
    assert!(control::rates_by_sum(&local));
    assert!(all_phases(&[false], &level_b, Order::Rates).is_none());
    let why = LevelReason::Late {
        cpu: CPU,
        task: TaskId(1),
        at_least: span(35),
        deadline: span(30),
    };
    assert_eq!(decide(&problem, Order::Rates).map(|_| ()), Err(why));
}

#[test]
fn reasons_are_sentences() {
    let name = |task: TaskId| format!("`T{}`", task.0 + 1);
    let late = LevelReason::SupplyBelowDemand {
        cpu: CPU,
        window: span(4),
        demand: span(2),
        supply: span(0),
    };
    assert_eq!(
        late.in_words(name),
        "jobs of level B on CPU 0 that are released and due within 4 ns may need 2 ns, and level A leaves 0 ns"
    );
    let task = TaskId(1);
    let short = LevelReason::SlotsTooShort {
        cpu: CPU,
        task,
        job: 3,
    };
    assert_eq!(
        short.in_words(name),
        "`tables[0]` has too short slots for job 3 of `T2` between its release and its deadline"
    );
}

#[test]
fn what_the_examples_leave_to_level_c_in_nanoseconds() {
    let tenths = |tasks: &[(u8, u64, &[u64])]| {
        let each = tasks.iter().map(|&(level, period, times)| {
            let times: Vec<u64> = times.iter().map(|time| time * 100_000).collect();
            task(level, (period * 1_000_000, period * 1_000_000), &times)
        });
        each.collect::<Vec<Task>>()
    };
    // Table 1 in milliseconds, times in tenths: 1.8 + 3.2 + 1.9.
    let table_1 = tenths(&[
        (A, 5, &[10, 10, 20, 30]),
        (A, 10, &[20, 20, 20, 40]),
        (B, 10, &[10, 20, 20]),
        (B, 20, &[10, 10, 20]),
    ]);
    let found = decide(&problem(table_1, 1), Order::Deadlines).unwrap();
    assert_eq!(found.closed[0].burst, 6_900_000);
    // examples/mc2-two-cpus.toml: 1 of 10 on CPU 0, 2 of 20 and 2 of 20 on CPU 1.
    let two_cpus = tenths(&[
        (A, 10, &[10, 10, 20, 40]),
        (A, 20, &[20, 20, 30, 60]),
        (B, 20, &[10, 20, 50]),
    ]);
    let given = Parameters {
        partition: Some([0, 1, 1].map(|cpu| Some(CpuId(cpu))).to_vec()),
        ..Parameters::default()
    };
    let two_cpus = problem(two_cpus, 2).with(&given).unwrap();
    let found = decide(&two_cpus, Order::Deadlines).unwrap();
    let bursts: Vec<u64> = found.closed.iter().map(|closed| closed.burst).collect();
    assert_eq!(bursts, [900_000, 1_800_000 + 3_600_000]);
}
