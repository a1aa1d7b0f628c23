//! A sign of life.

use super::sync::{AtomicU64, Ordering};

/// Counts how often one thread went round. A count and no clock: whoever watches it brings its own.
#[derive(Debug, Default)]
pub(crate) struct Beat(AtomicU64);

impl Beat {
    /// Goes round. By one thread.
    pub(crate) fn go_on(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// How often it did; 0: it has not begun.
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}
