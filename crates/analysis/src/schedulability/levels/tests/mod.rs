//! Levels A and B against drawings, the engine and examples by hand.

mod answer;
mod by_hand;
mod engine;
mod left;
mod local;
mod place;
mod tables;

use super::{Effort, Found, Order, Question};
use crate::grade::Grade;
use crate::level_reason::LevelReason;
use crate::parameters::DispatchTable;
use crate::problem::{Problem, Row};
use core::num::NonZeroU16;
use vestal_core::{Duration, Level, LevelSet, Service, TableSlot, Task, TaskId, Wcet};
use vestal_testkit::Random;
use vestal_testkit::levels::Slotted;

const GRADES: [Grade; 4] = [Grade::D, Grade::C, Grade::B, Grade::A];
const A: u8 = 3;
const B: u8 = 2;
const C: u8 = 1;
const D: u8 = 0;

fn span(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// A task of this level with period and deadline, and its execution times from level D on up to its own.
fn task(level: u8, (period, deadline): (u64, u64), wcet: &[u64]) -> Task {
    let values: Vec<Service> = wcet.iter().copied().map(Service::from_nanos).collect();
    let wcet = Wcet::new(&values).unwrap();
    Task::new(Level(level), span(period), span(deadline), wcet).unwrap()
}

/// All of them come at the multiples of their periods.
fn problem(tasks: Vec<Task>, cpus: u16) -> Problem {
    let first = vec![Some(Duration::ZERO); tasks.len()];
    Problem::new(tasks, LevelSet::new(4).unwrap())
        .unwrap()
        .with_cpus(NonZeroU16::new(cpus).unwrap())
        .unwrap()
        .with_first_releases(first)
}

fn rows(problem: &Problem, level: u8) -> Vec<&Row> {
    let rows = problem.rows().iter();
    rows.filter(|row| row.criticality == usize::from(level))
        .collect()
}

fn slot(start: u64, length: u64, task: u16) -> TableSlot {
    let (start, length, task) = (span(start), span(length), TaskId(task));
    TableSlot {
        start,
        length,
        task,
    }
}

fn table(cycle: u64, slots: &[TableSlot]) -> DispatchTable {
    let (cycle, slots) = (span(cycle), slots.to_vec());
    DispatchTable { cycle, slots }
}

fn decide(problem: &Problem, order: Order) -> Result<Found, LevelReason> {
    let question = Question {
        problem,
        grades: &GRADES,
        order,
        interrupt_master: None,
    };
    ask(&question, &mut Effort::default())
}

/// Levels A and B, where both are schedulable.
fn ask(question: &Question<'_>, effort: &mut Effort) -> Result<Found, LevelReason> {
    let found = question.find(effort)?;
    found.why.map_or(Ok(found), Err)
}

/// Tasks of level A that may be too much for a CPU; their hyperperiod is at most 24.
fn draw_level_a(random: &mut Random, most: u64) -> Vec<Task> {
    let count = random.between(0, most);
    let periods = random.one_of(&[[4, 8, 12], [6, 12, 24], [5, 10, 20], [3, 6, 9]]);
    let mut tasks = Vec::new();
    for _ in 0..count {
        let period = random.one_of(&periods);
        let deadline = match random.once_in(3) {
            true => random.between(1, period),
            false => period,
        };
        let own = random.between(1, deadline.min(1 + period / 2));
        let mut times = [0; 4];
        times[3] = own;
        for level in (0..3).rev() {
            times[level] = random.between(times[level + 1] / 2, times[level + 1]);
        }
        tasks.push(task(A, (period, deadline), &times));
    }
    tasks
}

/// A table for these in which each job has its time somewhere between its release and its deadline, over one cycle of the
/// tasks or two, if the draw finds one.
fn draw_table(random: &mut Random, rows: &[&Row], cycles: u64) -> Option<DispatchTable> {
    let slotted = rows.iter().map(|row| Slotted {
        task: TaskId(row.task as u16),
        period: row.period,
        deadline: row.deadline,
        own: row.own_wcet(),
    });
    let slotted: Vec<Slotted> = slotted.collect();
    let (cycle, slots) = vestal_testkit::levels::table(random, &slotted, cycles)?;
    Some(DispatchTable { cycle, slots })
}
