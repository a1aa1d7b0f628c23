//! Limits in two halves: a job may execute ceil(C_i(z_i) / 2) at once, and the rest from its release plus
//! floor(D_i / 2) on. In between one that has used up the first half is suspended.

use super::Progress;
use crate::ids::TaskId;
use crate::plan::{Permit, Until, Wake, WakeReason};
use crate::queue::ReadyHeap;
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;
use crate::time::{Duration, Instant, Service};
use crate::urgency::Urgency;

fn second_half(entry: &TaskConfiguration) -> Duration {
    Duration::from_nanos(entry.task.deadline.as_nanos() / 2)
}

/// The first half, while it is all that is granted.
pub(super) fn grant(entry: &TaskConfiguration, since_release: Duration) -> Option<Service> {
    let first = Service::from_nanos(entry.task.own_wcet().as_nanos().div_ceil(2));
    (since_release < second_half(entry)).then_some(first)
}

/// Who is suspended until its second half.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Halves<S: Store> {
    suspended: ReadyHeap<S>,
}

impl<S: Store> Halves<S> {
    pub(super) fn new(tasks: usize) -> Option<Self> {
        let suspended = ReadyHeap::new(tasks)?;
        Some(Self { suspended })
    }

    /// Suspends a job that has executed its first half, if the second one has not begun.
    pub(super) fn suspend(&mut self, job: &Progress<'_>) -> bool {
        if grant(job.entry, job.since_release).is_none() {
            return false;
        }
        let wait = second_half(job.entry).saturating_sub(job.since_release);
        let at = job.now.saturating_add(wait);
        self.suspended
            .insert(job.task, Urgency::of_deadline_nanos(at.as_nanos()));
        true
    }

    pub(super) fn forget(&mut self, task: TaskId) {
        self.suspended.remove(task);
    }

    pub(super) fn resumes(&self, now: Instant) -> bool {
        let now = Urgency::of_deadline_nanos(now.as_nanos());
        let first = self.suspended.first();
        first.is_some_and(|(at, _)| !now.is_more_urgent_than(at))
    }

    pub(super) fn resume(&mut self, now: Instant) -> Option<TaskId> {
        if !self.resumes(now) {
            return None;
        }
        let (_, task) = self.suspended.first()?;
        self.suspended.remove(task);
        Some(task)
    }

    pub(super) fn permit(&self, task: TaskId) -> Option<Permit> {
        let at = self.suspended.urgency(task)?.as_deadline_nanos();
        let until = Until::At(Instant::from_nanos(at));
        Some(Permit::Suspended { until })
    }

    pub(super) fn next(&self) -> Option<Wake> {
        let (at, _) = self.suspended.first()?;
        Some(Wake {
            at: Instant::from_nanos(at.as_deadline_nanos()),
            why: WakeReason::Replenishment,
        })
    }
}
