//! Fixed job priorities: the papers' numbers, the slow twins, and what must hold between the tests.

use crate::common;

use common::{Random, problem, random_set, task};
use vestal_analysis::schedulability::plrs;
use vestal_analysis::schedulability::plrs::oracle::PatternRule;
use vestal_analysis::{
    FiniteJob, Kind, Outcome, Parameters, Problem, Reason, Scratch, Test, Verdict, find,
};
use vestal_core::{Duration, Instant, Level, LevelSet, Service, Task, TaskId, Wcet};

fn the_test(name: &str, variant: Option<&str>) -> &'static Test {
    find(name, variant).unwrap()
}

fn analyse(name: &str, variant: Option<&str>, set: &Problem) -> Outcome {
    the_test(name, variant).analyse(set)
}

fn accepts(name: &str, variant: Option<&str>, set: &Problem) -> bool {
    the_test(name, variant).accepts(set, &mut Scratch::default())
}

/// Huang, Gill and Lu (TECS 2014, section 3.2): four tasks with D = T.
fn four_tasks() -> Problem {
    problem(
        2,
        vec![
            task(1, 10, 10, &[4, 6]),
            task(1, 20, 20, &[3, 5]),
            task(0, 30, 30, &[6]),
            task(0, 15, 15, &[2]),
        ],
    )
}

fn busy(outcome: &Outcome) -> Vec<u64> {
    let busy = outcome.parameters.busy_periods.as_ref().unwrap();
    busy.iter().map(|busy| busy.as_nanos()).collect()
}

#[test]
fn the_four_task_example_has_busy_periods_of_28_and_38_and_these_four_lists() {
    let outcome = analyse("fjp-ija", Some("ceil"), &four_tasks());
    assert_eq!(busy(&outcome), [28, 38]);
    // With s = 15 + 2 = 17, tau1 and tau2 release ceil(17/10) and ceil(17/20) jobs before it.
    assert_eq!(
        outcome.parameters.patterns,
        Some(vec![vec![2, 4], vec![1, 2], vec![1], vec![2]])
    );
    let lists = vec![vec![7, 5, 2, 0], vec![6, 1], vec![3], vec![8, 4]];
    assert_eq!(outcome.parameters.job_priorities, Some(lists));
    assert_eq!(outcome.kind, Kind::Unsafe);
    assert_eq!(outcome.verdict, Verdict::NotProven);
    assert_eq!(outcome.claim, Some(Verdict::Schedulable));
}

#[test]
fn the_four_task_example_rounded_down_has_59_and_no_lists() {
    let outcome = analyse("fjp-ija", Some("floor"), &four_tasks());
    assert_eq!(busy(&outcome), [28, 59]);
    assert_eq!(
        outcome.parameters.patterns,
        Some(vec![vec![1, 6], vec![0, 3], vec![1], vec![2]])
    );
    assert_eq!(outcome.parameters.job_priorities, None);
    assert_eq!(outcome.claim, Some(Verdict::NotProven));
    assert!(matches!(outcome.why, Some(Reason::NoLowestJob { .. })));
    // Without a variant the test falls back on `ceil`.
    let either = analyse("fjp-ija", None, &four_tasks());
    assert_eq!(busy(&either), [28, 38]);
    assert_eq!(either.claim, Some(Verdict::Schedulable));
}

/// The set that refutes `fjp-ija:ceil`; the simulator's tests have the run.
fn counterexample() -> Problem {
    problem(
        2,
        vec![
            task(1, 5, 5, &[1, 2]),
            task(1, 14, 14, &[2, 5]),
            task(0, 4, 4, &[1]),
            task(1, 14, 14, &[1, 5]),
        ],
    )
}

#[test]
fn the_counterexample_to_ija_is_claimed_by_it_and_rejected_by_the_sound_tests() {
    let outcome = analyse("fjp-ija", Some("ceil"), &counterexample());
    assert_eq!(outcome.claim, Some(Verdict::Schedulable));
    let lists = vec![vec![5, 0], vec![1], vec![3, 2], vec![4]];
    assert_eq!(outcome.parameters.job_priorities, Some(lists));
    for name in ["fjp-lb", "fjp-own", "fjp-mode"] {
        let outcome = analyse(name, None, &counterexample());
        assert_eq!(outcome.verdict, Verdict::NotProven, "{name}");
        assert!(!accepts(name, None, &counterexample()), "{name}");
    }
}

const RULES: [(&str, Option<&str>, PatternRule); 5] = [
    ("fjp-lb", None, PatternRule::ClosedForm),
    ("fjp-own", None, PatternRule::Own),
    ("fjp-mode", None, PatternRule::Mode),
    ("fjp-ija", Some("ceil"), PatternRule::IjaCeil),
    ("fjp-ija", Some("floor"), PatternRule::IjaFloor),
];

/// No busy period of these small sets is longer, unless it never ends.
const LONGEST: u64 = 2_000;

fn up_to_own(tasks: &[Task], jobs: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let pairs = tasks.iter().zip(jobs);
    pairs
        .map(|(task, jobs)| jobs[..=task.criticality.index()].to_vec())
        .collect()
}

fn is_trivially_infeasible(tasks: &[Task]) -> bool {
    tasks
        .iter()
        .any(|task| task.own_wcet().as_nanos() > task.deadline.as_nanos())
}

#[test]
fn patterns_lists_and_fast_paths_are_those_of_the_slow_twins() {
    let mut random = Random::new(4711);
    let mut scratch = Scratch::default();
    let mut accepted = [0; 5];
    let (mut compared, mut beyond) = (0, 0);
    for _ in 0..4_000 {
        let (levels, tasks) = random_set(&mut random);
        if is_trivially_infeasible(&tasks) {
            continue;
        }
        let set = problem(levels, tasks.clone());
        let levels = u8::try_from(levels).unwrap();
        for ((name, variant, rule), accepted) in RULES.into_iter().zip(&mut accepted) {
            let outcome = analyse(name, variant, &set);
            let holds = outcome.why.is_none();
            let text = format!("{name} {variant:?} {tasks:?}");
            let fast = the_test(name, variant).accepts(&set, &mut scratch);
            assert_eq!(fast, holds, "{text}");
            let Some((busy_periods, jobs)) = plrs::oracle::pattern(&tasks, levels, rule, LONGEST)
            else {
                // The twin has reached its limit, so there is nothing to compare but a longer pattern.
                let longer = outcome.parameters.busy_periods;
                assert!(longer.is_none_or(|all| all.iter().any(|b| b.as_nanos() > LONGEST)));
                beyond += 1;
                continue;
            };
            compared += 1;
            assert_eq!(busy(&outcome), busy_periods, "{text}");
            let patterns = outcome.parameters.patterns.unwrap();
            assert_eq!(patterns, up_to_own(&tasks, &jobs), "{text}");
            let aware = matches!(rule, PatternRule::IjaCeil | PatternRule::IjaFloor);
            let lists = plrs::oracle::lists(&tasks, &jobs, aware);
            assert_eq!(outcome.parameters.job_priorities, lists, "{text}");
            assert_eq!(holds, lists.is_some(), "{text}");
            *accepted += u32::from(holds);
        }
    }
    println!("compared {compared}, beyond the twin {beyond}, accepted {accepted:?}");
    assert!(compared > 2 * beyond);
    assert!(accepted.iter().all(|&count| count > 400), "{accepted:?}");
}

#[test]
fn the_greedy_lists_exist_exactly_if_any_order_of_the_jobs_passes() {
    let mut random = Random::new(99);
    let mut seen = [0; 2];
    for _ in 0..6_000 {
        let (levels, tasks) = random_set(&mut random);
        if is_trivially_infeasible(&tasks) {
            continue;
        }
        let levels = u8::try_from(levels).unwrap();
        let found = plrs::oracle::pattern(&tasks, levels, PatternRule::Mode, LONGEST);
        let Some((_, jobs)) = found else { continue };
        let total: u64 = up_to_own(&tasks, &jobs)
            .iter()
            .filter_map(|n| n.last())
            .sum();
        if total > 9 {
            continue;
        }
        let expected = plrs::oracle::some_order_of_pattern_passes(&tasks, &jobs);
        let set = problem(usize::from(levels), tasks);
        assert_eq!(accepts("fjp-mode", None, &set), expected, "{set:?}");
        seen[usize::from(expected)] += 1;
    }
    println!("no order {}, some order {}", seen[0], seen[1]);
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

/// fjp-lb => fjp-own => fjp-mode, each step strict somewhere.
#[test]
fn what_a_longer_pattern_accepts_a_shorter_one_accepts() {
    let mut random = Random::new(5);
    let mut scratch = Scratch::default();
    let chain = ["fjp-lb", "fjp-own", "fjp-mode"];
    let mut strictly = [0; 2];
    let mut accepted = [0; 3];
    for _ in 0..100_000 {
        let (levels, tasks) = random_set(&mut random);
        let set = problem(levels, tasks);
        let found = chain.map(|name| the_test(name, None).accepts(&set, &mut scratch));
        for (count, found) in accepted.iter_mut().zip(found) {
            *count += u32::from(found);
        }
        for (step, count) in found.windows(2).zip(&mut strictly) {
            assert!(!step[0] || step[1], "{found:?} {set:?}");
            *count += u32::from(!step[0] && step[1]);
        }
    }
    println!("accepted {accepted:?}, only by the later test {strictly:?}");
    assert!(strictly.iter().all(|&count| count > 0), "{strictly:?}");
}

/// The lists a test finds are accepted when given; lists with two neighbours exchanged are accepted
/// exactly if the twin's definition holds for them; longer lists do too, and shorter ones do not.
#[test]
fn given_lists_are_decided_about() {
    let mut random = Random::new(77);
    let mut exchanged = [0; 2];
    for _ in 0..20_000 {
        let (levels, tasks) = random_set(&mut random);
        let set = problem(levels, tasks);
        let Some(lists) = analyse("fjp-mode", None, &set).parameters.job_priorities else {
            continue;
        };
        let with = |lists: &[Vec<u32>]| {
            set.clone()
                .with(&Parameters {
                    job_priorities: Some(lists.to_vec()),
                    ..Parameters::default()
                })
                .unwrap()
        };
        let same = with(&lists);
        assert_eq!(
            analyse("fjp-mode", None, &same),
            analyse("fjp-mode", None, &set)
        );
        assert!(accepts("fjp-mode", None, &same));
        let raised = |list: &Vec<u32>| list.iter().map(|entry| entry + 10).collect::<Vec<_>>();
        let cut: Vec<_> = lists.iter().map(raised).collect();
        let mut longer = cut.clone();
        for (last, list) in (0..).zip(&mut longer) {
            list.push(last);
        }
        let outcome = analyse("fjp-mode", None, &with(&longer));
        assert_eq!(outcome.parameters.job_priorities, Some(cut), "{set:?}");
        assert!(accepts("fjp-mode", None, &with(&longer)));
        let victim = usize::try_from(random.between(0, lists.len() as u64 - 1)).unwrap();
        let mut shorter = lists.clone();
        shorter[victim].pop();
        let outcome = analyse("fjp-mode", None, &with(&shorter));
        let jobs = lists[victim].len() as u64;
        let short = Reason::JobListTooShort {
            task: TaskId(u16::try_from(victim).unwrap()),
            jobs,
            found: jobs - 1,
        };
        assert_eq!(outcome.why, Some(short));
        // The two most urgent jobs, if they are of two tasks, change places.
        let total: u32 = lists
            .iter()
            .map(|list| u32::try_from(list.len()).unwrap())
            .sum();
        let change = |entry: &u32| match total - 1 - entry {
            0 => total.saturating_sub(2),
            1 => total - 1,
            _ => *entry,
        };
        let other: Vec<Vec<u32>> = lists
            .iter()
            .map(|list| list.iter().map(change).collect())
            .collect();
        if total < 2 || !other.iter().all(|list| list.is_sorted_by(|a, b| a > b)) {
            continue;
        }
        let found = analyse("fjp-mode", None, &with(&other));
        assert_eq!(
            accepts("fjp-mode", None, &with(&other)),
            found.why.is_none()
        );
        let late = matches!(found.why, Some(Reason::ListedJobLate { job: 1, .. }));
        assert_eq!(late, found.why.is_some(), "{:?}", found.why);
        exchanged[usize::from(late)] += 1;
    }
    println!("exchanged: fine {}, late {}", exchanged[0], exchanged[1]);
    assert!(exchanged.iter().all(|&count| count > 50), "{exchanged:?}");
}

#[test]
fn lists_are_one_for_each_task_fall_and_share_no_entry() {
    let set = four_tasks();
    let refused = |lists: &[&[u32]]| {
        let lists = lists.iter().map(|list| list.to_vec()).collect();
        set.clone()
            .with(&Parameters {
                job_priorities: Some(lists),
                ..Parameters::default()
            })
            .is_err()
    };
    assert!(!refused(&[&[7, 5, 2, 0], &[6, 1], &[3], &[8, 4]]));
    assert!(refused(&[&[7, 5, 2, 0], &[6, 1], &[3]]));
    assert!(refused(&[&[7, 5, 0, 2], &[6, 1], &[3], &[8, 4]]));
    assert!(refused(&[&[7, 5, 2, 0], &[6, 1], &[2], &[8, 4]]));
}

#[test]
fn a_full_cpu_has_a_pattern_where_periods_meet_and_none_beyond() {
    let full = problem(1, vec![task(0, 2, 2, &[1]), task(0, 4, 4, &[2])]);
    assert_eq!(busy(&analyse("fjp-own", None, &full)), [4]);
    assert!(accepts("fjp-mode", None, &full));
    let outcome = analyse("fjp-lb", None, &full);
    let unbounded = Reason::BusyPeriodUnbounded {
        level: Level(0),
        utilization_ppm: 1_000_000,
    };
    assert_eq!(outcome.why, Some(unbounded));
    let over = problem(1, vec![task(0, 2, 2, &[1]), task(0, 4, 4, &[3])]);
    let outcome = analyse("fjp-mode", None, &over);
    assert!(matches!(
        outcome.why,
        Some(Reason::BusyPeriodUnbounded { .. })
    ));
    // Together they ask for 1 - 10^-9: the pattern would have 10^9 jobs.
    let second = 1_000_000_000;
    let endless = vec![
        task(0, 2, 2, &[1]),
        task(0, second, second, &[second / 2 - 1]),
    ];
    let outcome = analyse("fjp-own", None, &problem(1, endless));
    assert!(matches!(outcome.why, Some(Reason::PatternTooLong { .. })));
}

#[test]
fn degraded_tasks_are_outside() {
    let mut tasks = four_tasks().tasks().to_vec();
    tasks[2].degraded = Some(Service::from_nanos(1));
    let set = problem(2, tasks);
    for (name, variant, _) in RULES {
        let outcome = analyse(name, variant, &set);
        assert_eq!(
            outcome.why,
            Some(Reason::DegradedBudget { task: TaskId(2) })
        );
        assert!(!accepts(name, variant, &set));
    }
}

fn job(criticality: u8, release: u64, deadline: u64, wcet: &[u64]) -> FiniteJob {
    let values: Vec<Service> = wcet.iter().map(|&c| Service::from_nanos(c)).collect();
    FiniteJob {
        criticality: Level(criticality),
        release: Instant::from_nanos(release),
        deadline: Instant::from_nanos(deadline),
        wcet: Wcet::new(&values).unwrap(),
    }
}

fn job_set(levels: usize, jobs: Vec<FiniteJob>) -> Problem {
    Problem::of_jobs(jobs, LevelSet::new(levels).unwrap()).unwrap()
}

/// Orders by criticality and by deadline both fail here, one between them does not.
#[test]
fn ocbp_finds_an_order_between_criticality_and_deadline() {
    let jobs = vec![
        job(0, 0, 3, &[2]),
        job(1, 0, 4, &[1, 3]),
        job(1, 0, 8, &[1, 2]),
    ];
    let outcome = analyse("ocbp", None, &job_set(2, jobs.clone()));
    assert_eq!(outcome.verdict, Verdict::Schedulable);
    assert_eq!(outcome.parameters.priorities, Some(vec![2, 3, 1]));
    // By criticality jobs 1 and 2 go first, and job 0 has 1 of its 2 units at 3. By deadline job 0
    // goes first, and job 1 has 2 of its 3 units at 4.
    assert!(!plrs::oracle::job_order_passes(&jobs, &[1, 2, 0]));
    assert!(!plrs::oracle::job_order_passes(&jobs, &[0, 1, 2]));
    // One unit more for job 2 at HI, and the three together need 2 + 3 + 3 = 8: still in time.
    let mut tighter = jobs.clone();
    tighter[2] = job(1, 0, 8, &[1, 3]);
    assert!(accepts("ocbp", None, &job_set(2, tighter.clone())));
    tighter[2] = job(1, 0, 8, &[1, 4]);
    let outcome = analyse("ocbp", None, &job_set(2, tighter));
    assert_eq!(outcome.verdict, Verdict::NotProven);
    assert!(matches!(
        outcome.why,
        Some(Reason::NoLowestJob { priority: 1, .. })
    ));
}

fn random_jobs(random: &mut Random) -> (usize, Vec<FiniteJob>) {
    let levels = random.between(1, 3);
    let count = random.between(1, 6);
    let jobs = (0..count).map(|_| {
        let criticality = random.between(0, levels - 1);
        let release = random.between(0, 8);
        let window = random.between(2, 16);
        let mut value = random.between(1, 3);
        let wcet: Vec<u64> = (0..=criticality)
            .map(|_| {
                value += random.between(0, 2);
                value
            })
            .collect();
        job(
            u8::try_from(criticality).unwrap(),
            release,
            release + window,
            &wcet,
        )
    });
    (usize::try_from(levels).unwrap(), jobs.collect())
}

#[test]
fn ocbp_accepts_exactly_if_any_order_of_the_jobs_passes() {
    let mut random = Random::new(31);
    let mut seen = [0; 2];
    for _ in 0..4_000 {
        let (levels, jobs) = random_jobs(&mut random);
        let set = job_set(levels, jobs.clone());
        let outcome = analyse("ocbp", None, &set);
        let expected = plrs::oracle::some_job_order_passes(&jobs);
        assert_eq!(
            outcome.verdict == Verdict::Schedulable,
            expected,
            "{jobs:?}"
        );
        assert_eq!(accepts("ocbp", None, &set), expected);
        if expected {
            let order = vestal_analysis::schedulability::ocbp::order_of(&outcome).unwrap();
            assert!(plrs::oracle::job_order_passes(&jobs, &order), "{jobs:?}");
        }
        seen[usize::from(expected)] += 1;
    }
    println!("no order {}, some order {}", seen[0], seen[1]);
    assert!(seen.iter().all(|&count| count > 400), "{seen:?}");
}

/// LOAD(0)^2 + LOAD(1) <= 1 suffices for two levels.
#[test]
fn ocbp_accepts_what_the_load_test_accepts() {
    let mut random = Random::new(17);
    let mut passed = 0;
    for _ in 0..30_000 {
        let (levels, jobs) = random_jobs(&mut random);
        if levels != 2 {
            continue;
        }
        let (a, b) = plrs::oracle::load(&jobs, Level(0));
        let (c, d) = plrs::oracle::load(&jobs, Level(1));
        let wide = |value: u64| u128::from(value);
        // (a/b)^2 + c/d <= 1.
        if wide(a).pow(2) * wide(d) + wide(c) * wide(b).pow(2) > wide(b).pow(2) * wide(d) {
            continue;
        }
        passed += 1;
        assert!(
            accepts("ocbp", None, &job_set(levels, jobs.clone())),
            "{jobs:?}"
        );
    }
    println!("{passed} sets pass the load test");
    assert!(passed > 300, "{passed}");
}

#[test]
fn tests_for_tasks_and_for_job_sets_do_not_mix() {
    let jobs = job_set(1, vec![job(0, 0, 1, &[1])]);
    for test in vestal_analysis::tests() {
        let on_jobs = test.analyse(&jobs);
        let on_tasks = test.analyse(&four_tasks());
        if test.is_for_job_sets {
            assert_eq!(on_jobs.verdict, Verdict::Schedulable);
            assert_eq!(on_tasks.why, Some(Reason::NotJobSet));
        } else {
            assert_eq!(on_jobs.why, Some(Reason::JobSet), "{test}");
            assert!(!test.accepts(&jobs, &mut Scratch::default()), "{test}");
        }
    }
}

#[test]
fn a_job_of_a_set_is_due_after_its_release() {
    let bad = |release, deadline| {
        Problem::of_jobs(
            vec![job(0, release, deadline, &[1])],
            LevelSet::new(1).unwrap(),
        )
        .is_err()
    };
    assert!(!bad(3, 4));
    assert!(bad(4, 4));
    let far = Duration::from_nanos(1);
    assert!(bad(0, Instant::HORIZON.saturating_add(far).as_nanos()));
}
