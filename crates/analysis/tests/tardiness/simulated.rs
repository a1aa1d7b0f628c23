//! The bound against the engine, and wrong ones that it refutes.

use crate::drawn;
use crate::system::{Above, Cpu, System};
use vestal_analysis::schedulability::levels::tardiness::oracle::{self, Exact, Mistake};
use vestal_analysis::schedulability::levels::tardiness::{Unbounded, bounds};
use vestal_testkit::Random;

/// How many sets of each number of CPUs are drawn; fifty times as many if `VESTAL_CAMPAIGN` is `long`.
const SETS: u64 = 300;

const TICKS: u64 = 400;

fn sets() -> u64 {
    let long = std::env::var("VESTAL_CAMPAIGN").is_ok_and(|size| size == "long");
    if long { 50 * SETS } else { SETS }
}

/// How many budgets of a task may wait where no job is later than that.
fn backlog(system: &System, late: &[u64]) -> usize {
    let tasks = system.wanted().into_iter().zip(late);
    let waiting = tasks.map(|(task, late)| (late + task.deadline) / task.period + 1);
    waiting.max().unwrap_or(1) as usize
}

#[test]
fn no_job_of_level_c_is_later_than_its_bound() {
    let mut random = Random::new(2012);
    let mut report = String::new();
    for count in 1..=4 {
        let (mut bounded, mut tardy, mut highest) = (0, 0, 0.0_f64);
        for _ in 0..sets() {
            let system = drawn::system(&mut random, count);
            let Ok(late) = bounds(&system.closed(), &system.wanted()) else {
                continue;
            };
            bounded += 1;
            let observed = system.observed(TICKS, backlog(&system, &late), random.next());
            tardy += u64::from(observed.iter().any(|&observed| observed > 0));
            for (observed, bound) in observed.iter().zip(&late) {
                assert!(observed <= bound, "{observed:?} {late:?} {system:?}");
                if *bound > 0 {
                    highest = highest.max(*observed as f64 / *bound as f64);
                }
            }
        }
        let share = bounded * 100 / sets();
        report += &format!("m {count}: {bounded} bounded, {tardy} late, {highest:.2}; ");
        assert!((5..=95).contains(&share), "{report}");
        assert!(tardy * 10 >= bounded && highest > 0.25, "{report}");
    }
}

#[test]
fn without_the_burst_the_bound_is_refuted() {
    let mut random = Random::new(77);
    for count in [1, 2] {
        let mut refuted = 0;
        for _ in 0..120 {
            let system = drawn::system(&mut random, count);
            let (closed, wanted) = (system.closed(), system.wanted());
            let wrong = oracle::bounds(&closed, &wanted, 4, Some(Mistake::NoBurst));
            let Some(wrong) = wrong else { continue };
            let observed = system.observed(TICKS, 64, random.next());
            let mut late = observed.into_iter().map(Exact::whole).zip(wrong);
            refuted += u64::from(late.any(|(late, wrong)| late > wrong));
        }
        assert!(refuted >= 2, "{count} {refuted}");
    }
}

/// A task that fills a CPU, where none is always open: the others cannot help it while they are. It falls behind for ever.
#[test]
fn where_every_cpu_is_closed_at_times_others_are_wasted_while_a_task_executes() {
    let slots = |cycle, lengths: &[u64]| -> Vec<Cpu> {
        let cpus = lengths
            .iter()
            .map(|&length| Cpu::with_slot(cycle, 0, length));
        cpus.collect()
    };
    let systems = [
        System::new(slots(10, &[5, 1]), &[(1, 3), (4, 4)]),
        System::new(slots(6, &[4, 1, 2]), &[(1, 10), (1, 5), (5, 5), (1, 2)]),
    ];
    for system in systems {
        let (closed, wanted) = (system.closed(), system.wanted());
        let full = wanted.iter().position(|task| task.wcet == task.period);
        let full = full.unwrap();
        let wrong = oracle::bounds(&closed, &wanted, 16, Some(Mistake::NoWaste)).unwrap();
        let observed = system.observed(TICKS, 64, 1);
        assert!(Exact::whole(observed[full]) > wrong[full], "{observed:?}");
        let right = bounds(&closed, &wanted);
        assert!(matches!(right, Err(Unbounded::NoForm(_))), "{right:?}");
    }
}

/// The bound is for runs at the times of level C: where level A needs its whole slots, as level B allows, it is none.
#[test]
fn at_the_times_of_level_b_the_bound_for_level_c_is_refuted() {
    let mut cpu = Cpu::with_slot(10, 0, 8);
    if let Some(slot) = &mut cpu.slot {
        slot.wcet = 2;
    }
    let mut system = System::new(vec![cpu], &[(2, 10), (5, 10)]);
    let late = bounds(&system.closed(), &system.wanted()).unwrap();
    let observed = system.observed(TICKS, 64, 1);
    assert!(
        observed
            .iter()
            .zip(&late)
            .all(|(observed, bound)| observed <= bound)
    );
    system.above = Above::LevelB;
    let observed = system.observed(TICKS, 64, 1);
    assert!(
        observed
            .iter()
            .zip(&late)
            .any(|(observed, bound)| observed > bound),
        "{observed:?} {late:?}"
    );
}

/// With room for one job only behind the current one a late task loses jobs, which are later than any bound.
#[test]
fn a_backlog_of_one_is_too_little_for_tardy_tasks() {
    let system = System::new(vec![Cpu::with_slot(40, 0, 20)], &[(1, 2)]);
    let late = bounds(&system.closed(), &system.wanted()).unwrap();
    let room = backlog(&system, &late);
    assert_eq!((late[0], room), (20, 12));
    assert_eq!(system.observed(TICKS, room, 1), [19]);
    // At 20 the jobs of 0, 2 ... 20 are there: ten behind the first.
    assert_eq!(system.observed(TICKS, 10, 1), [19]);
    assert!(system.observed(TICKS, 9, 1)[0] > 20);
    assert!(system.observed(TICKS, 1, 1)[0] > 20);
}
