//! The pending jobs of one task.

use crate::observer::JobState;
use std::collections::VecDeque;
use vestal_core::{Duration, JobId, Task};

/// The pending jobs of one task in the order of their release.
///
/// With D <= T a task has a second pending job only after it missed a deadline. The oldest job
/// therefore has a place of its own: it is found by one comparison, and a run without misses touches
/// no queue at all. The queue keeps the room it once had.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// The relative deadline of the task, for the jobs to come.
    deadline: Duration,
    /// The oldest; if there is none, `later` is empty.
    first: Option<JobState>,
    later: VecDeque<JobState>,
}

impl Pending {
    /// No jobs of this task.
    pub(crate) const fn of(task: &Task) -> Self {
        Self {
            deadline: task.deadline,
            first: None,
            later: VecDeque::new(),
        }
    }

    /// The relative deadline of the task.
    #[inline]
    pub(crate) const fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Adds a job, the youngest; says whether there was room among at most `max`.
    #[inline]
    #[must_use]
    pub(crate) fn push(&mut self, job: JobState, max: usize) -> bool {
        if self.first.is_some() {
            return self.push_behind(job, max);
        }
        self.first = Some(job);
        true
    }

    #[cold]
    fn push_behind(&mut self, job: JobState, max: usize) -> bool {
        let fits = 1 + self.later.len() < max;
        if fits {
            self.later.push_back(job);
        }
        fits
    }

    /// The job of that name. All are of one task, so that the number of the release tells them apart.
    #[inline]
    pub(crate) fn find(&mut self, id: JobId) -> Option<&mut JobState> {
        match &mut self.first {
            Some(first) if first.id.sequence == id.sequence => Some(first),
            Some(_) | None => Self::find_later(&mut self.later, id),
        }
    }

    #[cold]
    fn find_later(later: &mut VecDeque<JobState>, id: JobId) -> Option<&mut JobState> {
        later.iter_mut().find(|job| job.id == id)
    }

    /// The job of that name is no longer pending.
    #[inline]
    pub(crate) fn end(&mut self, id: JobId) {
        match &self.first {
            // Nearly always, and then nothing is moved.
            Some(first) if first.id.sequence == id.sequence && self.later.is_empty() => {
                self.first = None;
            }
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
    use vestal_core::{Instant, Level, Service, TaskId, Wcet};

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
        let span = Duration::from_nanos(9);
        let wcet = Wcet::constant(Service::from_nanos(1));
        let mut pending = Pending::of(&Task::new(Level(0), span, span, wcet).unwrap());
        let mut model: Vec<u64> = Vec::new();
        let mut state = 1_u64;
        for sequence in 0..5_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let drawn = state >> 33;
            if drawn.is_multiple_of(2) {
                assert_eq!(pending.push(job(sequence), 6), model.len() < 6);
                if model.len() < 6 {
                    model.push(sequence);
                }
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
        }
    }
}
