//! Runs that keep the order of priorities, and runs that do not.

use crate::common::recording;
use vestal_core::*;
use vestal_trace::replay::inversion::{Inversion, Order, first_inversion};
use vestal_trace::timeline::{Item, Timeline};
use vestal_trace::{Dispatch, Header, Record, What};

fn find(header: &Header, records: &[Record], order: Order<'_>) -> Option<Inversion> {
    let records = records.iter().map(|record| Ok::<_, ()>(*record));
    first_inversion(header, records, order).unwrap()
}

/// The engine keeps the order; told that the priorities were the other way round, it would not have.
#[test]
fn runs_of_the_engine_have_no_inversion_and_reversed_priorities_show_one() {
    let (mut runs, mut reversed_found) = (0, 0);
    for seed in 0..200 {
        let (setup, header, records) = recording(seed, 200, true);
        // Only where the order is that of the priorities: a late job of zero-slack scheduling has the lowest.
        if setup.virtual_deadlines.is_some()
            || setup.lists.is_some()
            || setup.enforcement == Enforcement::ZeroSlack
        {
            continue;
        }
        runs += 1;
        let priorities: Vec<u32> = setup.tasks.iter().map(|task| task.priority).collect();
        let reversed: Vec<u32> = priorities.iter().map(|priority| 9 - priority).collect();
        let order = |priorities| Order {
            priorities,
            placement: &[],
            tolerance: Duration::ZERO,
        };
        let inversion = find(&header, &records, order(&priorities));
        assert_eq!(inversion, None, "seed {seed}");
        reversed_found += u32::from(find(&header, &records, order(&reversed)).is_some());
    }
    assert!(
        runs > 60 && reversed_found * 10 > runs * 8,
        "{reversed_found} of {runs}"
    );
}

fn observed(at: u64, fact: Fact) -> Record {
    Record {
        at: Instant::from_nanos(at),
        what: What::Observed(fact),
    }
}

#[test]
fn a_late_wake_up_is_an_inversion_only_beyond_the_tolerance() {
    let (_, header, _) = recording(0, 1, true);
    let header = Header {
        dispatch: Dispatch::Native,
        ..header
    };
    let job = |task| JobId {
        task: TaskId(task),
        sequence: 0,
    };
    let (lo, hi) = (job(0), job(1));
    let cpu = CpuId(0);
    let records = [
        observed(0, Fact::Released { job: lo }),
        observed(0, Fact::Started { cpu, job: lo }),
        observed(10, Fact::Released { job: hi }),
        observed(
            12,
            Fact::Started {
                cpu: CpuId(1),
                job: job(2),
            },
        ),
        observed(15, Fact::Started { cpu, job: hi }),
        observed(20, Fact::Completed { cpu, job: hi }),
        observed(30, Fact::Completed { cpu, job: lo }),
    ];
    let order = |tolerance, placement| Order {
        priorities: &[1, 2],
        placement,
        tolerance: Duration::from_nanos(tolerance),
    };
    assert_eq!(find(&header, &records, order(5, &[])), None);
    let inversion = find(&header, &records, order(4, &[])).unwrap();
    assert_eq!((inversion.running, inversion.waiting), (lo, hi));
    assert_eq!(inversion.from, Instant::from_nanos(10));
    assert!(inversion.to > Instant::from_nanos(14));
    // On another CPU it may wait for its own.
    let elsewhere = [CpuId(0), CpuId(3)];
    assert_eq!(find(&header, &records, order(0, &elsewhere)), None);
    // A job that may run in the background only does not count as waiting.
    let mut withdrawn = records.to_vec();
    let permit = Permit::Background;
    let what = What::Permit {
        task: TaskId(1),
        permit,
    };
    let at = Instant::from_nanos(10);
    withdrawn.insert(3, Record { at, what });
    let found = find(&header, &withdrawn[..5], order(0, &[]));
    assert_eq!(found, None);
}

/// Suspended jobs wait for as long as that lasts, and late ones go below everybody but those.
#[test]
fn who_is_suspended_has_no_place_until_the_permit_comes_back() {
    let (_, header, _) = recording(0, 1, true);
    let header = Header {
        dispatch: Dispatch::Native,
        ..header
    };
    let cpu = CpuId(0);
    let job = |task| JobId {
        task: TaskId(task),
        sequence: 0,
    };
    let permit = |at, task, permit| Record {
        at: Instant::from_nanos(at),
        what: What::Permit {
            task: TaskId(task),
            permit,
        },
    };
    let run = Permit::Run { limit: None };
    let (low, high) = (job(1), job(0));
    let order = Order {
        priorities: &[1, 2],
        placement: &[],
        tolerance: Duration::ZERO,
    };
    // `low` has the higher priority and is suspended for the sake of `high`.
    let mut records = vec![
        observed(0, Fact::Released { job: high }),
        observed(0, Fact::Started { cpu, job: high }),
        permit(5, 1, Permit::Suspended),
        observed(10, Fact::Released { job: low }),
        observed(20, Fact::Completed { cpu, job: high }),
        permit(20, 1, run),
        observed(20, Fact::Started { cpu, job: low }),
        observed(30, Fact::Completed { cpu, job: low }),
    ];
    assert_eq!(find(&header, &records, order), None);
    // It runs although it is suspended and `high` is ready; it waits although it is not suspended.
    let mut runs = records.clone();
    runs.insert(4, observed(12, Fact::Started { cpu, job: low }));
    let found = find(&header, &runs, order).unwrap();
    assert_eq!((found.running, found.waiting), (low, high));
    let mut waits = records.clone();
    waits.insert(4, permit(15, 1, run));
    let found = find(&header, &waits, order).unwrap();
    assert_eq!((found.running, found.waiting), (high, low));
    // A late job goes below everybody, and before a suspended one.
    records[2] = permit(5, 1, Permit::Background);
    assert_eq!(find(&header, &records, order), None);
    records.insert(2, permit(5, 0, Permit::Suspended));
    let found = find(&header, &records, order).unwrap();
    assert_eq!((found.running, found.waiting), (high, low));
}

/// A native world does not say that a job goes on: who was preempted by a job that is now suspended does.
#[test]
fn a_job_goes_on_when_the_one_that_preempted_it_is_suspended() {
    let (_, header, _) = recording(0, 1, true);
    let header = Header {
        dispatch: Dispatch::Native,
        ..header
    };
    let cpu = CpuId(0);
    let job = |task| JobId {
        task: TaskId(task),
        sequence: 0,
    };
    let (high, low) = (job(0), job(1));
    let permit = |at, permit| Record {
        at: Instant::from_nanos(at),
        what: What::Permit {
            task: TaskId(1),
            permit,
        },
    };
    let records = [
        observed(0, Fact::Released { job: high }),
        observed(0, Fact::Started { cpu, job: high }),
        observed(10, Fact::Released { job: low }),
        observed(10, Fact::Started { cpu, job: low }),
        permit(15, Permit::Suspended),
        observed(20, Fact::Completed { cpu, job: high }),
        permit(20, Permit::Run { limit: None }),
        observed(25, Fact::Completed { cpu, job: low }),
    ];
    let mut timeline = Timeline::new(&header);
    let mut slices = Vec::new();
    for record in &records {
        timeline.feed(record, &mut |at, item| match item {
            Item::Begin { job, .. } => slices.push((at.as_nanos(), job, true)),
            Item::Finish { job, .. } => slices.push((at.as_nanos(), job, false)),
            _ => {}
        });
    }
    let expected = [
        (0, high, true),
        (10, high, false),
        (10, low, true),
        (15, low, false),
        (15, high, true),
        (20, high, false),
        (20, low, true),
        (25, low, false),
    ];
    assert_eq!(slices, expected);
    let order = Order {
        priorities: &[1, 2],
        placement: &[],
        tolerance: Duration::ZERO,
    };
    assert_eq!(find(&header, &records, order), None);
}

#[test]
fn a_job_that_waits_for_its_next_slice_is_not_ready_until_it_goes_on() {
    let (_, header, _) = recording(0, 1, true);
    let header = Header {
        dispatch: Dispatch::Native,
        ..header
    };
    let job = |task| JobId {
        task: TaskId(task),
        sequence: 0,
    };
    let (lo, hi) = (job(0), job(1));
    let cpu = CpuId(0);
    let why = StopReason::Blocked;
    let records = [
        observed(0, Fact::Released { job: hi }),
        observed(0, Fact::Started { cpu, job: hi }),
        observed(5, Fact::Released { job: lo }),
        observed(10, Fact::Stopped { cpu, job: hi, why }),
        observed(10, Fact::Started { cpu, job: lo }),
        observed(20, Fact::Started { cpu, job: hi }),
        // Where nothing says that it stopped, it is ready.
        observed(30, Fact::Started { cpu, job: lo }),
        observed(40, Fact::Completed { cpu, job: lo }),
        observed(50, Fact::Completed { cpu, job: hi }),
    ];
    let order = Order {
        priorities: &[1, 2],
        placement: &[],
        tolerance: Duration::ZERO,
    };
    assert_eq!(find(&header, &records[..6], order), None);
    let inversion = find(&header, &records, order).unwrap();
    assert_eq!((inversion.running, inversion.waiting), (lo, hi));
    assert_eq!(inversion.from, Instant::from_nanos(30));
    // The control: without its stop it was ready all the time.
    let mut without = records.to_vec();
    without.remove(3);
    let inversion = find(&header, &without[..5], order).unwrap();
    assert_eq!(inversion.from, Instant::from_nanos(10));
}
