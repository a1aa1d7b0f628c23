//! Suspending a job on a CPU that is free.
//!
//! A job that has used up its slice must not go on before the next one begins. The manager suspends its
//! worker in the middle of the body: it sets a word and sends a signal, whose handler waits until
//! the word is cleared. Cancellation points look at the word as well, so a body that blocks signals is
//! suspended there. What remains is a body that does neither: it can only be moved out of the way, and runs
//! on a CPU that no other thread wants.
//!
//! ```text
//!            enter (1)            suspend (2)        resume (3)
//!  outside ------------> inside ---------> suspended ------------> inside
//!     ^                     | leave (4)        | leave (4): the body did not listen
//!     +---------------------+------------------+
//! ```
//! (1), (4) by the worker around the body, [`Suspension::enter`] and [`Suspension::leave`]; (2), (3) by the manager.
//! A worker is suspended inside a body only, where it has no lock of the run and no record half written that
//! any thread waits for. At the end of the run no worker is suspended any more, for ever ([`Suspension::end`]).
//!
//! Each side writes its own word first and then reads the other's, as in [`crate::shared`]: either the
//! manager sees that the worker has left, or the worker sees that it is suspended. A signal that is still on
//! its way is not sent again, so that a body which blocks signals for ever gathers no queue of them.

use crate::report::Suspensions;
use crate::sys::suspension::{self, Gate};
use crate::sys::{Tid, futex};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// In [`Suspension::word`]: the worker may go on.
const FREE: u32 = 0;
/// In [`Suspension::word`]: it may not.
const SUSPENDED: u32 = 1;
/// In [`Suspension::word`]: it may, and is not suspended any more.
const OVER: u32 = 2;

/// Whether one worker is suspended: at first it is not, [`FREE`] being zero, and outside a body.
#[derive(Debug, Default)]
pub(crate) struct Suspension {
    /// [`FREE`], [`SUSPENDED`], [`OVER`]; the worker waits on it.
    word: AtomicU32,
    /// Written by the worker: it is inside a body.
    inside: AtomicBool,
    /// A signal is on its way: set by the manager, cleared by the handler.
    signalled: AtomicBool,
    /// Set when the manager has recorded that the job stopped, cleared by whoever records
    /// that the job goes on.
    recorded: AtomicBool,
    /// Written by the manager: what the job had executed when it was suspended.
    executed: AtomicU64,
    /// How often a job was suspended.
    times: AtomicU64,
    /// How often it went on all the same.
    ineffective: AtomicU64,
}

impl Suspension {
    /// The worker is about to call the body of a job.
    pub(crate) fn enter(&self) {
        suspension::unblock();
        self.inside.store(true, Ordering::SeqCst);
    }

    /// The body has returned; the job has executed so much, of which the tolerance may be what it takes
    /// to stop. Says whether it was recorded that the job stopped, and not yet that it goes on.
    pub(crate) fn leave(&self, executed: u64, tolerance: u64) -> bool {
        self.inside.store(false, Ordering::SeqCst);
        self.resume(executed, tolerance);
        self.tell_goes_on()
    }

    /// What the handler of the signal waits at.
    pub(crate) const fn gate(&self) -> Gate<'_> {
        Gate {
            word: &self.word,
            closed: SUSPENDED,
            signalled: &self.signalled,
        }
    }

    /// The worker looks whether it is suspended, and waits if so.
    pub(crate) fn wait(&self) {
        self.gate().wait();
    }

    pub(crate) fn is_suspended(&self) -> bool {
        self.word.load(Ordering::SeqCst) == SUSPENDED
    }

    /// Suspends worker `tid`, whose job has executed so much; says whether it is inside a body.
    /// A worker that is not has a job that is over, or none.
    pub(crate) fn suspend(&self, tid: Tid, executed: u64) -> bool {
        if !self.is_inside() || !self.turn(FREE, SUSPENDED) {
            return false;
        }
        if !self.is_inside() {
            self.free();
            return false;
        }
        self.executed.store(executed, Ordering::SeqCst);
        self.times.fetch_add(1, Ordering::Relaxed);
        if !self.signalled.swap(true, Ordering::SeqCst) && !suspension::signal(tid) {
            // Its cancellation points will do.
            self.signalled.store(false, Ordering::SeqCst);
        }
        true
    }

    /// Lets the worker go on, whose job has executed so much by now; says whether it was suspended.
    pub(crate) fn resume(&self, executed: u64, tolerance: u64) -> bool {
        let was_suspended = self.free();
        let since = executed.saturating_sub(self.executed.load(Ordering::SeqCst));
        if was_suspended && since > tolerance {
            self.ineffective.fetch_add(1, Ordering::Relaxed);
        }
        was_suspended
    }

    /// What came of suspending.
    pub(crate) fn counted(&self) -> Suspensions {
        Suspensions {
            times: self.times.load(Ordering::Relaxed),
            ineffective: self.ineffective.load(Ordering::Relaxed),
        }
    }

    /// It was recorded that the job stopped.
    pub(crate) fn tell_stopped(&self) {
        self.recorded.store(true, Ordering::SeqCst);
    }

    /// Whether it has to be recorded that the job goes on.
    pub(crate) fn tell_goes_on(&self) -> bool {
        self.recorded.swap(false, Ordering::SeqCst)
    }

    /// No thread is suspended from now on.
    pub(crate) fn end(&self) {
        self.word.store(OVER, Ordering::SeqCst);
        futex::wake_all(&self.word);
    }

    /// Whether the worker is inside a body.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.load(Ordering::SeqCst)
    }

    fn free(&self) -> bool {
        let was_suspended = self.turn(SUSPENDED, FREE);
        if was_suspended {
            futex::wake_all(&self.word);
        }
        was_suspended
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
    use crate::sys::sched::own_tid;
    use crate::sys::suspension::SuspensionSignal;
    use std::sync::atomic::AtomicI32;
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
    use std::thread;

    /// The handler of a signal belongs to the whole process.
    fn signal() -> (SuspensionSignal, MutexGuard<'static, ()>) {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        (SuspensionSignal::take_over().unwrap(), alone)
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

    fn counting(suspension: &Arc<Suspension>) -> (Arc<Counting>, thread::JoinHandle<bool>) {
        let counting = Arc::new(Counting::default());
        let (own, suspension) = (Arc::clone(&counting), Arc::clone(suspension));
        let thread = thread::spawn(move || {
            suspension::behind(&suspension.gate(), || {
                suspension.enter();
                own.tid.store(own_tid(), Ordering::SeqCst);
                let until = monotonic_nanos() + 2 * PATIENCE_NANOS;
                while !own.ended.load(Ordering::SeqCst) && monotonic_nanos() < until {
                    own.rounds.fetch_add(1, Ordering::SeqCst);
                }
                suspension.leave(0, 0)
            })
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
        let suspension = Arc::new(Suspension::default());
        let (body, thread) = counting(&suspension);
        for _ in 0..50 {
            assert!(suspension.suspend(body.tid.load(Ordering::SeqCst), 0));
            assert!(within_patience(|| stands(&body)), "it is suspended");
            let rounds = body.rounds.load(Ordering::SeqCst);
            assert!(suspension.resume(0, 0));
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
        let suspension = Arc::new(Suspension::default());
        let (body, thread) = counting(&suspension);
        assert!(suspension.suspend(body.tid.load(Ordering::SeqCst), 0));
        suspension.tell_stopped();
        body.ended.store(true, Ordering::SeqCst);
        suspension.end();
        assert!(
            thread.join().unwrap(),
            "its going on is still to be recorded"
        );
        assert!(!suspension.suspend(0, 0));
        suspension.wait();
    }

    #[test]
    fn who_is_not_inside_a_body_is_not_held() {
        let suspension = Suspension::default();
        assert!(!suspension.suspend(own_tid(), 0));
        suspension.wait();
        suspension.inside.store(true, Ordering::SeqCst);
        suspension.turn(FREE, SUSPENDED);
        assert!(!suspension.leave(0, 0), "it left although it was suspended");
        assert!(!suspension.is_suspended());
        suspension.wait();
    }

    /// Holding and releasing from another CPU, without any order between the two threads.
    #[test]
    fn no_release_is_lost() {
        let _signal = signal();
        let suspension = Arc::new(Suspension::default());
        let (body, thread) = counting(&suspension);
        let tid = body.tid.load(Ordering::SeqCst);
        for _ in 0..20_000 {
            suspension.suspend(tid, 0);
            suspension.resume(0, 0);
        }
        let rounds = body.rounds.load(Ordering::SeqCst);
        assert!(within_patience(
            || body.rounds.load(Ordering::SeqCst) > rounds
        ));
        body.ended.store(true, Ordering::SeqCst);
        assert!(!thread.join().unwrap());
    }

    #[test]
    fn a_job_that_goes_on_by_more_than_the_tolerance_was_suspended_ineffectively() {
        let suspension = Suspension::default();
        for (executed, ineffective) in [(150, 0), (151, 1), (100, 1), (90, 1)] {
            suspension.inside.store(true, Ordering::SeqCst);
            suspension.turn(FREE, SUSPENDED);
            suspension.executed.store(100, Ordering::SeqCst);
            assert!(suspension.resume(executed, 50));
            assert_eq!(suspension.counted().ineffective, ineffective, "{executed}");
            // Who is not suspended cannot go on in spite of it.
            assert!(!suspension.resume(executed + 1_000, 50));
        }
        assert_eq!(suspension.counted().ineffective, 1);
    }

    #[test]
    fn a_signal_that_is_blocked_is_sent_once() {
        let _signal = signal();
        let suspension = Suspension::default();
        suspension::behind(&suspension.gate(), || {
            crate::sys::signal::block_all().unwrap();
            suspension.inside.store(true, Ordering::SeqCst);
            for _ in 0..3 {
                assert!(suspension.suspend(own_tid(), 0));
                assert!(suspension.signalled.load(Ordering::SeqCst));
                assert!(suspension.resume(0, 0));
            }
            suspension.enter();
            assert!(within_patience(|| !suspension
                .signalled
                .load(Ordering::SeqCst)));
        });
    }
}
