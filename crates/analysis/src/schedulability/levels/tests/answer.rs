//! Levels A, B and C together.

use super::super::{analyse, tardiness::bounds};
use super::*;
use crate::outcome::{Outcome, Reason, Verdict};
use crate::parameters::Parameters;
use vestal_core::CpuId;

/// A task of a level with its period and its times from level D on, in tenths of a millisecond.
type Tenths<'a> = (u8, u64, &'a [u64]);

fn in_tenths(tasks: &[Tenths<'_>], cpus: u16) -> Problem {
    let each = tasks.iter().map(|&(level, period, times)| {
        let times: Vec<u64> = times.iter().map(|time| time * 100_000).collect();
        task(level, (period * 100_000, period * 100_000), &times)
    });
    problem(each.collect(), cpus).with_grades(GRADES.to_vec())
}

const TABLE_1: [Tenths<'_>; 7] = [
    (A, 50, &[10, 10, 20, 30]),
    (A, 100, &[20, 20, 20, 40]),
    (B, 100, &[10, 20, 20]),
    (B, 200, &[10, 10, 20]),
    (C, 100, &[20, 20]),
    (C, 200, &[20, 20]),
    (D, 50, &[20]),
];

/// examples/mc2-two-cpus.toml.
const TWO_CPUS: [Tenths<'_>; 6] = [
    (A, 100, &[10, 10, 20, 40]),
    (A, 200, &[20, 20, 30, 60]),
    (B, 200, &[10, 20, 50]),
    (C, 100, &[30, 50]),
    (C, 200, &[60, 90]),
    (D, 200, &[50]),
];

fn why(outcome: &Outcome) -> LevelReason {
    assert_eq!(outcome.verdict, Verdict::NotProven);
    match outcome.why {
        Some(Reason::Levels(why)) => why,
        ref other => panic!("{other:?}"),
    }
}

/// The bounds of a set that is accepted, in ns.
fn late(outcome: &Outcome) -> Vec<Option<u64>> {
    assert_eq!(
        (outcome.verdict, &outcome.why),
        (Verdict::Schedulable, &None)
    );
    let late = outcome.parameters.tardiness.iter().flatten();
    late.map(|late| late.map(Duration::as_nanos)).collect()
}

#[test]
fn table_1_is_accepted_and_its_tardiness_is_that_by_hand() {
    let problem = in_tenths(&TABLE_1, 1);
    let outcome = analyse(&problem, Order::Deadlines);
    // R = 0.35, B = 6.9 and S = 0: 6.9 / 0.35.
    let theta = Some(19_714_286);
    let expected = [None, None, None, None, theta, theta, None];
    assert_eq!(late(&outcome), expected);
    let home = Some(CpuId(0));
    let homes = [home, home, home, home, None, None, None];
    assert_eq!(outcome.parameters.partition.as_deref(), Some(&homes[..]));
    assert!(outcome.tasks.iter().all(|task| task.responses.is_empty()));
    let by_rates = analyse(&problem, Order::Rates);
    assert_eq!(by_rates.parameters, outcome.parameters);
    let ms = |time: u64| vec![Some(span(time * 1_000_000)); 3];
    let responses = by_rates.tasks[2..4]
        .iter()
        .map(|task| task.responses.clone());
    assert_eq!(responses.collect::<Vec<_>>(), [ms(8), ms(10)]);
}

#[test]
fn two_cpus_with_given_homes_by_hand() {
    let mut homes = vec![None; 6];
    homes[..3].copy_from_slice(&[0, 1, 1].map(|cpu| Some(CpuId(cpu))));
    let given = Parameters {
        partition: Some(homes),
        ..Parameters::default()
    };
    let problem = in_tenths(&TWO_CPUS, 2).with(&given).unwrap();
    let found = late(&analyse(&problem, Order::Deadlines));
    let [map, video] = [found[3].unwrap(), found[4].unwrap()];
    assert!((19_052_000..19_052_200).contains(&map), "{map}");
    assert!((20_250_000..20_250_100).contains(&video), "{video}");
}

/// The parameters of an answer are an answer: what is given is checked and comes back.
#[test]
fn what_was_found_is_accepted_as_given_and_stays() {
    for (tasks, cpus) in [(&TABLE_1[..], 1), (&TWO_CPUS, 2), (&TWO_CPUS[3..], 1)] {
        for order in [Order::Deadlines, Order::Rates] {
            let problem = in_tenths(tasks, cpus);
            let outcome = analyse(&problem, order);
            assert_eq!(outcome.verdict, Verdict::Schedulable, "{:?}", outcome.why);
            let again = problem.with(&outcome.parameters).unwrap();
            assert_eq!(analyse(&again, order), outcome);
        }
    }
}

#[test]
fn a_given_tardiness_may_be_longer_but_not_shorter() {
    let with = |task: usize, nanos: u64| {
        let mut tardiness = vec![None; 7];
        tardiness[task] = Some(span(nanos));
        let given = Parameters {
            tardiness: Some(tardiness),
            ..Parameters::default()
        };
        let problem = in_tenths(&TABLE_1, 1).with(&given).unwrap();
        analyse(&problem, Order::Deadlines)
    };
    let longer = late(&with(4, 20_000_000));
    assert_eq!(longer[4..6], [Some(20_000_000), Some(19_714_286)]);
    let short = LevelReason::TardinessAboveGiven {
        task: TaskId(5),
        bound: span(19_714_286),
        given: span(19_714_285),
    };
    assert_eq!(why(&with(5, 19_714_285)), short);
    assert_eq!(
        short.in_words(|_| "`T6`".to_owned()),
        "`T6` may be late by 19.714286 ms, and `tardiness` says 19.714285 ms"
    );
    for other in [0, 2, 6] {
        let task = TaskId(other as u16);
        let expected = LevelReason::TardinessElsewhere { task };
        assert_eq!(why(&with(other, 50_000_000)), expected);
    }
}

#[test]
fn levels_that_are_not_known_are_not_judged() {
    let tasks = || vec![task(C, (10, 10), &[1, 1])];
    let answer = |problem: &Problem| why(&analyse(problem, Order::Deadlines));
    let unknown = problem(tasks(), 1);
    assert_eq!(answer(&unknown), LevelReason::NotFourLevels);
    let [d, c, b, a] = GRADES;
    for wrong in [
        vec![d, c, b],
        vec![d, c, a, b],
        vec![d, c, c, b],
        Vec::new(),
    ] {
        let unknown = problem(tasks(), 1).with_grades(wrong);
        assert_eq!(answer(&unknown), LevelReason::NotFourLevels);
    }
    let known = problem(tasks(), 1).with_grades(GRADES.to_vec());
    assert_eq!(late(&analyse(&known, Order::Deadlines)), [Some(0)]);
}

#[test]
fn what_has_no_bound_says_why() {
    let of = |tasks: Vec<Task>, cpus: u16| {
        let problem = problem(tasks, cpus).with_grades(GRADES.to_vec());
        why(&analyse(&problem, Order::Deadlines))
    };
    let half = || task(A, (10, 10), &[5; 4]);
    let c = |own: u64| task(C, (10, 10), &[own; 2]);
    assert_eq!(of(vec![half(), c(6)], 1), LevelReason::OverloadOfAll);
    let task_1 = TaskId(1);
    let longer = LevelReason::WcetExceedsPeriod { task: task_1 };
    assert_eq!(of(vec![c(2), c(11)], 2), longer);
    // With 1 of 1.5 CPUs wanted by one task both forms grow as fast as the tardiness, for F = 0.
    let quarter = || task(A, (20, 20), &[5; 4]);
    let unbounded = LevelReason::TardinessUnbounded { task: TaskId(2) };
    assert_eq!(of(vec![quarter(), quarter(), c(10)], 2), unbounded);
}

/// A run is possible all the same, so that the homes are there and nothing is said of level C.
#[test]
fn where_level_b_is_late_its_homes_are_where_there_is_least() {
    let tasks = vec![
        task(A, (10, 10), &[5; 4]),
        task(B, (10, 10), &[8; 3]),
        task(B, (10, 10), &[7; 3]),
        task(C, (10, 10), &[1; 2]),
    ];
    let problem = problem(tasks, 2).with_grades(GRADES.to_vec());
    let outcome = analyse(&problem, Order::Deadlines);
    let task = TaskId(2);
    assert_eq!(why(&outcome), LevelReason::FitsNowhere { task });
    let homes = [0, 1, 0].map(|cpu| Some(CpuId(cpu)));
    let partition = outcome.parameters.partition.unwrap();
    assert_eq!((&partition[..3], partition[3]), (&homes[..], None));
    assert_eq!(
        outcome.parameters.tables.map(|tables| tables.len()),
        Some(2)
    );
    assert_eq!(outcome.parameters.tardiness, None);
}

/// The test gives level C what the links of the chain give: in drawn sets its bounds are those of what is left, and the
/// CPU's closed time is that of its pattern.
#[test]
fn the_bounds_are_those_of_what_is_left() {
    let mut random = Random::new(181);
    let (mut accepted, mut refused) = (0, 0);
    while accepted < 100 {
        let cpus = random.between(1, 3) as u16;
        let mut tasks = Vec::new();
        for _ in 0..cpus {
            tasks.extend(draw_level_a(&mut random, 1));
            let period = random.one_of(&[6u64, 8, 12, 20]);
            tasks.push(task(B, (period, period), &[1, 1, 2]));
        }
        let mut wanted = Vec::new();
        for _ in 0..random.between(1, 6) {
            let (own, period) = (random.between(1, 6), random.between(6, 16));
            tasks.push(task(C, (period, period), &[own, own]));
            wanted.push(super::super::Wanted {
                wcet: own,
                period,
                deadline: period,
            });
        }
        let problem = problem(tasks, cpus).with_grades(GRADES.to_vec());
        let outcome = analyse(&problem, Order::Deadlines);
        let by_links = decide(&problem, Order::Deadlines)
            .ok()
            .and_then(|found| bounds(&found.closed, &wanted).ok());
        match by_links {
            Some(links) => {
                let late: Vec<u64> = late(&outcome).into_iter().flatten().collect();
                assert_eq!(late, links);
                accepted += 1;
            }
            None => {
                assert_eq!(outcome.verdict, Verdict::NotProven);
                refused += 1;
            }
        }
    }
    assert!(refused > 10, "{refused}");
}
