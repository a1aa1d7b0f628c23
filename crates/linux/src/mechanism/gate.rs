//! How the manager releases the jobs of one worker, and how the worker tells that one is over.

use crate::sys::futex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Counts of releases and ends. Each has one writer.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Counts the calls for the worker, which waits on it.
    calls: AtomicU32,
    /// Written by the manager: jobs with smaller numbers are released.
    released: AtomicU64,
    /// Written by the worker: it is done with jobs of smaller numbers.
    done: AtomicU64,
}

impl Gate {
    /// Releases the jobs up to `sequence`, and wakes the worker if that is news.
    pub(crate) fn release(&self, sequence: u64) {
        let released = sequence.saturating_add(1);
        if self.released.fetch_max(released, Ordering::SeqCst) < released {
            self.wake();
        }
    }

    /// Lets the worker look.
    pub(crate) fn wake(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        futex::wake_all(&self.calls);
    }

    /// Read before [`Self::is_released`], for [`Self::wait_beyond`].
    pub(crate) fn calls(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }

    pub(crate) fn is_released(&self, sequence: u64) -> bool {
        sequence < self.released.load(Ordering::SeqCst)
    }

    pub(crate) fn wait_beyond(&self, calls: u32) {
        futex::wait_until(&self.calls, calls, None);
    }

    /// The first job that is not released.
    pub(crate) fn next(&self) -> u64 {
        self.released.load(Ordering::SeqCst)
    }

    /// The worker is done with job `sequence`.
    pub(crate) fn finish(&self, sequence: u64) {
        self.done
            .store(sequence.saturating_add(1), Ordering::SeqCst);
    }

    /// The oldest job that is released and not over.
    pub(crate) fn pending(&self) -> Option<u64> {
        let done = self.done.load(Ordering::SeqCst);
        (done < self.released.load(Ordering::SeqCst)).then_some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_pending_from_its_release_to_its_end() {
        let gate = Gate::default();
        assert_eq!((gate.pending(), gate.is_released(0)), (None, false));
        gate.release(1);
        assert!(gate.is_released(0) && gate.is_released(1) && !gate.is_released(2));
        assert_eq!(gate.pending(), Some(0));
        gate.finish(0);
        assert_eq!(gate.pending(), Some(1));
        gate.finish(1);
        assert_eq!(gate.pending(), None);
    }

    #[test]
    fn only_news_wakes_the_worker() {
        let gate = Gate::default();
        let calls = gate.calls();
        gate.release(3);
        assert_ne!(gate.calls(), calls);
        let calls = gate.calls();
        gate.release(3);
        gate.release(2);
        assert_eq!(gate.calls(), calls);
    }
}
