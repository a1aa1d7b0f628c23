//! The latest jobs of each task about which something is known.

use alloc::collections::{BTreeMap, VecDeque};
use vestal_core::{JobId, TaskId};

/// How many of a task's latest jobs are remembered.
pub(crate) const REMEMBERED: usize = 32;

/// A set of jobs that forgets all but the latest entries of each task. Jobs that follow one another are
/// one entry: a rise of the mode may drop thousands that wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent(BTreeMap<TaskId, VecDeque<(u64, u64)>>);

impl Recent {
    pub(crate) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    pub(crate) fn contains(&self, job: JobId) -> bool {
        let entries = self.0.get(&job.task);
        let has = |(first, last): &(u64, u64)| (*first..=*last).contains(&job.sequence);
        entries.is_some_and(|entries| entries.iter().any(has))
    }

    pub(crate) fn insert(&mut self, job: JobId) {
        let entries = self.0.entry(job.task).or_default();
        if let Some((_, last)) = entries.back_mut()
            && last.checked_add(1) == Some(job.sequence)
        {
            *last = job.sequence;
            return;
        }
        if entries.len() == REMEMBERED {
            entries.pop_front();
        }
        entries.push_back((job.sequence, job.sequence));
    }
}
