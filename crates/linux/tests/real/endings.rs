//! However a run ends, no real-time thread of the run stays behind.

use crate::child::{outcome_of, send, spawn};
use crate::support::{
    HI, LO, RunWell, alone, alone_and_well, config, eventually, ms, native, real_time_threads, spec,
};
use vestal_core::{Duration, Enforcement};
use vestal_linux::fault::Fault;
use vestal_linux::{Config, Ended, ErrorKind, Executive, Monitor, Rights, RunError, stop};

const NOBODY: Vec<String> = Vec::new();

/// The threads of the run are there: watchdog, manager, idle detector and two workers.
fn is_running(pid: u32) -> bool {
    eventually(|| real_time_threads(pid).len() == 5)
}

fn a_signal_ends_the_run(signal: &str, number: i32) {
    let _alone = alone();
    // A shell that started the tests in the background has them ignore SIGINT, and so would the child.
    let child = spawn(20, &["env", "--default-signal=INT,TERM"]);
    let pid = child.id();
    assert!(is_running(pid));
    send(signal, pid);
    assert!(eventually(|| real_time_threads(pid).is_empty()));
    let outcome = outcome_of(child);
    assert!(
        outcome.starts_with(&format!("Signal({number}) ")),
        "{outcome}"
    );
    assert!(outcome.contains("[]"), "{outcome}");
}

#[test]
fn sigint_ends_the_run_and_leaves_no_real_time_thread() {
    a_signal_ends_the_run("-INT", 2);
}

#[test]
fn sigterm_ends_the_run_and_leaves_no_real_time_thread() {
    a_signal_ends_the_run("-TERM", 15);
}

#[test]
fn sigkill_takes_everything_with_it() {
    let _alone = alone();
    let mut child = spawn(20, &[]);
    let pid = child.id();
    assert!(is_running(pid));
    send("-KILL", pid);
    assert!(eventually(|| real_time_threads(pid).is_empty()));
    assert!(!child.wait().unwrap().success());
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn a_panic_in_a_body_stops_the_run_and_names_the_task() {
    let _alone = alone();
    let error = Executive::new(config(Monitor::Perf))
        .cpu(native(Enforcement::Adaptive))
        .task(spec("steady", HI, 2, 20, &[2, 5]), |job| job.burn(ms(1)))
        .task(spec("faulty", LO, 1, 50, &[5]), |job| {
            assert!(job.id().sequence < 3, "the fourth is too much");
            job.burn(ms(1))
        })
        .run(Duration::from_millis(20_000))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BodyFailed);
    let RunError::BodyPanicked { task, message } = error else {
        panic!("{error}");
    };
    assert_eq!(
        (task.as_str(), message.as_str()),
        ("faulty", "the fourth is too much")
    );
    assert_eq!(real_time_threads(std::process::id()), NOBODY);
}

fn a_fault_stops_the_run(fault: Fault) -> RunError {
    let _alone = alone();
    let error = Executive::new(config(Monitor::Perf))
        .cpu(native(Enforcement::Adaptive))
        .task(spec("hi", HI, 2, 50, &[5, 12]), |job| job.burn(ms(8)))
        .task(spec("lo", LO, 1, 50, &[8]), |job| job.burn(ms(6)))
        .with_fault(fault)
        .run(Duration::from_millis(20_000))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert_eq!(real_time_threads(std::process::id()), NOBODY);
    error
}

#[test]
fn a_panic_in_the_manager_stops_the_run() {
    let error = a_fault_stops_the_run(Fault::ManagerPanics(200));
    assert!(
        matches!(&error, RunError::ManagerPanicked { message } if message == "injected fault"),
        "{error}"
    );
}

#[test]
fn a_manager_that_hangs_is_put_down_by_the_watchdog() {
    let error = a_fault_stops_the_run(Fault::ManagerHangs(200));
    assert!(matches!(error, RunError::ManagerHung), "{error}");
}

#[test]
fn after_every_ending_the_next_run_works() {
    let error = a_fault_stops_the_run(Fault::ManagerPanics(0));
    assert!(matches!(error, RunError::ManagerPanicked { .. }));
    alone_and_well(|| {
        let report = Executive::new(config(Monitor::Perf))
            .cpu(native(Enforcement::Adaptive))
            .task(spec("hi", HI, 2, 50, &[5, 12]), |job| job.burn(ms(2)))
            .run_well(Duration::from_millis(300));
        assert_eq!(report.jobs.completed, 6);
    });
}

/// In a process that holds the signals itself, as one with more to do than one run.
#[test]
fn a_signal_between_two_runs_ends_all_that_follow_until_it_is_acknowledged() {
    let _alone = alone();
    let _watch = stop::Watch::begin().unwrap();
    let run = || {
        let config = config(Monitor::Perf);
        let report = Executive::new(config)
            .cpu(native(Enforcement::Adaptive))
            .task(spec("hi", HI, 2, 50, &[5, 12]), |job| job.burn(ms(2)))
            .run(Duration::from_millis(300));
        let report = report.unwrap();
        (report.ended, report.jobs.completed)
    };
    assert_eq!(run(), (Ended::Finished, 6));
    send("-TERM", std::process::id());
    assert!(eventually(|| stop::asked().is_some()));
    // Nor is it forgotten when it has ended one.
    for _ in 0..2 {
        assert_eq!(run(), (Ended::Signal(15), 0));
    }
    assert_eq!(stop::acknowledge(), Some(15));
    assert_eq!(run(), (Ended::Finished, 6));
}

/// A trial takes up to half a second for each CPU, and nobody would use what it finds.
#[test]
fn nothing_is_tried_out_for_a_run_that_ends_as_soon_as_it_begins() {
    let _alone = alone();
    let _watch = stop::Watch::begin().unwrap();
    let run = || {
        let config = Config {
            chooses_monitor: true,
            calibrate: true,
            ..config(Monitor::Perf)
        };
        let report = Executive::new(config)
            .cpu(native(Enforcement::Adaptive))
            .task(spec("hi", HI, 2, 50, &[5, 12]), |job| job.burn(ms(2)))
            .run(Duration::from_millis(100));
        let report = report.unwrap();
        let cpu = &report.cpus[0];
        let has_chosen = cpu.monitor_choice.is_some();
        (
            report.ended,
            has_chosen,
            cpu.enforcement.calibration.is_some(),
        )
    };
    let has_a_choice = Rights::probe().perf;
    assert_eq!(run(), (Ended::Finished, has_a_choice, true));
    stop::ask();
    assert_eq!(run(), (Ended::Signal(2), false, false));
    assert_eq!(stop::acknowledge(), Some(2));
}
