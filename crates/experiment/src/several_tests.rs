use super::*;
use crate::costs::{Costs, Figure, name};
use vestal_core::Duration;
use vestal_policy::{Analysis, Options, Proof, Registry, assemble};
use vestal_result::bench::{Dispatch, Mechanism, Primitive};
use vestal_workload::generate::{Random, Recipe};
use vestal_workload::{Scenario, TaskSet};

/// A mechanism for frame tables with these costs, in ns: of a job, a switch, a frame, a sub-frame, a barrier.
fn frames(costs: &[u64; 5]) -> Vec<Mechanism> {
    let names = [
        name::JOB_START,
        name::SWITCH,
        name::FRAME,
        name::SUB_FRAME,
        name::BARRIER,
        name::JOB_END,
    ];
    let cost = |(name, nanos): (&str, u64)| Primitive {
        name: name.to_owned(),
        count: 1,
        mean_ns: nanos,
        median_ns: nanos,
        p99_ns: nanos,
        max_ns: nanos,
    };
    let values = costs.iter().copied().chain([0]);
    vec![Mechanism {
        name: "frames".to_owned(),
        what: String::new(),
        dispatch: Dispatch::Frames,
        not_run: None,
        heartbeat_ns: None,
        monitor: None,
        costs: names.into_iter().zip(values).map(cost).collect(),
    }]
}

fn simulated(registry: &Registry, costs: &[u64; 5]) -> costs::Simulated {
    let policy = registry.policy("ftts").unwrap();
    let test = registry.test("ftts").unwrap();
    let all = Costs::from(frames(costs));
    all.simulated((policy, test), Figure::default(), None)
        .unwrap()
}

/// What became of some drawn sets.
#[derive(Debug, Default)]
struct Seen {
    accepted: u64,
    refused: u64,
    /// Of the accepted ones.
    late: u64,
    dropped: u64,
}

/// The table of a set if the test accepts it with overheads.
fn proved(registry: &Registry, set: &TaskSet, told: &costs::Simulated) -> Option<System> {
    let by = (registry.policy("ftts").unwrap(), &Options::default());
    let given = vestal_analysis::Parameters::default();
    let analysis = Analysis::With(told.overheads);
    let system = assemble(registry, by, set, &given, analysis).ok()?;
    let mut domains = system.domains();
    domains
        .all(|domain| matches!(domain.guarantee.proof, Proof::Proved { .. }))
        .then(|| system.clone())
}

/// Sets that are drawn for two CPUs, with what the test is told and so many times as much taken.
fn seen(times: u64, sets: u64) -> Seen {
    let registry = Registry::default();
    let mut recipe = Recipe::named("sigrist2015").unwrap();
    for (key, value) in [("cpus", "2"), ("utilization", "0.7")] {
        recipe.set(key, value).unwrap();
    }
    let mut random = Random::new(5);
    let mut seen = Seen::default();
    for seed in 0..sets {
        let set = recipe.draw(seed).unwrap();
        // Together some tens of milliseconds, of frames of hundreds.
        let costs = [0; 5].map(|_: u64| random.below(12_000_000));
        let told = simulated(&registry, &costs);
        let taken = simulated(&registry, &costs.map(|cost| cost * times));
        let Some(system) = proved(&registry, &set, &told) else {
            seen.refused += 1;
            continue;
        };
        seen.accepted += 1;
        let tasks = set.to_tasks("ftts").unwrap();
        let overrun = Scenario::parse("overrun=0.3").unwrap();
        let vestal_workload::ScenarioSpec::Named(overrun) = overrun else {
            unreachable!("it names no file")
        };
        let mut is_late = false;
        for scenario in [Scenario::Lo, Scenario::Hi, overrun] {
            let is_lo = matches!(scenario, Scenario::Lo);
            let workload = Workload::new(&set, &tasks, scenario, seed);
            let run = Run {
                set: &set,
                workload: &workload,
                end: Instant::EPOCH.saturating_add(Duration::from_millis(10_000)),
                backlog: Backlog::UNLIMITED,
                costs: Some((&taken, 1)),
            };
            let (found, ended) = run.of(&system, tasks.len()).unwrap();
            ended.unwrap();
            let (jobs, frames) = (found.figures.jobs(), found.frames.unwrap());
            is_late |= jobs.missed > 0 || frames.overrun > 0 || frames.skipped > 0;
            // Without a long HI job no sub-frame is dropped: o leaves room for what it costs.
            is_late |= frames.unprovoked > 0 || is_lo && frames.lowest_skipped > 0;
            seen.dropped += frames.lowest_skipped;
        }
        seen.late += u64::from(is_late);
    }
    seen
}

/// Frames with what they cost end in time if the test accepts them so, and drop nothing without a reason; with more they do not.
#[test]
fn accepted_frames_end_in_time_where_they_cost_what_the_test_was_told() {
    let told = seen(1, 300);
    assert_eq!(told.late, 0, "{told:?}");
    assert!(told.accepted > 50 && told.refused > 50, "{told:?}");
    assert!(told.dropped > 1000, "{told:?}");
    let more = seen(3, 100);
    assert!(more.late > 5, "{more:?}");
}

/// A job waits at 8 for events, which it asks for, and needs 8 ms of its 32 after that: only in a world that has devices it is late.
#[test]
fn jobs_wait_for_devices_in_a_sweep_too() {
    let text = |events: u64| {
        format!(
            "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ms\"\n\
            [[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 32\nwcet = {{ LO = 16 }}\n\
            io = [{{ after = 8, device = \"d\", events = {events} }}]\n\
            [[server]]\nname = \"app\"\nkind = \"sporadic\"\nperiod = 32\ncapacity = 16\ntasks = [\"a\"]\n\
            [[server]]\nname = \"bh\"\nkind = \"sporadic\"\nperiod = 16\ncapacity = 4\n\
            [[device]]\nname = \"d\"\nserver = \"bh\"\ncost = 1\n"
        )
    };
    let registry = Registry::default();
    let by = (registry.policy("io-amc").unwrap(), &Options::default());
    // The first four are served until 12, the next from 24 to 28, the ninth from 40 on.
    let missed = [4, 8, 9].map(|events| {
        let set = TaskSet::parse("set.toml", &text(events)).unwrap();
        let given = vestal_analysis::Parameters::default();
        let system = assemble(&registry, by, &set, &given, Analysis::Ask).unwrap();
        check(&system, false).unwrap();
        let tasks = set.to_tasks("io-amc").unwrap();
        let workload = Workload::new(&set, &tasks, Scenario::Lo, 1);
        let run = Run {
            set: &set,
            workload: &workload,
            end: Instant::EPOCH.saturating_add(Duration::from_millis(64)),
            backlog: Backlog::UNLIMITED,
            costs: None,
        };
        let (found, ended) = run.of(&system, tasks.len()).unwrap();
        ended.unwrap();
        found.figures.tasks()[0].missed > 0
    });
    assert_eq!(missed, [false, true, true]);
}
