//! Where in a cycle of 10 ms jobs are seen to run.

use std::sync::{Arc, Mutex};
use vestal_core::{Instant, Scheduler, Service};
use vestal_linux::{
    Cancelled, Config, Executive, JobContext, Monitor, Recording, Report, TaskSpec,
};
use vestal_trace::{Header, Record, Summary, TaskInfo, World, replay};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const CYCLE: u64 = 10 * MS;
pub(crate) const CYCLES: u64 = 50;

/// When the jobs of a task were seen to run, in nanoseconds since the run began.
pub(crate) type Looks = Arc<Mutex<Vec<u64>>>;

/// A body that executes for `amount`, and looks at the clock all the time.
pub(crate) fn looking(
    amount: Service,
) -> (
    Looks,
    impl FnMut(&mut JobContext<'_>) -> Result<(), Cancelled>,
) {
    let looks: Looks = Arc::new(Mutex::new(Vec::with_capacity(1 << 20)));
    let seen = Arc::clone(&looks);
    let body = move |job: &mut JobContext<'_>| {
        while job.executed() < amount {
            job.burn(Service::from_micros(5))?;
            let now = job.now().saturating_since(Instant::EPOCH).as_nanos();
            seen.lock().unwrap().push(now);
        }
        Ok(())
    };
    (looks, body)
}

pub(crate) fn executive() -> Executive {
    Executive::new(Config {
        monitor: Monitor::Manager,
        ..Config::new()
    })
}

pub(crate) fn granularity(report: &Report) -> u64 {
    let found = report.cpus[0].enforcement.server_granularity;
    found.unwrap().as_nanos()
}

/// Less of stolen time than this, as a tick of the kernel takes, changes nothing of what is shown here.
const STOLEN_NANOS_MIN: u64 = 100_000;

/// The cycles in which no time was stolen.
pub(crate) fn undisturbed(stolen: &[(u64, u64)]) -> Vec<u64> {
    let disturbed = |cycle: &u64| {
        let (from, to) = (cycle * CYCLE, (cycle + 1) * CYCLE);
        let mut stolen = stolen.iter();
        stolen.any(|&(begin, end)| end - begin >= STOLEN_NANOS_MIN && begin < to && end > from)
    };
    (1..CYCLES - 1).filter(|cycle| !disturbed(cycle)).collect()
}

/// Where in its cycle the task was seen, of one cycle.
pub(crate) fn in_cycle(looks: &[u64], cycle: u64) -> Vec<u64> {
    let within = looks.iter().filter(|&&at| at / CYCLE == cycle);
    within.map(|at| at % CYCLE).collect()
}

/// A recording that keeps everything.
pub(crate) fn keeping() -> (Recording, Arc<Mutex<Vec<Record>>>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&kept);
    let recording = Recording::new(move |_| {
        Ok(Box::new(move |new: &[Record]| {
            own.lock().unwrap().extend_from_slice(new);
        }))
    });
    (recording, kept)
}

/// Of a recording of a run with these tasks.
pub(crate) fn header(specs: &[TaskSpec]) -> Header {
    let task = |spec: &TaskSpec| TaskInfo {
        name: spec.name.clone(),
        criticality: spec.configuration.task.criticality,
        period: spec.configuration.task.period,
        deadline: spec.configuration.task.deadline,
    };
    Header {
        world: World::Linux,
        ordered: false,
        judges_misses: true,
        tasks: specs.iter().map(task).collect(),
        ..Header::new("")
    }
}

/// Reports the recorded facts to a fresh scheduler, which decides the same.
pub(crate) fn replayed(
    specs: &[TaskSpec],
    scheduler: &mut impl Scheduler,
    records: &[Record],
) -> Summary {
    let header = header(specs);
    let records = records.iter().map(|record| Ok::<_, ()>(*record));
    replay(&header, records, scheduler).unwrap_or_else(|failure| panic!("{failure:?}"))
}
