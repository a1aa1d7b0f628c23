//! A count that never falls.

use super::sync::{AtomicU64, Ordering};

/// How many things of a sequence one thread has come by. Who sees the count also sees what that thread wrote before.
#[derive(Debug, Default)]
pub(crate) struct Rising(AtomicU64);

impl Rising {
    /// There are `count` now, or more if there were before; says whether that is news.
    pub(crate) fn raise(&self, count: u64) -> bool {
        self.0.fetch_max(count, Ordering::AcqRel) < count
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}
