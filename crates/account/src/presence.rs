//! When threads of the run were on their CPU, as far as they noted that they got it and left it again, and when their bodies lasted.
//!
//! A thread that was ready and had no CPU waited for one of these, or for somebody who is none of the run. That is told apart where
//! no thread of the run has the CPU without saying so: on the CPUs of a frame table, whose jobs take their turns.

use super::note::Thread;
use super::occupancy::SWITCH_NANOS_MAX;
use std::collections::VecDeque;

/// How many of the newest are remembered: more than can be in one interval outside bodies.
const REMEMBERED: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Present {
    thread: Thread,
    from: u64,
    to: u64,
}

/// The newest ones, by when they ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Presences {
    known: VecDeque<Present>,
    /// The latest end of one that is forgotten.
    forgotten_until: u64,
}

impl Presences {
    pub(super) fn record(&mut self, thread: Thread, (from, to): (u64, u64)) {
        if self.known.len() == REMEMBERED {
            let forgotten = self.known.pop_front().map_or(0, |oldest| oldest.to);
            self.forgotten_until = self.forgotten_until.max(forgotten);
        }
        self.known.push_back(Present { thread, from, to });
    }

    /// What was not taken by threads of the run, of `waited` nanoseconds for which `thread`, or the present job, was ready and had
    /// no CPU from `since` until `until`. Others came when `present` says, and have not left. What a thread takes until it says that it is there, and after it said that it leaves, is
    /// the run's, too; so is all where it is not known any more who was there.
    pub(super) fn by_others(
        &self,
        thread: Option<Thread>,
        (since, until): (u64, u64),
        (waited, present): (u64, impl Iterator<Item = u64>),
    ) -> u64 {
        if since < self.forgotten_until {
            return 0;
        }
        let others = self.known.iter();
        let others = others.filter(|present| Some(present.thread) != thread);
        let others = others.map(|present| (present.from, present.to));
        let parts = others.chain(present.map(|from| (from, until)));
        let parts = parts.map(|(from, to)| {
            let (from, to) = (from.max(since), to.min(until));
            to.checked_sub(from)
                .map_or(0, |nanos| nanos.saturating_add(SWITCH_NANOS_MAX))
        });
        waited.saturating_sub(parts.fold(0, u64::saturating_add))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter::empty;

    const MS: u64 = 1_000_000;
    const OWN: Option<Thread> = Some(Thread::Worker(0));

    #[test]
    fn of_what_a_thread_waited_the_rest_was_taken_by_others_that_no_thread_of_the_run_had() {
        let mut presences = Presences::default();
        presences.record(Thread::Worker(0), (0, 10 * MS));
        presences.record(Thread::Watchdog, (12 * MS, 14 * MS));
        let by_others = |window, waited| presences.by_others(OWN, window, (waited, empty()));
        assert_eq!(
            by_others((10 * MS, 20 * MS), 6 * MS),
            4 * MS - SWITCH_NANOS_MAX
        );
        assert_eq!(
            by_others((13 * MS, 20 * MS), 6 * MS),
            5 * MS - SWITCH_NANOS_MAX
        );
        assert_eq!(by_others((15 * MS, 20 * MS), 4 * MS), 4 * MS);
        // All that it waited it waited for the watchdog.
        assert_eq!(by_others((10 * MS, 20 * MS), 2 * MS), 0);
        // Of a job on that thread nothing else is known.
        let of_job = presences.by_others(None, (5 * MS, 11 * MS), (6 * MS, empty()));
        assert_eq!(of_job, MS - SWITCH_NANOS_MAX);
        // One more came at 16 ms and has not left.
        let present = std::iter::once(16 * MS);
        let of_rest = presences.by_others(OWN, (15 * MS, 20 * MS), (5 * MS, present));
        assert_eq!(of_rest, MS - SWITCH_NANOS_MAX);
    }

    #[test]
    fn where_it_is_forgotten_who_was_there_nobody_else_was() {
        let mut presences = Presences::default();
        for start in 0..=REMEMBERED as u64 {
            presences.record(Thread::Watchdog, (start * MS, start * MS + 1));
        }
        let since = |since| presences.by_others(OWN, (since, 90 * MS), (9 * MS, empty()));
        assert_eq!((since(0), since(70 * MS)), (0, 9 * MS));
    }
}
