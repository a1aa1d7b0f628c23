//! Period transformation by deferrable servers on a grid: simulated response times keep to the bound
//! of `pt:servers`, and a bound without the price of the grid is exceeded.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use vestal_analysis::{Parameters, Problem, Scratch, find};
use vestal_core::*;
use vestal_sim::workload::{ListedDemand, ListedReleases};
use vestal_sim::{Backlog, JobState, Observer, Setting, simulate};
use vestal_testkit::Random;

const SETS: u64 = 40_000;

/// The longest response time of each task.
struct Longest(Vec<u64>);

impl Observer for Longest {
    fn completed(&mut self, at: Instant, job: &JobState) {
        let took = at.saturating_since(job.released).as_nanos();
        let longest = &mut self.0[job.id.task.index()];
        *longest = (*longest).max(took);
    }
}

/// Low utilisations: the grid costs up to two slice periods.
fn draw(random: &mut Random) -> (Vec<Task>, Vec<SliceCount>) {
    let levels = random.between(2, 3);
    let count = random.between(1, 4);
    let task = |random: &mut Random| {
        let period = random.between(6, 40);
        let own = random.between(1, (period / (2 * count)).max(1));
        let span = Duration::from_nanos(period);
        let level = Level(random.between(0, levels - 1) as u8);
        let wcet = Wcet::constant(Service::from_nanos(own));
        let task = Task::new(level, span, span, wcet).unwrap();
        let slices = random.between(1, (period / 2).min(5));
        (task, SliceCount::new(slices as u32, &task).unwrap())
    };
    (0..count).map(|_| task(random)).unzip()
}

fn simulated(
    tasks: &[Task],
    counts: &[SliceCount],
    priorities: &[u32],
    random: &mut Random,
) -> Vec<u64> {
    let end = 400;
    let pairs = tasks.iter().zip(counts).zip(priorities);
    let servers: Vec<ServerConfiguration> = pairs
        .map(|((task, count), &priority)| ServerConfiguration {
            kind: count.deferrable_server(task),
            priority,
            criticality: task.criticality,
            order: LocalOrder::FixedPriority,
        })
        .collect();
    let served: Vec<ServedTask> = (0..)
        .zip(tasks)
        .map(|(number, &task)| ServedTask {
            task,
            server: ServerId(number),
            priority: 1,
            on_behalf_of: None,
        })
        .collect();
    let mut engine = Hierarchy::new(&HierarchyConfiguration {
        servers: &servers,
        tasks: &served,
        devices: &[],
        levels: LevelSet::new(3).unwrap(),
        modes: Modes::Requested,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    })
    .unwrap();
    let releases = tasks.iter().map(|task| {
        let mut at = random.between(0, 40);
        let mut list = Vec::new();
        while at < end - 80 {
            list.push(Instant::from_nanos(at));
            at += task.period.as_nanos() + random.between(0, 1) * random.between(0, 7);
        }
        list
    });
    let releases = ListedReleases {
        tasks: releases.collect(),
    };
    let demand = ListedDemand::at_level(tasks, Level(2));
    let mut longest = Longest(vec![0; tasks.len()]);
    let setting = Setting {
        tasks,
        cpus: 1,
        end: Instant::from_nanos(end),
        backlog: Backlog::UNLIMITED,
    };
    simulate(&mut engine, &setting, &releases, &demand, &mut longest).unwrap();
    longest.0
}

#[test]
fn response_times_keep_to_the_bound_and_need_the_price_of_the_grid() {
    let mut random = Random::new(11);
    let mut scratch = Scratch::default();
    let (servers, aligned) = (
        find("pt", Some("servers")).unwrap(),
        find("pt", None).unwrap(),
    );
    let (mut accepted, mut reached, mut above_aligned) = (0, 0, 0);
    for _ in 0..SETS {
        let (tasks, counts) = draw(&mut random);
        let problem = Problem::new(tasks.clone(), LevelSet::new(3).unwrap()).unwrap();
        let problem = problem
            .with(&Parameters {
                slices: Some(counts.clone()),
                ..Parameters::default()
            })
            .unwrap();
        if !servers.accepts(&problem, &mut scratch) {
            continue;
        }
        accepted += 1;
        let found = servers.analyse(&problem);
        let without = aligned.analyse(&problem);
        let priorities = found.parameters.priorities.unwrap();
        let longest = simulated(&tasks, &counts, &priorities, &mut random);
        for (task, &longest) in longest.iter().enumerate() {
            let bound = found.tasks[task]
                .responses
                .last()
                .unwrap()
                .unwrap()
                .as_nanos();
            assert!(
                longest <= bound,
                "task {task}: {longest} > {bound}, {counts:?} {tasks:?}"
            );
            reached += u32::from(longest == bound);
            let slices = without.tasks[task].responses.last().unwrap();
            above_aligned += u32::from(slices.is_some_and(|slices| longest > slices.as_nanos()));
        }
    }
    // The bound of aligned slices is no bound for servers on a grid.
    assert!(
        accepted > 1_000 && reached > 20 && above_aligned > 100,
        "{accepted} {reached} {above_aligned}"
    );
}
