//! Machine gaps: stretches in which the clock went on and no thread of ours explains it.
//!
//! A hypervisor, an interrupt or firmware took the CPU. They are found by burning jobs, which read the
//! clock all the time; by whoever takes the CPU from a burning job that has not looked at the clock for
//! longer than the switch takes, and by the job that gets it back; by threads that get a free CPU half a
//! millisecond or more after they wanted it, because a job was released or assigned, a timer expired or
//! somebody called; and by the manager, if a round of its own takes that long. What happens inside a
//! body that does something else than burn stays unseen.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A jump between two readings that is worth a record; a reading takes well below a microsecond.
pub(crate) const GAP_NANOS_MIN: u64 = 20_000;

/// How many of the newest gaps are remembered with their place in time.
const WINDOWS: usize = 1024;

/// All gaps of a run: their number and size, and where the newest ones were.
///
/// Written by all burning threads without a lock. They share one CPU, and a torn entry would need
/// one of them to be preempted between two stores and overtaken by 1023 gaps.
#[derive(Debug)]
pub(crate) struct GapLog {
    count: AtomicUsize,
    lost_nanos: AtomicU64,
    longest_nanos: AtomicU64,
    longest_charged_nanos: AtomicU64,
    windows: Box<[(AtomicU64, AtomicU64)]>,
}

impl GapLog {
    pub(crate) fn new() -> Self {
        Self {
            count: AtomicUsize::new(0),
            lost_nanos: AtomicU64::new(0),
            longest_nanos: AtomicU64::new(0),
            longest_charged_nanos: AtomicU64::new(0),
            windows: (0..WINDOWS)
                .map(|_| (AtomicU64::new(0), AtomicU64::new(0)))
                .collect(),
        }
    }

    /// Records that the CPU was away from `start` until `end`, and how much of it the kernel put on
    /// the account of the thread that noticed.
    pub(crate) fn record(&self, start: u64, end: u64, charged: u64) {
        let span = end.saturating_sub(start);
        let place = self.count.fetch_add(1, Ordering::Relaxed) % WINDOWS;
        self.lost_nanos.fetch_add(span, Ordering::Relaxed);
        self.longest_nanos.fetch_max(span, Ordering::Relaxed);
        self.longest_charged_nanos
            .fetch_max(charged.min(span), Ordering::Relaxed);
        if let Some((from, to)) = self.windows.get(place) {
            from.store(start, Ordering::Relaxed);
            to.store(end, Ordering::Relaxed);
        }
    }

    /// How much of the time from `start` until `end` lay in remembered gaps, in nanoseconds.
    ///
    /// Several threads may have seen one and the same gap, for instance two workers that woke late
    /// for one release; what they saw counts once. O(n log n) in the number of remembered gaps.
    pub(crate) fn within(&self, start: u64, end: u64) -> u64 {
        let mut parts: Vec<(u64, u64)> = self
            .windows
            .iter()
            .map(|(from, to)| {
                let from = from.load(Ordering::Relaxed).max(start);
                (from, to.load(Ordering::Relaxed).min(end))
            })
            .filter(|(from, to)| from < to)
            .collect();
        parts.sort_unstable();
        let mut counted_to = start;
        let mut sum = 0;
        for (from, to) in parts {
            sum += to.saturating_sub(from.max(counted_to));
            counted_to = counted_to.max(to);
        }
        sum
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed) as u64
    }

    pub(crate) fn lost_nanos(&self) -> u64 {
        self.lost_nanos.load(Ordering::Relaxed)
    }

    pub(crate) fn longest_nanos(&self) -> u64 {
        self.longest_nanos.load(Ordering::Relaxed)
    }

    pub(crate) fn longest_charged_nanos(&self) -> u64 {
        self.longest_charged_nanos.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_of_a_gap_inside_the_window_counts() {
        let log = GapLog::new();
        log.record(100, 150, 30);
        log.record(190, 230, 45);
        assert_eq!(log.within(0, 1_000), 90);
        assert_eq!(log.within(120, 200), 40);
        assert_eq!(log.within(150, 190), 0);
        assert_eq!(
            (log.count(), log.lost_nanos(), log.longest_nanos()),
            (2, 90, 50)
        );
        assert_eq!(
            log.longest_charged_nanos(),
            40,
            "no more than the gap itself"
        );
    }

    #[test]
    fn what_two_threads_saw_of_one_gap_counts_once() {
        let log = GapLog::new();
        log.record(100, 200, 0);
        log.record(100, 230, 0);
        log.record(120, 150, 0);
        log.record(300, 310, 0);
        assert_eq!(log.within(0, 1_000), 140);
        assert_eq!(log.within(150, 305), 85);
    }

    #[test]
    fn the_oldest_windows_are_forgotten_but_their_sums_are_not() {
        let log = GapLog::new();
        for start in 0..WINDOWS as u64 + 1 {
            log.record(start * 10 + 1, start * 10 + 2, 0);
        }
        assert_eq!(log.count(), WINDOWS as u64 + 1);
        assert_eq!(log.lost_nanos(), WINDOWS as u64 + 1);
        assert_eq!(log.within(0, u64::MAX), WINDOWS as u64);
    }
}
