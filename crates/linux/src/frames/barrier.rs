//! Barriers: where the walkers of all CPUs wait until the last of them has decided.
//!
//! | barrier | who waits | who comes last |
//! |---|---|---|
//! | [`PthreadMeeting`] | in `pthread_barrier_wait` | goes in too |
//! | [`FutexMeeting`] | in a futex | changes the word, and wakes all |
//! | [`SpinMeeting`] | looks at the word for some time, then in a futex | as above |
//!
//! Who comes last is found elsewhere, under the lock of the domain; these only wait.

use crate::barrier::Barrier;
use crate::stamps::Stamps;
use crate::sys::barrier::PthreadBarrier;
use crate::sys::clock::monotonic_nanos;
use crate::words::{Entrance, Gate, Passed, Ticket};
use std::fmt::Debug;
use std::{hint, io, thread};

/// For how long a walker looks at the word before it asks the kernel to wait: about what it takes to sleep and to be
/// woken.
const SPIN_NANOS: u64 = 50_000;

/// How soon who waits looks again by itself.
const LOOK_AGAIN_NANOS: u64 = 500_000_000;

/// Where all wait for one of them, in rounds, until it is closed.
///
/// A ticket is drawn before its owner says that it has come; `threads` draw one in each round, one of which opens.
pub(crate) trait Meeting: Debug + Send + Sync {
    /// The ticket of a thread that is about to say that it has come.
    fn ticket(&self) -> Ticket;

    /// Waits until the round of the ticket is over, or all are.
    fn wait(&self, ticket: Ticket) -> Passed;

    /// Whoever came last lets all go on.
    fn open(&self);

    /// Nobody waits any more, for ever. It may start threads, and waits for them: whoever calls it does not keep the
    /// processor from them meanwhile.
    fn close(&self);
}

/// The barrier of this kind for so many threads, which read `stamps` while they spin. `shares`: two of them have one processor.
///
/// # Errors
/// What the pthread library says.
pub(crate) fn meeting(
    kind: Barrier,
    threads: u32,
    shares: bool,
    stamps: Stamps,
) -> io::Result<Box<dyn Meeting>> {
    Ok(match kind {
        Barrier::Pthread => Box::new(PthreadMeeting::new(threads)?),
        Barrier::Futex => Box::new(FutexMeeting::default()),
        Barrier::Spin => Box::new(SpinMeeting::for_nanos(spin_nanos(shares), stamps)),
    })
}

/// For how long who waits at a barrier of this kind keeps its processor, in nanoseconds. `shares`: as in [`meeting`].
pub(super) const fn keeps_nanos(kind: Barrier, shares: bool) -> u64 {
    match kind {
        Barrier::Pthread | Barrier::Futex => 0,
        Barrier::Spin => spin_nanos(shares),
    }
}

/// For how long walkers spin: not at all where two have one processor, because who spins on that of the thread that it
/// waits for keeps that from coming.
const fn spin_nanos(shares: bool) -> u64 {
    if shares { 0 } else { SPIN_NANOS }
}

/// Waits in the kernel.
#[derive(Debug, Default)]
pub(crate) struct FutexMeeting(Gate);

impl Meeting for FutexMeeting {
    fn ticket(&self) -> Ticket {
        self.0.ticket()
    }

    fn wait(&self, ticket: Ticket) -> Passed {
        loop {
            if let Some(passed) = self.0.look(ticket) {
                return passed;
            }
            let again = monotonic_nanos().saturating_add(LOOK_AGAIN_NANOS);
            self.0.wait(ticket, Some(again));
        }
    }

    fn open(&self) {
        self.0.open();
    }

    fn close(&self) {
        self.0.close();
    }
}

/// Looks at the word for some time, and waits in the kernel after that.
#[derive(Debug)]
pub(crate) struct SpinMeeting {
    waits: FutexMeeting,
    spin_nanos: u64,
    stamps: Stamps,
}

impl SpinMeeting {
    fn for_nanos(spin_nanos: u64, stamps: Stamps) -> Self {
        Self {
            waits: FutexMeeting::default(),
            spin_nanos,
            stamps,
        }
    }
}

impl Meeting for SpinMeeting {
    fn ticket(&self) -> Ticket {
        self.waits.ticket()
    }

    fn wait(&self, ticket: Ticket) -> Passed {
        let since = self.stamps.now();
        while self.stamps.since(since) < self.spin_nanos {
            if let Some(passed) = self.waits.0.look(ticket) {
                return passed;
            }
            hint::spin_loop();
        }
        self.waits.wait(ticket)
    }

    fn open(&self) {
        self.waits.open();
    }

    fn close(&self) {
        self.waits.close();
    }
}

/// Waits in a barrier of the pthread library, which nobody can be called back from: who goes in is counted.
#[derive(Debug)]
pub(crate) struct PthreadMeeting {
    barrier: PthreadBarrier,
    entrance: Entrance,
    /// Counts rounds, and says when they are over for good.
    rounds: Gate,
    threads: u64,
}

impl PthreadMeeting {
    fn new(threads: u32) -> io::Result<Self> {
        Ok(Self {
            barrier: PthreadBarrier::new(threads)?,
            entrance: Entrance::default(),
            rounds: Gate::default(),
            threads: u64::from(threads),
        })
    }

    /// Goes in, and comes back when the round is whole.
    fn pass(&self) {
        if self.entrance.enter() {
            self.barrier.wait();
        }
    }
}

impl Meeting for PthreadMeeting {
    fn ticket(&self) -> Ticket {
        self.rounds.ticket()
    }

    fn wait(&self, ticket: Ticket) -> Passed {
        self.pass();
        // Who was let in by the last, or by those that make the round whole at the end.
        self.rounds.look(ticket).unwrap_or(Passed::Closed)
    }

    fn open(&self) {
        // Before the others go on.
        self.rounds.open();
        self.pass();
    }

    /// Those that are missing are made up for by threads that do nothing else. Where the system refuses them, those
    /// that wait stay behind, as bodies do that never return.
    fn close(&self) {
        self.rounds.close();
        let missing = self.entrance.close(self.threads);
        thread::scope(|scope| {
            for _ in 0..missing {
                let wait = || self.barrier.wait();
                if thread::Builder::new().spawn_scoped(scope, wait).is_err() {
                    break;
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn nobody_spins_for_a_thread_on_its_own_processor() {
        assert_eq!((spin_nanos(true), spin_nanos(false)), (0, 50_000));
    }

    const KINDS: [Barrier; 3] = [Barrier::Pthread, Barrier::Futex, Barrier::Spin];

    /// Three threads meet: the last of each round writes it down, alone, and all see it.
    #[test]
    fn in_each_round_all_wait_for_the_last() {
        const ROUNDS: u64 = 300;
        for kind in KINDS {
            for shares in [false, true] {
                let meeting = meeting(kind, 3, shares, Stamps::Monotonic).unwrap();
                let (arrived, plan) = (AtomicU64::new(0), AtomicU64::new(0));
                thread::scope(|scope| {
                    for _ in 0..3 {
                        scope.spawn(|| {
                            for round in 1..=ROUNDS {
                                let ticket = meeting.ticket();
                                if arrived.fetch_add(1, Ordering::AcqRel) % 3 == 2 {
                                    plan.store(round, Ordering::Relaxed);
                                    meeting.open();
                                } else {
                                    assert_eq!(meeting.wait(ticket), Passed::Open);
                                }
                                assert_eq!(plan.load(Ordering::Relaxed), round, "{kind:?}");
                            }
                        });
                    }
                });
            }
        }
    }

    #[test]
    fn who_waits_when_it_is_closed_goes_on_and_who_comes_later_does_not_wait() {
        for kind in KINDS {
            for waiting in 0..=2 {
                let meeting = meeting(kind, 3, false, Stamps::Monotonic).unwrap();
                let ready = AtomicU64::new(0);
                thread::scope(|scope| {
                    for _ in 0..waiting {
                        scope.spawn(|| {
                            let ticket = meeting.ticket();
                            ready.fetch_add(1, Ordering::SeqCst);
                            assert_eq!(meeting.wait(ticket), Passed::Closed, "{kind:?}");
                        });
                    }
                    while ready.load(Ordering::SeqCst) < waiting {
                        thread::yield_now();
                    }
                    meeting.close();
                });
                assert_eq!(meeting.wait(meeting.ticket()), Passed::Closed, "{kind:?}");
                // The last one may have been on its way.
                meeting.open();
                meeting.close();
            }
        }
    }
}
