//! Runs of the core's engine of servers under modes that rise by themselves, beside the bounds: jobs that block, several
//! changes within a period, floods of events, LO servers that go on with less.
//!
//! Compared are jobs of servers that neither block nor ask for more than there is, and bursts of all PIBS. A LO job is
//! if it was there in mode 0 only, and one of a server that goes on with less if that is enough for it and there was no
//! return of the mode. A LO server that lost its jobs is relied on after the return as it was before; each again when it has not
//! executed for a period. A burst that was under way at a rise is compared if it executed no more than its PIBS has in mode 1.

use super::sets::Set;
use std::collections::BTreeMap;
use vestal_core::server::Activation;
use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::hierarchies::{self as core_world, World};

const TICKS: u64 = 500;

/// Of a server, or of a burst on behalf of another: in mode 0, and in any mode if it is there in all.
pub(super) type Bounds = BTreeMap<(u16, Option<u16>), [Option<u64>; 2]>;

/// When something was compared with its bound: in mode 0 only, in mode 1 from its beginning on, or else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum When {
    Mode0,
    Mode1,
    Between,
}

/// What was seen, by whether it was a burst and when.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) systems: u64,
    pub(super) compared: BTreeMap<(bool, When), u64>,
    pub(super) reached: BTreeMap<(bool, When), u64>,
    /// The largest part of a bound that something took, in thousandths.
    pub(super) permille: BTreeMap<(bool, When), u64>,
    pub(super) exceeded: u64,
    pub(super) degraded: u64,
    pub(super) rises: u64,
    pub(super) blocked: u64,
    pub(super) events: u64,
}

#[derive(Clone, Copy, Debug)]
struct Job {
    released: u64,
    guaranteed: bool,
    /// What its server has in mode 1 is enough for it.
    is_small: bool,
    when: When,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Burst {
    activation: Activation,
    began: u64,
    /// The instant from which its PIBS was eligible: another one means another burst.
    eligible: Instant,
    executed: u64,
    when: When,
}

struct Run<'a> {
    set: &'a Set,
    bounds: &'a Bounds,
    world: World<'static>,
    random: &'a mut Random,
    /// By server: its jobs block or ask for more than there is.
    wild: Vec<bool>,
    next: Vec<u64>,
    jobs: Vec<Option<Job>>,
    clean: Vec<bool>,
    last_ran: Vec<u64>,
    wakes: Vec<Option<u64>>,
    bursts: Vec<Option<Burst>>,
    /// By PIBS, when its next flood is due, if not at random.
    floods: Vec<Option<u64>>,
    /// When all begin together next; 0: never.
    together: u64,
    patience: u64,
    mode: Level,
    seen: &'a mut Seen,
}

fn world(set: &Set, random: &mut Random) -> World<'static> {
    let servers: Vec<_> = set.servers().iter().map(|one| one.configuration).collect();
    let count = set.own.len() as u16;
    let mut tasks: Vec<ServedTask> = (0..count)
        .zip(set.tasks())
        .map(|(server, task)| ServedTask {
            task,
            ..core_world::task(server, 1, task.deadline.as_nanos())
        })
        .collect();
    for (pibs, number) in set.pibs.iter().zip(count..) {
        let last = pibs.hosts.iter().copied().max().map(ServerId);
        tasks.push(ServedTask {
            on_behalf_of: last,
            ..core_world::task(number, 1, 100)
        });
    }
    let devices: Vec<_> = (count..tasks.len() as u16)
        .map(|task| DeviceConfiguration {
            bottom_half: TaskId(task),
        })
        .collect();
    let programs = vec![vec![1]; tasks.len()];
    let configuration = core_world::configuration(&servers, &tasks, &devices);
    core_world::world(
        &core_world::adaptive(&configuration, random.once_in(2)),
        programs,
    )
}

/// One run of a set with these bounds.
pub(super) fn run(set: &Set, bounds: &Bounds, random: &mut Random, seen: &mut Seen) {
    let count = set.own.len();
    let together = random.once_in(2);
    let longest = set.own.iter().map(|own| own.period).max().unwrap();
    seen.systems += 1;
    let world = world(set, random);
    let mut run = Run {
        world,
        wild: (0..count).map(|_| random.once_in(3)).collect(),
        next: (0..count).map(|_| random.below(12)).collect(),
        jobs: vec![None; count],
        clean: vec![true; count],
        last_ran: vec![0; count],
        wakes: vec![None; count],
        bursts: vec![None; set.pibs.len()],
        floods: vec![None; set.pibs.len()],
        together: if together { 2 * longest } else { 0 },
        patience: random.one_of(&[1, 30]),
        mode: Level(0),
        set,
        bounds,
        random,
        seen,
    };
    while run.world.now < TICKS {
        run.tick();
    }
}

impl Run<'_> {
    fn tick(&mut self) {
        for index in 0..self.set.own.len() {
            self.observe(index);
        }
        let mut facts = Vec::new();
        if self.together > 0 {
            self.facts_together(&mut facts);
        } else {
            self.facts_at_random(&mut facts);
        }
        self.world.step(&facts);
        let before = std::mem::replace(&mut self.mode, self.world.engine.mode());
        self.seen.rises += u64::from(before < self.mode);
        if before > self.mode {
            self.note_return();
        }
        let is_raised = self.mode > Level(0);
        for job in self.jobs.iter_mut().flatten() {
            job.when = later(job.when, is_raised, job.released + 1 == self.world.now);
        }
        self.drop_jobs();
        if let Some(task) = self.world.ran(0)
            && let Some(last) = self.last_ran.get_mut(task.index())
        {
            *last = self.world.now;
        }
        for pibs in 0..self.set.pibs.len() {
            self.observe_burst(pibs, before > self.mode);
        }
    }

    /// What goes on with less beyond a return meets more than any bound of it knows.
    fn note_return(&mut self) {
        for (job, own) in self.jobs.iter_mut().zip(&self.set.own) {
            if let Some(job) = job
                && !own.high
                && job.released + 1 < self.world.now
            {
                job.guaranteed = false;
            }
        }
    }

    fn interrupt(&mut self, pibs: usize, count: u64, facts: &mut Vec<Fact>) {
        self.seen.events += count;
        let device = DeviceId(pibs as u16);
        let (count, host) = (count as u32, self.random.one_of(&self.set.pibs[pibs].hosts));
        facts.push(Fact::Interrupt { device, count });
        facts.push(Fact::Woken {
            task: TaskId((self.set.own.len() + pibs) as u16),
            on_behalf_of: Some(ServerId(host)),
        });
    }

    /// Jobs and events at any time, also just when the mode returns.
    fn facts_at_random(&mut self, facts: &mut Vec<Fact>) {
        let mut pairs = self.set.own.iter().zip(&self.jobs);
        let ends = self.mode > Level(0) && !pairs.any(|(own, job)| own.high && job.is_some());
        for index in 0..self.set.own.len() {
            self.wake(index, facts);
            let low = !self.set.own[index].high;
            let waits = low && !ends && !self.random.once_in(self.patience);
            if self.next[index] <= self.world.now && self.jobs[index].is_none() && !waits {
                facts.push(self.release(index));
            }
        }
        for pibs in 0..self.set.pibs.len() {
            if self.random.once_in(if ends { 2 } else { 6 }) {
                let count = self.random.between(1, 12);
                self.interrupt(pibs, count, facts);
            }
        }
        if self.set.levels == 2 && self.random.once_in(60) {
            let level = Level(1);
            facts.push(Fact::ModeRequested { level });
        }
    }

    /// All servers and PIBS begin at the same time, after a rest, and then do as much as they can; a PIBS comes back
    /// with its whole capacity when it has executed part of one.
    fn facts_together(&mut self, facts: &mut Vec<Fact>) {
        let now = self.world.now;
        let begins = now % self.together == self.together / 2;
        let rests = now % self.together < self.together / 2;
        for index in 0..self.set.own.len() {
            self.wake(index, facts);
            if self.jobs[index].is_none() && !rests && (begins || self.next[index] <= now) {
                facts.push(self.release(index));
            }
        }
        for pibs in 0..self.set.pibs.len() {
            if begins {
                let host = usize::from(self.set.pibs[pibs].hosts[0]);
                let (n, d) = self.set.pibs[pibs].shares[0];
                let capacity = (self.set.own[host].period * n / d).max(1);
                let first = match self.random.once_in(2) {
                    true => (capacity * (d - n)).div_ceil(d).max(1),
                    false => self.random.between(1, capacity),
                };
                self.floods[pibs] = Some(now + (first * d).div_ceil(n));
                self.interrupt(pibs, first, facts);
            } else if self.floods[pibs].is_some_and(|at| at <= now) && !rests {
                self.interrupt(pibs, 3, facts);
            }
        }
    }

    fn wake(&mut self, index: usize, facts: &mut Vec<Fact>) {
        if self.wakes[index] == Some(self.world.now) {
            facts.push(Fact::Woken {
                task: TaskId(index as u16),
                on_behalf_of: None,
            });
        }
    }

    fn release(&mut self, index: usize) -> Fact {
        let (now, own, wild) = (self.world.now, self.set.own[index], self.wild[index]);
        let late = match self.together {
            0 => self.random.below(2) * self.random.below(8),
            _ => 0,
        };
        self.next[index] = now + own.period + late;
        let [low, above] = own.capacity;
        let exceeds = self.random.once_in(3);
        let is_degraded = !own.high && above > 0;
        let most = match (own.high && exceeds, is_degraded && self.random.once_in(2)) {
            (true, _) => above,
            (false, true) => above.min(low),
            (false, false) => low,
        };
        let demand = match self.random.below(if self.together > 0 { 20 } else { 4 }) {
            0 => self.random.between(1, most),
            1 if wild => 3 * most,
            _ => most,
        };
        let cut = match wild && demand > 1 && self.random.once_in(2) {
            true => self.random.between(1, demand - 1),
            false => demand,
        };
        let program = [cut, demand - cut];
        let parts = program.iter().copied().filter(|part| *part > 0);
        self.world.set_program(index as u16, parts.collect());
        self.clean[index] |= self.last_ran[index] + own.period <= now;
        self.jobs[index] = Some(Job {
            released: now,
            guaranteed: !wild && self.clean[index],
            is_small: demand <= above,
            when: When::Mode0,
        });
        self.world.release(index as u16)
    }

    /// A job that ended or blocked with the last tick.
    fn observe(&mut self, index: usize) {
        let now = self.world.now;
        if self.world.blocks_now(index as u16) {
            self.seen.blocked += 1;
            self.wakes[index] = Some(now + self.random.below(12));
        }
        if !self.world.completes_now(index as u16) {
            return;
        }
        let Some(job) = self.jobs[index].take() else {
            return;
        };
        self.wakes[index] = None;
        let is_degraded = !self.set.own[index].high && job.when != When::Mode0;
        if job.guaranteed && (!is_degraded || job.is_small) {
            self.seen.degraded += u64::from(is_degraded);
            self.compare((index as u16, None), job.when, now - job.released);
        }
    }

    /// At a return all bursts end, and who has work left begins another one.
    fn observe_burst(&mut self, pibs: usize, is_return: bool) {
        let now = self.world.now - 1;
        let id = (self.set.own.len() + pibs) as u16;
        let Some(server::Server::Pibs(server)) = self.world.engine.server(ServerId(id)) else {
            panic!("a PIBS")
        };
        let (activation, eligible) = (server.activation(), server.eligible());
        let is_same = |burst: &Burst| {
            !is_return && Some(burst.activation) == activation && burst.eligible == eligible
        };
        if let Some(over) = self.bursts[pibs].take_if(|burst| !is_same(burst)) {
            let host = over.activation.on_behalf_of.0;
            let period = self.set.own[usize::from(host)].period;
            let (n, d) = self.set.pibs[pibs].shares[1];
            // A burst under way at a rise keeps its capacity.
            let is_small = over.when == When::Mode0 || over.executed <= period * n / d;
            if is_small || n == 0 {
                self.compare((id, Some(host)), over.when, now - over.began);
            }
        }
        let is_raised = self.mode > Level(0);
        match (&mut self.bursts[pibs], activation) {
            (Some(burst), _) => burst.when = later(burst.when, is_raised, false),
            (none, Some(activation)) => {
                *none = Some(Burst {
                    activation,
                    began: now,
                    eligible,
                    executed: 0,
                    when: if is_raised { When::Mode1 } else { When::Mode0 },
                });
            }
            (None, None) => {}
        }
        if let (Some(burst), Some(task)) = (&mut self.bursts[pibs], self.world.ran(0)) {
            burst.executed += u64::from(task.0 == id);
        }
    }

    fn compare(&mut self, who: (u16, Option<u16>), when: When, response: u64) {
        let [low, high] = self.bounds[&who];
        // Who is not there in mode 1 was cut short by it.
        let bound = match when {
            When::Mode0 => low,
            When::Mode1 | When::Between => high.or(low),
        };
        let Some(bound) = bound else { return };
        let key = (who.1.is_some(), when);
        *self.seen.compared.entry(key).or_default() += 1;
        *self.seen.reached.entry(key).or_default() += u64::from(response == bound);
        self.seen.exceeded += u64::from(response > bound);
        let part = self.seen.permille.entry(key).or_default();
        *part = (*part).max(response * 1000 / bound.max(1));
    }

    /// What becomes of jobs of LO servers in a raised mode, and of what was relied on.
    fn drop_jobs(&mut self) {
        for (index, own) in self.set.own.iter().enumerate() {
            if own.high || self.mode == Level(0) {
                continue;
            }
            let is_dropped = own.capacity[1] == 0;
            self.clean[index] &= is_dropped;
            if is_dropped {
                self.jobs[index] = None;
                self.wakes[index] = None;
            }
        }
    }
}

/// What was seen of a job or a burst until now, which is there in a mode that is raised or not.
fn later(before: When, is_raised: bool, is_first: bool) -> When {
    match (before, is_raised) {
        (When::Mode0, false) | (When::Mode1, true) => before,
        (When::Mode0, true) if is_first => When::Mode1,
        (When::Mode0 | When::Between, _) | (When::Mode1, false) => When::Between,
    }
}
