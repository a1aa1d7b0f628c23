//! Overload: no job is dropped for want of room, and each completes when a scheduler with an unbounded
//! queue completes it, and when SimSo does.
//!
//! The sets, and what SimSo makes of them, stand in `simso.txt`, which `scripts/simso_overload.py` writes;
//! `scripts/check-simso.sh` compares the file with what SimSo gives today. Here a *tie* is an instant at
//! which the job that goes first is as urgent as one of another task that is ready too: under RM of the
//! same period, under EDF with the same absolute deadline. Vestal gives the CPU to the task that stands
//! first, SimSo to the job that was activated first; where there is a tie, only our own reference says
//! what is right.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use vestal_core::{
    ClassicOrder, Configuration, DeadlineQueues, DropReason, Duration, Enforcement, Guard, Instant,
    Level, Scheduler, Service, Task, TaskConfiguration, TaskId, TaskOrder, Uniprocessor, Wcet,
};
use vestal_sim::workload::{ListedDemand, Periodic};
use vestal_sim::{Backlog, JobState, NativeSetting, Observer, Setting, simulate, simulate_native};

const SIMSO: &str = include_str!("simso.txt");

/// An instant and a task, in the order of time.
type Completions = Vec<(u64, usize)>;

/// Times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Periodically {
    period: u64,
    wcet: u64,
    offset: u64,
    deadline: u64,
}

#[derive(Clone, Debug, Default)]
struct Overloaded {
    tasks: Vec<Periodically>,
    /// What SimSo says of each policy.
    rm: Completions,
    edf: Completions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    RateMonotonic,
    EarliestDeadlineFirst,
}

fn read() -> (u64, Vec<Overloaded>) {
    let (mut horizon, mut sets): (u64, Vec<Overloaded>) = (0, Vec::new());
    for line in SIMSO.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let kind = words.next().unwrap();
        let number = |word: &str| word.parse::<u64>().unwrap();
        let completion = |word: &str| {
            let (task, at) = word.split_once(':').unwrap();
            (number(at), number(task) as usize)
        };
        match kind {
            "horizon" => horizon = words.next().map(number).unwrap(),
            "set" => sets.push(Overloaded::default()),
            "task" => {
                let values: Vec<u64> = words.map(number).collect();
                let [period, wcet, offset, deadline] = values[..] else {
                    panic!("{line}");
                };
                sets.last_mut().unwrap().tasks.push(Periodically {
                    period,
                    wcet,
                    offset,
                    deadline,
                });
            }
            "rm" => sets.last_mut().unwrap().rm = words.map(completion).collect(),
            "edf" => sets.last_mut().unwrap().edf = words.map(completion).collect(),
            _ => panic!("{line}"),
        }
    }
    (horizon, sets)
}

/// What the obvious scheduler finds.
struct Obvious {
    completed: Completions,
    ties: usize,
    /// The most jobs of one task that were there at once.
    pending_max: usize,
}

/// One tick after the other: all jobs that are there in one list, the most urgent of which runs.
fn obvious(tasks: &[Periodically], policy: Policy, horizon: u64) -> Obvious {
    struct Job {
        task: usize,
        released: u64,
        left: u64,
    }
    let urgency = |job: &Job| match policy {
        Policy::RateMonotonic => tasks[job.task].period,
        Policy::EarliestDeadlineFirst => job.released + tasks[job.task].deadline,
    };
    let mut jobs: Vec<Job> = Vec::new();
    let mut found = Obvious {
        completed: Vec::new(),
        ties: 0,
        pending_max: 0,
    };
    for now in 0..horizon {
        for (task, entry) in tasks.iter().enumerate() {
            if now >= entry.offset && (now - entry.offset).is_multiple_of(entry.period) {
                jobs.push(Job {
                    task,
                    released: now,
                    left: entry.wcet,
                });
            }
            let of_task = jobs.iter().filter(|job| job.task == task);
            found.pending_max = found.pending_max.max(of_task.count());
        }
        let order = |&position: &usize| {
            (
                urgency(&jobs[position]),
                jobs[position].task,
                jobs[position].released,
            )
        };
        let Some(first) = (0..jobs.len()).min_by_key(order) else {
            continue;
        };
        let (task, due) = (jobs[first].task, urgency(&jobs[first]));
        let others = jobs.iter().filter(|job| job.task != task);
        found.ties += usize::from(others.into_iter().any(|job| urgency(job) == due));
        jobs[first].left -= 1;
        if jobs[first].left == 0 {
            jobs.remove(first);
            found.completed.push((now + 1, task));
        }
    }
    found.completed.retain(|(at, _)| *at < horizon);
    found
}

/// Watches a run, and refuses to see a job dropped.
#[derive(Default)]
struct Watch {
    completed: Completions,
    kept: usize,
}

impl Observer for Watch {
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.completed.push((at.as_nanos(), job.id.task.index()));
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        panic!("{:?} was dropped at {at:?}: {why:?}", job.id);
    }
    fn kept(&mut self, _: Instant, _: &JobState) {
        self.kept += 1;
    }
}

fn models(set: &Overloaded) -> Vec<Task> {
    let model = |entry: &Periodically| {
        let (period, deadline) = (entry.period, entry.deadline);
        let (period, deadline) = (Duration::from_nanos(period), Duration::from_nanos(deadline));
        let wcet = Wcet::constant(Service::from_nanos(entry.wcet));
        Task::new(Level(0), period, deadline, wcet).unwrap()
    };
    set.tasks.iter().map(model).collect()
}

/// Each task with its rate-monotonic priority.
fn configured(tasks: &[Task]) -> Vec<TaskConfiguration> {
    let with_priority = |(task, id): (&Task, u16)| {
        TaskConfiguration::new(
            *task,
            ClassicOrder::RateMonotonic
                .priority_of(TaskId(id), tasks)
                .unwrap(),
        )
    };
    tasks.iter().zip(0..).map(with_priority).collect()
}

fn with_configuration<T>(tasks: &[Task], make: impl FnOnce(&Configuration<'_>) -> T) -> T {
    make(&vestal_testkit::short::configuration(
        &configured(tasks),
        1,
        Enforcement::Static,
    ))
}

fn releases(set: &Overloaded) -> Periodic {
    let tasks = set.tasks.iter();
    let of = |entry: &Periodically| {
        let period = Duration::from_nanos(entry.period);
        (Instant::from_nanos(entry.offset), period)
    };
    Periodic {
        tasks: tasks.map(of).collect(),
    }
}

fn managed(set: &Overloaded, policy: Policy, horizon: u64) -> Watch {
    let tasks = models(set);
    let due: Vec<Duration> = tasks.iter().map(|task| task.deadline).collect();
    let order = match policy {
        Policy::RateMonotonic => TaskOrder::FixedPriority,
        Policy::EarliestDeadlineFirst => TaskOrder::EarliestDeadline {
            virtual_deadlines: due.into(),
            queues: DeadlineQueues::One,
        },
    };
    let mut engine = with_configuration(&tasks, |configuration| {
        Uniprocessor::with_order(configuration, &order).unwrap()
    });
    assert_eq!(engine.backlog(), 4, "what follows is about more than that");
    let setting = Setting {
        tasks: &tasks,
        cpus: 1,
        end: Instant::from_nanos(horizon),
        backlog: Backlog::UNLIMITED,
    };
    let mut watch = Watch::default();
    let demand = ListedDemand::at_level(&tasks, Level(0));
    simulate(&mut engine, &setting, &releases(set), &demand, &mut watch).unwrap();
    watch.completed.retain(|(at, _)| *at < horizon);
    watch
}

fn native(set: &Overloaded, horizon: u64) -> Completions {
    let tasks = models(set);
    let configured = configured(&tasks);
    let mut guard = with_configuration(&tasks, |configuration| Guard::new(configuration).unwrap());
    let setting = NativeSetting {
        tasks: &configured,
        end: Instant::from_nanos(horizon),
        backlog: Backlog::UNLIMITED,
    };
    let mut watch = Watch::default();
    let demand = ListedDemand::at_level(&tasks, Level(0));
    simulate_native(&mut guard, &setting, &releases(set), &demand, &mut watch).unwrap();
    watch.completed.retain(|(at, _)| *at < horizon);
    watch.completed
}

/// The utilisation in thousandths, rounded down.
fn permille(set: &Overloaded) -> u64 {
    let all: u64 = set.tasks.iter().map(|task| task.period).product();
    let used = set.tasks.iter().map(|task| task.wcet * all / task.period);
    used.sum::<u64>() * 1000 / all
}

fn compare_all(policy: Policy) {
    let (horizon, sets) = read();
    assert_eq!(sets.len(), 200);
    let (mut crowded, mut as_simso) = (0, 0);
    for (number, set) in sets.iter().enumerate() {
        assert!((1020..=1300).contains(&permille(set)), "set {number}");
        let expected = obvious(&set.tasks, policy, horizon);
        let found = managed(set, policy, horizon);
        assert_eq!(found.completed, expected.completed, "set {number}");
        if policy == Policy::RateMonotonic {
            assert_eq!(native(set, horizon), expected.completed, "set {number}");
        }
        assert_eq!(found.kept > 0, expected.pending_max > 5, "set {number}");
        crowded += usize::from(found.kept > 0);
        let simso = match policy {
            Policy::RateMonotonic => &set.rm,
            Policy::EarliestDeadlineFirst => &set.edf,
        };
        if expected.ties == 0 {
            assert_eq!(&found.completed, simso, "SimSo, set {number}");
            as_simso += 1;
        }
    }
    assert!(
        crowded >= 50,
        "{policy:?}: jobs were kept in {crowded} sets only"
    );
    assert!(as_simso >= 50, "{policy:?}: {as_simso} sets without a tie");
}

#[test]
fn rate_monotonic_jobs_complete_as_in_an_unbounded_queue_and_as_in_simso() {
    compare_all(Policy::RateMonotonic);
}

#[test]
fn earliest_deadline_first_jobs_complete_as_in_an_unbounded_queue_and_as_in_simso() {
    compare_all(Policy::EarliestDeadlineFirst);
}
