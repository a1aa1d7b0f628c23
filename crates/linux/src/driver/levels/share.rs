//! How much of a CPU level C may have, so that the kernel takes nothing from levels A and B.
//!
//! Where threads in SCHED_FIFO leave nothing to others, Linux takes time from them: since 6.12 a server for ordinary threads, older
//! kernels by throttling, each within a second of its own. When that begins nobody knows here, but it contains a whole half window of
//! this: so each half window leaves what the kernel wants of a second.
//!
//! ```text
//! half windows  |         used by A, B, C         |A, B may|  left  |         used ...
//!               |<----------- most --------------------->|<------->|
//! ```
//! Levels A and B are never stopped: what they may still demand is set aside, and level C has the rest. When that is used up the CPU is
//! closed to level C until the half window ends.

use vestal_core::engine::uniprocessor::CPU;
use vestal_trace::{Edge, Mechanism, What};

/// How long a half window is, in nanoseconds.
const HALF_NANOS: u64 = 500_000_000;

/// What threads in SCHED_FIFO have used of a CPU, and when they are to leave it.
#[derive(Debug)]
pub(crate) struct Share {
    /// How much of a half window they may use; `None`: all of it.
    most: Option<u64>,
    /// Of the half window with this number.
    half: u64,
    used: u64,
    /// Since when level C has been kept out.
    since: Option<u64>,
    pub(crate) yields: u64,
    /// Levels A and B included, if they run meanwhile; not one that the end of the run meets.
    pub(crate) yielded_nanos: u64,
}

/// What level C may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// It may run, and is to be looked at again at this instant, if there is one.
    Until(Option<u64>),
    /// It may not before this instant.
    From(u64),
}

impl Leave {
    /// Whether level C may run.
    pub(super) const fn is_open(self) -> bool {
        matches!(self, Self::Until(_))
    }

    /// When it is to be looked at again, if at all.
    pub(super) const fn ends(self) -> Option<u64> {
        match self {
            Self::Until(until) => until,
            Self::From(from) => Some(from),
        }
    }
}

impl Share {
    /// Where threads in SCHED_FIFO may have `runtime` of each `period`, or all of it, less `margin`; in nanoseconds.
    pub(crate) fn new(throttling: Option<(u64, u64)>, margin: u64) -> Self {
        let left = |(runtime, period): (u64, u64)| period.saturating_sub(runtime);
        Self {
            most: throttling
                .map(|limit| HALF_NANOS.saturating_sub(left(limit).saturating_add(margin))),
            half: 0,
            used: 0,
            since: None,
            yields: 0,
            yielded_nanos: 0,
        }
    }

    /// When the half window ends in which an instant lies, in nanoseconds after the epoch.
    pub(crate) const fn end_of(now: u64) -> u64 {
        (now / HALF_NANOS + 1).saturating_mul(HALF_NANOS)
    }

    /// Threads in SCHED_FIFO have used `amount` until `now`, since this was told last. What of that belongs to the half window before counts
    /// in this one: nobody leaves less for that.
    pub(crate) fn add(&mut self, now: u64, amount: u64) {
        self.turn(now);
        self.used = self.used.saturating_add(amount);
    }

    fn turn(&mut self, now: u64) {
        let half = now / HALF_NANOS;
        if half > self.half {
            (self.half, self.used) = (half, 0);
        }
    }

    /// What level C may do at `now`, if levels A and B demand `own` at most until the half window ends.
    pub(crate) fn leave(&mut self, now: u64, own: u64) -> Leave {
        self.turn(now);
        let end = Self::end_of(now);
        let Some(most) = self.most else {
            return Leave::Until(None);
        };
        let rest = most.saturating_sub(self.used.saturating_add(own));
        if rest > 0 {
            if let Some(since) = self.since.take() {
                self.yielded_nanos = self.yielded_nanos.saturating_add(now.saturating_sub(since));
            }
            // Whoever runs uses no more than passes.
            return Leave::Until(Some(now.saturating_add(rest).min(end)));
        }
        if self.since.is_none() {
            self.since = Some(now);
            self.yields += 1;
        }
        Leave::From(end)
    }
}

/// The CPU is left to ordinary threads from here on, or is not any more.
pub(super) const fn yield_of(begins: bool) -> What {
    let edge = if begins { Edge::Begin } else { Edge::End };
    let (cpu, mechanism) = (CPU, Mechanism::YIELD);
    What::Overhead {
        cpu,
        mechanism,
        edge,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_testkit::Random;

    const MS: u64 = 1_000_000;

    /// A CPU whose level C wants all that it may have, but for a while every other second if it `rests`; levels A and B take what they
    /// like of `own` a half window. Gives of each millisecond whether anybody of these had it, and what levels A and B left of theirs. A
    /// budget is for so many half windows.
    fn run(own: u64, (windows, rests): (u64, bool), seed: u64) -> (Vec<bool>, u64) {
        let mut random = Random::new(seed);
        let mut share = Share::new(Some((950 * MS, 1_000 * MS)), 20 * MS);
        let length = HALF_NANOS / MS;
        let (mut left, mut unused) = (0, 0);
        let mut real_time = Vec::new();
        for tick in 0..20 * length {
            let now = tick * MS;
            if tick % (length * windows) == 0 {
                unused += left;
                left = own * windows;
                if windows > 1 {
                    // The mistake: what may be used of a second is one budget.
                    share = Share::new(Some((950 * MS, 1_000 * MS)), 20 * MS);
                    share.most = Some(930 * MS);
                }
            }
            let leave = match windows {
                1 => share.leave(now, left * MS),
                _ => match share.most.unwrap() > share.used + left * MS {
                    true => Leave::Until(None),
                    false => Leave::From(0),
                },
            };
            let is_own = left > 0 && random.once_in(3);
            left -= u64::from(is_own);
            let sleeps = rests && tick % 2_000 < 70;
            let is_c = !is_own && !sleeps && matches!(leave, Leave::Until(_));
            if is_own || is_c {
                match windows {
                    1 => share.add(now + MS - 1, MS),
                    _ => share.used += MS,
                }
            }
            real_time.push(is_own || is_c);
        }
        (real_time, unused + left)
    }

    /// The least that others had in any second.
    fn least(real_time: &[bool]) -> usize {
        let seconds = real_time.windows(1_000);
        let left = seconds.map(|second| second.iter().filter(|used| !**used).count());
        left.min().unwrap()
    }

    #[test]
    fn every_second_leaves_what_the_kernel_wants_wherever_it_begins() {
        for (own, seed) in (0..8).map(|seed| (50 * seed, seed)) {
            for rests in [false, true] {
                let (real_time, unused) = run(own, (1, rests), seed);
                assert!(least(&real_time) >= 70, "own {own}: {}", least(&real_time));
                // And not much more: level C has the rest.
                let used = real_time.iter().filter(|used| **used).count() as u64 + unused;
                let most = real_time.len() as u64;
                assert!(rests || used * 100 > most * 85, "own {own}: {used}");
            }
        }
    }

    /// A budget of a whole second is used up at its end, and the next one at its beginning.
    #[test]
    fn a_budget_of_a_whole_second_leaves_too_little() {
        let found = (0..8).map(|seed| least(&run(100, (2, true), seed).0));
        assert!(found.min().unwrap() < 70);
    }

    #[test]
    fn yields_are_counted_until_level_c_goes_on() {
        let mut share = Share::new(Some((950 * MS, 1_000 * MS)), 20 * MS);
        assert_eq!(share.leave(0, 130 * MS), Leave::Until(Some(300 * MS)));
        share.add(300 * MS, 300 * MS);
        for now in [300 * MS, 400 * MS] {
            assert_eq!(share.leave(now, 130 * MS), Leave::From(500 * MS));
        }
        assert_eq!((share.yields, share.yielded_nanos), (1, 0));
        assert_eq!(share.leave(500 * MS, 0), Leave::Until(Some(930 * MS)));
        assert_eq!((share.yields, share.yielded_nanos), (1, 200 * MS));
        // Levels A and B that demand more than there is are not kept out by this.
        assert_eq!(share.leave(500 * MS, 480 * MS), Leave::From(1_000 * MS));
        let mut all = Share::new(None, 20 * MS);
        all.add(400 * MS, 500 * MS);
        assert_eq!(all.leave(450 * MS, 500 * MS), Leave::Until(None));
    }
}
