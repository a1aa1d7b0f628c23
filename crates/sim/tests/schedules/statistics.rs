//! Figures of a run that can be checked by eye.

use vestal_core::{
    Configuration, Duration, Enforcement, Exhaustion, Instant, Level, LevelSet, Service, Task,
    TaskConfiguration, Uniprocessor,
};
use vestal_sim::workload::{ListedDemand, Periodic};
use vestal_sim::{Backlog, Setting, Statistics, simulate};
use vestal_testkit::short::task;

fn ns(values: &[u64]) -> Vec<Service> {
    values.iter().copied().map(Service::from_nanos).collect()
}

fn run(tasks: &[Task], enforcement: Enforcement, demand: &[&[u64]], end: u64) -> Statistics {
    let configured: Vec<TaskConfiguration> = tasks
        .iter()
        .zip((0..=u32::MAX).rev())
        .map(|(&task, priority)| TaskConfiguration::new(task, priority))
        .collect();
    let mut engine = Uniprocessor::new(&Configuration {
        tasks: &configured,
        levels: LevelSet::new(2).unwrap(),
        enforcement,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    })
    .unwrap();
    let mut statistics = Statistics::new(tasks, 1, enforcement, Exhaustion::Background);
    let setting = Setting {
        tasks,
        cpus: 1,
        end: Instant::from_nanos(end),
        backlog: Backlog::UNLIMITED,
    };
    let mut executions = ListedDemand::at_level(tasks, Level(0));
    for (listed, given) in executions.tasks.iter_mut().zip(demand) {
        *listed = ns(given);
    }
    simulate(
        &mut engine,
        &setting,
        &Periodic::synchronous(tasks),
        &executions,
        &mut statistics,
    )
    .unwrap();
    statistics
}

/// `0001111 0000`: 0 runs in 0..3, 1 in 3..7, 0 again from 10 on.
#[test]
fn response_times_switches_and_busy_time_are_those_of_the_drawing() {
    let tasks = [task(0, 10, &[3]), task(1, 20, &[9, 9])];
    let statistics = run(&tasks, Enforcement::Static, &[], 40);
    let [short, long] = statistics.tasks() else {
        panic!("two tasks");
    };
    assert_eq!(
        (
            short.released,
            short.completed,
            short.missed,
            short.preemptions
        ),
        (4, 4, 0, 0)
    );
    assert_eq!(
        (short.response.spread().min(), short.response.spread().max()),
        (Some(3), Some(3))
    );
    // 3 units of interference at 0 and 10: the job takes 3..10 and 13..15.
    assert_eq!((long.completed, long.preemptions), (2, 2));
    assert_eq!(
        (long.response.spread().min(), long.response.spread().max()),
        (Some(15), Some(15))
    );
    assert_eq!(long.execution.mean(), Some(9));
    let cpu = statistics.cpus()[0];
    assert_eq!(cpu.busy, Service::from_nanos(30));
    assert_eq!(
        (cpu.switches, cpu.preemptions, cpu.migrations),
        (8, 2, 0),
        "0 1 0 1, twice"
    );
    assert!((long.relative_response(&tasks[1]).unwrap() - 0.75).abs() < 1e-9);
    assert_eq!(statistics.mode_changes_count(), 0);
}

#[test]
fn an_overrun_shows_as_a_mode_change_a_withdrawn_job_and_no_broken_guarantee() {
    let tasks = [task(0, 10, &[3]), task(1, 20, &[4, 9])];
    // Job 0 of the HI task wants 9: the mode is up from 7 to 12, and the release at 10 is lost.
    let statistics = run(&tasks, Enforcement::Adaptive, &[&[], &[9]], 40);
    let [lo, hi] = statistics.tasks() else {
        panic!("two tasks");
    };
    assert_eq!((lo.released, lo.completed, lo.dropped.total()), (4, 3, 1));
    assert_eq!((hi.completed, hi.overruns), (2, 1));
    assert_eq!(statistics.jobs().missed, 0);
    let changes: Vec<(u64, u8, bool)> = statistics
        .mode_changes()
        .iter()
        .map(|change| (change.at.as_nanos(), change.to.0, change.cause.is_some()))
        .collect();
    assert_eq!(changes, [(7, 1, true), (12, 0, false)]);
}

#[test]
fn a_runaway_lo_job_is_late_and_was_guaranteed_nothing() {
    let tasks = [task(0, 10, &[3]), task(1, 20, &[4, 9])];
    let statistics = run(&tasks, Enforcement::Adaptive, &[&[25], &[]], 40);
    let [lo, hi] = statistics.tasks() else {
        panic!("two tasks");
    };
    assert_eq!(
        (lo.missed, lo.missed_guaranteed, lo.dropped.total()),
        (1, 0, 1)
    );
    assert_eq!((hi.completed, hi.missed), (2, 0));
}

/// One rise of the mode drops more jobs than a queue of fixed length has room for.
#[test]
fn a_hundred_lo_tasks_lose_their_jobs_in_one_instant() {
    let mut tasks = vec![task(1, 1000, &[2, 9])];
    tasks.extend(vec![task(0, 1000, &[1]); 100]);
    let statistics = run(&tasks, Enforcement::Adaptive, &[&[9]], 1000);
    assert_eq!(statistics.jobs().dropped.total(), 100);
    assert_eq!(statistics.jobs().completed, 1);
}
