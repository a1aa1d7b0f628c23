//! What must hold between tests, and under changes that do not change the problem.

use crate::common;

use common::{Random, problem, random_set, task};
use std::collections::BTreeMap;
use vestal_analysis::schedulability::pt;
use vestal_analysis::{
    Decision, Outcome, Parameter, Problem, Reason, Scratch, Test, Verdict, find, tests,
};
use vestal_core::{Duration, LevelSet, Service, Task, TaskId, Wcet};

/// The chain smc:printed => smc => amc-rtb, on given priorities and through Audsley's algorithm;
/// each step is to be strict somewhere.
#[test]
fn printed_smc_implies_smc_implies_amc_rtb() {
    let mut random = Random::new(11);
    let mut scratch = Scratch::default();
    let chain = [("smc", Some("printed")), ("smc", None), ("amc-rtb", None)];
    let mut strictly = [[0; 2]; 2];
    for _ in 0..20_000 {
        let (levels, tasks) = random_set(&mut random);
        let given: Vec<u32> = random
            .permutation(tasks.len())
            .into_iter()
            .map(|p| u32::try_from(p).unwrap())
            .collect();
        let free = problem(levels, tasks);
        let fixed = free.clone().with_priorities(given).unwrap();
        for (set, counts) in [&free, &fixed].into_iter().zip(&mut strictly) {
            let accepted = chain
                .map(|(name, variant)| find(name, variant).unwrap().accepts(set, &mut scratch));
            for (step, count) in accepted.windows(2).zip(counts) {
                assert!(!step[0] || step[1], "{accepted:?} {:?}", set.tasks());
                *count += u32::from(!step[0] && step[1]);
            }
        }
    }
    println!("sets that only the later test accepts (free, fixed): {strictly:?}");
    assert!(
        strictly.iter().flatten().all(|&count| count > 0),
        "{strictly:?}"
    );
}

/// The tests that are neither for finite job sets nor for servers nor for levels of MC², which a problem has to name.
fn for_tasks() -> impl Iterator<Item = &'static Test> {
    tests()
        .iter()
        .filter(|test| !test.is_for_job_sets && !test.is_for_servers)
        .filter(|test| !test.takes.contains(&Parameter::Tables))
}

/// Every task to its position in a permuted set.
fn renamed(outcome: &Outcome, new_index_of: &[usize]) -> Outcome {
    let mut result = outcome.clone();
    for (old, &new) in new_index_of.iter().enumerate() {
        result.tasks[new] = outcome.tasks[old].clone();
    }
    let priorities = result.tasks.iter().map(|task| task.priority).collect();
    result.parameters.priorities = priorities;
    if let Some(patterns) = &mut result.parameters.patterns {
        let before = patterns.clone();
        for (pattern, &new) in before.into_iter().zip(new_index_of) {
            patterns[new] = pattern;
        }
    }
    if let Some(deadlines) = &mut result.parameters.virtual_deadlines {
        let before = deadlines.clone();
        for (deadline, &new) in before.into_iter().zip(new_index_of) {
            deadlines[new] = deadline;
        }
    }
    if let Some(instants) = &mut result.parameters.zero_slack {
        let before = instants.clone();
        for (instant, &new) in before.into_iter().zip(new_index_of) {
            instants[new] = instant;
        }
    }
    if let Some(slices) = &mut result.parameters.slices {
        let before = slices.clone();
        for (count, &new) in before.into_iter().zip(new_index_of) {
            slices[new] = count;
        }
    }
    result
}

/// Ties are broken by the position in the set, so the sets here have no two equal periods, deadlines
/// or priorities.
#[test]
fn renaming_tasks_renames_the_outcome() {
    let mut random = Random::new(12);
    let mut telling = 0;
    for _ in 0..10_000 {
        let (levels, tasks) = random_set(&mut random);
        let new_index_of = random.permutation(tasks.len());
        let mut permuted = tasks.clone();
        for (old, &new) in new_index_of.iter().enumerate() {
            permuted[new] = tasks[old];
        }
        let (set, permuted) = (problem(levels, tasks), problem(levels, permuted));
        if has_ties(set.tasks()) {
            continue;
        }
        for test in for_tasks() {
            if test.name == "pt" && has_slice_ties(set.tasks()) {
                continue;
            }
            let (before, mut after) = (test.analyse(&set), test.analyse(&permuted));
            assert_eq!(before.verdict, after.verdict, "{test} {:?}", set.tasks());
            // Which of several jobs that pass is taken first depends on the positions of their tasks.
            let lists = &before.parameters.job_priorities;
            assert_eq!(lists.is_some(), after.parameters.job_priorities.is_some());
            after.parameters.job_priorities.clone_from(lists);
            if before.verdict == Verdict::Schedulable {
                assert_eq!(
                    renamed(&before, &new_index_of),
                    after,
                    "{test} {:?}",
                    set.tasks()
                );
                telling += 1;
            }
        }
    }
    assert!(telling > 1000, "{telling}");
}

/// Two tasks of one criticality have the same slice period T / n.
fn has_slice_ties(tasks: &[Task]) -> bool {
    let counts = pt::oracle::slices_by_rule(tasks);
    let same = |one: usize, other: usize| {
        tasks[one].criticality == tasks[other].criticality
            && tasks[one].period.as_nanos() * counts[other]
                == tasks[other].period.as_nanos() * counts[one]
    };
    (0..tasks.len()).any(|one| (0..one).any(|other| same(one, other)))
}

fn has_ties(tasks: &[Task]) -> bool {
    tasks.iter().enumerate().any(|(position, one)| {
        tasks[..position]
            .iter()
            .any(|other| one.period == other.period || one.deadline == other.deadline)
    })
}

/// What needs nothing counts for a nanosecond in each unit; such tasks need one tick here.
#[test]
fn a_longer_unit_of_time_changes_only_the_unit() {
    let mut random = Random::new(13);
    for _ in 0..5000 {
        let (levels, mut tasks) = random_set(&mut random);
        for task in &mut tasks {
            *task = with_something_to_do(task);
        }
        let factor = random.between(2, 1_000_000_007);
        let scaled = problem(
            levels,
            tasks.iter().map(|task| scale(task, factor)).collect(),
        );
        let set = problem(levels, tasks);
        // The closed form of fjp-lb is rounded down to the unit. Slices end at whole nanoseconds, and
        // `amc-ia:full` looks at all of them: a shorter unit comes closer to what there is between.
        // So are zero-slack instants; the tests of `zss` scale them by themselves.
        let rounds = |test: &Test| {
            ["fjp-lb", "pt", "zss"].contains(&test.name) || test.variant == Some("full")
        };
        for test in for_tasks().filter(|test| !rounds(test)) {
            let (mut before, mut after) = (test.analyse(&set), test.analyse(&scaled));
            for time in before.parameters.busy_periods.iter_mut().flatten() {
                *time = time.saturating_mul(factor);
            }
            for time in before.tasks.iter_mut().flat_map(|task| &mut task.responses) {
                *time = time.map(|time| time.saturating_mul(factor));
            }
            // How far beyond the deadline the search came is not part of the guarantee.
            for outcome in [&mut before, &mut after] {
                if let Some(Reason::ResponseExceedsDeadline {
                    at_least, deadline, ..
                }) = &mut outcome.why
                {
                    (*at_least, *deadline) = (Duration::ZERO, Duration::ZERO);
                }
                // Neither is which of several windows is found.
                if let Some(Reason::DemandExceedsWindow { window, demand }) = &mut outcome.why {
                    (*window, *demand) = (Duration::ZERO, Duration::ZERO);
                }
            }
            // Whole numbers of a shorter unit come closer to x T.
            let coarse = before.parameters.virtual_deadlines.take();
            let fine = after.parameters.virtual_deadlines.take();
            assert!(coarse.is_none() || fine.is_some());
            for (coarse, fine) in coarse.iter().flatten().zip(fine.iter().flatten()) {
                assert_eq!(coarse.as_nanos(), fine.as_nanos() / factor);
            }
            assert_eq!(before, after, "{test} times {factor}: {:?}", set.tasks());
        }
    }
}

fn with_something_to_do(task: &Task) -> Task {
    let wcet = wcet_of(task, |c| c.max(Service::from_nanos(1)));
    Task { wcet, ..*task }
}

fn scale(task: &Task, factor: u64) -> Task {
    Task {
        period: task.period.saturating_mul(factor),
        deadline: task.deadline.saturating_mul(factor),
        wcet: wcet_of(task, |c| c.saturating_mul(factor)),
        ..*task
    }
}

fn wcet_of(task: &Task, each: impl Fn(Service) -> Service) -> Wcet {
    let levels = LevelSet::new(8).unwrap();
    let values: Vec<Service> = levels
        .iter()
        .map(|level| each(task.wcet.at(level)))
        .collect();
    Wcet::new(&values).unwrap()
}

#[test]
fn scratch_left_by_one_problem_does_not_reach_the_next() {
    let mut random = Random::new(14);
    let mut shared = Scratch::default();
    let mut counts = BTreeMap::new();
    for _ in 0..3000 {
        let (levels, tasks) = random_set(&mut random);
        let set = problem(levels, tasks);
        for test in for_tasks() {
            let fresh = test.accepts(&set, &mut Scratch::default());
            assert_eq!(
                test.accepts(&set, &mut shared),
                fresh,
                "{test} {:?}",
                set.tasks()
            );
            let outcome = test.analyse(&set);
            assert_eq!(outcome.why.is_none(), fresh);
            let schedulable = outcome.verdict == Verdict::Schedulable;
            assert_eq!(schedulable, fresh && test.is_sound());
            // One question says the same as both answers.
            let decided = match outcome.why {
                None => Decision::Holds,
                Some(why) if why.is_undecided() => Decision::Undecided,
                Some(_) => Decision::Fails,
            };
            assert_eq!(test.decides(&set, &mut shared), decided, "{test}");
            *counts.entry((test.to_string(), fresh)).or_insert(0) += 1;
        }
    }
    println!("sets that each test refused and accepted: {counts:?}");
    // For tests of every kind of search; some others are for other sets than these.
    for name in [
        "rms", "smc", "pt", "amc-rtb", "amc-max", "amc-ia", "zss", "fjp-own", "edf",
    ] {
        for accepted in [false, true] {
            let seen = counts.get(&(name.to_owned(), accepted));
            assert!(seen.is_some_and(|&seen| seen > 100), "{name} {accepted}");
        }
    }
}

#[test]
fn an_empty_set_is_schedulable() {
    let nothing = problem(2, Vec::new());
    for test in for_tasks() {
        let outcome = test.analyse(&nothing);
        let says = outcome.claim.unwrap_or(outcome.verdict);
        let expected = test.kind.claim(true).unwrap_or(test.kind.verdict(true));
        assert_eq!(says, expected, "{test}");
        assert_eq!(outcome.why, None, "{test}");
        assert!(test.accepts(&nothing, &mut Scratch::default()));
    }
}

#[test]
fn tests_are_found_by_name_and_variant_only() {
    for test in tests() {
        assert_eq!(
            find(test.name, test.variant).unwrap().to_string(),
            test.to_string()
        );
    }
    assert_eq!(
        find("smc", Some("printed")).unwrap().to_string(),
        "smc:printed"
    );
    assert!(find("smc", Some("nothing")).is_none());
    assert!(find("amc-rtb", Some("printed")).is_none());
    assert!(find("nothing", None).is_none());
}

#[test]
fn a_problem_that_is_not_well_formed_is_refused_with_the_reason() {
    use vestal_analysis::{Parameter, ParameterError, ProblemError};
    let two = LevelSet::new(2).unwrap();
    let refused = |tasks: Vec<Task>| Problem::new(tasks, two).unwrap_err();
    let good = task(0, 10, 10, &[1]);
    let late = Task {
        deadline: Duration::from_nanos(11),
        ..good
    };
    assert!(matches!(
        refused(vec![good, late]),
        ProblemError::Task {
            task: TaskId(1),
            ..
        }
    ));
    assert!(matches!(
        refused(vec![task(2, 10, 10, &[1])]),
        ProblemError::UnknownLevel {
            task: TaskId(0),
            levels: 2,
            ..
        }
    ));
    let long = Task {
        period: Duration::from_nanos((1 << 62) + 1),
        ..good
    };
    assert_eq!(
        refused(vec![long]),
        ProblemError::PeriodBeyondHorizon { task: TaskId(0) }
    );
    let set = problem(2, vec![good, good]);
    assert_eq!(
        set.with_priorities(vec![1]).unwrap_err(),
        ProblemError::Parameter(ParameterError::Count {
            parameter: Parameter::Priorities,
            tasks: 2,
            found: 1
        })
    );
}
