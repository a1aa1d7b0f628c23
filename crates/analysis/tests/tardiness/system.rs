//! Sets of MC² in the world of whole ticks, and how late their tasks of level C are there.

use std::collections::VecDeque;
use vestal_analysis::schedulability::levels::tardiness::{Closed, Wanted};
use vestal_core::{
    Budgets, Container, CpuId, CpuTable, Duration, Level, LevelB, Levelled, LevelledConfiguration,
    LevelledTask, Service, TableSlot, Task, TaskId, Wcet,
};
use vestal_testkit::short::{ns, span};
use vestal_testkit::world::Calls;
use vestal_testkit::{Random, World};

/// A task of level A, with one slot of its own in each of its periods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) start: u64,
    pub(crate) length: u64,
    /// What it executes at the times of level C.
    pub(crate) wcet: u64,
}

/// A task of level B with D = T.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    pub(crate) period: u64,
    pub(crate) budget: u64,
    /// What it executes at the times of level C.
    pub(crate) wcet: u64,
    /// Its first release.
    pub(crate) offset: u64,
}

/// A CPU with a cycle and at most one task of level A.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cpu {
    pub(crate) cycle: u64,
    pub(crate) slot: Option<Slot>,
    pub(crate) locals: Vec<Local>,
}

impl Cpu {
    pub(crate) fn with_slot(cycle: u64, start: u64, length: u64) -> Self {
        let wcet = length;
        Self {
            cycle,
            slot: Some(Slot {
                start,
                length,
                wcet,
            }),
            locals: Vec::new(),
        }
    }

    /// What it is closed for: each window of the first cycles is tried.
    pub(crate) fn closed(&self) -> Closed {
        let mut closed = Closed::default();
        if let Some(slot) = self.slot {
            closed.shares.push((slot.wcet, self.cycle));
            let taken =
                |tick: u64| (slot.start..slot.start + slot.wcet).contains(&(tick % self.cycle));
            let beyond = |start: u64| {
                let lengths = 1..=self.cycle;
                let most = lengths.map(|length| {
                    let inside = (start..start + length).filter(|&tick| taken(tick)).count() as u64;
                    (inside * self.cycle).saturating_sub(length * slot.wcet)
                });
                most.max().unwrap()
            };
            let most = (0..self.cycle).map(beyond).max().unwrap();
            closed.burst += most.div_ceil(self.cycle);
        }
        for local in &self.locals {
            let (wcet, period) = (local.wcet, local.period);
            closed.shares.push((wcet, period));
            let deadline = period;
            closed.burst += Wanted {
                wcet,
                period,
                deadline,
            }
            .burst();
        }
        closed
    }
}

/// What jobs of levels A and B execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Above {
    /// All that they may at the times of level C.
    LevelC,
    /// That, or less.
    Less,
    /// All that they may at the times of level B.
    LevelB,
}

/// A set with the releases of its level C.
#[derive(Clone, Debug)]
pub(crate) struct System {
    pub(crate) cpus: Vec<Cpu>,
    /// Tasks of level C, with their first releases.
    pub(crate) tasks: Vec<(Wanted, u64)>,
    /// Releases may come later, and jobs execute less.
    pub(crate) sporadic: bool,
    pub(crate) above: Above,
    pub(crate) budgets: Budgets,
}

impl System {
    pub(crate) fn new(cpus: Vec<Cpu>, tasks: &[(u64, u64)]) -> Self {
        let tasks = tasks.iter().map(|&(wcet, period)| {
            let deadline = period;
            (
                Wanted {
                    wcet,
                    period,
                    deadline,
                },
                0,
            )
        });
        Self {
            cpus,
            tasks: tasks.collect(),
            sporadic: false,
            above: Above::LevelC,
            budgets: Budgets::Enforced,
        }
    }

    pub(crate) fn closed(&self) -> Vec<Closed> {
        self.cpus.iter().map(Cpu::closed).collect()
    }

    pub(crate) fn wanted(&self) -> Vec<Wanted> {
        self.tasks.iter().map(|&(task, _)| task).collect()
    }

    /// All tasks for the engine, those of level C first, with their first releases and what they execute.
    fn entries(&self) -> Vec<(LevelledTask, u64, u64)> {
        let entry = |container, level: usize, (period, deadline): (u64, u64), values: [u64; 2]| {
            let values = [values[0], values[0], values[1], values[1]].map(ns);
            let wcet = Wcet::new(&values[..=level]).unwrap();
            let task = Task::new(Level(level as u8), span(period), span(deadline), wcet).unwrap();
            LevelledTask { task, container }
        };
        let shared = self.tasks.iter().map(|&(task, offset)| {
            let times = (task.period, task.deadline);
            let values = [task.wcet; 2];
            (
                entry(Container::Global, 1, times, values),
                offset,
                task.wcet,
            )
        });
        let mut entries: Vec<_> = shared.collect();
        for (cpu, id) in self.cpus.iter().zip((0..).map(CpuId)) {
            let runs = |wcet, budget| match self.above {
                Above::LevelC | Above::Less => wcet,
                Above::LevelB => budget,
            };
            if let Some(Slot { length, wcet, .. }) = cpu.slot {
                let times = (cpu.cycle, cpu.cycle);
                let container = Container::Table(id);
                let task = entry(container, 3, times, [wcet, length]);
                entries.push((task, 0, runs(wcet, length)));
            }
            for local in &cpu.locals {
                let times = (local.period, local.period);
                let container = Container::Local(id);
                let task = entry(container, 2, times, [local.wcet, local.budget]);
                entries.push((task, local.offset, runs(local.wcet, local.budget)));
            }
        }
        entries
    }

    /// For each task of level C, how late its jobs that are released before `end` are at most: those under way at the end count as
    /// complete then.
    pub(crate) fn observed(&self, end: u64, backlog: usize, seed: u64) -> Vec<u64> {
        let entries = self.entries();
        let tasks: Vec<LevelledTask> = entries.iter().map(|&(task, ..)| task).collect();
        let slots = self.slots(&tasks);
        let tables = self.cpus.iter().zip(&slots).map(|(cpu, slots)| CpuTable {
            cycle: span(cpu.cycle),
            slots,
        });
        let tables: Vec<CpuTable<'_>> = tables.collect();
        let engine = Levelled::new(&LevelledConfiguration {
            tasks: &tasks,
            tables: &tables,
            backlog,
            budgets: self.budgets,
            level_b: LevelB::EarliestDeadline,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        });
        let executes = |task: usize, sequence: u64| {
            let full = entries[task].2;
            let is_shared = task < self.tasks.len();
            let less = if is_shared {
                self.sporadic
            } else {
                self.above == Above::Less
            };
            let mut random = Random::new(seed ^ (task as u64 * 7919 + sequence * 104_729));
            match less && random.once_in(3) {
                true => random.between(1, full),
                false => full,
            }
        };
        let program = |job: vestal_core::JobId| vec![executes(job.task.index(), job.sequence)];
        let mut world = World::new(engine.unwrap(), self.cpus.len(), tasks.len(), program);
        world.calls = Calls::WhenDue;
        let mut random = Random::new(seed);
        let mut due: Vec<u64> = entries.iter().map(|&(_, offset, _)| offset).collect();
        let mut pending = vec![VecDeque::new(); self.tasks.len()];
        let mut late = vec![0; self.tasks.len()];
        while world.now < end {
            let now = world.now;
            let mut arrivals = Vec::new();
            for (task, due) in due.iter_mut().enumerate().filter(|(_, due)| **due == now) {
                arrivals.push(world.release(task as u16));
                let period = entries[task].0.task.period.as_nanos();
                let may_be_later = self.sporadic && task < self.tasks.len() && random.once_in(8);
                *due = now
                    + period
                    + if may_be_later {
                        random.below(period)
                    } else {
                        0
                    };
                if let Some((wanted, _)) = self.tasks.get(task) {
                    pending[task].push_back(now + wanted.deadline);
                }
            }
            world.step(&arrivals);
            for (task, pending) in pending.iter_mut().enumerate() {
                if world.completes_now(task as u16) {
                    let deadline = pending.pop_front().expect("a job that was released");
                    late[task] = world.now.saturating_sub(deadline).max(late[task]);
                }
            }
        }
        for (pending, late) in pending.iter().zip(&mut late) {
            let first = pending.front().map_or(end, |&deadline| deadline.min(end));
            *late = (end - first).max(*late);
        }
        late
    }

    fn slots(&self, tasks: &[LevelledTask]) -> Vec<Vec<TableSlot>> {
        let cpus = self.cpus.iter().zip((0..).map(CpuId));
        let of = |(cpu, id): (&Cpu, CpuId)| {
            let mut numbered = (0..).map(TaskId).zip(tasks);
            let here = numbered.find(|(_, entry)| entry.container == Container::Table(id));
            let slot = cpu.slot.zip(here).map(|(slot, (task, _))| TableSlot {
                start: span(slot.start),
                length: span(slot.length),
                task,
            });
            slot.into_iter().collect()
        };
        cpus.map(of).collect()
    }
}
