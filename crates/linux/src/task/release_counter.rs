//! How the manager releases the jobs of one worker, and how the worker tells that one is over.

use crate::words::{Bell, Latest, Rising};

/// Counts of releases and ends. Each has one writer.
#[derive(Debug, Default)]
pub(crate) struct ReleaseCounter {
    /// For the worker.
    pub(crate) calls: Bell,
    /// Written by the manager: jobs with smaller numbers are released.
    released: Rising,
    /// Written by the worker: it is done with jobs of smaller numbers.
    done: Latest<u64>,
}

impl ReleaseCounter {
    /// Releases the jobs up to `sequence`, and wakes the worker if that is news.
    pub(crate) fn release(&self, sequence: u64) {
        if self.released.raise(sequence.saturating_add(1)) {
            self.calls.ring();
        }
    }

    /// The worker releases the jobs up to `sequence` itself.
    pub(crate) fn note_release(&self, sequence: u64) {
        self.released.raise(sequence.saturating_add(1));
    }

    pub(crate) fn is_released(&self, sequence: u64) -> bool {
        sequence < self.released.count()
    }

    /// The first job that is not released.
    pub(crate) fn next(&self) -> u64 {
        self.released.count()
    }

    /// The worker is done with job `sequence`.
    pub(crate) fn finish(&self, sequence: u64) {
        self.done.set(sequence.saturating_add(1));
    }

    /// The oldest job that is released and not over.
    pub(crate) fn pending(&self) -> Option<u64> {
        let done = self.done.get();
        (done < self.released.count()).then_some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_pending_from_its_release_to_its_end() {
        let release_counter = ReleaseCounter::default();
        assert_eq!(
            (release_counter.pending(), release_counter.is_released(0)),
            (None, false)
        );
        release_counter.release(1);
        assert!(
            release_counter.is_released(0)
                && release_counter.is_released(1)
                && !release_counter.is_released(2)
        );
        assert_eq!(release_counter.pending(), Some(0));
        release_counter.finish(0);
        assert_eq!(release_counter.pending(), Some(1));
        release_counter.finish(1);
        assert_eq!(release_counter.pending(), None);
    }

    #[test]
    fn only_news_wakes_the_worker() {
        let release_counter = ReleaseCounter::default();
        let calls = release_counter.calls.count();
        release_counter.release(3);
        assert_ne!(release_counter.calls.count(), calls);
        let calls = release_counter.calls.count();
        release_counter.release(3);
        release_counter.release(2);
        assert_eq!(release_counter.calls.count(), calls);
    }
}
