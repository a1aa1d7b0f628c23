//! Zero-slack scheduling on the real kernel: who begins and who ends in which order.

use crate::support::{
    HI, Hostility, LO, RunWell, alone_and_well, by_priorities, config, ms, native,
    real_time_threads, spec, undisturbed,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use vestal_core::{Duration, Enforcement, Level};
use vestal_linux::{Ended, Executive, JobContext, Monitor, Report, TaskSpec};

/// What a body saw: the beginning or the end of a job of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Begin(u16, u64),
    End(u16, u64),
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Seen>>>);

impl Log {
    fn burning(
        &self,
        milliseconds: u64,
    ) -> impl FnMut(&mut JobContext<'_>) -> Result<(), vestal_linux::Cancelled> + Send + 'static
    {
        let log = self.clone();
        move |job| {
            let id = job.id();
            log.push(Seen::Begin(id.task.0, id.sequence));
            job.burn(ms(milliseconds))?;
            log.push(Seen::End(id.task.0, id.sequence));
            Ok(())
        }
    }

    fn push(&self, seen: Seen) {
        self.0.lock().unwrap().push(seen);
    }

    fn position(&self, seen: Seen) -> Option<usize> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .position(|&other| other == seen)
    }

    /// Of the numbers below `jobs`, for how many everything was seen, and for how many of those in
    /// the order that `in_order` gives.
    fn in_order(&self, jobs: u64, in_order: impl Fn(u64) -> Vec<Seen>) -> (usize, usize) {
        let positions = (0..jobs).filter_map(|k| {
            let positions = in_order(k).into_iter().map(|seen| self.position(seen));
            positions.collect::<Option<Vec<_>>>()
        });
        let positions: Vec<_> = positions.collect();
        let sorted = positions
            .iter()
            .filter(|positions| positions.is_sorted())
            .count();
        (positions.len(), sorted)
    }
}

fn task(
    name: &str,
    level: Level,
    priority: u32,
    period: u64,
    wcet: &[u64],
    after: u64,
) -> TaskSpec {
    let mut spec = spec(name, level, priority, period, wcet);
    spec.configuration.zero_slack = Some(Duration::from_millis(after));
    spec
}

/// Who orders the jobs, and what watches their limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum World {
    Managed,
    Native(Monitor),
}

const PERF: World = World::Native(Monitor::Perf);
const WALL: World = World::Native(Monitor::Manager);

fn executive(enforcement: Enforcement, world: World) -> Executive {
    match world {
        World::Managed => Executive::new(config(Monitor::Manager)).cpu(by_priorities(enforcement)),
        World::Native(monitor) => Executive::new(config(monitor)).cpu(native(enforcement)),
    }
}

fn ended_well(report: &Report, world: World) {
    assert_eq!(report.ended, Ended::Finished);
    let inversions = (world == World::Managed).then_some(0);
    assert_eq!(report.cpus[0].inversions, inversions, "{report:#?}");
    assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
}

/// `low` has the higher priority. Its second job of three comes at 30 ms, and at 35 ms `high` has no
/// slack left and 14 ms to go.
fn two_tasks(enforcement: Enforcement, world: World, hostility: Hostility) -> (Log, Report) {
    // A job of `low` is 2 ms away from its limit.
    let run = || {
        let log = Log::default();
        let mut burn_high = log.burning(36);
        let low = log.clone();
        let report = executive(enforcement, world)
            .task(task("low", LO, 2, 30, &[10], 30), move |job| {
                low.push(Seen::Begin(0, job.id().sequence));
                hostility.show();
                if hostility == Hostility::None {
                    job.burn(ms(8))?;
                } else {
                    // Deaf to whatever it is asked.
                    job.burn_deaf(ms(8));
                }
                low.push(Seen::End(0, job.id().sequence));
                Ok(())
            })
            .task(task("high", HI, 1, 90, &[24, 45], 35), move |job| {
                hostility.show();
                burn_high(job)
            })
            .run_well(Duration::from_millis(1_350));
        (log, report)
    };
    undisturbed(ms(2), run, |(_, report)| report)
}

fn a_suspended_job_waits(world: World, hostility: Hostility) {
    alone_and_well(|| {
        let (log, report) = two_tasks(Enforcement::ZeroSlack, world, hostility);
        ended_well(&report, world);
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
        assert_eq!(
            report.cpus[0].tasks[1].jobs.missed,
            report.cpus[0].tasks[1].jobs.missed_guaranteed
        );
        let jobs = report.cpus[0].tasks[1].jobs.released;
        // The job begins before the instant, is suspended, and ends when the critical one has ended.
        let suspended = |k: u64| {
            vec![
                Seen::Begin(0, 3 * k + 1),
                Seen::End(1, k),
                Seen::End(0, 3 * k + 1),
            ]
        };
        let (seen, sorted) = log.in_order(jobs, suspended);
        // Where the machine took the CPU away for milliseconds, the job may begin after the instant.
        assert!(
            seen >= 12 && sorted * 10 >= seen * 8,
            "{sorted} of {seen}: {report:#?}"
        );
        let never_before = |k: u64| vec![Seen::End(1, k), Seen::End(0, 3 * k + 1)];
        let (seen, sorted) = log.in_order(jobs, never_before);
        assert_eq!(seen, sorted, "{report:#?}");
    });
}

#[test]
fn a_suspended_job_waits_until_the_critical_one_is_complete() {
    a_suspended_job_waits(World::Managed, Hostility::None);
}

#[test]
fn a_suspended_job_waits_until_the_critical_one_is_complete_native() {
    a_suspended_job_waits(PERF, Hostility::None);
    a_suspended_job_waits(WALL, Hostility::None);
}

#[test]
fn bodies_that_block_signals_or_want_to_rise_and_do_not_listen_are_suspended_all_the_same() {
    a_suspended_job_waits(PERF, Hostility::BlocksSignals);
    a_suspended_job_waits(PERF, Hostility::Rises);
}

/// The control of the tests above: by priorities alone the less critical job ends first.
fn the_same_job_goes_first(world: World) {
    alone_and_well(|| {
        let (log, report) = two_tasks(Enforcement::Static, world, Hostility::None);
        ended_well(&report, world);
        let by_priority = |k: u64| vec![Seen::End(0, 3 * k + 1), Seen::End(1, k)];
        let (seen, sorted) = log.in_order(report.cpus[0].tasks[1].jobs.released, by_priority);
        assert!(
            seen >= 12 && sorted * 10 >= seen * 8,
            "{sorted} of {seen}: {report:#?}"
        );
    });
}

#[test]
fn without_zero_slack_instants_the_same_job_goes_first() {
    the_same_job_goes_first(World::Managed);
}

#[test]
fn without_zero_slack_instants_the_same_job_goes_first_native() {
    the_same_job_goes_first(PERF);
}

/// `high` suspends from its release to its completion at 45 ms. `low` runs from then on until it is late,
/// at 50 ms: `other`, released there and of a lower priority, goes first.
fn late_jobs_go_on_below_everybody(world: World) {
    alone_and_well(|| {
        let run = || {
            let log = Log::default();
            let mut other = task("other", HI, 1, 100, &[6, 7], 100);
            other.offset = Duration::from_millis(50);
            let report = executive(Enforcement::ZeroSlack, world)
                .task(task("low", LO, 3, 50, &[17], 50), log.burning(15))
                .task(task("high", HI, 2, 100, &[30, 47], 0), log.burning(45))
                .task(other, log.burning(5))
                .run_well(Duration::from_millis(1_350));
            (log, report)
        };
        let (log, report) = undisturbed(ms(2), run, |(_, report)| report);
        ended_well(&report, world);
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
        let jobs = report.cpus[0].tasks[1].jobs.released;
        let order = |k: u64| {
            vec![
                Seen::End(1, k),
                Seen::Begin(0, 2 * k),
                Seen::End(2, k),
                Seen::End(0, 2 * k),
                Seen::Begin(0, 2 * k + 1),
                Seen::End(0, 2 * k + 1),
            ]
        };
        let (seen, sorted) = log.in_order(jobs, order);
        assert!(
            seen >= 11 && sorted * 10 >= seen * 8,
            "{sorted} of {seen}: {report:#?}"
        );
        let held_back = |k: u64| vec![Seen::End(1, k), Seen::Begin(0, 2 * k)];
        let (seen, sorted) = log.in_order(jobs, held_back);
        assert_eq!(seen, sorted, "{report:#?}");
        // Late jobs are served: every second job of `low` is, and none is demoted.
        assert!(
            report.cpus[0].tasks[0].jobs.missed * 3 >= report.cpus[0].tasks[0].jobs.completed,
            "{report:#?}"
        );
        assert_eq!(report.cpus[0].tasks[0].jobs.dropped, 0, "{report:#?}");
    });
}

#[test]
fn late_jobs_go_on_in_the_background_in_their_order() {
    late_jobs_go_on_below_everybody(World::Managed);
}

#[test]
fn late_jobs_go_on_in_the_background_in_their_order_native() {
    late_jobs_go_on_below_everybody(PERF);
    late_jobs_go_on_below_everybody(WALL);
}

/// Three ms of work, and 90 until the instant.
#[test]
fn a_job_that_keeps_its_slack_wakes_no_manager() {
    alone_and_well(|| {
        let report = Executive::new(config(Monitor::Perf))
            .cpu(native(Enforcement::ZeroSlack))
            .task(task("low", LO, 2, 50, &[20], 50), |job| job.burn(ms(3)))
            .task(task("high", HI, 1, 100, &[20, 30], 90), |job| {
                job.burn(ms(3))
            })
            .run_well(Duration::from_millis(1_500));
        ended_well(&report, PERF);
        // Its instants are those of jobs that the machine delayed for more than 40 ms.
        let wakeups = report.cpus[0].threads.wakeups;
        if report.cpus[0].machine.lost < Duration::from_millis(40) {
            assert_eq!((wakeups.timer, wakeups.completion), (0, 0), "{report:#?}");
        }
        assert!(report.jobs.completed >= 44, "{report:#?}");
    });
}

/// The more critical job has no slack left and never ends. It is stopped at its own limit, stands for
/// nothing from then on, and so do all jobs that wait for its thread.
#[test]
fn a_critical_job_that_never_ends_suspends_others_up_to_its_own_limit_only() {
    alone_and_well(|| {
        let over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&over);
        let mut config = config(Monitor::Perf);
        config.patience = Duration::from_millis(50);
        let report = Executive::new(config)
            .cpu(native(Enforcement::ZeroSlack))
            .task(task("low", LO, 2, 50, &[20], 50), |job| job.burn(ms(3)))
            .task(task("high", HI, 1, 100, &[20, 30], 10), move |job| {
                // The bound only protects the machine from a failing test.
                for _ in 0..4_000 {
                    if until.load(Ordering::Relaxed) {
                        break;
                    }
                    job.burn_deaf(ms(1));
                }
                Ok(())
            })
            .run_well(Duration::from_millis(1_500));
        over.store(true, Ordering::Relaxed);
        ended_well(&report, PERF);
        let [low, high] = &report.cpus[0].tasks[..] else {
            panic!("two tasks");
        };
        assert_eq!((high.overruns, high.jobs.completed), (1, 0), "{report:#?}");
        assert_eq!(low.jobs.dropped, 0, "{report:#?}");
        assert!(low.jobs.completed >= 29, "{report:#?}");
        // Its first job alone may have waited.
        assert!(low.response.median < ms(8).as_nanos(), "{report:#?}");
        assert_eq!(report.jobs.missed_outside_gaps, 0, "{report:#?}");
    });
}
