//! What a recording of others shows of a task set, against runs whose every figure is known.

use vestal_core::*;
use vestal_trace::replay::conformance::{Beyond, Conformance, Missed};
use vestal_trace::{Dispatch, Header, Record, TaskInfo, What, World};

const CPU: CpuId = CpuId(1);

/// `lo` executes 3 of 20, due after 10; `hi` 4 or, at its own level, 6 of 20, due after 12.
fn tasks() -> [Task; 2] {
    let task = |level, deadline, wcet: &[u64]| {
        let wcet: Vec<Service> = wcet
            .iter()
            .map(|value| Service::from_nanos(*value))
            .collect();
        let period = Duration::from_nanos(20);
        let deadline = Duration::from_nanos(deadline);
        Task::new(Level(level), period, deadline, Wcet::new(&wcet).unwrap()).unwrap()
    };
    [task(0, 10, &[3]), task(1, 12, &[4, 6])]
}

fn header() -> Header {
    let info = |(index, task): (usize, &Task)| TaskInfo {
        name: index.to_string(),
        criticality: task.criticality,
        period: task.period,
        deadline: task.deadline,
    };
    Header {
        world: World::Foreign,
        dispatch: Dispatch::Native,
        cpus: 2,
        tasks: tasks().iter().enumerate().map(info).collect(),
        ..Header::new("ftrace")
    }
}

const LO: u16 = 0;
const HI: u16 = 1;

fn job(task: u16, sequence: u64) -> JobId {
    let task = TaskId(task);
    JobId { task, sequence }
}

fn at(at: u64, fact: Fact) -> Record {
    let (at, what) = (Instant::from_nanos(at), What::Observed(fact));
    Record { at, what }
}

fn arrives(when: u64, task: u16, number: u64) -> Record {
    let job = job(task, number);
    at(when, Fact::Released { job })
}

fn runs(when: u64, task: u16, number: u64) -> Record {
    let job = job(task, number);
    at(when, Fact::Started { cpu: CPU, job })
}

fn stops(when: u64, task: u16, number: u64, why: StopReason) -> Record {
    let job = job(task, number);
    at(when, Fact::Stopped { cpu: CPU, job, why })
}

fn ends(when: u64, task: u16, number: u64) -> Record {
    let job = job(task, number);
    at(when, Fact::Completed { cpu: CPU, job })
}

fn end(when: u64) -> Record {
    let (at, what) = (Instant::from_nanos(when), What::End { facts: 0 });
    Record { at, what }
}

fn found(records: &[Record], tolerance: u64) -> Conformance {
    let tolerance = Duration::from_nanos(tolerance);
    Conformance::of(&header(), records, &tasks(), tolerance)
}

#[test]
fn figures_of_jobs_are_measured_from_their_arrivals_and_on_the_cpu() {
    let run = [
        arrives(0, LO, 0),
        runs(1, LO, 0),
        arrives(2, HI, 0),
        stops(2, LO, 0, StopReason::Preempted),
        runs(2, HI, 0),
        ends(6, HI, 0),
        runs(7, LO, 0),
        ends(9, LO, 0),
        arrives(19, LO, 1),
        runs(20, LO, 1),
        ends(22, LO, 1),
        end(25),
    ];
    let found = found(&run, 0);
    let (lo, hi) = (&found.tasks[0], &found.tasks[1]);
    assert_eq!((lo.released, lo.completed, lo.unseen), (2, 2, 0));
    assert_eq!(lo.execution_max, Some(Service::from_nanos(3)));
    assert_eq!(lo.response_max, Some(Duration::from_nanos(9)));
    assert_eq!(lo.distance_min, Some(Duration::from_nanos(19)));
    assert_eq!(hi.execution_max, Some(Service::from_nanos(4)));
    assert_eq!(
        (&lo.exceeded[..], &hi.exceeded[..]),
        (&[0][..], &[0, 0][..])
    );
    assert_eq!(found.cpus.iter().copied().collect::<Vec<_>>(), [CPU]);
    // From 0 to 1, from 6 to 7 and from 19 to 20.
    assert_eq!(found.withheld, Duration::from_nanos(3));
    assert_eq!(found.longest_withheld, Duration::from_nanos(1));
    assert_eq!(
        (found.beyond, found.missed, found.lost_at),
        (None, None, None)
    );
}

#[test]
fn a_job_beyond_its_own_level_is_named_unless_the_tolerance_covers_it() {
    let run = [arrives(0, HI, 0), runs(0, HI, 0), ends(8, HI, 0), end(9)];
    let beyond = Beyond {
        job: job(HI, 0),
        executed: Service::from_nanos(8),
        limit: Service::from_nanos(6),
    };
    assert_eq!(found(&run, 0).beyond, Some(beyond));
    assert_eq!(found(&run, 1).tasks[1].exceeded, [1, 1]);
    assert_eq!(found(&run, 2).beyond, None);
    assert_eq!(found(&run, 2).tasks[1].exceeded, [1, 0]);
    // One that is not done yet has executed too much already.
    let endless = [arrives(0, LO, 0), runs(0, LO, 0), end(4)];
    assert_eq!(
        found(&endless, 0).beyond.map(|beyond| beyond.job),
        Some(job(LO, 0))
    );
    assert_eq!(found(&endless[..], 1).beyond, None);
}

/// `hi` executes `demand`, and `lo`, which waits for it, is late.
fn late_lo(demand: u64) -> Vec<Record> {
    vec![
        arrives(0, HI, 0),
        arrives(0, LO, 0),
        runs(0, HI, 0),
        ends(demand, HI, 0),
        runs(9, LO, 0),
        ends(11, LO, 0),
        end(12),
    ]
}

#[test]
fn a_miss_is_guaranteed_while_no_incomplete_job_has_exceeded_the_level() {
    let missed = Missed {
        job: job(LO, 0),
        deadline: Instant::from_nanos(10),
    };
    assert_eq!(found(&late_lo(4), 0).missed, Some(missed));
    let over = found(&late_lo(5), 0);
    assert_eq!(
        (over.tasks[0].missed, over.tasks[0].missed_guaranteed),
        (1, 0)
    );
    assert_eq!(over.missed, None);
    // What exceeds it by the tolerance does not exceed it.
    assert_eq!(found(&late_lo(5), 1).missed, Some(missed));
    // The level is 0 again when nothing is incomplete.
    let mut later = vec![arrives(0, HI, 0), runs(0, HI, 0), ends(5, HI, 0)];
    let shifted = late_lo(4).into_iter().map(|record| Record {
        at: record.at.saturating_add(Duration::from_nanos(20)),
        ..record
    });
    let renamed = shifted.map(|mut record| {
        if let What::Observed(
            Fact::Released { job } | Fact::Started { job, .. } | Fact::Completed { job, .. },
        ) = &mut record.what
        {
            job.sequence += 1;
        }
        record
    });
    later.extend(renamed);
    assert!(found(&later, 0).missed.is_some());
    // A job of the higher level is guaranteed its deadline while its own level's values hold.
    let late_hi = |demand| {
        [
            arrives(0, HI, 0),
            runs(0, HI, 0),
            stops(demand, HI, 0, StopReason::Preempted),
            runs(13, HI, 0),
            ends(13, HI, 0),
            end(14),
        ]
    };
    assert!(found(&late_hi(6), 0).missed.is_some());
    assert!(found(&late_hi(7), 0).missed.is_none());
}

#[test]
fn a_job_that_completes_at_its_deadline_is_in_time_and_one_that_never_does_is_late() {
    let run = |last| {
        [
            arrives(0, LO, 0),
            runs(8, LO, 0),
            ends(last, LO, 0),
            end(30),
        ]
    };
    assert_eq!(found(&run(10), 0).tasks[0].missed, 0);
    assert_eq!(found(&run(11), 0).tasks[0].missed, 1);
    let never = [arrives(0, LO, 0), runs(8, LO, 0), end(11)];
    assert_eq!(found(&never, 0).tasks[0].missed, 1);
    // At the end it may just have completed.
    let open = [arrives(0, LO, 0), runs(8, LO, 0), end(10)];
    assert_eq!(found(&open, 0).tasks[0].missed, 0);
}

#[test]
fn what_began_before_the_recording_is_not_judged_and_nothing_is_guaranteed_beside_it() {
    let run = [
        runs(0, HI, 0),
        arrives(1, LO, 0),
        ends(9, HI, 0),
        runs(9, LO, 0),
        ends(12, LO, 0),
        end(13),
    ];
    let found = found(&run, 0);
    assert_eq!((found.tasks[1].unseen, found.tasks[1].completed), (1, 0));
    assert_eq!((found.tasks[1].execution_max, found.beyond), (None, None));
    assert_eq!((found.tasks[0].missed, found.missed), (1, None));
}

#[test]
fn nothing_is_judged_behind_missing_events() {
    let mut run = vec![arrives(0, HI, 0), runs(0, HI, 0), ends(8, HI, 0)];
    let judged = run.len();
    run.extend([
        arrives(20, LO, 0),
        runs(20, LO, 0),
        ends(29, LO, 0),
        end(30),
    ]);
    let what = What::Lost { count: 1 };
    let at = Instant::from_nanos(10);
    run.insert(judged, Record { at, what });
    let after = found(&run, 0);
    assert_eq!(after.lost_at, Some(at));
    assert_eq!(
        (after.tasks[0].released, after.tasks[1].exceeded[1]),
        (0, 1)
    );
    run.swap(judged, 0);
    let nothing = found(&run, 0);
    assert_eq!((nothing.tasks[1].released, nothing.beyond), (0, None));
}

#[test]
fn a_job_that_waits_for_something_of_its_own_is_not_kept_from_the_cpu() {
    let woken = |when| {
        let on_behalf_of = None;
        let task = TaskId(HI);
        at(when, Fact::Woken { task, on_behalf_of })
    };
    let run = [
        arrives(0, HI, 0),
        runs(0, HI, 0),
        stops(2, HI, 0, StopReason::Blocked),
        woken(7),
        runs(8, HI, 0),
        ends(10, HI, 0),
        end(10),
    ];
    let found = found(&run, 0);
    assert_eq!(found.withheld, Duration::from_nanos(1));
    assert_eq!(found.tasks[1].execution_max, Some(Service::from_nanos(4)));
}
