//! Soundness: no simulated response exceeds the published bounds for sporadic servers and PIBS.

use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::hierarchies::*;
use vestal_testkit::short::{ns, span};

const TICKS: u64 = 400;

/// What the servers are.
type Kind = fn(capacity: u64, period: u64) -> ServerKind;

/// Sporadic servers in order of urgency, and PIBS with the servers they may run on behalf of.
struct System {
    /// (capacity, period)
    servers: Vec<(u64, u64)>,
    /// (numerator, denominator)
    pibs: Vec<(u64, u64)>,
}

fn random_system(random: &mut Random) -> System {
    let count = 2 + random.below(3);
    let mut servers: Vec<_> = (0..count)
        .map(|_| {
            let period = 6 + random.below(25);
            (1 + random.below((period / count).max(1)), period)
        })
        .collect();
    random.shuffle(&mut servers);
    let shortest = servers.iter().map(|&(_, period)| period).min().unwrap();
    let pibs = (0..random.below(3))
        .map(|_| {
            let denominator = 3 + random.below(shortest - 2);
            let most = (denominator / 3).max(1);
            (1 + random.below(most), denominator)
        })
        .filter(|&(numerator, denominator)| numerator * shortest >= denominator)
        .collect();
    System { servers, pibs }
}

impl System {
    /// The interference of a PIBS in [0, t) on behalf of a server with `period`, rounded up:
    /// (1 + ceil(t / T) - U) * T * U.
    fn pibs_interference(&self, pibs: usize, period: u64, t: u64) -> u64 {
        let (n, d) = self.pibs[pibs];
        let exact = ((1 + t.div_ceil(period)) * d - n) * period * n;
        exact.div_ceil(d * d)
    }

    /// Missimer et al. (2016), equation 1, on whose behalf unknown; `None` beyond the period. Each
    /// PIBS is rounded up on its own, which only makes the bound larger.
    fn response_bound(&self, of: usize) -> Option<u64> {
        let (capacity, period) = self.servers[of];
        let mut response = capacity;
        loop {
            let servers: u64 = self.servers[..of]
                .iter()
                .map(|&(capacity, period)| response.div_ceil(period) * capacity)
                .sum();
            let pibs: u64 = (0..self.pibs.len())
                .map(|pibs| {
                    let periods = self.servers[..=of].iter().map(|&(_, period)| period);
                    let on_behalf =
                        periods.map(|period| self.pibs_interference(pibs, period, response));
                    on_behalf.max().unwrap()
                })
                .sum();
            let next = capacity + servers + pibs;
            if next > period {
                return None;
            }
            if next == response {
                return Some(response);
            }
            response = next;
        }
    }

    fn world(&self, kind: Kind) -> World<'static> {
        let mut servers = Vec::new();
        let mut tasks = Vec::new();
        let count = self.servers.len();
        for (index, &(capacity, period)) in self.servers.iter().enumerate() {
            servers.push(server(kind(capacity, period), (count - index) as u32));
            tasks.push(task(index as u16, 1, period));
        }
        for (index, &(numerator, denominator)) in self.pibs.iter().enumerate() {
            // The one that stands last in the order of ties is delayed most.
            servers.insert(0, server(pibs(numerator, denominator), 0));
            let mut bottom_half = task((self.pibs.len() - 1 - index) as u16, 1, 1000);
            bottom_half.on_behalf_of = Some(ServerId(self.pibs.len() as u16));
            tasks.push(bottom_half);
        }
        for task in tasks.iter_mut().take(count) {
            task.server.0 += self.pibs.len() as u16;
        }
        let devices: Vec<_> = (count..tasks.len())
            .map(|task| DeviceConfiguration {
                bottom_half: TaskId(task as u16),
            })
            .collect();
        let programs = vec![vec![1]; tasks.len()];
        world(&configuration(&servers, &tasks, &devices), programs)
    }
}

/// The longest response of each server's task. The task `of` releases jobs of at most its server's
/// capacity, at least a period apart; all others ask for more than they can get, in fragments.
fn longest_response(system: &System, kind: Kind, of: usize, random: &mut Random) -> u64 {
    let mut world = system.world(kind);
    let count = system.servers.len();
    let (capacity, period) = system.servers[of];
    let mut next = random.below(2 * period);
    let mut released = None;
    let mut longest = 0;
    let eagerness = 1 + random.below(6);
    while world.now < TICKS {
        let mut facts = Vec::new();
        if world.completes_now(of as u16)
            && let Some(at) = released.take()
        {
            longest = longest.max(world.now - at);
        }
        for task in (0..count).filter(|&task| task != of) {
            if random.below(2 * eagerness) == 0 {
                world.set_program(
                    task as u16,
                    vec![1 + random.below(2 * system.servers[task].0)],
                );
                facts.push(world.release(task as u16));
            }
        }
        for pibs in 0..system.pibs.len() {
            if random.below(eagerness) == 0 {
                let host = (system.pibs.len() as u64 + random.below(count as u64)) as u16;
                facts.push(Fact::Interrupt {
                    device: DeviceId(pibs as u16),
                    count: 1 + random.below(6) as u32,
                });
                facts.push(Fact::Woken {
                    task: TaskId((count + pibs) as u16),
                    on_behalf_of: Some(ServerId(host)),
                });
            }
        }
        if world.now == next {
            next += period + random.below(2) * random.below(5);
            let most = random.below(4) > 0;
            let demand = if most {
                capacity
            } else {
                1 + random.below(capacity)
            };
            world.set_program(of as u16, vec![demand]);
            released = Some(world.now);
            facts.push(world.release(of as u16));
        }
        world.step(&facts);
    }
    longest
}

#[derive(Default)]
struct Outcome {
    compared: u32,
    with_pibs: u32,
    reached: u32,
    exceeded: u32,
}

fn campaign(systems: u64, kind: Kind) -> Outcome {
    let mut outcome = Outcome::default();
    for seed in 0..systems {
        let mut random = Random::new(seed);
        let system = random_system(&mut random);
        for of in 0..system.servers.len() {
            let Some(bound) = system.response_bound(of) else {
                continue;
            };
            let longest = longest_response(&system, kind, of, &mut random);
            outcome.compared += 1;
            outcome.with_pibs += u32::from(!system.pibs.is_empty());
            outcome.reached += u32::from(longest == bound);
            outcome.exceeded += u32::from(longest > bound);
        }
    }
    outcome
}

#[test]
fn no_response_exceeds_the_bound_for_sporadic_servers_and_pibs() {
    let outcome = campaign(2500, |capacity, period| sporadic(capacity, period, 30));
    assert_eq!(outcome.exceeded, 0);
    assert!(outcome.compared > 3000 && outcome.with_pibs > 500);
    assert!(outcome.reached > 300, "{} reach it", outcome.reached);
}

/// The control: deferrable servers of the same size interfere more than the bound knows.
#[test]
fn deferrable_servers_exceed_that_bound() {
    let outcome = campaign(300, |capacity, period| ServerKind::Deferrable {
        period: span(period),
        capacity: ByLevel::constant(ns(capacity)),
    });
    assert!(outcome.exceeded > 0);
}
