//! Hierarchies of servers in the world of whole ticks: short constructors.

use super::short::{ns, span};
use super::world::{self, Program};
use std::vec::Vec;
use vestal_core::server::Chunk;
use vestal_core::*;

/// A hierarchy in the world of whole ticks.
pub type World<'a> = world::World<'a, Hierarchy>;

/// A server of `kind` without criticality, under fixed priorities inside.
#[must_use]
pub fn server(kind: ServerKind, priority: u32) -> ServerConfiguration {
    ServerConfiguration {
        kind,
        priority,
        criticality: Level(0),
        order: LocalOrder::FixedPriority,
    }
}

/// A sporadic server with so many places for replenishments.
#[must_use]
pub fn sporadic(capacity: u64, period: u64, replenishments: u16) -> ServerKind {
    ServerKind::Sporadic {
        period: span(period),
        capacity: ByLevel::constant(ns(capacity)),
        replenishments,
        full: WhenFull::MergeHead,
    }
}

/// A sporadic server whose capacity differs by mode.
///
/// # Panics
/// If there is no capacity, or more than there can be levels.
#[must_use]
pub fn sporadic_by_mode(capacity: &[u64], period: u64) -> ServerKind {
    let capacity: Vec<Service> = capacity.iter().copied().map(ns).collect();
    ServerKind::Sporadic {
        period: span(period),
        capacity: ByLevel::new(&capacity).unwrap(),
        replenishments: 20,
        full: WhenFull::MergeHead,
    }
}

/// A PIBS.
///
/// # Panics
/// If that is no utilisation.
#[must_use]
pub fn pibs(numerator: u64, denominator: u64) -> ServerKind {
    ServerKind::Pibs {
        utilization: ByLevel::constant(Utilization::new(numerator, denominator).unwrap()),
    }
}

/// A task of `server` with a local priority and a relative deadline.
///
/// # Panics
/// If there is no such task.
#[must_use]
pub fn task(server: u16, priority: u32, deadline: u64) -> ServedTask {
    let wcet = Wcet::constant(ns(1));
    ServedTask {
        task: Task::new(Level(0), span(deadline), span(deadline), wcet).unwrap(),
        server: ServerId(server),
        priority,
        on_behalf_of: None,
    }
}

/// The same with modes that rise by themselves.
#[must_use]
pub fn adaptive<'a>(
    configuration: &HierarchyConfiguration<'a>,
    pibs_raise: bool,
) -> HierarchyConfiguration<'a> {
    HierarchyConfiguration {
        modes: Modes::Adaptive { pibs_raise },
        ..*configuration
    }
}

/// Two levels, modes on request, and a granularity of nothing.
#[must_use]
pub fn configuration<'a>(
    servers: &'a [ServerConfiguration],
    tasks: &'a [ServedTask],
    devices: &'a [DeviceConfiguration],
) -> HierarchyConfiguration<'a> {
    HierarchyConfiguration {
        servers,
        tasks,
        devices,
        levels: LevelSet::new(2).unwrap(),
        modes: Modes::Requested,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    }
}

/// Every job of task i executes `programs[i]`; an idling server is drawn by its letter.
///
/// # Panics
/// If the configuration is refused.
#[must_use]
pub fn world(configuration: &HierarchyConfiguration<'_>, programs: Vec<Program>) -> World<'static> {
    let engine = Hierarchy::new(configuration).unwrap();
    let tasks = configuration.tasks.len();
    let mut world = World::new(engine, 1, tasks, move |job| {
        programs[job.task.index()].clone()
    });
    world.look = |engine, at| assert!(engine.check_invariants(), "at {at:?}");
    world.idler = |engine| {
        let letter = |ServerId(server): ServerId| char::from(b'a' + u8::try_from(server).unwrap());
        engine.idling().map_or('.', letter)
    };
    world
}

/// The replenishments of a sporadic server as (instant, amount).
#[must_use]
pub fn list(world: &World<'_>, server: u16) -> Vec<(u64, u64)> {
    let pair = |chunk: &Chunk| (chunk.due.as_nanos(), chunk.amount.as_nanos());
    let list = world.engine.replenishments(ServerId(server));
    list.iter().map(pair).collect()
}
