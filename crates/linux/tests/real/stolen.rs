//! What others take from a run: it is found, named where something shows the thief, and no miss that
//! it explains counts as the run's, nor as kept.

use crate::child::{outcome_of, send, spawn};
use crate::support::{
    HI, LO, RunWell, alone, config, eventually, ms, pause, real_time_threads, spec,
};
use vestal_core::{Duration, Enforcement};
use vestal_linux::fault::{affinity, fork_thief, reap};
use vestal_linux::report::Cause;
use vestal_linux::{ErrorKind, Executive, Monitor, Report, RunError};

const RUN: Duration = Duration::from_millis(1_000);

fn tight() -> Report {
    let mut hi = spec("hi", HI, 2, 50, &[4, 10]);
    hi.configuration.task.deadline = Duration::from_millis(15);
    Executive::new(config(Enforcement::Adaptive, Monitor::Perf))
        .task(hi, |job| job.burn(ms(3)))
        .task(spec("lo", LO, 1, 50, &[8]), |job| job.burn(ms(4)))
        .run_well(RUN)
}

/// A thread of another process above all of the run takes 30 ms of each 70 ms.
#[test]
fn a_foreign_real_time_thread_is_named_and_what_it_explains_is_not_decided() {
    let _alone = alone();
    let cpu = *affinity().unwrap().last().unwrap();
    let thief = fork_thief(cpu, 99, (30, 70, 1_200)).unwrap();
    pause(20);
    let report = tight();
    reap(thief).unwrap();
    assert!(report.jobs.missed_guaranteed >= 3, "{report:#?}");
    assert_eq!(report.machine.missed_outside_gaps, 0, "{report:#?}");
    assert_eq!(
        report.jobs.missed_undecided(),
        report.jobs.missed_guaranteed,
        "{report:#?}"
    );
    let named = report.machine.stolen.iter().find_map(|stolen| {
        let Cause::RealTimeThread(names) = &stolen.cause else {
            return None;
        };
        Some((names.contains(&format!("pid {thief}")), stolen.time))
    });
    let (is_named, time) = named.unwrap_or_else(|| panic!("{report:#?}"));
    assert!(is_named, "{report:#?}");
    assert!(time > Duration::from_millis(90), "{report:#?}");
    assert!(
        report
            .machine
            .foreign
            .iter()
            .any(|thread| thread.priority == 99),
        "{report:#?}"
    );
}

#[test]
fn without_a_thief_nobody_is_named() {
    let _alone = alone();
    let report = tight();
    let named = |cause: &Cause| matches!(cause, Cause::RealTimeThread(_));
    let mut stolen = report.machine.stolen.iter();
    assert!(!stolen.any(|stolen| named(&stolen.cause)), "{report:#?}");
}

/// Threads outside the real-time classes take nothing, and excuse nothing.
#[test]
fn an_ordinary_thread_takes_nothing() {
    let _alone = alone();
    let cpu = *affinity().unwrap().last().unwrap();
    let busy = fork_thief(cpu, 0, (900, 1_000, 1_000)).unwrap();
    pause(20);
    let report = tight();
    reap(busy).unwrap();
    let foreign = &report.machine.foreign;
    assert!(
        foreign
            .iter()
            .all(|thread| thread.pid != busy.unsigned_abs())
    );
    let named = |cause: &Cause| matches!(cause, Cause::RealTimeThread(_));
    let mut stolen = report.machine.stolen.iter();
    assert!(!stolen.any(|stolen| named(&stolen.cause)), "{report:#?}");
    assert_eq!(report.machine.missed_outside_gaps, 0, "{report:#?}");
}

/// The process is stopped for so long in the middle of the run.
fn stopped_for(milliseconds: u64) -> String {
    let _alone = alone();
    let child = spawn(4, &[]);
    let pid = child.id();
    assert!(eventually(|| real_time_threads(pid).len() == 5));
    pause(300);
    send("-STOP", pid);
    pause(milliseconds);
    send("-CONT", pid);
    outcome_of(child)
}

#[test]
fn a_process_that_was_stopped_for_two_seconds_accuses_nobody() {
    let outcome = stopped_for(2_000);
    assert!(outcome.starts_with("Finished "), "{outcome}");
    assert!(outcome.contains("missed: 0, "), "{outcome}");
    assert!(!outcome.contains("undecided: 0"), "{outcome}");
    assert!(outcome.contains("continued: 1"), "{outcome}");
    assert!(outcome.contains("Unknown"), "{outcome}");
}

#[test]
fn a_process_that_was_stopped_for_a_moment_accuses_nobody() {
    let outcome = stopped_for(20);
    assert!(outcome.starts_with("Finished "), "{outcome}");
    assert!(outcome.contains("missed: 0, "), "{outcome}");
    assert!(outcome.contains("continued: 1"), "{outcome}");
}

#[test]
fn a_second_run_on_the_same_cpu_is_refused() {
    let _alone = alone();
    let child = spawn(3, &[]);
    let pid = child.id();
    assert!(eventually(|| real_time_threads(pid).len() == 5));
    let executive = Executive::new(config(Enforcement::Adaptive, Monitor::Perf))
        .task(spec("hi", HI, 2, 50, &[4, 10]), |job| job.burn(ms(3)));
    let error = executive.run(RUN).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MachineCannot);
    let RunError::CpuBusy { cpu, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(Some(&cpu), affinity().unwrap().last());
    send("-TERM", pid);
    outcome_of(child);
    // And the CPU is free again.
    assert_eq!(tight().jobs.released, 40);
}
