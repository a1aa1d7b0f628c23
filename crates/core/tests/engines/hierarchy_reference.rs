//! The engine against a per-tick reference scheduler: equal schedules on thousands of random systems.

use crate::hierarchy_per_tick::{Changes, Fault, Kind, Reference, Server, Task};
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
    changes: Changes,
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
        capacity: [1 + random.below(most); 2],
        priority: random.below(4),
        edf: random.below(3) == 0,
        high: random.below(2) == 0,
    }
}

/// What differs by mode. Every other system has one mode.
fn draw_modes(random: &mut Random, system: &mut System) {
    system.changes = match random.below(6) {
        0..3 => return,
        3 => Changes::OnRequest,
        4 => Changes::ByJobs,
        _ => Changes::ByJobsAndPibs,
    };
    for server in &mut system.servers {
        let [low, high] = &mut server.capacity;
        *high = match random.below(3) {
            _ if server.high => (*low + random.below(*low + 3)).min(server.period),
            0 => random.below(*low + 1),
            _ => 0,
        };
        if let Kind::Pibs {
            numerators: [low, high],
            denominator,
        } = &mut server.kind
        {
            *high = match random.below(2) {
                _ if server.high => (*low * 2).min(*denominator),
                0 => *low,
                _ => 0,
            };
        }
    }
    for task in &mut system.tasks {
        let home = &system.servers[task.server];
        task.high = home.high;
        let most = match home.kind {
            Kind::Pibs { .. } => [9; 2],
            Kind::Polling | Kind::Idling | Kind::Deferrable | Kind::Sporadic { .. } => {
                home.capacity
            }
        };
        let low = match random.below(2) {
            0 => home.capacity[0].max(1),
            _ => (1 + random.below(4)).min(most[0]),
        };
        let high = (low + random.below(4)).min(most[1]);
        task.wcet = [low, high.max(low)];
        if random.below(2) == 0 {
            task.program = vec![low + random.below(4)];
        }
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
        high: false,
        wcet: [1; 2],
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
                numerators: [1; 2],
                denominator: 1 + random.below(shortest),
            },
            period: 0,
            capacity: [0; 2],
            priority: 0,
            edf: random.below(3) == 0,
            high: random.below(2) == 0,
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
    let mut system = System {
        servers,
        tasks,
        gaps,
        changes: Changes::OnRequest,
    };
    draw_modes(random, &mut system);
    system
}

fn kind(server: &Server) -> ServerKind {
    let period = span(server.period);
    let capacity = ByLevel::new(&server.capacity.map(ns)).unwrap();
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
            numerators,
            denominator,
        } => {
            let share = |numerator| Utilization::new(numerator, denominator).unwrap();
            ServerKind::Pibs {
                utilization: ByLevel::new(&numerators.map(share)).unwrap(),
            }
        }
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
            criticality: Level(u8::from(entry.high)),
            ..server(kind(entry), entry.priority as u32)
        })
        .collect();
    let mut devices = Vec::new();
    let mut device_of = Vec::new();
    let mut tasks = Vec::new();
    for (index, entry) in system.tasks.iter().enumerate() {
        let mut task = task(entry.server as u16, entry.priority as u32, entry.deadline);
        task.on_behalf_of = Some(ServerId(entry.serves as u16));
        task.task.criticality = Level(u8::from(entry.high));
        task.task.wcet = Wcet::new(&entry.wcet.map(ns)).unwrap();
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
    let mut configuration = configuration(&servers, &tasks, &devices);
    configuration.modes = match system.changes {
        Changes::OnRequest => Modes::Requested,
        Changes::ByJobs => Modes::Adaptive { pibs_raise: false },
        Changes::ByJobsAndPibs => Modes::Adaptive { pibs_raise: true },
    };
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

/// Two drawings, and how often things happened.
struct Compared {
    engine: String,
    reference: String,
    decisions: u64,
    rises: u64,
}

/// Runs both on the same arrivals.
fn compare(seed: u64, how: How) -> Compared {
    compare_with(seed, how, None)
}

/// Runs both, the reference with a fault.
fn compare_with(seed: u64, how: How, fault: Option<Fault>) -> Compared {
    let mut random = Random::new(seed);
    let system = random_system(&mut random);
    let (mut world, device_of) = world(&system);
    match how {
        How::EveryTick => {}
        How::Shuffled => world.told = Told::Shuffled(Random::new(!seed)),
        How::Eager => world.eager = true,
        How::Lazy => world.calls = Calls::WhenDue,
    }
    let mut reference = Reference::new(&system.servers, &system.tasks, system.changes, &delay);
    reference.fault = fault;
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
        let requested = random.once_in(30);
        if requested {
            facts.push(Fact::ModeRequested { level: Level(1) });
        }
        world.step(&facts);
        reference.tick(now, &arrivals, requested);
    }
    Compared {
        engine: world.rows.remove(0),
        reference: reference.trace,
        decisions: world.decisions,
        rises: reference.rises,
    }
}

#[test]
fn the_engine_gives_the_schedule_of_the_per_tick_reference() {
    let (mut idled, mut busy, mut rises) = (0_u64, 0_u64, 0);
    for seed in 0..SYSTEMS {
        let run = compare(seed, How::EveryTick);
        let engine = run.engine;
        assert_eq!(engine, run.reference, "seed {seed}");
        rises += run.rises;
        idled += u64::from(engine.contains(|who: char| who.is_ascii_lowercase()));
        busy += engine.matches(|who: char| who.is_ascii_digit()).count() as u64;
    }
    assert!(idled > SYSTEMS / 5, "idling servers idle in {idled} runs");
    assert!(busy > SYSTEMS * TICKS / 4, "jobs run for {busy} ticks");
    assert!(rises > SYSTEMS, "the mode rises {rises} times");
}

#[test]
fn c3_no_permutation_of_the_facts_of_one_instant_changes_the_schedule() {
    for seed in 0..SYSTEMS / 2 {
        let shuffled = compare(seed, How::Shuffled);
        assert_eq!(shuffled.engine, shuffled.reference, "seed {seed}");
    }
    let differs = |seed: &u64| {
        let eager = compare(*seed, How::Eager);
        eager.engine != eager.reference
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
        let lazy = compare(seed, How::Lazy);
        assert_eq!(lazy.engine, lazy.reference, "seed {seed}");
        decisions += lazy.decisions;
    }
    assert!(decisions < SYSTEMS * TICKS * 3 / 4, "{decisions} decisions");
}

/// The control: that systems and events are such that each rule of a mode change makes a difference.
#[test]
fn a_reference_without_one_rule_of_mode_changes_is_found_out() {
    for fault in Fault::ALL {
        let differs = |seed: &u64| {
            let run = compare_with(*seed, How::EveryTick, Some(fault));
            run.engine != run.reference
        };
        assert!((0..SYSTEMS).any(|seed| differs(&seed)), "{fault:?}");
    }
}
