//! What does not count: time of the machine, and of a more urgent thread that begins its job.

use super::*;

#[test]
fn what_the_machine_took_from_a_cpu_is_no_inversion_there_and_excuses_no_other_cpu() {
    let gap = |at, cpu| {
        let (length, at) = (Duration::from_nanos(8), Instant::from_nanos(at));
        let what = What::Gap {
            cpu: CpuId(cpu),
            length,
        };
        Record { at, what }
    };
    assert_eq!(found_in(&[], 19), Some(10));
    assert_eq!(found_in(&[], 20), None);
    // From 10 to 18 the machine had the CPU: 12 are left.
    assert_eq!(found_in(&[gap(18, 0)], 11), Some(10));
    assert_eq!(found_in(&[gap(18, 0)], 12), None);
    assert_eq!(found_in(&[gap(18, 1)], 19), Some(10));
    // Something else was recorded in the middle of it.
    let between = permit_at(14, 1, RUN);
    assert_eq!(found_in(&[between, gap(18, 0)], 11), Some(10));
    assert_eq!(found_in(&[between, gap(18, 0)], 12), None);
    // What of a gap is before the inversion excuses nothing of it: here all but one, or all.
    assert_eq!(found_in(&[gap(11, 0)], 18), Some(10));
    assert_eq!(found_in(&[gap(11, 0)], 19), None);
    assert_eq!(found_in(&[gap(9, 0)], 19), Some(10));
    // What is told only when the more urgent job runs already, or when both are complete, counts as well.
    assert_eq!(found_in(&[gap(32, 0)], 13), Some(10));
    assert_eq!(found_in(&[gap(32, 0)], 14), None);
    let long = |cpu| {
        let what = What::Gap {
            cpu: CpuId(cpu),
            length: Duration::from_nanos(25),
        };
        let at = Instant::from_nanos(40);
        Record { at, what }
    };
    assert_eq!(found_in(&[long(0)], 4), Some(10));
    assert_eq!(found_in(&[long(0)], 5), None);
    assert_eq!(found_in(&[long(1)], 19), Some(10));
    // Two gaps count both.
    assert_eq!(found_in(&[gap(18, 0), gap(28, 0)], 3), Some(10));
    assert_eq!(found_in(&[gap(18, 0), gap(28, 0)], 4), None);
}

/// The thread of `high` works from 12 to 28 at the beginning of its job, or that of another task.
#[test]
fn the_beginning_of_a_more_urgent_job_is_no_inversion_and_excuses_none_before_or_after_it() {
    let beginning = |task| {
        let edge = |at, edge| Record {
            at: Instant::from_nanos(at),
            what: What::Overhead {
                cpu: CpuId(0),
                mechanism: Mechanism::Release,
                edge,
            },
        };
        let woken = Fact::Woken {
            task: TaskId(task),
            on_behalf_of: None,
        };
        [
            observed(12, woken),
            edge(12, Edge::Begin),
            edge(28, Edge::End),
        ]
    };
    assert_eq!(found_in(&beginning(1), 1), Some(10));
    assert_eq!(found_in(&beginning(1), 2), None);
    assert_eq!(found_in(&beginning(0), 19), Some(10));
    assert_eq!(found_in(&beginning(0), 20), None);
    // From 26 to 30 the machine had the CPU: that excuses nothing of the time before.
    let gap = What::Gap {
        cpu: CpuId(0),
        length: Duration::from_nanos(4),
    };
    let at = Instant::from_nanos(30);
    let with_gap = [&beginning(1)[..], &[Record { at, what: gap }]].concat();
    assert_eq!(found_in(&with_gap, 1), Some(10));
}

/// `low` begins at 14, while the thread of `high` has been at its beginning since 12.
#[test]
fn a_job_that_begins_while_a_more_urgent_one_is_about_to_is_an_inversion() {
    let (header, _) = low_before_high(&[]);
    let cpu = CpuId(0);
    let [low, high] = [0, 1].map(|task| JobId {
        task: TaskId(task),
        sequence: 0,
    });
    let edge = |at, edge| Record {
        at: Instant::from_nanos(at),
        what: What::Overhead {
            cpu,
            mechanism: Mechanism::Release,
            edge,
        },
    };
    let woken = Fact::Woken {
        task: high.task,
        on_behalf_of: None,
    };
    let records = [
        observed(0, Fact::Released { job: low }),
        observed(10, Fact::Released { job: high }),
        observed(12, woken),
        edge(12, Edge::Begin),
        observed(14, Fact::Started { cpu, job: low }),
        edge(28, Edge::End),
        observed(28, Fact::Started { cpu, job: high }),
        observed(35, Fact::Completed { cpu, job: high }),
        observed(40, Fact::Completed { cpu, job: low }),
    ];
    let order = |tolerance| Order {
        priorities: &[1, 2],
        placement: &[],
        tolerance: Duration::from_nanos(tolerance),
    };
    assert_eq!(find(&header, &records, order(14)), None);
    let found = find(&header, &records, order(13)).unwrap();
    assert_eq!((found.running, found.waiting), (low, high));
    assert_eq!(found.from, Instant::from_nanos(14));
}
