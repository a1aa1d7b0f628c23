//! What each enforcement had guaranteed, job by job.

use super::*;
use vestal_core::{JobId, LevelSet, TaskConfiguration, TaskId, Wcet};

const MISSED: Verdict = Verdict::Missed { guaranteed: true };
const EXCUSED: Verdict = Verdict::Missed { guaranteed: false };

fn ns(value: u64) -> Instant {
    Instant::from_nanos(value)
}

/// LO: C 3, D 10. HI: C 4/9, D 20. All deadlines are counted from 0.
fn tasks() -> [Task; 2] {
    let wcet = |values: &[u64]| {
        let values: Vec<Service> = values.iter().copied().map(Service::from_nanos).collect();
        Wcet::new(&values).unwrap()
    };
    let span = Duration::from_nanos;
    [
        Task::new(Level(0), span(10), span(10), wcet(&[3])).unwrap(),
        Task::new(Level(1), span(20), span(20), wcet(&[4, 9])).unwrap(),
    ]
}

fn job(task: u16, executed: u64, demand: u64) -> JobState {
    JobState {
        id: JobId {
            task: TaskId(task),
            sequence: 0,
        },
        released: ns(0),
        deadline: ns(if task == 0 { 10 } else { 20 }),
        demand: Service::from_nanos(demand),
        executed: Service::from_nanos(executed),
        demoted: None,
        last_cpu: None,
    }
}

fn guarantee(enforcement: Enforcement, exhaustion: Exhaustion) -> Guarantee {
    Guarantee::new(&tasks(), enforcement, exhaustion)
}

/// `executed` is what the job has executed at `end`.
fn runs(guarantee: &mut Guarantee, start: u64, end: u64, job: &JobState) {
    let segment = Segment {
        cpu: CpuId(0),
        start: ns(start),
        end: ns(end),
    };
    guarantee.executed(segment, job);
}

#[test]
fn where_nothing_is_promised_no_miss_is_guaranteed() {
    let mut none = Guarantee::none();
    let (job, start) = (job(0, 2, 2), ns(9));
    let cpu = CpuId(0);
    none.started(start, cpu, &job);
    none.executed(
        Segment {
            cpu,
            start,
            end: ns(11),
        },
        &job,
    );
    assert_eq!(none.judge(&job, ns(11), Ending::Completed), Some(EXCUSED));
    assert_eq!(
        none.judge(&job, ns(10), Ending::Completed),
        Some(Verdict::Met)
    );
    // The control: the same under static limits.
    let one = Guarantee::new(&tasks(), Enforcement::Static, Exhaustion::Background);
    assert_eq!(one.judge(&job, ns(11), Ending::Completed), Some(MISSED));
}

#[test]
fn a_miss_without_any_overrun_was_guaranteed_not_to_happen() {
    let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
    runs(&mut smc, 0, 4, &job(1, 4, 4));
    assert_eq!(
        smc.judge(&job(0, 3, 3), ns(11), Ending::Completed),
        Some(MISSED)
    );
    assert_eq!(
        smc.judge(&job(0, 3, 3), ns(10), Ending::Completed),
        Some(Verdict::Met)
    );
    assert_eq!(
        smc.judge(&job(0, 2, 3), ns(10), Ending::Unfinished),
        Some(MISSED)
    );
    assert_eq!(smc.judge(&job(0, 2, 3), ns(9), Ending::Unfinished), None);
}

#[test]
fn a_hi_job_beyond_its_lo_value_excuses_lo_misses_and_no_hi_miss() {
    let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
    runs(&mut smc, 2, 9, &job(1, 7, 9));
    assert_eq!(smc.crossings[0], Some(ns(6)), "4 units after 2");
    assert_eq!(
        smc.judge(&job(0, 3, 3), ns(11), Ending::Completed),
        Some(EXCUSED)
    );
    assert_eq!(
        smc.judge(&job(1, 9, 9), ns(21), Ending::Completed),
        Some(MISSED)
    );
}

#[test]
fn a_crossing_at_the_deadline_or_after_it_comes_too_late_to_excuse() {
    let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
    runs(&mut smc, 6, 12, &job(1, 6, 9));
    assert_eq!(smc.crossings[0], Some(ns(10)));
    assert_eq!(
        smc.judge(&job(0, 0, 3), ns(15), Ending::Completed),
        Some(MISSED)
    );
}

#[test]
fn standing_exactly_at_the_lo_value_is_a_crossing_where_it_raises_the_mode() {
    let standing = job(1, 4, 9);
    let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
    runs(&mut smc, 0, 4, &standing);
    assert_eq!(smc.crossings[0], None);
    let mut amc = guarantee(Enforcement::Adaptive, Exhaustion::Background);
    runs(&mut amc, 0, 4, &standing);
    assert_eq!(amc.crossings[0], Some(ns(4)));
    let mut amc = guarantee(Enforcement::Adaptive, Exhaustion::Background);
    runs(&mut amc, 0, 4, &job(1, 4, 4));
    assert_eq!(amc.crossings[0], None, "it completed there");
}

/// Zero slack where the HI job's instant is so long after its release.
fn zss(after: u64, on_miss: OnMiss, exhaustion: Exhaustion) -> Guarantee {
    let entries = tasks().map(|task| TaskConfiguration {
        on_miss,
        zero_slack: (task.criticality > Level(0)).then(|| Duration::from_nanos(after)),
        ..TaskConfiguration::new(task, 1)
    });
    Guarantee::of(&Configuration {
        tasks: &entries,
        levels: LevelSet::new(2).unwrap(),
        enforcement: Enforcement::ZeroSlack,
        exhaustion,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    })
}

#[test]
fn a_job_that_stands_at_its_lo_value_is_beyond_it_when_it_is_critical_or_goes_on() {
    let with = |after| zss(after, OnMiss::Continue, Exhaustion::Background);
    let late_lo_job =
        |guarantee: &Guarantee| guarantee.judge(&job(0, 0, 3), ns(11), Ending::Completed);
    // It stands from 4 on, and suspends the LO job from 10 or from 9 on: due at 10.
    for (after, verdict) in [(10, MISSED), (9, EXCUSED), (4, EXCUSED), (2, EXCUSED)] {
        let mut zss = with(after);
        runs(&mut zss, 0, 4, &job(1, 4, 9));
        assert_eq!(
            zss.crossings[0],
            Some(ns(after.max(4))),
            "not before it stands"
        );
        assert_eq!(late_lo_job(&zss), Some(verdict), "critical after {after}");
        assert_eq!(zss.crossings[1], None);
    }
    let mut zss = with(10);
    runs(&mut zss, 0, 4, &job(1, 4, 9));
    runs(&mut zss, 7, 8, &job(1, 5, 9));
    assert_eq!(
        zss.crossings[0],
        Some(ns(7)),
        "it goes on before it is critical"
    );
    assert_eq!(late_lo_job(&zss), Some(EXCUSED));
    let mut zss = with(2);
    runs(&mut zss, 0, 4, &job(1, 4, 4));
    assert_eq!(zss.crossings[0], None, "it completed there");
}

/// Of a task whose values are all the same, that value is its last limit, too.
#[test]
fn a_job_that_stops_counting_where_it_stands_suspends_nobody() {
    let equal = |guarantee: &mut Guarantee| {
        let same = Wcet::constant(Service::from_nanos(4));
        guarantee.tasks[1].wcet = same;
        runs(guarantee, 0, 4, &job(1, 4, 9));
    };
    let mut demoted = zss(2, OnMiss::Continue, Exhaustion::Background);
    equal(&mut demoted);
    assert_eq!(demoted.crossings, [None; LEVELS_MAX]);
    let mut unlimited = zss(6, OnMiss::Continue, Exhaustion::Continue);
    equal(&mut unlimited);
    assert_eq!(unlimited.crossings, [Some(ns(6)); LEVELS_MAX]);
    // Critical at 20 only, when it is dropped.
    let mut dropped = zss(20, OnMiss::Abort, Exhaustion::Background);
    runs(&mut dropped, 0, 4, &job(1, 4, 9));
    assert_eq!(dropped.crossings[0], None);
    let mut dropped_later = zss(19, OnMiss::Abort, Exhaustion::Background);
    runs(&mut dropped_later, 0, 4, &job(1, 4, 9));
    assert_eq!(dropped_later.crossings[0], Some(ns(19)));
}

#[test]
fn an_idle_instant_restores_the_guarantee() {
    let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
    runs(&mut smc, 0, 9, &job(1, 9, 9));
    smc.idle(ns(9));
    assert!(smc.holds_until(Level(0), ns(100)));
}

#[test]
fn background_execution_voids_nothing_and_a_demoted_job_was_guaranteed_nothing() {
    let mut smc = guarantee(Enforcement::Static, Exhaustion::Background);
    let demoted = JobState {
        demoted: Some(ns(9)),
        ..job(1, 12, 15)
    };
    runs(&mut smc, 9, 12, &demoted);
    assert!(smc.holds_until(Level(0), ns(100)));
    assert_eq!(
        smc.judge(&demoted, ns(30), Ending::Completed),
        Some(EXCUSED)
    );
}

#[test]
fn a_job_demoted_after_its_deadline_is_judged_then_and_only_then() {
    let smc = guarantee(Enforcement::Static, Exhaustion::Background);
    let demoted = JobState {
        demoted: Some(ns(21)),
        ..job(1, 9, 15)
    };
    assert_eq!(smc.judge(&demoted, ns(21), Ending::Demoted), Some(MISSED));
    assert_eq!(smc.judge(&demoted, ns(30), Ending::Completed), None);
}

#[test]
fn without_enforcement_a_lo_job_beyond_its_own_value_voids_every_guarantee() {
    let mut smc = guarantee(Enforcement::Static, Exhaustion::Continue);
    runs(&mut smc, 0, 5, &job(0, 5, 5));
    assert_eq!(smc.crossings[0], Some(ns(3)));
    assert_eq!(smc.crossings[1], Some(ns(3)));
    let mut enforced = guarantee(Enforcement::Static, Exhaustion::Background);
    runs(&mut enforced, 0, 5, &job(0, 5, 5));
    assert!(enforced.holds_until(Level(0), ns(100)));
}

#[test]
fn a_job_dropped_before_its_deadline_is_withdrawn_and_one_dropped_at_it_is_late() {
    let mut amc = guarantee(Enforcement::Adaptive, Exhaustion::Background);
    runs(&mut amc, 6, 10, &job(1, 4, 9));
    let by_mode = Ending::Dropped(DropReason::Mode);
    assert_eq!(
        amc.judge(&job(0, 1, 3), ns(9), by_mode),
        Some(Verdict::Dropped)
    );
    assert_eq!(
        amc.judge(&job(0, 1, 3), ns(10), by_mode),
        Some(MISSED),
        "the HI job may have completed at 10: the LO job was late all the same"
    );
    let full = Ending::Dropped(DropReason::BacklogFull);
    assert_eq!(amc.judge(&job(0, 0, 3), ns(0), full), Some(EXCUSED));
    let at_deadline = Ending::Dropped(DropReason::Deadline);
    assert_eq!(amc.judge(&job(0, 1, 3), ns(10), at_deadline), Some(MISSED));
}

/// LO with G 2 of C 3: a job that needs 2 was guaranteed its deadline although the mode rose before; of one that needs
/// 3 nothing was.
#[test]
fn a_raised_mode_does_not_excuse_who_needs_no_more_than_its_degraded_budget() {
    let mut tasks = tasks();
    tasks[0].degraded = Some(Service::from_nanos(2));
    let raised = |tasks: &[Task], enforcement, exhaustion| {
        let mut guarantee = Guarantee::new(tasks, enforcement, exhaustion);
        runs(&mut guarantee, 0, 4, &job(1, 4, 9));
        guarantee
    };
    let late = |guarantee: &Guarantee, needs| {
        guarantee.judge(&job(0, needs, needs), ns(11), Ending::Completed)
    };
    let amc = raised(&tasks, Enforcement::Adaptive, Exhaustion::Background);
    assert_eq!(late(&amc, 2), Some(MISSED));
    assert_eq!(late(&amc, 3), Some(EXCUSED));
    // More than C is guaranteed in no mode.
    tasks[0].degraded = Some(Service::from_nanos(5));
    let more = raised(&tasks, Enforcement::Adaptive, Exhaustion::Background);
    assert_eq!(late(&more, 3), Some(MISSED));
    assert_eq!(late(&more, 4), Some(EXCUSED));
    // Without limits who exceeds its C ends that too; without a budget there is nothing to keep.
    let mut endless = raised(&tasks, Enforcement::Adaptive, Exhaustion::Continue);
    runs(&mut endless, 4, 10, &job(1, 10, 12));
    assert_eq!(late(&endless, 3), Some(EXCUSED));
    tasks[0].degraded = None;
    let dropped = raised(&tasks, Enforcement::Adaptive, Exhaustion::Background);
    assert_eq!(late(&dropped, 2), Some(EXCUSED));
    // Where there is one mode the budget never counts.
    tasks[0].degraded = Some(Service::from_nanos(2));
    let mut smc = raised(&tasks, Enforcement::Static, Exhaustion::Background);
    runs(&mut smc, 4, 6, &job(1, 6, 9));
    assert_eq!(late(&smc, 2), Some(EXCUSED));
}
