//! Sporadic servers with a task each, and PIBS, for whose devices some of them wait.

use crate::common::Random;
use vestal_analysis::{Member, Problem, Server};
use vestal_core::{
    ByLevel, DeviceId, Level, LevelSet, LocalOrder, ServerConfiguration, ServerId, ServerKind,
    Task, TaskId, Utilization, Wcet, WhenFull,
};
use vestal_sim::outside::Wait;
use vestal_testkit::short::{ns, span};

#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    pub(super) high: bool,
    pub(super) period: u64,
    pub(super) capacity: [u64; 2],
}

#[derive(Clone, Debug)]
pub(super) struct Pibs {
    pub(super) high: bool,
    pub(super) shares: [(u64, u64); 2],
    /// The first is on whose behalf it runs if nobody waits.
    pub(super) hosts: Vec<u16>,
}

impl Pibs {
    pub(super) fn capacity(&self, period: u64, mode: usize) -> u64 {
        let (n, d) = self.shares[mode];
        period * n / d
    }
}

/// Servers, the most urgent first, behind them PIBS, and who waits for what.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) own: Vec<Own>,
    pub(super) pibs: Vec<Pibs>,
    pub(super) waits: Vec<Vec<Wait>>,
    pub(super) replenishments: u16,
}

fn draw_own(random: &mut Random, count: u64) -> Own {
    let period = random.between(6, 40);
    let low = random.between(1, (period / (count + 1)).max(1));
    let high = random.once_in(2);
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
}

pub(super) fn draw(random: &mut Random) -> Set {
    let count = random.between(2, 4);
    let own: Vec<Own> = (0..count).map(|_| draw_own(random, count)).collect();
    let mut pibs = Vec::new();
    for _ in 0..random.between(1, 2) {
        let host = random.index(own.len());
        let denominator = random.between(3, 10);
        let low = random.between(1, (denominator / 3).max(1));
        let high = random.once_in(2);
        let above = match (high, random.below(3)) {
            (true, 0) => low,
            (true, _) => (2 * low).min(denominator),
            (false, 0) => random.between(1, low),
            (false, _) => 0,
        };
        let new = Pibs {
            high,
            shares: [(low, denominator), (above, denominator)],
            hosts: vec![host as u16],
        };
        let fits = |mode| new.capacity(own[host].period, mode) > 0;
        if fits(0) && (above == 0 || fits(1)) {
            pibs.push(new);
        }
    }
    let mut set = Set {
        waits: vec![Vec::new(); own.len()],
        own,
        pibs,
        replenishments: random.one_of(&[2, 20]),
    };
    for task in 0..set.own.len() {
        set.draw_wait(task, random);
    }
    set
}

impl Set {
    /// For a PIBS of its own, or now and then for another's, that has something in every mode in which a job may wait.
    fn draw_wait(&mut self, task: usize, random: &mut Random) {
        let own = self.own[task];
        let foreign = random.once_in(6);
        let found = self.pibs.iter().position(|pibs| {
            let is_host = pibs.hosts[0] == task as u16;
            let fits = |mode| pibs.capacity(own.period, mode) > 0;
            let (_, none) = (pibs.shares[0], pibs.shares[1].0 == 0);
            (is_host || foreign) && fits(0) && fits(1) | (none && !own.high)
        });
        let Some(device) = found.filter(|_| !random.once_in(3)) else {
            return;
        };
        let hosts = &mut self.pibs[device].hosts;
        if !hosts.contains(&(task as u16)) {
            hosts.push(task as u16);
        }
        let wait = |after| Wait {
            after: ns(after),
            device: DeviceId(device as u16),
            events: 1,
        };
        let first = random.between(0, own.capacity[0] - 1);
        self.waits[task].push(wait(first));
        if random.once_in(4) {
            let second = random.between(first, own.capacity[0]);
            self.waits[task].push(wait(second));
        }
    }

    pub(super) fn tasks(&self) -> Vec<Task> {
        let each = self.own.iter().map(|own| {
            let [low, high] = own.capacity.map(ns);
            let wcet = match own.high {
                true => Wcet::new(&[low, high]),
                false => Wcet::new(&[low]),
            };
            let period = span(own.period);
            Task::new(Level(own.high.into()), period, period, wcet.unwrap()).unwrap()
        });
        each.collect()
    }

    pub(super) fn servers(&self) -> Vec<ServerConfiguration> {
        let count = self.own.len() as u32;
        let with_period = (0..)
            .zip(&self.own)
            .map(|(number, own)| ServerConfiguration {
                kind: ServerKind::Sporadic {
                    period: span(own.period),
                    capacity: ByLevel::new(&own.capacity.map(ns)).unwrap(),
                    replenishments: self.replenishments,
                    full: WhenFull::MergeHead,
                },
                priority: count - number,
                criticality: Level(own.high.into()),
                order: LocalOrder::FixedPriority,
            });
        let pibs = self.pibs.iter().map(|pibs| {
            let shares = pibs.shares.map(|(n, d)| Utilization::new(n, d).unwrap());
            ServerConfiguration {
                kind: ServerKind::Pibs {
                    utilization: ByLevel::new(&shares).unwrap(),
                },
                priority: 0,
                criticality: Level(pibs.high.into()),
                order: LocalOrder::FixedPriority,
            }
        });
        with_period.chain(pibs).collect()
    }

    pub(super) fn problem(&self) -> Problem {
        let own = self.own.len();
        let servers = self.servers().into_iter().enumerate();
        let servers = servers.map(|(number, configuration)| Server {
            configuration,
            tasks: (number < own)
                .then_some(Member {
                    task: TaskId(number as u16),
                    priority: 1,
                    on_behalf_of: None,
                })
                .into_iter()
                .collect(),
            serves: match self.pibs.get(number.wrapping_sub(own)) {
                Some(pibs) => pibs.hosts.iter().copied().map(ServerId).collect(),
                None => Vec::new(),
            },
        });
        let problem = Problem::new(self.tasks(), LevelSet::new(2).unwrap()).unwrap();
        problem.with_servers(servers.collect(), Vec::new()).unwrap()
    }
}
