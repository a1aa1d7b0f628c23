//! The micro-benchmark of preemptions: counts and order, no times.

use std::sync::atomic::AtomicBool;
use vestal_bench::preemption::{Effort, THREADS_MAX, measure};
use vestal_linux::RunError;
use vestal_testkit::machine::{alone, real_time_threads};

const EFFORT: Effort = Effort {
    groups: 2,
    rounds: 4,
};

#[test]
fn every_round_is_measured_and_more_threads_cost_more() {
    let _alone = alone();
    let rows = measure(&[1, 16], EFFORT, None, &AtomicBool::new(false)).unwrap();
    assert_eq!(
        rows.iter().map(|row| row.threads).collect::<Vec<_>>(),
        [1, 16]
    );
    let rounds = u64::from(EFFORT.groups * EFFORT.rounds);
    for row in &rows {
        // Down in each round and up again; the first one of a group stands apart.
        assert_eq!(row.first.count, u64::from(EFFORT.groups));
        assert_eq!(row.later.count, 2 * rounds - row.first.count);
        assert!(row.preemption.count <= rounds && row.preemption.count > 0);
        assert!(row.back.count <= rounds && row.back.count > 0);
        assert!((1..=EFFORT.groups as usize).contains(&row.groups.len()));
        for group in &row.groups {
            assert!(row.first.min <= group.first && group.first <= row.first.max);
            assert!(row.later.min <= group.later && group.later <= row.later.max);
            assert!(row.preemption.min <= group.preemption);
            assert!(group.preemption <= row.preemption.max);
            assert!(row.back.min <= group.back && group.back <= row.back.max);
        }
    }
    assert!(rows[0].later.median < rows[1].later.median, "{rows:#?}");
    assert!(real_time_threads(std::process::id()).is_empty());
}

#[test]
fn who_wants_to_stop_gets_what_was_complete() {
    let _alone = alone();
    let rows = measure(&[1], EFFORT, None, &AtomicBool::new(true)).unwrap();
    assert!(rows.is_empty());
    for threads in [0, THREADS_MAX + 1] {
        let refused = measure(&[threads], EFFORT, None, &AtomicBool::new(false));
        assert!(matches!(refused, Err(RunError::Unsupported(_))));
    }
}
