//! What others take from a run: it is found, named where something shows the thief, and no miss that
//! it explains counts as the run's, nor as kept.

use crate::child::{outcome_of, send, spawn};
use crate::looks::{header, keeping};
use crate::support::{
    HI, LO, RunWell, alone_and_well, config, eventually, ms, native, pause, real_time_threads, spec,
};
use vestal_core::{Duration, Enforcement, TaskId};
use vestal_linux::fault::{Delay, Fault, How, Point, affinity, fork_thief, reap};
use vestal_linux::report::{Cause, Duty};
use vestal_linux::{ErrorKind, Executive, Monitor, Report, RunError};
use vestal_trace::replay::inversion::{Order, first_inversion};
use vestal_trace::{Dispatch, Header};

const RUN: Duration = Duration::from_millis(1_000);

fn tight() -> Report {
    let mut hi = spec("hi", HI, 2, 50, &[4, 10]);
    hi.configuration.task.deadline = Duration::from_millis(15);
    Executive::new(config(Monitor::Perf))
        .cpu(native(Enforcement::Adaptive))
        .task(hi, |job| job.burn(ms(3)))
        .task(spec("lo", LO, 1, 50, &[8]), |job| job.burn(ms(4)))
        .run_well(RUN)
}

/// A thread of another process above all of the run takes 30 ms of each 70 ms.
#[test]
fn a_foreign_real_time_thread_is_named_and_what_it_explains_is_not_decided() {
    alone_and_well(|| {
        let cpu = *affinity().unwrap().last().unwrap();
        let thief = fork_thief(cpu, 99, (30, 70, 1_200)).unwrap();
        pause(20);
        let report = tight();
        reap(thief).unwrap();
        assert!(report.jobs.missed_guaranteed >= 3, "{report:#?}");
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
        assert_eq!(
            report.jobs.missed_undecided(),
            report.jobs.missed_guaranteed,
            "{report:#?}"
        );
        let named = report.cpus[0].machine.stolen.iter().find_map(|stolen| {
            let Cause::RealTimeThread(names) = &stolen.cause else {
                return None;
            };
            Some((names.contains(&format!("pid {thief}")), stolen.time))
        });
        let (is_named, time) = named.unwrap_or_else(|| panic!("{report:#?}"));
        assert!(is_named, "{report:#?}");
        assert!(time > Duration::from_millis(90), "{report:#?}");
        assert!(
            report.cpus[0]
                .machine
                .foreign
                .iter()
                .any(|thread| thread.priority == 99),
            "{report:#?}"
        );
    });
}

/// The job of `below` is complete 2 ms before its deadline. If it is not, the next job of `above` makes it 10 ms
/// later still.
fn preempted_when_late(fault: Option<Delay>) -> Report {
    let mut below = spec("below", HI, 1, 40, &[8, 10]);
    below.configuration.task.deadline = Duration::from_millis(20);
    let mut executive = Executive::new(config(Monitor::Perf))
        .cpu(native(Enforcement::Static))
        .task(spec("above", HI, 2, 20, &[10, 12]), |job| job.burn(ms(10)))
        .task(below, |job| job.burn(ms(8)));
    if let Some(delay) = fault {
        executive = executive.with_fault(Fault::Delay(delay));
    }
    executive.run(RUN).unwrap()
}

/// 4 ms are taken: that is less than the tardiness, and more than what the job lacked at its deadline.
#[test]
fn a_late_job_is_judged_by_what_it_lacked_and_not_by_those_that_preempt_it_then() {
    alone_and_well(|| {
        let cpu = *affinity().unwrap().last().unwrap();
        let thief = fork_thief(cpu, 99, (4, 70, 1_200)).unwrap();
        pause(20);
        let report = preempted_when_late(None);
        reap(thief).unwrap();
        let [_, below] = &report.cpus[0].tasks[..] else {
            panic!("two tasks");
        };
        assert!(below.jobs.missed_undecided() >= 3, "{report:#?}");
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
        assert!(below.tardiness.max > ms(8).as_nanos(), "{report:#?}");
        // The same of our own is no excuse.
        let report = preempted_when_late(Some(Delay {
            point: Point::JobStart,
            how: How::Burn,
            milliseconds: 4,
            // Three jobs begin in each 40 ms.
            every: 4,
        }));
        assert!(report.jobs.missed_outside_gaps >= 3, "{report:#?}");
    });
}

/// Over before the manager's second beat, a second after its first look, which is 20 ms or more before the first release: of an
/// interval in which another thread of the run notes something nothing is excused, and that beat may meet one of `above`.
const BETWEEN_BEATS: Duration = Duration::from_millis(920);

/// The job of `below` is late because others took the CPU in code of the run that comes before or after each body,
/// and takes 3 or 5 ms of our own. By itself it has 3 ms to spare: more than a thread may take without being called
/// slow, less than what is stolen.
fn stolen_beside_a_body(point: Point, duty: Duty, monitor: Monitor) {
    alone_and_well(|| {
        let cpu = *affinity().unwrap().last().unwrap();
        let mut below = spec("below", HI, 1, 40, &[8, 10]);
        below.configuration.task.deadline = Duration::from_millis(20);
        let (burn, own) = if duty == Duty::JobStart {
            (7, 3)
        } else {
            (8, 5)
        };
        let executive = Executive::new(config(monitor))
            .cpu(native(Enforcement::Static))
            .task(spec("above", HI, 2, 20, &[4, 5]), |job| job.burn(ms(4)))
            .task(below, move |job| job.burn(ms(burn)))
            .with_fault(Fault::Delay(Delay {
                point,
                how: How::Burn,
                milliseconds: own,
                every: 1,
            }));
        // At eight places of the hyperperiod in turn.
        let thief = fork_thief(cpu, 99, (4, 35, 1_200)).unwrap();
        pause(20);
        let report = executive.run_well_but_for(duty, Duration::from_millis(own), BETWEEN_BEATS);
        reap(thief).unwrap();
        assert!(
            report.cpus[0].tasks[1].jobs.missed_undecided() >= 4,
            "{report:#?}"
        );
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
    });
}

#[test]
fn what_others_take_at_the_end_of_a_job_is_stolen_too() {
    stolen_beside_a_body(Point::JobEnd, Duty::JobEnd, Monitor::Perf);
}

#[test]
fn what_others_take_at_the_beginning_of_a_job_is_stolen_too() {
    stolen_beside_a_body(Point::Woken, Duty::JobStart, Monitor::Perf);
}

/// The manager, which looks at the budgets each millisecond, comes between a job's wake-up and its beginning, before
/// and after others do.
#[test]
fn what_others_take_is_stolen_also_where_the_manager_comes_in_between() {
    stolen_beside_a_body(Point::Woken, Duty::JobStart, Monitor::Heartbeat);
}

/// A job of `low` seems to run until the one of `high` has begun, which our own delay puts off by 3 ms, and the thief by
/// 4 ms now and then. If `low` were the more urgent one, its order would not have been kept.
#[test]
fn what_passes_at_the_beginning_of_a_job_is_no_inversion() {
    alone_and_well(|| {
        let cpu = *affinity().unwrap().last().unwrap();
        let (recording, records) = keeping();
        let specs = [
            spec("high", HI, 2, 20, &[5, 6]),
            spec("low", HI, 1, 40, &[16, 18]),
        ];
        let executive = Executive::new(config(Monitor::Perf))
            .cpu(native(Enforcement::Static))
            .task(specs[0].clone(), |job| job.burn(ms(4)))
            .task(specs[1].clone(), |job| job.burn(ms(16)))
            .recorded(recording)
            .with_fault(Fault::Delay(Delay {
                point: Point::Woken,
                how: How::Burn,
                milliseconds: 3,
                every: 1,
            }));
        let thief = fork_thief(cpu, 99, (4, 37, 1_200)).unwrap();
        pause(20);
        executive.run(RUN).unwrap();
        reap(thief).unwrap();
        let records = records.lock().unwrap();
        let inversion = |priorities: &[u32]| {
            let order = Order {
                priorities,
                placement: &[],
                tolerance: Duration::from_micros(100),
            };
            let header = Header {
                dispatch: Dispatch::Native,
                ..header(&specs)
            };
            let records = records.iter().map(|record| Ok::<_, ()>(*record));
            first_inversion(&header, records, order).unwrap()
        };
        assert_eq!(inversion(&[2, 1]), None);
        let reversed = inversion(&[1, 2]).unwrap();
        let [running, waiting] = [reversed.running.task, reversed.waiting.task];
        assert_eq!([running, waiting], [TaskId(0), TaskId(1)]);
    });
}

#[test]
fn without_a_thief_nobody_is_named() {
    alone_and_well(|| {
        let report = tight();
        let named = |cause: &Cause| matches!(cause, Cause::RealTimeThread(_));
        let mut stolen = report.cpus[0].machine.stolen.iter();
        assert!(!stolen.any(|stolen| named(&stolen.cause)), "{report:#?}");
    });
}

/// Threads outside the real-time classes take nothing, and excuse nothing.
#[test]
fn an_ordinary_thread_takes_nothing() {
    alone_and_well(|| {
        let cpu = *affinity().unwrap().last().unwrap();
        let busy = fork_thief(cpu, 0, (900, 1_000, 1_000)).unwrap();
        pause(20);
        let report = tight();
        reap(busy).unwrap();
        let foreign = &report.cpus[0].machine.foreign;
        assert!(
            foreign
                .iter()
                .all(|thread| thread.pid != busy.unsigned_abs())
        );
        let named = |cause: &Cause| matches!(cause, Cause::RealTimeThread(_));
        let mut stolen = report.cpus[0].machine.stolen.iter();
        assert!(!stolen.any(|stolen| named(&stolen.cause)), "{report:#?}");
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
    });
}

/// The process is stopped for so long in the middle of a run of so many seconds.
fn stopped_for(milliseconds: u64, seconds: u64) -> String {
    let child = spawn(seconds, &[]);
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
    alone_and_well(|| {
        let outcome = stopped_for(2_000, 3);
        assert!(outcome.starts_with("Finished "), "{outcome}");
        assert!(outcome.contains("missed: 0, "), "{outcome}");
        assert!(!outcome.contains("undecided: 0"), "{outcome}");
        assert!(outcome.contains("continued: 1"), "{outcome}");
        let (_, taken) = outcome.split_once("Unknown, time: ").unwrap_or_default();
        let nanos = taken
            .split_once("ns")
            .and_then(|(nanos, _)| nanos.parse().ok());
        // All but what no task wanted: two tasks have a job each 50 ms.
        let expected = 1_900_000_000..2_100_000_000;
        assert!(
            nanos.is_some_and(|nanos: u64| expected.contains(&nanos)),
            "{outcome}"
        );
    });
}

#[test]
fn a_process_that_was_stopped_for_a_moment_accuses_nobody() {
    alone_and_well(|| {
        let outcome = stopped_for(20, 1);
        assert!(outcome.starts_with("Finished "), "{outcome}");
        assert!(outcome.contains("missed: 0, "), "{outcome}");
        assert!(outcome.contains("continued: 1"), "{outcome}");
    });
}

#[test]
fn a_second_run_on_the_same_cpu_is_refused() {
    alone_and_well(|| {
        let child = spawn(3, &[]);
        let pid = child.id();
        assert!(eventually(|| real_time_threads(pid).len() == 5));
        let executive = Executive::new(config(Monitor::Perf))
            .cpu(native(Enforcement::Adaptive))
            .task(spec("hi", HI, 2, 50, &[4, 10]), |job| job.burn(ms(3)));
        let error = executive.run(RUN).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MachineCannot);
        let RunError::CpuBusy { processor, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(Some(&processor.0), affinity().unwrap().last());
        send("-TERM", pid);
        outcome_of(child);
        // And the CPU is free again.
        assert_eq!(tight().jobs.released, 40);
    });
}
