//! How many busy periods a run simulates.
//!
//! A busy period goes from the first start of a job after an idle instant to the next idle instant, at
//! which no admitted job is pending, apart from those released just then. What the end of the run cuts
//! off does not count, nor do jobs that never start or start in the background.

use crate::reference::{self, Begun, System};
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

/// The same from the unit-step schedule, in which not every rise shows: one that is over at the same instant
/// does not.
pub(crate) fn by_definition(system: &System) -> BusyPeriods {
    let (schedule, inside) = reference::schedule(system);
    let mut found = BusyPeriods::default();
    let in_background = |begun: &&Begun| {
        let mut demoted = inside.demoted.iter();
        demoted.any(|&(at, task, number)| (task, number) == begun.job && at <= begun.at)
    };
    for (number, period) in (1..).zip(inside.idle.windows(2)) {
        // With jobs of no execution time the mode may outlast a busy period, and of several periods at the
        // first tick it is not known which one it rose in.
        let mut later = period[0] + 1..period[1];
        let mode_in = |tick: u64| schedule.modes[tick as usize];
        let rose = later.any(|tick| mode_in(tick) > mode_in(tick - 1));
        let begun = inside
            .begun
            .iter()
            .filter(|begun| begun.idle_instants == number);
        let jobs = begun.filter(|begun| !in_background(begun)).count() as u64;
        found.all += u64::from(jobs > 0);
        found.eventful += u64::from(jobs >= JOBS_EVENTFUL || jobs > 0 && rose);
    }
    found
}
