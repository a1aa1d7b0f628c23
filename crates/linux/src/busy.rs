//! Busy periods: from the first release that finds the CPU without a job to the moment at which every
//! job released until then is complete.
//!
//! Nothing is woken for them and no clock is read: workers report what they know anyway, when they
//! begin a job and find none active (see [`crate::guarantee`]).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How many busy periods a run remembers one by one.
pub(crate) const BUSY_PERIODS_MAX: usize = 32_768;

/// In [`BusyLog::start`]: no busy period has begun.
const NONE: u64 = u64::MAX;

/// The busy periods of a run, on the clock of the world.
///
/// Written by workers that share a CPU and preempt each other in priority order only; an index in the
/// list is taken by one of them before it is written.
#[derive(Debug)]
pub(crate) struct BusyLog {
    /// The first release of the present busy period.
    start: AtomicU64,
    count: AtomicUsize,
    /// Start and end of each.
    entries: Box<[(AtomicU64, AtomicU64)]>,
}

impl BusyLog {
    pub(crate) fn new() -> Self {
        Self {
            start: AtomicU64::new(NONE),
            count: AtomicUsize::new(0),
            entries: (0..BUSY_PERIODS_MAX)
                .map(|_| (AtomicU64::new(0), AtomicU64::new(0)))
                .collect(),
        }
    }

    /// A job released at `release` begins, none is active, and the last one ended at `last_end`, not
    /// after that release.
    pub(crate) fn begins(&self, release: u64, last_end: u64) {
        let before = self.start.swap(release, Ordering::Relaxed);
        self.note(before, last_end);
    }

    /// A job released at `release` begins within the present busy period. The most urgent job begins
    /// first, but another one may have been released before it.
    pub(crate) fn goes_on(&self, release: u64) {
        self.start.fetch_min(release, Ordering::Relaxed);
    }

    /// No job begins any more; the last one ended at `last_end`.
    pub(crate) fn finish(&self, last_end: u64) {
        let before = self.start.swap(NONE, Ordering::Relaxed);
        self.note(before, last_end);
    }

    fn note(&self, start: u64, end: u64) {
        if start == NONE {
            return;
        }
        let index = self.count.fetch_add(1, Ordering::Relaxed);
        if let Some((from, to)) = self.entries.get(index) {
            from.store(start, Ordering::Relaxed);
            to.store(end.max(start), Ordering::Relaxed);
        }
    }

    /// How many there were, also those that are not remembered.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed) as u64
    }

    /// The remembered ones, oldest first, as clock readings of start and end.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let known = self.count.load(Ordering::Relaxed);
        self.entries
            .iter()
            .take(known)
            .map(|(from, to)| (from.load(Ordering::Relaxed), to.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_period_lasts_from_its_first_release_to_the_end_of_its_last_job() {
        let log = BusyLog::new();
        log.begins(100, 0);
        log.goes_on(90);
        log.goes_on(120);
        log.begins(500, 300);
        log.finish(640);
        assert_eq!(log.iter().collect::<Vec<_>>(), [(90, 300), (500, 640)]);
        assert_eq!(log.count(), 2);
        log.finish(700);
        assert_eq!(log.count(), 2, "nothing began since");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let log = BusyLog::new();
        let many = BUSY_PERIODS_MAX as u64 + 3;
        for number in 0..many {
            log.begins(10 * number, 10 * number);
        }
        log.finish(10 * many);
        assert_eq!(log.count(), many);
        assert_eq!(log.iter().count(), BUSY_PERIODS_MAX);
    }
}
