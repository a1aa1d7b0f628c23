//! What a recording has to agree with itself about: each side of each border of the rules W7, M2, M5 and G1.

use vestal_core::*;
use vestal_trace::replay::checks::Checks;
use vestal_trace::{Header, Record, TaskInfo, What};

const CPU: CpuId = CpuId(0);

const JOB: JobId = JobId {
    task: TaskId(0),
    sequence: 0,
};

/// A task whose jobs are due after 10.
fn header() -> Header {
    Header {
        tasks: vec![TaskInfo {
            name: "a".to_owned(),
            criticality: Level(0),
            period: Duration::from_nanos(20),
            deadline: Duration::from_nanos(10),
        }],
        ..Header::new("amc")
    }
}

/// The first rule that these records break, and the index of the one that breaks it.
fn broken(records: &[(u64, What)]) -> Option<(usize, &'static str)> {
    broken_under(&header(), records)
}

fn broken_under(header: &Header, records: &[(u64, What)]) -> Option<(usize, &'static str)> {
    let mut checks = Checks::new(header);
    let mut all = records.iter().enumerate();
    all.find_map(|(index, (at, what))| {
        let (at, what) = (Instant::from_nanos(*at), *what);
        let verdict = checks.see(&Record { at, what });
        verdict.err().map(|rule| (index, &rule[..2]))
    })
}

const RELEASED: What = What::Observed(Fact::Released { job: JOB });
const STARTED: What = What::Observed(Fact::Started { cpu: CPU, job: JOB });
const COMPLETED: What = What::Observed(Fact::Completed { cpu: CPU, job: JOB });
const DROPPED: What = What::Dropped {
    job: JOB,
    why: DropReason::Deadline,
};
const MISSED: What = What::Miss {
    job: JOB,
    deadline: Instant::from_nanos(10),
    guaranteed: false,
};

#[test]
fn g1_a_gap_may_be_as_long_as_the_time_that_has_passed_and_no_longer() {
    let gap = |length| What::Gap {
        cpu: CPU,
        length: Duration::from_nanos(length),
    };
    assert_eq!(broken(&[(5, gap(4))]), None);
    assert_eq!(broken(&[(5, gap(5))]), None);
    assert_eq!(broken(&[(5, gap(6))]), Some((0, "G1")));
}

#[test]
fn w7_a_world_drops_a_job_once_after_its_release_and_before_its_completion() {
    assert_eq!(broken(&[(0, RELEASED), (1, DROPPED)]), None);
    let twice = [(0, RELEASED), (1, DROPPED), (2, DROPPED)];
    assert_eq!(broken(&twice), Some((2, "W7")));
    let complete = [(0, RELEASED), (1, STARTED), (2, COMPLETED), (3, DROPPED)];
    assert_eq!(broken(&complete), Some((3, "W7")));
    let never = What::Dropped {
        job: JobId { sequence: 1, ..JOB },
        why: DropReason::Deadline,
    };
    assert_eq!(broken(&[(0, RELEASED), (1, never)]), Some((1, "W7")));
    // What the scheduler gave notice of, its world confirms.
    let why = DropReason::Deadline;
    let noticed = What::Notice(Event::Dropped { job: JOB, why });
    assert_eq!(broken(&[(0, RELEASED), (1, noticed), (2, DROPPED)]), None);
}

#[test]
fn m2_a_deadline_is_missed_when_it_is_reached_and_before_only_by_a_job_that_was_dropped() {
    assert_eq!(broken(&[(0, RELEASED), (9, MISSED)]), Some((1, "M2")));
    assert_eq!(broken(&[(0, RELEASED), (10, MISSED)]), None);
    assert_eq!(broken(&[(0, RELEASED), (11, MISSED)]), None);
    assert_eq!(broken(&[(0, RELEASED), (3, DROPPED), (9, MISSED)]), None);
    assert_eq!(broken(&[(0, RELEASED), (3, DROPPED), (11, MISSED)]), None);
    assert_eq!(
        broken(&[(0, RELEASED), (10, MISSED), (11, MISSED)]),
        Some((2, "M4"))
    );
}

#[test]
fn m5_a_manager_may_tell_of_an_end_where_the_job_goes_on_but_not_if_it_was_late_before() {
    let judging = |ordered| Header {
        judges_misses: true,
        ordered,
        ..header()
    };
    let fact = What::Fact;
    let why = StopReason::Preempted;
    let end = What::End { facts: 0 };
    let told = |stop: u64, start: u64, completion: u64| {
        [
            (0, fact(Fact::Released { job: JOB })),
            (1, fact(Fact::Started { cpu: CPU, job: JOB })),
            (
                stop,
                fact(Fact::Stopped {
                    cpu: CPU,
                    job: JOB,
                    why,
                }),
            ),
            (start, fact(Fact::Started { cpu: CPU, job: JOB })),
            (completion, fact(Fact::Completed { cpu: CPU, job: JOB })),
            (completion, end),
        ]
    };
    let later = judging(false);
    assert_eq!(broken_under(&later, &told(2, 15, 15)), None);
    assert_eq!(broken_under(&later, &told(10, 15, 15)), None);
    assert_eq!(broken_under(&later, &told(11, 15, 15)), Some((5, "M5")));
    // It executed at its turn.
    assert_eq!(broken_under(&later, &told(2, 15, 16)), Some((5, "M5")));
    assert_eq!(broken_under(&later, &told(2, 9, 10)), None);
    // Who tells of everything at its instant has no such excuse.
    assert_eq!(
        broken_under(&judging(true), &told(2, 15, 15)),
        Some((5, "M5"))
    );
    // Nor has a job that was never stopped.
    let at_once = [
        (0, fact(Fact::Released { job: JOB })),
        (15, fact(Fact::Started { cpu: CPU, job: JOB })),
        (15, fact(Fact::Completed { cpu: CPU, job: JOB })),
        (15, end),
    ];
    assert_eq!(broken_under(&later, &at_once), Some((3, "M5")));
}
