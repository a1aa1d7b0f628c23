//! The pending jobs of one task.

use crate::observer::JobState;
use std::collections::VecDeque;
use vestal_core::JobId;

/// The pending jobs of one task in the order of their release.
///
/// With D <= T a task has a second pending job only after it missed a deadline. The oldest job
/// therefore has a place of its own: it is found by one comparison, and a run without misses touches
/// no queue at all. The queue keeps the room it once had.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    /// The oldest; if there is none, `later` is empty.
    first: Option<JobState>,
    later: VecDeque<JobState>,
}

impl Pending {
    /// How many jobs are pending.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.later.len()
    }

    /// Adds a job, the youngest.
    #[inline]
    pub(crate) fn push(&mut self, job: JobState) {
        if self.first.is_none() {
            self.first = Some(job);
        } else {
            self.later.push_back(job);
        }
    }

    /// The job of that name.
    #[inline]
    pub(crate) fn find(&mut self, id: JobId) -> Option<&mut JobState> {
        match &mut self.first {
            Some(first) if first.id == id => Some(first),
            Some(_) | None => self.later.iter_mut().find(|job| job.id == id),
        }
    }

    /// The job of that name is no longer pending.
    #[inline]
    pub(crate) fn end(&mut self, id: JobId) {
        match &self.first {
            // Nearly always, and then nothing is moved.
            Some(first) if first.id == id && self.later.is_empty() => self.first = None,
            Some(_) | None => {
                self.remove(id);
            }
        }
    }

    /// Takes the job of that name out.
    pub(crate) fn remove(&mut self, id: JobId) -> Option<JobState> {
        if self.first.is_some_and(|first| first.id == id) {
            let job = self.first.take();
            if !self.later.is_empty() {
                self.first = self.later.pop_front();
            }
            return job;
        }
        let place = self.later.iter().position(|job| job.id == id)?;
        self.later.remove(place)
    }

    /// All of them, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &JobState> {
        self.first.iter().chain(&self.later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{Instant, Service, TaskId};

    fn job(sequence: u64) -> JobState {
        JobState {
            id: JobId {
                task: TaskId(0),
                sequence,
            },
            released: Instant::EPOCH,
            deadline: Instant::EPOCH,
            demand: Service::ZERO,
            executed: Service::ZERO,
            demoted: None,
            last_cpu: None,
        }
    }

    #[test]
    fn pending_jobs_agree_with_a_plain_list_whichever_of_them_ends() {
        let mut pending = Pending::default();
        let mut model: Vec<u64> = Vec::new();
        let mut state = 1_u64;
        for sequence in 0..5_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let drawn = state >> 33;
            if drawn.is_multiple_of(2) && model.len() < 6 {
                pending.push(job(sequence));
                model.push(sequence);
            } else if let Some(place) = (drawn as usize / 2).checked_rem(model.len()) {
                let ended = job(model.remove(place)).id;
                assert_eq!(pending.find(ended).map(|job| job.id), Some(ended));
                if drawn.is_multiple_of(3) {
                    pending.end(ended);
                } else {
                    assert_eq!(pending.remove(ended).map(|job| job.id), Some(ended));
                }
                assert_eq!(pending.remove(ended), None);
                assert_eq!(pending.find(ended), None);
            }
            assert!(pending.iter().map(|job| job.id.sequence).eq(model.clone()));
            assert_eq!(pending.len(), model.len());
        }
    }
}
