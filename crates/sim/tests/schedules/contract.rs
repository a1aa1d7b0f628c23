//! What the world does with schedulers and workloads that contradict themselves, and with jobs at
//! the edge of the model.

use std::cell::Cell;
use vestal_core::{
    ContractViolation, CpuId, Duration, Enforcement, Exhaustion, Fact, Guard, Instant, JobId,
    Level, Notice, Permit, Plan, Scheduler, Sequences, Service, Slot, Task, TaskConfiguration,
    TaskId, Uniprocessor, Wake, WakeReason, Wcet,
};
use vestal_sim::workload::{ListedDemand, ListedReleases, Periodic};
use vestal_sim::{
    Backlog, Demand, Effort, NativeSetting, Releases, Setting, SimulationError, Statistics,
    simulate, simulate_native,
};

const JOB: JobId = JobId {
    task: TaskId(0),
    sequence: 0,
};

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

fn tasks() -> [Task; 1] {
    let (span, wcet) = (Duration::from_nanos(10), Service::from_nanos(3));
    [Task::new(Level(0), span, span, Wcet::constant(wcet)).unwrap()]
}

/// A scheduler that gives the same plan whatever happens.
#[derive(Default)]
struct Stubborn {
    slots: Vec<Option<Slot>>,
    next: Option<Wake>,
    /// How many notices each decision loses, without one that could be taken.
    loses: u64,
    lost: u64,
}

impl Stubborn {
    fn running(job: JobId, cpus: usize) -> Self {
        let slot = Some(Slot { job, budget: None });
        Self {
            slots: vec![slot; cpus],
            ..Self::default()
        }
    }
}

impl Scheduler for Stubborn {
    fn apply(&mut self, _: Instant, _: Fact) -> Result<(), ContractViolation> {
        Ok(())
    }
    fn decide(&mut self, _: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.lost += self.loses;
        Ok(Plan {
            slots: &self.slots,
            sequences: Sequences::NONE,
            next: self.next,
            mode: Level::LOWEST,
        })
    }
    fn permit(&self, _: TaskId) -> Permit {
        Permit::Run { limit: None }
    }
    fn take_notice(&mut self) -> Option<Notice> {
        None
    }
    fn lost_notices(&self) -> u64 {
        self.lost
    }
}

fn run(
    scheduler: &mut dyn Scheduler,
    cpus: u16,
    end: Instant,
    releases: &dyn Releases,
    demand: &dyn Demand,
) -> Result<Effort, SimulationError> {
    let tasks = tasks();
    let setting = Setting {
        tasks: &tasks,
        cpus,
        end,
        backlog: Backlog::UNLIMITED,
    };
    simulate(scheduler, &setting, releases, demand, &mut ())
}

fn usual(scheduler: &mut dyn Scheduler, cpus: u16) -> Result<Effort, SimulationError> {
    let demand = ListedDemand::at_level(&tasks(), Level(0));
    let releases = Periodic::synchronous(&tasks());
    run(scheduler, cpus, at(100), &releases, &demand)
}

/// Periodic releases, until it was asked so often whether the run is abandoned.
struct Impatient {
    releases: Periodic,
    left: Cell<u32>,
}

impl Releases for Impatient {
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        self.releases.release(task, sequence, previous)
    }
    fn aborted(&self) -> bool {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.unwrap_or(0));
        left.is_none()
    }
}

/// Releases at 0, 10, 20; completions at 3, 13, 23: the fifth instant is the third release.
#[test]
fn a_run_that_is_given_up_ends_where_it_stands() {
    let entry = TaskConfiguration::new(tasks()[0], 1);
    let entries = [entry];
    let configuration = vestal_testkit::short::configuration(&entries, 1, Enforcement::Static);
    let demand = ListedDemand::at_level(&tasks(), Level(0));
    let impatient = || Impatient {
        releases: Periodic::synchronous(&tasks()),
        left: Cell::new(5),
    };
    let aborted = Err(SimulationError::Aborted(at(20)));
    let mut engine = Uniprocessor::new(&configuration).unwrap();
    let managed = run(&mut engine, 1, at(1_000_000), &impatient(), &demand);
    assert_eq!(managed, aborted);
    let mut guard = Guard::new(&configuration).unwrap();
    let setting = NativeSetting {
        tasks: &[entry],
        end: at(1_000_000),
        backlog: Backlog::UNLIMITED,
    };
    let native = simulate_native(&mut guard, &setting, &impatient(), &demand, &mut ());
    assert_eq!(native, aborted);
}

#[test]
fn a_plan_with_a_job_that_is_not_pending_is_a_broken_invariant() {
    let job = JobId { sequence: 7, ..JOB };
    let broken = SimulationError::UnknownJobPlanned {
        at: at(0),
        cpu: CpuId(0),
        job,
    };
    assert_eq!(usual(&mut Stubborn::running(job, 1), 1), Err(broken));
}

#[test]
fn one_job_cannot_run_on_two_cpus() {
    let broken = SimulationError::PlannedTwice {
        at: at(0),
        job: JOB,
    };
    assert_eq!(usual(&mut Stubborn::running(JOB, 2), 2), Err(broken));
}

#[test]
fn a_scheduler_that_always_wants_to_be_asked_again_is_stopped() {
    let mut restless = Stubborn {
        slots: vec![None],
        next: Some(Wake {
            at: at(0),
            why: WakeReason::Deadline(JOB),
        }),
        ..Stubborn::default()
    };
    let found = usual(&mut restless, 1);
    assert!(
        matches!(found, Err(SimulationError::NoProgress { at, .. }) if at == Instant::EPOCH),
        "{found:?}"
    );
}

#[test]
fn jobs_that_nobody_runs_or_drops_end_a_run_when_too_many_are_kept() {
    let mut lazy = Stubborn {
        slots: vec![None],
        ..Stubborn::default()
    };
    let tasks = tasks();
    let mut statistics = Statistics::new(&tasks, 1, Enforcement::Static, Exhaustion::Background);
    let setting = Setting {
        tasks: &tasks,
        cpus: 1,
        end: at(1_000_000),
        backlog: Backlog {
            kept_max: 1000,
            ..Backlog::UNLIMITED
        },
    };
    let (releases, demand) = (Periodic::synchronous(&tasks), ListedDemand::default());
    let found = simulate(&mut lazy, &setting, &releases, &demand, &mut statistics);
    // The scheduler knows five of them, and 1000 more are kept.
    let cut = at(10_050);
    let too_many = SimulationError::TooManyKept {
        at: cut,
        kept: 1000,
    };
    assert_eq!(found, Err(too_many));
    let jobs = statistics.jobs();
    assert_eq!((jobs.released, jobs.missed), (1005, 1005));
    assert_eq!(statistics.end(), cut);
}

/// A queue without any room loses notices and never has one to take.
#[test]
fn a_run_with_lost_notices_has_no_result_and_no_other_error() {
    let losing = |slots: Vec<Option<Slot>>| Stubborn {
        slots,
        loses: 1,
        ..Stubborn::default()
    };
    let releases = ListedReleases {
        tasks: vec![vec![at(5)]],
    };
    let demand = ListedDemand::at_level(&tasks(), Level(0));
    let found = run(&mut losing(vec![None]), 1, at(9), &releases, &demand);
    let lost = SimulationError::NoticesLost { at: at(9), lost: 2 };
    assert_eq!(found, Err(lost), "at 5 and at 9");
    let job = JobId { sequence: 7, ..JOB };
    let slot = Some(Slot { job, budget: None });
    let found = usual(&mut losing(vec![slot]), 1);
    let lost = SimulationError::NoticesLost { at: at(0), lost: 1 };
    assert_eq!(found, Err(lost), "not the plan with an unknown job");
}

#[test]
fn releases_have_to_ascend() {
    let releases = ListedReleases {
        tasks: vec![vec![at(5), at(5)]],
    };
    let demand = ListedDemand::at_level(&tasks(), Level(0));
    let mut lazy = Stubborn {
        slots: vec![None],
        ..Stubborn::default()
    };
    let wrong = SimulationError::ReleasesNotAscending {
        task: TaskId(0),
        previous: at(5),
        next: at(5),
    };
    let found = run(&mut lazy, 1, at(100), &releases, &demand);
    assert_eq!(found, Err(wrong));
    let beyond = at(u64::MAX);
    let found = run(&mut lazy, 1, beyond, &releases, &demand);
    assert_eq!(found, Err(SimulationError::EndBeyondHorizon(beyond)));
}

fn engine() -> Uniprocessor {
    let configured = tasks().map(|task| TaskConfiguration::new(task, 1));
    Uniprocessor::new(&vestal_testkit::short::configuration(
        &configured,
        1,
        Enforcement::Static,
    ))
    .unwrap()
}

fn statistics_of(releases: &[u64], demand: u64, end: u64) -> Statistics {
    let tasks = tasks();
    let mut statistics = Statistics::new(&tasks, 1, Enforcement::Static, Exhaustion::Background);
    let setting = Setting {
        tasks: &tasks,
        cpus: 1,
        end: at(end),
        backlog: Backlog::UNLIMITED,
    };
    let releases = ListedReleases {
        tasks: vec![releases.iter().copied().map(at).collect()],
    };
    let demand = ListedDemand {
        tasks: vec![Vec::new()],
        otherwise: vec![Service::from_nanos(demand)],
    };
    simulate(&mut engine(), &setting, &releases, &demand, &mut statistics).unwrap();
    statistics
}

#[test]
fn a_job_of_no_execution_completes_when_it_is_first_given_the_cpu() {
    let statistics = statistics_of(&[0, 10], 0, 20);
    let task = &statistics.tasks()[0];
    assert_eq!((task.completed, task.response.spread().max()), (2, Some(0)));
    assert_eq!(statistics.cpus()[0].busy, Service::ZERO);
}

#[test]
fn the_end_is_exclusive_for_releases_and_inclusive_for_completions_and_deadlines() {
    let in_time = statistics_of(&[0, 10], 3, 13);
    assert_eq!((in_time.jobs().released, in_time.jobs().completed), (2, 2));
    let cut_off = statistics_of(&[0, 10], 3, 10);
    assert_eq!(cut_off.jobs().released, 1);
    let open = statistics_of(&[5], 3, 7);
    assert_eq!((open.jobs().completed, open.jobs().missed), (0, 0));
    let late = statistics_of(&[0], 11, 10);
    assert_eq!((late.jobs().missed, late.jobs().missed_guaranteed), (1, 0));
}

/// Plans by the clock: what each of two CPUs runs from an instant on.
struct Scripted {
    script: Vec<(u64, [Option<JobId>; 2])>,
    slots: [Option<Slot>; 2],
}

impl Scheduler for Scripted {
    fn apply(&mut self, _: Instant, _: Fact) -> Result<(), ContractViolation> {
        Ok(())
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        let past = self.script.iter().rfind(|line| line.0 <= now.as_nanos());
        let jobs = past.map_or([None; 2], |line| line.1);
        self.slots = jobs.map(|job| job.map(|job| Slot { job, budget: None }));
        let next = self.script.iter().find(|line| line.0 > now.as_nanos());
        Ok(Plan {
            slots: &self.slots,
            sequences: Sequences::NONE,
            next: next.map(|line| Wake {
                at: at(line.0),
                why: WakeReason::TableSlot,
            }),
            mode: Level::LOWEST,
        })
    }
    fn permit(&self, _: TaskId) -> Permit {
        Permit::Run { limit: None }
    }
    fn take_notice(&mut self) -> Option<Notice> {
        None
    }
    fn lost_notices(&self) -> u64 {
        0
    }
}

/// CPU 0 `aa bbbb`, CPU 1 `bb aaaa`: at 2 the jobs change places.
#[test]
fn two_cpus_exchange_their_jobs_and_both_migrate() {
    let (span, wcet) = (Duration::from_nanos(20), Service::from_nanos(6));
    let tasks = [Task::new(Level(0), span, span, Wcet::constant(wcet)).unwrap(); 2];
    let (a, b) = (
        JOB,
        JobId {
            task: TaskId(1),
            ..JOB
        },
    );
    let mut scheduler = Scripted {
        script: vec![
            (0, [Some(a), Some(b)]),
            (2, [Some(b), Some(a)]),
            (6, [None, None]),
        ],
        slots: [None; 2],
    };
    let mut statistics = Statistics::new(&tasks, 2, Enforcement::Static, Exhaustion::Background);
    let setting = Setting {
        tasks: &tasks,
        cpus: 2,
        end: at(20),
        backlog: Backlog::UNLIMITED,
    };
    let demand = ListedDemand::at_level(&tasks, Level(0));
    let releases = Periodic::synchronous(&tasks);
    simulate(
        &mut scheduler,
        &setting,
        &releases,
        &demand,
        &mut statistics,
    )
    .unwrap();
    for cpu in statistics.cpus() {
        assert_eq!(cpu.busy, Service::from_nanos(6));
        assert_eq!((cpu.switches, cpu.preemptions, cpu.migrations), (2, 1, 1));
    }
    for task in statistics.tasks() {
        assert_eq!((task.completed, task.response.spread().max()), (1, Some(6)));
    }
}
