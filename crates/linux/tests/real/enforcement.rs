//! What happens to jobs that need more than they may.

use crate::support::{
    HI, Hostility, LO, RunWell, alone_and_well, config, is_calm, ms, native, native_of,
    real_time_threads, spec, undisturbed,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use vestal_core::{Duration, Enforcement, Instant, JobId, Level, TaskId};
use vestal_linux::fault::Fault;
use vestal_linux::report::ModeChange;
use vestal_linux::{Ended, Executive, Monitor, Report};

const RUN: Duration = Duration::from_millis(1_200);

/// How late enforcement may be in the median, counted from C plus tolerance.
const LATE_NANOS_MAX: u64 = 200_000;

/// Every fifth HI job needs 10 ms where C(LO) is 6 ms; the others need 3 ms.
fn overruns(sequence: u64) -> bool {
    sequence % 5 == 4
}

/// What a run showed, with the instants at which LO bodies began.
struct Shown {
    report: Report,
    lo_begins: Vec<Instant>,
}

/// Overruns of at least three granularities of the monitor: the HI task's period, its C(HI), and
/// what a job of it needs that exceeds C(LO) = 6 ms.
const fn overrunning_hi_task(monitor: Monitor) -> (u64, u64, u64) {
    match monitor {
        Monitor::Perf | Monitor::Manager | Monitor::Remainder | Monitor::Heartbeat => (50, 16, 10),
        // Up to 4 ms late where the kernel ticks 250 times a second.
        Monitor::PosixTimer => (100, 30, 24),
    }
}

/// One HI task between two LO tasks in priority; all of it needs 64 % of the CPU at most.
fn hi_overruns(monitor: Monitor, hostility: Hostility) -> Shown {
    let begins = Arc::new(Mutex::new(Vec::with_capacity(1_000)));
    let lo_body = |milliseconds| {
        let begins = Arc::clone(&begins);
        move |job: &mut vestal_linux::JobContext<'_>| {
            // To fork a process with locked memory takes longer than a LO job may.
            if hostility != Hostility::Forks {
                hostility.show();
            }
            let now = job.now();
            job.checkpoint()?;
            begins.lock().unwrap().push(now);
            job.burn(ms(milliseconds))
        }
    };
    let (period, c_hi, demand) = overrunning_hi_task(monitor);
    let report = Executive::new(config(monitor))
        .cpu(native(Enforcement::Adaptive))
        .task(spec("lo-above", LO, 3, 25, &[4]), lo_body(3))
        .task(spec("hi", HI, 2, period, &[6, c_hi]), move |job| {
            let overruns = overruns(job.id().sequence);
            // Forking takes milliseconds of the job's own time on a loaded machine.
            let forks = hostility == Hostility::Forks;
            if overruns || !forks {
                hostility.show();
            }
            let demand = if forks { demand - 3 } else { demand };
            job.burn(ms(if overruns { demand } else { 3 }))
        })
        .task(spec("lo-below", LO, 1, 50, &[8]), lo_body(6))
        // Four overruns, and a job after each.
        .run_well(Duration::from_millis(21 * period));
    let lo_begins = begins.lock().unwrap().clone();
    Shown { report, lo_begins }
}

/// The intervals above mode 0.
fn raised(modes: &[ModeChange]) -> Vec<(Instant, Instant)> {
    modes
        .chunks(2)
        .map(|pair| {
            assert_eq!((pair[0].from, pair[0].to), (LO, HI));
            let until = pair.get(1).map_or(Instant::HORIZON, |fall| {
                assert_eq!((fall.from, fall.to, fall.cause), (HI, LO, None));
                fall.at
            });
            (pair[0].at, until)
        })
        .collect()
}

fn a_hi_overrun_is_caught(monitor: Monitor, hostility: Hostility) {
    alone_and_well(|| {
        let Shown { report, lo_begins } = hi_overruns(monitor, hostility);
        assert_eq!(report.ended, Ended::Finished);
        assert_eq!(
            (report.cpus[0].monitor, &report.cpus[0].monitor_fallback),
            (monitor, &None)
        );
        if matches!(
            monitor,
            Monitor::Perf | Monitor::Manager | Monitor::Remainder
        ) {
            let overshoot = report.cpus[0].enforcement.overshoot;
            assert!(overshoot.count >= 3, "{report:#?}");
            assert!(overshoot.median <= LATE_NANOS_MAX, "{overshoot:?}");
        }
        let [lo_above, hi, lo_below] = &report.cpus[0].tasks[..] else {
            panic!("three tasks");
        };
        // Every job that overran raised the mode, once, and no other did. On a machine that stole
        // milliseconds and charged them to a job, that job overran as well.
        let causes: Vec<_> = report.cpus[0]
            .modes
            .iter()
            .filter_map(|change| change.cause)
            .collect();
        let expected: Vec<_> = (0..hi.jobs.released)
            .filter(|&job| overruns(job))
            .map(|sequence| JobId {
                task: TaskId(1),
                sequence,
            })
            .collect();
        assert!(expected.len() >= 4);
        assert!(hi.overruns >= expected.len() as u64, "{report:#?}");
        if is_calm(&report, ms(2)) {
            assert_eq!(causes, expected, "{report:#?}");
            assert_eq!(hi.overruns, expected.len() as u64, "{report:#?}");
        }
        assert!(expected.iter().all(|job| causes.contains(job)));
        // LO jobs stop until idle, and then resume.
        let raised = raised(&report.cpus[0].modes);
        for &(rise, fall) in &raised {
            let during: Vec<_> = lo_begins
                .iter()
                .filter(|&&at| at > rise && at < fall)
                .collect();
            assert!(
                during.is_empty(),
                "LO began at {during:?} in {rise:?}..{fall:?}"
            );
        }
        for pair in raised.windows(2) {
            let resumed = lo_begins.iter().any(|&at| at > pair[0].1 && at < pair[1].0);
            assert!(
                resumed,
                "no LO job began between {:?} and {:?}",
                pair[0].1, pair[1].0
            );
        }
        assert!(lo_above.jobs.dropped + lo_below.jobs.dropped >= expected.len() as u64);
        assert!(lo_above.jobs.completed > lo_above.jobs.dropped);
        // HI jobs keep their guarantee.
        assert_eq!(hi.jobs.dropped, 0, "{report:?}");
        assert_eq!(hi.jobs.completed, hi.jobs.released);
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:?}");
        assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
        Hostility::clean_up();
    });
}

#[test]
fn a_hi_job_beyond_c_lo_raises_the_mode_and_lo_jobs_stop_until_idle_perf() {
    a_hi_overrun_is_caught(Monitor::Perf, Hostility::None);
}

#[test]
fn a_hi_job_beyond_c_lo_raises_the_mode_and_lo_jobs_stop_until_idle_manager() {
    a_hi_overrun_is_caught(Monitor::Manager, Hostility::None);
}

#[test]
fn a_hi_job_beyond_c_lo_raises_the_mode_and_lo_jobs_stop_until_idle_remainder() {
    a_hi_overrun_is_caught(Monitor::Remainder, Hostility::None);
}

#[test]
fn a_hi_job_beyond_c_lo_raises_the_mode_and_lo_jobs_stop_until_idle_heartbeat() {
    a_hi_overrun_is_caught(Monitor::Heartbeat, Hostility::None);
}

#[test]
fn a_hi_job_beyond_c_lo_raises_the_mode_and_lo_jobs_stop_until_idle_posix_timer() {
    a_hi_overrun_is_caught(Monitor::PosixTimer, Hostility::None);
}

#[test]
fn forking_saves_no_task_from_enforcement() {
    a_hi_overrun_is_caught(Monitor::Perf, Hostility::Forks);
    a_hi_overrun_is_caught(Monitor::PosixTimer, Hostility::Forks);
}

#[test]
fn changing_its_own_priority_saves_no_task_from_enforcement() {
    a_hi_overrun_is_caught(Monitor::Perf, Hostility::Rises);
    a_hi_overrun_is_caught(Monitor::Heartbeat, Hostility::Rises);
}

#[test]
fn blocking_all_signals_saves_no_task_from_enforcement() {
    for monitor in [
        Monitor::Perf,
        Monitor::Manager,
        Monitor::Heartbeat,
        Monitor::PosixTimer,
    ] {
        a_hi_overrun_is_caught(monitor, Hostility::BlocksSignals);
    }
}

/// A LO task *above* a HI task in priority that never gives up the CPU.
fn an_endless_lo_job_delays_no_hi_job(monitor: Monitor, hostility: Hostility) {
    alone_and_well(|| {
        // The HI job has 4 ms to spare until it would raise the mode.
        let run = || endless_above_hi(monitor, hostility);
        let report = undisturbed(ms(4), run, |report| report);
        let [endless, hi] = &report.cpus[0].tasks[..] else {
            panic!("two tasks");
        };
        assert_eq!(hi.jobs.completed, hi.jobs.released);
        assert!(hi.jobs.released >= 20);
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:?}");
        // It lost its priority after 8 ms, at its own level: no reason for a mode change.
        assert_eq!((endless.overruns, endless.jobs.completed), (1, 0));
        assert_eq!(report.cpus[0].modes, []);
        assert_eq!(report.stuck, ["endless"]);
        // The first HI job waits for those 8 ms, all others for none.
        assert!(hi.response.median < ms(20).as_nanos(), "{:?}", hi.response);
        assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
        Hostility::clean_up();
    });
}

fn endless_above_hi(monitor: Monitor, hostility: Hostility) -> Report {
    let over = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&over);
    let mut config = config(monitor);
    config.patience = Duration::from_millis(50);
    let report = Executive::new(config)
        .cpu(native(Enforcement::Adaptive))
        .task(spec("endless", LO, 2, 100, &[8]), move |job| {
            hostility.show();
            // Deaf to cancellation; the bound only protects the machine from a failing test.
            for _ in 0..4_000 {
                if until.load(Ordering::Relaxed) {
                    break;
                }
                job.burn_deaf(ms(1));
            }
            Ok(())
        })
        .task(spec("hi", HI, 1, 50, &[8, 16]), |job| job.burn(ms(4)))
        .run_well(Duration::from_millis(1_050));
    over.store(true, Ordering::Relaxed);
    report
}

#[test]
fn a_lo_job_that_runs_for_ever_delays_no_hi_job_perf() {
    an_endless_lo_job_delays_no_hi_job(Monitor::Perf, Hostility::None);
}

#[test]
fn a_lo_job_that_runs_for_ever_delays_no_hi_job_manager() {
    an_endless_lo_job_delays_no_hi_job(Monitor::Manager, Hostility::None);
}

#[test]
fn a_lo_job_that_runs_for_ever_with_all_signals_blocked_delays_no_hi_job() {
    an_endless_lo_job_delays_no_hi_job(Monitor::Perf, Hostility::BlocksSignals);
    an_endless_lo_job_delays_no_hi_job(Monitor::Manager, Hostility::BlocksSignals);
}

#[test]
fn a_lo_job_that_runs_for_ever_and_tries_to_rise_or_forks_delays_no_hi_job() {
    an_endless_lo_job_delays_no_hi_job(Monitor::Heartbeat, Hostility::Rises);
    an_endless_lo_job_delays_no_hi_job(Monitor::PosixTimer, Hostility::Rises);
    an_endless_lo_job_delays_no_hi_job(Monitor::Manager, Hostility::Forks);
}

fn static_limits_stop_only_who_exceeds_them(monitor: Monitor) {
    alone_and_well(|| {
        let report = Executive::new(config(monitor))
            .cpu(native(Enforcement::Static))
            .task(spec("lo", LO, 2, 40, &[6]), |job| {
                job.burn(ms(if overruns(job.id().sequence) { 12 } else { 4 }))
            })
            // Beyond C(LO), within C(HI): no rule is broken.
            .task(spec("hi", HI, 1, 80, &[5, 15]), |job| job.burn(ms(12)))
            .run_well(RUN);
        let [lo, hi] = &report.cpus[0].tasks[..] else {
            panic!("two tasks");
        };
        let expected = (0..lo.jobs.released).filter(|&job| overruns(job)).count() as u64;
        assert!(expected >= 6);
        assert!(lo.overruns >= expected && lo.jobs.dropped >= expected);
        // Unless the machine put what it stole on a job's account.
        if is_calm(&report, ms(2)) {
            assert_eq!(lo.jobs.completed, lo.jobs.released - expected);
            assert_eq!((hi.overruns, hi.jobs.dropped), (0, 0), "{report:#?}");
            assert_eq!(hi.jobs.completed, hi.jobs.released);
        }
        assert_eq!(report.cpus[0].modes, []);
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:?}");
    });
}

#[test]
fn static_limits_stop_only_who_exceeds_them_perf() {
    static_limits_stop_only_who_exceeds_them(Monitor::Perf);
}

#[test]
fn static_limits_stop_only_who_exceeds_them_manager() {
    static_limits_stop_only_who_exceeds_them(Monitor::Manager);
}

#[test]
fn without_enforcement_nothing_is_stopped_and_no_mode_changes() {
    alone_and_well(|| {
        let mut config = config(Monitor::Perf);
        config.enforce = false;
        let report = Executive::new(config)
            .cpu(native(Enforcement::Adaptive))
            .task(spec("lo", LO, 1, 50, &[5]), |job| job.burn(ms(10)))
            .task(spec("hi", HI, 2, 50, &[5, 12]), |job| job.burn(ms(10)))
            .run_well(Duration::from_millis(500));
        assert!(!report.cpus[0].enforced);
        assert_eq!(report.cpus[0].modes, []);
        assert_eq!(
            (report.jobs.dropped, report.jobs.completed),
            (0, report.jobs.released)
        );
    });
}

/// A body that does not listen holds its worker over the return to mode 0. The releases it slept
/// through while the mode was up were dropped then, and must not be made up for.
#[test]
fn a_worker_that_comes_back_late_runs_no_job_released_above_mode_0() {
    alone_and_well(|| {
        let begun = Arc::new(Mutex::new(Vec::with_capacity(1_000)));
        let begins = Arc::clone(&begun);
        let mut hi = spec("hi", HI, 2, 200, &[5, 36]);
        hi.offset = Duration::from_millis(2);
        let report = Executive::new(config(Monitor::Perf))
            .cpu(native(Enforcement::Adaptive))
            .task(hi, |job| job.burn(ms(30)))
            .task(spec("deaf", LO, 1, 10, &[7]), move |job| {
                begins.lock().unwrap().push(job.release());
                job.burn_deaf(ms(4));
                Ok(())
            })
            .run_well(RUN);
        let raised = raised(&report.cpus[0].modes);
        assert!(raised.len() >= 5, "{raised:?}");
        let begun = begun.lock().unwrap();
        for &(rise, fall) in &raised {
            let stale: Vec<_> = begun
                .iter()
                .filter(|&&release| release > rise && release < fall)
                .collect();
            assert!(
                stale.is_empty(),
                "began jobs released at {stale:?} in {rise:?}..{fall:?}"
            );
            let resumed = begun
                .iter()
                .any(|&release| release > fall && release < fall.saturating_add(ms_span(100)));
            assert!(
                resumed || fall.saturating_add(ms_span(100)) > Instant::EPOCH.saturating_add(RUN)
            );
        }
        // Two or three releases and the job that was running, each time.
        let deaf = &report.cpus[0].tasks[1];
        assert!(
            deaf.jobs.dropped >= 3 * raised.len() as u64,
            "{:?}",
            deaf.jobs
        );
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
    });
}

const fn ms_span(value: u64) -> Duration {
    Duration::from_millis(value)
}

#[test]
fn three_levels_rise_one_after_the_other() {
    alone_and_well(|| {
        let run = || {
            Executive::new(config(Monitor::Perf))
                .cpu(native_of(3, Enforcement::Adaptive))
                .task(spec("top", Level(2), 1, 100, &[4, 8, 16]), |job| {
                    job.burn(ms(12))
                })
                .task(spec("middle", Level(1), 2, 100, &[4, 8]), |job| {
                    job.burn(ms(2))
                })
                .run_well(Duration::from_millis(1_000))
        };
        let report = undisturbed(ms(2), run, |report| report);
        let steps: Vec<_> = report.cpus[0]
            .modes
            .iter()
            .map(|change| (change.from.0, change.to.0))
            .collect();
        assert_eq!(steps.len(), 30);
        assert!(
            steps
                .chunks(3)
                .all(|round| round == [(0, 1), (1, 2), (2, 0)]),
            "{steps:?}"
        );
        assert_eq!(report.cpus[0].tasks[0].overruns, 20);
        assert_eq!(report.jobs.missed_outside_gaps, 0);
    });
}

/// The manager is woken by job 0 and does not get on until job 1 would have used up its limit too, if
/// it could begin meanwhile: the mode must rise for job 0 all the same.
#[test]
fn an_overrun_that_completed_is_not_lost_to_its_successor() {
    alone_and_well(|| {
        let report = Executive::new(config(Monitor::Perf))
            .cpu(native(Enforcement::Adaptive))
            .task(spec("hi", HI, 2, 50, &[4, 40]), |job| {
                job.burn(ms(if job.id().sequence < 2 { 30 } else { 1 }))
            })
            .with_fault(Fault::ManagerSleepsUntil(74))
            .run(Duration::from_millis(400))
            .unwrap();
        let first = report.cpus[0]
            .modes
            .first()
            .map(|rise| (rise.to, rise.cause));
        let job = JobId {
            task: TaskId(0),
            sequence: 0,
        };
        assert_eq!(first, Some((HI, Some(job))), "{report:#?}");
        assert_eq!(report.jobs.completed, report.jobs.released, "{report:#?}");
    });
}

#[test]
fn the_granularity_obtained_is_measured_and_budgets_below_it_are_flagged() {
    alone_and_well(|| {
        for monitor in [Monitor::Perf, Monitor::Manager] {
            let mut config = config(monitor);
            config.calibrate = true;
            let mut tiny = spec("tiny", LO, 2, 100, &[1]);
            tiny.configuration.task.wcet =
                vestal_core::Wcet::constant(vestal_core::Service::from_nanos(100));
            let report = Executive::new(config)
                .cpu(native(Enforcement::Adaptive))
                .task(tiny, |_| Ok(()))
                .task(spec("hi", HI, 1, 50, &[5, 12]), |job| job.burn(ms(8)))
                .run_well(Duration::from_millis(600));
            let calibration = report.cpus[0].enforcement.calibration.unwrap();
            eprintln!("{}: {calibration:?}", monitor.name());
            eprintln!(
                "{:?} late {}",
                report.cpus[0].enforcement.overshoot, report.cpus[0].enforcement.late
            );
            eprintln!(
                "{:?}\n{:?}",
                report.cpus[0].overhead, report.cpus[0].release_lateness
            );
            eprintln!("{:?}", report.cpus[0].machine);
            assert!(calibration.count >= 30);
            // Coarser than this would be the tick, and no monitor at all.
            assert!(calibration.median < 1_000_000, "{calibration:?}");
            assert!(report.cpus[0].enforcement.overshoot.count > 0);
            let granularity = report.cpus[0].enforcement.granularity.unwrap();
            let flagged = &report.cpus[0].tasks[0].limits_below_granularity;
            assert_eq!(
                flagged.is_empty(),
                granularity.as_nanos() <= 100,
                "{flagged:?}"
            );
            assert_eq!(report.cpus[0].tasks[1].limits_below_granularity, []);
        }
    });
}
