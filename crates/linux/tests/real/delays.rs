//! A slow thread of the run is found, whatever it does: by the bound on how long each duty may take, by
//! a missed deadline where it lies on a job's way, and never as the machine's doing.

use crate::managed::managed;
use crate::support::{HI, LO, REACTION_MAX, alone, config, ms, reaction, spec};
use vestal_core::{Duration, Enforcement, Task};
use vestal_linux::fault::{Delay, Fault, How, Point, affinity, set_affinity};
use vestal_linux::report::Duty;
use vestal_linux::{Executive, JobContext, Monitor, Report};

const RUN: Duration = Duration::from_millis(600);

/// How long a thread is delayed, and the slack of the HI jobs in the same run.
const DELAYS: [(u64, u64); 3] = [(5, 2), (20, 15), (60, 38)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dispatch {
    Native,
    Managed,
}

/// A run with two overruns in each 100 ms: of a LO job, which is demoted and asks for its priority back,
/// and of a HI job, which raises the mode.
fn run(dispatch: Dispatch, slack_ms: u64, delay: Delay) -> Report {
    let config = config(Enforcement::Adaptive, Monitor::Manager);
    let executive = match dispatch {
        Dispatch::Native => Executive::new(config),
        Dispatch::Managed => managed(config, None),
    };
    let mut hi = spec("hi", HI, 3, 50, &[8, 12]);
    let model = hi.configuration.task;
    let deadline = Duration::from_millis(9 + slack_ms);
    hi.configuration.task = Task::new(HI, model.period, deadline, model.wcet).unwrap();
    let body = |job: &mut JobContext<'_>| {
        let overruns = job.id().sequence % 2 == 1;
        job.burn(ms(if overruns { 9 } else { 7 }))
    };
    executive
        .task(hi, body)
        .task(spec("lo", LO, 2, 50, &[4]), |job| job.burn(ms(6)))
        .with_fault(Fault::Delay(delay))
        .run(RUN)
        .unwrap()
}

/// What is to be found of a delay at `point`.
struct Expected {
    dispatch: Dispatch,
    point: Point,
    /// Whose duty it is.
    duty: Duty,
    /// Whether a HI job waits for a thread that computes there.
    delays_hi_jobs: bool,
}

fn found(expected: &Expected) {
    let _alone = alone();
    for how in [How::Burn, How::Sleep] {
        for (milliseconds, slack_ms) in DELAYS {
            let every = if expected.point == Point::WatchdogLook {
                1
            } else {
                5
            };
            let delay = Delay {
                point: expected.point,
                how,
                milliseconds,
                every,
            };
            let report =
                once_more_if_stolen(milliseconds, || run(expected.dispatch, slack_ms, delay));
            let what = format!("{:?} {delay:?}: {report:#?}", expected.dispatch);
            let took = reaction(&report, expected.duty);
            assert!(took >= Duration::from_micros(milliseconds * 900), "{what}");
            assert!(took > REACTION_MAX, "{what}");
            assert_eq!(report.jobs.missed_undecided(), 0, "{what}");
            if expected.delays_hi_jobs && how == How::Burn {
                assert!(report.machine.missed_outside_gaps > 0, "{what}");
            }
        }
    }
}

/// A run of which less than a quarter of one delay counts as stolen, beyond what this machine usually
/// steals. It may steal more in one run, but a delay that were booked so would be in each.
fn once_more_if_stolen(milliseconds: u64, mut run: impl FnMut() -> Report) -> Report {
    const USUALLY: Duration = Duration::from_millis(6);
    const ATTEMPTS: usize = 4;
    let most = USUALLY.saturating_add(Duration::from_micros(milliseconds * 250));
    for _ in 0..ATTEMPTS {
        let report = run();
        if report.machine.lost < most && report.jobs.missed_undecided() == 0 {
            return report;
        }
    }
    panic!("{ATTEMPTS} runs in a row with more than {most:?} stolen");
}

fn found_in_both(point: Point, duty: Duty, delays_hi_jobs: bool) {
    found_under(Dispatch::Native, point, duty, delays_hi_jobs);
    found_under(Dispatch::Managed, point, duty, delays_hi_jobs);
}

fn found_under(dispatch: Dispatch, point: Point, duty: Duty, delays_hi_jobs: bool) {
    found(&Expected {
        dispatch,
        point,
        duty,
        delays_hi_jobs,
    });
}

#[test]
fn a_manager_that_is_slow_to_begin_its_round_is_found() {
    found_in_both(Point::RoundBegins, Duty::Manager, true);
}

#[test]
fn a_manager_that_is_slow_to_enact_is_found() {
    found_in_both(Point::BeforeEnact, Duty::Manager, true);
}

#[test]
fn a_manager_that_is_slow_to_wait_is_found() {
    found_in_both(Point::BeforeWait(Duty::Manager), Duty::Manager, true);
}

#[test]
fn a_manager_that_is_slow_to_restore_a_priority_is_found() {
    found_under(
        Dispatch::Native,
        Point::BeforePriority,
        Duty::Manager,
        false,
    );
}

#[test]
fn a_worker_that_is_slow_to_begin_a_job_is_found() {
    found_under(Dispatch::Native, Point::JobStart, Duty::JobStart, true);
    // A manager that looks meanwhile puts it on the job's account, which may end that job.
    found_under(Dispatch::Managed, Point::JobStart, Duty::JobStart, false);
}

#[test]
fn a_worker_that_is_slow_to_end_a_job_is_found() {
    found_in_both(Point::JobEnd, Duty::JobEnd, false);
}

#[test]
fn a_worker_that_is_slow_to_hand_its_job_back_is_found() {
    found_in_both(Point::BeforeWait(Duty::JobEnd), Duty::JobEnd, false);
}

/// The mode returns to 0 later.
#[test]
fn an_idle_detector_that_is_slow_to_answer_is_found() {
    found_under(Dispatch::Native, Point::IdleAnswer, Duty::Idle, false);
}

/// Where the process has one CPU only.
#[test]
fn a_slow_watchdog_on_the_cpu_of_the_run_is_found() {
    let all = affinity().unwrap();
    set_affinity(&all[..1]).unwrap();
    found_in_both(Point::WatchdogLook, Duty::Watchdog, false);
    set_affinity(&all).unwrap();
}
