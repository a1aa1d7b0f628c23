//! The end of a job.

use vestal_core::engine::uniprocessor::CPU;
use vestal_core::fact::StopReason;
use vestal_core::{Fact, JobId};

/// What the scheduler is told of a job that has ended; whether its body did all its work.
pub(super) const fn end_of(job: JobId, whole: bool) -> Fact {
    if whole {
        Fact::Completed { cpu: CPU, job }
    } else {
        Fact::Stopped {
            cpu: CPU,
            job,
            why: StopReason::Cancelled,
        }
    }
}
