//! Systems of servers and tasks, drawn at random or enumerated, and their schedule by the core's engine.

use vestal_core::{
    ByLevel, DropReason, Event, Fact, LocalOrder as CoreOrder, ServedTask, ServerConfiguration,
    ServerKind, TaskId,
};
use vestal_hsf::{Kind, LocalOrder, ServerSpec};
use vestal_testkit::Random;
use vestal_testkit::hierarchies as core_world;
use vestal_testkit::short::{ns, span};

/// How jobs of a task arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Arrivals {
    Periodic {
        offset: u32,
        period: u32,
    },
    /// At random, with gaps up to twice this.
    Sporadic {
        gap: u64,
    },
}

/// How a job waits between two parts of its execution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Waits {
    /// It delays itself.
    Delay,
    /// It blocks, and something outside has it go on.
    Block,
    /// It delays itself in its server's own time, which the core does not know.
    Virtual,
}

#[derive(Clone, Debug)]
pub(crate) struct TaskSpec {
    pub(crate) server: u8,
    pub(crate) priority: u8,
    pub(crate) deadline: u32,
    pub(crate) arrivals: Arrivals,
    /// What each job executes, part by part.
    pub(crate) parts: Vec<u64>,
    pub(crate) waits: Waits,
}

#[derive(Clone, Debug)]
pub(crate) struct System {
    pub(crate) servers: Vec<ServerSpec>,
    pub(crate) tasks: Vec<TaskSpec>,
    pub(crate) seed: u64,
}

pub(crate) const KINDS: [Kind; 3] = [Kind::Polling, Kind::Idling, Kind::Deferrable];
pub(crate) const ORDERS: [LocalOrder; 2] =
    [LocalOrder::FixedPriority, LocalOrder::EarliestDeadline];

fn random_server(random: &mut Random, count: u64, scale: u64) -> ServerSpec {
    let period = 3 + random.below(20);
    let most = (2 * period / count).clamp(1, period);
    ServerSpec {
        kind: random.one_of(&KINDS),
        priority: random.below(4) as u8,
        order: random.one_of(&ORDERS),
        period: (period * scale) as u32,
        capacity: ((1 + random.below(most)) * scale) as u32,
    }
}

pub(crate) fn random_task(random: &mut Random, servers: u64, scale: u64) -> TaskSpec {
    let parts = 1 + random.below(3) * random.below(2);
    let arrivals = if random.once_in(4) {
        Arrivals::Sporadic {
            gap: (2 + random.below(20)) * scale,
        }
    } else {
        Arrivals::Periodic {
            offset: (random.below(12) * scale) as u32,
            // Often more than 15 ticks, sometimes several times.
            period: ((2 + random.below(15) * random.between(1, 4)) * scale) as u32,
        }
    };
    TaskSpec {
        server: random.below(servers) as u8,
        priority: random.below(3) as u8,
        deadline: ((1 + random.below(30)) * scale) as u32,
        arrivals,
        parts: (0..parts).map(|_| 1 + random.below(4 * scale)).collect(),
        waits: random.one_of(&[Waits::Delay, Waits::Block]),
    }
}

/// Up to three servers with up to five tasks; `scale` lengthens everything.
pub(crate) fn random_system(seed: u64, scale: u64) -> System {
    let mut random = Random::new(seed);
    let servers = 1 + random.below(3);
    System {
        servers: (0..servers)
            .map(|_| random_server(&mut random, servers, scale))
            .collect(),
        tasks: (0..1 + random.below(5))
            .map(|_| random_task(&mut random, servers, scale))
            .collect(),
        seed,
    }
}

/// How long the n-th wait of a task takes; often it is over at once.
pub(crate) fn wait(system: &System, task: usize, nth: u64) -> u64 {
    let seed = system.seed ^ (task as u64) << 40 ^ nth << 8;
    Random::new(seed).below(9) * Random::new(!seed).below(4)
}

/// What came from outside: by tick, the tasks of which a sporadic job arrived.
pub(crate) type Log = Vec<(u64, usize)>;

fn core_server(spec: &ServerSpec) -> ServerConfiguration {
    let period = span(spec.period.into());
    let capacity = ByLevel::constant(ns(spec.capacity.into()));
    let kind = match spec.kind {
        Kind::Polling => ServerKind::Polling { period, capacity },
        Kind::Idling => ServerKind::IdlingPeriodic { period, capacity },
        Kind::Deferrable => ServerKind::Deferrable { period, capacity },
    };
    ServerConfiguration {
        order: match spec.order {
            LocalOrder::FixedPriority => CoreOrder::FixedPriority,
            LocalOrder::EarliestDeadline => CoreOrder::EarliestDeadline,
        },
        // There a larger number is more urgent.
        ..core_world::server(kind, u32::from(u8::MAX - spec.priority))
    }
}

fn core_task(spec: &TaskSpec) -> ServedTask {
    let priority = u32::from(u8::MAX - spec.priority);
    core_world::task(spec.server.into(), priority, spec.deadline.into())
}

/// The schedule by the core's engine: who executes in each tick. It ends early, at the tick in which the core drops a
/// job because four wait already: that limit is its own.
pub(crate) fn core_schedule(system: &System, log: &Log, ticks: u64) -> String {
    let servers: Vec<_> = system.servers.iter().map(core_server).collect();
    let tasks: Vec<_> = system.tasks.iter().map(core_task).collect();
    let programs = system.tasks.iter().map(|task| task.parts.clone()).collect();
    let mut world = core_world::world(&core_world::configuration(&servers, &tasks, &[]), programs);
    let mut waits = vec![0; system.tasks.len()];
    let mut wakes: Vec<Option<u64>> = vec![None; system.tasks.len()];
    let mut log = log.iter().peekable();
    for now in 0..ticks {
        let mut facts = Vec::new();
        for (index, task) in system.tasks.iter().enumerate() {
            let number = index as u16;
            if world.blocks_now(number) {
                wakes[index] = Some(now + wait(system, index, waits[index]));
                waits[index] += 1;
            }
            if wakes[index] == Some(now) {
                let task = TaskId(number);
                facts.push(Fact::Woken {
                    task,
                    on_behalf_of: None,
                });
            }
            if let Arrivals::Periodic { offset, period } = task.arrivals
                && let Some(since) = now.checked_sub(offset.into())
                && since.is_multiple_of(period.into())
            {
                facts.push(world.release(number));
            }
        }
        while let Some((_, task)) = log.next_if(|(at, _)| *at == now) {
            facts.push(world.release(*task as u16));
        }
        world.step(&facts);
        let dropped = |(_, event): &(u64, Event)| {
            matches!(
                event,
                Event::Dropped {
                    why: DropReason::BacklogFull,
                    ..
                }
            )
        };
        if world.events().iter().any(dropped) {
            world.rows[0].pop();
            break;
        }
    }
    world.rows.remove(0)
}
