//! A world of whole ticks for any scheduler: it tells every fact, follows every plan, and draws what
//! was recorded with the crate's own `.txt` writer.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use vestal_core::*;
use vestal_trace::write::Options;
use vestal_trace::{Format, Header, Recorder, TaskInfo, writer};

/// What a job executes: segments, between which it blocks.
pub(crate) type Need<'a> = &'a dyn Fn(JobId) -> Vec<u64>;

/// What arrives at an instant, given how many jobs of each task are complete by then.
pub(crate) type Arrivals<'a> = &'a dyn Fn(u64, &[u64]) -> Vec<Fact>;

/// A header with these tasks: name, level, period and deadline; zero where there is none.
pub(crate) fn header(
    policy: &str,
    levels: &[&str],
    cpus: u16,
    tasks: &[(&str, u8, u64, u64)],
) -> Header {
    let tasks = tasks
        .iter()
        .map(|&(name, level, period, deadline)| TaskInfo {
            name: name.to_owned(),
            criticality: Level(level),
            period: Duration::from_nanos(period),
            deadline: Duration::from_nanos(deadline),
        });
    Header {
        cpus,
        levels: levels.iter().map(|&level| level.to_owned()).collect(),
        tasks: tasks.collect(),
        ..Header::new(policy)
    }
}

/// Jobs of the header's tasks, released together at 0 and then periodically.
pub(crate) fn periodic(header: &Header) -> impl Fn(u64, &[u64]) -> Vec<Fact> {
    let periods: Vec<u64> = header
        .tasks
        .iter()
        .map(|task| task.period.as_nanos())
        .collect();
    move |now, _| {
        let due = (0..)
            .zip(&periods)
            .filter(|(_, period)| now.is_multiple_of(**period));
        let fact = |(task, period): (u16, &u64)| released(task, now / period);
        due.map(fact).collect()
    }
}

pub(crate) fn released(task: u16, sequence: u64) -> Fact {
    let task = TaskId(task);
    Fact::Released {
        job: JobId { task, sequence },
    }
}

struct World<S> {
    recorder: Recorder<S, Vec<vestal_trace::Record>>,
    running: Vec<Option<JobId>>,
    /// For each begun job its segment and what is left of it.
    progress: BTreeMap<JobId, (usize, u64)>,
    completed: Vec<u64>,
}

impl<S: Scheduler> World<S> {
    fn tell(&mut self, now: u64, fact: Fact) {
        let at = Instant::from_nanos(now);
        self.recorder
            .apply(at, fact)
            .unwrap_or_else(|violation| panic!("at {now}: {fact:?}: {violation:?}"));
    }

    /// What the tick before `now` did.
    fn outcome(&mut self, now: u64, need: Need) {
        for cpu in 0..self.running.len() {
            let Some(job) = self.running[cpu] else {
                continue;
            };
            let number = cpu;
            let (cpu, amount) = (CpuId(number as u16), Service::from_nanos(1));
            self.tell(now, Fact::Charged { cpu, job, amount });
            let (segment, left) = self.progress.get_mut(&job).unwrap();
            *left -= 1;
            if *left > 0 {
                continue;
            }
            *segment += 1;
            self.running[number] = None;
            if let Some(&next) = need(job).get(*segment) {
                *left = next;
                let why = StopReason::Blocked;
                self.tell(now, Fact::Stopped { cpu, job, why });
            } else {
                self.completed[job.task.index()] += 1;
                self.tell(now, Fact::Completed { cpu, job });
            }
        }
    }

    /// Follows the plan; a job goes to a CPU only after it stopped on another.
    fn follow(&mut self, now: u64, need: Need) {
        let cpus: Vec<CpuId> = (0..self.running.len() as u16).map(CpuId).collect();
        loop {
            let plan = self.recorder.decide(Instant::from_nanos(now)).unwrap();
            let wanted = cpus.iter().map(|cpu| plan.slot(*cpu).map(|slot| slot.job));
            let wanted: Vec<Option<JobId>> = wanted.collect();
            let mut stopped = false;
            for (cpu, wanted) in cpus.iter().zip(&wanted) {
                if let Some(job) = self.running[cpu.index()]
                    && *wanted != Some(job)
                {
                    let (cpu, why) = (*cpu, StopReason::Preempted);
                    self.running[cpu.index()] = None;
                    self.tell(now, Fact::Stopped { cpu, job, why });
                    stopped = true;
                }
            }
            if stopped {
                continue;
            }
            for (cpu, wanted) in cpus.iter().zip(&wanted) {
                if let Some(job) = *wanted
                    && self.running[cpu.index()].is_none()
                {
                    self.tell(now, Fact::Started { cpu: *cpu, job });
                    self.running[cpu.index()] = Some(job);
                    self.progress.entry(job).or_insert((0, need(job)[0]));
                }
            }
            return;
        }
    }
}

/// The chart of a run over `ticks`.
pub(crate) fn chart(
    header: &Header,
    scheduler: impl Scheduler,
    ticks: u64,
    arrivals: Arrivals,
    need: Need,
) -> String {
    let mut world = World {
        recorder: Recorder::new(scheduler, Vec::new()),
        running: vec![None; usize::from(header.cpus)],
        progress: BTreeMap::new(),
        completed: vec![0; header.tasks.len()],
    };
    for now in 0..=ticks {
        world.outcome(now, need);
        if now == ticks {
            break;
        }
        for fact in arrivals(now, &world.completed) {
            world.tell(now, fact);
        }
        world.follow(now, need);
        while world.recorder.take_notice().is_some() {}
    }
    let (_, records) = world.recorder.finish(Instant::from_nanos(ticks));
    let out = Shared::default();
    let mut text = writer(Format::Text, header, Options::default(), out.clone()).unwrap();
    for record in &records {
        text.record(record).unwrap();
    }
    text.finish().unwrap();
    let bytes = out.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

/// A row of a chart: the mode, or the execution of a task on whichever CPU.
pub(crate) fn row(chart: &str, name: &str) -> String {
    let line = chart.lines().find(|line| line.starts_with(name)).unwrap();
    let cells = line.rsplit(' ').next().unwrap();
    if name == "mode" {
        return cells.to_owned();
    }
    cells.replace(|cell: char| cell.is_ascii_digit(), "#")
}

/// Compares with the golden file; `VESTAL_BLESS=1` rewrites it.
pub(crate) fn same_as_golden(name: &str, chart: &str) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/papers/golden/{name}.txt"));
    if std::env::var_os("VESTAL_BLESS").is_some() {
        std::fs::write(&path, chart).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        chart, known,
        "{name} has changed: look, then VESTAL_BLESS=1"
    );
}

/// An output that can still be looked at when its writer is gone.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
