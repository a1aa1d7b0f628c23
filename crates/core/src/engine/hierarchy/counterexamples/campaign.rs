//! Random systems of servers and PIBS under modes that rise by themselves, beside published bounds: jobs that block,
//! several changes within a period, storms of events, low servers that go on with less. Whoever is guaranteed is done by
//! its bound; without one of the rules of a mode change somebody is not.
//!
//! Bounds: equations 10 to 15 of Missimer, Missimer and West (2016), whom a PIBS serves known, with a degraded
//! server's budget counted on until the end of the window. Those of PIBS (12, 13, 15) are for each burst, from its
//! activation to its end, of all PIBS that have a share in the mode. Guaranteed are jobs of servers that never block and were
//! clean at the release: all HI ones, and LO ones that were there in mode 0 only. A LO server that goes on with less is
//! clean again when it has not executed for a period.

use super::returns::judged;
use super::*;

const TICKS: u64 = 600;

#[derive(Clone, Copy, Debug)]
struct Own {
    high: bool,
    period: u64,
    /// By mode.
    capacity: [u64; 2],
    /// Its jobs block or ask for more than it has, and nothing is guaranteed to it.
    wild: bool,
}

/// A PIBS on behalf of one server.
#[derive(Clone, Copy, Debug)]
struct Share {
    high: bool,
    host: usize,
    /// By mode, of `denominator`.
    numerators: [u64; 2],
    denominator: u64,
}

/// Servers in order of urgency.
#[derive(Clone, Debug)]
struct System {
    own: Vec<Own>,
    shares: Vec<Share>,
}

fn random_system(random: &mut Random) -> System {
    let count = random.between(2, 3);
    let own: Vec<Own> = (0..count)
        .map(|_| {
            let period = random.between(8, 40);
            let low = random.between(1, (period / count).max(1));
            let high = random.once_in(2);
            let above = match random.below(3) {
                _ if high => (low + random.between(1, 2 * low + 1)).min(period),
                0 | 1 => random.between(low / 2, low),
                _ => 0,
            };
            Own {
                high,
                period,
                capacity: [low, above],
                wild: random.once_in(2),
            }
        })
        .collect();
    let shares = (0..random.between(0, 2)).filter_map(|_| {
        let host = random.index(own.len());
        let denominator = random.between(2, 8);
        let low = random.between(1, 2);
        let high = random.once_in(2);
        let above = match (high, random.once_in(2)) {
            (true, true) => (2 * low).min(denominator),
            (true, false) => low,
            // A degraded one goes on with the half, or with what it had.
            (false, true) => 1,
            (false, false) => 0,
        };
        let fits = own[host].period >= denominator;
        fits.then_some(Share {
            high,
            host,
            numerators: [low, above],
            denominator,
        })
    });
    let shares = shares.collect();
    System { own, shares }
}

/// A HI server that needs much more in mode 1 and so holds up what is below it, an eager LO one with or without a
/// PIBS, and below both the one to which what they bring along to the return matters.
fn system_with_much_to_return(random: &mut Random) -> System {
    let [first, second] = [0, 1].map(|_| random.between(10, 24));
    let low = random.between(1, 4);
    let own = |high, period, capacity, wild| Own {
        high,
        period,
        capacity,
        wild,
    };
    let above = random.between(first / 4, first / 2);
    let rest = random.one_of(&[0, low / 2]);
    let shares = (0..random.below(2)).map(|_| Share {
        high: false,
        host: 1,
        numerators: [1, 0],
        denominator: random.between(2, 4),
    });
    System {
        shares: shares.collect(),
        own: vec![
            own(true, first, [1, above], false),
            own(false, second, [low, rest], true),
            own(
                false,
                random.between(16, 60),
                [random.between(1, 5), 0],
                false,
            ),
        ],
    }
}

/// HI servers only: the most urgent one leaves gaps in its list, because its jobs block, and the least urgent one
/// raises the mode at any time.
fn system_with_gaps(random: &mut Random) -> System {
    let own = |period, capacity, wild| Own {
        high: true,
        period,
        capacity,
        wild,
    };
    let (low, same) = (random.between(2, 4), random.between(4, 12));
    let periods = [0, 1].map(|_| random.between(14, 28));
    System {
        shares: Vec::new(),
        own: vec![
            own(periods[0], [low, 2 * low], true),
            own(periods[1], [same, same], false),
            own(random.between(40, 100), [1, 2], false),
        ],
    }
}

/// A HI server that raises the mode often, and one or two PIBS of another HI one whose shares differ by mode.
fn system_with_other_shares(random: &mut Random) -> System {
    let own = |period, capacity, wild| Own {
        high: true,
        period,
        capacity,
        wild,
    };
    let shares = (0..random.between(1, 2)).map(|_| {
        let high = random.once_in(2);
        let low = random.between(2, 3);
        Share {
            high,
            host: 1,
            numerators: if high { [1, low] } else { [low, 1] },
            denominator: random.between(8, 12),
        }
    });
    let shares = shares.collect();
    let above = random.between(2, 4);
    let low = random.between(1, 2);
    System {
        shares,
        own: vec![
            own(random.between(12, 40), [1, above], false),
            own(random.between(24, 60), [low, 2 * low], random.once_in(2)),
        ],
    }
}

fn least_fixed_point(most: u64, next: impl Fn(u64) -> u64) -> Option<u64> {
    let mut value = 0;
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
    /// (1 + ceil(t / T) - U) T U of PIBS that serve somebody up to server `of`, rounded up; `counts` says which.
    fn interference(&self, of: usize, mode: usize, t: u64, counts: impl Fn(&Share) -> bool) -> u64 {
        let all = self.shares.iter();
        all.filter(|share| share.host <= of && share.numerators[mode] > 0 && counts(share))
            .map(|share| {
                let (n, d) = (share.numerators[mode], share.denominator);
                let period = self.own[share.host].period;
                (((1 + t.div_ceil(period)) * d - n) * period * n).div_ceil(d * d)
            })
            .sum()
    }

    /// Equation 10 with `first` for the server's own capacity; 12 with that for a burst of `pibs`.
    fn low_bound(&self, of: usize, first: u64, pibs: Option<&Share>) -> Option<u64> {
        let is_other = |share: &Share| pibs.is_none_or(|pibs| !std::ptr::eq(pibs, share));
        let above = if pibs.is_some() { of + 1 } else { of };
        least_fixed_point(self.own[of].period, |t| {
            let above = self.own[..above].iter();
            let demand = above.map(|other| t.div_ceil(other.period) * other.capacity[0]);
            first + demand.sum::<u64>() + self.interference(of, 0, t, is_other)
        })
    }

    /// Equations 11 and 14, whichever is later, with `first` by mode; 13 and 15 with that for a burst of `pibs`.
    fn high_bound(&self, of: usize, first: [u64; 2], pibs: Option<&Share>) -> Option<u64> {
        let is_other = |share: &Share| pibs.is_none_or(|pibs| !std::ptr::eq(pibs, share));
        let above = if pibs.is_some() { of + 1 } else { of };
        let until = self.low_bound(of, first[0].min(first[1]), pibs)?;
        let bound = |low_until: Option<u64>| {
            least_fixed_point(self.own[of].period, |t| {
                let above = self.own[..above].iter();
                let demand = above.map(|other| {
                    let all = t.div_ceil(other.period);
                    let before = match low_until {
                        Some(until) if !other.high => until.div_ceil(other.period).min(all),
                        Some(_) | None => 0,
                    };
                    before * other.capacity[0] + (all - before) * other.capacity[1]
                });
                let low = |share: &Share| is_other(share) && !share.high;
                let high = |share: &Share| is_other(share) && share.high;
                let rest = low_until.map_or(t, |until| t.saturating_sub(until));
                let mut shares =
                    self.interference(of, 1, t, high) + self.interference(of, 1, rest, low);
                if let Some(until) = low_until {
                    shares += self.interference(of, 0, until, low);
                }
                first[1] + demand.sum::<u64>() + shares
            })
        };
        Some(bound(None)?.max(bound(Some(until))?))
    }

    /// By server, the bound of its jobs in mode 0 and in any, of those that have one.
    fn bounds(&self) -> Option<Vec<[u64; 2]>> {
        let of = |index: usize| {
            let own = self.own[index];
            let low = self.low_bound(index, own.capacity[0], None)?;
            let high = match own.high {
                true => self.high_bound(index, own.capacity, None)?,
                false => low,
            };
            Some([low, high])
        };
        (0..self.own.len()).map(of).collect()
    }

    /// By PIBS, the bound of its bursts in mode 0 and in any, if they have one.
    fn burst_bounds(&self) -> Vec<[Option<u64>; 2]> {
        let of = |share: &Share| {
            // (2 - U) T U.
            let first = [0, 1].map(|mode| {
                let (n, d) = (share.numerators[mode], share.denominator);
                ((2 * d - n) * self.own[share.host].period * n).div_ceil(d * d)
            });
            let is_served = first[1] > 0 && (share.high || self.own[share.host].high);
            let high = || self.high_bound(share.host, first, Some(share));
            [
                self.low_bound(share.host, first[0], Some(share)),
                is_served.then(high).flatten(),
            ]
        };
        self.shares.iter().map(of).collect()
    }

    fn world(&self, random: &mut Random) -> World<'static> {
        let count = self.own.len();
        let mut servers = Vec::new();
        let mut tasks = Vec::new();
        for (index, own) in self.own.iter().enumerate() {
            let [low, above] = own.capacity;
            servers.push(ServerConfiguration {
                criticality: Level(own.high.into()),
                ..server(by_mode(low, above, own.period), (count - index) as u32)
            });
            let wcet = [low, if own.high { above } else { low }];
            tasks.push(judged(index as u16, own.high.into(), own.period, &wcet));
        }
        for (index, share) in self.shares.iter().enumerate() {
            let of = |n| (n, share.denominator);
            let [low, above] = share.numerators.map(of);
            servers.push(ServerConfiguration {
                criticality: Level(share.high.into()),
                ..server(changes::shares(low, above), 0)
            });
            tasks.push(changes::bottom_half(
                (count + index) as u16,
                share.host as u16,
            ));
        }
        let devices: Vec<_> = (count..tasks.len())
            .map(|task| DeviceConfiguration {
                bottom_half: TaskId(task as u16),
            })
            .collect();
        let programs = vec![vec![1]; tasks.len()];
        let configuration = configuration(&servers, &tasks, &devices);
        world(&adaptive(&configuration, random.once_in(2)), programs)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Job {
    released: u64,
    guaranteed: bool,
}

/// From activation to end.
#[derive(Clone, Copy, Debug)]
struct Burst {
    activated: u64,
    /// When it may begin again; that changes when it ends.
    eligible: Instant,
    /// It was there in a raised mode.
    raised: bool,
}

#[derive(Debug, Default)]
struct Outcome {
    jobs: [u64; 2],
    exceeded: u64,
    reached: u64,
    /// Bursts in mode 0, and with a rise.
    bursts: [u64; 2],
    /// Periods in which the most urgent server executed more than it ever may.
    overfull: u64,
    rises: u64,
    blocked: u64,
    interrupts: u64,
}

/// One run of a system.
struct Campaign<'a> {
    system: &'a System,
    bounds: &'a [[u64; 2]],
    burst_bounds: &'a [[Option<u64>; 2]],
    world: World<'static>,
    random: &'a mut Random,
    next: Vec<u64>,
    jobs: Vec<Option<Job>>,
    /// By server, whether nothing that it did in a raised mode bears on what it can do.
    clean: Vec<bool>,
    /// By server, when it executed last.
    last_ran: Vec<u64>,
    wakes: Vec<Option<u64>>,
    /// By PIBS, the burst under way.
    bursts: Vec<Option<Burst>>,
    /// Whether the most urgent server, which nobody preempts, executed in the ticks of its last period.
    ran: std::collections::VecDeque<bool>,
    /// How long LO jobs wait for a return, to meet what it leaves.
    patience: u64,
    mode: Level,
    outcome: &'a mut Outcome,
}

impl Campaign<'_> {
    fn tick(&mut self) {
        let mut facts = Vec::new();
        for index in 0..self.system.own.len() {
            self.observe(index);
        }
        let mut pairs = self.system.own.iter().zip(&self.jobs);
        let ends = self.mode > Level(0) && !pairs.any(|(own, job)| own.high && job.is_some());
        for index in 0..self.system.own.len() {
            if self.wakes[index] == Some(self.world.now) {
                facts.push(changes::woken(index as u16, None));
            }
            let waits =
                !self.system.own[index].high && !ends && !self.random.once_in(self.patience);
            if self.next[index] <= self.world.now && self.jobs[index].is_none() && !waits {
                facts.push(self.release(index));
            }
        }
        for device in 0..self.system.shares.len() {
            if self.random.once_in(if ends { 2 } else { 6 }) {
                let count = self.random.between(1, 12) as u32;
                self.outcome.interrupts += u64::from(count);
                let device = DeviceId(device as u16);
                facts.push(Fact::Interrupt { device, count });
            }
        }
        if self.random.once_in(40) {
            facts.push(changes::request());
        }
        self.world.step(&facts);
        let before = std::mem::replace(&mut self.mode, self.world.engine.mode());
        self.outcome.rises += u64::from(before < self.mode);
        self.drop_jobs();
        for index in 0..self.system.shares.len() {
            self.observe_burst(index, self.mode < before);
        }
        if let Some(task) = self.world.ran(0)
            && let Some(last) = self.last_ran.get_mut(task.index())
        {
            *last = self.world.now;
        }
        self.observe_period();
    }

    fn observe_period(&mut self) {
        let Own {
            period, capacity, ..
        } = self.system.own[0];
        self.ran.push_front(self.world.ran(0) == Some(TaskId(0)));
        self.ran.truncate(period as usize);
        let executed = self.ran.iter().filter(|ran| **ran).count();
        self.outcome.overfull += u64::from(executed as u64 > capacity[0].max(capacity[1]));
    }

    /// A job that ended or blocked with the last tick.
    fn observe(&mut self, index: usize) {
        let now = self.world.now;
        if self.world.blocks_now(index as u16) {
            self.outcome.blocked += 1;
            self.wakes[index] = Some(now + self.random.below(12));
        }
        if !self.world.completes_now(index as u16) {
            return;
        }
        let Some(job) = self.jobs[index].take() else {
            return;
        };
        self.wakes[index] = None;
        if !job.guaranteed {
            return;
        }
        let (own, response) = (self.system.own[index], now - job.released);
        let bound = self.bounds[index][usize::from(own.high)];
        self.outcome.jobs[usize::from(own.high)] += 1;
        self.outcome.exceeded += u64::from(response > bound);
        self.outcome.reached += u64::from(response == bound);
    }

    /// What the last decision made of the burst of a PIBS.
    fn observe_burst(&mut self, index: usize, returns: bool) {
        let decided = self.world.now - 1;
        let number = self.system.own.len() + index;
        let Some(Server::Pibs(pibs)) = self.world.engine.server(ServerId(number as u16)) else {
            unreachable!("shares are those of PIBS");
        };
        let (is_active, eligible) = (pibs.activation().is_some(), pibs.eligible());
        let raised = self.mode > Level(0);
        let ended =
            self.bursts[index].filter(|burst| !is_active || returns || burst.eligible != eligible);
        if let Some(burst) = ended {
            self.bursts[index] = None;
            let with_rise = usize::from(burst.raised);
            if let Some(bound) = self.burst_bounds[index][with_rise] {
                self.outcome.bursts[with_rise] += 1;
                self.outcome.exceeded += u64::from(decided - burst.activated > bound);
            }
        }
        if is_active {
            let burst = self.bursts[index].get_or_insert(Burst {
                activated: decided,
                eligible,
                raised,
            });
            burst.raised |= raised;
        }
    }

    fn release(&mut self, index: usize) -> Fact {
        let (now, own) = (self.world.now, self.system.own[index]);
        self.next[index] = now + own.period + self.random.below(2) * self.random.below(8);
        let [low, above] = own.capacity;
        let most = if own.high && self.random.once_in(3) {
            above
        } else {
            low
        };
        let demand = match self.random.below(4) {
            0 => self.random.between(1, most),
            1 if own.wild => 3 * most,
            _ => most,
        };
        let cut = match own.wild && demand > 1 && self.random.once_in(2) {
            true => self.random.between(1, demand - 1),
            false => demand,
        };
        let program = [cut, demand - cut];
        let parts = program.iter().copied().filter(|part| *part > 0);
        self.world.set_program(index as u16, parts.collect());
        self.clean[index] |= self.last_ran[index] + own.period <= now;
        self.jobs[index] = Some(Job {
            released: now,
            guaranteed: !own.wild && self.clean[index],
        });
        self.world.release(index as u16)
    }

    /// What becomes of jobs of LO servers in a raised mode, and of what was said of them.
    fn drop_jobs(&mut self) {
        for (index, own) in self.system.own.iter().enumerate() {
            if own.high || self.mode == Level(0) {
                continue;
            }
            let is_dropped = own.capacity[1] == 0;
            self.clean[index] &= is_dropped;
            if is_dropped {
                self.jobs[index] = None;
                self.wakes[index] = None;
            } else if let Some(job) = &mut self.jobs[index] {
                job.guaranteed = false;
            }
        }
    }
}

fn campaign(seeds: u64) -> Outcome {
    let mut outcome = Outcome::default();
    for seed in 0..seeds {
        run_of(seed, &mut outcome);
    }
    outcome
}

/// The run of this seed, if its system has bounds.
fn run_of(seed: u64, outcome: &mut Outcome) {
    let mut random = Random::new(seed);
    let system = match random.below(4) {
        0 => random_system(&mut random),
        1 => system_with_much_to_return(&mut random),
        2 => system_with_other_shares(&mut random),
        _ => system_with_gaps(&mut random),
    };
    let Some(bounds) = system.bounds() else {
        return;
    };
    let burst_bounds = system.burst_bounds();
    let count = system.own.len();
    let patience = random.one_of(&[1, 30]);
    let mut run = Campaign {
        world: system.world(&mut random),
        next: (0..count).map(|_| random.below(12)).collect(),
        system: &system,
        bounds: &bounds,
        burst_bounds: &burst_bounds,
        bursts: vec![None; system.shares.len()],
        random: &mut random,
        jobs: vec![None; count],
        clean: vec![true; count],
        last_ran: vec![0; count],
        wakes: vec![None; count],
        ran: Default::default(),
        patience,
        mode: Level(0),
        outcome,
    };
    while run.world.now < TICKS {
        run.tick();
    }
}

#[test]
fn whoever_is_guaranteed_is_done_by_its_bound_whatever_changes() {
    let outcome = campaign(8000);
    assert_eq!((outcome.exceeded, outcome.overfull), (0, 0), "{outcome:?}");
    let enough = outcome.jobs[0] > 20_000 && outcome.jobs[1] > 80_000 && outcome.reached > 20_000;
    assert!(enough, "{outcome:?}");
    let bursts = outcome.bursts[0] > 20_000 && outcome.bursts[1] > 5_000;
    assert!(bursts, "{outcome:?}");
    let many = outcome.rises > 30_000 && outcome.blocked > 20_000 && outcome.interrupts > 500_000;
    assert!(many, "{outcome:?}");
}

/// The control.
#[test]
fn without_one_rule_of_a_mode_change_somebody_exceeds_a_bound() {
    for rule in [
        Rule::Grow,
        Rule::Bursts,
        Rule::Uses,
        Rule::Drops,
        Rule::Resize,
    ] {
        let exceeds = |seed: &u64| {
            let mut outcome = Outcome::default();
            run_of(*seed, &mut outcome);
            outcome.exceeded + outcome.overfull > 0
        };
        let found = without(rule, || (0..20_000).find(exceeds));
        assert!(found.is_some(), "{rule:?}");
    }
}
