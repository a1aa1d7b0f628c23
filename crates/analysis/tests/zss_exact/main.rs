//! Zero-slack scheduling against every run: small sets, all releases, all execution times.
//!
//! What `zss` and `zss:tightened` accept is safe, with the instants they choose and within the bounds they
//! give; what wrong variants accept is not always. `VESTAL_EXACT_SETS` is how many sets are drawn.
#![cfg(feature = "controls")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test may fail loudly and say how much it has seen"
)]

#[path = "../common/mod.rs"]
mod common;
mod reach;

use common::{Random, problem, task};
use reach::{Reach, System};
use vestal_analysis::{Kind, Outcome, Parameters, Problem, Scratch, Test, controls, find};
use vestal_core::{Duration, Level, Task};

/// Sets with more states in some level's runs are left undecided, and counted.
const STATES_MAX: usize = 60_000;

fn zss(variant: Option<&str>) -> &'static Test {
    find("zss", variant).unwrap()
}

fn control(variant: &str) -> &'static Test {
    let mut all = controls::tests().iter();
    all.find(|test| test.variant == Some(variant)).unwrap()
}

/// Two to four tasks near the border, with two or three levels.
fn small_set(random: &mut Random) -> Problem {
    let levels = random.between(2, 3);
    let count = if random.once_in(6) {
        4
    } else {
        random.between(2, 3)
    };
    let tasks = (0..count)
        .map(|_| {
            let criticality = random.between(0, levels - 1);
            let period = random.between(2, 8);
            let deadline = if random.once_in(2) {
                period
            } else {
                random.between(period.div_ceil(2), period)
            };
            let mut value = random.between(1, (period * 3 / (2 * count)).max(1));
            // Now and then nothing below the own level.
            let nothing_below = if random.once_in(6) { criticality } else { 0 };
            let wcet: Vec<u64> = (0..=criticality)
                .map(|level| {
                    if level > 0 {
                        value += random.between(0, 2);
                    }
                    if level < nothing_below {
                        0
                    } else {
                        value.min(deadline)
                    }
                })
                .collect();
            task(criticality as u8, period, deadline, &wcet)
        })
        .collect();
    problem(levels as usize, tasks)
}

/// The tasks as `outcome` runs them, the most urgent first, and where each stands in the set.
fn in_order(set: &Problem, outcome: &Outcome) -> (Vec<(Task, u64)>, Vec<usize>) {
    let priorities = outcome.parameters.priorities.as_ref().unwrap();
    let instants = outcome.parameters.zero_slack.as_ref().unwrap();
    let mut order: Vec<usize> = (0..priorities.len()).collect();
    order.sort_by_key(|&task| std::cmp::Reverse(priorities[task]));
    let entry = |&task: &usize| (set.tasks()[task], instants[task].as_nanos());
    (order.iter().map(entry).collect(), order)
}

/// What an exhaustive search says about sets that a test accepts.
#[derive(Debug, Default)]
struct Counts {
    drawn: u32,
    accepted: u32,
    /// Of the accepted ones: by all runs of all levels.
    safe: u32,
    undecided: u32,
    refuted: u32,
    states: usize,
    /// Of tasks in the runs of their own levels: how many, and how many come to their bounds.
    bounds: u32,
    reached: u32,
    example: Option<String>,
}

/// Checks what `test` claims about the set, and its bounds.
fn check(set: &Problem, test: &Test, counts: &mut Counts) {
    let outcome = test.analyse(set);
    let (tasks, order) = in_order(set, &outcome);
    let mut undecided = false;
    for level in (0..set.levels().count() as u8).map(Level) {
        if !tasks.iter().any(|(task, _)| task.criticality == level) {
            continue;
        }
        let system = System {
            tasks: &tasks,
            numbers: &order,
            level,
        };
        match system.explore(STATES_MAX) {
            Reach::Safe { states, longest } => {
                counts.states += states;
                if test.kind == Kind::Unsafe {
                    continue;
                }
                for (&task, longest) in order.iter().zip(longest) {
                    let bound = outcome.tasks[task].responses.get(level.index());
                    let Some(bound) = bound.copied().flatten().map(Duration::as_nanos) else {
                        assert!(set.tasks()[task].criticality < level);
                        continue;
                    };
                    assert!(
                        longest <= bound,
                        "{test}: task {task} takes {longest}, bound {bound}, {set:?} {outcome:?}"
                    );
                    if set.tasks()[task].criticality == level {
                        counts.bounds += 1;
                        counts.reached += u32::from(longest == bound);
                    }
                }
            }
            Reach::Undecided => undecided = true,
            Reach::Miss { task, at, ticks } => {
                counts.refuted += 1;
                counts.example.get_or_insert_with(|| {
                    format!(
                        "{:?} misses at {at} in runs of {level:?}: {tasks:?} {ticks:?}",
                        order[task]
                    )
                });
                return;
            }
        }
    }
    counts.undecided += u32::from(undecided);
    counts.safe += u32::from(!undecided);
}

fn search(test: &Test, seed: u64, sets: u32) -> Counts {
    let mut random = Random::new(seed);
    let mut scratch = Scratch::default();
    let mut counts = Counts::default();
    for _ in 0..sets {
        let set = small_set(&mut random);
        counts.drawn += 1;
        if test.accepts(&set, &mut scratch) {
            counts.accepted += 1;
            check(&set, test, &mut counts);
            if test.kind != Kind::Unsafe && counts.refuted > 0 {
                break;
            }
        }
    }
    println!("{test}: {counts:?}");
    counts
}

fn sets(smoke: u32) -> u32 {
    let given = std::env::var("VESTAL_EXACT_SETS").ok();
    given.map_or(smoke, |text| text.parse().expect("a number of sets"))
}

fn is_safe(test: &Test, seed: u64) {
    let counts = search(test, seed, sets(1_500));
    assert_eq!(counts.refuted, 0, "{counts:?}");
    assert!(counts.accepted * 4 > counts.drawn, "{counts:?}");
    assert!(counts.safe * 10 > counts.accepted * 9, "{counts:?}");
    assert!(counts.reached * 2 > counts.bounds, "{counts:?}");
}

#[test]
fn what_zss_accepts_is_safe_in_every_run() {
    is_safe(zss(None), 1);
}

#[test]
fn what_zss_tightened_accepts_is_safe_in_every_run() {
    is_safe(zss(Some("tightened")), 2);
}

#[test]
fn what_zss_form_accepts_is_safe_in_every_run() {
    let counts = search(zss(Some("form")), 3, sets(1_500));
    assert!(counts.refuted == 0 && counts.safe > 50, "{counts:?}");
}

/// Some sets miss with the instants for which a wrong variant accepts them.
fn is_refuted(variant: &str, seed: u64, sets: u32) {
    let counts = search(control(variant), seed, sets);
    assert!(counts.refuted > 0, "{counts:?}");
}

#[test]
fn instants_at_the_deadlines_wherever_rms_accepts_are_refuted() {
    is_refuted("control-latest", 4, 1_500);
}

#[test]
fn forgetting_that_less_critical_tasks_may_be_late_is_refuted() {
    is_refuted("control-guaranteed-only", 5, 1_500);
}

#[test]
fn forgetting_suspended_jobs_under_way_is_refuted() {
    is_refuted("control-nothing-carried-in", 6, 1_500);
}

#[test]
fn forgetting_who_gets_ahead_is_refuted() {
    is_refuted("control-never-overtaken", 7, 1_500);
}

#[test]
fn the_form_without_jobs_under_way_is_refuted() {
    let counts = search(zss(Some("harmonic")), 8, 1_500);
    assert!(counts.refuted > 0, "{counts:?}");
}

/// `rms` accepts the set with the bounds 4, 1 and 3, and yet with Z = D the first task misses at 29.
#[test]
fn the_trap_misses_with_all_instants_at_the_deadlines() {
    let tasks = vec![
        task(1, 5, 4, &[1, 3]),
        task(0, 4, 3, &[1]),
        task(0, 6, 6, &[1]),
    ];
    let set = problem(2, tasks);
    let rms = find("rms", None).unwrap().analyse(&set);
    let own: Vec<_> = rms
        .tasks
        .iter()
        .map(|task| *task.responses.last().unwrap())
        .collect();
    assert_eq!(
        own,
        [4, 1, 3].map(|nanos| Some(Duration::from_nanos(nanos)))
    );
    let outcome = control("control-latest").analyse(&set);
    let (tasks, order) = in_order(&set, &outcome);
    let system = System {
        tasks: &tasks,
        numbers: &order,
        level: Level(1),
    };
    let Reach::Miss { task, at, ticks } = system.explore(STATES_MAX) else {
        panic!("no miss");
    };
    assert_eq!((order[task], at, ticks.len()), (0, 29, 29));
    // Given so, the instants are refused; `zss` finds others.
    let given = set.clone().with(&Parameters {
        zero_slack: Some(vec![
            Duration::from_nanos(4),
            Duration::from_nanos(3),
            Duration::from_nanos(6),
        ]),
        ..Parameters::default()
    });
    let mut scratch = Scratch::default();
    for variant in [None, Some("tightened"), Some("form")] {
        assert!(!zss(variant).accepts(given.as_ref().unwrap(), &mut scratch));
    }
    let mut counts = Counts::default();
    check(&set, zss(None), &mut counts);
    assert!(
        zss(None).accepts(&set, &mut scratch) && counts.safe == 1,
        "{counts:?}"
    );
}
