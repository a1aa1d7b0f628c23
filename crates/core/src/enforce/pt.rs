//! Limits in slices: period transformation (Sha, Lehoczky and Rajkumar, RTSS 1986; Vestal, RTSS 2007).
//!
//! A job may execute what its slices have granted so far ([`SliceCount`]). What a slice leaves unused
//! stays with the job. A job that has executed all it was granted is suspended until the next slice
//! that grants more; it is pending all the while. The rule is a limit that grows with time, so that a
//! job which keeps within it needs no wake-up at all.
//!
//! The boundaries belong to the job and not to a fixed grid: no slice is lost between the release
//! and the next point of a grid, and no leftover is lost at one. O(log n) for a suspended job.

use super::Progress;
use crate::configuration_error::ConfigurationError;
use crate::ids::TaskId;
use crate::plan::{Permit, Until, Wake, WakeReason};
use crate::queue::ReadyHeap;
use crate::slice_count::SliceCount;
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;
use crate::time::{Duration, Instant, Service};
use crate::urgency::Urgency;

/// Each number of slices was made for its task.
pub(super) fn check(tasks: &[TaskConfiguration]) -> Result<(), ConfigurationError> {
    let fits =
        |entry: &TaskConfiguration| SliceCount::new(entry.slices.get(), &entry.task).is_some();
    match tasks.iter().position(|entry| !fits(entry)) {
        Some(task) => Err(ConfigurationError::Parameter {
            task,
            what: "number of slices",
            fault: "is too large",
        }),
        None => Ok(()),
    }
}

/// What the slices that have begun grant, unless that is the whole limit.
pub(super) fn grant(entry: &TaskConfiguration, since_release: Duration) -> Option<Service> {
    let granted = entry.slices.granted_ceil(&entry.task, since_release);
    (granted < entry.task.own_wcet()).then_some(granted)
}

/// Who is suspended until the next slice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slices<S: Store> {
    /// Tasks whose job has executed all that it was granted so far, by the instant at which it is
    /// granted more.
    suspended: ReadyHeap<S>,
}

impl<S: Store> Slices<S> {
    pub(super) fn new(tasks: usize) -> Option<Self> {
        let suspended = ReadyHeap::new(tasks)?;
        Some(Self { suspended })
    }

    /// Suspends a job that has executed what it was granted so far, until it is granted more than the
    /// world's granularity. `false` if it never is: it has used up its whole limit.
    pub(super) fn suspend(&mut self, job: &Progress<'_>, granularity: Service) -> bool {
        let least = granularity.max(Service::from_nanos(1));
        let boundary = job.executed.checked_add(least).and_then(|amount| {
            let count = job.entry.slices;
            count.granting_boundary_floor(&job.entry.task, amount)
        });
        let Some(boundary) = boundary else {
            return false;
        };
        if boundary > job.since_release {
            let wait = boundary.saturating_sub(job.since_release);
            let at = job.now.saturating_add(wait);
            let urgency = Urgency::of_deadline_nanos(at.as_nanos());
            self.suspended.insert(job.task, urgency);
        }
        true
    }

    /// The job of `task` has ended.
    #[inline]
    pub(super) fn forget(&mut self, task: TaskId) {
        self.suspended.remove(task);
    }

    /// Until when the job of `task` is suspended.
    pub(super) fn permit(&self, task: TaskId) -> Option<Permit> {
        let boundary = self.suspended.urgency(task)?;
        let until = Until::At(Instant::from_nanos(boundary.as_deadline_nanos()));
        Some(Permit::Suspended { until })
    }

    /// Whether a job was suspended until `now` or an earlier instant.
    #[inline]
    pub(super) fn resumes(&self, now: Instant) -> bool {
        let now = Urgency::of_deadline_nanos(now.as_nanos());
        let first = self.suspended.first();
        first.is_some_and(|(boundary, _)| !now.is_more_urgent_than(boundary))
    }

    /// A task whose job was suspended until `now` or an earlier instant, and is not any more.
    pub(super) fn resume(&mut self, now: Instant) -> Option<TaskId> {
        if !self.resumes(now) {
            return None;
        }
        let (_, task) = self.suspended.first()?;
        self.suspended.remove(task);
        Some(task)
    }

    /// The earliest boundary that a job is suspended until.
    #[inline]
    pub(super) fn next(&self) -> Option<Wake> {
        let (boundary, _) = self.suspended.first()?;
        Some(Wake {
            at: Instant::from_nanos(boundary.as_deadline_nanos()),
            why: WakeReason::Replenishment,
        })
    }
}
