//! Soundness of budgets by mode: a job of high criticality that its server can carry in the raised mode
//! is done by the bound of adaptive mixed criticality, whenever the mode rises.

use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::hierarchies::*;
use vestal_testkit::short::{ns, span};

const TICKS: u64 = 400;

/// A sporadic server and its only task.
#[derive(Clone, Copy, Debug)]
struct Server {
    high: bool,
    period: u64,
    /// Capacity in mode 0 and in mode 1.
    capacity: [u64; 2],
}

/// In order of urgency.
struct System(Vec<Server>);

fn random_system(random: &mut Random) -> System {
    let count = 2 + random.below(3);
    let server = |_| {
        let period = 6 + random.below(30);
        let low = 1 + random.below((period / count).max(1));
        let high = random.below(2) == 0;
        let more = low + random.below(low + 2);
        Server {
            high,
            period,
            capacity: [low, if high { more.min(period) } else { 0 }],
        }
    };
    System((0..count).map(server).collect())
}

fn least_fixed_point(start: u64, most: u64, next: impl Fn(u64) -> u64) -> Option<u64> {
    let mut value = start;
    loop {
        let after = next(value);
        if after > most {
            return None;
        }
        if after == value {
            return Some(value);
        }
        value = after;
    }
}

impl System {
    /// Missimer et al. (2016), equation 10 without PIBS.
    fn low_bound(&self, of: usize) -> Option<u64> {
        let own = self.0[of];
        least_fixed_point(own.capacity[0], own.period, |response| {
            let above = self.0[..of].iter();
            let demand = above.map(|other| response.div_ceil(other.period) * other.capacity[0]);
            own.capacity[0] + demand.sum::<u64>()
        })
    }

    /// Equation 14 without PIBS: servers of low criticality interfere until the mode rises, which is
    /// at the latest when the job has been in the system for its low bound.
    fn high_bound(&self, of: usize) -> Option<u64> {
        let own = self.0[of];
        let low = self.low_bound(of)?;
        least_fixed_point(own.capacity[1], own.period, |response| {
            let above = self.0[..of].iter();
            let demand = above.map(|other| {
                if other.high {
                    response.div_ceil(other.period) * other.capacity[1]
                } else {
                    low.div_ceil(other.period) * other.capacity[0]
                }
            });
            own.capacity[1] + demand.sum::<u64>()
        })
    }

    fn is_schedulable(&self) -> bool {
        (0..self.0.len()).all(|of| {
            self.low_bound(of).is_some() && (!self.0[of].high || self.high_bound(of).is_some())
        })
    }

    fn world(&self) -> World<'static> {
        let servers: Vec<_> = (0..)
            .zip(&self.0)
            .map(|(index, entry)| ServerConfiguration {
                criticality: Level(u8::from(entry.high)),
                ..server(
                    ServerKind::Sporadic {
                        period: span(entry.period),
                        capacity: ByLevel::new(&entry.capacity.map(ns)).unwrap(),
                        replenishments: 20,
                        full: WhenFull::MergeHead,
                    },
                    100 - index,
                )
            })
            .collect();
        let tasks: Vec<_> = (0..)
            .zip(&self.0)
            .map(|(index, entry)| task(index, 1, entry.period))
            .collect();
        let programs = vec![vec![1]; tasks.len()];
        vestal_testkit::hierarchies::world(&configuration(&servers, &tasks, &[]), programs)
    }
}

#[derive(Default)]
struct Outcome {
    jobs: u32,
    rises: u32,
    returns: u32,
    exceeded: u32,
    reached: u32,
}

/// Tasks release jobs at least a period apart, each of at most its server's capacity at its own level.
/// The world asks for mode 1 as soon as a job has used up the low capacity without completing, or,
/// for the control, only `late_by` ticks after that.
fn run(system: &System, random: &mut Random, late_by: u64, outcome: &mut Outcome) {
    let mut world = system.world();
    let count = system.0.len();
    let mut next: Vec<u64> = (0..count).map(|_| random.below(12)).collect();
    let mut released: Vec<Option<u64>> = vec![None; count];
    let mut executed = vec![0; count];
    let mut request_at = None;
    let mut mode = Level(0);
    while world.now < TICKS {
        let now = world.now;
        let mut facts = Vec::new();
        for (index, entry) in system.0.iter().enumerate() {
            let number = index as u16;
            let completes = world.completes_now(number);
            if completes {
                executed[index] = 0;
                let response = released[index].take().map(|at| now - at);
                if entry.high {
                    let bound = system.high_bound(index).unwrap();
                    outcome.jobs += 1;
                    outcome.exceeded += u32::from(response.unwrap() > bound);
                    outcome.reached += u32::from(response.unwrap() == bound);
                }
            } else if entry.high && executed[index] == entry.capacity[0] && mode == Level(0) {
                request_at.get_or_insert(now + late_by);
            }
            if next[index] <= now && released[index].is_none() {
                next[index] = now + entry.period + random.below(2) * random.below(6);
                released[index] = Some(now);
                let level = usize::from(entry.high && random.below(3) == 0);
                let most = random.below(4) > 0;
                let demand = entry.capacity[level];
                let demand = if most {
                    demand
                } else {
                    1 + random.below(demand)
                };
                world.set_program(number, vec![demand]);
                facts.push(world.release(number));
            }
        }
        if request_at == Some(now) {
            request_at = None;
            facts.push(Fact::ModeRequested { level: Level(1) });
        }
        world.step(&facts);
        let before = std::mem::replace(&mut mode, world.engine.mode());
        outcome.rises += u32::from(before < mode);
        outcome.returns += u32::from(before > mode);
        if let Some(task) = world.ran(0) {
            executed[task.index()] += 1;
        }
    }
}

fn campaign(systems: u64, late_by: u64) -> Outcome {
    let mut outcome = Outcome::default();
    for seed in 0..systems {
        let mut random = Random::new(seed);
        let system = random_system(&mut random);
        if system.is_schedulable() {
            run(&system, &mut random, late_by, &mut outcome);
        }
    }
    outcome
}

#[test]
fn no_high_job_exceeds_its_bound_whenever_the_mode_rises() {
    let outcome = campaign(6000, 0);
    assert_eq!(outcome.exceeded, 0);
    assert!(outcome.jobs > 20_000, "{} jobs", outcome.jobs);
    assert!(outcome.rises > 5_000 && outcome.returns > 5_000);
    assert!(outcome.reached > 200, "{} reach it", outcome.reached);
}

/// The control: a world that asks for the mode too late makes jobs miss the bound.
#[test]
fn a_mode_asked_for_too_late_exceeds_the_bound() {
    assert!(campaign(1500, 3).exceeded > 0);
}
