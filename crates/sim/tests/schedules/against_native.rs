//! Native dispatch: a guard to which only exceptions are reported gives the schedule of the engine that sees
//! every job.

use crate::common::Random;
use crate::common::recorder::{Recorder, run_engine};
use crate::common::system::{
    backlog_of, configuration, is_sliced, shrink, tasks_of, text, workload_of,
};
use crate::random_systems::draw;
use crate::reference::{Limits, Lists, Schedule, System};
use vestal_core::{
    ContractViolation, Enforcer, Fact, Guard, Instant, Interest, JobId, Level, Notice, Permit,
    Plan, Scheduler, Service, StopReason, TaskConfiguration, TaskId, Until,
};
use vestal_sim::{Effort, NativeSetting, simulate_native};

/// How many systems are compared.
const SYSTEMS: u64 = 20_000;

fn guard_of(system: &System, tasks: &[TaskConfiguration]) -> Guard {
    Guard::new(&configuration(system, tasks)).unwrap()
}

fn run_native(system: &System) -> (Schedule, Effort) {
    let tasks = tasks_of(system);
    run_behind(system, &tasks, &mut guard_of(system, &tasks))
}

fn run_behind<G: Enforcer>(
    system: &System,
    tasks: &[TaskConfiguration],
    guard: &mut G,
) -> (Schedule, Effort) {
    let (releases, demand) = workload_of(system);
    let mut recorder = Recorder::new(system.end);
    let setting = NativeSetting {
        tasks,
        end: Instant::from_nanos(system.end),
        backlog: backlog_of(system),
    };
    let effort = simulate_native(guard, &setting, &releases, &demand, &mut recorder).unwrap();
    (recorder.schedule, effort)
}

/// Every job is complete before it has no slack left, in this schedule of the system.
fn keeps_its_slack(system: &System, schedule: &Schedule) -> bool {
    let complete_at = |i: usize, k: usize| {
        let of_job = |&&(_, task, job): &&(u64, usize, usize)| (task, job) == (i, k);
        schedule.completed.iter().find(of_job).map(|&(at, ..)| at)
    };
    let tasks = tasks_of(system);
    let mut pairs = system.releases.iter().enumerate().zip(&tasks);
    pairs.all(|((i, releases), entry)| {
        releases.iter().enumerate().all(|(k, released)| {
            let instant = released + entry.critical_after().as_nanos();
            complete_at(i, k).map_or(instant > system.end, |at| at <= instant)
        })
    })
}

/// No job executes more than the lowest level expects.
fn is_modest(system: &System) -> bool {
    let pairs = system.tasks.iter().zip(&system.demand);
    pairs.into_iter().all(|(entry, demand)| {
        let lowest = entry.task.wcet.at(Level::LOWEST).as_nanos();
        demand.iter().all(|&execution| execution <= lowest)
    })
}

#[test]
fn a_guard_that_hears_only_of_exceptions_gives_the_schedule_of_the_engine() {
    let (mut jobs, mut facts, mut sliced, mut quiet) = (0, 0, 0, 0);
    for seed in 0..SYSTEMS {
        // SCHED_FIFO knows priorities only.
        let system = System {
            by_deadline: false,
            lists: Lists::No,
            ..draw(&mut Random::new(!seed))
        };
        let (schedule, effort) = run_native(&system);
        jobs += system.releases.iter().map(Vec::len).sum::<usize>() as u64;
        facts += effort.facts;
        sliced += u64::from(is_sliced(&system));
        let in_time = system.limits != Limits::ZeroSlack || keeps_its_slack(&system, &schedule);
        if is_modest(&system) && !is_sliced(&system) && in_time {
            assert_eq!(effort.facts, 0, "no job overran:\n{}", text(&system));
            quiet += u64::from(system.limits == Limits::ZeroSlack);
        }
        if schedule != run_engine(&system, &mut ()) {
            let small = shrink(system, |system| {
                run_native(system).0 != run_engine(system, &mut ())
            });
            panic!(
                "seed {seed}\n{}engine {:?}\nnative {:?}",
                text(&small),
                run_engine(&small, &mut ()),
                run_native(&small).0
            );
        }
    }
    assert!(sliced > SYSTEMS / 10, "{sliced}");
    assert!(quiet > SYSTEMS / 500, "{quiet}");
    // Half of the jobs here are drawn to exceed a limit, and slices are limits too.
    assert!(facts < 4 * jobs, "{facts} facts for {jobs} jobs");
}

fn zero_slack_systems(count: u64) -> impl Iterator<Item = System> {
    let systems = (0..).map(|seed| System {
        by_deadline: false,
        lists: Lists::No,
        ..draw(&mut Random::new(seed))
    });
    systems
        .filter(|system| system.limits == Limits::ZeroSlack)
        .take(count as usize)
}

/// What a world does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// It does not report the end of a job that has no slack left.
    EndsUnreported,
    /// It says of a job without slack that it is released only now.
    ReleasedTooLate,
    /// It does not call the guard at the instants it asked for.
    NoWake,
    /// It takes a suspended job for one that may go on.
    SuspendsNobody,
    /// It suspends late jobs like all others.
    HoldsBackLateJobs,
}

/// What jobs may execute before any job has lost its slack.
fn limits(guard: &Guard, tasks: usize) -> Vec<Option<Service>> {
    let tasks = (0..=u16::MAX).take(tasks).map(TaskId);
    tasks.map(|task| guard.permit(task).limit()).collect()
}

/// A guard in such a world.
struct Behind {
    guard: Guard,
    fault: Fault,
    clock: Instant,
    /// Of the jobs of each task, in the only mode.
    limits: Vec<Option<Service>>,
}

impl Scheduler for Behind {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        match (self.fault, fact) {
            (
                Fault::EndsUnreported,
                Fact::Completed { .. }
                | Fact::Stopped {
                    why: StopReason::Cancelled,
                    ..
                },
            ) => Ok(()),
            (Fault::ReleasedTooLate, Fact::Released { .. }) => {
                self.guard.apply(self.clock.max(at), fact)
            }
            (Fault::NoWake, Fact::Timer) => Ok(()),
            // The guard refuses a third job of a task; this world does not listen.
            (Fault::EndsUnreported, _) => self.guard.apply(at, fact).or(Ok(())),
            _ => self.guard.apply(at, fact),
        }
    }

    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.clock = now;
        let no_wake = self.fault == Fault::NoWake;
        self.guard.decide(now).map(|plan| Plan {
            next: plan.next.filter(|_| !no_wake),
            ..plan
        })
    }

    fn permit(&self, task: TaskId) -> Permit {
        self.guard.permit(task)
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.guard.take_notice()
    }

    fn lost_notices(&self) -> u64 {
        self.guard.lost_notices()
    }
}

impl Enforcer for Behind {
    fn mode(&self) -> Level {
        Enforcer::mode(&self.guard)
    }

    fn permit_for(&self, job: JobId) -> Permit {
        let permit = Enforcer::permit_for(&self.guard, job);
        match (self.fault, permit) {
            // The limit is the job's own level's, in the only mode.
            (
                Fault::SuspendsNobody,
                Permit::Suspended {
                    until: Until::Event,
                },
            ) => {
                let limit = self.limits[job.task.index()];
                Permit::Run { limit }
            }
            (Fault::HoldsBackLateJobs, Permit::Below { .. }) => {
                let until = Until::Event;
                Permit::Suspended { until }
            }
            _ => permit,
        }
    }

    fn has_modes(&self) -> bool {
        self.guard.has_modes()
    }

    fn interest(&self) -> Interest {
        Interest::IncompleteJobs
    }
}

/// In how many of the systems a world with this fault gives another schedule than the engine.
fn differing(fault: Fault, systems: u64) -> usize {
    zero_slack_systems(systems)
        .filter(|system| {
            let tasks = tasks_of(system);
            let mut guard = Behind {
                guard: guard_of(system, &tasks),
                fault,
                clock: Instant::EPOCH,
                limits: limits(&guard_of(system, &tasks), tasks.len()),
            };
            run_behind(system, &tasks, &mut guard).0 != run_engine(system, &mut ())
        })
        .count()
}

#[test]
fn a_guard_that_hears_of_jobs_without_slack_alone_suspends_as_the_engine_does() {
    assert_eq!(differing(Fault::None, 6_000), 0);
}

/// The controls of the test above.
#[test]
fn a_world_that_tells_too_little_or_enacts_too_little_gives_another_schedule() {
    for fault in [
        Fault::EndsUnreported,
        Fault::ReleasedTooLate,
        Fault::NoWake,
        Fault::SuspendsNobody,
        Fault::HoldsBackLateJobs,
    ] {
        let count = differing(fault, 500);
        assert!(count > 25, "{fault:?}: {count}");
    }
}
