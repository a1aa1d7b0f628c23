//! Sets of MC² on several CPUs: tables, tasks of all levels, and worlds of them, whether they can be scheduled or not.

use crate::Random;
use crate::random::mix;
use crate::short::{at, ns, span, task};
use std::vec::Vec;
use vestal_core::{
    Budgets, Container, CpuId, CpuTable, Duration, Instant, LevelB, LevelledConfiguration,
    LevelledTask, Service, TableSlot, TaskId,
};

/// What a table has to have of a task: its period, its deadline, and its time at level A.
#[derive(Clone, Copy, Debug)]
pub struct Slotted {
    /// Whose slots.
    pub task: TaskId,
    /// Its period.
    pub period: u64,
    /// Its deadline.
    pub deadline: u64,
    /// Its time for each job.
    pub own: u64,
}

/// The least common multiple of periods; 1 without any.
pub fn hyperperiod(periods: impl Iterator<Item = u64>) -> u64 {
    periods.fold(1, |all, period| all / gcd(all, period) * period)
}

fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        gcd(other, one % other)
    }
}

/// A table over so many hyperperiods: each job has its time somewhere between its release and its deadline, half of them in a row,
/// if the draw finds room.
///
/// # Panics
/// Not with numbers that fit a drawing.
pub fn table(
    random: &mut Random,
    tasks: &[Slotted],
    cycles: u64,
) -> Option<(Duration, Vec<TableSlot>)> {
    let cycle = hyperperiod(tasks.iter().map(|task| task.period)) * cycles;
    let mut owner = std::vec![None; cycle as usize];
    for task in tasks {
        for release in (0..cycle).step_by(task.period as usize) {
            let window = release..release + task.deadline;
            let mut free: Vec<u64> = window
                .filter(|&tick| owner[tick as usize].is_none())
                .collect();
            match random.once_in(2) {
                true => random.shuffle(&mut free),
                false if !free.is_empty() => {
                    let turn = random.index(free.len());
                    free.rotate_left(turn);
                }
                false => {}
            }
            for tick in free.get(..task.own as usize)? {
                owner[*tick as usize] = Some(task.task);
            }
        }
    }
    let mut slots: Vec<TableSlot> = Vec::new();
    for (tick, owner) in (0..).map(span).zip(owner) {
        let Some(task) = owner else { continue };
        match slots.last_mut() {
            Some(last) if last.task == task && last.start.saturating_add(last.length) == tick => {
                last.length = last.length.saturating_add(span(1));
            }
            Some(_) | None => slots.push(TableSlot {
                start: tick,
                length: span(1),
                task,
            }),
        }
    }
    Some((span(cycle), slots))
}

/// Tasks of all levels on some CPUs, and what their jobs do. Nothing says that they can be scheduled.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The tasks.
    pub tasks: Vec<LevelledTask>,
    /// By CPU its cycle and slots.
    pub tables: Vec<(Duration, Vec<TableSlot>)>,
    /// Whether budgets hold.
    pub budgets: Budgets,
    /// Who goes first at level B.
    pub level_b: LevelB,
    /// How many jobs of a task may wait.
    pub backlog: usize,
    seed: u64,
}

impl Levels {
    /// Draws for so many CPUs.
    ///
    /// # Panics
    /// Not with numbers that fit a drawing.
    #[must_use]
    pub fn draw(random: &mut Random, cpus: u16) -> Self {
        let (mut tasks, mut tables) = (Vec::new(), Vec::new());
        for cpu in (0..cpus).map(CpuId) {
            tables.push(level_a(random, cpu, &mut tasks));
            for _ in 0..random.below(3) {
                let period: u64 = random.one_of(&[5, 6, 8, 10, 12, 15, 20, 30]);
                let own = random.between(1, period.div_ceil(3));
                tasks.push(entry(Container::Local(cpu), period, own));
            }
        }
        for _ in 0..random.between(1, 2 + 2 * u64::from(cpus)) {
            let period = random.between(4, 24);
            let own = random.between(1, period / 2);
            tasks.push(entry(Container::Global, period, own));
        }
        for _ in 0..random.between(1, 2) {
            let period = random.between(10, 20);
            tasks.push(entry(Container::BestEffort, period, 7));
        }
        Self {
            tasks,
            tables,
            budgets: random.one_of(&[Budgets::Enforced, Budgets::Enforced, Budgets::Ignored]),
            level_b: random.one_of(&[LevelB::EarliestDeadline, LevelB::RateMonotonic]),
            backlog: random.one_of(&[1, 3, 50]) as usize,
            seed: random.next(),
        }
    }

    /// What is made of the core's form.
    pub fn configured<T>(&self, make: impl FnOnce(&LevelledConfiguration<'_>) -> T) -> T {
        let tables = self.tables.iter();
        let tables = tables.map(|(cycle, slots)| CpuTable {
            cycle: *cycle,
            slots,
        });
        let tables: Vec<CpuTable<'_>> = tables.collect();
        make(&LevelledConfiguration {
            tasks: &self.tasks,
            tables: &tables,
            backlog: self.backlog,
            budgets: self.budgets,
            level_b: self.level_b,
            granularity: Service::ZERO,
            wake_granularity: Duration::ZERO,
        })
    }

    /// When a job comes: level A at the multiples of its periods, others late at times.
    #[must_use]
    pub fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Instant {
        let entry = self.tasks[task.index()];
        let mut random = self.random(task, sequence, 1);
        let is_periodic = matches!(entry.container, Container::Table(_));
        let period = entry.task.period.as_nanos();
        let late = match !is_periodic && random.once_in(4) {
            true => random.below(period),
            false => 0,
        };
        at(previous.map_or(0, |previous| previous.as_nanos() + period) + late)
    }

    /// What a job needs: less than its budget, as much, or more.
    #[must_use]
    pub fn execution(&self, task: TaskId, sequence: u64) -> Service {
        let own = self.tasks[task.index()].task.own_wcet().as_nanos();
        let mut random = self.random(task, sequence, 2);
        ns(match random.below(8) {
            0 => own + random.between(1, 2 * own),
            1..4 => random.between(1, own),
            _ => own,
        })
    }

    fn random(&self, task: TaskId, sequence: u64, what: u64) -> Random {
        Random::new(mix(self.seed
            ^ (u64::from(task.0) << 40)
            ^ (sequence << 8)
            ^ what))
    }
}

/// A task that needs the same at all levels.
fn entry(container: Container, period: u64, own: u64) -> LevelledTask {
    let level = match container {
        Container::Table(_) => 3,
        Container::Local(_) => 2,
        Container::Global => 1,
        Container::BestEffort => 0,
    };
    let task = task(level, period, &std::vec![own; usize::from(level) + 1]);
    LevelledTask { task, container }
}

/// Up to two tasks of level A on a CPU, and a table of them.
fn level_a(
    random: &mut Random,
    cpu: CpuId,
    tasks: &mut Vec<LevelledTask>,
) -> (Duration, Vec<TableSlot>) {
    loop {
        let periods: [u64; 3] = random.one_of(&[[4, 8, 16], [5, 10, 20], [6, 12, 24]]);
        let drawn: Vec<Slotted> = (tasks.len() as u16..)
            .take(random.below(3) as usize)
            .map(|number| {
                let period = random.one_of(&periods);
                Slotted {
                    task: TaskId(number),
                    period,
                    deadline: period,
                    own: random.between(1, period.div_ceil(3)),
                }
            })
            .collect();
        let cycles = random.between(1, 2);
        if let Some(table) = table(random, &drawn, cycles) {
            let entries = drawn.iter();
            let entries = entries.map(|one| entry(Container::Table(cpu), one.period, one.own));
            tasks.extend(entries);
            return table;
        }
    }
}
