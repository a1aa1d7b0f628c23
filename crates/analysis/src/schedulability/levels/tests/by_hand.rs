//! Examples worked out by hand.

use super::super::pattern::Pattern;
use super::super::table as built;
use super::*;
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
fn the_pattern_of_table_1_by_hand() {
    let problem = table_1();
    let rows = rows(&problem, A);
    let built = built::build(CPU, &rows).unwrap();
    let slots = [slot(0, 3, 0), slot(3, 2, 1), slot(5, 3, 0), slot(8, 2, 1)];
    assert_eq!(built, table(10, &slots));
    let of = |level: u8| Pattern::new(&built, &rows, usize::from(level));
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
