//! What the test `one-point` accepts keeps its guarantee in simulated runs of its policy; a wrong
//! variant of it does not. And the built-in `amc-rtb`, given the same priorities, accepts it too.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use vestal_analysis::{Problem, Verdict, find};
use vestal_core::{
    Configuration, Duration, Enforcement, Exhaustion, Instant, Level, LevelSet, Service, Task,
    TaskConfiguration, TaskId, Uniprocessor, Wcet,
};
use vestal_example_own_policy::{one_point, slack_monotonic};
use vestal_sim::workload::Periodic;
use vestal_sim::{Backlog, Demand, Setting, Statistics, simulate};

const SETS: u64 = 3000;
const RUNS: u64 = 6;

/// Steele, Lea and Flood's SplitMix64 (OOPSLA 2014): the same numbers on every machine.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// A number in `low..=high`.
fn between(state: &mut u64, low: u64, high: u64) -> u64 {
    *state = mix(*state);
    low + *state % (high - low + 1)
}

/// Three or four tasks of two levels in milliseconds, many of them near the border.
fn set(seed: u64) -> Vec<Task> {
    let state = &mut mix(seed);
    let count = between(state, 3, 4);
    let mut tasks = Vec::new();
    for _ in 0..count {
        let period = between(state, 4, 20);
        let deadline = between(state, period / 2, period);
        let low = between(state, 1, period / 4);
        let high = low + between(state, 0, period / 4);
        let level = Level(u8::from(between(state, 0, 1) == 1));
        let values = [low, if level == Level(0) { low } else { high }];
        let wcet = Wcet::new(&values.map(Service::from_millis)).unwrap();
        let (period, deadline) = (
            Duration::from_millis(period),
            Duration::from_millis(deadline),
        );
        tasks.push(Task::new(level, period, deadline, wcet).unwrap());
    }
    tasks
}

/// In run 0 no job overruns, in run 1 all may; in the others a coin decides for each job.
struct Coins<'a> {
    tasks: &'a [Task],
    run: u64,
}

impl Demand for Coins<'_> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        let coin = mix(self.run ^ mix(u64::from(task.0) << 32 | sequence)) & 1;
        let level = if self.run < 2 { self.run } else { coin };
        self.tasks[task.index()].enforced_wcet(Level(u8::from(level == 1)))
    }
}

/// How many guaranteed deadlines the policy misses in runs of one second.
fn misses(tasks: &[Task], seed: u64) -> u64 {
    let priorities = slack_monotonic::priorities(tasks);
    let with_priority = |(&task, priority)| TaskConfiguration::new(task, priority);
    let tasks_with_priorities: Vec<_> = tasks.iter().zip(priorities).map(with_priority).collect();
    let (enforcement, exhaustion) = (Enforcement::Adaptive, Exhaustion::Background);
    let configuration = Configuration {
        tasks: &tasks_with_priorities,
        levels: LevelSet::new(2).unwrap(),
        enforcement,
        exhaustion,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let end = Instant::EPOCH.saturating_add(Duration::from_millis(1000));
    let setting = Setting {
        tasks,
        cpus: 1,
        end,
        backlog: Backlog::UNLIMITED,
    };
    let mut missed = 0;
    for run in 0..RUNS {
        let run = if run < 2 { run } else { mix(seed ^ run) };
        let mut statistics = Statistics::of(&configuration, 1);
        let mut scheduler = Uniprocessor::new(&configuration).unwrap();
        let releases = Periodic::synchronous(tasks);
        let demand = Coins { tasks, run };
        simulate(
            &mut scheduler,
            &setting,
            &releases,
            &demand,
            &mut statistics,
        )
        .unwrap();
        missed += statistics.jobs().missed_guaranteed;
    }
    missed
}

/// The test with floor(D_i / T_j) in place of the ceiling: wrong, as the campaign has to notice.
fn rounds_down(tasks: &[Task]) -> bool {
    let priorities = slack_monotonic::priorities(tasks);
    tasks.iter().zip(&priorities).all(|(task, own)| {
        let deadline = task.deadline.as_nanos();
        let higher = tasks
            .iter()
            .zip(&priorities)
            .filter(|(_, priority)| *priority > own);
        let demand: u64 = higher
            .map(|(other, _)| {
                let releases = deadline / other.period.as_nanos();
                releases * other.enforced_wcet(task.criticality).as_nanos()
            })
            .sum();
        task.own_wcet().as_nanos() + demand <= deadline
    })
}

#[test]
fn what_is_accepted_misses_nothing_and_the_wrong_variant_does() {
    let (mut accepted, mut rejected, mut refuted) = (0, 0, 0);
    for seed in 0..SETS {
        let tasks = set(seed);
        let problem = Problem::new(tasks.clone(), LevelSet::new(2).unwrap()).unwrap();
        let found = one_point::analyse(&problem);
        assert_eq!(
            found.why.is_none(),
            found.verdict == Verdict::Schedulable,
            "a reason exactly for a no"
        );
        if found.verdict == Verdict::Schedulable {
            accepted += 1;
            assert_eq!(misses(&tasks, seed), 0, "set {seed}: {tasks:?}");
        } else {
            rejected += 1;
            if rounds_down(&tasks) && refuted == 0 {
                refuted += u64::from(misses(&tasks, seed) > 0);
            }
        }
    }
    assert!(
        accepted > 100 && rejected > 100,
        "{accepted} accepted, {rejected} rejected"
    );
    assert!(refuted > 0, "the wrong variant was not refuted");
}

#[test]
fn the_exact_walk_over_the_same_order_accepts_it_with_no_larger_bounds() {
    let walk = find("amc-rtb", None).unwrap();
    for seed in 0..SETS {
        let tasks = set(seed);
        let priorities = slack_monotonic::priorities(&tasks);
        let problem = Problem::new(tasks, LevelSet::new(2).unwrap()).unwrap();
        let found = one_point::analyse(&problem);
        let walked = walk.analyse(&problem.with_priorities(priorities).unwrap());
        for (ours, theirs) in found.tasks.iter().zip(&walked.tasks) {
            for (bound, least) in ours.responses.iter().zip(&theirs.responses) {
                if let Some(bound) = bound {
                    assert!(
                        least.is_some_and(|least| least <= *bound),
                        "set {seed}: {found:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_worked_example() {
    // Slacks: 6 (radio), 4 (motor), so motor goes first. At level 0 motor asks for 2 + 0, radio for
    // 4 + ceil(10 / 8) * 2 = 8 <= 10. At level 1 motor asks for 4 <= 8.
    let task = |level: u8, time: u64, values: &[u64]| {
        let values: Vec<Service> = values.iter().map(|&ms| Service::from_millis(ms)).collect();
        let time = Duration::from_millis(time);
        Task::new(Level(level), time, time, Wcet::new(&values).unwrap()).unwrap()
    };
    let analyse = |radio: u64| {
        let tasks = vec![task(0, 10, &[radio]), task(1, 8, &[2, 4])];
        one_point::analyse(&Problem::new(tasks, LevelSet::new(2).unwrap()).unwrap())
    };
    let found = analyse(4);
    let ms = |time| Some(Duration::from_millis(time));
    assert_eq!(found.verdict, Verdict::Schedulable);
    assert_eq!(found.parameters.priorities, Some(vec![1, 2]));
    assert_eq!(found.tasks[0].responses, [ms(8)]);
    assert_eq!(found.tasks[1].responses, [ms(2), ms(4)]);
    // With 7 the slack is 3 and radio goes first; motor then asks for 2 + 7 > 8.
    let found = analyse(7);
    assert_eq!(found.verdict, Verdict::NotProven);
    assert_eq!(found.parameters.priorities, Some(vec![2, 1]));
    assert_eq!(found.tasks[1].responses, [None, None]);
}
