//! What the cells are made of: the real thing, or loom's, which tries every interleaving.

#[cfg(all(test, loom))]
pub(super) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
#[cfg(not(all(test, loom)))]
pub(super) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Waits while `word` holds `expected`, until `deadline_nanos` on `CLOCK_MONOTONIC` at the latest. May return earlier.
#[cfg(not(all(test, loom)))]
pub(super) fn wait_while(word: &AtomicU32, expected: u32, deadline_nanos: Option<u64>) {
    vestal_sys::futex::wait_until(word, expected, deadline_nanos);
}

/// Lets the others go on: loom knows no futex.
#[cfg(all(test, loom))]
pub(super) fn wait_while(word: &AtomicU32, expected: u32, _: Option<u64>) {
    // As in the kernel, the comparison reads the newest value.
    if word.fetch_or(0, Ordering::Relaxed) == expected {
        loom::thread::yield_now();
    }
}

/// Wakes all threads that wait on `word`.
#[cfg(not(all(test, loom)))]
pub(super) fn wake_all(word: &AtomicU32) {
    vestal_sys::futex::wake_all(word);
}

#[cfg(all(test, loom))]
pub(super) const fn wake_all(_: &AtomicU32) {}
