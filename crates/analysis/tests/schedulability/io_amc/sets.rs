//! Sporadic servers with a task each, and PIBS: written by hand, and random with a seed.

use vestal_analysis::{Member, Problem, Server};
use vestal_core::{
    ByLevel, Level, LevelSet, LocalOrder, ServerConfiguration, ServerId, ServerKind, Service, Task,
    TaskId, Utilization, Wcet, WhenFull,
};
use vestal_testkit::Random;
use vestal_testkit::short::{ns, span};

/// A sporadic server whose only task needs as much as it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Own {
    pub(super) high: bool,
    pub(super) period: u64,
    /// By mode.
    pub(super) capacity: [u64; 2],
}

/// A PIBS.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pibs {
    pub(super) high: bool,
    /// By mode.
    pub(super) shares: [(u64, u64); 2],
    /// Of the servers.
    pub(super) hosts: Vec<u16>,
}

/// The servers, the most urgent first, and behind them the PIBS.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Set {
    pub(super) levels: usize,
    pub(super) own: Vec<Own>,
    pub(super) pibs: Vec<Pibs>,
}

pub(super) const fn own(high: bool, period: u64, capacity: [u64; 2]) -> Own {
    Own {
        high,
        period,
        capacity,
    }
}

pub(super) fn pibs(high: bool, shares: [(u64, u64); 2], hosts: &[u16]) -> Pibs {
    Pibs {
        high,
        shares,
        hosts: hosts.to_vec(),
    }
}

pub(super) fn sporadic(period: u64, capacity: [u64; 2]) -> ServerKind {
    ServerKind::Sporadic {
        period: span(period),
        capacity: ByLevel::new(&capacity.map(ns)).unwrap(),
        replenishments: 20,
        full: WhenFull::MergeHead,
    }
}

impl Set {
    /// What each task needs, in one level or two.
    fn task(&self, own: &Own) -> Task {
        let [low, high] = own.capacity;
        let wcet: Vec<Service> = match (self.levels, own.high) {
            (1, _) => vec![ns(low)],
            (_, true) => vec![ns(low), ns(high)],
            (_, false) => vec![ns(low)],
        };
        let period = span(own.period);
        let wcet = Wcet::new(&wcet).unwrap();
        Task::new(Level(own.high.into()), period, period, wcet).unwrap()
    }

    pub(super) fn servers(&self) -> Vec<Server> {
        let count = self.own.len();
        let with_period = (0..).zip(&self.own).map(|(number, own)| Server {
            configuration: ServerConfiguration {
                kind: sporadic(own.period, own.capacity),
                priority: (count - usize::from(number)) as u32,
                criticality: Level(own.high.into()),
                order: LocalOrder::FixedPriority,
            },
            tasks: vec![Member {
                task: TaskId(number),
                priority: 1,
                on_behalf_of: None,
            }],
            serves: Vec::new(),
        });
        let pibs = self.pibs.iter().map(|pibs| {
            let shares = pibs.shares.map(|(n, d)| Utilization::new(n, d).unwrap());
            Server {
                configuration: ServerConfiguration {
                    kind: ServerKind::Pibs {
                        utilization: ByLevel::new(&shares).unwrap(),
                    },
                    priority: 0,
                    criticality: Level(pibs.high.into()),
                    order: LocalOrder::FixedPriority,
                },
                tasks: Vec::new(),
                serves: pibs.hosts.iter().copied().map(ServerId).collect(),
            }
        });
        with_period.chain(pibs).collect()
    }

    pub(super) fn tasks(&self) -> Vec<Task> {
        self.own.iter().map(|own| self.task(own)).collect()
    }

    pub(super) fn problem(&self) -> Problem {
        let levels = LevelSet::new(self.levels).unwrap();
        let problem = Problem::new(self.tasks(), levels).unwrap();
        problem.with_servers(self.servers(), Vec::new()).unwrap()
    }

    /// The servers, the most urgent first.
    pub(super) fn order(&self) -> Vec<ServerId> {
        (0..self.own.len() as u16).map(ServerId).collect()
    }
}

/// Two to four servers with periods up to `longest` and up to two PIBS, all near what the CPU can do; each PIBS serves one
/// server, or in one of three sets several.
pub(super) fn random_set(random: &mut Random, longest: u64) -> Set {
    let count = random.between(2, 4);
    let levels = if random.once_in(6) { 1 } else { 2 };
    let own: Vec<Own> = (0..count)
        .map(|_| {
            let period = random.between(6, longest);
            let low = random.between(1, (period * 3 / (2 * count + 1)).max(1));
            let high = levels == 2 && random.once_in(2);
            let above = match random.below(3) {
                _ if high => (low + random.between(0, low + 1)).min(period),
                0 => random.between(0, low),
                _ => 0,
            };
            Own {
                high,
                period,
                capacity: [low, above],
            }
        })
        .collect();
    let several = random.once_in(3);
    let pibs = (0..random.between(0, 2)).filter_map(|_| {
        let mut hosts = vec![random.index(own.len()) as u16];
        for other in 0..count as u16 {
            if several && !hosts.contains(&other) && random.once_in(2) {
                hosts.push(other);
            }
        }
        let denominator = random.between(3, 12);
        let low = random.between(1, (denominator / 3).max(1));
        let high = levels == 2 && random.once_in(2);
        let above = match (high, random.below(3)) {
            (true, 0) => low,
            (true, _) => (2 * low).min(denominator),
            (false, 0) => random.between(1, low),
            (false, _) => 0,
        };
        let period = |host: &u16| own[usize::from(*host)].period;
        let shortest = hosts.iter().map(period).min()?;
        let least = if above > 0 { low.min(above) } else { low };
        (shortest * least >= denominator).then_some(Pibs {
            high,
            shares: [(low, denominator), (above, denominator)],
            hosts,
        })
    });
    Set {
        levels,
        pibs: pibs.collect(),
        own,
    }
}

/// A LO server with a short period and a LO PIBS on its behalf above a HI server that needs a little more in mode 1: what
/// both execute before the rise decides.
fn set_with_a_late_rise(random: &mut Random) -> Set {
    let period = random.between(6, 12);
    let low = random.between(1, 4);
    let denominator = random.between(2, 4);
    Set {
        levels: 2,
        own: vec![
            own(false, period, [random.between(1, period / 3), 0]),
            own(true, 40, [low, low + random.between(0, 3)]),
        ],
        pibs: vec![pibs(false, [(1, denominator), (0, 1)], &[0])],
    }
}

/// One of either.
pub(super) fn any_set(random: &mut Random) -> Set {
    match random.once_in(8) {
        true => set_with_a_late_rise(random),
        false => random_set(random, 40),
    }
}
