//! `pedf-vd`: worked examples, a slow twin in fractions of machine words, and all placements of small sets; given
//! placements (`given`) and runs (`runs`).

mod given;
mod runs;

use crate::common;
use crate::edf_vd::{Share, sums, theorem_accepts};

use common::{Random, problem, task};
use core::num::NonZeroU16;
use vestal_analysis::{
    Outcome, Parameter, Parameters, Problem, Reason, Scratch, Test, Verdict, find,
};
use vestal_core::{CpuId, Duration, Level, Task, TaskId};

const VARIANTS: [Option<&str>; 3] = [None, Some("decreasing"), Some("edf-vd")];

fn on(cpus: u16, tasks: &[Task]) -> Problem {
    let cpus = NonZeroU16::new(cpus).unwrap();
    problem(2, tasks.to_vec()).with_cpus(cpus).unwrap()
}

fn analyse(variant: Option<&str>, set: &Problem) -> Outcome {
    let test = find("pedf-vd", variant).unwrap();
    let outcome = test.analyse(set);
    let accepted = test.accepts(set, &mut Scratch::default());
    assert_eq!(outcome.verdict == Verdict::Schedulable, accepted);
    outcome
}

fn low(period: u64, wcet: u64) -> Task {
    task(0, period, period, &[wcet])
}

fn high(period: u64, low: u64, high: u64) -> Task {
    task(1, period, period, &[low, high])
}

fn places(outcome: &Outcome) -> Vec<Option<u16>> {
    let cpus = outcome.tasks.iter().map(|task| task.cpu);
    cpus.map(|cpu| cpu.map(|cpu| cpu.0)).collect()
}

fn deadlines(outcome: &Outcome) -> Vec<u64> {
    let deadlines = outcome.parameters.virtual_deadlines.iter().flatten();
    deadlines.map(|deadline| deadline.as_nanos()).collect()
}

fn partition(homes: &[Option<u16>]) -> Parameters {
    Parameters {
        partition: Some(homes.iter().map(|home| home.map(CpuId)).collect()),
        ..Parameters::default()
    }
}

fn virtual_deadlines(nanos: &[u64]) -> Parameters {
    Parameters {
        virtual_deadlines: Some(nanos.iter().copied().map(Duration::from_nanos).collect()),
        ..Parameters::default()
    }
}

/// The set of the page and of examples/two-cpus.toml, in microseconds; its numbers by hand.
fn example() -> [Task; 5] {
    [
        high(10_000, 1_500, 3_500),
        high(20_000, 3_000, 7_000),
        low(100_000, 40_000),
        low(50_000, 15_000),
        low(40_000, 18_000),
    ]
}

#[test]
fn first_fit_fills_the_first_cpu_and_the_order_decides_with_whom() {
    let set = on(2, &example());
    for variant in [None, Some("edf-vd")] {
        let found = analyse(variant, &set);
        assert_eq!(found.verdict, Verdict::Schedulable);
        assert_eq!(places(&found), [0, 0, 0, 1, 1].map(Some));
        // CPU 0: a = 2/5 and c = 7/10, so x = 3/4.
        assert_eq!(deadlines(&found), [7_500, 15_000, 100_000, 50_000, 40_000]);
        assert_eq!(
            found.parameters.partition,
            partition(&[0, 0, 0, 1, 1].map(Some)).partition
        );
        assert_eq!(found.parameters.deadline_factor, None);
    }
    // 35 %, 35 %, then 45 %, 40 %, 30 %. CPU 0: a = 9/20 and c = 7/10, so x = 2/3.
    let found = analyse(Some("decreasing"), &set);
    assert_eq!(places(&found), [0, 0, 1, 1, 0].map(Some));
    assert_eq!(deadlines(&found), [6_666, 13_333, 100_000, 50_000, 40_000]);
    // On one CPU they ask for too much, on three the third has nothing to do.
    assert_eq!(
        analyse(None, &on(1, &example())).verdict,
        Verdict::NotProven
    );
    assert_eq!(
        places(&analyse(None, &on(3, &example()))),
        [0, 0, 0, 1, 1].map(Some)
    );
}

#[test]
fn a_task_that_fits_nowhere_is_named_with_what_every_cpu_would_have_to_do() {
    let mut tasks = example().to_vec();
    tasks.push(high(10_000, 3_000, 3_000));
    let found = analyse(None, &on(2, &tasks));
    assert_eq!(found.verdict, Verdict::NotProven);
    assert_eq!(
        places(&found),
        [Some(0), Some(0), Some(0), Some(1), None, Some(1)]
    );
    assert_eq!(found.parameters, Parameters::default());
    assert_eq!(
        found.why.unwrap().to_string(),
        "task 4 fits on no CPU, it would use more than 0.75 of it in a mode; utilisations with it: \
         CPU 0: 0 tasks 0.850000, 1 tasks 0.300000 at 0 and 0.700000 at 1; \
         CPU 1: 0 tasks 0.750000, 1 tasks 0.300000 at 0 and 0.300000 at 1"
    );
    let exact = analyse(Some("edf-vd"), &on(2, &tasks))
        .why
        .unwrap()
        .to_string();
    assert!(
        exact.contains("it would break the condition of edf-vd there"),
        "{exact}"
    );
    let many = analyse(None, &on(20, &vec![low(10, 6); 21]))
        .why
        .unwrap()
        .to_string();
    assert!(
        many.contains("CPU 7: ") && many.ends_with("; and 12 more CPUs"),
        "{many}"
    );
    assert!(!many.contains("CPU 8: "), "{many}");
}

/// 3/4 to the last nanosecond, at LO and at HI; the exact condition goes on from there.
#[test]
fn three_quarters_of_a_cpu_are_met_exactly() {
    let long = 1 << 50;
    let quarter = long / 4;
    let half = low(8, 4);
    let half_at_high = high(8, 1, 4);
    for (first, fits, exceeds) in [
        (half, low(long, quarter), low(long, quarter + 1)),
        (
            half,
            high(long, quarter, 3 * quarter),
            high(long, quarter + 1, 3 * quarter),
        ),
        (
            half_at_high,
            high(long, 1, quarter),
            high(long, 1, quarter + 1),
        ),
    ] {
        let both = on(2, &[first, fits]);
        let apart = on(2, &[first, exceeds]);
        assert_eq!(places(&analyse(None, &both)), [Some(0), Some(0)]);
        // The higher level comes first.
        let before = u16::from(exceeds.criticality > first.criticality);
        let apart = places(&analyse(None, &apart));
        assert_eq!(apart, [Some(before), Some(1 - before)]);
    }
    let most = on(2, &[half, low(long, 2 * quarter)]);
    assert_eq!(places(&analyse(Some("edf-vd"), &most)), [Some(0), Some(0)]);
    let more = on(2, &[half, low(long, 2 * quarter + 1)]);
    assert_eq!(places(&analyse(Some("edf-vd"), &more)), [Some(0), Some(1)]);
}

#[test]
fn equal_utilisations_come_in_the_order_of_the_file_after_those_of_the_higher_level() {
    let tasks = [
        low(10, 3),
        low(20, 8),
        high(5, 1, 2),
        low(1000, 400),
        low(7, 1),
    ];
    // The third; then 2/5 twice, the second and the fourth, 3/10 and 1/7. CPU 0 takes the third and the second
    // (1/5 and 2/5 at LO), and 1/7.
    let found = analyse(Some("decreasing"), &on(2, &tasks));
    assert_eq!(places(&found), [1, 0, 0, 1, 0].map(Some));
    // The third, then in order: CPU 0 takes it and the first (1/2); the second and the fourth do not fit together.
    let found = analyse(None, &on(3, &tasks));
    assert_eq!(places(&found), [0, 1, 0, 2, 0].map(Some));
}

/// In the order of the file the LO task would take CPU 0, and the HI task would fit nowhere.
#[test]
fn the_higher_level_comes_first() {
    let tasks = [low(10, 5), high(10, 3, 7)];
    let found = analyse(None, &on(1, &tasks));
    assert_eq!(found.verdict, Verdict::NotProven);
    assert!(matches!(found.why, Some(Reason::FitsNowhere { task, .. }) if task == TaskId(0)));
    assert_eq!(places(&analyse(None, &on(2, &tasks))), [1, 0].map(Some));
}

#[test]
fn outside_the_assumptions_nothing_is_proven() {
    for variant in VARIANTS {
        let cpus = NonZeroU16::new(2).unwrap();
        let three = problem(3, vec![low(9, 1)]).with_cpus(cpus).unwrap();
        assert_eq!(
            analyse(variant, &three).why,
            Some(Reason::NotTwoLevels { found: 3 })
        );
        let constrained = on(2, &[low(9, 1), task(1, 9, 8, &[1, 2])]);
        let first = Reason::ConstrainedDeadline { task: TaskId(1) };
        assert_eq!(analyse(variant, &constrained).why, Some(first));
        let long = analyse(variant, &on(2, &[low(9, 1), high(9, 1, 10)]));
        assert_eq!(
            long.why,
            Some(Reason::WcetExceedsDeadline { task: TaskId(1) })
        );
        assert_eq!(places(&long), [None, None]);
    }
}

#[test]
fn tests_for_one_cpu_prove_nothing_about_two() {
    let tasks = [low(10, 1), high(20, 1, 2)];
    let own = Test::own(
        "own",
        vestal_analysis::Kind::Exact,
        None,
        &[],
        "own",
        |set| {
            Outcome::decided(
                vestal_analysis::Kind::Exact,
                None,
                vec![Default::default(); set.tasks().len()],
            )
        },
    );
    // A frame table is for periodic tasks.
    let first = vec![Some(Duration::ZERO); tasks.len()];
    let periodic = |cpus| on(cpus, &tasks).with_first_releases(first.clone());
    let mut scratch = Scratch::default();
    for test in vestal_analysis::tests()
        .iter()
        .chain([&own])
        .filter(|test| !test.is_for_job_sets && !test.is_for_servers)
        // Those for levels of MC² are for problems that name them.
        .filter(|test| !test.takes.contains(&Parameter::Tables))
    {
        // Servers of period transformation lose too much of these periods.
        let accepted = test.accepts(&periodic(1), &mut scratch);
        assert!(accepted || test.variant == Some("servers"), "{test}");
        assert_eq!(
            test.accepts(&periodic(2), &mut scratch),
            test.is_for_several_cpus,
            "{test}"
        );
        let outcome = test.analyse(&periodic(2));
        if test.is_for_several_cpus {
            assert_eq!(outcome.verdict, Verdict::Schedulable);
            continue;
        }
        assert_eq!(outcome.verdict, Verdict::NotProven, "{test}");
        assert_eq!(outcome.claim, None, "{test}");
        assert_eq!(outcome.why, Some(Reason::SeveralCpus { cpus: 2 }), "{test}");
        assert_eq!(outcome.tasks.len(), 2);
    }
    let several = own.on_several_cpus();
    assert_eq!(
        several.analyse(&on(2, &tasks)).verdict,
        Verdict::Schedulable
    );
}

/// A set for `cpus` CPUs, near the border.
fn random_tasks(random: &mut Random, cpus: u64) -> Vec<Task> {
    let count = random.between(cpus.max(2), 6);
    let percent = random.between(55, 135) * cpus;
    (0..count)
        .map(|_| {
            let period = random.between(5, 40);
            let share = random.between(percent / (2 * count), percent * 3 / (2 * count));
            let own = (period * share / 100).clamp(1, period);
            match random.once_in(2) {
                true => low(period, own),
                false => high(period, random.between(own.div_ceil(3), own), own),
            }
        })
        .collect()
}

/// The placement as the page describes it, in fractions: the places, and the task that fits nowhere.
fn placed(
    variant: Option<&str>,
    cpus: u16,
    tasks: &[Task],
    given: &[Option<u16>],
) -> (Vec<Option<u16>>, Option<usize>) {
    let mut homes = given.to_vec();
    let mut order: Vec<usize> = (0..tasks.len())
        .filter(|&task| given[task].is_none())
        .collect();
    let (high, low): (Vec<usize>, Vec<usize>) = order
        .iter()
        .partition(|&&task| tasks[task].criticality == Level(1));
    order = [high, low].concat();
    if variant == Some("decreasing") {
        let share = |task: usize| Share::of(&tasks[task], tasks[task].criticality);
        // Selection, the first of the largest ones: nothing to be taken for stable.
        let mut sorted = Vec::new();
        while !order.is_empty() {
            let is_above =
                |other: usize, task: usize| tasks[other].criticality > tasks[task].criticality;
            let is_beside =
                |other: usize, task: usize| tasks[other].criticality == tasks[task].criticality;
            let is_larger = |other, task| !share(other).at_most(share(task));
            let goes_before = |other, task| {
                is_above(other, task) || is_beside(other, task) && is_larger(other, task)
            };
            let is_largest = |&&task: &&usize| !order.iter().any(|&other| goes_before(other, task));
            let next = *order.iter().find(is_largest).unwrap();
            order.retain(|&task| task != next);
            sorted.push(next);
        }
        order = sorted;
    }
    for next in order {
        let takes = |&cpu: &u16| {
            let there = |&task: &usize| task == next || homes[task] == Some(cpu);
            let together: Vec<Task> = (0..tasks.len())
                .filter(there)
                .map(|task| tasks[task])
                .collect();
            let [a, b, c] = sums(&together);
            match variant {
                Some("edf-vd") => theorem_accepts([a, b, c]),
                _ => a.plus(b).at_most(Share::new(3, 4)) && c.at_most(Share::new(3, 4)),
            }
        };
        let Some(cpu) = (0..cpus).find(takes) else {
            return (homes, Some(next));
        };
        homes[next] = Some(cpu);
    }
    (homes, None)
}

fn of_cpu(tasks: &[Task], homes: &[Option<u16>], cpu: u16) -> Vec<Task> {
    let pairs = tasks.iter().zip(homes);
    pairs
        .filter(|(_, home)| **home == Some(cpu))
        .map(|(task, _)| *task)
        .collect()
}

/// Whether each CPU passes the theorem.
fn every_cpu_passes(cpus: u16, tasks: &[Task], homes: &[Option<u16>]) -> bool {
    (0..cpus).all(|cpu| theorem_accepts(sums(&of_cpu(tasks, homes, cpu))))
}

fn some_placement_passes(cpus: u16, tasks: &[Task]) -> bool {
    let count = usize::from(cpus).pow(u32::try_from(tasks.len()).unwrap());
    (0..count).any(|number| {
        let mut rest = number;
        let home = |_: &Task| {
            let cpu = rest % usize::from(cpus);
            rest /= usize::from(cpus);
            Some(u16::try_from(cpu).unwrap())
        };
        let homes: Vec<Option<u16>> = tasks.iter().map(home).collect();
        every_cpu_passes(cpus, tasks, &homes)
    })
}

/// What `edf-vd` says of the tasks of a CPU, with their given virtual deadlines.
fn alone(tasks: &[Task], homes: &[Option<u16>], cpu: u16, given: Option<&[u64]>) -> Outcome {
    let set = problem(2, of_cpu(tasks, homes, cpu));
    let set = match given {
        None => set,
        Some(given) => {
            let pairs = given.iter().zip(homes);
            let own = pairs
                .filter(|(_, home)| **home == Some(cpu))
                .map(|(due, _)| *due);
            set.with(&virtual_deadlines(&own.collect::<Vec<_>>()))
                .unwrap()
        }
    };
    find("edf-vd", None).unwrap().analyse(&set)
}

/// Every CPU's answer is that of `edf-vd` for its tasks, and the whole is that of all of them.
fn check_cpus(found: &Outcome, cpus: u16, tasks: &[Task], given: Option<&[u64]>) -> bool {
    let homes = places(found);
    let answers: Vec<Outcome> = (0..cpus)
        .map(|cpu| alone(tasks, &homes, cpu, given))
        .collect();
    let proved = answers
        .iter()
        .all(|one| one.verdict == Verdict::Schedulable);
    assert_eq!(
        found.verdict == Verdict::Schedulable,
        proved,
        "{tasks:?} {homes:?}"
    );
    if !proved {
        let first = answers
            .iter()
            .position(|one| one.verdict != Verdict::Schedulable)
            .unwrap();
        let Some(Reason::OnCpu { cpu, why }) = &found.why else {
            panic!("{:?}", found.why);
        };
        assert_eq!(cpu.index(), first);
        let same = Some(&**why) == answers[first].why.as_ref();
        assert!(
            same || matches!(**why, Reason::LowVirtualDeadline { .. }),
            "{why:?}"
        );
        assert_eq!(found.parameters.virtual_deadlines, None);
        return false;
    }
    let mut own: Vec<_> = answers
        .iter()
        .map(|one| one.parameters.virtual_deadlines.clone().map(Vec::into_iter))
        .collect();
    let all_whole = own.iter().all(Option::is_some);
    assert_eq!(found.parameters.virtual_deadlines.is_some(), all_whole);
    for (deadline, home) in found
        .parameters
        .virtual_deadlines
        .iter()
        .flatten()
        .zip(&homes)
    {
        let next = own[usize::from(home.unwrap())]
            .as_mut()
            .and_then(Iterator::next);
        assert_eq!(next, Some(*deadline), "{tasks:?} {homes:?}");
    }
    true
}

#[test]
fn the_placement_is_that_of_the_definition_and_every_cpu_is_judged_by_edf_vd() {
    for (seed, variant) in (61..).zip(VARIANTS) {
        let mut random = Random::new(seed);
        let (mut accepted, mut refused, mut hopeless) = (0_u32, 0_u32, 0_u32);
        for _ in 0..6_000 {
            let cpus = u16::try_from(random.between(1, 3)).unwrap();
            let tasks = random_tasks(&mut random, cpus.into());
            let found = analyse(variant, &on(cpus, &tasks));
            let (homes, left_over) = placed(variant, cpus, &tasks, &vec![None; tasks.len()]);
            assert_eq!(places(&found), homes, "{variant:?} {cpus} {tasks:?}");
            let Some(left_over) = left_over else {
                accepted += 1;
                assert!(
                    check_cpus(&found, cpus, &tasks, None),
                    "{variant:?} {tasks:?}"
                );
                assert!(
                    every_cpu_passes(cpus, &tasks, &homes),
                    "{variant:?} {tasks:?}"
                );
                assert!(some_placement_passes(cpus, &tasks));
                continue;
            };
            refused += 1;
            hopeless += u32::from(!some_placement_passes(cpus, &tasks));
            assert_eq!(found.verdict, Verdict::NotProven);
            let Some(Reason::FitsNowhere { task, tried, .. }) = &found.why else {
                panic!("{:?}", found.why);
            };
            assert_eq!((task.index(), tried.len()), (left_over, usize::from(cpus)));
        }
        println!(
            "{variant:?}: {accepted} accepted, {refused} refused, {hopeless} of them have no placement"
        );
        let percent = accepted * 100 / (accepted + refused);
        assert!((5..=95).contains(&percent), "{percent}");
        assert!(hopeless > 100 && hopeless < refused, "{hopeless}");
        // The page of caveats says so.
        assert!(variant.is_some() || hopeless * 2 < refused, "{hopeless}");
    }
}

/// On one CPU the variants are the tests whose conditions they use.
#[test]
fn on_one_cpu_it_is_edf_vd_and_its_three_quarters() {
    let mut random = Random::new(64);
    let mut accepted = [0; 2];
    for _ in 0..4_000 {
        let tasks = random_tasks(&mut random, 1);
        let set = on(1, &tasks);
        for (count, (variant, name)) in accepted
            .iter_mut()
            .zip([(None, "edf-vd-util"), (Some("edf-vd"), "edf-vd")])
        {
            let found = analyse(variant, &set);
            let same = find(name, None).unwrap().analyse(&set);
            assert_eq!(found.verdict, same.verdict, "{tasks:?}");
            assert_eq!(
                found.parameters.virtual_deadlines,
                same.parameters.virtual_deadlines
            );
            *count += u32::from(found.verdict == Verdict::Schedulable);
        }
    }
    assert!(
        accepted[0] > 200 && accepted[1] > accepted[0] && accepted[1] < 3_800,
        "{accepted:?}"
    );
}
