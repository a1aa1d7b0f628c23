//! A job whose body does not come back, and the releases behind it, are counted like all others: by
//! the report, and by the trace.

use crate::support::{LO, alone, by_priorities, config, ms, native, spec};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use vestal_core::{Duration, Enforcement};
use vestal_linux::{CpuSpec, Executive, JobContext, Monitor, Recording, Report};
use vestal_trace::count::{Counter, Counts};
use vestal_trace::{Dispatch, Header, Record};

/// 30 releases, the deadline of the last one behind the end.
const RUN: Duration = Duration::from_millis(590);
const PERIOD: u64 = 20;
const RELEASED: u64 = 30;
/// The jobs before the one that does not come back.
const GOOD: u64 = 5;

/// How the sixth job does not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stuck {
    /// It executes for ever.
    Burning,
    /// It waits for ever.
    Blocked,
    /// It executes until after the end of the run, and comes back then.
    BackLate,
}

impl Stuck {
    /// Bounded all the same: a failing test must not leave a busy machine.
    fn stay(self, job: &mut JobContext<'_>, over: &AtomicBool) {
        if self == Self::BackLate {
            job.burn_deaf(ms(600));
            return;
        }
        for _ in 0..80 {
            if over.load(Ordering::Relaxed) {
                return;
            }
            match self {
                Self::Burning | Self::BackLate => job.burn_deaf(ms(50)),
                // Seldom awake, so that it executes less than its limit.
                Self::Blocked => crate::support::pause(50),
            }
        }
    }
}

/// A run of one task with that job, and what its trace counts.
fn run(stuck: Stuck, dispatch: Dispatch, guarantee: bool) -> (Report, Counts) {
    let over = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&over);
    let mut config = config(Monitor::Manager);
    config.patience = Duration::from_millis(match stuck {
        Stuck::Burning | Stuck::Blocked => 50,
        Stuck::BackLate => 1_500,
    });
    let records = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&records);
    let cpu = CpuSpec {
        guarantee,
        ..match dispatch {
            Dispatch::Native => native(Enforcement::Adaptive),
            Dispatch::Managed => by_priorities(Enforcement::Adaptive),
        }
    };
    let report = Executive::new(config)
        .cpu(cpu)
        .task(spec("stuck", LO, 1, PERIOD, &[4]), move |job| {
            if job.id().sequence == GOOD {
                stuck.stay(job, &until);
                return Ok(());
            }
            job.burn(ms(1))
        })
        .recorded(Recording::new(move |_| {
            Ok(Box::new(move |batch: &[Record]| {
                seen.lock().unwrap().extend_from_slice(batch);
            }))
        }))
        .run(RUN)
        .unwrap();
    over.store(true, Ordering::Relaxed);
    let mut header = Header::new("amc");
    header.dispatch = dispatch;
    let mut counter = Counter::new(&header);
    for record in records.lock().unwrap().iter() {
        counter.see(record);
    }
    let comes_back = stuck == Stuck::BackLate;
    assert_eq!(report.stuck.is_empty(), comes_back, "{report:#?}");
    (report, counter.counts())
}

#[test]
fn a_job_that_never_ends_and_the_releases_behind_it_are_counted() {
    let _alone = alone();
    for stuck in [Stuck::Burning, Stuck::Blocked] {
        let (report, traced) = run(stuck, Dispatch::Native, true);
        let jobs = report.cpus[0].tasks[0].jobs;
        assert_eq!(
            (jobs.released, jobs.completed, jobs.dropped),
            (RELEASED, GOOD, 0),
            "{stuck:?}: {report:#?}"
        );
        assert_eq!(jobs.unfinished, RELEASED - GOOD);
        assert_eq!(jobs.missed, RELEASED - GOOD - 1, "{stuck:?}");
        // Who executes beyond C has ended the guarantee to itself and to those behind it; who only
        // waits has not, and all of them were guaranteed to be in time.
        let broken = match stuck {
            Stuck::Burning => 0,
            Stuck::Blocked | Stuck::BackLate => jobs.missed,
        };
        assert_eq!(jobs.missed_guaranteed, broken, "{stuck:?}: {report:#?}");
        assert_eq!(report.jobs.missed_outside_gaps, broken, "{stuck:?}");
        assert_eq!(report.jobs, jobs);
        assert_eq!(
            (traced.released, traced.completed, traced.dropped.total()),
            (jobs.released, jobs.completed, jobs.dropped),
            "{stuck:?}"
        );
        assert_eq!(
            (traced.missed, traced.missed_guaranteed),
            (jobs.missed, jobs.missed_guaranteed),
            "{stuck:?}"
        );
    }
}

/// It lost its priority long before, so that it was dropped and not cut off by the end: in the report and in the
/// trace.
#[test]
fn a_job_that_lost_its_place_and_comes_back_after_the_end_was_dropped() {
    let _alone = alone();
    for dispatch in [Dispatch::Native, Dispatch::Managed] {
        let (report, traced) = run(Stuck::BackLate, dispatch, true);
        let jobs = report.cpus[0].tasks[0].jobs;
        assert!(jobs.dropped >= 1, "{dispatch:?}: {report:#?}");
        assert_eq!(jobs.completed, GOOD, "{dispatch:?}: {report:#?}");
        assert_eq!(traced.dropped, jobs.dropped_by, "{dispatch:?}: {report:#?}");
        assert_eq!(traced.released, jobs.released, "{dispatch:?}: {report:#?}");
    }
}

#[test]
fn the_same_under_managed_dispatch() {
    let _alone = alone();
    for stuck in [Stuck::Burning, Stuck::Blocked] {
        let (report, traced) = run(stuck, Dispatch::Managed, true);
        let jobs = report.cpus[0].tasks[0].jobs;
        assert_eq!(
            (jobs.released, jobs.completed),
            (RELEASED, GOOD),
            "{stuck:?}: {report:#?}"
        );
        // The scheduler gives up what waits too long; the last job it has no reason to.
        assert_eq!(jobs.dropped + jobs.unfinished, RELEASED - GOOD, "{stuck:?}");
        assert!(jobs.missed >= 1, "{stuck:?}: {report:#?}");
        assert_eq!(
            (traced.released, traced.completed, traced.dropped.total()),
            (jobs.released, jobs.completed, jobs.dropped),
            "{stuck:?}: {report:#?}"
        );
        assert_eq!(traced.missed, jobs.missed, "{stuck:?}");
    }
}

#[test]
fn without_a_guarantee_no_miss_is_a_broken_guarantee() {
    let _alone = alone();
    let (report, traced) = run(Stuck::Blocked, Dispatch::Native, false);
    let jobs = report.cpus[0].tasks[0].jobs;
    assert_eq!(
        (jobs.missed, jobs.missed_guaranteed),
        (RELEASED - GOOD - 1, 0)
    );
    assert_eq!(report.jobs.missed_outside_gaps, 0);
    assert_eq!((traced.missed, traced.missed_guaranteed), (jobs.missed, 0));
}
