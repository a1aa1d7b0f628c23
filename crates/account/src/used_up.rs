//! Which jobs of a task used up the limit of their own level, as the scheduler says, and when.
//!
//! There can be several at once: a body that goes on in the background has the thread of the jobs behind it, which use up
//! their own limits there, while its job is judged when it returns.

use std::collections::BTreeMap;

/// How many such jobs of a task are remembered. Only behind a body that goes on for as many periods are there more.
const JOBS_MAX: usize = 1024;

/// What the scheduler said of one task.
#[derive(Clone, Debug, Default)]
pub(super) struct UsedUp {
    /// When, in nanoseconds since the epoch, by the number of the job.
    after: BTreeMap<u64, u64>,
    /// Of jobs with lower numbers some may have been forgotten that could still be judged.
    forgotten: u64,
}

impl UsedUp {
    /// Job `sequence` used up its limit so long after the epoch. O(log n).
    pub(super) fn note(&mut self, sequence: u64, after: u64) {
        self.after.entry(sequence).or_insert(after);
        if self.after.len() > JOBS_MAX
            && let Some((oldest, _)) = self.after.pop_first()
        {
            self.forgotten = self.forgotten.max(oldest + 1);
        }
    }

    /// The body of job `sequence` has returned: jobs of a task begin one after the other, so those before it were
    /// judged or dropped. O(1) for each of them.
    pub(super) fn begun(&mut self, sequence: u64) {
        while let Some(oldest) = self.after.first_entry()
            && *oldest.key() < sequence
        {
            oldest.remove();
        }
    }

    /// When job `sequence` did, if that is remembered.
    pub(super) fn after(&self, sequence: u64) -> Option<u64> {
        self.after.get(&sequence).copied()
    }

    /// Whether job `sequence` may have done so without being remembered.
    pub(super) fn may_have_forgotten(&self, sequence: u64) -> bool {
        sequence < self.forgotten && !self.after.contains_key(&sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_is_remembered_until_a_later_one_returns() {
        let mut used_up = UsedUp::default();
        for (sequence, after) in [(3, 30), (4, 40), (5, 50), (4, 90)] {
            used_up.note(sequence, after);
        }
        let known = |used_up: &UsedUp| [3, 4, 5, 6].map(|sequence| used_up.after(sequence));
        assert_eq!(known(&used_up), [Some(30), Some(40), Some(50), None]);
        used_up.begun(4);
        assert_eq!(known(&used_up), [None, Some(40), Some(50), None]);
        used_up.begun(9);
        assert_eq!(known(&used_up), [None; 4]);
        assert!(!used_up.may_have_forgotten(3), "it was judged");
    }

    #[test]
    fn what_does_not_fit_may_have_been_forgotten() {
        let mut used_up = UsedUp::default();
        let many = JOBS_MAX as u64;
        // Every other one.
        for job in 0..many {
            used_up.note(2 * job, job);
        }
        assert!(!used_up.may_have_forgotten(0));
        used_up.note(2 * many, many);
        used_up.note(2 * many + 2, many + 1);
        let forgotten = |sequence| used_up.may_have_forgotten(sequence);
        assert_eq!(
            [0, 1, 2, 3, 4].map(forgotten),
            [true, true, true, false, false]
        );
        assert_eq!(used_up.after.len(), JOBS_MAX);
        assert_eq!(used_up.after(4), Some(2));
    }
}
