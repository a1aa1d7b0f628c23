//! How a manager that dispatches is called, and when it looks at budgets.

use super::*;
use crate::control::ManagerRecord;
use crate::cpu::{Cpu, Terms};
use crate::driver::Kind;
use crate::driver::dispatch::scripted;
use crate::driver::tests::configured;
use crate::monitor::Monitor;
use crate::recording::Tracer;
use crate::task::TaskShared;
use crate::words::{Allowance, Bell};
use vestal_core::engine::Uniprocessor;
use vestal_trace::Recorder;

/// More than a test has patience for.
const LONG_NANOS: u64 = 60_000_000_000;

#[test]
fn a_call_while_the_manager_looks_ends_its_next_wait_and_only_that() {
    let mut cpu = Cpu::in_test(Vec::new(), Terms::in_test(Monitor::Manager));
    cpu.call = Call::Futex(Bell::default());
    let scheduler = configured(|configuration| Uniprocessor::new(configuration).unwrap());
    let scheduler: BoxedScheduler = Box::new(scheduler);
    let mut managed = Managed::new(0, Recorder::new(scheduler, Tracer::off()), None, 1);
    let mut record = ManagerRecord::new(0, 0);
    let control = Control::new(&cpu, &mut record);
    managed.start(&control).unwrap();
    let mut early = 0;
    for _ in 0..3 {
        // The manager looks; somebody calls twice meanwhile.
        cpu.kick_manager();
        cpu.kick_manager();
        let begun = monotonic_nanos();
        managed.wait(&control, begun + LONG_NANOS);
        assert!(
            monotonic_nanos() < begun + LONG_NANOS,
            "it did not hear of the call"
        );
        let until = monotonic_nanos() + 2_000_000;
        managed.wait(&control, until);
        early += u32::from(monotonic_nanos() < until);
    }
    // The kernel may end a wait for no reason, but not each.
    assert!(early < 3, "it hears of each call twice");
}

/// A look that comes too early is followed by another one after so long. The budget is a millisecond.
const BOUND_NANOS: u64 = LONG_NANOS;
const LIMIT_NANOS: u64 = 1_000_000;

#[test]
fn the_least_wait_counts_from_the_end_of_the_last_look_and_not_from_a_call() {
    let (enforces, futex) = (true, true);
    let terms = Terms {
        duties: Kind::Managed { enforces, futex }.duties(),
        bound_nanos: BOUND_NANOS,
        ..Terms::in_test(Monitor::Manager)
    };
    let scheduler = configured(|configuration| Uniprocessor::new(configuration).unwrap());
    let task = TaskShared::in_test(2, Allowance::Unlimited);
    task.jobs.tid.set(scripted::tid_of(0));
    scripted::begin(1);
    let cpu = Cpu::in_test(vec![task], terms);
    cpu.run.epoch.set(monotonic_nanos());
    cpu.run.end.set(u64::MAX);
    let scheduler: BoxedScheduler = Box::new(scheduler);
    let mut managed = Managed::new(1, Recorder::new(scheduler, Tracer::off()), None, 1);
    let mut record = ManagerRecord::new(1, 0);
    let mut control = Control::new(&cpu, &mut record);
    managed.start(&control).unwrap();
    let begun = monotonic_nanos();
    managed.round(&mut control, &None, begun).unwrap();
    let assigned = cpu.tasks[0].handover.take_assigned().unwrap();
    // By any clock it has executed nothing.
    cpu.tasks[0].jobs.begin(assigned.sequence, u64::MAX);
    managed.arm(&control);
    let first = managed.budget_look;
    // Nothing has looked at that job before.
    let soon = begun + LIMIT_NANOS..=monotonic_nanos() + LIMIT_NANOS;
    assert!(soon.contains(&first));
    // Somebody calls; and then it is time, and too early.
    managed.round(&mut control, &None, first - 1).unwrap();
    managed.arm(&control);
    assert!(managed.budget_look <= monotonic_nanos() + LIMIT_NANOS);
    let looked = managed.budget_look;
    managed.round(&mut control, &None, looked).unwrap();
    let after = monotonic_nanos() + BOUND_NANOS;
    managed.arm(&control);
    let waits = after..=monotonic_nanos() + BOUND_NANOS;
    assert!(waits.contains(&managed.budget_look));
    // A call in between does not put it off.
    let look = managed.budget_look;
    managed.round(&mut control, &None, look - 1).unwrap();
    managed.arm(&control);
    assert_eq!(managed.budget_look, look);
}
