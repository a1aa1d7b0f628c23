//! Whose turn it is to decide for all, of those who do not wait for it.
//!
//! ```text
//!               attempt                       let_go
//!   free -------------------> held ----------------------------> free
//!                              |  ^                               |  ^
//!                     attempt, |  | let_go refused:               |  | attempt: held
//!                  leave_work  v  | the holder looks again        v  |
//!                           held, more --------------------->  more: left to others
//!                                               leave
//! ```
//! Who finds it held leaves what he has, and goes; the holder does not let go before it has looked at all that. Both sides change
//! the one word, so that there is no moment in which one has gone and the other has not seen why he came.

use super::sync::{AtomicU32, Ordering};

/// Somebody decides.
const HELD: u32 = 1;
/// There is something that nobody has looked at since.
const MORE: u32 = 2;

/// The turn. Whoever comes has left before where the holder finds it what the holder is to look at.
#[derive(Debug, Default)]
pub(crate) struct Turn(AtomicU32);

impl Turn {
    /// Takes the turn, unless somebody has it, who will look at what the caller has left. Says whether the caller has it, and
    /// is to look at what all others left.
    pub(crate) fn attempt(&self) -> bool {
        if self.0.fetch_or(HELD | MORE, Ordering::AcqRel) & HELD != 0 {
            return false;
        }
        // What was left for this until now is seen from here on.
        self.0.fetch_and(!MORE, Ordering::AcqRel);
        true
    }

    /// The holder has looked at everything, and lets go. `false`: it has the turn still, and is to look again.
    pub(crate) fn let_go(&self) -> bool {
        let gone = self
            .0
            .compare_exchange(HELD, 0, Ordering::AcqRel, Ordering::Acquire);
        if gone.is_err() {
            self.0.fetch_and(!MORE, Ordering::AcqRel);
        }
        gone.is_ok()
    }

    /// The holder lets go, and leaves to others whatever there is to look at: one of them is to be called.
    pub(crate) fn leave(&self) {
        self.0.swap(MORE, Ordering::AcqRel);
    }

    /// There is something to look at, for whoever has the turn or takes it next; says whether somebody has it.
    pub(crate) fn leave_work(&self) -> bool {
        self.0.fetch_or(MORE, Ordering::AcqRel) & HELD != 0
    }

    /// Whether something was left that the holder, if there is one, has not begun to look at. Who was called because of that sees it.
    pub(crate) fn has_more(&self) -> bool {
        self.0.load(Ordering::Acquire) & MORE != 0
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::atomic::AtomicU64;
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    /// What two threads leave, and what was seen of it by who had the turn. The flag is for refuted variants alone.
    #[derive(Default)]
    struct Shared {
        turn: Turn,
        more: AtomicU32,
        left: [AtomicU64; 2],
        seen: Mutex<[u64; 2]>,
    }

    #[derive(Clone, Copy)]
    struct Way {
        attempt: fn(&Shared) -> bool,
        let_go: fn(&Shared) -> bool,
    }

    const RIGHT: Way = Way {
        attempt: |shared| shared.turn.attempt(),
        let_go: |shared| shared.turn.let_go(),
    };

    fn come(shared: &Shared, own: usize, way: Way) {
        shared.left[own].store(1, Ordering::Relaxed);
        if !(way.attempt)(shared) {
            return;
        }
        loop {
            let mut seen = shared.seen.try_lock().expect("two have the turn");
            for (seen, left) in seen.iter_mut().zip(&shared.left) {
                *seen = left.load(Ordering::Relaxed).max(*seen);
            }
            drop(seen);
            if (way.let_go)(shared) {
                return;
            }
        }
    }

    fn two_come(way: Way) {
        loom::model(move || {
            let shared = Arc::new(Shared::default());
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || come(&other, 1, way));
            come(&shared, 0, way);
            thread.join().unwrap();
            assert_eq!(*shared.seen.lock().unwrap(), [1, 1], "left behind");
        });
    }

    #[test]
    fn whatever_was_left_is_looked_at_by_one_at_a_time() {
        two_come(RIGHT);
    }

    /// One that leaves once, as a closed CPU does, and is followed by the one that it calls.
    #[test]
    fn what_was_left_to_others_is_there_when_they_are_called() {
        loom::model(|| {
            let shared = Arc::new(Shared::default());
            let called = Arc::new(AtomicU64::new(0));
            let (other, bell) = (Arc::clone(&shared), Arc::clone(&called));
            let thread = thread::spawn(move || {
                other.left[1].store(1, Ordering::Relaxed);
                if other.turn.attempt() {
                    other.turn.leave();
                }
                bell.store(1, Ordering::Release);
            });
            come(&shared, 0, RIGHT);
            thread.join().unwrap();
            assert_eq!(called.load(Ordering::Acquire), 1);
            // The second is called.
            if shared.turn.has_more() {
                come(&shared, 0, RIGHT);
            }
            assert_eq!(*shared.seen.lock().unwrap(), [1, 1], "left behind");
        });
    }

    /// The holder stores that nobody has it.
    #[test]
    #[should_panic = "left behind"]
    fn refuted_letting_go_without_a_look() {
        two_come(Way {
            let_go: |shared| {
                shared.turn.0.store(0, Ordering::SeqCst);
                true
            },
            ..RIGHT
        });
    }

    /// Each side writes its own word and reads the other's.
    #[test]
    #[should_panic = "left behind"]
    fn refuted_more_in_a_word_of_its_own() {
        two_come(Way {
            attempt: |shared| {
                shared.more.store(1, Ordering::SeqCst);
                shared.turn.0.swap(HELD, Ordering::SeqCst) == 0
            },
            let_go: |shared| {
                shared.turn.0.store(0, Ordering::SeqCst);
                let again = shared.more.swap(0, Ordering::Relaxed) == 1
                    && shared.turn.0.swap(HELD, Ordering::SeqCst) == 0;
                !again
            },
        });
    }

    #[test]
    #[should_panic = "left behind"]
    fn refuted_a_relaxed_attempt() {
        two_come(Way {
            attempt: |shared| {
                let word = &shared.turn.0;
                if word.fetch_or(HELD | MORE, Ordering::Relaxed) & HELD != 0 {
                    return false;
                }
                word.fetch_and(!MORE, Ordering::Relaxed);
                true
            },
            ..RIGHT
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_and_looks_again_when_others_came() {
        let turn = Turn::default();
        assert!(!turn.has_more() && turn.attempt() && !turn.has_more());
        assert!(!turn.attempt() && turn.has_more());
        assert!(!turn.let_go() && !turn.has_more());
        assert!(turn.let_go() && !turn.has_more());
        // What somebody leaves without coming for it.
        assert!(!turn.leave_work() && turn.has_more());
        assert!(turn.attempt() && turn.leave_work() && !turn.let_go() && turn.let_go());
        // What the holder leaves, whether others came or not.
        for others in [false, true] {
            assert!(turn.attempt());
            assert!(!others || !turn.attempt());
            turn.leave();
            assert!(turn.has_more() && turn.attempt() && turn.let_go());
        }
    }
}
