//! What is drawn, managers with their workers, and the engine of all domains in one hand.

use super::super::*;
use crate::control::ManagerRecord;
use crate::cpu::{Cpu, Terms};
use crate::driver::Kind;
use crate::driver::dispatch::scripted;
use crate::job::Ended;
use crate::monitor::Monitor;
use crate::recording::Tracer;
use crate::run::Run;
use crate::task::{TaskShared, Tasks};
use crate::words::{Allowance, Bell};
use crate::{Config, sys::Processor};
use std::collections::BTreeMap;
use vestal_core::engine::levelled::Levelled;
use vestal_core::fact::StopReason;
use vestal_core::{
    Budgets, Container, CpuTable, Duration, Fact, LevelB, LevelledConfiguration, LevelledTask,
    LocalDomain, Scheduler, Service, SharedDomain, TableSlot, TaskConfiguration, TaskId,
};
use vestal_testkit::Random;
use vestal_testkit::short::{at, job, ns, span, task};
use vestal_trace::Recorder;

/// Beyond all that the machine's clock says, which so is no instant of these runs.
const EPOCH: u64 = 1 << 60;
pub(super) const CYCLE: u64 = 24;
pub(super) const TICKS: u64 = 6 * CYCLE;

/// Tasks with their containers, and what their jobs need.
pub(super) struct System {
    pub(super) seed: u64,
    pub(super) tasks: Vec<LevelledTask>,
    pub(super) slots: Vec<Vec<TableSlot>>,
    pub(super) budgets: Budgets,
    pub(super) ways: Ways,
    /// How many facts of a CPU nobody need have looked at.
    pub(super) room: usize,
}

/// Each CPU with timers of its own.
pub(super) const ALONE: Ways = Ways {
    merging: Merging::Within(0),
    master: None,
    redistributes: false,
};

impl System {
    pub(super) fn draw(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let cpus = random.between(1, 3);
        let (mut tasks, mut slots) = (Vec::new(), Vec::new());
        let entry = |level, period, own, container| LevelledTask {
            task: task(level, period, &[own]),
            container,
        };
        for cpu in (0..).map(CpuId).take(cpus as usize) {
            let (mut own, mut free) = (Vec::new(), random.below(4));
            for _ in 0..random.below(3) {
                let length = random.between(1, 4);
                own.push(TableSlot {
                    start: span(free),
                    length: span(length),
                    task: TaskId(tasks.len() as u16),
                });
                tasks.push(entry(3, CYCLE, length, Container::Table(cpu)));
                free += length + random.below(5);
            }
            slots.push(own);
            for _ in 0..random.below(3) {
                let period = random.one_of(&[6, 12, 24]);
                let own = random.between(1, period / 4);
                tasks.push(entry(2, period, own, Container::Local(cpu)));
            }
        }
        for _ in 0..random.between(1, 2 + cpus) {
            let period = random.between(5, 30);
            let own = random.between(1, period.div_ceil(2));
            tasks.push(entry(1, period, own, Container::Global));
        }
        let budgets = random.one_of(&[Budgets::Enforced, Budgets::Enforced, Budgets::Ignored]);
        let master = random.once_in(2).then(|| CpuId(random.below(cpus) as u16));
        let merging = match random.once_in(2) {
            true => Merging::EachInstant,
            false => Merging::Within(0),
        };
        let redistributes = master.is_some() && random.once_in(2);
        let ways = Ways {
            merging,
            master,
            redistributes,
        };
        Self {
            seed,
            tasks,
            slots,
            budgets,
            ways,
            room: random.one_of(&[2, 5, 64]) as usize,
        }
    }

    pub(super) fn configured<R>(&self, make: impl FnOnce(&LevelledConfiguration<'_>) -> R) -> R {
        let table = |slots| CpuTable {
            cycle: span(CYCLE),
            slots,
        };
        let tables: Vec<CpuTable<'_>> = self.slots.iter().map(|slots| table(slots)).collect();
        make(&LevelledConfiguration {
            tasks: &self.tasks,
            tables: &tables,
            backlog: 50,
            budgets: self.budgets,
            level_b: LevelB::EarliestDeadline,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        })
    }

    /// What a job needs: less than its budget, as much, or more.
    fn demand(&self, job: JobId) -> u64 {
        let own = self.tasks[job.task.index()].task.own_wcet().as_nanos();
        let mixed = self.seed ^ u64::from(job.task.0) << 40 ^ job.sequence << 8;
        let mut random = Random::new(mixed);
        match random.below(8) {
            0 => own + random.between(1, own),
            1..4 => random.between(1, own),
            _ => own,
        }
    }

    /// By the number of the set the tasks with this container.
    fn of(&self, is: impl Fn(Container) -> bool) -> Vec<TaskId> {
        let each = (0..).map(TaskId).zip(&self.tasks);
        each.filter(|(_, entry)| is(entry.container))
            .map(|(id, _)| id)
            .collect()
    }
}

/// The block of some tasks of the set, on a CPU with this number.
fn block(system: &System, run: &Arc<Run>, cpu: CpuId, tasks: &[TaskId]) -> Arc<Cpu> {
    let worker = |id: &TaskId| {
        let entry = TaskConfiguration::new(system.tasks[id.index()].task, 1);
        let task = TaskShared::new("task".to_owned(), entry, 0, 2, Allowance::Unlimited);
        task.jobs.tid.set(scripted::tid_of(id.index()));
        task.in_slices()
    };
    let (enforces, futex) = (true, true);
    let terms = Terms {
        duties: Kind::Managed { enforces, futex }.duties(),
        ..Terms::in_test(Monitor::Manager)
    };
    let tasks = Tasks::new(tasks.iter().map(worker).collect());
    let mut block = Cpu::new(run, tasks, Processor(0), terms);
    block.id = cpu;
    block.call = Call::Futex(Bell::default());
    Arc::new(block)
}

/// Where each task is, of which these are each CPU's, and those guests.
fn homes(system: &System, own: &[Vec<TaskId>], guests: &[TaskId]) -> Box<[Home]> {
    let home = |id: TaskId| {
        let place = |tasks: &[TaskId]| tasks.iter().position(|other| *other == id);
        let cpu = own.iter().position(|tasks| place(tasks).is_some());
        match (cpu, place(guests)) {
            (Some(cpu), _) => Home::Own(CpuId(cpu as u16), place(&own[cpu]).unwrap()),
            (None, Some(guest)) => Home::Guest(guest),
            (None, None) => Home::Nowhere,
        }
    };
    let each = (0..).map(TaskId).take(system.tasks.len());
    each.map(home).collect()
}

/// The manager of a CPU.
pub(super) struct Manager {
    block: Arc<Cpu>,
    record: ManagerRecord,
    pub(super) levels: Levels,
    /// How many calls it has heard.
    heard: u32,
}

impl Manager {
    fn calls(&self) -> u32 {
        match &self.block.call {
            Call::Futex(bell) => bell.count(),
            Call::Signal | Call::Event(_) => 0,
        }
    }

    /// Whether it was called, or has nothing to wait for until later.
    fn is_due(&mut self, now: u64) -> bool {
        let control = Control::new(&self.block, &mut self.record);
        let until = self.levels.arm(&control);
        until <= EPOCH + now || self.calls() != self.heard
    }

    fn round(&mut self, now: u64) -> Step {
        self.heard = self.calls();
        let mut control = Control::new(&self.block, &mut self.record);
        self.levels.round(&mut control, &(), EPOCH + now)
    }

    /// The job of its own that runs, and the guest that does.
    fn runs(&self) -> [Option<JobId>; 2] {
        let guest = self.levels.hosted.as_ref().map(Hosted::job);
        [self.levels.local.running(), guest]
    }
}

pub(super) struct World<'a> {
    system: &'a System,
    pub(super) common: Arc<Together>,
    pub(super) managers: Vec<Manager>,
    /// By task of the set: the job that its worker has begun.
    active: Vec<Option<u64>>,
    progress: BTreeMap<JobId, u64>,
    random: Random,
}

pub(super) type Wrong = String;

impl<'a> World<'a> {
    pub(super) fn new(system: &'a System) -> Self {
        let one = system.seed.is_multiple_of(4).then(Arc::default);
        let run = Arc::new(Run::new(&Config::new(), None));
        run.epoch.set(EPOCH);
        run.end.set(u64::MAX);
        scripted::begin(system.tasks.len());
        let guests = system.of(|container| container == Container::Global);
        let cpus = system.slots.len();
        let own = (0..).map(CpuId).take(cpus).map(|cpu| {
            system.of(|container| {
                container == Container::Table(cpu) || container == Container::Local(cpu)
            })
        });
        let own: Vec<Vec<TaskId>> = own.collect();
        let homes = homes(system, &own, &guests);
        let shared: SharedDomain =
            system.configured(|levels| SharedDomain::with_store(levels).unwrap());
        let shared: BoxedScheduler = Box::new(shared);
        let common = Arc::new(Common::new(
            Recorder::new(shared, Tracer::off()),
            (homes, block(system, &run, CpuId(99), &guests)),
            cpus,
            system.room,
        ));
        let manager = |(cpu, tasks): (CpuId, &Vec<TaskId>)| {
            let block = block(system, &run, cpu, tasks);
            let domain: LocalDomain =
                system.configured(|levels| LocalDomain::with_store(levels, cpu).unwrap());
            let domain: BoxedScheduler = Box::new(domain);
            let parts = Parts {
                domain: Recorder::new(domain, Tracer::off()),
                cpu,
                tasks: tasks.clone(),
                common: Arc::clone(&common),
                cpus,
                ways: system.ways,
                share: Share::new(None, 0),
                demand: Demand::default(),
                one: one.clone(),
                keeps: 0,
            };
            Manager {
                record: ManagerRecord::new(tasks.len(), 0),
                levels: Levels::new(parts, 1),
                block,
                heard: 0,
            }
        };
        let mut managers: Vec<Manager> = (0..).map(CpuId).zip(&own).map(manager).collect();
        let blocks = managers.iter().map(|manager| Arc::clone(&manager.block));
        common.set_cpus(&blocks.collect::<Vec<_>>());
        for Manager {
            block,
            record,
            levels,
            ..
        } in &mut managers
        {
            levels.start(&Control::new(block, record)).unwrap();
        }
        Self {
            system,
            common,
            managers,
            active: vec![None; system.tasks.len()],
            progress: BTreeMap::new(),
            random: Random::new(system.seed ^ 0x5eed),
        }
    }

    fn worker(&self, id: TaskId) -> &TaskShared {
        match self.common.home(id) {
            Home::Own(cpu, index) => &self.managers[cpu.index()].block.tasks[index],
            Home::Guest(index) => &self.common.guests.tasks[index],
            Home::Nowhere => unreachable!("every task has a worker"),
        }
    }

    pub(super) fn is_done(&self, job: JobId) -> bool {
        let progress = self.progress.get(&job).copied().unwrap_or(0);
        progress >= self.system.demand(job)
    }

    /// All managers that have something to do go round in any order, and again when they are called.
    pub(super) fn tick(&mut self, now: u64) -> Result<(), Wrong> {
        let all = vec![true; self.managers.len()];
        self.tick_of(now, &all)
    }

    /// The same of some managers; the others stand still.
    pub(super) fn tick_of(&mut self, now: u64, goes: &[bool]) -> Result<(), Wrong> {
        let due = |manager: &mut Manager| manager.is_due(now);
        let due: Vec<bool> = self.managers.iter_mut().map(due).collect();
        let all = 0..self.managers.len();
        let mut left: Vec<usize> = all.filter(|&cpu| goes[cpu] && due[cpu]).collect();
        for _ in 0..2_000 {
            if left.is_empty() {
                return self.check();
            }
            let place = self.random.index(left.len());
            let cpu = left.swap_remove(place);
            let outcome = self.managers[cpu].round(now);
            outcome.map_err(|violation| format!("at {now} CPU {cpu}: {violation}"))?;
            self.begin_assigned()?;
            for (other, manager) in self.managers.iter().enumerate() {
                let levels = &manager.levels;
                let goes_on =
                    manager.calls() != manager.heard || levels.side.keeps() || levels.comes_again;
                if goes[other] && goes_on && !left.contains(&other) {
                    left.push(other);
                }
            }
        }
        Err(format!("at {now} it goes on for ever"))
    }

    /// Workers begin what they are assigned.
    fn begin_assigned(&mut self) -> Result<(), Wrong> {
        for id in (0..).map(TaskId).take(self.active.len()) {
            let assigned = self.worker(id).handover.take_assigned();
            if let Some(assigned) = assigned {
                self.worker(id).jobs.begin(assigned.sequence, 0);
                if let Some(before) = self.active[id.index()].replace(assigned.sequence) {
                    return Err(format!("{id:?} has job {before} still"));
                }
            }
        }
        Ok(())
    }

    /// Who runs is let go, and a guest that no CPU has is held.
    fn check(&self) -> Result<(), Wrong> {
        let mut runs: Vec<JobId> = self.running().into_iter().flatten().flatten().collect();
        runs.sort_unstable();
        if let Some(twice) = runs.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("{:?} runs on two CPUs", twice[0]));
        }
        for (id, active) in (0..).map(TaskId).zip(&self.active) {
            let Some(sequence) = *active else { continue };
            let task = id;
            let is_running = runs.contains(&JobId { task, sequence });
            let is_held = self.worker(id).suspension.is_held_anywhere();
            let is_guest = matches!(self.common.home(id), Home::Guest(_));
            if is_running && is_held {
                return Err(format!("{id:?} runs, and is held"));
            }
            if is_guest && !is_running && !is_held {
                return Err(format!("{id:?} is stopped, and not held"));
            }
        }
        Ok(())
    }

    /// By CPU the own job and the guest that run.
    pub(super) fn running(&self) -> Vec<[Option<JobId>; 2]> {
        self.managers.iter().map(Manager::runs).collect()
    }

    /// A tick passes, and jobs end.
    pub(super) fn execute(&mut self, now: u64) {
        let runs: Vec<JobId> = self.running().into_iter().flatten().flatten().collect();
        // Who has ended, and was not heard, does nothing more.
        let active = |job: &JobId| self.active[job.task.index()] == Some(job.sequence);
        let runs: Vec<JobId> = runs.into_iter().filter(active).collect();
        for job in runs {
            scripted::advance(job.task.index(), 1);
            *self.progress.entry(job).or_default() += 1;
            if self.is_done(job) {
                self.end(job, now + 1);
            }
        }
    }

    pub(super) fn end(&mut self, job: JobId, now: u64) {
        let sequence = self.active[job.task.index()].take();
        assert_eq!(sequence, Some(job.sequence));
        let worker = self.worker(job.task);
        worker.handover.hand_back(Ended {
            sequence: job.sequence,
            release: 0,
            finished: EPOCH + now,
            executed: 0,
            completed: true,
        });
        worker.jobs.finish(job.sequence);
        match self.common.home(job.task) {
            Home::Own(cpu, _) => self.managers[cpu.index()].block.kick_manager(),
            Home::Guest(index) => self.common.guests.call_manager_of(TaskId(index as u16)),
            Home::Nowhere => {}
        }
    }
}

/// All domains in one hand.
pub(super) struct Twin {
    pub(super) engine: Levelled,
    pub(super) running: Vec<Option<JobId>>,
}

impl Twin {
    pub(super) fn tick(&mut self, now: u64, world: &World<'_>) {
        let (clock, why) = (at(now), StopReason::Preempted);
        let engine = &mut self.engine;
        for (cpu, running) in (0..).map(CpuId).zip(&mut self.running) {
            let Some(job) = *running else { continue };
            let amount = ns(1);
            let charged = Fact::Charged { cpu, job, amount };
            engine.apply(clock, charged).unwrap();
            if world.is_done(job) {
                engine.apply(clock, Fact::Completed { cpu, job }).unwrap();
                *running = None;
            }
        }
        for (id, entry) in (0..).zip(&world.system.tasks) {
            let period = entry.task.period.as_nanos();
            if now.is_multiple_of(period) {
                let job = job(id, now / period);
                engine.apply(clock, Fact::Released { job }).unwrap();
            }
        }
        loop {
            let plan = engine.decide(clock).unwrap();
            let slots: Vec<_> = plan
                .slots
                .iter()
                .map(|slot| slot.map(|slot| slot.job))
                .collect();
            while engine.take_notice().is_some() {}
            if slots == self.running {
                return;
            }
            let mut has_stopped = false;
            for (cpu, (running, slot)) in (0..).map(CpuId).zip(self.running.iter_mut().zip(&slots))
            {
                if let Some(job) = running.take_if(|running| Some(*running) != *slot) {
                    engine
                        .apply(clock, Fact::Stopped { cpu, job, why })
                        .unwrap();
                    has_stopped = true;
                }
            }
            if has_stopped {
                continue;
            }
            for (cpu, (running, slot)) in (0..).map(CpuId).zip(self.running.iter_mut().zip(slots)) {
                if let (None, Some(job)) = (*running, slot) {
                    engine.apply(clock, Fact::Started { cpu, job }).unwrap();
                    *running = Some(job);
                }
            }
        }
    }
}
