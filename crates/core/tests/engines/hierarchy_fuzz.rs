//! Any sequence of facts, sensible or not: refused ones change nothing, the invariants hold, and a
//! decision made twice is made once.

use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::hierarchies::*;
use vestal_testkit::short::{CPU, at, ns, span};

const SERVERS: u64 = 5;
const TASKS: u64 = 7;

/// One server of each kind, with capacities that rise or fall in mode 1 at random.
fn engine(random: &mut Random) -> Hierarchy {
    let period = span(8 + random.below(8));
    let low = 1 + random.below(8);
    let capacity = ByLevel::new(&[ns(low), ns(random.below(9))]).unwrap();
    let share = |numerator| Utilization::new(numerator, 5).unwrap();
    let utilization = ByLevel::new(&[share(1 + random.below(5)), share(random.below(6))]).unwrap();
    let kinds = [
        ServerKind::Polling { period, capacity },
        ServerKind::IdlingPeriodic { period, capacity },
        ServerKind::Deferrable { period, capacity },
        ServerKind::Sporadic {
            period,
            capacity,
            replenishments: 2 + random.below(4) as u16,
            full: [WhenFull::MergeHead, WhenFull::MergeTail][random.below(2) as usize],
        },
        ServerKind::Pibs { utilization },
    ];
    let is_adaptive = random.once_in(2);
    // Under modes that rise by themselves who has nothing in mode 1 is none of its servers.
    let highest = if is_adaptive && capacity.at(Level(1)).is_zero() {
        1
    } else {
        2
    };
    let servers = kinds.map(|kind| ServerConfiguration {
        criticality: Level(random.below(highest) as u8),
        ..server(kind, random.below(4) as u32)
    });
    let tasks: Vec<_> = (0..TASKS)
        .map(|task_| {
            let mut task = task((task_ % SERVERS) as u16, random.below(3) as u32, 20);
            task.on_behalf_of = Some(ServerId(random.below(4) as u16));
            let low = 1 + random.below(5);
            task.task.wcet = Wcet::new(&[ns(low), ns(low + random.below(5))]).unwrap();
            task.task.criticality = Level(random.below(2) as u8);
            if is_adaptive {
                let home = servers[task.server.index()];
                task.task.criticality = home.criticality;
                let most = home.kind.capacity().map_or([9; 2], |capacity| {
                    [0, 1].map(|level| capacity.at(Level(level)).as_nanos())
                });
                let low = low.min(most[0]).min(most[1].max(1));
                let high = most[1].max(low).min(low + random.below(5));
                task.task.wcet = Wcet::new(&[ns(low), ns(high)]).unwrap();
            }
            task
        })
        .collect();
    let devices = [TaskId(4), TaskId(3)].map(|bottom_half| DeviceConfiguration { bottom_half });
    let mut configuration = configuration(&servers, &tasks, &devices);
    configuration.granularity = ns(random.below(2));
    if is_adaptive {
        let pibs_raise = random.below(2) == 0;
        configuration.modes = Modes::Adaptive { pibs_raise };
    }
    Hierarchy::new(&configuration).unwrap()
}

fn random_job(random: &mut Random, engine: &Hierarchy, planned: Option<Slot>) -> JobId {
    match random.below(8) {
        0..3 => engine.running(),
        3..6 => planned.map(|slot| slot.job),
        _ => None,
    }
    .unwrap_or(JobId {
        task: TaskId(random.below(TASKS + 1) as u16),
        sequence: random.below(40),
    })
}

fn random_fact(random: &mut Random, engine: &Hierarchy, planned: Option<Slot>) -> Fact {
    let cpu = CPU;
    let job = random_job(random, engine, planned);
    match random.below(16) {
        0..3 => Fact::Released { job },
        3 => Fact::Completed { cpu, job },
        4..7 => Fact::Charged {
            cpu,
            job,
            amount: ns(match random.below(20) {
                0 => random.next() >> 1,
                1..4 => random.below(50),
                _ => random.below(4),
            }),
        },
        7..10 => Fact::Started { cpu, job },
        10 | 11 => Fact::Stopped {
            cpu,
            job,
            why: [
                StopReason::Preempted,
                StopReason::Blocked,
                StopReason::Cancelled,
            ][random.below(3) as usize],
        },
        12 | 13 => Fact::Interrupt {
            device: DeviceId(random.below(3) as u16),
            count: random.below(3) as u32,
        },
        14 => Fact::Woken {
            task: job.task,
            on_behalf_of: (random.below(2) == 0).then(|| ServerId(random.below(6) as u16)),
        },
        _ if random.below(6) == 0 => Fact::ModeRequested { level: Level(1) },
        _ => Fact::Timer,
    }
}

#[test]
fn no_sequence_of_facts_breaks_an_invariant() {
    let (mut refused, mut accepted, mut raised, mut ran) = (0, 0, 0, 0);
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let mut engine = engine(&mut random);
        let mut now = 0;
        let mut planned = None;
        for _ in 0..200 {
            for _ in 0..random.below(5) {
                let fact = random_fact(&mut random, &engine, planned);
                let before = engine.clone();
                if engine.apply(at(now), fact).is_err() {
                    assert_eq!(engine, before, "seed {seed}: {fact:?}");
                    refused += 1;
                } else {
                    accepted += 1;
                }
            }
            now += if random.below(30) == 0 {
                random.below(1000)
            } else {
                random.below(4)
            };
            let plan = engine.decide(at(now)).unwrap();
            let (slot, next, mode) = (plan.slot(CPU), plan.next, plan.mode);
            assert!(engine.check_invariants(), "seed {seed} at {now}");
            assert!(
                next.is_none_or(|wake| wake.at > at(now)),
                "seed {seed} at {now}"
            );
            let once = engine.clone();
            let again = engine.decide(at(now)).unwrap();
            assert_eq!(
                (again.slot(CPU), again.next, again.mode),
                (slot, next, mode)
            );
            assert_eq!(engine, once, "seed {seed} at {now}: C4");
            raised += u32::from(mode > Level(0));
            ran += u32::from(slot.is_some());
            planned = slot;
        }
    }
    assert!(
        refused > 50_000 && accepted > 50_000,
        "{refused}, {accepted}"
    );
    assert!(raised > 5_000 && ran > 30_000, "{raised}, {ran}");
}

/// A world that stops every job up to two ticks late takes nothing in the long run.
#[test]
fn a_world_that_stops_late_gives_no_server_more_than_its_share() {
    let capacity = ByLevel::constant(ns(3));
    let period = span(10);
    let kinds = [
        ServerKind::Polling { period, capacity },
        ServerKind::Deferrable { period, capacity },
        sporadic(3, 10, 4),
    ];
    for (seed, kind) in (0..).zip(kinds) {
        let servers = [server(kind, 1)];
        let tasks = [task(0, 1, 10)];
        let mut engine = Hierarchy::new(&configuration(&servers, &tasks, &[])).unwrap();
        let job = JobId {
            task: TaskId(0),
            sequence: 0,
        };
        let mut random = Random::new(seed);
        let (mut executed, mut now) = (0, 0);
        engine.apply(at(0), Fact::Released { job }).unwrap();
        while now < 10_000 {
            let plan = engine.decide(at(now)).unwrap();
            let Some(slot) = plan.slot(CPU) else {
                now = plan.next.unwrap().at.as_nanos();
                continue;
            };
            let amount = slot.budget.unwrap().remaining.as_nanos() + random.below(3);
            engine
                .apply(at(now), Fact::Started { cpu: CPU, job })
                .unwrap();
            now += amount;
            executed += amount;
            let amount = ns(amount);
            let charged = Fact::Charged {
                cpu: CPU,
                job,
                amount,
            };
            engine.apply(at(now), charged).unwrap();
            let why = StopReason::Preempted;
            let stopped = Fact::Stopped { cpu: CPU, job, why };
            engine.apply(at(now), stopped).unwrap();
        }
        assert!((2700..=3005).contains(&executed), "{kind:?}: {executed}");
    }
}
