//! Job-priority lists behind one face: reused or computed anew.

use crate::ids::TaskId;
use crate::order::{JobLists, JobPriority, RecomputedLists};
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;

/// Where the priorities of arriving jobs come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Lists<S: Store> {
    Reused(JobLists<S>),
    Recomputed(RecomputedLists<S>),
}

impl<S: Store> Lists<S> {
    pub(super) fn reused(lists: &[&[u32]]) -> Option<Self> {
        JobLists::new(lists).map(Self::Reused)
    }

    pub(super) fn recomputed(lists: &[&[u32]]) -> Option<Self> {
        RecomputedLists::new(lists).map(Self::Recomputed)
    }

    pub(super) fn begin_arrivals(
        &mut self,
        pending: Option<JobPriority>,
        tasks: &[TaskConfiguration],
    ) {
        match self {
            Self::Reused(lists) => lists.begin_arrivals(pending),
            Self::Recomputed(lists) => lists.begin_arrivals(pending, tasks),
        }
    }

    pub(super) fn take(&mut self, task: TaskId) -> JobPriority {
        match self {
            Self::Reused(lists) => lists.take(task),
            Self::Recomputed(lists) => lists.take(task),
        }
    }

    pub(super) fn exceeded(&self) -> u64 {
        match self {
            Self::Reused(lists) => lists.exceeded(),
            Self::Recomputed(lists) => lists.exceeded(),
        }
    }

    pub(super) fn stuck(&self) -> u64 {
        match self {
            Self::Reused(_) => 0,
            Self::Recomputed(lists) => lists.stuck(),
        }
    }
}
