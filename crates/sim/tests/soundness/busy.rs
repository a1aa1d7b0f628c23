//! How many busy periods a run simulates.
//!
//! A busy period goes from the first start of a job after an idle instant to the next idle instant, at
//! which no admitted job is pending, apart from those released just then. What the end of the run cuts
//! off does not count, nor do jobs that never start or start in the background.

use crate::reference::{self, System};
use vestal_core::{CpuId, Instant, JobId, Level};
use vestal_sim::{JobState, Observer};

/// With fewer jobs, and the mode at the lowest level throughout, a busy period shows little.
const JOBS_EVENTFUL: u64 = 3;

/// How many there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BusyPeriods {
    pub(crate) all: u64,
    /// Those with at least three jobs, or in which the mode rose.
    pub(crate) eventful: u64,
}

/// Counts them.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    pub(crate) counted: BusyPeriods,
    /// Of the present one: the jobs that were started, and whether the mode rose.
    jobs: u64,
    rose: bool,
}

impl Observer for Counter {
    fn started(&mut self, _: Instant, _: CpuId, job: &JobState) {
        let first = job.last_cpu.is_none() && job.demoted.is_none();
        self.jobs += u64::from(first);
    }
    fn mode_changed(&mut self, _: Instant, _: Level, to: Level, _: Option<JobId>) {
        self.rose |= to > Level::LOWEST;
    }
    fn idle(&mut self, _: Instant) {
        let jobs = std::mem::take(&mut self.jobs);
        let rose = std::mem::take(&mut self.rose);
        self.counted.all += u64::from(jobs > 0);
        self.counted.eventful += u64::from(jobs >= JOBS_EVENTFUL || jobs > 0 && rose);
    }
}

/// The same from the unit-step schedule. A rise that is over at the same instant shows in no tick.
pub(crate) fn by_definition(system: &System) -> BusyPeriods {
    let (schedule, inside) = reference::schedule(system);
    let mut found = BusyPeriods::default();
    let mut known = Vec::new();
    let in_background = |tick: u64, job: (usize, usize)| {
        let mut demoted = inside.demoted.iter();
        demoted.any(|&(at, task, number)| (task, number) == job && at <= tick)
    };
    for period in inside.idle.windows(2) {
        let (mut jobs, mut rose) = (0, false);
        for tick in period[0]..period[1] {
            rose |= schedule.modes[tick as usize] > 0;
            let Some(job) = schedule.ran[tick as usize] else {
                continue;
            };
            if !known.contains(&job) && !in_background(tick, job) {
                jobs += 1;
            }
            known.push(job);
        }
        found.all += u64::from(jobs > 0);
        found.eventful += u64::from(jobs >= JOBS_EVENTFUL || jobs > 0 && rose);
    }
    found
}
