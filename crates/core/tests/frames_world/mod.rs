//! A world of whole ticks for the frame engine: releases periodically, walks sequences, draws one
//! row per CPU and one character per tick, the task's number or a dot.
use vestal_core::*;

pub(crate) fn task(criticality: u8, period: u64, wcet: &[u64]) -> Task {
    let values: Vec<Service> = wcet.iter().copied().map(Service::from_nanos).collect();
    let span = Duration::from_nanos(period);
    Task::new(Level(criticality), span, span, Wcet::new(&values).unwrap()).unwrap()
}

pub(crate) fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

pub(crate) fn job(task: u16, sequence: u64) -> JobId {
    JobId {
        task: TaskId(task),
        sequence,
    }
}

/// A table written down as lists: frame, criticality (lowest first), CPU.
pub(crate) struct Table {
    pub(crate) frame: u64,
    pub(crate) lists: Vec<Vec<Vec<Vec<u16>>>>,
    /// Frame, criticality, confidence.
    pub(crate) barriers: Vec<Vec<Vec<u64>>>,
}

impl Table {
    pub(crate) fn build(&self, tasks: &[Task], cpus: u16) -> Result<Frames, ConfigurationError> {
        self.build_with(tasks, cpus, Duration::ZERO)
    }

    pub(crate) fn build_with(
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

/// How a world tells that a CPU is through with its sequence.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Report {
    /// Each completion, and nothing else.
    Completions,
    /// Barriers only, the last CPU first.
    Barriers,
}

/// Steps tick by tick over `ticks`; `need` says what a job executes (more than nothing).
pub(crate) fn draw(
    engine: &mut Frames,
    tasks: &[Task],
    ticks: u64,
    report: Report,
    need: &dyn Fn(JobId) -> u64,
) -> Vec<String> {
    let cpus = (0..).take_while(|&cpu| engine.apply(at(0), Fact::Idle { cpu: CpuId(cpu) }).is_ok());
    let cpus: Vec<CpuId> = cpus.map(CpuId).collect();
    let mut rows = vec![String::new(); cpus.len()];
    let mut walks: Vec<Option<Walk>> = vec![None; cpus.len()];
    for now in 0..ticks {
        for (index, model) in tasks.iter().enumerate() {
            if now % model.period.as_nanos() == 0 {
                let job = job(index as u16, now / model.period.as_nanos());
                engine.apply(at(now), Fact::Released { job }).unwrap();
            }
        }
        for (&cpu, walk) in cpus.iter().zip(&mut walks).rev() {
            if let Some(fact) = walk.as_mut().and_then(|walk| walk.step(cpu, report, need)) {
                engine.apply(at(now), fact).unwrap();
            }
        }
        engine.decide(at(now)).unwrap();
        // A plan is idempotent: asking again changes nothing.
        let before = engine.clone();
        engine.decide(at(now)).unwrap();
        assert_eq!(*engine, before);
        let plan = engine.decide(at(now)).unwrap();
        for ((&cpu, row), walk) in cpus.iter().zip(&mut rows).zip(&mut walks) {
            let sequence = plan.sequence(cpu);
            let present = sequence.map(|sequence| sequence.barrier);
            if present != walk.as_ref().map(|walk| walk.barrier) {
                *walk = sequence.map(|sequence| Walk {
                    barrier: sequence.barrier,
                    jobs: sequence.jobs.to_vec(),
                    executed: 0,
                });
            }
            let running = walk.as_mut().and_then(Walk::run);
            if report == Report::Completions {
                assert_eq!(plan.slot(cpu).map(|slot| slot.job), running, "tick {now}");
            }
            row.push(running.map_or('.', |job| char::from(b'0' + job.task.0 as u8)));
        }
        assert!(engine.check_invariants());
    }
    rows
}

/// A worker on its way to a barrier.
#[derive(Clone)]
struct Walk {
    barrier: BarrierId,
    jobs: Vec<JobId>,
    executed: u64,
}

impl Walk {
    fn step(&mut self, cpu: CpuId, report: Report, need: &dyn Fn(JobId) -> u64) -> Option<Fact> {
        let job = *self
            .jobs
            .first()
            .filter(|&&job| self.executed == need(job))?;
        self.jobs.remove(0);
        self.executed = 0;
        let barrier = self.barrier;
        match report {
            Report::Completions => Some(Fact::Completed { cpu, job }),
            Report::Barriers if self.jobs.is_empty() => Some(Fact::BarrierReached { cpu, barrier }),
            Report::Barriers => None,
        }
    }

    fn run(&mut self) -> Option<JobId> {
        self.executed += 1;
        self.jobs.first().copied()
    }
}

pub(crate) fn events(engine: &mut Frames) -> Vec<(u64, Event)> {
    std::iter::from_fn(|| engine.take_notice())
        .map(|notice| (notice.at.as_nanos(), notice.what))
        .collect()
}
