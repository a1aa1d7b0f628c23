//! Which thread of the run is on its CPU, and since when none is although one should be.
//!
//! Each thread of the run says when an execution interval of its begins and ends. That tells a preemption of ours
//! from stolen time, and it shows the stolen time that no burning job can see: that between two of these intervals.

use std::sync::atomic::{AtomicU64, Ordering};

/// More than switching from one thread that runs to another that is ready ever takes by itself.
pub(crate) const SWITCH_NANOS_MAX: u64 = 100_000;

/// A wake-up on a free CPU later than this is the machine's doing: the usual ones take 30 to 110 us.
pub(crate) const LATE_WAKE_NANOS_MIN: u64 = 500_000;

/// An interval that no thread of the run explains, as clock readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unexplained {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// A burning job was on the CPU: it may have been charged for all of it.
    pub(crate) burning: bool,
}

impl Unexplained {
    pub(crate) fn of_at_least(nanos: u64, from: u64, to: u64) -> Option<Self> {
        (to.saturating_sub(from) >= nanos).then_some(Self {
            from,
            to,
            burning: false,
        })
    }

    pub(crate) const fn nanos(self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    /// The most that the kernel can have put on a job's account.
    pub(crate) const fn charged_max(self) -> u64 {
        if self.burning { self.nanos() } else { 0 }
    }
}

/// Since when a thread of the run that gets the CPU was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Since this clock reading.
    Since(u64),
    /// The same of a thread that no other of the run keeps from the CPU.
    AtOnceSince(u64),
    /// Since the manager, which called it, left the CPU.
    ByTheManager,
}

impl Wanted {
    /// The clock reading, if it is known.
    pub(crate) const fn since(self) -> Option<u64> {
        match self {
            Self::Since(since) | Self::AtOnceSince(since) => Some(since),
            Self::ByTheManager => None,
        }
    }

    /// The same, but not before `instant`.
    pub(crate) fn from(self, instant: u64) -> Self {
        match self {
            Self::Since(since) => Self::Since(since.max(instant)),
            Self::AtOnceSince(since) => Self::AtOnceSince(since.max(instant)),
            Self::ByTheManager => self,
        }
    }
}

/// The occupancy of the CPU by all threads of a run. They share one CPU.
#[derive(Debug, Default)]
pub(crate) struct Occupancy {
    /// Counts the beginnings and ends.
    activity: AtomicU64,
    /// The clock when a burning job that keeps its priority last looked; 0: none burns.
    burning: AtomicU64,
    /// The clock when the last execution interval ended; 0: one goes on, or a preempted one does again.
    left: AtomicU64,
    /// The clock when a thread called the manager; 0: none has since it looked.
    called: AtomicU64,
    /// The last time at which no thread had the CPU, as far as no thread has claimed it as stolen: clock
    /// readings at its beginning and end.
    free: [AtomicU64; 2],
}

impl Occupancy {
    /// Changes whenever a thread of the run begins or ends an execution interval.
    pub(crate) fn count(&self) -> u64 {
        self.activity.load(Ordering::Relaxed)
    }

    /// A thread got the CPU at `now` that was `wanted` before. Returns the [`Self::count`] that follows, and the
    /// interval before `now` in which a burning job ought to have looked at the clock, or in which no thread ran
    /// at all.
    ///
    /// A job that loses the CPU while the machine is away cannot tell; so it is told here. Of several
    /// threads that were wanted on a free CPU the most urgent one comes first, and need not be the one
    /// that was wanted first; so the others claim what it left.
    pub(crate) fn begin(&self, wanted: Wanted, now: u64) -> (u64, Option<Unexplained>) {
        let activity = self
            .activity
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_add(1);
        (activity, self.before(wanted, now))
    }

    fn before(&self, wanted: Wanted, now: u64) -> Option<Unexplained> {
        let left = self.left.swap(0, Ordering::Relaxed);
        let burned = self.burning.swap(0, Ordering::Relaxed);
        if burned != 0 {
            let unexplained = Unexplained::of_at_least(SWITCH_NANOS_MAX, burned, now)?;
            return Some(Unexplained {
                burning: true,
                ..unexplained
            });
        }
        // Of a shorter one no thread claims anything, and an earlier one may still have something to claim.
        if left != 0 && now.saturating_sub(left) >= LATE_WAKE_NANOS_MIN {
            self.keep_free(left, now);
        }
        match wanted {
            // A thread that does not burn had the CPU, and gives it up at once.
            Wanted::AtOnceSince(since) if left == 0 => {
                Unexplained::of_at_least(LATE_WAKE_NANOS_MIN, since, now)
            }
            Wanted::Since(since) | Wanted::AtOnceSince(since) => self.claim(since),
            // The manager has not left the CPU.
            Wanted::ByTheManager if left == 0 => None,
            Wanted::ByTheManager => self.claim(left),
        }
    }

    fn keep_free(&self, from: u64, to: u64) {
        self.free[0].store(from, Ordering::Relaxed);
        self.free[1].store(to, Ordering::Relaxed);
    }

    /// The part of the last free time in which a thread wanted the CPU, since `wanted`.
    fn claim(&self, wanted: u64) -> Option<Unexplained> {
        let [from, to] = [&self.free[0], &self.free[1]].map(|word| word.load(Ordering::Relaxed));
        let unexplained = Unexplained::of_at_least(LATE_WAKE_NANOS_MIN, from.max(wanted), to)?;
        self.keep_free(from, unexplained.from);
        Some(unexplained)
    }

    /// An execution interval ends at `now`.
    pub(crate) fn end(&self, now: u64) {
        self.activity.fetch_add(1, Ordering::Relaxed);
        // Whoever took the CPU since the clock was read has left it later.
        self.left.fetch_max(now, Ordering::Relaxed);
    }

    /// An execution interval of unknown end begins: that of the idle detector.
    pub(crate) fn idle(&self) {
        self.activity.fetch_add(1, Ordering::Relaxed);
        self.left.store(0, Ordering::Relaxed);
    }

    /// A thread of the run that had begun its execution interval slept in it, and goes on.
    pub(crate) fn came_back(&self) {
        self.activity.fetch_add(1, Ordering::Relaxed);
        self.left.store(0, Ordering::Relaxed);
        self.burning.store(0, Ordering::Relaxed);
    }

    /// A burning job looks at the clock.
    pub(crate) fn burns(&self, now: u64) {
        self.burning.store(now, Ordering::Relaxed);
    }

    /// No job burns any more, or the one that did loses its priority and will not look any more.
    pub(crate) fn burns_no_more(&self) {
        self.burning.store(0, Ordering::Relaxed);
    }

    /// A preempted thread that looked at the clock at `before` goes on at `now`. Returns the interval
    /// since the last execution interval of another thread.
    pub(crate) fn resume(&self, before: u64, now: u64) -> Option<Unexplained> {
        let left = self.left.swap(0, Ordering::Relaxed);
        if left == 0 {
            return None;
        }
        Unexplained::of_at_least(SWITCH_NANOS_MAX, left.max(before), now)
    }

    /// A thread calls the manager.
    pub(crate) fn call(&self, now: u64) {
        let _ = self
            .called
            .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Since when the manager, which wakes at `now` and would have done so at `until` by itself, is wanted.
    pub(crate) fn wanted_since(&self, until: u64, now: u64) -> u64 {
        match self.called.swap(0, Ordering::Relaxed) {
            0 => until.min(now),
            called => called.min(until).min(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn since(occupancy: &Occupancy, wanted: u64, now: u64) -> Option<Unexplained> {
        occupancy.begin(Wanted::Since(wanted), now).1
    }

    fn free(from: u64, to: u64) -> Option<Unexplained> {
        Unexplained::of_at_least(0, from, to)
    }

    #[test]
    fn a_late_beginning_counts_from_when_the_cpu_was_free_and_wanted() {
        let occupancy = Occupancy::default();
        assert_eq!(
            since(&occupancy, MS, 9 * MS),
            None,
            "who ran before is unknown"
        );
        occupancy.end(9 * MS + 1);
        assert_eq!(since(&occupancy, 12 * MS, 12 * MS + 1_000), None);
        occupancy.end(13 * MS);
        let since_wanted = free(20 * MS, 22 * MS);
        assert_eq!(since(&occupancy, 20 * MS, 22 * MS), since_wanted);
        occupancy.end(22 * MS + 1);
        let since_free = free(22 * MS + 1, 30 * MS);
        assert_eq!(since(&occupancy, 21 * MS, 30 * MS), since_free);
        // While it goes on, no other thread's wish is the machine's fault.
        assert_eq!(since(&occupancy, 31 * MS, 40 * MS), None);
    }

    #[test]
    fn of_a_free_time_everybody_claims_what_the_more_urgent_ones_did_not_want_yet() {
        let occupancy = Occupancy::default();
        occupancy.end(10 * MS);
        // The process was stopped; its manager wants to look at 500 ms, and a job came at 30 ms.
        let manager = free(500 * MS, 2_000 * MS);
        assert_eq!(since(&occupancy, 500 * MS, 2_000 * MS), manager);
        occupancy.end(2_000 * MS + 1_000);
        assert_eq!(
            since(&occupancy, 30 * MS, 2_000 * MS + 2_000),
            free(30 * MS, 500 * MS)
        );
        assert_eq!(
            since(&occupancy, 30 * MS, 2_000 * MS + 3_000),
            None,
            "counted once"
        );
        assert_eq!(occupancy.begin(Wanted::ByTheManager, 2_003 * MS).1, None);
        occupancy.end(2_010 * MS);
        // A watchdog that sees nothing itself hides nothing.
        assert_eq!(since(&occupancy, 2_600 * MS, 2_600 * MS), None);
        let job = free(2_050 * MS, 2_600 * MS);
        assert_eq!(since(&occupancy, 2_050 * MS, 2_601 * MS), job);
        occupancy.end(2_700 * MS);
        let called = occupancy.begin(Wanted::ByTheManager, 2_702 * MS);
        assert_eq!(called.1, free(2_700 * MS, 2_702 * MS));
    }

    #[test]
    fn a_late_thread_that_none_of_the_run_keeps_waiting_was_kept_by_others() {
        let occupancy = Occupancy::default();
        let at_once = |wanted, now| occupancy.begin(Wanted::AtOnceSince(wanted), now).1;
        // A worker has begun; a thief comes, then the manager wants the CPU, and gets it after the thief.
        assert_eq!(since(&occupancy, 10 * MS, 10 * MS), None);
        assert_eq!(at_once(11 * MS, 15 * MS), free(11 * MS, 15 * MS));
        occupancy.end(15 * MS + 1_000);
        // The watchdog had the CPU until then.
        assert_eq!(since(&occupancy, 20 * MS, 20 * MS), None);
        occupancy.end(25 * MS);
        assert_eq!(at_once(20 * MS, 25 * MS + 1_000), None);
    }

    #[test]
    fn a_beginning_counts_what_follows_it_as_activity() {
        let occupancy = Occupancy::default();
        let (activity, _) = occupancy.begin(Wanted::Since(0), MS);
        assert_eq!(activity, occupancy.count());
        occupancy.end(2 * MS);
        assert_ne!(activity, occupancy.count());
    }

    #[test]
    fn an_interval_that_ends_by_an_old_clock_does_not_hide_a_later_one() {
        let occupancy = Occupancy::default();
        // A thread reads the clock at 10 ms in order to wait; another one has the CPU until 15 ms.
        assert_eq!(since(&occupancy, 10 * MS, 10 * MS + 1_000), None);
        occupancy.end(15 * MS);
        occupancy.end(10 * MS);
        // That was no time in which no thread ran.
        assert_eq!(since(&occupancy, 9 * MS, 15 * MS + 10_000), None);
    }

    #[test]
    fn whoever_takes_the_cpu_from_a_burning_job_sees_what_it_could_not() {
        let occupancy = Occupancy::default();
        occupancy.burns(5 * MS);
        let unseen = since(&occupancy, 7 * MS, 7 * MS).unwrap();
        assert_eq!((unseen.from, unseen.to), (5 * MS, 7 * MS));
        assert_eq!(unseen.charged_max(), 2 * MS);
        occupancy.end(7 * MS + 1_000);
        assert_eq!(occupancy.resume(5 * MS, 7 * MS + 2_000), None);
        occupancy.burns(8 * MS);
        assert_eq!(since(&occupancy, 0, 8 * MS + 1_000), None);
        occupancy.end(8 * MS + 2_000);
        let away = free(8 * MS + 2_000, 9 * MS);
        assert_eq!(occupancy.resume(8 * MS, 9 * MS), away);
        assert_eq!(occupancy.resume(8 * MS, 9 * MS), None, "counted once");
        occupancy.burns_no_more();
        assert_eq!(since(&occupancy, 0, 20 * MS), None);
    }

    #[test]
    fn calls_are_remembered_from_the_first() {
        let occupancy = Occupancy::default();
        assert_eq!(occupancy.wanted_since(5 * MS, 3 * MS), 3 * MS);
        occupancy.call(2 * MS);
        occupancy.call(4 * MS);
        assert_eq!(occupancy.wanted_since(5 * MS, 6 * MS), 2 * MS);
        assert_eq!(occupancy.wanted_since(5 * MS, 6 * MS), 5 * MS);
        let before = occupancy.count();
        occupancy.idle();
        assert_ne!(occupancy.count(), before);
        assert_eq!(since(&occupancy, 0, 90 * MS), None);
    }
}
