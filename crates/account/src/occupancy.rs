//! Which thread of the run is on its CPU, and since when none is although one should be.
//!
//! Each thread of the run notes when an execution interval of its begins and ends. That tells a preemption of ours
//! from stolen time, and it shows the stolen time that no burning job can see: that between two of these intervals.

use super::note::Wanted;

/// More than switching from one thread that runs to another that is ready ever takes by itself.
pub const SWITCH_NANOS_MAX: u64 = 100_000;

/// A wake-up on a free CPU later than this is the machine's doing: the usual ones take 30 to 110 us.
pub const LATE_WAKE_NANOS: u64 = 500_000;

/// An interval that no thread of the run explains, as clock readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unexplained {
    pub(super) from: u64,
    pub(super) to: u64,
    /// A burning job was on the CPU: it may have been charged for all of it.
    burning: bool,
}

impl Unexplained {
    pub(super) fn of_at_least(nanos: u64, from: u64, to: u64) -> Option<Self> {
        (to.saturating_sub(from) >= nanos).then_some(Self {
            from,
            to,
            burning: false,
        })
    }

    pub(super) const fn nanos(self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    /// The most that the kernel can have put on a job's account.
    pub(super) const fn charged_max(self) -> u64 {
        if self.burning { self.nanos() } else { 0 }
    }
}

/// The occupancy of the CPU by all threads of a run. They share one CPU.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    /// How late a wake-up on a free CPU has to be to be the machine's doing.
    late_wake: u64,
    /// The clock when the last execution interval ended; 0: one goes on, or a preempted one does again.
    left: u64,
    /// The latest end of one.
    ended: u64,
    /// The last time at which no thread had the CPU, as far as no thread has claimed it as stolen: clock
    /// readings at its beginning and end.
    free: (u64, u64),
}

impl Occupancy {
    /// Nothing is known yet; a wake-up that is so late is the machine's doing.
    pub(super) const fn new(late_wake: u64) -> Self {
        Self {
            late_wake,
            left: 0,
            ended: 0,
            free: (0, 0),
        }
    }

    /// A thread got the CPU at `now` that was `wanted` before; a burning job had looked at the clock at
    /// `burned` (0: none burned). Returns the interval before `now` in which that job ought to have looked
    /// again, or in which no thread ran at all.
    ///
    /// A job that loses the CPU while the machine is away cannot tell; so it is told here. Of several
    /// threads that were wanted on a free CPU the most urgent one comes first, and need not be the one
    /// that was wanted first; so the others claim what it left.
    pub(super) fn begin(&mut self, wanted: Wanted, now: u64, burned: u64) -> Option<Unexplained> {
        let left = std::mem::take(&mut self.left);
        if burned != 0 {
            let unexplained = Unexplained::of_at_least(SWITCH_NANOS_MAX, burned, now)?;
            return Some(Unexplained {
                burning: true,
                ..unexplained
            });
        }
        // Of a shorter one no thread claims anything, and an earlier one may still have something to claim.
        if left != 0 && now.saturating_sub(left) >= self.late_wake {
            self.free = (left, now);
        }
        match wanted {
            // A thread that does not burn had the CPU, and gives it up at once.
            Wanted::AtOnceSince(since) if left == 0 => {
                Unexplained::of_at_least(self.late_wake, since, now)
            }
            Wanted::Since(since) | Wanted::AtOnceSince(since) => self.claim(since),
            // The manager has not left the CPU.
            Wanted::ByTheManager if left == 0 => None,
            Wanted::ByTheManager => self.claim(left),
        }
    }

    /// The part of the last free time in which a thread wanted the CPU, since `wanted`.
    fn claim(&mut self, wanted: u64) -> Option<Unexplained> {
        let (from, to) = self.free;
        let unexplained = Unexplained::of_at_least(self.late_wake, from.max(wanted), to)?;
        self.free = (from, unexplained.from);
        Some(unexplained)
    }

    /// An execution interval ends at `now`.
    pub(super) fn end(&mut self, now: u64) {
        // Whoever took the CPU since the clock was read has left it later.
        self.left = self.left.max(now);
        self.ended = self.ended.max(now);
    }

    /// The clock at the latest end of an execution interval.
    pub(super) const fn ended(&self) -> u64 {
        self.ended
    }

    /// An execution interval of unknown end begins, that of the idle detector; or one goes on: its thread
    /// slept in it.
    pub(super) const fn occupy(&mut self) {
        self.left = 0;
    }

    /// A preempted thread that looked at the clock at `before` goes on at `now`. Returns the interval
    /// since the last execution interval of another thread.
    pub(super) fn resume(&mut self, before: u64, now: u64) -> Option<Unexplained> {
        let left = std::mem::take(&mut self.left);
        if left == 0 {
            return None;
        }
        Unexplained::of_at_least(SWITCH_NANOS_MAX, left.max(before), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn since(occupancy: &mut Occupancy, wanted: u64, now: u64) -> Option<Unexplained> {
        occupancy.begin(Wanted::Since(wanted), now, 0)
    }

    fn free(from: u64, to: u64) -> Option<Unexplained> {
        Unexplained::of_at_least(0, from, to)
    }

    #[test]
    fn a_late_beginning_counts_from_when_the_cpu_was_free_and_wanted() {
        let mut occupancy = Occupancy::new(LATE_WAKE_NANOS);
        assert_eq!(
            since(&mut occupancy, MS, 9 * MS),
            None,
            "who ran before is unknown"
        );
        occupancy.end(9 * MS + 1);
        assert_eq!(since(&mut occupancy, 12 * MS, 12 * MS + 1_000), None);
        occupancy.end(13 * MS);
        let since_wanted = free(20 * MS, 22 * MS);
        assert_eq!(since(&mut occupancy, 20 * MS, 22 * MS), since_wanted);
        occupancy.end(22 * MS + 1);
        let since_free = free(22 * MS + 1, 30 * MS);
        assert_eq!(since(&mut occupancy, 21 * MS, 30 * MS), since_free);
        // While it goes on, no other thread's wish is the machine's fault.
        assert_eq!(since(&mut occupancy, 31 * MS, 40 * MS), None);
    }

    #[test]
    fn what_is_late_is_a_rule() {
        let late = |late_wake| {
            let mut occupancy = Occupancy::new(late_wake);
            occupancy.end(10 * MS);
            since(&mut occupancy, 20 * MS, 20 * MS + 200_000)
        };
        assert_eq!(late(200_000), free(20 * MS, 20 * MS + 200_000));
        assert_eq!(late(200_001), None);
    }

    #[test]
    fn of_a_free_time_everybody_claims_what_the_more_urgent_ones_did_not_want_yet() {
        let mut occupancy = Occupancy::new(LATE_WAKE_NANOS);
        occupancy.end(10 * MS);
        // The process was stopped; its manager wants to look at 500 ms, and a job came at 30 ms.
        let manager = free(500 * MS, 2_000 * MS);
        assert_eq!(since(&mut occupancy, 500 * MS, 2_000 * MS), manager);
        occupancy.end(2_000 * MS + 1_000);
        assert_eq!(
            since(&mut occupancy, 30 * MS, 2_000 * MS + 2_000),
            free(30 * MS, 500 * MS)
        );
        assert_eq!(
            since(&mut occupancy, 30 * MS, 2_000 * MS + 3_000),
            None,
            "counted once"
        );
        assert_eq!(occupancy.begin(Wanted::ByTheManager, 2_003 * MS, 0), None);
        occupancy.end(2_010 * MS);
        // A watchdog that sees nothing itself hides nothing.
        assert_eq!(since(&mut occupancy, 2_600 * MS, 2_600 * MS), None);
        let job = free(2_050 * MS, 2_600 * MS);
        assert_eq!(since(&mut occupancy, 2_050 * MS, 2_601 * MS), job);
        occupancy.end(2_700 * MS);
        let called = occupancy.begin(Wanted::ByTheManager, 2_702 * MS, 0);
        assert_eq!(called, free(2_700 * MS, 2_702 * MS));
    }

    #[test]
    fn a_late_thread_that_none_of_the_run_keeps_waiting_was_kept_by_others() {
        let mut occupancy = Occupancy::new(LATE_WAKE_NANOS);
        let at_once = |occupancy: &mut Occupancy, wanted, now| {
            occupancy.begin(Wanted::AtOnceSince(wanted), now, 0)
        };
        // A worker has begun; a thief comes, then the manager wants the CPU, and gets it after the thief.
        assert_eq!(since(&mut occupancy, 10 * MS, 10 * MS), None);
        assert_eq!(
            at_once(&mut occupancy, 11 * MS, 15 * MS),
            free(11 * MS, 15 * MS)
        );
        occupancy.end(15 * MS + 1_000);
        // The watchdog had the CPU until then.
        assert_eq!(since(&mut occupancy, 20 * MS, 20 * MS), None);
        occupancy.end(25 * MS);
        assert_eq!(at_once(&mut occupancy, 20 * MS, 25 * MS + 1_000), None);
    }

    #[test]
    fn an_interval_that_ends_by_an_old_clock_does_not_hide_a_later_one() {
        let mut occupancy = Occupancy::new(LATE_WAKE_NANOS);
        // A thread reads the clock at 10 ms in order to wait; another one has the CPU until 15 ms.
        assert_eq!(since(&mut occupancy, 10 * MS, 10 * MS + 1_000), None);
        occupancy.end(15 * MS);
        occupancy.end(10 * MS);
        // That was no time in which no thread ran.
        assert_eq!(since(&mut occupancy, 9 * MS, 15 * MS + 10_000), None);
    }

    #[test]
    fn whoever_takes_the_cpu_from_a_burning_job_sees_what_it_could_not() {
        let mut occupancy = Occupancy::new(LATE_WAKE_NANOS);
        let burning = |occupancy: &mut Occupancy, wanted, now, burned| {
            occupancy.begin(Wanted::Since(wanted), now, burned)
        };
        let unseen = burning(&mut occupancy, 7 * MS, 7 * MS, 5 * MS).unwrap();
        assert_eq!((unseen.from, unseen.to), (5 * MS, 7 * MS));
        assert_eq!(unseen.charged_max(), 2 * MS);
        occupancy.end(7 * MS + 1_000);
        assert_eq!(occupancy.resume(5 * MS, 7 * MS + 2_000), None);
        assert_eq!(burning(&mut occupancy, 0, 8 * MS + 1_000, 8 * MS), None);
        occupancy.end(8 * MS + 2_000);
        let away = free(8 * MS + 2_000, 9 * MS);
        assert_eq!(occupancy.resume(8 * MS, 9 * MS), away);
        assert_eq!(occupancy.resume(8 * MS, 9 * MS), None, "counted once");
        assert_eq!(since(&mut occupancy, 0, 20 * MS), None);
    }

    #[test]
    fn while_the_idle_detector_runs_no_time_is_free() {
        let mut occupancy = Occupancy::new(LATE_WAKE_NANOS);
        occupancy.end(10 * MS);
        let mut with_a_detector = occupancy.clone();
        assert_eq!(since(&mut occupancy, 0, 90 * MS), free(10 * MS, 90 * MS));
        with_a_detector.occupy();
        assert_eq!(since(&mut with_a_detector, 0, 90 * MS), None);
    }
}
