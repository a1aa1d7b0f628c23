//! Frame tables in the world of whole ticks.

use super::random::Random;
use super::short::{at, task};
use super::world::{Report, Told, World};
use vestal_core::*;

/// A table written down as lists: frame, criticality (lowest first), CPU.
pub struct Table {
    /// The length of a frame.
    pub frame: u64,
    /// Frame, criticality, CPU: its tasks in their order.
    pub lists: Vec<Vec<Vec<Vec<u16>>>>,
    /// Frame, criticality, confidence.
    pub barriers: Vec<Vec<Vec<u64>>>,
}

impl Table {
    /// The engine.
    ///
    /// # Errors
    /// What is wrong with the table.
    pub fn build(&self, tasks: &[Task], cpus: u16) -> Result<Frames, ConfigurationError> {
        self.build_with(tasks, cpus, Duration::ZERO)
    }

    /// The same with so much overhead.
    ///
    /// # Errors
    /// What is wrong with the table.
    pub fn build_with(
        &self,
        tasks: &[Task],
        cpus: u16,
        overhead: Duration,
    ) -> Result<Frames, ConfigurationError> {
        let mut entries = Vec::new();
        let mut spans = Vec::new();
        for list in self.lists.iter().flatten().flatten() {
            spans.push(Span {
                start: entries.len(),
                len: list.len(),
            });
            entries.extend(list.iter().copied().map(TaskId));
        }
        let barriers: Vec<Duration> = self
            .barriers
            .iter()
            .flatten()
            .flatten()
            .map(|&ns| Duration::from_nanos(ns))
            .collect();
        Frames::new(&FrameConfiguration {
            tasks,
            levels: LevelSet::new(self.lists[0].len()).unwrap(),
            cpus,
            table: FrameTable {
                frame: Duration::from_nanos(self.frame),
                spans: &spans,
                entries: &entries,
                barriers: &barriers,
            },
            overhead,
            wake_granularity: Duration::ZERO,
        })
    }
}

/// A random table over four frames with lengths that its jobs just fill, and its tasks.
///
/// # Panics
/// Without a level or a CPU.
pub fn random_table(random: &mut Random, levels: usize, cpus: usize) -> (Vec<Task>, Table) {
    let mut lists = vec![vec![vec![Vec::new(); cpus]; levels]; 4];
    let mut models = Vec::new();
    for number in 0..=random.below(7) {
        let criticality = random.below(levels as u64) as usize;
        let mut wcet: Vec<u64> = (0..=criticality).map(|_| 1 + random.below(5)).collect();
        wcet.sort_unstable();
        let (frames, cpu) = (1 << random.below(3), random.below(cpus as u64) as usize);
        for first in (0..4).step_by(frames) {
            let frame = first + random.below(frames as u64) as usize;
            lists[frame][criticality][cpu].push(number as u16);
        }
        models.push((criticality as u8, frames as u64, wcet));
    }
    let wcet = |&number: &u16, level: usize| {
        let values = &models[usize::from(number)].2;
        values[level.min(values.len() - 1)]
    };
    let barriers: Vec<Vec<Vec<u64>>> = lists
        .iter()
        .map(|frame| {
            let length = |cpus: &Vec<Vec<u16>>, level| {
                let work = cpus
                    .iter()
                    .map(|list| list.iter().map(|task| wcet(task, level)).sum::<u64>());
                work.max().unwrap()
            };
            let of = |cpus| (0..levels).map(|level| length(cpus, level)).collect();
            frame.iter().map(of).collect()
        })
        .collect();
    let need =
        |frame: &Vec<Vec<u64>>, level: usize| frame[level..].iter().map(|b| b[level]).sum::<u64>();
    let frame = (0..levels)
        .flat_map(|level| barriers.iter().map(move |frame| need(frame, level)))
        .max();
    let frame = frame.unwrap();
    let tasks = models
        .iter()
        .map(|(criticality, frames, wcet)| task(*criticality, frames * frame, wcet))
        .collect();
    let table = Table {
        frame,
        lists,
        barriers,
    };
    (tasks, table)
}

/// Steps tick by tick over `ticks`; `need` says what a job executes (more than nothing).
///
/// # Panics
/// If the engine is not sound, or asking again changes something.
pub fn draw(
    engine: &mut Frames,
    tasks: &[Task],
    ticks: u64,
    report: Report,
    need: &dyn Fn(JobId) -> u64,
) -> Vec<String> {
    let cpus = (0..).take_while(|&cpu| engine.apply(at(0), Fact::Idle { cpu: CpuId(cpu) }).is_ok());
    let cpus = cpus.count();
    let mut world = World::new(engine, cpus, tasks.len(), |job| vec![need(job)]);
    (world.report, world.told) = (report, Told::Reversed);
    world.look = |engine, at| {
        // A plan is idempotent: asking again changes nothing.
        let before = (*engine).clone();
        engine.decide(at).unwrap();
        assert_eq!(**engine, before);
        assert!(engine.check_invariants());
    };
    for _ in 0..ticks {
        let arrivals = world.periodic(tasks);
        world.step(&arrivals);
    }
    world.rows
}
