//! Zero-slack instants: the paper's numbers, the slow twin, and what the tests say of one another.

use crate::common;

use common::{Random, large_set, problem, random_set, task};
use std::cmp::Reverse;
use vestal_analysis::order::priorities_of;
use vestal_analysis::schedulability::zss::oracle::{
    SlackFormula, zero_slack_bounds, zero_slack_instants, zero_slack_proves, zero_slack_responses,
    zero_slack_search,
};
use vestal_analysis::{Kind, Parameters, Problem, Reason, Scratch, Test, Verdict, find, tests};
use vestal_core::order::ClassicOrder;
use vestal_core::{Duration, Level, Task, TaskId};

/// The tests that look at each task by itself, with their twins.
const FORMS: [(Option<&str>, SlackFormula); 2] = [
    (Some("form"), SlackFormula::Sporadic),
    (Some("harmonic"), SlackFormula::Harmonic),
];

/// The tests that prove level by level, and whether the tightened form helps them.
const BY_LEVEL: [(Option<&str>, bool); 2] = [(None, false), (Some("tightened"), true)];

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

fn is_trivially_infeasible(set: &Problem) -> bool {
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

/// Random sets, with priorities of their own now and then.
fn sets(seed: u64) -> impl Iterator<Item = Problem> {
    let mut random = Random::new(seed);
    std::iter::repeat_with(move || {
        let (levels, tasks) = random_set(&mut random);
        let set = problem(levels, tasks);
        if random.once_in(3) {
            let count = set.tasks().len();
            let order = random.permutation(count);
            let order: Vec<TaskId> = order.iter().map(|&i| TaskId(i as u16)).collect();
            set.with_priorities(priorities_of(&order, count)).unwrap()
        } else {
            set
        }
    })
}

#[test]
fn no_form_accepts_what_does_not_fit_alone() {
    let trivially_infeasible = sets(10).filter(is_trivially_infeasible).take(200);
    for set in trivially_infeasible {
        for test in tests().iter().filter(|test| test.name == "zss") {
            assert!(!test.accepts(&set, &mut Scratch::default()));
            assert!(test.analyse(&set).why.is_some());
        }
    }
}

#[test]
fn instants_and_bounds_of_the_forms_are_those_of_the_slow_twin() {
    const SETS: usize = 6000;
    let mut accepted = [0; 2];
    for set in sets(11)
        .filter(|set| !is_trivially_infeasible(set))
        .take(SETS)
    {
        for (count, (variant, formula)) in accepted.iter_mut().zip(FORMS) {
            *count += usize::from(compare(&set, variant, formula));
        }
    }
    let percent = accepted.map(|count| count * 100 / SETS);
    assert!(percent.iter().all(|p| (5..=95).contains(p)), "{percent:?}");
    assert!(accepted[0] < accepted[1]);
}

/// What the search accepts the slow search accepts, and the other way round; what it chooses is proved
/// by the slow equations, with the same bounds.
#[test]
fn levels_are_proved_as_by_the_slow_twin() {
    const SETS: usize = 3000;
    let mut accepted = [0; 3];
    for set in sets(16)
        .filter(|set| !is_trivially_infeasible(set))
        .take(SETS)
    {
        let order = order_of(&set);
        let form = zss(Some("form")).accepts(&set, &mut Scratch::default());
        accepted[0] += usize::from(form);
        for (count, (variant, tightened)) in accepted[1..].iter_mut().zip(BY_LEVEL) {
            let test = zss(variant);
            let expected = zero_slack_search(set.tasks(), &order, tightened);
            let outcome = test.analyse(&set);
            assert_eq!(outcome.why.is_none(), expected, "{test} {order:?} {set:?}");
            assert_eq!(test.accepts(&set, &mut Scratch::default()), expected);
            assert!(expected || !form, "{test} {set:?}");
            *count += usize::from(expected);
            let instants = outcome.parameters.zero_slack.unwrap();
            let proved = zero_slack_proves(set.tasks(), &order, &instants, tightened);
            assert_eq!(proved, expected, "{test} {instants:?} {set:?}");
            if !expected || tightened {
                continue;
            }
            for level in set.levels().iter() {
                let bounds = zero_slack_bounds(set.tasks(), &order, &instants, level);
                for (task, bound) in bounds.into_iter().enumerate() {
                    if let Some(found) = outcome.tasks[task].responses.get(level.index()) {
                        assert_eq!(*found, bound, "{task} at {level:?} {set:?}");
                    }
                }
            }
        }
    }
    let [form, plain, tightened] = accepted.map(|count| count * 100 / SETS);
    println!("accepted: {accepted:?} of {SETS}");
    assert!(
        form * 3 < plain * 2 && plain < 95 && form > 5,
        "{accepted:?}"
    );
    assert!(plain <= tightened, "{accepted:?}");
}

/// Any instants, proved or not, are decided about as by the slow equations.
#[test]
fn given_instants_are_decided_about() {
    let mut random = Random::new(12);
    let mut decided = [[0_u32; 2]; 2];
    for set in sets(17)
        .filter(|set| !is_trivially_infeasible(set))
        .take(4000)
    {
        let deadlines = set.tasks().iter().map(|task| task.deadline.as_nanos());
        let instants: Vec<u64> = deadlines
            .map(|deadline| {
                if random.once_in(3) {
                    deadline
                } else {
                    random.between(0, deadline)
                }
            })
            .collect();
        let given = set
            .clone()
            .with(&Parameters {
                zero_slack: Some(spans(&instants)),
                ..Parameters::default()
            })
            .unwrap();
        for (counts, (variant, tightened)) in decided.iter_mut().zip(BY_LEVEL) {
            let expected =
                zero_slack_proves(set.tasks(), &order_of(&set), &spans(&instants), tightened);
            let accepts = zss(variant).accepts(&given, &mut Scratch::default());
            let outcome = zss(variant).analyse(&given);
            assert_eq!(accepts, expected, "{variant:?} {given:?}");
            assert_eq!(outcome.why.is_none(), expected, "{variant:?} {given:?}");
            assert_eq!(outcome.parameters.zero_slack, given.given().zero_slack);
            counts[usize::from(expected)] += 1;
        }
    }
    println!("refused and proved: {decided:?}");
    assert!(
        decided.iter().flatten().all(|&count| count > 300),
        "{decided:?}"
    );
}

/// All instants there are, of small sets with two and more levels. With two, where no task is suspended in
/// LO runs, the search misses none.
#[test]
fn the_search_misses_few_instants_that_can_be_proved() {
    let (mut accepted, mut missed) = (0, 0);
    let small = |set: &Problem| {
        let choices = set.tasks().iter().map(|task| task.deadline.as_nanos() + 1);
        set.tasks().len() > 1 && choices.product::<u64>() <= 3_000
    };
    for set in sets(19)
        .filter(|set| !is_trivially_infeasible(set) && small(set))
        .take(1_200)
    {
        if zss(None).accepts(&set, &mut Scratch::default()) {
            accepted += 1;
            continue;
        }
        let order = order_of(&set);
        let mut instants = vec![0; set.tasks().len()];
        loop {
            if zero_slack_proves(set.tasks(), &order, &spans(&instants), false) {
                println!("{instants:?} {:?}", set.tasks());
                missed += 1;
                break;
            }
            // The next vector, as a number whose digits are the instants.
            let Some(position) = (0..instants.len())
                .find(|&position| instants[position] < set.tasks()[position].deadline.as_nanos())
            else {
                break;
            };
            instants[..position].fill(0);
            instants[position] += 1;
        }
    }
    println!("{accepted} accepted, {missed} missed");
    assert!(
        accepted > 300 && missed * 100 <= accepted,
        "{accepted} {missed}"
    );
}

/// No instant that is chosen can be a unit later while the others stay.
#[test]
fn instants_are_as_late_as_they_can_be() {
    let (mut refused, mut undecided) = (0, 0);
    for set in sets(18)
        .filter(|set| !is_trivially_infeasible(set))
        .take(4000)
    {
        let outcome = zss(None).analyse(&set);
        if outcome.why.is_some() {
            continue;
        }
        let chosen = outcome.parameters.zero_slack.unwrap();
        for (position, task) in set.tasks().iter().enumerate() {
            let mut later = chosen.clone();
            if later[position] < task.deadline {
                later[position] = Duration::from_nanos(later[position].as_nanos() + 1);
                let given = set
                    .clone()
                    .with(&Parameters {
                        zero_slack: Some(later),
                        ..Parameters::default()
                    })
                    .unwrap();
                if zss(None).accepts(&given, &mut Scratch::default()) {
                    undecided += 1;
                } else {
                    refused += 1;
                }
            }
        }
    }
    println!("{refused} later instants refused, {undecided} not");
    assert!(refused > 100 && undecided == 0, "{refused} {undecided}");
}

#[test]
fn bad_instants_are_no_problem_to_be_solved() {
    let set = || problem(2, table_one());
    assert!(
        set()
            .with(&Parameters {
                zero_slack: Some(spans(&[5])),
                ..Parameters::default()
            })
            .is_err()
    );
    assert!(
        set()
            .with(&Parameters {
                zero_slack: Some(spans(&[5, 11])),
                ..Parameters::default()
            })
            .is_err()
    );
    assert!(
        set()
            .with(&Parameters {
                zero_slack: Some(spans(&[0, 10])),
                ..Parameters::default()
            })
            .is_ok()
    );
}

/// Large periods: the search takes as many steps as there are jobs, not as there are nanoseconds.
#[test]
fn large_sets_with_nanoseconds_end_and_tightening_never_hurts() {
    let mut random = Random::new(13);
    let mut scratch = Scratch::default();
    let (mut plain, mut tightened) = (0, 0);
    for _ in 0..300 {
        let set = problem(3, large_set(&mut random, 5));
        let accepted = zss(None).accepts(&set, &mut scratch);
        let more = zss(Some("tightened")).accepts(&set, &mut scratch);
        let form = zss(Some("form")).accepts(&set, &mut scratch);
        assert!(more || !accepted);
        assert!(accepted || !form);
        plain += u32::from(accepted);
        tightened += u32::from(more);
        assert_eq!(zss(None).analyse(&set).why.is_none(), accepted);
    }
    assert!(plain > 100 && tightened < 285, "{plain} {tightened}");
}

#[test]
fn only_the_harmonic_form_is_unsafe() {
    let kinds: Vec<_> = tests().iter().filter(|test| test.name == "zss").collect();
    let unsafe_ones = kinds.iter().filter(|test| test.kind == Kind::Unsafe);
    assert!(unsafe_ones.map(|test| test.variant).eq([Some("harmonic")]));
    assert_eq!(kinds.len(), 4);
}

/// The set that `examples/zss-carry-in.toml` has, too; the simulator's drawings show the miss.
#[test]
fn a_suspended_job_that_is_carried_in_is_seen_by_the_sound_forms_only() {
    let set = problem(2, vec![task(0, 4, 4, &[3]), task(1, 8, 8, &[2, 3])]);
    let mut scratch = Scratch::default();
    let harmonic = zss(Some("harmonic")).analyse(&set);
    assert_eq!(harmonic.claim, Some(Verdict::Schedulable));
    assert_eq!(harmonic.parameters.zero_slack, Some(spans(&[4, 6])));
    for variant in [None, Some("tightened"), Some("form")] {
        assert!(!zss(variant).accepts(&set, &mut scratch));
    }
}

/// In a finer unit instants are found that lie between two of the coarser one; otherwise a longer unit
/// of time changes only the unit. What needs nothing counts for a tick in each of them, and is left out.
#[test]
fn a_longer_unit_of_time_rounds_instants_down_and_changes_no_verdict() {
    let mut random = Random::new(15);
    for _ in 0..2000 {
        let (levels, tasks) = random_set(&mut random);
        if tasks.iter().any(|task| task.wcet.at(Level(0)).is_zero()) {
            continue;
        }
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
        for (variant, _) in BY_LEVEL {
            let [coarse, fine] = [&set, &finer].map(|set| zss(variant).analyse(set).verdict);
            assert_eq!(coarse, fine, "{variant:?} {set:?}");
        }
        let form = zss(Some("form"));
        let (coarse, fine) = (form.analyse(&set), form.analyse(&finer));
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

/// The least urgent task needs nothing in LO runs. Its job is incomplete all the same until the others leave
/// it the CPU, which they never do, and suspends the first task once it is critical; the simulator's drawings
/// show the miss.
#[test]
fn a_job_that_needs_nothing_is_incomplete_until_the_cpu_is_free() {
    let tasks = || {
        vec![
            task(0, 2, 1, &[1]),
            task(1, 4, 4, &[2, 2]),
            task(1, 20, 20, &[0, 1]),
        ]
    };
    let set = problem(2, tasks());
    let given = set
        .clone()
        .with(&Parameters {
            zero_slack: Some(spans(&[1, 4, 4])),
            ..Parameters::default()
        })
        .unwrap();
    let mut scratch = Scratch::default();
    for variant in [None, Some("tightened"), Some("form")] {
        assert!(!zss(variant).accepts(&set, &mut scratch), "{variant:?}");
        assert!(!zss(variant).accepts(&given, &mut scratch), "{variant:?}");
        assert!(zss(variant).analyse(&set).why.is_some(), "{variant:?}");
    }
}
