//! Stolen time: intervals in which a thread of the run wanted the CPU and none of them had it.
//!
//! A hypervisor, an interrupt, firmware or another real-time thread took the CPU. They are found by
//! burning jobs, which read the clock all the time; by whoever takes the CPU from a burning job that has
//! not looked at the clock for longer than the switch takes, and by the job that gets it back; by threads
//! that get a free CPU half a millisecond or more after the kernel ought to have woken them; and by the
//! run's own threads, of which the kernel says that they were ready and another thread had the CPU.
//! What happens inside a body that does something else than burn stays unseen.
//!
//! What a thread of the run executed itself is never stolen: see [`super::interval`].

use std::collections::VecDeque;

/// A jump between two readings that is worth a record; a reading takes well below a microsecond.
pub const STOLEN_NANOS_MIN: u64 = 20_000;

/// How many of the newest intervals are remembered.
const WINDOWS: usize = 1024;

/// Who had the CPU, as far as something outside the run shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thief {
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
    pub(super) const fn of(span: u64, waited: u64, switched: bool, steal_reported: bool) -> Self {
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
pub(super) struct StolenInterval {
    /// Clock readings.
    pub(super) from: u64,
    pub(super) to: u64,
    /// How much of it the kernel may have put on the account of a job.
    pub(super) charged: u64,
    pub(super) thief: Thief,
}

/// What was stolen within a window, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stolen {
    pub(super) nanos: u64,
    /// Of that: what jobs may have been charged for.
    pub(super) charged: u64,
}

/// All stolen intervals of a run: their number and size, and where the newest ones were.
#[derive(Clone, Debug, Default)]
pub struct StolenLog {
    count: u64,
    lost_nanos: u64,
    longest_nanos: u64,
    longest_charged_nanos: u64,
    /// By [`Thief`].
    by_thief: [u64; 3],
    /// The newest ones, oldest first.
    windows: VecDeque<StolenInterval>,
    /// The latest end of one that is forgotten.
    forgotten_until: u64,
}

impl StolenLog {
    /// Of so many intervals, the newest, it is known when they were.
    pub const NEWEST: usize = WINDOWS;

    pub(super) fn record(&mut self, stolen: StolenInterval) {
        let span = stolen.to.saturating_sub(stolen.from);
        let charged = stolen.charged.min(span);
        self.count += 1;
        self.lost_nanos = self.lost_nanos.saturating_add(span);
        self.longest_nanos = self.longest_nanos.max(span);
        self.longest_charged_nanos = self.longest_charged_nanos.max(charged);
        if let Some(sum) = self.by_thief.get_mut(stolen.thief as usize) {
            *sum = sum.saturating_add(span);
        }
        if self.windows.len() == WINDOWS {
            let forgotten = self.windows.pop_front().map_or(0, |oldest| oldest.to);
            self.forgotten_until = self.forgotten_until.max(forgotten);
        }
        self.windows.push_back(StolenInterval { charged, ..stolen });
    }

    /// How much of the time from `start` until `end` lay in remembered intervals.
    ///
    /// Several threads may have seen one and the same interval, for instance two workers that woke late
    /// for one release; what they saw counts once. O(n log n) in the number of remembered intervals.
    pub(super) fn within(&self, start: u64, end: u64) -> Stolen {
        let windows = self.windows.iter();
        let mut parts: Vec<(u64, u64, u64)> = windows
            .map(|window| (window.from.max(start), window.to.min(end), window.charged))
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

    /// The remembered intervals, oldest first: from and to, clock readings. What two threads saw alike is there twice.
    pub fn newest(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.windows.iter().map(|window| (window.from, window.to))
    }

    /// Whether all of the time from `start` on that was stolen is remembered.
    pub(super) const fn reaches_back_to(&self, start: u64) -> bool {
        self.forgotten_until <= start
    }

    /// The sum of all intervals of which `thief` had the CPU, in nanoseconds.
    pub fn stolen_by(&self, thief: Thief) -> u64 {
        self.by_thief.get(thief as usize).copied().unwrap_or(0)
    }

    /// How many intervals there were.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// How long they were together, in nanoseconds.
    pub const fn lost_nanos(&self) -> u64 {
        self.lost_nanos
    }

    /// How long the longest was, in nanoseconds.
    pub const fn longest_nanos(&self) -> u64 {
        self.longest_nanos
    }

    /// The most that the kernel can have put on a job's account for one of them, in nanoseconds.
    pub const fn longest_charged_nanos(&self) -> u64 {
        self.longest_charged_nanos
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
        let mut log = StolenLog::default();
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
        let mut log = StolenLog::default();
        for (from, to) in [(100, 200), (100, 230), (120, 150), (300, 310)] {
            log.record(stolen(from, to, 0));
        }
        assert_eq!(log.within(0, 1_000).nanos, 140);
        assert_eq!(log.within(150, 305).nanos, 85);
    }

    #[test]
    fn the_oldest_windows_are_forgotten_but_their_sums_are_not() {
        let mut log = StolenLog::default();
        for start in 0..WINDOWS as u64 + 1 {
            log.record(stolen(start * 10 + 1, start * 10 + 2, 0));
        }
        assert_eq!(log.count(), WINDOWS as u64 + 1);
        assert_eq!(log.lost_nanos(), WINDOWS as u64 + 1);
        assert_eq!(log.within(0, u64::MAX).nanos, WINDOWS as u64);
        assert_eq!(log.newest().count(), WINDOWS);
        assert_eq!(log.newest().next(), Some((11, 12)), "not the oldest");
        assert_eq!(
            [1, 2].map(|start| log.reaches_back_to(start)),
            [false, true]
        );
    }

    #[test]
    fn a_thief_is_named_only_where_something_shows_it() {
        let of = |waited, switched, reported| Thief::of(1_000, waited, switched, reported);
        assert_eq!(of(900, true, true), Thief::Thread);
        assert_eq!(of(0, false, true), Thief::Hypervisor);
        assert_eq!(of(0, true, true), Thief::Unknown, "stopped, say");
        assert_eq!(of(0, false, false), Thief::Unknown);
        let mut log = StolenLog::default();
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
