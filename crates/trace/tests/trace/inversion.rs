//! Runs that keep the order of priorities, and runs that do not.

mod excused;

use crate::common::recording;
use vestal_core::*;
use vestal_trace::replay::inversion::{Inversion, Order, first_inversion};
use vestal_trace::timeline::{Item, Timeline};
use vestal_trace::{Dispatch, DomainId, DomainInfo, Edge, Header, Mechanism, Record, What};

fn find(header: &Header, records: &[Record], order: Order<'_>) -> Option<Inversion> {
    let records = records.iter().map(|record| Ok::<_, ()>(*record));
    first_inversion(header, records, order).unwrap()
}

/// The engine keeps the order; if it believed that the priorities were the other way round, it would not have.
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
    assert_eq!(inversion.to, Instant::from_nanos(15));
    // On another CPU it may wait for its own.
    let elsewhere = [CpuId(0), CpuId(3)];
    assert_eq!(find(&header, &records, order(0, &elsewhere)), None);
    // A job that may run in the background only does not count as waiting.
    let mut demoted = records.to_vec();
    let permit = Permit::Below { limit: None };
    let what = What::Permit {
        task: TaskId(1),
        permit,
    };
    let at = Instant::from_nanos(10);
    demoted.insert(3, Record { at, what });
    let found = find(&header, &demoted[..5], order(0, &[]));
    assert_eq!(found, None);
}

/// Suspended jobs wait for as long as that lasts, and late ones go below all but those.
#[test]
fn who_is_suspended_does_not_wait_until_the_permit_comes_back() {
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
        permit(
            5,
            1,
            Permit::Suspended {
                until: Until::Event,
            },
        ),
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
    // A late job goes below all others, and before a suspended one.
    records[2] = permit(5, 1, Permit::Below { limit: None });
    assert_eq!(find(&header, &records, order), None);
    records.insert(
        2,
        permit(
            5,
            0,
            Permit::Suspended {
                until: Until::Event,
            },
        ),
    );
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
        permit(
            15,
            Permit::Suspended {
                until: Until::Event,
            },
        ),
        observed(20, Fact::Completed { cpu, job: high }),
        permit(20, Permit::Run { limit: None }),
        observed(25, Fact::Completed { cpu, job: low }),
    ];
    let mut timeline = Timeline::new(&header);
    let mut slices = Vec::new();
    for (at, item) in records.iter().flat_map(|record| timeline.feed(record)) {
        match item {
            Item::Begin { job, .. } => slices.push((at.as_nanos(), job, true)),
            Item::Finish { job, .. } => slices.push((at.as_nanos(), job, false)),
            _ => {}
        }
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

/// A native run of one CPU in which `low` runs from 0 to 30 and `high` arrives at 10; with `more` records.
fn low_before_high(more: &[Record]) -> (Header, Vec<Record>) {
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
    let (low, high) = (job(0), job(1));
    let mut records = vec![
        observed(0, Fact::Released { job: low }),
        observed(0, Fact::Started { cpu, job: low }),
        observed(10, Fact::Released { job: high }),
        observed(30, Fact::Completed { cpu, job: low }),
        observed(30, Fact::Started { cpu, job: high }),
        observed(35, Fact::Completed { cpu, job: high }),
    ];
    records.extend_from_slice(more);
    // The order of records of one instant is kept: `more` comes last.
    records.sort_by_key(|record| record.at);
    (header, records)
}

/// Since when the order is not kept, beyond a tolerance.
fn found_in(more: &[Record], tolerance: u64) -> Option<u64> {
    let (header, records) = low_before_high(more);
    let order = Order {
        priorities: &[1, 2],
        placement: &[],
        tolerance: Duration::from_nanos(tolerance),
    };
    let found = find(&header, &records, order)?;
    Some(found.from.as_nanos())
}

fn permit_at(at: u64, task: u16, permit: Permit) -> Record {
    let (at, task) = (Instant::from_nanos(at), TaskId(task));
    let what = What::Permit { task, permit };
    Record { at, what }
}

const RUN: Permit = Permit::Run { limit: None };

#[test]
fn a_pending_job_whose_task_is_not_admitted_stays_in_the_background_when_the_task_comes_back() {
    for lost in [
        Permit::NotAdmitted,
        Permit::Dropped {
            why: DropReason::Mode,
        },
    ] {
        let back = [permit_at(12, 1, lost), permit_at(20, 1, RUN)];
        assert_eq!(found_in(&back, 2), None, "{lost:?}");
        // As does one that arrived meanwhile.
        let before = [permit_at(5, 1, lost), permit_at(20, 1, RUN)];
        assert_eq!(found_in(&before, 2), None, "{lost:?}");
        // One that arrives when the task is back is as urgent as ever.
        let over = [permit_at(5, 1, lost), permit_at(9, 1, RUN)];
        assert_eq!(found_in(&over, 2), Some(10), "{lost:?}");
        // Who runs in the background runs before no other.
        let running = [
            permit_at(5, 0, lost),
            permit_at(6, 0, RUN),
            permit_at(12, 1, Permit::Below { limit: None }),
        ];
        assert_eq!(found_in(&running, 2), Some(10), "{lost:?}");
    }
    // What is only suspended, or late, gets its priority back.
    for held in [
        Permit::Suspended {
            until: Until::Event,
        },
        Permit::Below { limit: None },
    ] {
        let back = [permit_at(10, 1, held), permit_at(20, 1, RUN)];
        assert_eq!(found_in(&back, 2), Some(20), "{held:?}");
    }
}

/// The header of a native run of tasks of level 1 without deadlines.
fn native(header: Header) -> Header {
    Header {
        dispatch: Dispatch::Native,
        tasks: header
            .tasks
            .iter()
            .map(|task| vestal_trace::TaskInfo {
                criticality: Level(1),
                deadline: Duration::ZERO,
                ..task.clone()
            })
            .collect(),
        ..header
    }
}

/// When which job is drawn from.
fn drawn(header: &Header, records: &[Record]) -> Vec<(u64, JobId)> {
    let mut timeline = Timeline::new(header);
    let mut slices = Vec::new();
    for (at, item) in records.iter().flat_map(|record| timeline.feed(record)) {
        if let Item::Begin { job, .. } = item {
            slices.push((at.as_nanos(), job));
        }
    }
    slices
}

/// A job that has preempted another and loses its priority goes on in the background, so the other one does.
#[test]
fn a_job_goes_on_when_the_one_that_preempted_it_used_up_its_limit_or_is_not_admitted_any_more() {
    let (_, header, _) = recording(0, 1, true);
    let header = native(header);
    let cpu = CpuId(0);
    let job = |task| JobId {
        task: TaskId(task),
        sequence: 0,
    };
    let (low, high) = (job(0), job(1));
    let overrun = |level| {
        let (level, executed) = (Level(level), Service::from_nanos(5));
        let what = What::Notice(Event::Overrun {
            job: high,
            level,
            executed,
        });
        let at = Instant::from_nanos(15);
        Record { at, what }
    };
    let run = |what: Record| {
        [
            observed(0, Fact::Released { job: low }),
            observed(0, Fact::Started { cpu, job: low }),
            observed(10, Fact::Released { job: high }),
            observed(10, Fact::Started { cpu, job: high }),
            what,
            observed(20, Fact::Completed { cpu, job: low }),
            observed(25, Fact::Completed { cpu, job: high }),
        ]
    };
    let drawn = |records: &[Record]| drawn(&header, records);
    let order = Order {
        priorities: &[1, 2],
        placement: &[],
        tolerance: Duration::ZERO,
    };
    for loses in [
        overrun(1),
        permit_at(15, 1, Permit::NotAdmitted),
        permit_at(
            15,
            1,
            Permit::Dropped {
                why: DropReason::Mode,
            },
        ),
    ] {
        let records = run(loses);
        assert_eq!(
            drawn(&records),
            [(0, low), (10, high), (15, low), (20, high)],
            "{loses}"
        );
        assert_eq!(find(&header, &records, order), None, "{loses}");
    }
    // Who used up a lower level's limit raises the mode and keeps its priority.
    assert_eq!(drawn(&run(overrun(0))), [(0, low), (10, high)]);
}

/// Jobs of other domains run on other CPUs: they overtake nobody, and a domain's inversion is found on its own CPU.
#[test]
fn each_domain_keeps_its_own_order() {
    let (_, header, _) = recording(0, 1, true);
    let domain = |name: &str, number: u16, tasks: &[u16]| DomainInfo {
        name: name.to_owned(),
        cluster: number,
        cpus: vec![CpuId(number)],
        tasks: tasks.iter().copied().map(TaskId).collect(),
    };
    let tasks = vec![header.tasks[0].clone(); 4];
    let header = Header {
        dispatch: Dispatch::Native,
        cpus: 2,
        tasks,
        domains: vec![domain("left", 0, &[0, 3]), domain("right", 1, &[2, 1])],
        ..header
    };
    let job = |task| JobId {
        task: TaskId(task),
        sequence: 0,
    };
    let started = |at, cpu, task| {
        let (cpu, job) = (CpuId(cpu), job(task));
        observed(at, Fact::Started { cpu, job })
    };
    let released = |at, task| observed(at, Fact::Released { job: job(task) });
    let word = |at, domain| {
        let (at, domain) = (Instant::from_nanos(at), DomainId(domain));
        let what = What::Domain { domain };
        Record { at, what }
    };
    let order = Order {
        priorities: &[1, 2, 3, 4],
        placement: &[CpuId(0), CpuId(1), CpuId(1), CpuId(0)],
        tolerance: Duration::ZERO,
    };
    // The highest priority of all is ready on the left, where it runs at once; on the right a lower one runs.
    let mut records = vec![
        released(0, 0),
        started(0, 0, 0),
        word(0, 1),
        released(0, 1),
        started(0, 1, 1),
        word(5, 0),
        released(5, 3),
        started(5, 0, 3),
        word(9, 1),
        released(9, 2),
        started(9, 1, 2),
        word(20, 0),
        observed(20, Fact::Idle { cpu: CpuId(0) }),
    ];
    assert_eq!(find(&header, &records, order), None);
    // On the right the higher one waits.
    records.remove(10);
    let found = find(&header, &records, order).unwrap();
    assert_eq!(found.cpu, CpuId(1));
    assert_eq!((found.running, found.waiting), (job(1), job(2)));
}
