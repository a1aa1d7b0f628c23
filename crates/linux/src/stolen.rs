//! Stolen time: intervals in which a thread of the run wanted the CPU and none of them had it.
//!
//! A hypervisor, an interrupt, firmware or another real-time thread took the CPU. They are found by
//! burning jobs, which read the clock all the time; by whoever takes the CPU from a burning job that has
//! not looked at the clock for longer than the switch takes, and by the job that gets it back; by threads
//! that get a free CPU half a millisecond or more after the kernel ought to have woken them; and by the
//! run's own threads, of which the kernel says that they were ready and another thread had the CPU.
//! What happens inside a body that does something else than burn stays unseen.
//!
//! What a thread of the run executed itself is never stolen: see [`crate::intervals`].

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A jump between two readings that is worth a record; a reading takes well below a microsecond.
pub(crate) const STOLEN_NANOS_MIN: u64 = 20_000;

/// How many of the newest intervals are remembered.
const WINDOWS: usize = 1024;

/// Who had the CPU, as far as something outside the run shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thief {
    /// Another thread, while one of the run was ready in a real-time class.
    Thread,
    /// No thread on this system, and the hypervisor reports what it takes.
    Hypervisor,
    /// No actor that shows.
    Unknown,
}

impl Thief {
    /// Who had the CPU for `span` nanoseconds, in which a thread of the run was ready for `waited` while
    /// another thread had the CPU; `switched`: it lost the CPU to a thread of this system, or may have.
    pub(crate) const fn of(span: u64, waited: u64, switched: bool, steal_reported: bool) -> Self {
        if waited >= span / 2 {
            Self::Thread
        } else if steal_reported && !switched {
            Self::Hypervisor
        } else {
            Self::Unknown
        }
    }
}

/// One interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StolenInterval {
    /// Clock readings.
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// How much of it the kernel may have put on the account of a job.
    pub(crate) charged: u64,
    pub(crate) thief: Thief,
}

/// What was stolen within a window, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stolen {
    pub(crate) nanos: u64,
    /// Of that: what jobs may have been charged for.
    pub(crate) charged: u64,
}

#[derive(Debug, Default)]
struct Window {
    from: AtomicU64,
    to: AtomicU64,
    charged: AtomicU64,
}

/// All stolen intervals of a run: their number and size, and where the newest ones were.
///
/// Written by all burning threads without a lock. They share one CPU, and a torn entry would need
/// one of them to be preempted between two stores and overtaken by 1023 intervals.
#[derive(Debug, Default)]
pub(crate) struct StolenLog {
    count: AtomicUsize,
    lost_nanos: AtomicU64,
    longest_nanos: AtomicU64,
    longest_charged_nanos: AtomicU64,
    /// By [`Thief`].
    by_thief: [AtomicU64; 3],
    windows: Box<[Window]>,
}

impl StolenLog {
    pub(crate) fn new() -> Self {
        Self {
            windows: (0..WINDOWS).map(|_| Window::default()).collect(),
            ..Self::default()
        }
    }

    pub(crate) fn record(&self, stolen: StolenInterval) {
        let span = stolen.to.saturating_sub(stolen.from);
        let charged = stolen.charged.min(span);
        let index = self.count.fetch_add(1, Ordering::Relaxed) % WINDOWS;
        self.lost_nanos.fetch_add(span, Ordering::Relaxed);
        self.longest_nanos.fetch_max(span, Ordering::Relaxed);
        self.longest_charged_nanos
            .fetch_max(charged, Ordering::Relaxed);
        if let Some(sum) = self.by_thief.get(stolen.thief as usize) {
            sum.fetch_add(span, Ordering::Relaxed);
        }
        if let Some(window) = self.windows.get(index) {
            window.from.store(stolen.from, Ordering::Relaxed);
            window.to.store(stolen.to, Ordering::Relaxed);
            window.charged.store(charged, Ordering::Relaxed);
        }
    }

    /// How much of the time from `start` until `end` lay in remembered intervals.
    ///
    /// Several threads may have seen one and the same interval, for instance two workers that woke late
    /// for one release; what they saw counts once. O(n log n) in the number of remembered intervals.
    pub(crate) fn within(&self, start: u64, end: u64) -> Stolen {
        let load = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let windows = self.windows.iter();
        let mut parts: Vec<(u64, u64, u64)> = windows
            .map(|window| {
                let (from, to) = (load(&window.from).max(start), load(&window.to).min(end));
                (from, to, load(&window.charged))
            })
            .filter(|(from, to, _)| from < to)
            .collect();
        parts.sort_unstable();
        let mut counted_to = start;
        let mut sum = Stolen::default();
        for (from, to, charged) in parts {
            let part = to.saturating_sub(from.max(counted_to));
            sum.nanos += part;
            sum.charged += charged.min(part);
            counted_to = counted_to.max(to);
        }
        sum
    }

    /// The sum of all intervals of which `thief` had the CPU, in nanoseconds.
    pub(crate) fn stolen_by(&self, thief: Thief) -> u64 {
        let sum = self.by_thief.get(thief as usize);
        sum.map_or(0, |sum| sum.load(Ordering::Relaxed))
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

    fn stolen(from: u64, to: u64, charged: u64) -> StolenInterval {
        let thief = Thief::Unknown;
        StolenInterval {
            from,
            to,
            charged,
            thief,
        }
    }

    #[test]
    fn only_the_part_inside_the_window_counts() {
        let log = StolenLog::new();
        log.record(stolen(100, 150, 30));
        log.record(stolen(190, 230, 45));
        let stolen = |from, to| {
            let stolen = log.within(from, to);
            (stolen.nanos, stolen.charged)
        };
        assert_eq!(stolen(0, 1_000), (90, 70));
        assert_eq!(stolen(120, 200), (40, 40), "no more charged than counted");
        assert_eq!(stolen(150, 190), (0, 0));
        assert_eq!(
            (log.count(), log.lost_nanos(), log.longest_nanos()),
            (2, 90, 50)
        );
        assert_eq!(log.longest_charged_nanos(), 40, "no more than was stolen");
    }

    #[test]
    fn what_two_threads_saw_alike_counts_once() {
        let log = StolenLog::new();
        for (from, to) in [(100, 200), (100, 230), (120, 150), (300, 310)] {
            log.record(stolen(from, to, 0));
        }
        assert_eq!(log.within(0, 1_000).nanos, 140);
        assert_eq!(log.within(150, 305).nanos, 85);
    }

    #[test]
    fn the_oldest_windows_are_forgotten_but_their_sums_are_not() {
        let log = StolenLog::new();
        for start in 0..WINDOWS as u64 + 1 {
            log.record(stolen(start * 10 + 1, start * 10 + 2, 0));
        }
        assert_eq!(log.count(), WINDOWS as u64 + 1);
        assert_eq!(log.lost_nanos(), WINDOWS as u64 + 1);
        assert_eq!(log.within(0, u64::MAX).nanos, WINDOWS as u64);
    }

    #[test]
    fn a_thief_is_named_only_where_something_shows_it() {
        let of = |waited, switched, reported| Thief::of(1_000, waited, switched, reported);
        assert_eq!(of(900, true, true), Thief::Thread);
        assert_eq!(of(0, false, true), Thief::Hypervisor);
        assert_eq!(of(0, true, true), Thief::Unknown, "stopped, say");
        assert_eq!(of(0, false, false), Thief::Unknown);
        let log = StolenLog::new();
        for thief in [Thief::Thread, Thief::Hypervisor, Thief::Thread] {
            log.record(StolenInterval {
                thief,
                ..stolen(0, 10, 0)
            });
        }
        assert_eq!(log.stolen_by(Thief::Thread), 20);
        assert_eq!(log.stolen_by(Thief::Hypervisor), 10);
        assert_eq!(log.stolen_by(Thief::Unknown), 0);
    }
}
