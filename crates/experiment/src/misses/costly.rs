//! What tests accept with overheads, searched for a miss in worlds in which the same mechanism takes its time; the policies
//! on one CPU, and `pedf-vd` CPU by CPU. Worlds that take more than the test was told are the controls.

use super::finds_miss_within;
use super::tests::set;
use crate::carried::Carried;
use crate::costs::{Costs, Figure, Simulated, name};
use std::fmt::Write as _;
use vestal_analysis::Problem;
use vestal_core::{Duration, Instant, JobId, Level, LevelSet, Service, Task, Wcet};
use vestal_policy::{Analysis, Cluster, Proof, Registry, assemble};
use vestal_result::bench::{Dispatch, Mechanism, Primitive};
use vestal_sim::{JobState, Observer};
use vestal_workload::TaskSet;
use vestal_workload::generate::Random;
use vestal_workload::model::OnMiss;

/// Sets of each policy and each way to carry it out.
const SETS: u64 = 30;
/// Instants that are searched in each accepted set.
const INSTANTS: u64 = 5_000;

const NAMES: [&str; 8] = [
    name::JOB_START,
    name::JOB_END,
    name::SWITCH,
    name::RELEASE,
    name::MANAGER,
    name::DEMOTION,
    name::DETECTION,
    name::TOLERANCE,
];

/// A mechanism with so much of each cost, in ns.
fn mechanism(dispatch: Dispatch, heartbeat_ns: Option<u64>, costs: &[u64]) -> Mechanism {
    let costs = NAMES.iter().zip(costs).map(|(name, cost)| Primitive {
        name: (*name).to_owned(),
        count: 1,
        mean_ns: *cost,
        median_ns: *cost,
        p99_ns: *cost,
        max_ns: *cost,
    });
    Mechanism {
        name: "one".to_owned(),
        what: String::new(),
        dispatch,
        not_run: None,
        heartbeat_ns,
        monitor: None,
        costs: costs.collect(),
    }
}

/// Two to four tasks of two levels, or of one; or many, where little is left of the CPU for costs.
fn problem(random: &mut Random, is_crowd: bool) -> Problem {
    let count = if is_crowd {
        6 + random.below(5)
    } else {
        2 + random.below(3)
    };
    let levels = 1 + usize::from(random.below(4) > 0);
    let tasks = (0..count).map(|index| {
        let period = 600 + random.below(3400);
        let part = if is_crowd { 6 } else { 1 };
        let low = 1 + random.below((period / count / part).max(2));
        let is_high = levels == 2 && (index == 0 || random.below(2) == 0);
        let wcet = match is_high {
            true => vec![low, low + random.below(low + 1)],
            false => vec![low],
        };
        let wcet: Vec<Service> = wcet.into_iter().map(Service::from_nanos).collect();
        // Where time is short, costs count most.
        let deadline = match is_crowd && random.below(2) == 0 {
            true => period / 16 + random.below(period / 2),
            false => period,
        };
        let (period, deadline) = (Duration::from_nanos(period), Duration::from_nanos(deadline));
        let level = Level(u8::from(is_high));
        Task::new(level, period, deadline, Wcet::new(&wcet).unwrap()).unwrap()
    });
    Problem::new(tasks.collect(), LevelSet::new(levels).unwrap()).unwrap()
}

/// A cost in ns: small, or none but for some that are large.
fn costs_of(random: &mut Random, is_crowd: bool) -> u64 {
    match (is_crowd, random.below(4)) {
        (false, _) => random.below(4),
        (true, 0) => random.below(30),
        (true, _) => 0,
    }
}

/// The same set in which some tasks lose their jobs at their deadlines.
fn aborting(mut set: TaskSet, aborts: &[bool]) -> TaskSet {
    for (task, _) in set
        .tasks
        .iter_mut()
        .zip(aborts)
        .filter(|(_, aborts)| **aborts)
    {
        task.on_miss = Some(OnMiss::Abort);
    }
    set
}

/// A policy, and how it is carried out.
#[derive(Debug)]
struct Subject<'a> {
    policy: &'a str,
    /// Its limits follow the mode.
    raises: bool,
    dispatch: Dispatch,
    heartbeat: bool,
}

/// What was seen of a subject.
#[derive(Clone, Debug, Default)]
struct Seen {
    drawn: u64,
    accepted: u64,
    missed: u64,
    modes: u64,
    /// The longest response of a job over its deadline, in thousandths, of those that were not too late.
    tightest: u64,
}

impl Observer for Seen {
    fn completed(&mut self, at: Instant, job: &JobState) {
        let due = job.deadline.saturating_since(job.released).as_nanos();
        let response = at.saturating_since(job.released).as_nanos();
        if response <= due {
            self.tightest = self.tightest.max(response * 1000 / due);
        }
    }
    fn mode_changed(&mut self, _: Instant, from: Level, to: Level, _: Option<JobId>) {
        self.modes += u64::from(to > from);
    }
}

impl Subject<'_> {
    fn simulated(&self, registry: &Registry, costs: &[u64], period: u64) -> Simulated {
        let heartbeat = self.heartbeat.then_some(period);
        let costs = Costs::from(vec![mechanism(self.dispatch, heartbeat, costs)]);
        let policy = registry.policy(self.policy).unwrap();
        let options = registry.options(policy, &[]).unwrap();
        let test = policy.test(&options).unwrap().unwrap();
        let test = registry.test(test).unwrap();
        costs
            .simulated((policy, test), Figure::default(), None)
            .unwrap()
    }

    /// The clusters of a set if it is proved with these overheads.
    fn proved(&self, registry: &Registry, set: &TaskSet, told: &Simulated) -> Option<Vec<Cluster>> {
        let policy = registry.policy(self.policy).unwrap();
        let options = registry.options(policy, &[]).unwrap();
        let analysis = Analysis::With(told.overheads);
        let given = Default::default();
        let system = assemble(registry, (policy, &options), set, &given, analysis).ok()?;
        let mut domains = system.domains();
        let all = domains.all(|domain| matches!(domain.guarantee.proof, Proof::Proved { .. }));
        all.then(|| system.clusters.clone())
    }

    /// Draws sets near the border of what the test accepts with the costs that it is told, and searches worlds that take
    /// `more`, with the period of a heartbeat.
    fn search(
        &self,
        more: impl Fn(&[u64], u64) -> (Vec<u64>, u64),
        (sets, seed): (u64, u64),
    ) -> Seen {
        let registry = Registry::default();
        let mut random = Random::new(seed);
        let mut seen = Seen::default();
        for number in 0..sets {
            let is_crowd = random.below(2) > 0;
            let drawn = problem(&mut random, is_crowd);
            let aborts: Vec<bool> = drawn.tasks().iter().map(|_| random.below(4) == 0).collect();
            let costs: Vec<u64> = NAMES
                .iter()
                .map(|_| costs_of(&mut random, is_crowd))
                .collect();
            let period = 100 + random.below(300);
            let told = self.simulated(&registry, &costs, period);
            let (more, longer) = more(&costs, period);
            let taken = self.simulated(&registry, &more, longer);
            let proved = |permille: u64| {
                let set = aborting(set(&drawn.scaled(permille, 1000)), &aborts);
                self.proved(&registry, &set, &told)
            };
            seen.drawn += 1;
            let factor = crate::costs::margin(|permille| {
                permille == 0 || (permille < 20_000 && proved(permille).is_some())
            });
            let Some(clusters) = factor.filter(|f| *f > 0).and_then(proved) else {
                continue;
            };
            seen.accepted += 1;
            for (place, cluster) in clusters.iter().enumerate() {
                let missed = misses(cluster, (&taken, place), number, &mut seen);
                seen.missed += u64::from(missed);
            }
        }
        seen
    }
}

/// Whether a guaranteed deadline is missed on the CPU of a cluster.
fn misses(
    cluster: &Cluster,
    (taken, place): (&Simulated, usize),
    seed: u64,
    seen: &mut Seen,
) -> bool {
    let entries = cluster.configuration.tasks().iter();
    let tasks: Vec<Task> = entries.map(|entry| entry.task).collect();
    let mut carried = Carried::of(&tasks, cluster).unwrap();
    carried.amid.costs = Some(taken.charges((place, &[]), seed));
    let all: Vec<usize> = (0..tasks.len()).collect();
    finds_miss_within(INSTANTS, &carried, &all, (seed, seen)).unwrap()
}

fn subjects() -> Vec<Subject<'static>> {
    let mut all = Vec::new();
    let native = [
        ("rms", false),
        ("dms", false),
        ("cms", false),
        ("smc", false),
        ("amc", true),
        ("zss", false),
        ("pt", false),
    ];
    let managed = [
        ("edf", false),
        ("edf-vd", true),
        ("plrs", true),
        ("pedf-vd", true),
    ];
    let subject = |(policy, raises), dispatch, heartbeat| Subject {
        policy,
        raises,
        dispatch,
        heartbeat,
    };
    for of in native {
        all.extend([false, true].map(|heartbeat| subject(of, Dispatch::Native, heartbeat)));
    }
    let managed = native.into_iter().chain(managed);
    all.extend(managed.map(|of| subject(of, Dispatch::Managed, false)));
    all
}

/// The size of the campaign: `VESTAL_COSTLY_SETS` sets of each subject. What was seen of each is written to the file of
/// `VESTAL_COSTLY_REPORT`.
fn sets() -> u64 {
    let text = std::env::var("VESTAL_COSTLY_SETS");
    text.map_or(SETS, |text| text.parse().unwrap())
}

#[test]
fn what_is_accepted_with_overheads_has_no_miss_where_they_are_taken() {
    let sets = sets();
    let (mut tight, mut report) = (0, String::new());
    for subject in subjects() {
        let seen = subject.search(|costs, period| (costs.to_vec(), period), (sets, 11));
        writeln!(report, "{subject:?}: {seen:?}").unwrap();
        assert_eq!(seen.missed, 0, "{subject:?} {seen:?}");
        assert!(seen.accepted >= sets / 4, "{subject:?} {seen:?}");
        if subject.raises {
            assert!(seen.modes > 20 * sets, "{subject:?} {seen:?}");
        }
        tight += usize::from(seen.tightest > 900);
    }
    if let Ok(file) = std::env::var("VESTAL_COSTLY_REPORT") {
        std::fs::write(file, report).unwrap();
    }
    // A job that had all but a tenth of its time nearly missed.
    assert!(tight > subjects().len() / 2, "{tight}");
}

/// Where more is taken than the test was told, deadlines are missed under each of them.
#[test]
fn what_takes_more_than_was_told_is_refuted() {
    for subject in subjects() {
        let more = |costs: &[u64], period| {
            let costs = costs.iter().map(|cost| 6 * cost + 6);
            (costs.collect(), 3 * period)
        };
        let seen = subject.search(more, (60, 12));
        assert!(seen.missed > 0, "{subject:?} {seen:?}");
    }
}

/// Each cost is found if it alone is more than the test was told.
#[test]
fn each_cost_is_found_if_the_test_was_told_less_of_it() {
    for (place, name) in NAMES.iter().enumerate() {
        let more = |costs: &[u64], period| {
            let mut costs = costs.to_vec();
            costs[place] += 60;
            (costs, period)
        };
        let raising = subjects().into_iter().filter(|subject| subject.raises);
        let missed = raising.map(|subject| subject.search(more, (20, 13)).missed);
        let missed: u64 = missed.sum();
        assert!(missed > 0, "{name}");
    }
}
