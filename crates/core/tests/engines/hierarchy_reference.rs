//! The engine against a per-tick reference scheduler: equal schedules on thousands of random systems.

use crate::hierarchy_per_tick::{Kind, Reference, Server, Task};
use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::hierarchies::*;
use vestal_testkit::short::{ns, span};
use vestal_testkit::world::{Calls, Told};

const SYSTEMS: u64 = 6000;
const TICKS: u64 = 240;

struct System {
    servers: Vec<Server>,
    tasks: Vec<Task>,
    gaps: Vec<u64>,
}

fn random_server(random: &mut Random, count: u64) -> Server {
    let period = 3 + random.below(20);
    let most = (2 * period / count).clamp(1, period);
    Server {
        kind: match random.below(5) {
            0 => Kind::Polling,
            1 => Kind::Idling,
            2 => Kind::Deferrable,
            _ => Kind::Sporadic {
                positions: 2 + random.below(4) as usize,
                tail: random.below(2) == 0,
            },
        },
        period,
        capacity: 1 + random.below(most),
        priority: random.below(4),
        edf: random.below(3) == 0,
    }
}

fn random_task(random: &mut Random, server: usize) -> Task {
    let segments = 1 + random.below(3) * random.below(2);
    Task {
        server,
        priority: random.below(3),
        deadline: 1 + random.below(30),
        device: false,
        serves: 0,
        program: (0..segments).map(|_| 1 + random.below(4)).collect(),
    }
}

fn random_system(random: &mut Random) -> System {
    let count = 1 + random.below(3);
    let mut servers: Vec<_> = (0..count).map(|_| random_server(random, count)).collect();
    let mut tasks: Vec<_> = (0..1 + random.below(5))
        .map(|_| random_task(random, 0))
        .collect();
    for task in &mut tasks {
        task.server = random.below(count) as usize;
    }
    if random.below(2) == 0 {
        let shortest = servers.iter().map(|server| server.period).min().unwrap();
        servers.push(Server {
            kind: Kind::Pibs {
                numerator: 1,
                denominator: 1 + random.below(shortest),
            },
            period: 0,
            capacity: 0,
            priority: 0,
            edf: random.below(3) == 0,
        });
        for _ in 0..1 + random.below(2) {
            let mut task = random_task(random, count as usize);
            task.serves = random.below(count) as usize;
            task.device = random.below(2) == 0;
            // The queue of a device gives interrupts no instants that EDF could use.
            servers[count as usize].edf &= !task.device;
            tasks.push(task);
        }
    }
    let gaps = tasks.iter().map(|_| 2 + random.below(25)).collect();
    System {
        servers,
        tasks,
        gaps,
    }
}

fn kind(server: &Server) -> ServerKind {
    let period = span(server.period);
    let capacity = ByLevel::constant(ns(server.capacity));
    match server.kind {
        Kind::Polling => ServerKind::Polling { period, capacity },
        Kind::Idling => ServerKind::IdlingPeriodic { period, capacity },
        Kind::Deferrable => ServerKind::Deferrable { period, capacity },
        Kind::Sporadic { positions, tail } => ServerKind::Sporadic {
            period,
            capacity,
            replenishments: positions as u16,
            full: if tail {
                WhenFull::MergeTail
            } else {
                WhenFull::MergeHead
            },
        },
        Kind::Pibs {
            numerator,
            denominator,
        } => pibs(numerator, denominator),
    }
}

fn world(system: &System) -> (World<'static>, Vec<Option<DeviceId>>) {
    let servers: Vec<_> = system
        .servers
        .iter()
        .map(|entry| ServerConfiguration {
            order: if entry.edf {
                LocalOrder::EarliestDeadline
            } else {
                LocalOrder::FixedPriority
            },
            ..server(kind(entry), entry.priority as u32)
        })
        .collect();
    let mut devices = Vec::new();
    let mut device_of = Vec::new();
    let mut tasks = Vec::new();
    for (index, entry) in system.tasks.iter().enumerate() {
        let mut task = task(entry.server as u16, entry.priority as u32, entry.deadline);
        task.on_behalf_of = Some(ServerId(entry.serves as u16));
        tasks.push(task);
        device_of.push(
            entry
                .device
                .then(|| DeviceId(devices.len().try_into().unwrap())),
        );
        if entry.device {
            let bottom_half = TaskId(index as u16);
            devices.push(DeviceConfiguration { bottom_half });
        }
    }
    let programs = system.tasks.iter().map(|task| task.program.clone());
    let configuration = configuration(&servers, &tasks, &devices);
    let world = vestal_testkit::hierarchies::world(&configuration, programs.collect());
    (world, device_of)
}

/// How long the n-th blocking of a task lasts; often it is over at once.
fn delay(task: usize, nth: u64) -> u64 {
    Random::new((task as u64) << 32 | nth).below(6)
}

/// How the world calls the engine.
#[derive(Clone, Copy, PartialEq)]
enum How {
    EveryTick,
    /// Every tick, the facts of each in random order.
    Shuffled,
    /// Every tick, and after every single fact as well.
    Eager,
    /// When a plan asked for it or something happened.
    Lazy,
}

/// Runs both on the same arrivals; returns the two drawings and the number of decisions.
fn compare(seed: u64, how: How) -> (String, String, u64) {
    let mut random = Random::new(seed);
    let system = random_system(&mut random);
    let (mut world, device_of) = world(&system);
    match how {
        How::EveryTick => {}
        How::Shuffled => world.told = Told::Shuffled(Random::new(!seed)),
        How::Eager => world.eager = true,
        How::Lazy => world.calls = Calls::WhenDue,
    }
    let mut reference = Reference::new(&system.servers, &system.tasks, &delay);
    let count = system.tasks.len();
    let mut next: Vec<u64> = (0..count).map(|_| random.below(10)).collect();
    let mut blockings = vec![0; count];
    let mut wake_at = vec![None; count];
    for now in 0..TICKS {
        let (mut facts, mut arrivals) = (Vec::new(), Vec::new());
        for task in 0..count {
            let number = task as u16;
            if world.blocks_now(number) {
                wake_at[task] = Some(now + delay(task, blockings[task]));
                blockings[task] += 1;
            }
            if wake_at[task] == Some(now) {
                facts.push(Fact::Woken {
                    task: TaskId(number),
                    on_behalf_of: None,
                });
            }
            if next[task] != now {
                continue;
            }
            next[task] = now + 1 + random.below(2 * system.gaps[task]);
            match device_of[task] {
                None => {
                    facts.push(world.release(number));
                    arrivals.push(task);
                }
                Some(device) => {
                    let count = 1 + random.below(3) as u32;
                    facts.push(Fact::Interrupt { device, count });
                    arrivals.extend((0..count).map(|_| task));
                }
            }
        }
        world.step(&facts);
        reference.tick(now, &arrivals);
    }
    (world.rows.remove(0), reference.trace, world.decisions)
}

#[test]
fn the_engine_gives_the_schedule_of_the_per_tick_reference() {
    let (mut idled, mut busy) = (0_u64, 0_u64);
    for seed in 0..SYSTEMS {
        let (engine, reference, _) = compare(seed, How::EveryTick);
        assert_eq!(engine, reference, "seed {seed}");
        idled += u64::from(engine.contains(|who: char| who.is_ascii_lowercase()));
        busy += engine.matches(|who: char| who.is_ascii_digit()).count() as u64;
    }
    assert!(idled > SYSTEMS / 5, "idling servers idle in {idled} runs");
    assert!(busy > SYSTEMS * TICKS / 4, "jobs run for {busy} ticks");
}

#[test]
fn c3_no_permutation_of_the_facts_of_one_instant_changes_the_schedule() {
    for seed in 0..SYSTEMS / 2 {
        let (shuffled, reference, _) = compare(seed, How::Shuffled);
        assert_eq!(shuffled, reference, "seed {seed}");
    }
    let differs = |seed: &u64| {
        let (eager, reference, _) = compare(*seed, How::Eager);
        eager != reference
    };
    let differing = (0..SYSTEMS / 2).filter(differs).count();
    assert!(
        differing > 100,
        "drawing consequences at once goes unnoticed: {differing} runs differ"
    );
}

/// The runs above decide at every tick, so that most of their wake-ups are early and spurious. These
/// decide only when a plan asked for it, a budget is used up or something happens.
#[test]
fn c6_wake_ups_that_nobody_asked_for_change_nothing_and_those_asked_for_suffice() {
    let mut decisions = 0;
    for seed in 0..SYSTEMS {
        let (lazy, reference, decided) = compare(seed, How::Lazy);
        assert_eq!(lazy, reference, "seed {seed}");
        decisions += decided;
    }
    assert!(decisions < SYSTEMS * TICKS * 3 / 4, "{decisions} decisions");
}
