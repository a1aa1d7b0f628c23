//! How many events a bottom half has served, and at which of them the manager wants to be called.

use super::sync::{AtomicU64, Ordering};

/// The lower bits count events; the others say how many are left until a call is wanted, 0 if none is.
const COUNT_BITS: u32 = 48;
const COUNT: u64 = (1 << COUNT_BITS) - 1;
/// A call that is further away is wanted earlier: who is called looks, and asks again.
const LEFT_MAX: u64 = u64::MAX >> COUNT_BITS;

/// The count and the wish in one word, which both sides read-modify-write: either the manager sees the event that somebody waits
/// for, or the bottom half sees that it is to call. Each tries again only if the other side changed the word meanwhile, and
/// of two threads of one CPU the upper one does that once for each time that it gets the CPU.
#[derive(Debug, Default)]
pub(crate) struct Tally(AtomicU64);

impl Tally {
    /// How many were served.
    pub(crate) fn served(&self) -> u64 {
        self.0.load(Ordering::Acquire) & COUNT
    }

    /// One more was served; says whether that is the one at which a call is wanted. By the bottom half.
    pub(crate) fn serve(&self) -> bool {
        let before = self.change(|served, left| (served + 1, left.saturating_sub(1)));
        before >> COUNT_BITS == 1
    }

    /// A call is wanted when so many were served, if they are not yet, and no other one; gives how many are. By the manager.
    pub(crate) fn call_at(&self, target: u64) -> u64 {
        let left = |served| target.saturating_sub(served).min(LEFT_MAX);
        self.change(|served, _| (served, left(served))) & COUNT
    }

    /// Before the run begins.
    pub(crate) fn reset(&self) {
        self.0.store(0, Ordering::Release);
    }

    fn change(&self, change: impl Fn(u64, u64) -> (u64, u64)) -> u64 {
        let next = |word: u64| {
            let (served, left) = change(word & COUNT, word >> COUNT_BITS);
            Some(served & COUNT | left << COUNT_BITS)
        };
        let changed = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        // It always gives a new word.
        changed.unwrap_or_else(|word| word)
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicBool;
    use loom::thread;

    /// The count; a word that stands for the wish beside it; and whether the manager was called.
    type Shared = (Tally, AtomicU64, AtomicBool);

    /// Two events are served while the manager begins to wait for both.
    fn serving_against_waiting(serve: fn(&Shared) -> bool, call_at: fn(&Shared, u64) -> u64) {
        loom::model(move || {
            let shared = Arc::new(Shared::default());
            let other = Arc::clone(&shared);
            let bottom_half = thread::spawn(move || {
                for _ in 0..2 {
                    if serve(&other) {
                        other.2.store(true, Ordering::Release);
                    }
                }
            });
            if call_at(&shared, 2) < 2 {
                // A call that never comes hangs this.
                while !shared.2.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            }
            assert_eq!(shared.0.served(), 2, "called too early");
            bottom_half.join().unwrap();
        });
    }

    #[test]
    fn who_waits_for_an_event_sees_it_or_is_called() {
        serving_against_waiting(
            |shared| shared.0.serve(),
            |shared, target| shared.0.call_at(target),
        );
    }

    /// Each side writes its own word, and then reads the other's: acquire and release do not order that. With the count SeqCst on
    /// both sides as well two words would do.
    #[test]
    #[should_panic = "Model exceeded maximum number of branches"]
    fn refuted_a_count_and_a_wish_in_two_words() {
        serving_against_waiting(
            |shared| {
                let served = shared.0.0.fetch_add(1, Ordering::AcqRel) + 1;
                shared.1.load(Ordering::SeqCst) == served
            },
            |shared, target| {
                shared.1.store(target, Ordering::SeqCst);
                shared.0.served()
            },
        );
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_wanted_once_at_the_event_that_somebody_waits_for() {
        let tally = Tally::default();
        assert!(!tally.serve());
        assert_eq!(tally.call_at(4), 1);
        let calls: Vec<bool> = (0..5).map(|_| tally.serve()).collect();
        assert_eq!(calls, [false, false, true, false, false]);
        assert_eq!(tally.served(), 6);
        assert_eq!(tally.call_at(6), 6, "it was served already");
        assert!(!tally.serve());
        // The last wish counts.
        assert_eq!((tally.call_at(9), tally.call_at(8)), (7, 7));
        assert!(tally.serve() && !tally.serve());
        tally.reset();
        assert_eq!(tally.served(), 0);
    }

    #[test]
    fn one_that_is_far_away_calls_too_early_and_not_too_late() {
        let tally = Tally::default();
        assert_eq!(tally.call_at(LEFT_MAX + 10), 0);
        for _ in 1..LEFT_MAX {
            assert!(!tally.serve());
        }
        assert!(tally.serve());
        assert_eq!(tally.call_at(LEFT_MAX + 10), LEFT_MAX);
        for _ in 1..10 {
            assert!(!tally.serve());
        }
        assert!(tally.serve());
        // The count is that of the lower bits alone, also when it overflows.
        tally.0.store(COUNT, Ordering::Release);
        assert!(!tally.serve() && tally.served() == 0);
    }
}
