//! Whether a worker is held in the middle of a body.
//!
//! ```text
//!             enter               hold               release
//!   outside --------> inside --------------> held --------------> inside
//!      ^                |  leave               |  leave: the body did not listen
//!      +----------------+----------------------+
//!
//!             hold_anywhere          enter                release
//!   outside --------------> ahead -----------> at the door ----------> inside
//!      ^                      |
//!      +----------------------+ release
//! ```
//! The worker enters and leaves, the manager holds and releases, all in one word: who is inside can be held, and who is
//! outside beforehand, so that nothing of a body is executed: it waits at the door, which is no place inside. After the end nobody
//! is held any more, for ever.

use super::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, wait_while, wake_all};

const OUTSIDE: u32 = 0;
const INSIDE: u32 = 1;
/// The worker waits while this is in the word.
const HELD: u32 = 2;
/// Final, as the next one.
const OVER: u32 = 3;
/// The worker was held when the end came, and has not left the body since.
const OVER_HELD: u32 = 4;
/// The worker is outside, and held as soon as it enters.
const AHEAD: u32 = 5;
/// It waits to enter while this is in the word.
const DOOR: u32 = 6;

/// How a worker was found when it left a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Free,
    /// It was held, and left all the same; it had executed so much when it was held.
    Held(u64),
    /// It was held until the end let it go.
    HeldUntilTheEnd,
}

/// Where a worker was when it was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Outside,
    Inside,
}

/// The hold of one worker. At first it is outside a body.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    word: AtomicU32,
    /// Written by the manager before it holds.
    executed: AtomicU64,
    /// A signal is on its way: set by the manager, cleared by the handler before it looks at the word.
    signalled: AtomicBool,
}

impl Hold {
    /// The worker is about to call a body; if it was held beforehand, it waits here until it is released.
    pub(crate) fn enter(&self) {
        loop {
            match self.word.load(Ordering::Acquire) {
                OUTSIDE if self.turn(OUTSIDE, INSIDE) => return,
                AHEAD if self.turn(AHEAD, DOOR) => {}
                DOOR => wait_while(&self.word, DOOR, None),
                // It was held or released since it was looked at.
                OUTSIDE | AHEAD => {}
                // Released, or after the end.
                _ => return,
            }
        }
    }

    /// The body has returned.
    pub(crate) fn leave(&self) -> Left {
        loop {
            let present = self.word.load(Ordering::Acquire);
            let (next, left) = match present {
                INSIDE => (OUTSIDE, Left::Free),
                HELD => (OUTSIDE, Left::Held(self.executed.load(Ordering::Relaxed))),
                OVER_HELD => (OVER, Left::HeldUntilTheEnd),
                _ => return Left::Free,
            };
            // Else it was held, released or ended since it was looked at.
            if self.turn(present, next) {
                return left;
            }
        }
    }

    /// Holds the worker, whose job has executed so much; says whether it is inside a body, and was not held. By the
    /// manager.
    pub(crate) fn hold(&self, executed: u64) -> bool {
        if self.word.load(Ordering::Acquire) != INSIDE {
            return false;
        }
        self.executed.store(executed, Ordering::Relaxed);
        self.turn(INSIDE, HELD)
    }

    /// Holds the worker wherever it is; says where it was, or nothing if it was held before, or after the end. One that was inside
    /// may need a signal. By the manager.
    pub(crate) fn hold_anywhere(&self, executed: u64) -> Option<Place> {
        loop {
            let (from, to, place) = match self.word.load(Ordering::Acquire) {
                OUTSIDE => (OUTSIDE, AHEAD, Place::Outside),
                INSIDE => (INSIDE, HELD, Place::Inside),
                _ => return None,
            };
            self.executed.store(executed, Ordering::Relaxed);
            // Else it has entered or left since it was looked at.
            if self.turn(from, to) {
                return Some(place);
            }
        }
    }

    /// Whether the worker needs a signal, now that it is held: there is none on its way already. Whoever clears
    /// [`Self::gate`]'s flag after this sees that it is held.
    pub(crate) fn needs_signal(&self) -> bool {
        !self.signalled.swap(true, Ordering::AcqRel)
    }

    /// The signal could not be sent.
    pub(crate) fn forget_signal(&self) {
        self.signalled.swap(false, Ordering::AcqRel);
    }

    /// Lets the worker go on; gives what it had executed when it was held, if it was. By the manager.
    pub(crate) fn release(&self) -> Option<u64> {
        let was_ahead = self.turn(AHEAD, OUTSIDE);
        // It may have come to the door meanwhile.
        let waits = !was_ahead && (self.turn(DOOR, INSIDE) || self.turn(HELD, INSIDE));
        if waits {
            wake_all(&self.word);
        }
        let was_held = was_ahead || waits;
        was_held.then(|| self.executed.load(Ordering::Relaxed))
    }

    /// Whether it is held inside a body.
    pub(crate) fn is_held(&self) -> bool {
        self.word.load(Ordering::Acquire) == HELD
    }

    /// Whether it is held, wherever.
    pub(crate) fn is_held_anywhere(&self) -> bool {
        matches!(self.word.load(Ordering::Acquire), HELD | AHEAD | DOOR)
    }

    /// Whether the worker is inside a body; not to be asked after the end.
    pub(crate) fn is_inside(&self) -> bool {
        matches!(self.word.load(Ordering::Acquire), INSIDE | HELD)
    }

    /// Waits while held inside a body. By the worker.
    pub(crate) fn wait(&self) {
        while self.is_held() {
            wait_while(&self.word, HELD, None);
        }
    }

    /// Nobody is held from now on.
    pub(crate) fn end(&self) {
        loop {
            let present = self.word.load(Ordering::Acquire);
            let next = match present {
                HELD => OVER_HELD,
                OVER | OVER_HELD => return,
                _ => OVER,
            };
            if self.turn(present, next) {
                break;
            }
        }
        wake_all(&self.word);
    }

    /// What the handler of the signal waits at.
    #[cfg(not(all(test, loom)))]
    pub(crate) const fn gate(&self) -> vestal_sys::suspension::Gate<'_> {
        vestal_sys::suspension::Gate {
            word: &self.word,
            closed: HELD,
            signalled: &self.signalled,
        }
    }

    fn turn(&self, from: u32, to: u32) -> bool {
        let turned = self
            .word
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        turned.is_ok()
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// Inside a body the worker waits while it is held, then it leaves: outside it is not held.
    fn worker(hold: &Hold) {
        hold.enter();
        hold.wait();
        hold.leave();
        assert!(!hold.is_held(), "held outside a body");
    }

    #[test]
    fn nobody_is_held_outside_a_body_or_for_ever() {
        loom::model(|| {
            let hold = Arc::new(Hold::default());
            let other = Arc::clone(&hold);
            let manager = thread::spawn(move || {
                for executed in 1..=2 {
                    if other.hold(executed) {
                        // Else it has left.
                        assert!(other.release().is_none_or(|before| before == executed));
                    }
                }
            });
            worker(&hold);
            manager.join().unwrap();
        });
    }

    /// The manager holds and never releases, and somebody ends the run. Three threads that wait for each other: all
    /// interleavings with at most three preemptions.
    fn end_against_hold(hold_worker: fn(&Hold)) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let hold = Arc::new(Hold::default());
            let [manager, watchdog] = [Arc::clone(&hold), Arc::clone(&hold)];
            let manager = thread::spawn(move || hold_worker(&manager));
            let watchdog = thread::spawn(move || watchdog.end());
            worker(&hold);
            manager.join().unwrap();
            watchdog.join().unwrap();
        });
    }

    #[test]
    fn the_end_lets_everybody_go_and_nobody_be_held() {
        end_against_hold(|hold| {
            hold.hold(1);
        });
    }

    #[test]
    #[should_panic = "held outside a body"]
    fn refuted_a_look_and_a_store_hold_after_the_end() {
        end_against_hold(|hold| {
            if hold.is_inside() {
                hold.word.store(HELD, Ordering::SeqCst);
            }
        });
    }

    /// The worker is held beforehand, or inside, and released; what it does in a body comes after that.
    fn held_before_it_enters(enter: fn(&Hold)) {
        loom::model(move || {
            let shared = Arc::new((Hold::default(), AtomicU32::new(0)));
            let other = Arc::clone(&shared);
            let manager = thread::spawn(move || {
                let (hold, executed) = &*other;
                let place = hold.hold_anywhere(0).unwrap();
                // Inside a body its handler or the body itself stops it.
                if place == Place::Outside {
                    let present = executed.fetch_or(0, Ordering::Relaxed);
                    assert_eq!(present, 0, "executes although it is held");
                }
                hold.release();
            });
            let (hold, executed) = &*shared;
            enter(hold);
            executed.swap(1, Ordering::Relaxed);
            executed.swap(0, Ordering::Relaxed);
            hold.wait();
            hold.leave();
            manager.join().unwrap();
        });
    }

    #[test]
    fn a_worker_that_is_held_beforehand_executes_nothing() {
        held_before_it_enters(Hold::enter);
    }

    #[test]
    #[should_panic = "executes although it is held"]
    fn refuted_entering_by_a_store() {
        held_before_it_enters(|hold| hold.word.store(INSIDE, Ordering::SeqCst));
    }

    #[test]
    fn the_end_lets_go_who_was_held_beforehand() {
        end_against_hold(|hold| {
            hold.hold_anywhere(1);
        });
    }

    /// What was there before: the worker wrote that it is outside, and then looked whether it is held; the manager
    /// held it, and then looked whether it is inside. Under sequential consistency one sees the other.
    #[test]
    #[should_panic = "held outside a body"]
    fn refuted_two_words_each_written_before_the_other_is_read() {
        loom::model(|| {
            let words = Arc::new((AtomicU32::new(OUTSIDE), AtomicBool::new(true)));
            let other = Arc::clone(&words);
            let manager = thread::spawn(move || {
                let (word, inside) = &*other;
                word.store(HELD, Ordering::SeqCst);
                if !inside.load(Ordering::SeqCst) {
                    word.store(OUTSIDE, Ordering::SeqCst);
                }
            });
            let (word, inside) = &*words;
            inside.store(false, Ordering::SeqCst);
            if word.load(Ordering::SeqCst) == HELD {
                word.store(OUTSIDE, Ordering::SeqCst);
            }
            manager.join().unwrap();
            assert_ne!(word.load(Ordering::SeqCst), HELD, "held outside a body");
        });
    }

    /// A signal that was sent before is handled while the worker is held anew: either its handler sees
    /// that, or another one is sent.
    fn signal_on_its_way(clear: fn(&AtomicBool)) {
        loom::model(move || {
            let hold = Arc::new(Hold::default());
            hold.enter();
            assert!(hold.needs_signal());
            let other = Arc::clone(&hold);
            let manager = thread::spawn(move || {
                assert!(other.hold(0));
                other.needs_signal()
            });
            clear(&hold.signalled);
            let waits = hold.is_held();
            let sent = manager.join().unwrap();
            assert!(waits || sent, "it runs although it is held");
        });
    }

    #[test]
    fn a_handler_sees_who_is_held_or_another_signal_is_sent() {
        signal_on_its_way(|signalled| {
            signalled.swap(false, Ordering::AcqRel);
        });
    }

    /// What the handler did before.
    #[test]
    #[should_panic = "it runs although it is held"]
    fn refuted_a_handler_that_clears_the_flag_with_a_store() {
        signal_on_its_way(|signalled| signalled.store(false, Ordering::SeqCst));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn only_who_is_inside_is_held_and_leaving_says_what_was_found() {
        let hold = Hold::default();
        assert!(!hold.hold(1) && hold.release().is_none());
        assert_eq!(hold.leave(), Left::Free);
        hold.enter();
        assert!(hold.is_inside() && hold.hold(2) && !hold.hold(3) && hold.is_held());
        assert_eq!((hold.release(), hold.release()), (Some(2), None));
        assert!(hold.is_inside() && hold.hold(4));
        assert_eq!(hold.leave(), Left::Held(4));
        assert!(!hold.is_inside() && !hold.is_held());
        hold.enter();
        assert!(hold.hold(5));
        hold.end();
        hold.wait();
        assert!(!hold.is_held() && !hold.hold(6) && hold.release().is_none());
        hold.end();
        assert_eq!(
            (hold.leave(), hold.leave()),
            (Left::HeldUntilTheEnd, Left::Free)
        );
        hold.enter();
        assert!(!hold.hold(7));
    }

    #[test]
    fn who_is_outside_is_held_beforehand() {
        let hold = Hold::default();
        assert_eq!(hold.hold_anywhere(3), Some(Place::Outside));
        assert!(!hold.is_inside() && !hold.is_held() && hold.hold_anywhere(4).is_none());
        assert_eq!(hold.release(), Some(3));
        hold.enter();
        assert_eq!(hold.hold_anywhere(5), Some(Place::Inside));
        assert_eq!((hold.release(), hold.leave()), (Some(5), Left::Free));
        assert_eq!(hold.hold_anywhere(6), Some(Place::Outside));
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                hold.enter();
                hold.leave()
            });
            while hold.word.load(Ordering::Acquire) != DOOR {
                std::thread::yield_now();
            }
            assert!(!hold.is_inside() && !hold.is_held() && hold.hold_anywhere(9).is_none());
            assert!(!hold.hold(9) && !worker.is_finished());
            assert_eq!(hold.release(), Some(6));
            assert_eq!(worker.join().unwrap(), Left::Free);
        });
        assert_eq!(hold.hold_anywhere(7), Some(Place::Outside));
        hold.end();
        hold.enter();
        assert!(hold.release().is_none() && hold.hold_anywhere(8).is_none());
        assert_eq!(hold.leave(), Left::Free);
    }

    #[test]
    fn one_signal_at_a_time_is_on_its_way() {
        let hold = Hold::default();
        assert!(hold.needs_signal() && !hold.needs_signal());
        hold.forget_signal();
        assert!(hold.needs_signal());
    }
}
