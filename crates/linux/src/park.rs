//! Holding a job back on a CPU that is free.
//!
//! A job that has used up its slice must not go on before the next one begins. The manager holds its
//! worker back in the middle of the body: it sets a word and sends a signal, whose handler waits until
//! the word is cleared. Cancellation points look at the word as well, so a body that blocks signals is
//! held there. What remains is a body that does neither: it can only be moved out of the way, and runs
//! on a CPU that nobody else wants.
//!
//! ```text
//!            enter (1)            hold (2)           release (3)
//!  outside ------------> inside ------------> held -------------> inside
//!     ^                     | leave (4)        | leave (4): the body did not listen
//!     +---------------------+------------------+
//! ```
//! (1), (4) by the worker around the body, [`Park::enter`] and [`Park::leave`]; (2), (3) by the manager.
//! A worker is held inside a body only, where it has no lock of ours and no record half written that
//! anybody waits for. At the end of the run nobody is held any more, for ever ([`Park::end`]).
//!
//! Each side writes its own word first and then reads the other's, as in [`crate::shared`]: either the
//! manager sees that the worker has left, or the worker sees that it is held. A signal that is still on
//! its way is not sent again, so that a body which blocks signals for ever gathers no queue of them.

use crate::report::Held;
use crate::sys::{Tid, futex, park};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// In [`Park::word`]: the worker may go on.
const FREE: u32 = 0;
/// In [`Park::word`]: it may not.
const HELD: u32 = 1;
/// In [`Park::word`]: it may, and nobody holds it any more.
const OVER: u32 = 2;

/// Whether one worker is held back.
#[derive(Debug)]
pub(crate) struct Park {
    /// [`FREE`], [`HELD`], [`OVER`]; the worker waits on it.
    word: AtomicU32,
    /// Written by the worker: it is inside a body.
    inside: AtomicBool,
    /// A signal is on its way: set by the manager, cleared by the handler.
    signalled: AtomicBool,
    /// Set when the manager has told the recording that the job stopped, cleared by whoever tells it
    /// that the job goes on.
    told: AtomicBool,
    /// Written by the manager: what the job had executed when it was held.
    executed: AtomicU64,
    /// How often a job was held.
    times: AtomicU64,
    /// How often it went on all the same.
    in_vain: AtomicU64,
}

impl Park {
    pub(crate) const fn new() -> Self {
        Self {
            word: AtomicU32::new(FREE),
            inside: AtomicBool::new(false),
            signalled: AtomicBool::new(false),
            told: AtomicBool::new(false),
            executed: AtomicU64::new(0),
            times: AtomicU64::new(0),
            in_vain: AtomicU64::new(0),
        }
    }

    /// The worker is about to call the body of a job.
    pub(crate) fn enter(&self) {
        park::unblock();
        self.inside.store(true, Ordering::SeqCst);
    }

    /// The body has returned; the job has executed so much, of which the tolerance may be what it takes
    /// to stop. Says whether the recording was told that the job stopped, and not yet that it goes on.
    pub(crate) fn leave(&self, executed: u64, tolerance: u64) -> bool {
        self.inside.store(false, Ordering::SeqCst);
        self.release(executed, tolerance);
        self.tell_goes_on()
    }

    /// The worker looks whether it is held, and waits if so. Safe in a signal handler.
    pub(crate) fn wait(&self) {
        while self.is_held() {
            futex::wait_until(&self.word, HELD, None);
        }
    }

    /// What the signal handler does.
    pub(crate) fn answer(&self) {
        self.signalled.store(false, Ordering::SeqCst);
        self.wait();
    }

    pub(crate) fn is_held(&self) -> bool {
        self.word.load(Ordering::SeqCst) == HELD
    }

    /// Holds worker `tid` back, whose job has executed so much; says whether it is inside a body.
    /// A worker that is not has a job that is over, or none.
    pub(crate) fn hold(&self, tid: Tid, executed: u64) -> bool {
        if !self.is_inside() || !self.turn(FREE, HELD) {
            return false;
        }
        if !self.is_inside() {
            self.free();
            return false;
        }
        self.executed.store(executed, Ordering::SeqCst);
        self.times.fetch_add(1, Ordering::Relaxed);
        if !self.signalled.swap(true, Ordering::SeqCst) && !park::signal(tid) {
            // Its cancellation points will do.
            self.signalled.store(false, Ordering::SeqCst);
        }
        true
    }

    /// Lets the worker go on, whose job has executed so much by now; says whether it was held.
    pub(crate) fn release(&self, executed: u64, tolerance: u64) -> bool {
        let was_held = self.free();
        let since = executed.saturating_sub(self.executed.load(Ordering::SeqCst));
        if was_held && since > tolerance {
            self.in_vain.fetch_add(1, Ordering::Relaxed);
        }
        was_held
    }

    /// What came of holding.
    pub(crate) fn held(&self) -> Held {
        Held {
            times: self.times.load(Ordering::Relaxed),
            in_vain: self.in_vain.load(Ordering::Relaxed),
        }
    }

    /// The recording was told that the job stopped.
    pub(crate) fn tell_stopped(&self) {
        self.told.store(true, Ordering::SeqCst);
    }

    /// Whether somebody has to tell the recording that the job goes on.
    pub(crate) fn tell_goes_on(&self) -> bool {
        self.told.swap(false, Ordering::SeqCst)
    }

    /// Nobody is held from now on.
    pub(crate) fn end(&self) {
        self.word.store(OVER, Ordering::SeqCst);
        futex::wake_all(&self.word);
    }

    /// Whether the worker is inside a body.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.load(Ordering::SeqCst)
    }

    fn free(&self) -> bool {
        let was_held = self.turn(HELD, FREE);
        if was_held {
            futex::wake_all(&self.word);
        }
        was_held
    }

    fn turn(&self, from: u32, to: u32) -> bool {
        let turned = self
            .word
            .compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
        turned.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::clock::monotonic_nanos;
    use crate::sys::park::ParkSignal;
    use crate::sys::sched::own_tid;
    use std::sync::atomic::AtomicI32;
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
    use std::thread;

    /// The handler of a signal belongs to the whole process.
    fn signal() -> (ParkSignal, MutexGuard<'static, ()>) {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        (ParkSignal::take_over().unwrap(), alone)
    }

    /// Each test waits for so long at most.
    const PATIENCE_NANOS: u64 = 5_000_000_000;

    fn within_patience(mut condition: impl FnMut() -> bool) -> bool {
        let until = monotonic_nanos() + PATIENCE_NANOS;
        while monotonic_nanos() < until {
            if condition() {
                return true;
            }
            pause(100_000);
        }
        false
    }

    fn pause(nanos: u64) {
        let never = AtomicU32::new(0);
        futex::wait_until(&never, 0, Some(monotonic_nanos() + nanos));
    }

    /// A thread that counts inside a body until it is told to end.
    #[derive(Default)]
    struct Counting {
        tid: AtomicI32,
        rounds: AtomicU64,
        ended: AtomicBool,
    }

    fn counting(park: &Arc<Park>) -> (Arc<Counting>, thread::JoinHandle<bool>) {
        let counting = Arc::new(Counting::default());
        let (own, park) = (Arc::clone(&counting), Arc::clone(park));
        let thread = thread::spawn(move || {
            let _attached = park::attach(&park);
            park.enter();
            own.tid.store(own_tid(), Ordering::SeqCst);
            let until = monotonic_nanos() + 2 * PATIENCE_NANOS;
            while !own.ended.load(Ordering::SeqCst) && monotonic_nanos() < until {
                own.rounds.fetch_add(1, Ordering::SeqCst);
            }
            park.leave(0, 0)
        });
        assert!(within_patience(
            || counting.rounds.load(Ordering::SeqCst) > 0
        ));
        (counting, thread)
    }

    /// The CPU clock of a thread that waits does not move.
    fn stands(counting: &Counting) -> bool {
        let rounds = counting.rounds.load(Ordering::SeqCst);
        pause(5_000_000);
        counting.rounds.load(Ordering::SeqCst) == rounds
    }

    #[test]
    fn a_held_body_stands_and_a_released_one_goes_on() {
        let _signal = signal();
        let park = Arc::new(Park::new());
        let (body, thread) = counting(&park);
        for _ in 0..50 {
            assert!(park.hold(body.tid.load(Ordering::SeqCst), 0));
            assert!(within_patience(|| stands(&body)), "it is held");
            let rounds = body.rounds.load(Ordering::SeqCst);
            assert!(park.release(0, 0));
            assert!(within_patience(
                || body.rounds.load(Ordering::SeqCst) > rounds
            ));
        }
        body.ended.store(true, Ordering::SeqCst);
        assert!(!thread.join().unwrap());
    }

    #[test]
    fn the_end_of_the_run_lets_everybody_go_and_nobody_be_held() {
        let _signal = signal();
        let park = Arc::new(Park::new());
        let (body, thread) = counting(&park);
        assert!(park.hold(body.tid.load(Ordering::SeqCst), 0));
        park.tell_stopped();
        body.ended.store(true, Ordering::SeqCst);
        park.end();
        assert!(thread.join().unwrap(), "its going on is still to be told");
        assert!(!park.hold(0, 0));
        park.wait();
    }

    #[test]
    fn who_is_not_inside_a_body_is_not_held() {
        let park = Park::new();
        assert!(!park.hold(own_tid(), 0));
        park.wait();
        park.inside.store(true, Ordering::SeqCst);
        park.turn(FREE, HELD);
        assert!(!park.leave(0, 0), "it left although it was held");
        assert!(!park.is_held());
        park.wait();
    }

    /// Holding and releasing from another CPU, without any order between the two threads.
    #[test]
    fn no_release_is_lost() {
        let _signal = signal();
        let park = Arc::new(Park::new());
        let (body, thread) = counting(&park);
        let tid = body.tid.load(Ordering::SeqCst);
        for _ in 0..20_000 {
            park.hold(tid, 0);
            park.release(0, 0);
        }
        let rounds = body.rounds.load(Ordering::SeqCst);
        assert!(within_patience(
            || body.rounds.load(Ordering::SeqCst) > rounds
        ));
        body.ended.store(true, Ordering::SeqCst);
        assert!(!thread.join().unwrap());
    }

    #[test]
    fn a_job_that_goes_on_by_more_than_the_tolerance_was_held_in_vain() {
        let park = Park::new();
        for (executed, in_vain) in [(150, 0), (151, 1), (100, 1), (90, 1)] {
            park.inside.store(true, Ordering::SeqCst);
            park.turn(FREE, HELD);
            park.executed.store(100, Ordering::SeqCst);
            assert!(park.release(executed, 50));
            assert_eq!(park.held().in_vain, in_vain, "{executed}");
            // Who is not held cannot go on in spite of it.
            assert!(!park.release(executed + 1_000, 50));
        }
        assert_eq!(park.held().in_vain, 1);
    }

    #[test]
    fn a_signal_that_is_blocked_is_sent_once() {
        let _signal = signal();
        let park = Park::new();
        let _attached = park::attach(&park);
        crate::sys::signal::block_all().unwrap();
        park.inside.store(true, Ordering::SeqCst);
        for _ in 0..3 {
            assert!(park.hold(own_tid(), 0));
            assert!(park.signalled.load(Ordering::SeqCst));
            assert!(park.release(0, 0));
        }
        park.enter();
        assert!(within_patience(|| !park.signalled.load(Ordering::SeqCst)));
    }
}
