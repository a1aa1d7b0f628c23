//! Waiting for a word to change, or for an absolute instant.

use super::clock::timespec;
use rustix::io::Errno;
use rustix::thread::futex;
use std::num::NonZeroU32;
use std::sync::atomic::AtomicU32;

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The word does not hold the expected value, or the waiters were woken; look at it again.
    Changed,
    /// The instant has come.
    TimedOut,
}

/// Waits while `word` holds `expected`, until `deadline_nanos` on `CLOCK_MONOTONIC` at the latest.
pub(crate) fn wait_until(word: &AtomicU32, expected: u32, deadline_nanos: Option<u64>) -> Woken {
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

/// Wakes all threads that wait on `word`.
pub(crate) fn wake_all(word: &AtomicU32) {
    // Fails only for an address that is not mapped, which a reference excludes.
    let _ = futex::wake(word, futex::Flags::PRIVATE, i32::MAX.unsigned_abs());
}
