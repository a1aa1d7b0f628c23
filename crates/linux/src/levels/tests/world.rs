//! Managers that go a word or two at a time, in the order of a draw; whoever settles is interrupted between any two words.

use super::super::facts::What;
use super::super::settle::Settler;
use super::super::shared::Shared;
use super::super::side::{LocalStep, NoStep, Published, Side, Taken};
use super::system::{Gate, System};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use vestal_core::{CpuId, JobId, Notice, SharedDomain};
use vestal_testkit::Random;
use vestal_testkit::short::{at, ns};

/// What a manager does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Charge,
    End,
    Stop,
    GiveBack,
    Tell,
    Publish,
    Attempt,
    Take,
    Start,
    Check,
}

/// The job that a CPU has.
#[derive(Clone, Copy, Debug)]
struct Running {
    taken: Taken,
    used: u64,
    uncharged: u64,
    is_told: bool,
    /// That it has stopped or ended was told.
    has_left: bool,
}

pub(super) struct Manager {
    side: Side,
    gate: Gate,
    phase: Phase,
    is_called: bool,
    pub(super) is_frozen: bool,
    running: Option<Running>,
    releases: Vec<JobId>,
    published: Option<Published>,
}

/// Why a system went wrong.
pub(super) type Wrong = String;

pub(super) struct World<'a> {
    system: &'a System,
    pub(super) shared: Shared<SharedDomain>,
    pub(super) managers: Vec<RefCell<Manager>>,
    /// By task who has it.
    hands: RefCell<Vec<Option<CpuId>>>,
    progress: RefCell<BTreeMap<JobId, u64>>,
    random: RefCell<Random>,
    pub(super) now: Cell<u64>,
    settling: Cell<Option<usize>>,
    pub(super) told: Cell<u64>,
    wrong: RefCell<Option<Wrong>>,
    /// A fault of the managers: they tell a charge before the start.
    tells_late: bool,
}

impl Settler for &World<'_> {
    fn notice(&mut self, _: &Notice) {}

    fn between(&mut self) {
        // Seldom for long: a job may be stopped, given back and followed by another one.
        let most = self.random.borrow_mut().one_of(&[2, 4, 4, 30]);
        let steps = self.random.borrow_mut().below(most);
        for _ in 0..steps {
            let other = self.random.borrow_mut().index(self.managers.len());
            if self.settling.get() != Some(other) && self.is_active(other) {
                self.step(other);
            }
        }
    }
}

impl<'a> World<'a> {
    pub(super) fn new(system: &'a System, tells_late: bool) -> Self {
        let cpus = usize::from(system.cpus);
        let manager = |cpu: u16| {
            RefCell::new(Manager {
                side: Side::new(CpuId(cpu), 1_000),
                gate: Gate {
                    wants: true,
                    slots: vec![None; usize::from(cpu) + 1],
                },
                phase: Phase::Idle,
                is_called: false,
                is_frozen: false,
                running: None,
                releases: Vec::new(),
                published: None,
            })
        };
        Self {
            system,
            shared: Shared::new(system.domain(), (cpus, system.tasks.len()), system.room),
            managers: (0..system.cpus).map(manager).collect(),
            hands: RefCell::new(vec![None; system.tasks.len()]),
            progress: RefCell::default(),
            random: RefCell::new(Random::new(system.seed ^ 0x5eed)),
            now: Cell::new(0),
            settling: Cell::new(None),
            told: Cell::new(0),
            wrong: RefCell::new(None),
            tells_late,
        }
    }

    fn is_active(&self, cpu: usize) -> bool {
        let manager = self.managers[cpu].borrow();
        !manager.is_frozen && (manager.phase != Phase::Idle || manager.is_called)
    }

    fn fails(&self, why: impl Into<Wrong>) {
        self.wrong.borrow_mut().get_or_insert(why.into());
    }

    pub(super) fn is_done(&self, job: JobId) -> bool {
        let progress = self.progress.borrow();
        progress.get(&job).copied().unwrap_or(0) >= self.system.demand(job)
    }

    fn tell(&self, manager: &mut Manager, what: What) {
        self.told.set(self.told.get() + 1);
        if manager
            .side
            .tell(&self.shared, at(self.now.get()), what)
            .is_err()
        {
            self.fails("no room");
        }
    }

    /// One step of a manager: a word or two.
    fn step(&self, cpu: usize) {
        if self.managers[cpu].borrow().phase == Phase::Attempt {
            return self.attempt(cpu);
        }
        let manager = &mut *self.managers[cpu].borrow_mut();
        manager.phase = match manager.phase {
            Phase::Idle => {
                manager.is_called = false;
                Phase::Charge
            }
            Phase::Charge => self.charge(manager),
            Phase::End | Phase::Stop => {
                if let Some(running) = &mut manager.running {
                    running.has_left = true;
                    let guest = running.taken.guest;
                    let has_ended = manager.phase == Phase::End;
                    let (ended, stopped) = (What::Completed(guest), What::Stopped(guest));
                    self.tell(manager, if has_ended { ended } else { stopped });
                }
                Phase::GiveBack
            }
            Phase::GiveBack => self.give_back(manager),
            Phase::Tell => {
                for job in std::mem::take(&mut manager.releases) {
                    self.tell(manager, What::Released(job));
                }
                Phase::Publish
            }
            Phase::Publish => {
                let was_open = manager.side.is_open();
                let sides = (&mut manager.side, &self.shared);
                match LocalStep(&mut manager.gate).decide(at(self.now.get()), sides, || true) {
                    Ok(decided) => manager.published = Some(decided.published),
                    Err(NoStep::Refused(violation)) => self.fails(violation.to_string()),
                    Err(NoStep::Full) => self.fails("no room"),
                }
                let news = manager.side.is_open() != was_open;
                self.told.set(self.told.get() + u64::from(news));
                Phase::Attempt
            }
            Phase::Attempt => Phase::Attempt,
            Phase::Take => self.take(cpu, manager),
            Phase::Start => {
                if let Some(running) = &mut manager.running {
                    running.is_told = true;
                    let guest = running.taken.guest;
                    self.tell(manager, What::Started(guest));
                }
                Phase::Check
            }
            Phase::Check => {
                let keeps = manager.side.keeps();
                manager.side.flush(&self.shared);
                let has_to_stop = manager.side.is_to_stop(&self.shared);
                match (has_to_stop, keeps) {
                    (true, _) => Phase::Charge,
                    (false, true) => Phase::Publish,
                    (false, false) => Phase::Idle,
                }
            }
        };
    }

    fn charge(&self, manager: &mut Manager) -> Phase {
        let Some(mut running) = manager.running else {
            return Phase::Tell;
        };
        if running.has_left {
            return Phase::GiveBack;
        }
        let guest = running.taken.guest;
        if running.uncharged > 0 {
            self.tell(manager, What::Charged(guest, ns(running.uncharged)));
            running.uncharged = 0;
        }
        if !running.is_told {
            running.is_told = true;
            self.tell(manager, What::Started(guest));
        }
        manager.running = Some(running);
        let is_used_up = running
            .taken
            .remaining
            .is_some_and(|remaining| ns(running.used) >= remaining);
        if self.is_done(guest.job) {
            Phase::End
        } else if is_used_up || manager.gate.wants || manager.side.is_to_stop(&self.shared) {
            Phase::Stop
        } else {
            Phase::Tell
        }
    }

    fn give_back(&self, manager: &mut Manager) -> Phase {
        let Some(running) = manager.running else {
            return Phase::Tell;
        };
        let hands = &mut self.hands.borrow_mut()[running.taken.guest.job.task.index()];
        let before = hands.take();
        if manager.side.give_back(&self.shared) {
            manager.running = None;
        } else {
            // What was told is kept still: somebody has to look.
            *hands = before;
        }
        Phase::Tell
    }

    fn attempt(&self, cpu: usize) {
        let mut calls = Vec::with_capacity(self.managers.len());
        {
            let manager = &mut *self.managers[cpu].borrow_mut();
            manager.phase = match manager.running.is_some_and(|running| running.has_left) {
                true => Phase::GiveBack,
                false => Phase::Take,
            };
            let Some(published) = manager.published.take() else {
                return self.fails("nothing was published");
            };
            let Some(held) = published.attempt(&mut manager.side, &self.shared) else {
                return;
            };
            // Until it is done only others go on, who do not get the turn.
            self.settling.set(Some(cpu));
            let outcome = held.settle(at(self.now.get()), (&mut &*self, &mut calls));
            self.settling.set(None);
            match outcome {
                Ok(true) => manager.is_called = true,
                Ok(false) => {}
                Err(violation) => self.fails(violation.to_string()),
            }
        }
        for called in calls {
            self.managers[called.index()].borrow_mut().is_called = true;
        }
    }

    fn take(&self, cpu: usize, manager: &mut Manager) -> Phase {
        if manager.running.is_some() {
            return Phase::Check;
        }
        let Some(taken) = manager.side.take(&self.shared) else {
            return Phase::Check;
        };
        let job = taken.guest.job;
        let hands = &mut self.hands.borrow_mut()[job.task.index()];
        let own = u16::try_from(cpu).map(CpuId).unwrap();
        if let Some(other) = hands.replace(own) {
            self.fails(format!("{job:?} is on {other:?} and {own:?}"));
        }
        if self.is_done(job) {
            self.fails(format!("{job:?} has ended"));
        }
        manager.running = Some(Running {
            taken,
            used: 0,
            uncharged: 0,
            is_told: false,
            has_left: false,
        });
        match self.tells_late {
            true => Phase::Check,
            false => Phase::Start,
        }
    }
}

pub(super) const TICKS: u64 = 40;

impl World<'_> {
    /// What is to be done at a tick: by the CPUs that open or close, those with releases, and those whose jobs have ended or used up
    /// their budgets.
    pub(super) fn begin_tick(&self, open: &[bool]) {
        let now = self.now.get();
        for (cpu, manager) in self.managers.iter().enumerate() {
            let manager = &mut *manager.borrow_mut();
            let is_news = manager.gate.wants == open[cpu];
            manager.gate.wants = !open[cpu];
            // By their numbers in turn.
            let own = |job: &JobId| job.task.index() % self.managers.len() == cpu;
            manager
                .releases
                .extend(self.system.released(now).filter(own));
            let number = CpuId(u16::try_from(cpu).unwrap());
            let is_due = self.shared.wake(number).is_some_and(|wake| wake <= at(now));
            let is_over = manager.running.is_some_and(|running| {
                let used = ns(running.used);
                self.is_done(running.taken.guest.job)
                    || running
                        .taken
                        .remaining
                        .is_some_and(|remaining| used >= remaining)
            });
            manager.is_called |= is_news || is_due || is_over || !manager.releases.is_empty();
        }
    }

    /// One is to look.
    pub(super) fn call(&self, cpu: usize) {
        self.managers[cpu].borrow_mut().is_called = true;
    }

    /// All that are called go on, in any order, until none is.
    pub(super) fn settle_all(&self) -> Result<(), Wrong> {
        for _ in 0..20_000 {
            if let Some(wrong) = self.wrong.borrow_mut().take() {
                return Err(wrong);
            }
            let active: Vec<usize> = (0..self.managers.len())
                .filter(|&cpu| self.is_active(cpu))
                .collect();
            if active.is_empty() {
                return Ok(());
            }
            let chosen = self.random.borrow_mut().one_of(&active);
            self.step(chosen);
        }
        Err("it goes on for ever".to_owned())
    }

    pub(super) fn execute(&self) {
        for manager in &self.managers {
            if let Some(running) = &mut manager.borrow_mut().running
                && !running.has_left
                && !self.is_done(running.taken.guest.job)
            {
                running.used += 1;
                running.uncharged += 1;
                *self
                    .progress
                    .borrow_mut()
                    .entry(running.taken.guest.job)
                    .or_default() += 1;
            }
        }
    }

    pub(super) fn jobs(&self) -> Vec<JobId> {
        sorted(
            self.managers
                .iter()
                .filter_map(|manager| Some(manager.borrow().running?.taken.guest.job)),
        )
    }
}

pub(super) fn sorted(jobs: impl Iterator<Item = JobId>) -> Vec<JobId> {
    let mut jobs: Vec<JobId> = jobs.collect();
    jobs.sort_unstable();
    jobs
}
