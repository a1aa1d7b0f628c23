//! `edf`: QPA against every window and against the run it speaks of.

use crate::common;

use common::{Random, problem, task};
use vestal_analysis::schedulability::edf::oracle::first_overfull_window;
use vestal_analysis::{Decision, Kind, Phasing, Problem, Reason, Scratch, Verdict, find};
use vestal_core::{Duration, Task};

/// All periods of the random sets divide it.
const HYPERPERIOD: u64 = 120;

fn analyse(set: &Problem) -> vestal_analysis::Outcome {
    let test = find("edf", None).unwrap();
    let outcome = test.analyse(set);
    let accepted = test.accepts(set, &mut Scratch::default());
    assert_eq!(outcome.verdict == Verdict::Schedulable, accepted);
    outcome
}

fn random_tasks(random: &mut Random, levels: u64) -> Vec<Task> {
    const PERIODS: [u64; 11] = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24];
    let count = random.between(1, 5);
    (0..count)
        .map(|_| {
            let period = PERIODS[usize::try_from(random.between(0, 10)).unwrap()];
            let deadline = if random.once_in(3) {
                period
            } else {
                random.between(period.div_ceil(2), period)
            };
            let most = (period * 3 / (2 * count)).clamp(1, deadline);
            let low = random.between(1, most);
            let criticality = random.between(0, levels - 1);
            let high = if criticality == 0 {
                low
            } else {
                random.between(low, most)
            };
            task(
                u8::try_from(criticality).unwrap(),
                period,
                deadline,
                &[low, high],
            )
        })
        .collect()
}

/// Whether all tasks released at 0 and then as early as possible meet all deadlines up to two
/// hyperperiods, each job at its own level's value.
fn synchronous_run_is_met(tasks: &[Task]) -> bool {
    // Due, remaining.
    let mut pending: Vec<(u64, u64)> = Vec::new();
    for now in 0..2 * HYPERPERIOD {
        for task in tasks {
            if now % task.period.as_nanos() == 0 {
                pending.push((now + task.deadline.as_nanos(), task.own_wcet().as_nanos()));
            }
        }
        if let Some(first) = pending.iter_mut().min() {
            first.1 -= 1;
        }
        pending.retain(|&(_, remaining)| remaining > 0);
        if pending.iter().any(|&(due, _)| due <= now + 1) {
            return false;
        }
    }
    true
}

fn utilization_above_one(tasks: &[Task]) -> bool {
    let share = |task: &Task| task.own_wcet().as_nanos() * (HYPERPERIOD / task.period.as_nanos());
    tasks.iter().map(share).sum::<u64>() > HYPERPERIOD
}

#[test]
fn the_answer_is_that_of_every_window_and_of_the_synchronous_run() {
    let mut random = Random::new(31);
    let (mut accepted, mut overloaded, mut overfull, mut full) = (0, 0, 0, 0);
    for _ in 0..30_000 {
        let tasks = random_tasks(&mut random, 1);
        let set = problem(1, tasks.clone());
        let outcome = analyse(&set);
        let until = Duration::from_nanos(2 * HYPERPERIOD);
        let window = first_overfull_window(&tasks, until);
        let met = synchronous_run_is_met(&tasks);
        assert_eq!(
            met,
            window.is_none() && !utilization_above_one(&tasks),
            "{tasks:?}"
        );
        assert_eq!(outcome.verdict == Verdict::Schedulable, met, "{tasks:?}");
        assert_eq!(outcome.kind, Kind::Exact);
        match outcome.why {
            None => {
                accepted += 1;
                let share = |task: &Task| {
                    task.own_wcet().as_nanos() * (HYPERPERIOD / task.period.as_nanos())
                };
                full += u32::from(tasks.iter().map(share).sum::<u64>() == HYPERPERIOD);
            }
            Some(Reason::Overload { .. }) => {
                assert!(utilization_above_one(&tasks));
                overloaded += 1;
            }
            Some(Reason::DemandExceedsWindow {
                window: found,
                demand,
            }) => {
                // Another window than the shortest, but an overfull one.
                assert!(found >= window.unwrap() && demand > found);
                overfull += 1;
            }
            Some(other) => panic!("{other} {tasks:?}"),
        }
    }
    println!("accepted {accepted} (full {full}), overloaded {overloaded}, overfull {overfull}");
    assert!(
        [accepted, full, overloaded, overfull]
            .iter()
            .all(|&count| count > 300)
    );
}

/// Two levels: a no is a no only if no execution time grows with the level.
#[test]
fn with_growing_execution_times_a_no_proves_nothing() {
    let mut random = Random::new(32);
    let (mut proven, mut open) = (0, 0);
    for _ in 0..5000 {
        let tasks = random_tasks(&mut random, 2);
        let set = problem(2, tasks.clone());
        let outcome = analyse(&set);
        let constant = tasks
            .iter()
            .all(|task| task.wcet.at(vestal_core::Level(0)) == task.own_wcet());
        let met = synchronous_run_is_met(&tasks);
        let expected = match (met, constant) {
            (true, _) => Verdict::Schedulable,
            (false, true) => Verdict::Unschedulable,
            (false, false) => Verdict::NotProven,
        };
        assert_eq!(outcome.verdict, expected, "{tasks:?}");
        proven += u32::from(expected == Verdict::Unschedulable);
        open += u32::from(expected == Verdict::NotProven);
        let restricted = analyse(&set.with_phasing(Phasing::Restricted));
        assert_ne!(restricted.verdict, Verdict::Unschedulable);
    }
    assert!(proven > 100 && open > 100, "{proven} {open}");
}

/// U = 1 with deadlines at the periods passes; one nanosecond more in 3 * 2^61 does not, nor does a
/// shorter deadline that makes a window too full.
#[test]
fn the_border_is_met_exactly() {
    let long = 1 << 61;
    let third = task(0, 3, 3, &[1]);
    let rest = task(0, 3 * (1 << 60), 3 * (1 << 60), &[1 << 61]);
    assert_eq!(
        analyse(&problem(1, vec![third, rest])).verdict,
        Verdict::Schedulable
    );
    let more = task(0, 3 * (1 << 60), 3 * (1 << 60), &[long + 1]);
    let outcome = analyse(&problem(1, vec![third, more]));
    assert_eq!(outcome.verdict, Verdict::Unschedulable);
    assert_eq!(
        outcome.why.unwrap().to_string(),
        "the tasks ask for 1.000001 of the CPU"
    );

    let tight = vec![
        task(0, 4, 2, &[1]),
        task(0, 8, 4, &[2]),
        task(0, 8, 8, &[4]),
    ];
    // h(2) = 1, h(4) = 3, h(6) = 4, h(8) = 8.
    assert_eq!(analyse(&problem(1, tight)).verdict, Verdict::Schedulable);
    let tighter = vec![
        task(0, 4, 2, &[1]),
        task(0, 8, 4, &[2]),
        task(0, 8, 7, &[4]),
    ];
    // h(7) = 8: the second job of the first task is due at 6.
    let outcome = analyse(&problem(1, tighter));
    assert_eq!(
        outcome.why.unwrap().to_string(),
        "jobs that are released and due within 7 ns may need 8 ns"
    );
}

/// U = 1, deadlines below the periods, and a hyperperiod beyond all clocks: the search limit is reached, nothing is guessed.
#[test]
fn an_astronomic_busy_period_reaches_the_search_limit() {
    // (p - 1) / 2p + (q - 1) / 2q + (p + q) / 2pq = 1.
    let (p, q) = (10_000_019, 10_000_079);
    let tasks = vec![
        task(0, p, p, &[(p - 1) / 2]),
        task(0, q, q, &[(q - 1) / 2]),
        task(0, p * q, p * q - 1, &[(p + q) / 2]),
    ];
    let outcome = analyse(&problem(1, tasks.clone()));
    assert_eq!(
        (outcome.kind, outcome.verdict),
        (Kind::Exact, Verdict::NotProven),
        "{outcome:?}"
    );
    assert!(matches!(outcome.why, Some(Reason::SearchLimit { .. })));
    // Whoever asks for no reason hears that, too, and of the next set nothing of it.
    let (test, scratch) = (find("edf", None).unwrap(), &mut Scratch::default());
    let asked = test.decides(&problem(1, tasks), scratch);
    assert_eq!(asked, Decision::Undecided);
    let overfull = problem(1, vec![task(0, 4, 2, &[2]), task(0, 4, 3, &[2])]);
    assert_eq!(test.decides(&overfull, scratch), Decision::Fails);
}

#[test]
fn an_overload_is_said_to_the_nearest_millionth_but_never_as_one() {
    let asked_for = |tasks: &[Task]| match analyse(&problem(1, tasks.to_vec())).why {
        Some(Reason::Overload { utilization_ppm }) => utilization_ppm,
        other => panic!("{other:?}"),
    };
    let six_fifths = [(2, 1), (10, 5), (100, 20)];
    let tasks = six_fifths.map(|(period, wcet)| task(0, period, period, &[wcet]));
    assert_eq!(asked_for(&tasks), 1_200_000);
    let barely = [
        task(0, 3, 3, &[3]),
        task(0, 1_000_000_007, 1_000_000_007, &[1]),
    ];
    assert_eq!(asked_for(&barely), 1_000_001);
}
