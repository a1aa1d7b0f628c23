//! How often monitors have the manager look, and in which activation they find what exceeds its limit.

use crate::support::{HI, RunWell, alone_and_well, by_priorities, config, ms, native, spec};
use vestal_core::{Duration, Enforcement};
use vestal_linux::fault::Fault;
use vestal_linux::report::{Detections, MonitoringReport, TaskReport};
use vestal_linux::{Config, CpuSpec, Executive, Monitor, Report};

const RUN: Duration = Duration::from_millis(1_000);

/// How many jobs of the lower task end in a run: each uses up its lowest limit.
const OVERRUNS: u64 = 20;

fn with(fault: Option<Fault>, executive: Executive) -> Executive {
    match fault {
        Some(fault) => executive.with_fault(fault),
        None => executive,
    }
}

/// Each job of the lower task executes 12 ms, 8 ms at its lowest level. It begins when the upper task's first job is over,
/// loses the CPU for the 3 ms of the second one when it has 1 ms left of these 8, and exceeds them after that.
fn preempted_before_it_overruns(config: Config, fault: Option<Fault>) -> Report {
    let cpu = native(Enforcement::Adaptive);
    preempted_on(cpu, config, fault)
}

fn preempted_on(cpu: CpuSpec, config: Config, fault: Option<Fault>) -> Report {
    let executive = Executive::new(config)
        .cpu(cpu)
        .task(spec("above", HI, 2, 10, &[6, 6]), |job| job.burn(ms(3)))
        .task(spec("below", HI, 1, 50, &[8, 16]), |job| job.burn(ms(12)));
    with(fault, executive).run_well(RUN)
}

/// What the monitor did, and the two tasks.
fn shown(report: &Report) -> (MonitoringReport, [&TaskReport; 2]) {
    let cpu = &report.cpus[0];
    (cpu.monitoring.unwrap(), [&cpu.tasks[0], &cpu.tasks[1]])
}

/// Whether the run took its course although the machine may have taken time from it: each job below overran once.
fn took_its_course(report: &Report) -> bool {
    let [above, below] = shown(report).1;
    above.overruns == 0 && below.overruns == OVERRUNS
}

/// All limits were found used up, and in this activation of the monitor at the latest; what completed before it could be
/// found is not among them.
fn found_in_the_first(found: Detections, report: &Report) {
    assert_eq!((found.second, found.later), (0, 0), "{report:#?}");
    assert!(found.first >= OVERRUNS - 1, "{report:#?}");
}

/// Whoever takes the CPU stops the timer, and whoever gives it back sets it: a job costs one wake-up, whether it was
/// preempted or not, and one that keeps its limit none.
#[test]
fn a_monitor_that_keeps_the_remainder_comes_once() {
    alone_and_well(|| {
        let report = preempted_before_it_overruns(config(Monitor::Remainder), None);
        let (monitoring, [above, below]) = shown(&report);
        assert_eq!(monitoring.without_cpu, 0, "{report:#?}");
        assert_eq!(monitoring.beyond_bound, Some(0), "{report:#?}");
        assert_eq!(below.activations.median, 1, "{report:#?}");
        if took_its_course(&report) {
            assert_eq!(above.activations.max, 0, "{report:#?}");
        }
        found_in_the_first(monitoring.detected, &report);
    });
}

/// The same monitor, whose timers nobody stops, wakes the manager while another job has the CPU: that is counted.
#[test]
fn a_monitor_that_runs_on_during_preemptions_is_found() {
    alone_and_well(|| {
        let fault = Some(Fault::MonitorsRunOn);
        let report = preempted_before_it_overruns(config(Monitor::Remainder), fault);
        let (monitoring, [_, below]) = shown(&report);
        assert!(monitoring.without_cpu >= OVERRUNS - 1, "{report:#?}");
        assert!(below.activations.median >= 2, "{report:#?}");
        // That is one look for the limit and one for the preemption, no more than the bound of this monitor allows: what
        // tells it from one that stands still are the looks at a job that does not have the CPU.
        let beyond = monitoring.beyond_bound;
        assert!(matches!(beyond, Some(0 | 1)), "{report:#?}");
    });
}

/// Deadline-based monitoring: in vain during each preemption, but never more often than its lower bound lets it.
#[test]
fn deadline_monitoring_comes_no_more_often_than_its_bound() {
    alone_and_well(|| {
        for bound in [Duration::from_micros(30), Duration::from_millis(2)] {
            let config = Config {
                bound,
                ..config(Monitor::Manager)
            };
            let report = preempted_before_it_overruns(config, None);
            let (monitoring, [_, below]) = shown(&report);
            assert_eq!(monitoring.beyond_bound, Some(0), "{report:#?}");
            let most = below.response.max.div_ceil(bound.as_nanos()) + 1;
            assert!(below.activations.max <= most, "{report:#?}");
            assert!(monitoring.without_cpu >= OVERRUNS - 1, "{report:#?}");
            found_in_the_first(monitoring.detected, &report);
        }
    });
}

/// The lower task loses the CPU more often than its monitor may come. The bound counts from when that came last: were it
/// counted from when the job goes on, it would never be over.
#[test]
fn frequent_preemptions_postpone_no_detection_beyond_the_bound() {
    alone_and_well(|| {
        for monitor in [Monitor::Manager, Monitor::Remainder] {
            let bound = Duration::from_millis(6);
            let config = Config {
                bound,
                ..config(monitor)
            };
            let report = Executive::new(config)
                .cpu(native(Enforcement::Adaptive))
                .task(spec("above", HI, 2, 4, &[2, 2]), |job| job.burn(ms(1)))
                .task(spec("below", HI, 1, 50, &[7, 20]), |job| job.burn(ms(18)))
                .run_well(RUN);
            let (monitoring, _) = shown(&report);
            let overshoot = report.cpus[0].enforcement.overshoot;
            assert!(overshoot.median <= bound.as_nanos(), "{report:#?}");
            assert_eq!(monitoring.beyond_bound, Some(0), "{report:#?}");
            found_in_the_first(monitoring.detected, &report);
        }
    });
}

/// No multiple of it is a period of a task, so that limits end anywhere between two beats.
const BEAT: Duration = Duration::from_micros(700);

fn with_heartbeat(fault: Option<Fault>) -> Report {
    let config = Config {
        heartbeat: BEAT,
        ..config(Monitor::Heartbeat)
    };
    preempted_before_it_overruns(config, fault)
}

/// With the highest priority, the first look after an overrun finds it. The period is kept whatever else the manager does.
#[test]
fn a_heartbeat_finds_an_overrun_the_first_time() {
    alone_and_well(|| {
        let report = with_heartbeat(None);
        let (monitoring, _) = shown(&report);
        found_in_the_first(monitoring.detected, &report);
        assert_eq!(monitoring.beyond_bound, Some(0), "{report:#?}");
        let beats = report.duration.as_nanos() / BEAT.as_nanos();
        assert!(monitoring.activations <= beats + 1, "{report:#?}");
        assert!(monitoring.activations >= beats - beats / 20, "{report:#?}");
    });
}

/// A heartbeat that looks at the jobs every other time only finds about half of the overruns the second time.
#[test]
fn a_heartbeat_that_looks_away_is_found() {
    alone_and_well(|| {
        let report = with_heartbeat(Some(Fault::LooksAway));
        let found = shown(&report).0.detected;
        assert!(found.second >= OVERRUNS / 5, "{report:#?}");
    });
}

fn dispatched_with(config: Config, fault: Option<Fault>) -> Report {
    preempted_on(by_priorities(Enforcement::Adaptive), config, fault)
}

/// A manager that dispatches knows when its job loses the CPU, and looks when that has used up its limit: once, and again where
/// the job had not had the CPU all the time since the manager set its timer and went to sleep.
#[test]
fn a_manager_that_dispatches_looks_once_for_each_limit_and_each_time_that_others_had_the_cpu() {
    alone_and_well(|| {
        for monitor in [Monitor::Manager, Monitor::Remainder] {
            let report = dispatched_with(config(monitor), None);
            let (monitoring, [above, below]) = shown(&report);
            assert_eq!(monitoring.without_cpu, 0, "{report:#?}");
            assert_eq!(monitoring.beyond_bound, Some(0), "{report:#?}");
            assert!(below.activations.median <= 2, "{report:#?}");
            if took_its_course(&report) {
                assert_eq!(above.activations.max, 0, "{report:#?}");
            }
            found_in_the_first(monitoring.detected, &report);
        }
    });
}

/// Timers that are set for too short a time are nobody else's fault: what they cost is counted.
#[test]
fn a_manager_that_dispatches_and_comes_too_early_is_found() {
    alone_and_well(|| {
        let fault = Some(Fault::MonitorsComeEarly);
        let report = dispatched_with(config(Monitor::Remainder), fault);
        let (monitoring, [_, below]) = shown(&report);
        assert!(below.activations.median > 4, "{report:#?}");
        let beyond = monitoring.beyond_bound.unwrap();
        assert!(beyond >= OVERRUNS - 1, "{report:#?}");
    });
}

#[test]
fn a_heartbeat_of_a_manager_that_dispatches_finds_an_overrun_the_first_time() {
    alone_and_well(|| {
        let config = || Config {
            heartbeat: BEAT,
            ..config(Monitor::Heartbeat)
        };
        let report = dispatched_with(config(), None);
        let (monitoring, _) = shown(&report);
        found_in_the_first(monitoring.detected, &report);
        assert_eq!(monitoring.beyond_bound, Some(0), "{report:#?}");
        let found = shown(&dispatched_with(config(), Some(Fault::LooksAway)))
            .0
            .detected;
        assert!(found.second >= OVERRUNS / 5, "{found:?}");
    });
}
