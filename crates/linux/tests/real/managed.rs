//! Managed dispatch: the plans of a scheduler, carried out with three priorities.

use crate::looks::replayed;
use crate::support::{
    HI, Hostility, LO, RunWell, alone_and_well, config, dispatched, is_calm, ms, native,
    real_time_threads, spec, undisturbed,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use vestal_core::engine::Configuration;
use vestal_core::{
    ConfigurationError, ContractViolation, DeadlineQueues, DropReason, Duration, Enforcement,
    Event, Exhaustion, Fact, Instant, JobId, LevelSet, Notice, Permit, Plan, Scheduler, Service,
    TaskId, TaskOrder, Uniprocessor,
};
use vestal_linux::{
    BoxedScheduler, Config, CpuSpec, Ended, Executive, JobContext, Monitor, Recording, Report,
    TaskSpec, Termination,
};
use vestal_trace::{Record, Summary};

const RUN: Duration = Duration::from_millis(1_250);

/// One CPU on which a manager dispatches.
pub(crate) fn managed(
    config: Config,
    enforcement: Enforcement,
    virtual_percent: Option<u64>,
) -> Executive {
    Executive::new(config).cpu(by_deadlines(enforcement, virtual_percent))
}

fn by_deadlines(enforcement: Enforcement, virtual_percent: Option<u64>) -> CpuSpec {
    dispatched(enforcement, move |configuration| {
        scheduler(configuration, virtual_percent)
    })
}

/// Fixed priorities, or EDF with the virtual deadlines of HI tasks at so many percent of the real ones.
fn scheduler(
    configuration: &Configuration<'_>,
    virtual_percent: Option<u64>,
) -> Result<BoxedScheduler, ConfigurationError> {
    let Some(percent) = virtual_percent else {
        return Ok(Box::new(Uniprocessor::new(configuration)?));
    };
    let virtual_deadlines: Vec<_> = configuration
        .tasks
        .iter()
        .map(|entry| match entry.task.criticality {
            LO => entry.task.deadline,
            _ => Duration::from_nanos(entry.task.deadline.as_nanos() * percent / 100),
        })
        .collect();
    let order = TaskOrder::EarliestDeadline {
        virtual_deadlines: virtual_deadlines.into(),
        queues: DeadlineQueues::One,
    };
    Ok(Box::new(Uniprocessor::with_order(configuration, &order)?))
}

fn nothing_is_left_behind(report: &Report) {
    assert_eq!(report.ended, Ended::Finished);
    assert_eq!(report.cpus[0].inversions, Some(0), "{report:#?}");
    let jobs = &report.jobs;
    assert_eq!(
        jobs.released,
        jobs.completed + jobs.dropped + jobs.unfinished,
        "{report:#?}"
    );
    assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
}

/// Deadlines that no fixed priorities can meet: rate-monotonically the second task would need
/// 12 + 2 * 9 = 30 ms of its 28 ms.
#[test]
fn edf_meets_deadlines_that_fixed_priorities_cannot() {
    alone_and_well(|| {
        let (begun, report) = undisturbed(ms(2), two_tasks_by_deadline, |(_, report)| report);
        nothing_is_left_behind(&report);
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
        assert_eq!(
            (report.jobs.released, report.jobs.dropped),
            (120, 0),
            "{report:#?}"
        );
        assert!(report.jobs.completed >= 119, "{report:#?}");
        // No job begins while one that is due earlier waits.
        let due_earlier_waits = begun.iter().enumerate().find(|(index, (_, at, due))| {
            begun
                .iter()
                .skip(index + 1)
                .any(|(later, _, other_due)| released(*later) < *at && other_due < due)
        });
        assert_eq!(due_earlier_waits, None, "{begun:?}");
    });
}

/// A job, when it began and when it is due.
type Begun = (JobId, Instant, Instant);

fn two_tasks_by_deadline() -> (Vec<Begun>, Report) {
    let begun = Arc::new(Mutex::new(Vec::with_capacity(1_000)));
    let body = |milliseconds| {
        let begun = Arc::clone(&begun);
        move |job: &mut JobContext<'_>| {
            begun
                .lock()
                .unwrap()
                .push((job.id(), job.now(), job.deadline()));
            job.burn(ms(milliseconds))
        }
    };
    // Limits with room for what the machine may put on a job's account.
    let mut short = spec("short", LO, 1, 20, &[11]);
    let mut long = spec("long", LO, 1, 28, &[14]);
    (short.demand_max, long.demand_max) = (Some(ms(9)), Some(ms(12)));
    let report = managed(config(Monitor::Manager), Enforcement::Static, Some(100))
        .task(short, body(9))
        .task(long, body(12))
        .run_well(Duration::from_millis(1_400));
    let begun = begun.lock().unwrap().clone();
    (begun, report)
}

/// When a job of the EDF test was released.
fn released(job: JobId) -> Instant {
    let period = if job.task == TaskId(0) { 20 } else { 28 };
    Instant::EPOCH.saturating_add(Duration::from_millis(period * job.sequence))
}

/// Every fifth HI job needs 10 ms where C(LO) is 6 ms.
fn hi_overruns(virtual_percent: Option<u64>) {
    alone_and_well(|| {
        let overruns = |sequence: u64| sequence % 5 == 4;
        let report = managed(
            config(Monitor::Manager),
            Enforcement::Adaptive,
            virtual_percent,
        )
        .task(spec("lo-above", LO, 3, 25, &[4]), |job| job.burn(ms(3)))
        .task(spec("hi", HI, 2, 50, &[6, 16]), move |job| {
            job.burn(ms(if overruns(job.id().sequence) { 10 } else { 3 }))
        })
        .task(spec("lo-below", LO, 1, 50, &[8]), |job| job.burn(ms(6)))
        .run_well(RUN);
        nothing_is_left_behind(&report);
        let hi = &report.cpus[0].tasks[1];
        let expected: Vec<_> = (0..hi.jobs.released).filter(|&job| overruns(job)).collect();
        let causes: Vec<_> = report.cpus[0]
            .modes
            .iter()
            .filter_map(|change| change.cause)
            .collect();
        assert!(expected.len() >= 4);
        for &sequence in &expected {
            let job = JobId {
                task: TaskId(1),
                sequence,
            };
            assert!(causes.contains(&job), "{report:#?}");
        }
        if is_calm(&report, ms(2)) {
            assert_eq!(causes.len(), expected.len(), "{report:#?}");
        }
        assert_eq!(hi.jobs.dropped, 0, "{report:#?}");
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
        // LO service resumes: every rise is followed by a fall, but perhaps the last.
        let falls = report.cpus[0].modes.len() - causes.len();
        assert!(falls + 1 >= causes.len(), "{report:#?}");
        for lo in [&report.cpus[0].tasks[0], &report.cpus[0].tasks[2]] {
            assert!(lo.jobs.completed > lo.jobs.dropped, "{report:#?}");
        }
    });
}

#[test]
fn fixed_priorities_managed_raise_the_mode_and_return_at_idle() {
    hi_overruns(None);
}

#[test]
fn edf_vd_managed_raises_the_mode_and_returns_at_idle() {
    hi_overruns(Some(60));
}

/// Due last, a LO job that never listens loses its priority at its limit, and its successors pay for it.
#[test]
fn a_lo_job_that_runs_for_ever_delays_no_hi_job_managed() {
    alone_and_well(|| {
        // The HI job has 4 ms to spare until it would raise the mode.
        let run = || {
            let mut config = config(Monitor::Manager);
            config.patience = Duration::from_millis(750);
            managed(config, Enforcement::Adaptive, Some(100))
                .task(spec("endless", LO, 2, 40, &[8]), |job| {
                    job.burn_deaf(ms(800));
                    Ok(())
                })
                .task(spec("hi", HI, 1, 50, &[8, 16]), |job| job.burn(ms(4)))
                .run_well(Duration::from_millis(1_000))
        };
        let report = undisturbed(ms(4), run, |report| report);
        nothing_is_left_behind(&report);
        let hi = &report.cpus[0].tasks[1];
        assert_eq!(hi.jobs.completed, hi.jobs.released);
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
        assert_eq!(report.cpus[0].modes, []);
        // Each of its jobs used up its own limit, also those that could not begin; all were noticed soon.
        let endless = &report.cpus[0].tasks[0];
        assert!(endless.overruns >= 20, "{report:#?}");
        let overshoot = report.cpus[0].enforcement.overshoot;
        assert!(overshoot.median < 1_000_000, "{overshoot:?}");
    });
}

/// The other monitors serve managed dispatch too, and hostile bodies change nothing.
#[test]
fn every_monitor_enforces_managed_also_against_hostile_bodies() {
    alone_and_well(|| {
        let cases = [
            (Monitor::Manager, Hostility::Rises),
            (Monitor::Manager, Hostility::Forks),
            (Monitor::Perf, Hostility::BlocksSignals),
            (Monitor::Heartbeat, Hostility::Rises),
            (Monitor::PosixTimer, Hostility::BlocksSignals),
        ];
        for (monitor, hostility) in cases {
            let report = managed(config(monitor), Enforcement::Adaptive, Some(50))
                .task(spec("lo", LO, 1, 20, &[5]), |job| job.burn(ms(3)))
                .task(spec("hi", HI, 1, 100, &[8, 36]), move |job| {
                    // Beyond C(LO) by three granularities even where budgets are bound to the tick.
                    let overruns = job.id().sequence % 3 == 1;
                    if overruns {
                        hostility.show();
                    }
                    job.burn(ms(if overruns { 26 } else { 4 }))
                })
                .run_well(Duration::from_millis(900));
            Hostility::clean_up();
            nothing_is_left_behind(&report);
            assert_eq!(report.cpus[0].monitor, monitor);
            let hi = &report.cpus[0].tasks[1];
            assert_eq!(hi.jobs.dropped, 0, "{report:#?}");
            assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
            for sequence in [1, 4, 7] {
                let job = JobId {
                    task: TaskId(1),
                    sequence,
                };
                let raised = report.cpus[0]
                    .modes
                    .iter()
                    .any(|change| change.cause == Some(job));
                assert!(raised, "{monitor:?} {hostility:?}: {report:#?}");
            }
            let lo = &report.cpus[0].tasks[0];
            assert!(
                lo.jobs.dropped >= 3 && lo.jobs.completed >= 30,
                "{report:#?}"
            );
        }
    });
}

/// Deferred termination: cancellation points let a demoted job pass until the CPU is idle.
#[test]
fn deferred_termination_waits_for_the_cpu_to_be_idle() {
    alone_and_well(|| {
        for is_native in [false, true] {
            let run = || {
                let mut config = config(Monitor::Manager);
                config.termination = Termination::Deferred;
                let executive = if is_native {
                    Executive::new(config).cpu(native(Enforcement::Static))
                } else {
                    managed(config, Enforcement::Static, None)
                };
                executive
                    .task(spec("lo", LO, 2, 100, &[5]), |job| job.burn(ms(12)))
                    .task(spec("hi", HI, 1, 100, &[5, 20]), |job| job.burn(ms(15)))
                    .run_well(Duration::from_millis(1_000))
            };
            let report = undisturbed(ms(5), run, |report| report);
            let [lo, hi] = &report.cpus[0].tasks[..] else {
                panic!("two tasks");
            };
            assert_eq!((lo.overruns, lo.jobs.dropped), (10, 10), "{report:#?}");
            assert_eq!(hi.jobs.completed, 10, "{report:#?}");
            assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
            // The HI job does not wait for the end of the LO job, which comes after it.
            assert!(hi.response.median < ms(24).as_nanos(), "{:?}", hi.response);
        }
    });
}

#[test]
fn observed_managed_runs_enforce_nothing() {
    alone_and_well(|| {
        let mut config = config(Monitor::Manager);
        config.enforce = false;
        let report = managed(config, Enforcement::Adaptive, Some(100))
            .task(spec("lo", LO, 1, 50, &[5]), |job| job.burn(ms(10)))
            .task(spec("hi", HI, 2, 50, &[5, 12]), |job| job.burn(ms(10)))
            .run_well(Duration::from_millis(500));
        nothing_is_left_behind(&report);
        assert!(!report.cpus[0].enforced);
        assert_eq!((report.cpus[0].modes.len(), report.jobs.dropped), (0, 0));
        assert_eq!(report.jobs.completed, report.jobs.released);
    });
}

/// Drops each second job of every task when it is released, as a policy with less patience might.
struct EachSecondDropped {
    rest: Uniprocessor,
    dropped: VecDeque<Notice>,
}

impl Scheduler for EachSecondDropped {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        if let Fact::Released { job } = fact
            && job.sequence % 2 == 1
        {
            let why = DropReason::BacklogFull;
            let what = Event::Dropped { job, why };
            self.dropped.push_back(Notice { at, what });
            return Ok(());
        }
        self.rest.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.rest.decide(now)
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.rest.permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.dropped.pop_front().or_else(|| self.rest.take_notice())
    }
    fn lost_notices(&self) -> u64 {
        self.rest.lost_notices()
    }
}

/// Each job takes 12 of its 10 ms; the next one is dropped meanwhile.
#[test]
fn a_job_that_is_dropped_while_it_waits_takes_no_place_from_the_one_before_it() {
    alone_and_well(|| {
        let cpu = dispatched(Enforcement::Static, |configuration| {
            Ok(Box::new(EachSecondDropped {
                rest: Uniprocessor::new(configuration)?,
                dropped: VecDeque::new(),
            }))
        });
        let report = Executive::new(config(Monitor::Manager))
            .cpu(cpu)
            .task(
                TaskSpec {
                    demand_max: Some(ms(6)),
                    ..spec("task", LO, 1, 10, &[30])
                },
                |job| job.burn(ms(12)),
            )
            .run_well(Duration::from_millis(400));
        nothing_is_left_behind(&report);
        let jobs = &report.jobs;
        assert_eq!((jobs.completed, jobs.dropped), (20, 20), "{report:#?}");
        assert_eq!(jobs.dropped_by.of(DropReason::BacklogFull), 20);
    });
}

/// Two tasks that need 120 % of the CPU for a moment, well below what RT throttling counts.
fn overloading() -> [TaskSpec; 2] {
    // What the check against throttling goes by; the run is over before its period is.
    [("first", 2), ("second", 1)].map(|(name, priority)| TaskSpec {
        demand_max: Some(ms(4)),
        ..spec(name, LO, priority, 10, &[9])
    })
}

/// Runs them, and gives what was recorded.
fn overloaded(executive: Executive) -> (Report, Vec<Record>) {
    let records = Arc::new(Mutex::new(Vec::with_capacity(100_000)));
    let kept = Arc::clone(&records);
    let [first, second] = overloading();
    let report = executive
        .recorded(Recording::new(move |_| {
            Ok(Box::new(move |new: &[Record]| {
                kept.lock().unwrap().extend_from_slice(new);
            }))
        }))
        .task(first, |job| job.burn(ms(6)))
        .task(second, |job| job.burn(ms(6)))
        .run(Duration::from_millis(400))
        .unwrap();
    let records = records.lock().unwrap().clone();
    (report, records)
}

/// Reports the recorded facts to a fresh scheduler.
fn decided_again(records: &[Record]) -> Summary {
    let specs = overloading();
    let tasks = [specs[0].configuration, specs[1].configuration];
    let mut scheduler = Uniprocessor::new(&Configuration {
        tasks: &tasks,
        levels: LevelSet::new(2).unwrap(),
        enforcement: Enforcement::Static,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    })
    .unwrap();
    replayed(&specs, &mut scheduler, records)
}

/// In 400 ms the second task completes about 26 of its 40 jobs.
#[test]
fn late_jobs_wait_however_many_unless_a_backlog_says_how_many() {
    alone_and_well(|| {
        for is_native in [false, true] {
            let run = |backlog| {
                let cpu = CpuSpec {
                    backlog,
                    ..if is_native {
                        native(Enforcement::Static)
                    } else {
                        by_deadlines(Enforcement::Static, None)
                    }
                };
                let config = config(Monitor::Manager);
                let (report, records) = overloaded(Executive::new(config).cpu(cpu));
                if !is_native {
                    let counts = decided_again(&records).counts;
                    let (jobs, dropped) = (&report.jobs, counts.dropped);
                    assert_eq!((counts.released, dropped), (jobs.released, jobs.dropped_by));
                }
                report
            };
            let free = run(None);
            assert_eq!(free.jobs.dropped, 0, "{free:#?}");
            assert_eq!(free.jobs.released, 80, "{free:#?}");
            // Its last jobs waited behind more than the four that a scheduler has room for.
            assert!(free.cpus[0].tasks[1].response.max > 80_000_000, "{free:#?}");
            let bounded = run(Some(2));
            let jobs = &bounded.jobs;
            let full = jobs.dropped_by.of(DropReason::BacklogFull);
            assert_eq!(
                (full, jobs.dropped_by.total()),
                (jobs.dropped, jobs.dropped)
            );
            assert!(full >= 5, "{bounded:#?}");
            assert_eq!(jobs.released, jobs.completed + full + jobs.unfinished);
            // Current, and two that wait: each takes 15 ms, with what the first task takes.
            assert!(
                bounded.cpus[0].tasks[1].response.max < 80_000_000,
                "{bounded:#?}"
            );
        }
    });
}
