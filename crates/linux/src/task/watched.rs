//! How often the monitor of a task had the manager look at its jobs.

use crate::words::Latest;
use std::sync::{Mutex, MutexGuard, PoisonError};
use vestal_statistics::Histogram;

/// What manager and worker count of that.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// By the manager, from the beginning of the run; neither falls.
    activations: Latest<u64>,
    /// Of those, the ones that took the CPU from the job.
    from_job: Latest<u64>,
    /// The clock at the last one.
    last: Latest<u64>,
    /// Those that found a limit used up.
    found: Latest<u64>,
    /// Those that found none although so much time had passed: others had the CPU meanwhile.
    interrupted: Latest<u64>,
    /// By the worker, which nobody wants it from until the run is over.
    jobs: Mutex<JobsWatched>,
}

/// The jobs of a task that were watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobsWatched {
    /// How many activations each had.
    pub(crate) activations: Histogram,
    /// How many had more than their monitor may need.
    pub(crate) beyond_bound: u64,
}

/// What was counted until an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) activations: u64,
    pub(crate) from_job: u64,
    pub(crate) found: u64,
    pub(crate) interrupted: u64,
}

impl Counted {
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            activations: self.activations.saturating_sub(before.activations),
            from_job: self.from_job.saturating_sub(before.from_job),
            found: self.found.saturating_sub(before.found),
            interrupted: self.interrupted.saturating_sub(before.interrupted),
        }
    }
}

impl Watched {
    /// By the manager: an activation at `now`, for a job that had the CPU or not.
    pub(crate) fn activate(&self, now: u64, had_cpu: bool) {
        self.last.set(now);
        self.activations.set(self.activations.get() + 1);
        if had_cpu {
            self.from_job.set(self.from_job.get() + 1);
        }
    }

    /// By the manager: it found a limit used up.
    pub(crate) fn find(&self) {
        self.found.set(self.found.get() + 1);
    }

    /// By the manager: as much time had passed as was left of the limit, but the job had not executed all of it.
    pub(crate) fn interrupt(&self) {
        self.interrupted.set(self.interrupted.get() + 1);
    }

    /// How long a monitor waits from `now` on at least, that has the manager look again `bound` after the last time at the
    /// earliest. More than none, which would stop it.
    pub(crate) fn least_wait(&self, now: u64, bound: u64) -> u64 {
        let earliest = self.last.get().saturating_add(bound);
        earliest.saturating_sub(now).max(1)
    }

    pub(crate) fn counted(&self) -> Counted {
        Counted {
            activations: self.activations.get(),
            from_job: self.from_job.get(),
            found: self.found.get(),
            interrupted: self.interrupted.get(),
        }
    }

    /// By the worker: a job had so many activations, where its monitor needs `bound` at most, if that is known.
    pub(crate) fn end_job(&self, activations: u64, bound: Option<u64>) {
        let mut jobs = self.jobs();
        jobs.activations.record(activations);
        jobs.beyond_bound += u64::from(bound.is_some_and(|bound| activations > bound));
    }

    /// The jobs that have ended.
    pub(crate) fn jobs(&self) -> MutexGuard<'_, JobsWatched> {
        // Who panics with it has counted nothing by halves.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However often it is set, the wait ends when the bound after the last activation is over.
    #[test]
    fn a_bound_counts_from_the_last_activation_and_not_from_when_a_job_goes_on() {
        let watched = Watched::default();
        let waits = |times: [u64; 4]| times.map(|now| watched.least_wait(now, 30));
        assert_eq!(waits([1_000, 1_001, 1_029, 1_030]), [1; 4]);
        watched.activate(1_000, true);
        assert_eq!(waits([1_000, 1_001, 1_029, 1_030]), [30, 29, 1, 1]);
    }

    #[test]
    fn what_a_job_had_is_what_was_counted_since_it_began() {
        let watched = Watched::default();
        watched.activate(10, true);
        let before = watched.counted();
        watched.activate(20, true);
        watched.activate(30, false);
        watched.interrupt();
        watched.find();
        let expected = Counted {
            activations: 2,
            from_job: 1,
            found: 1,
            interrupted: 1,
        };
        assert_eq!(watched.counted().since(before), expected);
        for (activations, bound) in [(2, Some(1)), (2, Some(2)), (9, None)] {
            watched.end_job(activations, bound);
        }
        let jobs = watched.jobs();
        assert_eq!(jobs.beyond_bound, 1);
        assert_eq!(jobs.activations.summary().sum, 13);
    }
}
