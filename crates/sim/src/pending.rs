//! The pending jobs of one task.

use crate::observer::JobState;
use std::collections::VecDeque;
use vestal_core::{Duration, Instant, JobId, Task};

/// The pending jobs of one task in the order of their release: those that were reported to the scheduler,
/// and then those that it has no room for.
///
/// With D <= T a task has a second pending job only after it missed a deadline. The oldest job
/// therefore has a place of its own: it is found by one comparison, and a run without misses touches
/// no queue at all. The queues keep the room they once had.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// The relative deadline of the task, for the jobs to come.
    deadline: Duration,
    /// The oldest; if there is none, `later` is empty.
    first: Option<JobState>,
    later: VecDeque<JobState>,
    /// Younger than all of those, and unknown to the scheduler.
    kept: VecDeque<JobState>,
    /// How many jobs are in both queues.
    behind: usize,
}

impl Pending {
    /// No jobs of this task.
    pub(crate) const fn of(task: &Task) -> Self {
        Self {
            deadline: task.deadline,
            first: None,
            later: VecDeque::new(),
            kept: VecDeque::new(),
            behind: 0,
        }
    }

    /// The relative deadline of the task.
    #[inline]
    pub(crate) const fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Whether no job is pending.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Adds a job where none is pending.
    #[inline]
    pub(crate) fn begin(&mut self, job: JobState) {
        self.first = Some(job);
    }

    /// Adds a job, the youngest, behind others if the scheduler has room for it among `room` jobs; says
    /// whether.
    #[must_use]
    pub(crate) fn push(&mut self, job: JobState, room: usize) -> bool {
        let fits = self.kept.is_empty() && self.has_room(room);
        if fits {
            self.later.push_back(job);
            self.behind += 1;
        }
        fits
    }

    /// Whether the scheduler may have one more reported; a job in the background makes room for it.
    fn has_room(&self, room: usize) -> bool {
        let admitted = self.first.is_some_and(|first| first.demoted.is_none());
        usize::from(admitted) + self.later.len() < room
    }

    /// How many jobs are kept.
    pub(crate) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Keeps a job, the youngest, that is not reported to the scheduler.
    pub(crate) fn keep(&mut self, job: JobState) {
        self.kept.push_back(job);
        self.behind += 1;
    }

    /// The oldest kept job, that has to be reported to the scheduler now, if it has room.
    pub(crate) fn hand_on(&mut self, room: usize) -> Option<JobState> {
        if !self.has_room(room) {
            return None;
        }
        let job = self.kept.pop_front()?;
        match self.first {
            None => {
                self.first = Some(job);
                self.behind -= 1;
            }
            Some(_) => self.later.push_back(job),
        }
        Some(job)
    }

    /// Takes out the oldest kept job, if it was released before `now`.
    pub(crate) fn take_kept_before(&mut self, now: Instant) -> Option<JobState> {
        if self.kept.front()?.released >= now {
            return None;
        }
        self.behind -= 1;
        self.kept.pop_front()
    }

    /// Takes out the youngest kept job, if more than `most` wait behind the first.
    pub(crate) fn take_kept_beyond(&mut self, most: usize) -> Option<JobState> {
        if self.behind <= most {
            return None;
        }
        let job = self.kept.pop_back()?;
        self.behind -= 1;
        Some(job)
    }

    /// The job of that name. All are of one task, so that the number of the release distinguishes them.
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

    /// The job of that name is no longer pending; says whether others wait.
    #[inline]
    pub(crate) fn end(&mut self, id: JobId) -> bool {
        match &self.first {
            // Nearly always, and then nothing is moved.
            Some(first) if first.id.sequence == id.sequence && self.behind == 0 => {
                self.first = None;
                false
            }
            Some(_) | None => {
                self.remove(id);
                true
            }
        }
    }

    /// Takes the job of that name out.
    pub(crate) fn remove(&mut self, id: JobId) -> Option<JobState> {
        if self.first.is_some_and(|first| first.id == id) {
            let job = self.first.take();
            self.first = self.later.pop_front();
            self.behind -= usize::from(self.first.is_some());
            return job;
        }
        let position = self.later.iter().position(|job| job.id == id)?;
        self.behind -= 1;
        self.later.remove(position)
    }

    /// All of them, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &JobState> {
        self.first.iter().chain(&self.later).chain(&self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{Level, Service, TaskId, Wcet};

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

    fn empty() -> Pending {
        let span = Duration::from_nanos(9);
        let wcet = Wcet::constant(Service::from_nanos(1));
        Pending::of(&Task::new(Level(0), span, span, wcet).unwrap())
    }

    /// Knuth's linear congruential generator; its upper bits.
    fn draw(state: &mut u64) -> u64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    #[test]
    fn pending_jobs_agree_with_a_plain_list_whichever_of_them_ends() {
        const ROOM: usize = 4;
        let mut pending = empty();
        // The jobs, and how many of them were reported to the scheduler.
        let (mut model, mut reported): (Vec<u64>, usize) = (Vec::new(), 0);
        let mut state = 1;
        for sequence in 0..20_000 {
            let drawn = draw(&mut state);
            let fits = reported < ROOM;
            match drawn % 8 {
                0..=2 => {
                    let job = job(sequence);
                    let is_reported = if pending.is_empty() {
                        assert_eq!(reported, 0);
                        pending.begin(job);
                        true
                    } else {
                        pending.push(job, ROOM)
                    };
                    assert_eq!(is_reported, fits && reported == model.len());
                    model.push(sequence);
                    if is_reported {
                        reported += 1;
                    } else {
                        pending.keep(job);
                    }
                }
                3..=5 => {
                    if let Some(position) = (drawn as usize / 8).checked_rem(reported) {
                        reported -= 1;
                        let ended = job(model.remove(position)).id;
                        assert_eq!(pending.find(ended).map(|job| job.id), Some(ended));
                        if drawn.is_multiple_of(3) {
                            let others_wait = pending.end(ended);
                            assert!(others_wait || reported == 0);
                        } else {
                            assert_eq!(pending.remove(ended).map(|job| job.id), Some(ended));
                        }
                        assert_eq!(pending.remove(ended), None);
                        assert_eq!(pending.find(ended), None);
                    }
                    // What was released may be reported as soon as there is room.
                    let next = pending.hand_on(ROOM).map(|job| job.id.sequence);
                    let expected = (reported < ROOM)
                        .then(|| model.get(reported).copied())
                        .flatten();
                    assert_eq!(next, expected);
                    reported += usize::from(next.is_some());
                }
                6 => {
                    let oldest = pending.take_kept_before(Instant::from_nanos(1));
                    assert_eq!(
                        oldest.map(|job| job.id.sequence),
                        model.get(reported).copied()
                    );
                    if oldest.is_some() {
                        model.remove(reported);
                    }
                    assert_eq!(pending.take_kept_before(Instant::EPOCH), None);
                }
                _ => {
                    let surplus = model.len() > 1 + 8 && model.len() > reported;
                    let youngest = pending.take_kept_beyond(8);
                    assert_eq!(youngest.is_some(), surplus);
                    if let Some(job) = youngest {
                        assert_eq!(Some(job.id.sequence), model.pop());
                    }
                }
            }
            assert!(pending.iter().map(|job| job.id.sequence).eq(model.clone()));
            assert_eq!(pending.kept(), model.len() - reported);
        }
    }

    #[test]
    fn a_job_in_the_background_makes_room_for_the_next_one() {
        let mut pending = empty();
        pending.begin(job(0));
        assert!(!pending.push(job(1), 1));
        pending.keep(job(1));
        assert_eq!(pending.hand_on(1), None);
        pending.find(job(0).id).unwrap().demoted = Some(Instant::EPOCH);
        assert_eq!(pending.hand_on(1), Some(job(1)));
    }
}
