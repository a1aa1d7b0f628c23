//! Period transformation on the real kernel: slices are kept on a CPU that is free most of the time,
//! whatever the bodies do.

use crate::child::in_a_process_of_its_own;
use crate::support::{
    HI, Hostility, LO, RunWell, alone_and_well, by_priorities, config, ms, native,
    real_time_threads, spec, undisturbed,
};
use std::sync::{Arc, Mutex};
use vestal_core::{Duration, Enforcement, Service, SliceCount};
use vestal_linux::fault::Fault;
use vestal_linux::{
    Cancelled, Config, Ended, ErrorKind, Executive, JobContext, Monitor, Report, RunError,
    TaskSpec, Termination,
};

/// `control`, cut into slices of 3 ms in 15 ms each.
const SLICES: u32 = 4;
const SLICE_MS: u64 = 3;
const BOUNDARY_MS: u64 = 15;
const PERIOD_MS: u64 = BOUNDARY_MS * SLICES as u64;
const SPAN_MS: u64 = 1_200;

/// Who decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Managed,
    Native,
}

/// The task with its jobs cut so.
fn cut(mut spec: TaskSpec, count: u32) -> TaskSpec {
    spec.configuration.slices = SliceCount::new(count, &spec.configuration.task).unwrap();
    spec
}

fn executive(by: By, config: Config) -> Executive {
    Executive::new(config).cpu(match by {
        By::Native => native(Enforcement::Slices),
        By::Managed => by_priorities(Enforcement::Slices),
    })
}

fn control() -> TaskSpec {
    let wcet = SLICE_MS * u64::from(SLICES);
    cut(spec("control", HI, 2, PERIOD_MS, &[wcet; 2]), SLICES)
}

fn sensor() -> TaskSpec {
    spec("sensor", LO, 1, BOUNDARY_MS, &[4])
}

/// Where a burning body stood still: what it had executed when it went on, and from when to when after
/// its release.
#[derive(Clone, Copy, Debug)]
struct Pause {
    executed: Service,
    from: Duration,
    to: Duration,
}

type Pauses = Arc<Mutex<Vec<Vec<Pause>>>>;

/// Longer than the other task and the machine usually take, shorter than what is left of a slice.
const PAUSE: Duration = Duration::from_millis(8);

/// Burns what is demanded in small steps and notes where it stood still. A deaf one has no
/// cancellation points.
fn burning(
    pauses: &Pauses,
    hostility: Hostility,
    deaf: bool,
) -> impl FnMut(&mut JobContext<'_>) -> Result<(), Cancelled> + Send + 'static {
    let pauses = Arc::clone(pauses);
    move |job| {
        let mut found = Vec::with_capacity(16);
        let mut last = job.now();
        let mut look = |job: &JobContext<'_>| {
            let now = job.now();
            if now.saturating_since(last) >= PAUSE {
                found.push(Pause {
                    executed: job.executed(),
                    from: last.saturating_since(job.release()),
                    to: now.saturating_since(job.release()),
                });
            }
            last = now;
        };
        // That may take longer than a slice.
        hostility.show();
        look(job);
        while job.executed() < job.demand() {
            if deaf {
                job.burn_deaf(Service::from_micros(20));
            } else {
                job.burn(Service::from_micros(20))?;
            }
            look(job);
        }
        pauses.lock().unwrap().push(found);
        Ok(())
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// `control` demands all its slices grant, `sensor` half of what it may; the CPU is free for more than
/// half of the time.
fn two_tasks(
    by: By,
    monitor: Monitor,
    hostility: Hostility,
    deaf: bool,
) -> (Vec<Vec<Pause>>, Report) {
    let run = || {
        let pauses = Pauses::default();
        let demand = ms(SLICE_MS * u64::from(SLICES));
        let report = executive(by, config(monitor))
            .task_with_demand(
                control(),
                move |_| demand,
                burning(&pauses, hostility, deaf),
            )
            .task(sensor(), |job| job.burn(ms(2)))
            .run_well(Duration::from_millis(SPAN_MS));
        Hostility::clean_up();
        let pauses = pauses.lock().unwrap().clone();
        (pauses, report)
    };
    // What the machine charges to a job is missing in its slice.
    undisturbed(ms(1), run, |(_, report)| report)
}

fn ended_well(report: &Report) {
    assert_eq!(report.ended, Ended::Finished);
    assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
    assert!(report.stuck.is_empty(), "{report:#?}");
    assert!(
        report.cpus[0].inversions.is_none_or(|found| found == 0),
        "{report:#?}"
    );
    assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
}

/// In nearly all jobs each slice but the last ends in a pause until the next one begins, after what was
/// granted so far.
fn keeps_its_slices(pauses: &[Vec<Pause>], hostility: Hostility, report: &Report) {
    ended_well(report);
    let jobs = report.cpus[0].tasks[0].jobs;
    assert_eq!(jobs.released, SPAN_MS / PERIOD_MS);
    let cut = pauses
        .iter()
        .filter(|found| found.len() == SLICES as usize - 1);
    let cut: Vec<_> = cut.collect();
    // Where the machine was away for milliseconds, a slice may have begun before the last one ended.
    assert!(
        cut.len() as u64 * 10 >= jobs.completed * 8,
        "{} of {jobs:?}: {pauses:#?} {report:#?}",
        cut.len()
    );
    for (number, slice) in (0..SLICES as usize - 1).zip(1_u64..) {
        let at = |value: &dyn Fn(&Pause) -> u64| {
            median(cut.iter().map(|found| value(&found[number])).collect())
        };
        let executed = at(&|pause| pause.executed.as_nanos());
        let granted = ms(SLICE_MS * slice).as_nanos();
        let most = granted + report.cpus[0].enforcement.tolerance.as_nanos() + 300_000;
        // A system call that is under way is completed first, and `fork`, at the beginning, is a long one.
        let within = executed <= most || (number == 0 && hostility == Hostility::Forks);
        assert!(
            granted <= executed && within,
            "slice {slice}: {executed} {report:#?}"
        );
        let to = at(&|pause| pause.to.as_nanos());
        let boundary = Duration::from_millis(BOUNDARY_MS * slice).as_nanos();
        assert!(
            (boundary..boundary + 1_000_000).contains(&to),
            "slice {slice}: {to} {report:#?}"
        );
        let from = at(&|pause| pause.from.as_nanos());
        assert!(from + 8_000_000 < boundary, "slice {slice}: {from}");
    }
    let suspensions = report.cpus[0].suspensions.unwrap();
    assert!(suspensions.times >= 3 * cut.len() as u64, "{report:#?}");
    if hostility != Hostility::Forks {
        // The machine adds to what a job executes before it stops; one that does not stop at all goes on
        // without effect nearly always, as the test of deaf bodies shows.
        assert!(
            suspensions.ineffective * 8 <= suspensions.times,
            "{report:#?}"
        );
    }
}

fn slices_are_kept(by: By, monitor: Monitor, hostility: Hostility, deaf: bool) {
    alone_and_well(|| {
        let (pauses, report) = two_tasks(by, monitor, hostility, deaf);
        keeps_its_slices(&pauses, hostility, &report);
    });
}

#[test]
fn managed_jobs_stop_at_the_end_of_each_slice() {
    slices_are_kept(By::Managed, Monitor::Manager, Hostility::None, false);
}

#[test]
fn managed_jobs_stop_without_cancellation_points() {
    slices_are_kept(By::Managed, Monitor::Perf, Hostility::None, true);
}

#[test]
fn managed_jobs_that_block_signals_stop_at_cancellation_points() {
    slices_are_kept(
        By::Managed,
        Monitor::Manager,
        Hostility::BlocksSignals,
        false,
    );
}

#[test]
fn native_jobs_stop_at_the_end_of_each_slice() {
    slices_are_kept(By::Native, Monitor::Perf, Hostility::None, false);
}

#[test]
fn native_jobs_stop_by_a_wall_timer() {
    slices_are_kept(By::Native, Monitor::Manager, Hostility::None, false);
}

#[test]
fn native_jobs_stop_by_a_timer_that_keeps_the_remainder() {
    slices_are_kept(By::Native, Monitor::Remainder, Hostility::None, false);
}

#[test]
fn native_jobs_stop_without_cancellation_points() {
    slices_are_kept(By::Native, Monitor::Perf, Hostility::None, true);
}

#[test]
fn native_jobs_that_block_signals_stop_at_cancellation_points() {
    slices_are_kept(By::Native, Monitor::Perf, Hostility::BlocksSignals, false);
}

/// In a process that has done nothing else: to fork takes the longer the more memory is locked, and after
/// all other tests it takes more than a slice.
#[test]
fn native_jobs_that_fork_are_cut_all_the_same() {
    if in_a_process_of_its_own("pt::native_jobs_that_fork_are_cut_all_the_same") {
        slices_are_kept(By::Native, Monitor::Perf, Hostility::Forks, false);
    }
}

/// The control of the tests above: without slices nothing holds the same job back.
#[test]
fn in_one_piece_the_same_job_never_stands_still() {
    alone_and_well(|| {
        let run = || {
            let pauses = Pauses::default();
            let report = Executive::new(config(Monitor::Perf))
                .cpu(native(Enforcement::Static))
                .task(control(), burning(&pauses, Hostility::None, false))
                .task(sensor(), |job| job.burn(ms(2)))
                .run_well(Duration::from_millis(SPAN_MS));
            let pauses = pauses.lock().unwrap().clone();
            (pauses, report)
        };
        let (pauses, report) = undisturbed(ms(1), run, |(_, report)| report);
        ended_well(&report);
        assert_eq!(report.cpus[0].suspensions, None);
        let still = pauses.iter().filter(|found| found.is_empty()).count();
        assert!(still * 10 >= pauses.len() * 8, "{pauses:#?}");
        assert!(
            report.cpus[0].tasks[0].response.median < 20_000_000,
            "{report:#?}"
        );
    });
}

/// A job that begins when the third of its four slices has begun, and is at its third when the last one begins:
/// it is never suspended.
fn a_late_job_has_every_slice_that_has_begun(by: By, monitor: Monitor) {
    alone_and_well(|| {
        let front = ms(40);
        let demand = ms(SLICE_MS * u64::from(SLICES));
        let run = || {
            executive(by, config(monitor))
                .task_with_demand(control(), move |_| demand, |job| job.burn(job.demand()))
                .task(spec("front", LO, 3, PERIOD_MS, &[41]), move |job| {
                    job.burn(front)
                })
                .run_well(Duration::from_millis(SPAN_MS))
        };
        let report = undisturbed(ms(1), run, |report| report);
        ended_well(&report);
        let jobs = report.cpus[0].tasks[0].jobs;
        assert_eq!(jobs.released, SPAN_MS / PERIOD_MS);
        assert!(jobs.completed * 10 >= jobs.released * 8, "{report:#?}");
        let suspended = report.cpus[0].suspensions.unwrap().times;
        assert!(suspended * 8 <= jobs.completed, "{report:#?}");
        let response = report.cpus[0].tasks[0].response.median;
        assert!((52_000_000..54_000_000).contains(&response), "{report:#?}");
    });
}

#[test]
fn managed_jobs_that_begin_late_have_every_slice_that_has_begun() {
    a_late_job_has_every_slice_that_has_begun(By::Managed, Monitor::Manager);
}

#[test]
fn native_jobs_that_begin_late_have_every_slice_that_has_begun() {
    a_late_job_has_every_slice_that_has_begun(By::Native, Monitor::Perf);
}

#[test]
fn native_jobs_that_begin_late_have_every_slice_by_a_wall_timer() {
    a_late_job_has_every_slice_that_has_begun(By::Native, Monitor::Manager);
}

/// A body that neither takes signals nor has cancellation points goes on, on a CPU that no thread wants;
/// the other task has its share all the same.
fn a_deaf_body_harms_nobody(by: By) {
    alone_and_well(|| {
        let (_, report) = two_tasks(by, Monitor::Manager, Hostility::BlocksSignals, true);
        assert_eq!(report.ended, Ended::Finished);
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
        let suspensions = report.cpus[0].suspensions.unwrap();
        assert!(
            suspensions.times > 0 && suspensions.ineffective * 10 >= suspensions.times * 8,
            "{report:#?}"
        );
        if by == By::Managed {
            assert!(report.cpus[0].inversions.unwrap() > 0, "{report:#?}");
            // It is still before all outside the run.
            assert!(
                report.cpus[0].tasks[0].response.median < 30_000_000,
                "{report:#?}"
            );
        }
        assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
    });
}

#[test]
fn managed_dispatch_reports_a_deaf_body() {
    a_deaf_body_harms_nobody(By::Managed);
}

#[test]
fn native_dispatch_reports_a_deaf_body() {
    a_deaf_body_harms_nobody(By::Native);
}

/// A job that uses up all its slices loses its priority for good.
fn an_overrun_ends_the_job(by: By, termination: Termination) {
    alone_and_well(|| {
        let run = || {
            let mut config = config(Monitor::Perf);
            config.termination = termination;
            executive(by, config)
                .task_with_demand(
                    control(),
                    |job| ms(if job % 2 == 0 { 14 } else { 11 }),
                    |job| job.burn_demand(),
                )
                .task(sensor(), |job| job.burn(ms(2)))
                .run_well(Duration::from_millis(SPAN_MS))
        };
        let report = undisturbed(ms(1), run, |report| report);
        ended_well(&report);
        let task = &report.cpus[0].tasks[0];
        let jobs = SPAN_MS / PERIOD_MS;
        assert_eq!(task.jobs.released, jobs);
        assert!(
            task.overruns.abs_diff(jobs / 2) <= 2 && task.jobs.dropped.abs_diff(jobs / 2) <= 2,
            "{report:#?}"
        );
        assert!(task.response.median > 45_000_000, "{report:#?}");
        assert_eq!(report.cpus[0].tasks[1].jobs.dropped, 0);
    });
}

#[test]
fn managed_jobs_beyond_their_last_slice_are_cancelled() {
    an_overrun_ends_the_job(By::Managed, Termination::Immediate);
}

#[test]
fn native_jobs_beyond_their_last_slice_are_cancelled() {
    an_overrun_ends_the_job(By::Native, Termination::Immediate);
}

#[test]
fn native_jobs_beyond_their_last_slice_end_when_the_cpu_is_idle() {
    an_overrun_ends_the_job(By::Native, Termination::Deferred);
}

/// `long` waits ten seconds for its second slice; whatever ends the run meets a suspended job.
fn waiting_long(by: By) -> Executive {
    let long = cut(spec("long", HI, 1, 20_000, &[8; 2]), 2);
    executive(by, config(Monitor::Perf))
        .task(long, |job| job.burn(ms(8)))
        .task(sensor(), |job| job.burn(ms(1)))
}

#[test]
fn the_end_of_the_run_lets_held_jobs_go() {
    alone_and_well(|| {
        for by in [By::Managed, By::Native] {
            let report = waiting_long(by).run_well(Duration::from_millis(300));
            ended_well(&report);
            let long = &report.cpus[0].tasks[0];
            assert_eq!((long.jobs.unfinished, long.jobs.dropped), (1, 0), "{by:?}");
            assert_eq!(
                report.cpus[0].suspensions.unwrap().times,
                1,
                "{by:?}: {report:#?}"
            );
        }
    });
}

#[test]
fn a_fault_of_the_manager_lets_held_jobs_go() {
    alone_and_well(|| {
        for by in [By::Managed, By::Native] {
            for fault in [Fault::ManagerPanics(200), Fault::ManagerHangs(200)] {
                let run = waiting_long(by).with_fault(fault);
                let error = run.run(Duration::from_millis(20_000)).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Internal);
                assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
            }
        }
    });
}

#[test]
fn a_panic_in_another_body_lets_held_jobs_go() {
    alone_and_well(|| {
        for by in [By::Managed, By::Native] {
            let faulty = spec("faulty", LO, 1, 200, &[2]);
            let long = cut(spec("long", HI, 2, 20_000, &[8; 2]), 2);
            let error = executive(by, config(Monitor::Perf))
                .task(long, |job| job.burn(ms(8)))
                .task(faulty, |job| {
                    assert!(job.id().sequence < 2, "the third is too much");
                    job.burn(ms(1))
                })
                .run(Duration::from_millis(20_000))
                .unwrap_err();
            assert!(matches!(error, RunError::BodyPanicked { .. }), "{error}");
            assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
        }
    });
}
