//! The queue of a task's jobs, as the worker that serves them one after the other sees it.

use std::collections::VecDeque;

/// Which jobs find as many waiting as may. A worker takes up one release after the other: how many
/// waited when a job was released follows from when those before it ended.
#[derive(Debug)]
pub(crate) struct JobQueue {
    /// How many jobs may wait behind the current one; `None`: any number.
    most: Option<usize>,
    /// When the latest jobs that found room ended, oldest first; one more than may wait.
    ends: VecDeque<u64>,
}

impl JobQueue {
    /// Memory is set aside here, so that none is asked for later.
    pub(crate) fn new(most: Option<usize>) -> Self {
        let slots = most.map_or(0, |most| most.saturating_add(1));
        Self {
            most,
            ends: VecDeque::with_capacity(slots),
        }
    }

    /// Whether a job found no room when it was released, after those before it were taken up.
    pub(crate) fn was_full(&self, release: u64) -> bool {
        // The current job and all that may wait were still there.
        let full = |most| self.ends.len() > most;
        self.most.is_some_and(full) && self.ends.front().is_some_and(|end| *end > release)
    }

    /// A job that found room has ended, or makes room for the next one.
    pub(crate) fn ended(&mut self, at: u64) {
        let Some(most) = self.most else {
            return;
        };
        if self.ends.len() > most {
            self.ends.pop_front();
        }
        self.ends.push_back(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs of 25 released every 10: by definition, with a list of those that are there.
    #[test]
    fn the_jobs_that_find_no_room_are_those_of_a_bounded_queue() {
        for most in 0..4 {
            let mut queue = JobQueue::new(Some(most));
            let mut there: Vec<u64> = Vec::new();
            let mut free_from = 0;
            let mut full = 0;
            for release in (0..1_000).step_by(10) {
                there.retain(|end| *end > release);
                assert_eq!(queue.was_full(release), there.len() > most, "{release}");
                if there.len() > most {
                    full += 1;
                    continue;
                }
                free_from = release.max(free_from) + 25;
                there.push(free_from);
                queue.ended(free_from);
            }
            assert!(full > 50, "{most}: {full}");
        }
        let mut unlimited = JobQueue::new(None);
        (0..100).for_each(|job| unlimited.ended(1_000 + job));
        assert!(!unlimited.was_full(0));
    }
}
