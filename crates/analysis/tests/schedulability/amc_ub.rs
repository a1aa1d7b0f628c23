//! `amc-ub`, which is necessary: it accepts whatever the sound tests accept, and where it refuses there is a run with a miss.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use crate::common;

use common::{Random, problem, random_set, task};
use vestal_analysis::{Kind, Overheads, Phasing, Problem, Scratch, Test, Verdict, find};
use vestal_core::{Level, Service, Task};

fn the_test() -> &'static Test {
    find("amc-ub", None).unwrap()
}

fn nanos(set: &Problem) -> Vec<Vec<Option<u64>>> {
    let outcome = the_test().analyse(set);
    let tasks = outcome.tasks.into_iter();
    tasks
        .map(|task| {
            let each = task.responses.into_iter();
            each.map(|bound| bound.map(vestal_core::Duration::as_nanos))
                .collect()
        })
        .collect()
}

/// The set of two levels in `degraded`: t1 LO T 5 C 2 (G 1) above t2 HI T 20 C 4/8. At LO 8, at HI 8 without t1 and 8 + 2 * 1
/// = 10 with it.
#[test]
fn each_mode_by_itself() {
    let low = task(0, 5, 5, &[2]);
    let set = |low: Task| {
        let set = problem(2, vec![low, task(1, 20, 20, &[4, 8])]);
        set.with_priorities(vec![2, 1]).unwrap()
    };
    assert_eq!(nanos(&set(low)), [vec![Some(2)], vec![Some(8), Some(8)]]);
    let degraded = Task {
        degraded: Some(Service::from_nanos(1)),
        ..low
    };
    let expected = [vec![Some(2), Some(1)], vec![Some(8), Some(10)]];
    assert_eq!(nanos(&set(degraded)), expected);
    let outcome = the_test().analyse(&set(low));
    assert_eq!(
        (outcome.kind, outcome.verdict, outcome.why),
        (Kind::Necessary, Verdict::NotProven, None)
    );
}

#[test]
fn a_no_means_something_only_where_all_may_be_released_together_and_nothing_is_charged() {
    let too_much = problem(2, vec![task(0, 4, 2, &[2]), task(0, 4, 2, &[2])]);
    assert_eq!(
        the_test().analyse(&too_much).verdict,
        Verdict::Unschedulable
    );
    let restricted = too_much.clone().with_phasing(Phasing::Restricted);
    assert_eq!(the_test().analyse(&restricted).verdict, Verdict::NotProven);
    let charged = too_much.with_overheads(Overheads::default());
    assert_eq!(the_test().analyse(&charged).verdict, Verdict::NotProven);
}

/// What a job of `task` takes in the steady state of `level`, if it is there at all.
fn takes(task: &Task, level: Level) -> Option<u64> {
    match task.criticality >= level {
        true => Some(task.wcet.at(level).as_nanos()),
        false => {
            let own = task.own_wcet();
            task.degraded.map(|budget| budget.min(own).as_nanos())
        }
    }
}

/// When the first job of the last task of `order` is done if all are released together, tick by tick, up to its deadline.
fn response(tasks: &[Task], order: &[usize], level: Level) -> Option<u64> {
    let there: Vec<(u64, u64)> = order
        .iter()
        .filter_map(|&index| Some((tasks[index].period.as_nanos(), takes(&tasks[index], level)?)))
        .collect();
    let last = *order.last()?;
    let mut left = takes(&tasks[last], level)?;
    let mut backlog = vec![0; there.len()];
    for now in 0..=tasks[last].deadline.as_nanos() {
        let mut waits = false;
        for (pending, (period, cost)) in backlog.iter_mut().zip(&there) {
            *pending += if now % period == 0 { *cost } else { 0 };
        }
        for pending in &mut backlog[..there.len() - 1] {
            if *pending > 0 && !waits {
                *pending -= 1;
                waits = true;
            }
        }
        if !waits {
            if left == 0 {
                return Some(now);
            }
            left -= 1;
            if left == 0 {
                return (now < tasks[last].deadline.as_nanos()).then_some(now + 1);
            }
        }
    }
    None
}

fn random_problem(random: &mut Random) -> (usize, Vec<Task>) {
    let (levels, mut tasks) = random_set(random);
    for task in &mut tasks {
        if random.once_in(3) {
            let most = task.own_wcet().as_nanos();
            task.degraded = Some(Service::from_nanos(random.between(1, most)));
        }
    }
    (levels, tasks)
}

#[test]
fn response_times_are_those_of_synchronous_runs() {
    let mut random = Random::new(41);
    let (mut sets, mut refused) = (0, 0);
    for _ in 0..4000 {
        let (levels, tasks) = random_problem(&mut random);
        // A response time of nothing at all is no matter of ticks.
        if tasks.iter().any(|task| task.wcet.at(Level(0)).is_zero()) {
            continue;
        }
        sets += 1;
        let order = random.permutation(tasks.len());
        let mut priorities = vec![0; tasks.len()];
        for (priority, &index) in (1..).zip(order.iter().rev()) {
            priorities[index] = priority;
        }
        let set = problem(levels, tasks).with_priorities(priorities).unwrap();
        let found = nanos(&set);
        let accepted = the_test().accepts(&set, &mut Scratch::default());
        let mut all_met = true;
        for (position, &index) in order.iter().enumerate() {
            let more_urgent = &order[..=position];
            for (level, &bound) in (0..).map(Level).zip(&found[index]) {
                let expected = response(set.tasks(), more_urgent, level);
                all_met &= expected.is_some();
                if expected.is_none() {
                    assert_eq!(bound, None);
                    break;
                }
                assert_eq!(
                    bound,
                    expected,
                    "{index} {level:?} {order:?} {:?}",
                    set.tasks()
                );
            }
        }
        assert_eq!(accepted, all_met, "{order:?} {:?}", set.tasks());
        refused += u32::from(!accepted);
    }
    assert!(refused > 300 && refused + 300 < sets, "{refused} of {sets}");
}

/// The same sets, without given priorities and with: what is sufficient is accepted.
#[test]
fn whatever_a_sound_test_accepts_is_accepted() {
    let mut random = Random::new(42);
    let mut scratch = Scratch::default();
    let (mut sound, mut more) = ([0; 2], 0);
    for _ in 0..4000 {
        let (levels, tasks) = random_problem(&mut random);
        let set = problem(levels, tasks);
        let is_accepted = the_test().accepts(&set, &mut scratch);
        let outcome = the_test().analyse(&set);
        assert_eq!(outcome.why.is_none(), is_accepted);
        let refuted = outcome.verdict == Verdict::Unschedulable;
        assert_eq!(refuted, !is_accepted);
        for (count, name) in sound.iter_mut().zip(["amc-rtb", "amc-max"]) {
            let accepts = find(name, None).unwrap().accepts(&set, &mut scratch);
            assert!(!accepts || is_accepted, "{name} {:?}", set.tasks());
            *count += u32::from(accepts);
        }
        more += u32::from(is_accepted);
    }
    assert!(
        sound.iter().all(|&count| count > 300 && count + 50 < more),
        "{sound:?} {more}"
    );
}
