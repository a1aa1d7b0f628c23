//! Soundness: what polling, idling and deferrable servers supply is enough for every task that the
//! supply-bound test accepts.

use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::hierarchies::*;
use vestal_testkit::short::{ns, span};
use vestal_testkit::world::drawn;

const TICKS: u64 = 400;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Polling,
    Idling,
    Deferrable,
}

#[derive(Clone, Copy, Debug)]
struct Server {
    kind: Kind,
    period: u64,
    capacity: u64,
}

#[derive(Clone, Copy, Debug)]
struct Served {
    server: usize,
    period: u64,
    demand: u64,
}

impl Server {
    fn kind(&self) -> ServerKind {
        let period = span(self.period);
        let capacity = ByLevel::constant(ns(self.capacity));
        match self.kind {
            Kind::Polling => ServerKind::Polling { period, capacity },
            Kind::Idling => ServerKind::IdlingPeriodic { period, capacity },
            Kind::Deferrable => ServerKind::Deferrable { period, capacity },
        }
    }

    /// Davis and Burns (RTSS 2005); a deferrable server can execute late and early in turn.
    fn jitter(&self) -> u64 {
        match self.kind {
            Kind::Deferrable => self.period - self.capacity,
            Kind::Polling | Kind::Idling => 0,
        }
    }

    /// Shin and Lee (RTSS 2003): what the server supplies at least in a window of `t`.
    fn supply(&self, t: u64) -> u64 {
        let blackout = self.period - self.capacity;
        if t < blackout {
            return 0;
        }
        let whole = (t - blackout) / self.period;
        whole * self.capacity + t.saturating_sub(2 * blackout + whole * self.period)
    }

    /// A polling server may just have discarded its budget: it is silent for one capacity more.
    fn supply_of_kind(&self, t: u64) -> u64 {
        match self.kind {
            Kind::Polling => t.checked_sub(self.capacity).map_or(0, |t| self.supply(t)),
            Kind::Idling | Kind::Deferrable => self.supply(t),
        }
    }
}

/// Servers in order of urgency, and tasks, those of one server in order of urgency.
struct System {
    servers: Vec<Server>,
    tasks: Vec<Served>,
}

fn random_system(random: &mut Random, kinds: &[Kind]) -> System {
    let count = 1 + random.below(3);
    let servers: Vec<_> = (0..count)
        .map(|_| {
            let period = 4 + random.below(12);
            Server {
                kind: kinds[random.below(kinds.len() as u64) as usize],
                period,
                capacity: 1 + random.below((period / count).max(1)),
            }
        })
        .collect();
    let tasks = (0..2 + random.below(4))
        .map(|_| Served {
            server: random.below(count) as usize,
            period: 8 + random.below(50),
            demand: 1 + random.below(4),
        })
        .collect();
    System { servers, tasks }
}

impl System {
    fn servers_are_schedulable(&self) -> bool {
        self.servers.iter().enumerate().all(|(index, server)| {
            let mut response = server.capacity;
            loop {
                let above = self.servers[..index].iter();
                let interference: u64 = above
                    .map(|other| {
                        (response + other.jitter()).div_ceil(other.period) * other.capacity
                    })
                    .sum();
                let next = server.capacity + interference;
                if next > server.period {
                    return false;
                }
                if next == response {
                    return true;
                }
                response = next;
            }
        })
    }

    /// The smallest t by which the supply covers the demand; `None` beyond the period of the task, or
    /// if a more urgent task of the same server has none.
    fn response_bound(&self, of: usize, supply: fn(&Server, u64) -> u64) -> Option<u64> {
        let own = self.tasks[of];
        let server = self.servers[own.server];
        let others: Vec<_> = (0..of)
            .filter(|&other| self.tasks[other].server == own.server)
            .collect();
        for &other in &others {
            self.response_bound(other, supply)?;
        }
        let demand = |t: u64| {
            let of = |&other: &usize| {
                let task = self.tasks[other];
                t.div_ceil(task.period) * task.demand
            };
            own.demand + others.iter().map(of).sum::<u64>()
        };
        (1..=own.period).find(|&t| supply(&server, t) >= demand(t))
    }

    fn world(&self) -> World<'static> {
        let servers: Vec<_> = (0..)
            .zip(&self.servers)
            .map(|(index, entry)| server(entry.kind(), 100 - index))
            .collect();
        let tasks: Vec<_> = (0..)
            .zip(&self.tasks)
            .map(|(index, entry)| task(entry.server as u16, 100 - index, entry.period))
            .collect();
        let programs = self.tasks.iter().map(|task| vec![task.demand]).collect();
        world(&configuration(&servers, &tasks, &[]), programs)
    }

    /// The longest response of each task over one run of sporadic releases.
    fn longest_responses(&self, random: &mut Random) -> Vec<u64> {
        let mut world = self.world();
        let count = self.tasks.len();
        let mut next: Vec<u64> = (0..count).map(|_| random.below(20)).collect();
        let mut released = vec![std::collections::VecDeque::new(); count];
        let mut longest = vec![0; count];
        while world.now < TICKS {
            let mut facts = Vec::new();
            for task in 0..count {
                if world.completes_now(task as u16) {
                    let at: u64 = released[task].pop_front().unwrap();
                    longest[task] = longest[task].max(world.now - at);
                }
                if next[task] == world.now && released[task].len() < 5 {
                    released[task].push_back(world.now);
                    facts.push(world.release(task as u16));
                }
                if next[task] <= world.now {
                    let late = random.below(2) * random.below(8);
                    next[task] = world.now + self.tasks[task].period + late;
                }
            }
            world.step(&facts);
        }
        longest
    }
}

struct Outcome {
    compared: u32,
    exceeded: u32,
    reached: u32,
}

fn campaign(systems: u64, kinds: &[Kind], supply: fn(&Server, u64) -> u64) -> Outcome {
    let (mut compared, mut exceeded, mut reached) = (0, 0, 0);
    for seed in 0..systems {
        let mut random = Random::new(seed);
        let system = random_system(&mut random, kinds);
        if !system.servers_are_schedulable() {
            continue;
        }
        let bounds: Vec<_> = (0..system.tasks.len())
            .map(|of| system.response_bound(of, supply))
            .collect();
        for _ in 0..3 {
            let longest = system.longest_responses(&mut random);
            for (longest, bound) in longest.iter().zip(&bounds) {
                let Some(bound) = bound else { continue };
                compared += 1;
                exceeded += u32::from(longest > bound);
                reached += u32::from(longest == bound);
            }
        }
    }
    Outcome {
        compared,
        exceeded,
        reached,
    }
}

#[test]
fn no_response_exceeds_the_bound_by_supply() {
    let kinds = [Kind::Polling, Kind::Idling, Kind::Deferrable];
    let outcome = campaign(3000, &kinds, Server::supply_of_kind);
    assert_eq!(outcome.exceeded, 0);
    assert!(outcome.compared > 5000, "{}", outcome.compared);
    assert!(outcome.reached > 100, "{}", outcome.reached);
}

/// The control: the supply of the other kinds is more than a polling server gives.
#[test]
fn polling_servers_exceed_the_bound_of_the_other_kinds() {
    let outcome = campaign(1000, &[Kind::Polling], Server::supply);
    assert!(outcome.exceeded > 50, "{}", outcome.exceeded);
}

/// Two polling servers of 2 in 4. Work that arrives just after the discarded budget waits a whole
/// period longer than the usual blackout says: 7, where 2 * (4 - 2) + 2 = 6.
#[test]
fn a_polling_server_is_silent_for_longer_than_the_periodic_resource_model_says() {
    let polling = Server {
        kind: Kind::Polling,
        period: 4,
        capacity: 2,
    };
    let served = |server| Served {
        server,
        period: 100,
        demand: 2,
    };
    let system = System {
        servers: vec![polling, polling],
        tasks: vec![served(0), served(1)],
    };
    let mut world = system.world();
    while world.now < 10 {
        let facts = match world.now {
            1 => vec![world.release(1)],
            4 => vec![world.release(0)],
            _ => Vec::new(),
        };
        world.step(&facts);
    }
    assert_eq!(world.rows[0], drawn(&[('0', 4, 6), ('1', 6, 8)], 10));
    assert_eq!(system.response_bound(1, Server::supply), Some(6));
    assert_eq!(system.response_bound(1, Server::supply_of_kind), Some(8));
}
