//! The core's domain of a CPU keeps what is proved of it.

use super::super::given;
use super::*;
use crate::parameters::Parameters;
use vestal_core::store::Boxed;
use vestal_core::{
    Budgets, Container, CpuId, CpuTable, LevelB, LevelledConfiguration, LevelledTask, LocalDomain,
};
use vestal_testkit::world::{Calls, World};

const CPU: CpuId = CpuId(0);

/// A set of levels A and B with a table that is given, if one is drawn.
fn draw(random: &mut Random) -> Option<Problem> {
    let mut tasks = draw_level_a(random, 2);
    let above = problem(tasks.clone(), 1);
    let cycles = random.between(1, 2);
    let table = draw_table(random, &rows(&above, A), cycles)?;
    given::check(CPU, &table, &rows(&above, A)).ok()?;
    for _ in 0..random.between(1, 3) {
        let period = random.one_of(&[4u64, 6, 8, 10, 12, 20, 24]);
        let deadline = random.between(period.div_ceil(2), period);
        let time = random.between(1, deadline.div_ceil(3));
        tasks.push(task(B, (period, deadline), &[time; 3]));
    }
    let given = Parameters {
        tables: Some(vec![table]),
        partition: Some(vec![Some(CPU); tasks.len()]),
        ..Parameters::default()
    };
    problem(tasks, 1).with(&given).ok()
}

/// Whether a job of level B is late in a run of the core's domain, in which all jobs of level A need up to C(B), or C(A) if
/// `overrun`, and those of level B up to C(B).
fn is_late(random: &mut Random, problem: &Problem, overrun: bool) -> bool {
    let table = &problem.given().tables.as_ref().unwrap()[0];
    let tasks = problem.tasks().iter().map(|&task| {
        let container = match task.criticality {
            Level(A) => Container::Table(CPU),
            _ => Container::Local(CPU),
        };
        LevelledTask { task, container }
    });
    let tasks: Vec<LevelledTask> = tasks.collect();
    let configuration = LevelledConfiguration {
        tasks: &tasks,
        tables: &[CpuTable {
            cycle: table.cycle,
            slots: &table.slots,
        }],
        backlog: 8,
        budgets: Budgets::Enforced,
        level_b: LevelB::EarliestDeadline,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let domain = LocalDomain::<Boxed>::with_store(&configuration, CPU).unwrap();
    let short_once_in = random.between(2, 6);
    let mut needs = Random::new(random.next());
    let of_tasks = problem.tasks();
    let mut world = World::new(domain, 1, tasks.len(), move |job| {
        let task = &of_tasks[job.task.index()];
        let level = if overrun { task.criticality } else { Level(B) };
        let most = task.wcet.at(level).as_nanos().max(1);
        let short = needs.once_in(short_once_in);
        vec![if short { needs.between(1, most) } else { most }]
    });
    world.calls = random.one_of(&[Calls::Always, Calls::WhenDue]);
    // By task: the next release, and the deadlines of jobs that are there.
    let sporadic = |task: &LevelledTask| task.task.criticality == Level(B);
    let offset = |task| if sporadic(task) { random.below(30) } else { 0 };
    let mut next: Vec<u64> = tasks.iter().map(offset).collect();
    let mut due: Vec<Vec<u64>> = vec![Vec::new(); tasks.len()];
    for now in 0..240 {
        let mut arrivals = Vec::new();
        for (number, entry) in (0..).zip(&tasks) {
            let index = usize::from(number);
            if next[index] == now {
                arrivals.push(world.release(number));
                due[index].push(now + entry.task.deadline.as_nanos());
                next[index] += entry.task.period.as_nanos();
                if sporadic(entry) && random.once_in(8) {
                    next[index] += random.below(4);
                }
            }
        }
        world.step(&arrivals);
        for (number, due) in (0..).zip(&mut due) {
            if world.completes_now(number) {
                due.remove(0);
            }
            if due.first().is_some_and(|&due| due <= now + 1) {
                return true;
            }
        }
    }
    false
}

#[test]
fn the_domain_of_a_cpu_keeps_the_deadlines_that_are_proved() {
    let mut random = Random::new(50);
    let (mut accepted, mut refused, mut refused_and_late, mut beyond) = (0, 0, 0, 0);
    while accepted < 400 {
        let Some(problem) = draw(&mut random) else {
            continue;
        };
        // A job of level A without need at level B has one unit all the same: it is no run of that level.
        let none = rows(&problem, A)
            .iter()
            .any(|row| row.exact_wcet(usize::from(B)) == 0);
        if none {
            continue;
        }
        let late =
            |random: &mut Random, overrun| (0..3).any(|_| is_late(random, &problem, overrun));
        if decide(&problem, Order::Deadlines).is_ok() {
            accepted += 1;
            assert!(!late(&mut random, false), "{problem:?}");
            // Without the assumption: what level A needs at its own level is another matter.
            beyond += usize::from(late(&mut random, true));
        } else {
            refused += 1;
            refused_and_late += usize::from(late(&mut random, false));
        }
    }
    let all = accepted + refused;
    assert!(
        (5..=95).contains(&(100 * accepted / all)),
        "{accepted} of {all}"
    );
    assert!(
        refused_and_late > 20 && beyond > 5,
        "{refused_and_late} and {beyond}"
    );
}
