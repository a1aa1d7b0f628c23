//! Frame tables in the world of whole ticks.

use super::short::at;
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
