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
//! A worker is suspended inside a body, where it has no lock of the run and no record half written that
//! any thread waits for, or at the door of one, where the same is so. At the end of the run no worker is suspended any more, for ever ([`Suspension::end`]).
//!
//! The word is [`crate::words::Hold`]. A signal that is still on its way is not sent again, so that a body which blocks
//! signals for ever gathers no queue of them.

use crate::account::Suspensions;
use crate::sys::Tid;
use crate::sys::suspension;
use crate::words::{Hold, Left, Place};

/// Whether one worker is suspended: at first it is not, and outside a body.
#[derive(Debug, Default)]
pub(crate) struct Suspension(Hold);

impl Suspension {
    /// Calls `body` with the calling worker behind its hold: the handler of the signal waits there.
    pub(crate) fn behind<T>(&self, body: impl FnOnce() -> T) -> T {
        #[cfg(not(all(test, loom)))]
        return suspension::behind(&self.0.gate(), body);
        // No signal comes in a model.
        #[cfg(all(test, loom))]
        return body();
    }

    /// The worker is about to call the body of a job.
    pub(crate) fn enter(&self) {
        suspension::unblock();
        self.0.enter();
    }

    /// The body has returned; the job has executed so much, of which the tolerance may be what it takes
    /// to stop. Says whether the job was suspended, so that nobody has said yet that it goes on; counts
    /// it if it went on all the same.
    pub(crate) fn leave(&self, executed: u64, tolerance: u64, counts: &mut Suspensions) -> bool {
        match self.0.leave() {
            Left::Free => false,
            Left::Held(before) => {
                count_ineffective(before, executed, tolerance, counts);
                true
            }
            Left::HeldUntilTheEnd => true,
        }
    }

    /// The worker looks whether it is suspended, and waits if so.
    pub(crate) fn wait(&self) {
        self.0.wait();
    }

    pub(crate) fn is_suspended(&self) -> bool {
        self.0.is_held()
    }

    /// Suspends worker `tid`, whose job has executed so much, and counts it; says whether it is inside a body.
    /// A worker that is not has a job that is over, or none.
    pub(crate) fn suspend(&self, tid: Tid, executed: u64, counts: &mut Suspensions) -> bool {
        if !self.0.hold(executed) {
            return false;
        }
        counts.times += 1;
        self.call_inside(tid);
        true
    }

    /// Suspends worker `tid` wherever it is: inside its body, or before it enters the next one. Its job has executed so much. Counts
    /// it, and says whether it was not suspended before.
    pub(crate) fn suspend_anywhere(
        &self,
        tid: Tid,
        executed: u64,
        counts: &mut Suspensions,
    ) -> bool {
        let Some(place) = self.0.hold_anywhere(executed) else {
            return false;
        };
        counts.times += 1;
        if place == Place::Inside {
            self.call_inside(tid);
        }
        true
    }

    /// Has the worker, which is held inside a body, stand there.
    fn call_inside(&self, tid: Tid) {
        if self.0.needs_signal() && !suspension::signal(tid) {
            // Its cancellation points will do.
            self.0.forget_signal();
        }
    }

    /// Lets the worker go on, whose job has executed so much by now; says whether it was suspended, and counts it
    /// if it went on all the same.
    pub(crate) fn resume(&self, executed: u64, tolerance: u64, counts: &mut Suspensions) -> bool {
        let before = self.0.release();
        if let Some(before) = before {
            count_ineffective(before, executed, tolerance, counts);
        }
        before.is_some()
    }

    /// Whether the worker is held, inside or outside a body.
    pub(crate) fn is_held_anywhere(&self) -> bool {
        self.0.is_held_anywhere()
    }

    /// No thread is suspended from now on.
    pub(crate) fn end(&self) {
        self.0.end();
    }

    /// Whether the worker is inside a body.
    pub(crate) fn is_inside(&self) -> bool {
        self.0.is_inside()
    }
}

fn count_ineffective(before: u64, executed: u64, tolerance: u64, counts: &mut Suspensions) {
    if executed.saturating_sub(before) > tolerance {
        counts.ineffective += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::clock::monotonic_nanos;
    use crate::sys::futex;
    use crate::sys::sched::own_tid;
    use crate::sys::suspension::SuspensionSignal;
    use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
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
            suspension.behind(|| {
                suspension.enter();
                own.tid.store(own_tid(), Ordering::SeqCst);
                let until = monotonic_nanos() + 2 * PATIENCE_NANOS;
                while !own.ended.load(Ordering::SeqCst) && monotonic_nanos() < until {
                    own.rounds.fetch_add(1, Ordering::SeqCst);
                }
                suspension.leave(0, 0, &mut Suspensions::default())
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
        let (suspension, mut counts) = (Arc::new(Suspension::default()), Suspensions::default());
        let (body, thread) = counting(&suspension);
        let tid = body.tid.load(Ordering::SeqCst);
        for _ in 0..50 {
            assert!(suspension.suspend(tid, 0, &mut counts));
            assert!(within_patience(|| stands(&body)), "it is suspended");
            let rounds = body.rounds.load(Ordering::SeqCst);
            assert!(suspension.resume(0, 0, &mut counts));
            assert!(within_patience(
                || body.rounds.load(Ordering::SeqCst) > rounds
            ));
        }
        body.ended.store(true, Ordering::SeqCst);
        assert!(!thread.join().unwrap());
        assert_eq!((counts.times, counts.ineffective), (50, 0));
    }

    #[test]
    fn the_end_of_the_run_lets_everybody_go_and_nobody_be_held() {
        let _signal = signal();
        let (suspension, mut counts) = (Arc::new(Suspension::default()), Suspensions::default());
        let (body, thread) = counting(&suspension);
        assert!(suspension.suspend(body.tid.load(Ordering::SeqCst), 0, &mut counts));
        body.ended.store(true, Ordering::SeqCst);
        suspension.end();
        assert!(
            thread.join().unwrap(),
            "its going on is still to be recorded"
        );
        assert!(!suspension.suspend(0, 0, &mut counts));
        suspension.wait();
    }

    /// Holding and releasing from another CPU, without any order between the two threads.
    #[test]
    fn no_release_is_lost() {
        let _signal = signal();
        let (suspension, mut counts) = (Arc::new(Suspension::default()), Suspensions::default());
        let (body, thread) = counting(&suspension);
        let tid = body.tid.load(Ordering::SeqCst);
        for _ in 0..20_000 {
            suspension.suspend(tid, 0, &mut counts);
            suspension.resume(0, 0, &mut counts);
        }
        assert_eq!(counts.times, 20_000);
        let rounds = body.rounds.load(Ordering::SeqCst);
        assert!(within_patience(
            || body.rounds.load(Ordering::SeqCst) > rounds
        ));
        body.ended.store(true, Ordering::SeqCst);
        assert!(!thread.join().unwrap());
    }

    #[test]
    fn a_job_that_goes_on_by_more_than_the_tolerance_was_suspended_ineffectively() {
        let _signal = signal();
        let (suspension, mut counts) = (Suspension::default(), Suspensions::default());
        suspension.behind(|| {
            crate::sys::signal::block_all().unwrap();
            for (executed, ineffective) in [(150, 0), (151, 1), (100, 1), (90, 1)] {
                suspension.0.enter();
                assert!(suspension.suspend(own_tid(), 100, &mut counts));
                assert!(suspension.resume(executed, 50, &mut counts));
                assert_eq!(counts.ineffective, ineffective, "{executed}");
                // Who is not suspended cannot go on in spite of it.
                assert!(!suspension.resume(executed + 1_000, 50, &mut counts));
                assert!(!suspension.leave(executed + 1_000, 50, &mut counts));
            }
            // A body that does not listen returns.
            suspension.0.enter();
            assert!(suspension.suspend(own_tid(), 100, &mut counts));
            assert!(suspension.leave(151, 50, &mut counts));
            assert_eq!((counts.times, counts.ineffective), (5, 2));
            suspension.enter();
        });
    }

    #[test]
    fn a_signal_that_is_blocked_is_sent_once() {
        let _signal = signal();
        let (suspension, mut counts) = (Suspension::default(), Suspensions::default());
        suspension.behind(|| {
            crate::sys::signal::block_all().unwrap();
            suspension.0.enter();
            for _ in 0..3 {
                assert!(suspension.suspend(own_tid(), 0, &mut counts));
                assert!(!suspension.0.needs_signal(), "it is on its way");
                assert!(suspension.resume(0, 0, &mut counts));
            }
            // Lets it through.
            suspension.enter();
            assert!(within_patience(|| suspension.0.needs_signal()));
            suspension.0.forget_signal();
        });
    }
}
