//! Which primitives are measured: names, counts and order, no times.

use vestal_bench::primitives::{Effort, MARKS, measure, stops_of_late_threads};
use vestal_linux::{Clock, Rights};
use vestal_testkit::machine::{alone, real_time_threads};

const ALWAYS: [&str; 17] = [
    "budget overshoot: manager",
    "budget overshoot: heartbeat of 1 ms",
    "budget overshoot: posix-timer",
    "priority of a blocked thread",
    "CPU clock of a blocked thread",
    "arm and disarm: wall timer, next timer due",
    "arm and disarm: wall timer, behind another",
    "arm and disarm: posix-timer",
    "preemption round trip",
    "preemption round trip: wall timer",
    "clock_gettime",
    "trace record",
    "futex wake with switch, same CPU",
    "release of a less urgent thread",
    "eventfd to epoll, same CPU",
    "clock_nanosleep lateness",
    "timerfd lateness",
];

const WITH_PERF: [&str; 4] = [
    "budget overshoot: perf",
    "arm and disarm: perf, next timer due",
    "arm and disarm: perf, behind another timer",
    "preemption round trip: perf",
];

const WITH_TWO_CPUS: [&str; 7] = [
    "priority of a thread running elsewhere",
    "CPU clock of a thread running elsewhere",
    "futex wake, other CPU",
    "eventfd to epoll, other CPU",
    "stop a running thread on another CPU",
    "spin barrier, 2 CPUs",
    "pthread barrier, 2 CPUs",
];

#[test]
fn all_that_this_machine_has_is_measured() {
    let _alone = alone();
    let rights = Rights::probe();
    let rows = measure(Effort::Full).unwrap();
    let mut expected = ALWAYS.to_vec();
    if rights.perf {
        expected.extend(WITH_PERF);
    }
    if vestal_linux::trace_marker().is_ok() {
        expected.push(MARKS);
    }
    if Clock::Tsc.is_there() {
        expected.push("time stamp counter");
    }
    if rights.processors.len() > 1 {
        expected.extend(WITH_TWO_CPUS);
    }
    let mut names: Vec<&str> = rows.iter().map(|row| row.name).collect();
    names.sort_unstable();
    expected.sort_unstable();
    assert_eq!(names, expected);
    for row in &rows {
        assert!(row.cost.count > 0, "{row:?}");
        assert!(row.cost.min <= row.cost.median && row.cost.median <= row.cost.max);
    }
    // A fifth of them where it is to be quick.
    let many = rows.iter().filter(|row| row.cost.count >= 1_000);
    assert!(many.count() >= 5, "{rows:?}");
    assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
}

/// A thread that waits for another CPU and has not begun yet, because others have the one that it starts on, is not kept from it by the
/// thread that measures: that would last until RT throttling ends it.
#[test]
fn a_thread_that_begins_late_is_waited_for() {
    let _alone = alone();
    if Rights::probe().processors.len() < 2 {
        return;
    }
    let late = stops_of_late_threads(4_000_000).unwrap();
    assert!(late.count >= 10, "{late:?}");
    assert!(late.max < 250_000_000, "{late:?}");
    assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
}
