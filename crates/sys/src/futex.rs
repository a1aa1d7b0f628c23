//! Waiting for a word to change, or for an absolute instant.

use super::clock::timespec;
use rustix::io::Errno;
use rustix::thread::futex;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The word does not hold the expected value, or the waiters were woken; look at it again.
    Changed,
    /// The instant has come.
    TimedOut,
}

/// Waits while `word` holds `expected`, until `deadline_nanos` on `CLOCK_MONOTONIC` at the latest.
pub fn wait_until(word: &AtomicU32, expected: u32, deadline_nanos: Option<u64>) -> Woken {
    // FUTEX_WAIT_BITSET takes an absolute time, unlike FUTEX_WAIT.
    let deadline = deadline_nanos.map(timespec);
    match futex::wait_bitset(
        word,
        futex::Flags::PRIVATE,
        expected,
        deadline.as_ref(),
        NonZeroU32::MAX,
    ) {
        Err(Errno::TIMEDOUT) => Woken::TimedOut,
        // Interrupted by a signal counts as a change: the caller looks and waits again.
        Ok(()) | Err(_) => Woken::Changed,
    }
}

/// Counts the calls for one thread, which waits for them. It reads the count, then looks at what there is to
/// do, and then waits for a call beyond that count: one that comes while it looks ends the wait.
#[derive(Debug, Default)]
pub struct Calls(AtomicU32);

impl Calls {
    /// None so far.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// How many there were, modulo 2^32.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    /// Another one: wakes the thread.
    pub fn call(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        wake_all(&self.0);
    }

    /// Waits for one beyond `count`, or until the clock reads `deadline_nanos`. It may return earlier.
    pub fn wait_beyond(&self, count: u32, deadline_nanos: Option<u64>) {
        wait_until(&self.0, count, deadline_nanos);
    }
}

/// Wakes all threads that wait on `word`.
pub fn wake_all(word: &AtomicU32) {
    // Fails only for an address that is not mapped, which a reference excludes.
    let _ = futex::wake(word, futex::Flags::PRIVATE, i32::MAX.unsigned_abs());
}
