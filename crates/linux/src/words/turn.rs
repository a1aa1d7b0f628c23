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
        while !look(shared, way) {}
    }

    /// The holder looks once; says whether it could let go then.
    fn look(shared: &Shared, way: Way) -> bool {
        see(shared);
        (way.let_go)(shared)
    }

    fn see(shared: &Shared) {
        let mut seen = shared.seen.try_lock().expect("two have the turn");
        for (seen, left) in seen.iter_mut().zip(&shared.left) {
            *seen = left.load(Ordering::Relaxed).max(*seen);
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

    /// What a closed CPU, one that opens, and whoever is called share besides.
    #[derive(Default)]
    struct Called {
        shared: Shared,
        /// The second CPU is open: set before it comes for the turn.
        open: AtomicU32,
        /// Somebody was called; set after the reason for that.
        bell: AtomicU32,
    }

    impl Called {
        /// Whether it was called; if so, it comes if there is something to look at.
        fn answer(&self) -> bool {
            let is_called = self.bell.load(Ordering::Acquire) == 1;
            if is_called && self.shared.turn.has_more() {
                look_again(&self.shared);
            }
            is_called
        }
    }

    /// Like [`come`], of one that leaves nothing of its own.
    fn look_again(shared: &Shared) {
        if shared.turn.attempt() {
            while !look(shared, RIGHT) {}
        }
    }

    /// Three threads: all interleavings with at most three preemptions.
    fn three(model: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(model);
    }

    /// The first CPU is closed: it looks once, leaves the rest because others came, of whom nothing else is here, and calls the second one
    /// if that is open; that one opens meanwhile, and comes for the turn. The third thread is the second CPU after a call; one that came too early comes later.
    fn left_to_who_opens(leave: fn(&Called)) {
        three(move || {
            let all = Arc::new(Called::default());
            let [first, second] = [Arc::clone(&all), Arc::clone(&all)];
            let closed = thread::spawn(move || {
                let shared = &first.shared;
                shared.left[0].store(1, Ordering::Relaxed);
                if shared.turn.attempt() {
                    see(shared);
                    leave(&first);
                }
            });
            let opens = thread::spawn(move || {
                second.open.store(1, Ordering::Release);
                come(&second.shared, 1, RIGHT);
            });
            let is_answered = all.answer();
            closed.join().unwrap();
            opens.join().unwrap();
            if !is_answered {
                all.answer();
            }
            let seen = *all.shared.seen.lock().unwrap();
            assert_eq!(seen, [1, 1], "left behind");
        });
    }

    fn call_if_open(all: &Called, is_open: bool) {
        if is_open {
            all.bell.store(1, Ordering::Release);
        }
    }

    #[test]
    fn what_a_closed_cpu_leaves_is_seen_by_who_opened_meanwhile() {
        left_to_who_opens(|all| {
            all.shared.turn.leave();
            let is_open = all.open.load(Ordering::Acquire) == 1;
            call_if_open(all, is_open);
        });
    }

    #[test]
    #[should_panic = "left behind"]
    fn refuted_choosing_whom_to_call_before_leaving() {
        left_to_who_opens(|all| {
            let is_open = all.open.load(Ordering::Acquire) == 1;
            all.shared.turn.leave();
            call_if_open(all, is_open);
        });
    }

    /// One leaves work without coming for the turn, and calls; another one has the turn meanwhile, or not.
    fn work_left_to_who_is_called(leave_work: fn(&Turn)) {
        three(move || {
            let all = Arc::new(Called::default());
            let [first, second] = [Arc::clone(&all), Arc::clone(&all)];
            let leaves = thread::spawn(move || {
                first.shared.left[0].store(1, Ordering::Relaxed);
                leave_work(&first.shared.turn);
                first.bell.store(1, Ordering::Release);
            });
            let other = thread::spawn(move || come(&second.shared, 1, RIGHT));
            let is_answered = all.answer();
            leaves.join().unwrap();
            other.join().unwrap();
            if !is_answered {
                all.answer();
            }
            assert_eq!(*all.shared.seen.lock().unwrap(), [1, 1], "left behind");
        });
    }

    #[test]
    fn work_that_is_left_is_seen_by_the_holder_or_by_who_is_called() {
        work_left_to_who_is_called(|turn| {
            turn.leave_work();
        });
    }

    /// The holder takes the call's reason off the word, and does not see what was left.
    #[test]
    #[should_panic = "left behind"]
    fn refuted_leaving_work_relaxed() {
        work_left_to_who_is_called(|turn| {
            turn.0.fetch_or(MORE, Ordering::Relaxed);
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

    /// Each side writes its own word and reads the other's: right under sequential consistency alone, which these are not
    /// ordered by.
    #[test]
    #[should_panic = "left behind"]
    fn refuted_more_in_a_word_of_its_own() {
        two_come(Way {
            attempt: |shared| {
                shared.more.store(1, Ordering::Release);
                shared.turn.0.swap(HELD, Ordering::AcqRel) == 0
            },
            let_go: |shared| {
                shared.turn.0.store(0, Ordering::Release);
                let is_more = shared.more.load(Ordering::Acquire) == 1;
                if is_more {
                    shared.more.store(0, Ordering::Release);
                }
                !(is_more && shared.turn.0.swap(HELD, Ordering::AcqRel) == 0)
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
