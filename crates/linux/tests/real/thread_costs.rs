//! What the run's own threads cost, and what a run counts of it.

use crate::support::{HI, LO, RunWell, alone_and_well, config, is_calm, ms, native, spec};
use vestal_core::{Duration, Enforcement, Service};
use vestal_linux::{Executive, JobContext, Monitor, Report};

const RUN: Duration = Duration::from_millis(1_000);

/// Two tasks whose jobs keep their limits, but for every fifth of the HI task if `overruns`: five busy
/// periods in each 250 ms.
fn two_tasks(enforcement: Enforcement, overruns: bool) -> Report {
    let hi = move |job: &mut JobContext<'_>| {
        let beyond = overruns && job.id().sequence % 5 == 4;
        job.burn(ms(if beyond { 9 } else { 3 }))
    };
    Executive::new(config(Monitor::Perf))
        .cpu(native(enforcement))
        .task(spec("hi", HI, 2, 50, &[5, 15]), hi)
        .task(spec("lo", LO, 1, 50, &[8]), |job| job.burn(ms(4)))
        .run_well(RUN)
}

#[test]
fn a_run_within_its_limits_wakes_the_manager_for_no_job() {
    alone_and_well(|| {
        let report = two_tasks(Enforcement::Adaptive, false);
        // Without gaps that were charged to a job, which then overruns.
        if is_calm(&report, ms(1)) {
            assert_eq!(
                report.cpus[0].threads.wakeups.by_jobs(),
                0,
                "{:?}",
                report.cpus[0].threads
            );
            // It went to sleep when it was started, and left when the run ended.
            assert!(
                report.cpus[0].threads.idle.switches() <= 3,
                "{:?}",
                report.cpus[0].threads
            );
        }
        assert_eq!(report.cpus[0].busy_periods.count, 20, "{report:#?}");
        // Two jobs, of which the second one waits for the first.
        let length = report.cpus[0].busy_periods.length;
        assert!(length.min >= ms(7).as_nanos(), "{length:?}");
        let starts = report.cpus[0]
            .busy_periods
            .periods
            .iter()
            .map(|each| each.start);
        let expected = (0..20).map(|k| 50 * k * ms(1).as_nanos());
        assert!(starts.map(|at| at.as_nanos()).eq(expected));
        assert!(report.cpus[0].busy_periods.switches_each() >= 2.0);
        assert!(report.cpus[0].threads.manager.cpu > Service::ZERO);
        assert!(report.cpus[0].threads.workers > Service::ZERO);
        assert!(report.cpus[0].threads.workers < report.cpus[0].busy);
    });
}

#[test]
fn overruns_wake_the_manager_by_its_monitor_and_by_the_idle_detector() {
    alone_and_well(|| {
        let report = two_tasks(Enforcement::Adaptive, true);
        let wakeups = report.cpus[0].threads.wakeups;
        assert!(wakeups.budget >= 4, "{wakeups:?}");
        assert!(wakeups.idle >= 4, "{wakeups:?}");
        assert_eq!(wakeups.release, 0, "{wakeups:?}");
        assert!(
            report.cpus[0].threads.idle.switches() >= 4,
            "{:?}",
            report.cpus[0].threads
        );
        assert_eq!(report.cpus[0].busy_periods.count, 20, "{report:#?}");
    });
}
