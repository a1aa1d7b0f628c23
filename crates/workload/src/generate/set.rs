//! From drawn numbers to a task set.

use crate::model::{Arrival, Origin, Platform, TaskSet, TaskSpec};
use crate::source::{Place, Source};
use vestal_core::{Duration, Level, Service, Task, Wcet};

/// A set on one CPU of these tasks, named `t1`, `t2`, ... in their order. Sets of two levels call
/// them LO and HI, others L0, L1, ...
#[must_use]
pub fn task_set(name: String, levels: usize, tasks: &[Task]) -> TaskSet {
    let tasks = (1..).zip(tasks);
    TaskSet {
        name,
        levels: level_names(levels),
        unit: None,
        platform: Platform {
            cpus: 1,
            tick: None,
            interrupt_master: None,
            bus: None,
            place: Place::default(),
        },
        tasks: tasks
            .map(|(number, task)| spec(format!("t{number}"), task, levels))
            .collect(),
        servers: Vec::new(),
        devices: Vec::new(),
        jobs: Vec::new(),
        origin: Origin {
            source: Source::new("generated", ""),
            warnings: Vec::new(),
        },
    }
}

fn level_names(levels: usize) -> Vec<String> {
    match levels {
        2 => vec!["LO".to_owned(), "HI".to_owned()],
        _ => (0..levels).map(|level| format!("L{level}")).collect(),
    }
}

/// Execution times stand in the file up to the task's own level, as the papers give them.
pub(super) fn spec(name: String, task: &Task, levels: usize) -> TaskSpec {
    let wcet = (0..).map(Level).take(levels);
    let wcet = wcet.map(|level| (level <= task.criticality).then(|| task.wcet.at(level)));
    TaskSpec {
        name,
        criticality: task.criticality,
        period: task.period,
        deadline: task.deadline,
        arrival: Arrival::Sporadic,
        wcet: wcet.collect(),
        degraded: vec![None::<Service>; levels],
        accesses: vec![None; levels],
        ..TaskSpec::default()
    }
}

/// A task of level `values.len() - 1` with these times in ns; the values never fall.
pub(super) fn task(period: u64, deadline: u64, values: &[u64]) -> Task {
    let services: Vec<Service> = values.iter().copied().map(Service::from_nanos).collect();
    let own = services.last().copied().unwrap_or(Service::ZERO);
    let criticality = u8::try_from(services.len().saturating_sub(1)).unwrap_or(u8::MAX);
    Task {
        criticality: Level(criticality),
        period: Duration::from_nanos(period),
        deadline: Duration::from_nanos(deadline),
        wcet: Wcet::new(&services).unwrap_or(Wcet::constant(own)),
        degraded: None,
    }
}

/// floor(period * share), for periods below 2^53 ns (104 days) and shares from 0 to 1.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the product is between 0 and the period, which is exact"
)]
pub(super) fn nanos_of(period: u64, share: f64) -> u64 {
    (period as f64 * share) as u64
}
