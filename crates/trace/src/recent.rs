//! The latest jobs of each task about which something is known.

use alloc::collections::{BTreeMap, VecDeque};
use vestal_core::{JobId, TaskId};

/// How many of a task's latest jobs are remembered.
pub(crate) const REMEMBERED: usize = 32;

/// A set of jobs that forgets all but the latest entries of each task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent(BTreeMap<TaskId, VecDeque<u64>>);

impl Recent {
    pub(crate) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    pub(crate) fn contains(&self, job: JobId) -> bool {
        let jobs = self.0.get(&job.task);
        jobs.is_some_and(|jobs| jobs.contains(&job.sequence))
    }

    pub(crate) fn insert(&mut self, job: JobId) {
        let jobs = self.0.entry(job.task).or_default();
        if jobs.len() == REMEMBERED {
            jobs.pop_front();
        }
        jobs.push_back(job.sequence);
    }
}
