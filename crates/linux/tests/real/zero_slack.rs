//! Zero-slack scheduling on the real kernel: who begins and who ends in which order.

use crate::support::{HI, LO, alone, config, ms, real_time_threads, spec};
use std::sync::{Arc, Mutex};
use vestal_core::{ConfigurationError, Duration, Enforcement, Level, Uniprocessor};
use vestal_linux::{BoxedScheduler, Ended, Executive, JobContext, Monitor, Report, TaskSpec};

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

    fn place(&self, seen: Seen) -> Option<usize> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .position(|&other| other == seen)
    }

    /// Of the numbers below `jobs`, for how many everything was seen, and for how many of those in
    /// the order that `in_order` gives.
    fn in_order(&self, jobs: u64, in_order: impl Fn(u64) -> Vec<Seen>) -> (usize, usize) {
        let places = (0..jobs).filter_map(|k| {
            let places = in_order(k).into_iter().map(|seen| self.place(seen));
            places.collect::<Option<Vec<_>>>()
        });
        let places: Vec<_> = places.collect();
        let sorted = places.iter().filter(|places| places.is_sorted()).count();
        (places.len(), sorted)
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

fn executive(enforcement: Enforcement) -> Executive {
    Executive::new(config(enforcement, Monitor::Manager)).managed(|configuration| {
        let engine: Result<_, ConfigurationError> = Uniprocessor::new(configuration);
        engine.map(|engine| Box::new(engine) as BoxedScheduler)
    })
}

fn ended_well(report: &Report) {
    assert_eq!(report.ended, Ended::Finished);
    assert_eq!(report.inversions, Some(0), "{report:#?}");
    assert_eq!(real_time_threads(std::process::id()), Vec::<String>::new());
}

/// `low` has the higher priority. Its second job of three comes at 30 ms, and at 35 ms `high` has no
/// slack left and 14 ms to go.
fn two_tasks(enforcement: Enforcement) -> (Log, Report) {
    let log = Log::default();
    let report = executive(enforcement)
        .task(task("low", LO, 2, 30, &[10], 30), log.burning(8))
        .task(task("high", HI, 1, 90, &[24, 45], 35), log.burning(36))
        .run(Duration::from_millis(1_800))
        .unwrap();
    (log, report)
}

#[test]
fn a_suspended_job_waits_until_the_critical_one_is_complete() {
    let _alone = alone();
    let (log, report) = two_tasks(Enforcement::ZeroSlack);
    ended_well(&report);
    assert_eq!(report.machine.missed_outside_gaps, 0, "{report:#?}");
    assert_eq!(
        report.tasks[1].jobs.missed,
        report.tasks[1].jobs.missed_guaranteed
    );
    let jobs = report.tasks[1].jobs.released;
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
        seen >= 17 && sorted * 10 >= seen * 8,
        "{sorted} of {seen}: {report:#?}"
    );
    let never_before = |k: u64| vec![Seen::End(1, k), Seen::End(0, 3 * k + 1)];
    let (seen, sorted) = log.in_order(jobs, never_before);
    assert_eq!(seen, sorted, "{report:#?}");
}

/// The control of the test above: by priorities alone the less critical job ends first.
#[test]
fn without_zero_slack_instants_the_same_job_goes_first() {
    let _alone = alone();
    let (log, report) = two_tasks(Enforcement::Static);
    ended_well(&report);
    let by_priority = |k: u64| vec![Seen::End(0, 3 * k + 1), Seen::End(1, k)];
    let (seen, sorted) = log.in_order(report.tasks[1].jobs.released, by_priority);
    assert!(
        seen >= 17 && sorted * 10 >= seen * 8,
        "{sorted} of {seen}: {report:#?}"
    );
}

/// `high` suspends from its release to its completion at 45 ms. `low` runs from then on until it is late,
/// at 50 ms: `other`, released there and of a lower priority, goes first.
#[test]
fn late_jobs_go_on_in_the_background_in_their_order() {
    let _alone = alone();
    let log = Log::default();
    let mut other = task("other", HI, 1, 100, &[6, 7], 100);
    other.offset = Duration::from_millis(50);
    let report = executive(Enforcement::ZeroSlack)
        .task(task("low", LO, 3, 50, &[17], 50), log.burning(15))
        .task(task("high", HI, 2, 100, &[30, 47], 0), log.burning(45))
        .task(other, log.burning(5))
        .run(Duration::from_millis(1_800))
        .unwrap();
    ended_well(&report);
    assert_eq!(report.machine.missed_outside_gaps, 0, "{report:#?}");
    let jobs = report.tasks[1].jobs.released;
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
        seen >= 15 && sorted * 10 >= seen * 8,
        "{sorted} of {seen}: {report:#?}"
    );
    let held_back = |k: u64| vec![Seen::End(1, k), Seen::Begin(0, 2 * k)];
    let (seen, sorted) = log.in_order(jobs, held_back);
    assert_eq!(seen, sorted, "{report:#?}");
    // Late jobs are served: every second job of `low` is, and none is withdrawn.
    assert!(
        report.tasks[0].jobs.missed * 3 >= report.tasks[0].jobs.completed,
        "{report:#?}"
    );
    assert_eq!(report.tasks[0].jobs.dropped, 0, "{report:#?}");
}
