//! Zero-slack instants: the paper's numbers, the slow twin, and what the tests say of one another.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod common;

use common::{Random, large_set, problem, random_set, task};
use std::cmp::Reverse;
use vestal_analysis::oracle::{SlackFormula, zero_slack_instants, zero_slack_responses};
use vestal_analysis::order::priorities_of;
use vestal_analysis::{Kind, Problem, Reason, Scratch, Test, Verdict, find, tests};
use vestal_core::order::ClassicOrder;
use vestal_core::{Duration, Level, Task, TaskId};

const FORMS: [(Option<&str>, SlackFormula); 3] = [
    (None, SlackFormula::Sporadic),
    (Some("tightened"), SlackFormula::Tightened),
    (Some("harmonic"), SlackFormula::Harmonic),
];

fn zss(variant: Option<&str>) -> &'static Test {
    find("zss", variant).unwrap()
}

fn spans(values: &[u64]) -> Vec<Duration> {
    values.iter().copied().map(Duration::from_nanos).collect()
}

/// Table I of Huang, Gill and Lu (2014): tau_l and tau_h.
fn table_one() -> Vec<Task> {
    vec![task(0, 5, 5, &[3, 3]), task(1, 10, 10, &[4, 6])]
}

#[test]
fn table_one_has_the_instant_6_without_jobs_under_way_and_is_accepted() {
    let outcome = zss(Some("harmonic")).analyse(&problem(2, table_one()));
    assert_eq!(outcome.parameters.zero_slack, Some(spans(&[5, 6])));
    assert_eq!(outcome.kind, Kind::Unsafe);
    assert_eq!(outcome.verdict, Verdict::NotProven);
    assert_eq!(outcome.claim, Some(Verdict::Schedulable));
    // 3 + 2 units that tau_h has left at 6; 6 + 3 + 1.
    assert_eq!(outcome.tasks[0].responses, [Some(Duration::from_nanos(5))]);
    assert_eq!(
        outcome.tasks[1].responses[1],
        Some(Duration::from_nanos(10))
    );
    assert_eq!(outcome.parameters.priorities, Some(vec![2, 1]));
}

#[test]
fn table_one_has_the_instant_4_for_sporadic_tasks_and_is_not_accepted() {
    let outcome = zss(None).analyse(&problem(2, table_one()));
    let instants = outcome.parameters.zero_slack.unwrap();
    assert_eq!(instants[1], Duration::from_nanos(4));
    assert_eq!(outcome.verdict, Verdict::NotProven);
    assert!(matches!(
        outcome.why,
        Some(Reason::ResponseExceedsDeadline {
            task: TaskId(0),
            level: Level(0),
            ..
        })
    ));
    assert_eq!(
        outcome.tasks[1].responses[1],
        Some(Duration::from_nanos(10))
    );
}

fn order_of(set: &Problem) -> Vec<TaskId> {
    let tasks = set.tasks();
    let mut order: Vec<TaskId> = (0..).map(TaskId).take(tasks.len()).collect();
    order.sort_by_key(|&id| match set.priorities() {
        Some(given) => Reverse(given[id.index()]),
        None => Reverse(ClassicOrder::RateMonotonic.priority_of(id, tasks).unwrap()),
    });
    order
}

fn is_hopeless(set: &Problem) -> bool {
    let mut tasks = set.tasks().iter();
    tasks.any(|task| task.own_wcet().exceeds(task.deadline))
}

/// Compares instants, verdicts and bounds with the twin; whether the set is accepted.
fn compare(set: &Problem, variant: Option<&str>, formula: SlackFormula) -> bool {
    let (test, order) = (zss(variant), order_of(set));
    let outcome = test.analyse(set);
    let found = zero_slack_instants(set.tasks(), formula, &order);
    let expected: Vec<Duration> = found.iter().map(|z| z.unwrap_or(Duration::ZERO)).collect();
    let accepted = found.iter().all(Option::is_some);
    let chosen = outcome.parameters.zero_slack.as_ref().unwrap();
    assert_eq!(*chosen, expected, "{test} {order:?} {set:?}");
    assert_eq!(outcome.why.is_none(), accepted, "{test} {order:?} {set:?}");
    assert_eq!(
        test.accepts(set, &mut Scratch::default()),
        accepted,
        "{test} {order:?} {set:?}"
    );
    let responses = zero_slack_responses(set.tasks(), formula, &order, &expected);
    for (task, expected) in outcome.tasks.iter().zip(responses) {
        // Bounds above one that exceeds the deadline are not looked for.
        let until = expected.iter().position(Option::is_none);
        let until = until.map_or(expected.len(), |first| first + 1);
        assert_eq!(task.responses[..until], expected[..until], "{test} {set:?}");
    }
    accepted
}

#[test]
fn instants_and_bounds_are_those_of_the_slow_twin() {
    let mut random = Random::new(11);
    let (mut accepted, mut total) = ([0_u32; 3], 0_u32);
    while total < 6000 {
        let (levels, tasks) = random_set(&mut random);
        let mut set = problem(levels, tasks);
        if is_hopeless(&set) {
            for (variant, _) in FORMS {
                assert!(!zss(variant).accepts(&set, &mut Scratch::default()));
                assert!(zss(variant).analyse(&set).why.is_some());
            }
            continue;
        }
        if random.once_in(3) {
            let count = set.tasks().len();
            let order = random.permutation(count);
            let order: Vec<TaskId> = order.iter().map(|&i| TaskId(i as u16)).collect();
            set = set.with_priorities(priorities_of(&order, count)).unwrap();
        }
        total += 1;
        for (count, (variant, formula)) in accepted.iter_mut().zip(FORMS) {
            *count += u32::from(compare(&set, variant, formula));
        }
    }
    let percent = accepted.map(|count| count * 100 / total);
    assert!(percent.iter().all(|p| (5..=95).contains(p)), "{percent:?}");
    assert!(accepted[0] < accepted[1] && accepted[1] < accepted[2]);
}

/// What is chosen is good when it is given, an earlier instant is as good for its own task, and a
/// later one is refused.
#[test]
fn given_instants_are_decided_about() {
    let mut random = Random::new(12);
    let mut refused = 0;
    for _ in 0..20_000 {
        let (levels, tasks) = random_set(&mut random);
        let set = problem(levels, tasks);
        let outcome = zss(None).analyse(&set);
        if outcome.why.is_some() {
            continue;
        }
        let chosen = outcome.parameters.zero_slack.unwrap();
        let decide = |instants: Vec<Duration>| {
            let given = set.clone().with_zero_slack(instants).unwrap();
            let accepts = zss(None).accepts(&given, &mut Scratch::default());
            let outcome = zss(None).analyse(&given);
            assert_eq!(outcome.why.is_none(), accepts);
            assert_eq!(outcome.parameters.zero_slack.as_deref(), given.zero_slack());
            accepts
        };
        assert!(decide(chosen.clone()));
        let earlier = chosen
            .iter()
            .map(|z| Duration::from_nanos(z.as_nanos() / 2));
        assert!(decide(earlier.collect()));
        for place in 0..chosen.len() {
            let mut later = chosen.clone();
            if later[place] < set.tasks()[place].deadline {
                later[place] = Duration::from_nanos(later[place].as_nanos() + 1);
                assert!(!decide(later));
                refused += 1;
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn bad_instants_are_no_problem_to_be_solved() {
    let set = || problem(2, table_one());
    assert!(set().with_zero_slack(spans(&[5])).is_err());
    assert!(set().with_zero_slack(spans(&[5, 11])).is_err());
    assert!(set().with_zero_slack(spans(&[0, 10])).is_ok());
}

/// Large periods: the search takes as many steps as there are jobs, not as there are nanoseconds.
#[test]
fn large_sets_with_nanoseconds_end_and_tightening_never_hurts() {
    let mut random = Random::new(13);
    let mut scratch = Scratch::default();
    let (mut plain, mut tightened) = (0, 0);
    for _ in 0..300 {
        let mut tasks = large_set(&mut random, 5);
        for task in &mut tasks {
            // A fifth of the load: sets of which some are accepted.
            let fifth = |nanos: u64| vestal_core::Service::from_nanos(nanos.div_ceil(5));
            let values: Vec<_> = (0..=task.criticality.0)
                .map(|level| fifth(task.wcet.at(Level(level)).as_nanos()))
                .collect();
            task.wcet = vestal_core::Wcet::new(&values).unwrap();
        }
        let set = problem(3, tasks);
        let accepted = zss(None).accepts(&set, &mut scratch);
        let more = zss(Some("tightened")).accepts(&set, &mut scratch);
        assert!(more || !accepted);
        plain += u32::from(accepted);
        tightened += u32::from(more);
        assert_eq!(zss(None).analyse(&set).why.is_none(), accepted);
    }
    assert!(plain > 15 && tightened < 285, "{plain} {tightened}");
}

#[test]
fn only_the_harmonic_form_is_unsafe() {
    let kinds: Vec<_> = tests().iter().filter(|test| test.name == "zss").collect();
    let unsafe_ones = kinds.iter().filter(|test| test.kind == Kind::Unsafe);
    assert!(unsafe_ones.map(|test| test.variant).eq([Some("harmonic")]));
    assert_eq!(kinds.len(), 3);
}

/// The set that `examples/zss-carry-in.toml` has, too; the simulator's drawings show the miss.
#[test]
fn a_suspended_job_that_is_carried_in_is_seen_by_the_sound_forms_only() {
    let set = problem(2, vec![task(0, 4, 4, &[3]), task(1, 8, 8, &[2, 3])]);
    let mut scratch = Scratch::default();
    let harmonic = zss(Some("harmonic")).analyse(&set);
    assert_eq!(harmonic.claim, Some(Verdict::Schedulable));
    assert_eq!(harmonic.parameters.zero_slack, Some(spans(&[4, 6])));
    assert!(!zss(None).accepts(&set, &mut scratch));
    assert!(!zss(Some("tightened")).accepts(&set, &mut scratch));
}

/// In a finer unit instants are found that lie between two of the coarser one; otherwise a longer unit
/// of time changes only the unit.
#[test]
fn a_longer_unit_of_time_rounds_instants_down_and_changes_no_verdict() {
    let mut random = Random::new(15);
    for _ in 0..2000 {
        let (levels, tasks) = random_set(&mut random);
        let factor = random.between(2, 1_000_000_007);
        let finer = tasks.iter().map(|task| {
            let values = (0..8).map(|level| task.wcet.at(Level(level)).saturating_mul(factor));
            let values: Vec<_> = values.collect();
            Task {
                period: task.period.saturating_mul(factor),
                deadline: task.deadline.saturating_mul(factor),
                wcet: vestal_core::Wcet::new(&values).unwrap(),
                ..*task
            }
        });
        let finer = problem(levels, finer.collect());
        let set = problem(levels, tasks);
        let (coarse, fine) = (zss(None).analyse(&set), zss(None).analyse(&finer));
        assert_eq!(coarse.verdict, fine.verdict, "{set:?}");
        let (Some(coarse), Some(fine)) = (coarse.parameters.zero_slack, fine.parameters.zero_slack)
        else {
            continue;
        };
        for (coarse, fine) in coarse.iter().zip(fine) {
            assert_eq!(coarse.as_nanos(), fine.as_nanos() / factor, "{set:?}");
        }
    }
}
