//! EDF-VD by the threads of Sigrist et al. (RTAS 2015, section VI-A): a dispatcher of arrivals, a scheduler and overrun
//! checkers beside the workers. The decisions are those of managed dispatch.

use crate::managed::managed;
use crate::parts::{is_in, with};
use crate::support::{
    HI, LO, RunWell, alone, alone_and_well, config, eventually, ms, pause, real_time_threads, spec,
    undisturbed, well,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use vestal_core::{Duration, Enforcement, JobId, TaskId};
use vestal_linux::fault::{Delay, Fault, How, Point};
use vestal_linux::report::{Detections, Duty, MonitoringReport, Part, TaskReport};
use vestal_linux::{
    Config, Dispatcher, Ended, Executive, Mechanism, Monitor, Report, RunError, Termination,
};

const RUN: Duration = Duration::from_millis(500);

fn by(mechanism: Mechanism, monitor: Monitor) -> Config {
    Config {
        mechanism,
        termination: Termination::Deferred,
        ..config(monitor)
    }
}

fn by_paper(monitor: Monitor) -> Config {
    by(Mechanism::Sigrist2015, monitor)
}

/// Every fifth HI job needs 10 ms where C(LO) is 6 ms; the LO job below it is pending then.
fn overruns(config: Config) -> Executive {
    managed(config, Enforcement::Adaptive, Some(60))
        .task(spec("lo-above", LO, 3, 25, &[4]), |job| job.burn(ms(2)))
        .task(spec("hi", HI, 2, 50, &[6, 16]), |job| {
            job.burn(ms(if job.id().sequence % 5 == 4 { 10 } else { 3 }))
        })
        .task(spec("lo-below", LO, 1, 50, &[9]), |job| job.burn(ms(4)))
}

fn raised_by(report: &Report) -> Vec<JobId> {
    let changes = report.cpus[0].modes.iter();
    changes.filter_map(|change| change.cause).collect()
}

fn nothing_is_left_behind() {
    let none = || real_time_threads(std::process::id()).is_empty();
    assert!(eventually(none), "threads stayed in a real-time class");
}

#[test]
fn the_paper_s_threads_decide_as_the_manager_does_alone() {
    alone_and_well(|| {
        let expected = [4, 9].map(|sequence| JobId {
            task: TaskId(1),
            sequence,
        });
        let run = |mechanism| {
            let run = || overruns(by(mechanism, Monitor::Manager)).run_well(RUN);
            undisturbed(ms(1), run, |report| report)
        };
        let [own, paper] = [Mechanism::Vestal, Mechanism::Sigrist2015].map(run);
        for report in [&own, &paper] {
            assert_eq!(raised_by(report), expected, "{report:#?}");
            assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
            assert_eq!(report.cpus[0].inversions, Some(0), "{report:#?}");
        }
        let counts = |report: &Report| -> Vec<(u64, u64, u64)> {
            let tasks = report.cpus[0].tasks.iter();
            let counts = tasks.map(|task| (task.jobs.dropped, task.jobs.completed, task.overruns));
            counts.collect()
        };
        assert_eq!(counts(&own), counts(&paper));
        // Who has no threads beside it has no costs of them. There are 20 instants with arrivals.
        let [own, paper] = [own, paper].map(|report| report.cpus[0].threads.clone());
        assert_eq!((own.dispatcher.switches(), own.checkers.switches()), (0, 0));
        assert!(paper.dispatcher.voluntary >= 20, "{paper:?}");
        assert!(paper.dispatcher_is_here);
        // Told of each job's beginning and its end.
        assert!(paper.checkers.voluntary >= 40, "{paper:?}");
        assert!(paper.wakeups.release >= 20, "{paper:?}");
        nothing_is_left_behind();
    });
}

/// By name, the priorities in which the threads of this process were seen.
fn priorities() -> BTreeMap<String, Vec<i32>> {
    let mut all: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    for stat in real_time_threads(std::process::id()) {
        let (name, rest) = stat.rsplit_once(')').unwrap();
        let name = name.split_once('(').unwrap().1;
        // Field 40 of all.
        let priority = rest.split_whitespace().nth(40 - 3).unwrap();
        let seen = all.entry(name.to_owned()).or_default();
        seen.push(priority.parse().unwrap());
    }
    all
}

/// Figure 5.
#[test]
fn who_dispatches_is_above_who_schedules_above_who_checks_above_who_works() {
    alone_and_well(|| {
        let seen = Arc::new(Mutex::new(BTreeMap::new()));
        let looks = Arc::clone(&seen);
        let config = Config {
            priorities: (11, 40),
            ..by_paper(Monitor::Manager)
        };
        managed(config, Enforcement::Adaptive, Some(60))
            .task(spec("hi", HI, 1, 50, &[6, 16]), move |job| {
                job.burn(ms(1))?;
                *looks.lock().unwrap() = priorities();
                Ok(())
            })
            .run_well(Duration::from_millis(200));
        let seen = seen.lock().unwrap();
        let of = |name: &str| seen.get(name).cloned().unwrap_or_default();
        let expected = [
            ("hi", 12),
            ("vestal-c0", 13),
            ("vestal-manager", 14),
            ("vestal-dispatch", 15),
            ("vestal-watchdog", 16),
        ];
        for (name, priority) in expected {
            assert_eq!(of(name), [priority], "{name}: {seen:?}");
        }
    });
}

/// Each job of the lower task executes 12 ms, 8 ms at its lowest level, and loses the CPU for the 3 ms of a job of the
/// upper task before it has executed these.
fn preempted_before_it_overruns(config: Config, fault: Option<Fault>) -> Report {
    let executive = managed(config, Enforcement::Adaptive, Some(100))
        .task(spec("above", HI, 2, 10, &[6, 6]), |job| job.burn(ms(3)))
        .task(spec("below", HI, 1, 50, &[8, 16]), |job| job.burn(ms(12)));
    let faults = fault.into_iter();
    faults.fold(executive, Executive::with_fault).run_well(RUN)
}

/// As many jobs of the lower task as end in a run.
const OVERRUNS: u64 = 10;

fn shown(report: &Report) -> (MonitoringReport, &TaskReport) {
    let cpu = &report.cpus[0];
    (cpu.monitoring.unwrap(), &cpu.tasks[1])
}

fn found_in_the_first(found: Detections, report: &Report) {
    assert_eq!((found.second, found.later), (0, 0), "{report:#?}");
    assert!(found.first >= OVERRUNS - 1, "{report:#?}");
}

/// Deadline-based monitoring: the timers run on while their jobs are preempted, and wake checkers in vain, but no more often
/// than equation 8 lets them.
#[test]
fn a_checker_wakes_no_more_often_than_its_bound_lets_it() {
    alone_and_well(|| {
        for bound in [Duration::from_micros(30), Duration::from_millis(2)] {
            let config = Config {
                bound,
                ..by_paper(Monitor::Manager)
            };
            let report = preempted_before_it_overruns(config, None);
            let (monitoring, below) = shown(&report);
            assert_eq!(monitoring.beyond_bound, Some(0), "{report:#?}");
            let most = below.response.max.div_ceil(bound.as_nanos()) + 1;
            assert!(below.activations.max <= most, "{report:#?}");
            assert!(below.activations.median >= 2, "{report:#?}");
            assert!(monitoring.without_cpu >= OVERRUNS - 1, "{report:#?}");
            found_in_the_first(monitoring.detected, &report);
        }
    });
}

/// No multiple of it is a period of a task, so that limits end anywhere between two beats.
const BEAT: Duration = Duration::from_micros(700);

#[test]
fn a_heartbeat_s_checker_finds_an_overrun_the_first_time_and_one_that_looks_away_the_second() {
    alone_and_well(|| {
        let config = || Config {
            heartbeat: BEAT,
            ..by_paper(Monitor::Heartbeat)
        };
        let report = preempted_before_it_overruns(config(), None);
        let (monitoring, below) = shown(&report);
        found_in_the_first(monitoring.detected, &report);
        assert_eq!(monitoring.beyond_bound, Some(0), "{report:#?}");
        // It looks from when its job begins, behind the one above, until that ends.
        let above = report.cpus[0].tasks[0].response.median;
        let beats = (below.response.median - above) / BEAT.as_nanos();
        let found = below.activations.median;
        assert!(beats.abs_diff(found) <= 1, "{beats} {found}: {report:#?}");
        let report = preempted_before_it_overruns(config(), Some(Fault::LooksAway));
        let found = shown(&report).0.detected;
        assert!(found.second >= OVERRUNS / 5, "{report:#?}");
    });
}

/// What the dispatcher of a CPU of its own takes is nothing of the CPU of the workers.
#[test]
fn a_dispatcher_of_its_own_is_on_another_processor() {
    let _alone = alone();
    let config = |dispatcher| Config {
        dispatcher,
        ..by_paper(Monitor::Manager)
    };
    if crate::support::two_processors().is_none() {
        let refused = overruns(config(Dispatcher::Own(None))).run(RUN);
        assert!(matches!(refused, Err(RunError::Refused(_))));
        return;
    }
    well(|| {
        let report = overruns(config(Dispatcher::Own(None))).run_well(RUN);
        let cpu = &report.cpus[0];
        assert!(!cpu.threads.dispatcher_is_here);
        assert!(cpu.threads.dispatcher.voluntary >= 20, "{report:#?}");
        let expected = [4, 9];
        let raised: Vec<u64> = raised_by(&report).iter().map(|job| job.sequence).collect();
        assert!(expected.iter().all(|job| raised.contains(job)));
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
        // That of the workers is no processor of its own.
        let taken = Dispatcher::Own(Some(cpu.processor));
        let executive = overruns(config(taken));
        let on_it = executive.run(Duration::from_millis(10));
        // Without a processor asked for, the CPU of the set has the last one, as before.
        assert!(matches!(on_it, Err(RunError::Refused(_))), "{on_it:?}");
    });
    nothing_is_left_behind();
}

/// The scheduler's own delay at a release is in the part of arrivals, wherever these are dispatched.
#[test]
fn what_arrivals_take_is_in_their_part() {
    let _alone = alone();
    well(|| {
        let set = managed(by_paper(Monitor::Manager), Enforcement::Adaptive, Some(60))
            .task(spec("hi", HI, 2, 20, &[4, 8]), |job| job.burn(ms(1)))
            .task(spec("lo", LO, 1, 20, &[4]), |job| job.burn(ms(1)));
        let delayed = with(Some((Point::Released, 1)), set);
        let report = delayed.run(Duration::from_millis(400)).unwrap();
        let least = Duration::from_millis(36);
        is_in(&report.cpus[0].parts, Some(Part::JobArrival), least);
    });
}

/// A thread beside the scheduler that is slow is found by its duty, and what is late for it is the run's.
#[test]
fn a_slow_dispatcher_and_a_slow_checker_are_found() {
    const DELAY: Duration = Duration::from_millis(5);
    let _alone = alone();
    for duty in [Duty::Dispatcher, Duty::Checker] {
        well(|| {
            let slow = Fault::Delay(Delay {
                point: Point::BeforeWait(duty),
                how: How::Burn,
                milliseconds: 5,
                every: 3,
            });
            let run = || {
                managed(by_paper(Monitor::Manager), Enforcement::Adaptive, Some(60))
                    .task(spec("hi", HI, 1, 40, &[10, 20]), |job| job.burn(ms(1)))
                    .with_fault(slow)
                    .run(Duration::from_millis(400))
                    .unwrap()
            };
            // The machine may take time of one run; were a delay booked so, it would be in each.
            let lost = |report: &Report| report.cpus[0].machine.lost;
            let mut runs = (0..4).map(|_| run());
            let report = runs.find(|report| lost(report) < DELAY);
            let report = report.expect("it is taken for the machine's");
            let mut reactions = report.cpus[0].threads.reactions.iter();
            let found = reactions.find(|reaction| reaction.duty == duty).unwrap();
            assert!(found.count >= 10, "{report:#?}");
            assert!(found.longest >= Duration::from_micros(4_500), "{report:#?}");
        });
    }
}

/// Neither a body that does not listen nor a scheduler that hangs keeps the run from ending.
#[test]
fn every_run_ends_and_leaves_no_thread_in_a_real_time_class() {
    let _alone = alone();
    well(|| {
        let config = Config {
            patience: Duration::from_millis(500),
            ..by_paper(Monitor::Manager)
        };
        let run = || {
            managed(config.clone(), Enforcement::Adaptive, Some(100))
                .task(spec("endless", LO, 2, 40, &[8]), |job| {
                    job.burn_deaf(ms(600));
                    Ok(())
                })
                .task(spec("hi", HI, 1, 50, &[8, 16]), |job| job.burn(ms(4)))
                .run_well(Duration::from_millis(500))
        };
        let report = undisturbed(ms(4), run, |report| report);
        assert_eq!(report.ended, Ended::Finished);
        let hi = &report.cpus[0].tasks[1];
        assert_eq!(hi.jobs.completed, hi.jobs.released, "{report:#?}");
        assert_eq!(report.cpus[0].modes, []);
        assert!(report.cpus[0].tasks[0].overruns >= 1, "{report:#?}");
    });
    nothing_is_left_behind();
    let hung = overruns(by_paper(Monitor::Manager)).with_fault(Fault::ManagerHangs(100));
    let ended = hung.run(Duration::from_millis(4_000));
    assert!(matches!(ended, Err(RunError::ManagerHung)), "{ended:?}");
    pause(10);
    nothing_is_left_behind();
}
