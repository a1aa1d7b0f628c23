//! MC² in the world of whole ticks.

use vestal_core::*;
use vestal_testkit::short::ns;
use vestal_testkit::world::{Calls, Told};

pub(crate) type World<'a> = vestal_testkit::World<'a, Levelled>;

/// How the world calls the engine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum How {
    /// At every tick.
    Always,
    /// Only when something happened, a budget is used up, or the plan asked for it.
    WhenDue,
    /// At every tick domain by domain, the CPUs in an order drawn from the seed; each plan is
    /// compared with the total one.
    ByDomain(u64),
}

/// Tasks are drawn as T1, T2 and so on, as the paper has them.
pub(crate) fn world<'a>(
    configuration: &LevelledConfiguration<'a>,
    how: How,
    need: &'a dyn Fn(JobId) -> u64,
) -> World<'a> {
    let (engine, cpus) = (
        Levelled::new(configuration).unwrap(),
        configuration.tables.len(),
    );
    let mut world = World::new(engine, cpus, configuration.tasks.len(), |job| {
        vec![need(job)]
    });
    world.first = 1;
    world.look = |engine, _| assert!(engine.check_invariants());
    match how {
        How::Always => {}
        How::WhenDue => (world.calls, world.told) = (Calls::WhenDue, Told::Reversed),
        How::ByDomain(seed) => {
            world.expect = Box::new(move |engine, now| Some(by_domain(engine, now, seed)));
        }
    }
    world
}

/// The slots that the domains give, each asked by itself.
fn by_domain(engine: &Levelled, at: Instant, seed: u64) -> Vec<Option<Slot>> {
    let mut apart = engine.clone();
    let (locals, shared) = apart.domains();
    let cpus = locals.len();
    // All CPUs, from one that the seed chooses, upwards or downwards.
    for turn in 0..cpus {
        let first = (seed as usize)
            .wrapping_mul(31)
            .wrapping_add(at.as_nanos() as usize);
        let turn = if (first / 7).is_multiple_of(2) {
            turn
        } else {
            cpus - 1 - turn
        };
        let cpu = (first + turn) % cpus;
        let id = CpuId(cpu as u16);
        engine::levelled::step(id, at, &mut locals[cpu], shared).unwrap();
    }
    let claims = shared.decide(at).unwrap().slots;
    let own = (0..)
        .map(CpuId)
        .zip(locals)
        .map(|(cpu, local)| local.decide(at).unwrap().slot(cpu));
    own.zip(claims).map(|(own, claim)| own.or(*claim)).collect()
}

/// One tick, in which all tasks release periodically if they do.
pub(crate) fn tick(world: &mut World<'_>, tasks: &[LevelledTask], releases: bool) {
    let tasks = tasks.iter().map(|entry| &entry.task);
    let arrivals = if releases {
        world.periodic(tasks)
    } else {
        Vec::new()
    };
    world.step(&arrivals);
}

/// Which ghosts use up budget of a CPU: of level B and of level C.
pub(crate) fn ghosts(world: &World<'_>, cpu: usize) -> [Option<TaskId>; 2] {
    [true, false].map(|local| world.engine.ghost(CpuId(cpu as u16), local))
}

/// A task of the given container; its budget is `budget`.
pub(crate) fn task(container: Container, period: u64, budget: u64) -> LevelledTask {
    let level = match container {
        Container::Table(_) => 3,
        Container::Local(_) => 2,
        Container::Global => 1,
        Container::BestEffort => 0,
    };
    let span = Duration::from_nanos(period);
    let wcet = Wcet::constant(ns(budget));
    let task = Task::new(Level(level), span, span, wcet).unwrap();
    LevelledTask { task, container }
}

/// A table slot.
pub(crate) fn slot(start: u64, length: u64, task: u16) -> TableSlot {
    TableSlot {
        start: Duration::from_nanos(start),
        length: Duration::from_nanos(length),
        task: TaskId(task),
    }
}

/// A configuration with a granularity of nothing.
pub(crate) fn configuration<'a>(
    tasks: &'a [LevelledTask],
    tables: &'a [CpuTable<'a>],
    backlog: usize,
) -> LevelledConfiguration<'a> {
    LevelledConfiguration {
        tasks,
        tables,
        backlog,
        budgets: Budgets::Enforced,
        level_b: LevelB::EarliestDeadline,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    }
}
