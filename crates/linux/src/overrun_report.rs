//! How a worker reports a job that completed beyond its limit before the monitor noticed.
//!
//! The worker begins no other job before the manager has taken the report: the scheduler takes the
//! jobs of a task in their order, and would refuse one whose successor was charged already.
//!
//! ```text
//! worker:   writes the job    report := 1    kicks the manager    waits for 0    begins the next job
//! manager:                    sees 1         reads the job        report := 0    wakes the worker
//! ```

use crate::sys::futex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The report of one worker.
#[derive(Debug, Default)]
pub(crate) struct OverrunReport {
    /// Both written by the worker before `waits`: the job, and what it executed.
    sequence: AtomicU64,
    executed: AtomicU64,
    /// 1: the worker has reported a job, and waits; cleared by the manager.
    waits: AtomicU32,
}

impl OverrunReport {
    /// Job `sequence` completed beyond its limit. Called by the worker.
    pub(crate) fn put(&self, sequence: u64, executed: u64) {
        self.sequence.store(sequence, Ordering::SeqCst);
        self.executed.store(executed, Ordering::SeqCst);
        self.waits.store(1, Ordering::SeqCst);
    }

    /// Whether the manager still has to take it.
    pub(crate) fn is_there(&self) -> bool {
        self.waits.load(Ordering::SeqCst) == 1
    }

    /// Waits until the manager has taken it, or until `until_nanos`.
    pub(crate) fn wait_until(&self, until_nanos: u64) {
        futex::wait_until(&self.waits, 1, Some(until_nanos));
    }

    /// Takes it, and lets the worker go on: the job, and what it executed. Called by the manager.
    pub(crate) fn take(&self) -> Option<(u64, u64)> {
        if !self.is_there() {
            return None;
        }
        let sequence = self.sequence.load(Ordering::SeqCst);
        let executed = self.executed.load(Ordering::SeqCst);
        self.waits.store(0, Ordering::SeqCst);
        futex::wake_all(&self.waits);
        Some((sequence, executed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn no_job_begins_before_the_report_on_the_one_before_it_was_taken() {
        const JOBS: u64 = 200;
        let (report, begun) = (OverrunReport::default(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for sequence in 0..JOBS {
                    begun.store(sequence + 1, Ordering::SeqCst);
                    report.put(sequence, 1_000 + sequence);
                    while report.is_there() {
                        report.wait_until(u64::MAX / 2);
                    }
                }
            });
            for sequence in 0..JOBS {
                while !report.is_there() {
                    std::thread::yield_now();
                }
                assert_eq!(begun.load(Ordering::SeqCst), sequence + 1);
                assert_eq!(report.take(), Some((sequence, 1_000 + sequence)));
            }
            assert_eq!(report.take(), None);
        });
    }
}
