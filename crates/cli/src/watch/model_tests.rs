use super::*;
use vestal_core::{CpuId, DropReason, Duration, Service};

const CPU: CpuId = CpuId(0);

pub(crate) fn setting() -> Setting {
    let task = |name: &str, level, limits: &[u64]| TaskSetting {
        name: name.to_owned(),
        level: Level(level),
        lane: 0,
        deadline_ns: 50_000_000,
        limits_ns: limits.iter().map(|ms| Some(ms * 1_000_000)).collect(),
    };
    Setting {
        title: "pair.toml under amc, native dispatch on CPU 1".to_owned(),
        levels: vec!["LO".to_owned(), "HI".to_owned()],
        duration_ns: 10_000_000_000,
        lanes: vec![("CPU 0".to_owned(), 1)],
        tasks: vec![task("camera", 0, &[10, 10]), task("attitude", 1, &[20, 40])],
    }
}

pub(crate) const fn job(task: u16, sequence: u64) -> JobId {
    JobId {
        task: TaskId(task),
        sequence,
    }
}

pub(crate) fn at(ms: u64, what: What) -> Record {
    Record {
        at: Instant::from_nanos(ms * 1_000_000),
        what,
    }
}

fn seen(ms: u64, fact: Fact) -> Record {
    at(ms, What::Observed(fact))
}

pub(crate) fn released(ms: u64, job: JobId) -> Record {
    seen(ms, Fact::Released { job })
}

pub(crate) fn started(ms: u64, job: JobId) -> Record {
    seen(ms, Fact::Started { cpu: CPU, job })
}

pub(crate) fn completed(ms: u64, job: JobId) -> Record {
    seen(ms, Fact::Completed { cpu: CPU, job })
}

pub(crate) fn mode(ms: u64, from: u8, to: u8) -> Record {
    let (from, to) = (Level(from), Level(to));
    let cause = None;
    at(ms, What::Notice(Event::ModeChanged { from, to, cause }))
}

/// The same tasks on two CPUs with one mode.
pub(crate) fn in_one_domain() -> Setting {
    let mut setting = setting();
    setting.lanes = vec![("CPUs 0, 1".to_owned(), 2)];
    setting
}

pub(crate) fn started_on(ms: u64, cpu: u16, job: JobId) -> Record {
    let cpu = CpuId(cpu);
    seen(ms, Fact::Started { cpu, job })
}

fn activities(model: &Model) -> Vec<Activity> {
    model.tasks.iter().map(|task| task.activity).collect()
}

#[test]
fn a_preempted_job_waits_and_goes_on_when_the_other_one_is_complete() {
    use Activity::{Ready, Waiting};
    const RUNNING: Activity = Activity::Running(CPU);
    let mut model = Model::new(setting());
    model.take(&[released(0, job(1, 0)), started(1, job(1, 0))]);
    assert_eq!(activities(&model), [Waiting, RUNNING]);
    model.take(&[released(5, job(0, 0)), started(5, job(0, 0))]);
    assert_eq!(activities(&model), [RUNNING, Ready]);
    model.take(&[completed(9, job(0, 0))]);
    assert_eq!(activities(&model), [Waiting, RUNNING]);
    assert_eq!(model.tasks[0].last_response_ns, Some(4_000_000));
    model.take(&[completed(20, job(1, 0))]);
    assert_eq!(activities(&model), [Waiting, Waiting]);
    let attitude = &model.tasks[1];
    assert_eq!(attitude.max_response_ns, Some(20_000_000));
    assert_eq!(attitude.executed_ns, 15_000_000, "20 ms less 1 and 4");
    assert_eq!(model.busy_ns(), 19_000_000);
}

/// The same tasks on a CPU each.
pub(crate) fn on_two_cpus() -> Setting {
    let mut setting = setting();
    setting.lanes = ["CPU 0", "CPU 1"].map(|name| (name.to_owned(), 1)).into();
    setting.tasks[1].lane = 1;
    setting
}

pub(crate) fn domain(ms: u64, number: u16) -> Record {
    let domain = vestal_trace::DomainId(number);
    at(ms, What::Domain { domain })
}

#[test]
fn on_two_cpus_jobs_run_side_by_side_and_each_has_a_mode() {
    use Activity::{Running, Waiting};
    let mut model = Model::new(on_two_cpus());
    model.take(&[
        released(0, job(0, 0)),
        started(0, job(0, 0)),
        domain(1, 1),
        released(1, job(1, 0)),
        started(1, job(1, 0)),
        mode(2, 0, 1),
        domain(5, 0),
        completed(5, job(0, 0)),
        domain(8, 1),
        completed(8, job(1, 0)),
    ]);
    assert_eq!(activities(&model), [Waiting, Waiting]);
    assert_eq!(model.busy_ns(), 5_000_000 + 7_000_000);
    let executed = model.tasks.iter().map(|task| task.executed_ns);
    assert_eq!(executed.collect::<Vec<_>>(), [5_000_000, 7_000_000]);
    let modes = model
        .lanes
        .iter()
        .map(|lane| (lane.mode, lane.mode_changes));
    assert_eq!(modes.collect::<Vec<_>>(), [(Level(0), 0), (Level(1), 1)]);
    model.take(&[released(10, job(1, 1)), started(10, job(1, 1))]);
    model.take(&[
        domain(11, 0),
        released(11, job(0, 1)),
        started(11, job(0, 1)),
    ]);
    assert_eq!(
        activities(&model),
        [Running(CPU), Running(CPU)],
        "nobody preempts the other"
    );
    let mut load = Load::default();
    load.mark(&model);
    // 13 of twice 11 ms.
    assert_eq!(load.all, 590);
}

#[test]
fn jobs_of_a_common_domain_run_side_by_side_and_each_cpu_has_its_own() {
    use Activity::{Ready, Running, Waiting};
    let mut model = Model::new(in_one_domain());
    let [one, other] = [0, 1].map(CpuId);
    model.take(&[
        released(0, job(0, 0)),
        released(0, job(1, 0)),
        started_on(0, 0, job(0, 0)),
        started_on(1, 1, job(1, 0)),
    ]);
    assert_eq!(activities(&model), [Running(one), Running(other)]);
    model.take(&[completed(5, job(0, 0))]);
    assert_eq!(activities(&model), [Waiting, Running(other)]);
    model.take(&[completed(8, job(1, 0))]);
    assert_eq!(activities(&model), [Waiting, Waiting]);
    assert_eq!(model.busy_ns(), 5_000_000 + 7_000_000);
    let executed = model.tasks.iter().map(|task| task.executed_ns);
    assert_eq!(executed.collect::<Vec<_>>(), [5_000_000, 7_000_000]);
    // Of two CPUs.
    let mut load = Load::default();
    load.mark(&model);
    assert_eq!(load.all, 750);
    // On one CPU they would preempt each other.
    model.take(&[
        released(10, job(0, 1)),
        started_on(10, 1, job(0, 1)),
        released(11, job(1, 1)),
        started_on(11, 1, job(1, 1)),
    ]);
    assert_eq!(activities(&model), [Ready, Running(other)]);
    // The mode is that of both.
    model.take(&[mode(12, 0, 1)]);
    let lanes: Vec<Level> = model.lanes.iter().map(|lane| lane.mode).collect();
    assert_eq!(lanes, [Level(1)]);
}

#[test]
fn a_managed_preemption_is_told_and_a_resumption_starts_again() {
    let mut model = Model::new(setting());
    let preempted = Fact::Stopped {
        cpu: CPU,
        job: job(1, 0),
        why: StopReason::Preempted,
    };
    model.take(&[
        at(0, What::Fact(Fact::Released { job: job(1, 0) })),
        at(
            0,
            What::Fact(Fact::Started {
                cpu: CPU,
                job: job(1, 0),
            }),
        ),
        at(3, What::Fact(preempted)),
    ]);
    assert_eq!(activities(&model), [Activity::Waiting, Activity::Ready]);
    model.take(&[started(8, job(1, 0)), completed(10, job(1, 0))]);
    assert_eq!(model.tasks[1].executed_ns, 5_000_000);
    assert_eq!(model.tasks[1].completed, 1);
}

#[test]
fn what_a_guard_is_told_again_counts_once() {
    let mut model = Model::new(setting());
    let reported = |ms, fact| at(ms, What::Fact(fact));
    let done = Fact::Completed {
        cpu: CPU,
        job: job(1, 0),
    };
    model.take(&[
        released(0, job(1, 0)),
        started(1, job(1, 0)),
        completed(9, job(1, 0)),
        reported(10, Fact::Released { job: job(1, 0) }),
        reported(10, done),
    ]);
    let attitude = &model.tasks[1];
    assert_eq!((attitude.released, attitude.completed), (1, 1));
    assert_eq!(attitude.max_response_ns, Some(9_000_000));
    assert_eq!(attitude.activity, Activity::Waiting);
}

#[test]
fn a_suspended_job_leaves_the_cpu_to_the_one_it_had_preempted() {
    let mut model = Model::new(setting());
    let permit = |ms, permit| {
        let task = TaskId(0);
        at(ms, What::Permit { task, permit })
    };
    model.take(&[
        released(0, job(1, 0)),
        started(0, job(1, 0)),
        released(2, job(0, 0)),
        started(2, job(0, 0)),
        permit(
            5,
            Permit::Suspended {
                until: vestal_core::Until::Event,
            },
        ),
    ]);
    assert_eq!(
        activities(&model),
        [Activity::Ready, Activity::Running(CPU)]
    );
    model.take(&[
        completed(9, job(1, 0)),
        permit(9, Permit::Run { limit: None }),
        completed(12, job(0, 0)),
    ]);
    assert_eq!(activities(&model), [Activity::Waiting, Activity::Waiting]);
    let executed = |task: usize| model.tasks[task].executed_ns;
    assert_eq!((executed(0), executed(1)), (6_000_000, 6_000_000));
}

#[test]
fn a_job_is_dropped_once_by_whoever_says_so() {
    let mut model = Model::new(setting());
    let why = DropReason::Mode;
    let dropped = job(0, 0);
    model.take(&[
        released(0, dropped),
        mode(1, 0, 1),
        at(1, What::Notice(Event::Dropped { job: dropped, why })),
        at(2, What::Dropped { job: dropped, why }),
    ]);
    assert_eq!(model.tasks[0].dropped, 1);
    assert_eq!(model.tasks[0].activity, Activity::Dropped);
    // The next one is admitted again.
    model.take(&[mode(3, 1, 0), released(50, job(0, 1))]);
    assert_eq!(model.tasks[0].activity, Activity::Ready);
    assert_eq!(
        (model.tasks[0].dropped, model.lanes[0].mode_changes),
        (1, 2)
    );
}

#[test]
fn misses_overruns_gaps_and_losses_are_counted() {
    let mut model = Model::new(setting());
    let miss = |guaranteed| What::Miss {
        job: job(1, 0),
        deadline: Instant::from_nanos(1),
        guaranteed,
    };
    let gap = |ms| What::Gap {
        cpu: CPU,
        length: Duration::from_millis(ms),
    };
    model.take(&[
        at(1, miss(true)),
        at(2, miss(false)),
        at(3, gap(2)),
        at(4, gap(1)),
        at(5, What::Lost { count: 7 }),
        at(
            6,
            What::Notice(Event::Overrun {
                job: job(1, 0),
                level: Level(0),
                executed: Service::ZERO,
            }),
        ),
        // Tasks that are not known are counted for none.
        released(7, job(9, 0)),
        at(
            8,
            What::Dropped {
                job: job(9, 0),
                why: DropReason::Mode,
            },
        ),
    ]);
    let attitude = &model.tasks[1];
    assert_eq!((attitude.missed, attitude.missed_guaranteed), (2, 1));
    assert_eq!(attitude.overruns, 1);
    assert_eq!((model.gaps, model.longest_gap_ns), (2, 2_000_000));
    assert_eq!(model.lost, 7);
}

#[test]
fn a_column_of_the_band_shows_the_highest_mode_in_it() {
    let mut model = Model::new(setting());
    // Columns of 10 ms; HI from 12 to 14 ms and from 25 ms on.
    model.take(&[mode(12, 0, 1), mode(14, 1, 0), mode(25, 0, 1)]);
    model.pass(Instant::from_nanos(39_000_000));
    let levels = |columns| -> Vec<Option<u8>> {
        let band = model.lanes[0].mode_band(model.now, columns * 10_000_000, columns);
        band.into_iter()
            .map(|level| level.map(|level| level.0))
            .collect()
    };
    assert_eq!(levels(4), [Some(0), Some(1), Some(1), Some(1)]);
    assert_eq!(levels(2), [Some(1), Some(1)]);
    assert_eq!(levels(6)[..2], [None, None], "before the run");
    assert_eq!(levels(0), []);
}

#[test]
fn the_load_is_that_of_the_last_second() {
    let mut model = Model::new(setting());
    let mut load = Load::default();
    load.mark(&model);
    assert_eq!((load.recent, load.all), (0, 0));
    // Busy from 0 to 1 s, idle from then on.
    model.take(&[released(0, job(1, 0)), started(0, job(1, 0))]);
    for tenth in 1..=20 {
        let now = tenth * 100;
        if now == 1_000 {
            model.take(&[completed(now, job(1, 0))]);
        }
        model.pass(Instant::from_nanos(now * 1_000_000));
        load.mark(&model);
        let expected = if now <= 1_000 { 1_000 } else { 2_000 - now };
        assert_eq!(load.recent, expected, "at {now} ms");
    }
    assert_eq!(load.all, 500);
}
