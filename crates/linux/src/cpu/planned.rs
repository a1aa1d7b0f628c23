//! The plan of managed dispatch, as workers see it: see [`crate::driver`].

use crate::words::PlanWord;
use std::sync::atomic::{AtomicU64, Ordering};
use vestal_core::JobId;

/// Which job the plan names, and how often another one ran.
#[derive(Debug, Default)]
pub(crate) struct Planned {
    job: PlanWord,
    inversions: AtomicU64,
}

impl Planned {
    pub(crate) fn plan(&self, job: Option<JobId>) {
        self.job.set(job.map(|job| (job.task.0, job.sequence)));
    }

    /// Whether the plan names `job`.
    pub(crate) fn names(&self, job: JobId) -> bool {
        self.job.names(job.task.0, job.sequence)
    }

    /// A worker finds itself running a job that the plan names or not. If not, it counts an inversion,
    /// unless the last look found the same already; says whether all is in order.
    pub(crate) fn observe(&self, named: bool, in_order: bool) -> bool {
        if !named && in_order {
            self.inversions.fetch_add(1, Ordering::SeqCst);
        }
        named
    }

    pub(crate) fn inversions(&self) -> u64 {
        self.inversions.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::TaskId;

    const fn job(task: u16, sequence: u64) -> JobId {
        JobId {
            task: TaskId(task),
            sequence,
        }
    }

    #[test]
    fn an_inversion_is_counted_once() {
        let planned = Planned::default();
        planned.plan(Some(job(1, 0)));
        assert!(planned.observe(planned.names(job(1, 0)), true));
        assert_eq!(planned.inversions(), 0);
        assert!(!planned.observe(planned.names(job(0, 0)), true));
        assert!(!planned.observe(planned.names(job(0, 0)), false));
        assert!(!planned.observe(planned.names(job(1, 1)), true));
        assert_eq!(planned.inversions(), 2);
        planned.plan(None);
        assert!(!planned.observe(planned.names(job(0, 0)), true));
    }
}
