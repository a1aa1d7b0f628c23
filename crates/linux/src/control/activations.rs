//! When the monitor of budgets had the manager look, and in which activation it found a used-up one.

use crate::detections::Detections;

/// The activations of one CPU's monitor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activations {
    /// How many there were.
    pub(crate) count: u64,
    /// Clock readings of the last ones, the newest first.
    last: [u64; LAST],
    /// Whether the present round is one.
    is_present: bool,
    /// By task: the job that was found within its limit last, plus one, and the number of that activation.
    within: Vec<(u64, u64)>,
    pub(crate) detected: Detections,
}

/// More tell nothing: what is found in the third activation or later counts as later.
const LAST: usize = 3;

impl Activations {
    pub(crate) fn new(tasks: usize) -> Self {
        Self {
            within: vec![(0, 0); tasks],
            ..Self::default()
        }
    }

    /// A round begins at `now`, because of the monitor or not.
    pub(crate) fn begin_round(&mut self, now: u64, by_monitor: bool) {
        self.is_present = by_monitor;
        if by_monitor {
            self.count += 1;
            self.last.rotate_right(1);
            self.last[0] = now;
        }
    }

    /// Whether the present round is an activation of the monitor.
    pub(crate) const fn is_present(&self) -> bool {
        self.is_present
    }

    /// Job `sequence` of the task with this index was found within its limit.
    pub(crate) fn note_within(&mut self, task: usize, sequence: u64) {
        if self.is_present
            && let Some(within) = self.within.get_mut(task)
        {
            *within = (sequence + 1, self.count);
        }
    }

    /// Job `sequence` of the task with this index was found to have exceeded its limit by `beyond`. It did so that long ago
    /// at the latest, and not before the activation that found it within that limit.
    pub(crate) fn note_found(&mut self, task: usize, sequence: u64, beyond: u64) {
        if !self.is_present {
            return;
        }
        let exceeded = self.last[0].saturating_sub(beyond);
        let later = self.last.iter().filter(|&&at| at > exceeded).count() as u64;
        let since = match self.within.get(task) {
            Some(&(job, number)) if job == sequence + 1 => self.count - number,
            Some(_) | None => self.count,
        };
        match later.min(since) {
            0 | 1 => self.detected.first += 1,
            2 => self.detected.second += 1,
            _ => self.detected.later += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: usize = 0;

    /// Activations at these instants, after each of which the job was found within its limit or not looked at; then one
    /// that finds it beyond.
    fn found(before: &[(u64, bool)], (at, beyond): (u64, u64)) -> [u64; 3] {
        let mut activations = Activations::new(1);
        for &(now, looked) in before {
            activations.begin_round(now, true);
            if looked {
                activations.note_within(TASK, 7);
            }
        }
        activations.begin_round(at, true);
        activations.note_found(TASK, 7, beyond);
        let Detections {
            first,
            second,
            later,
        } = activations.detected;
        [first, second, later]
    }

    #[test]
    fn an_overrun_is_found_in_the_first_activation_after_it() {
        assert_eq!(found(&[], (1_000, 10)), [1, 0, 0]);
        assert_eq!(found(&[(900, true)], (1_000, 10)), [1, 0, 0]);
        assert_eq!(found(&[(800, true), (900, true)], (1_000, 99)), [1, 0, 0]);
        // What the manager itself took seems to be the job's.
        assert_eq!(found(&[(800, true), (900, true)], (1_000, 101)), [1, 0, 0]);
    }

    #[test]
    fn an_activation_that_passed_over_an_overrun_is_counted() {
        let before = [(700, true), (800, false), (900, false)];
        assert_eq!(found(&before, (1_000, 50)), [1, 0, 0]);
        assert_eq!(found(&before, (1_000, 150)), [0, 1, 0]);
        assert_eq!(found(&before, (1_000, 250)), [0, 0, 1]);
        assert_eq!(found(&[(800, false), (900, true)], (1_000, 250)), [1, 0, 0]);
    }

    #[test]
    fn what_other_rounds_find_is_no_detection_of_the_monitor() {
        let mut activations = Activations::new(1);
        activations.begin_round(900, true);
        activations.begin_round(1_000, false);
        activations.note_found(TASK, 7, 50);
        assert_eq!(activations.detected, Detections::default());
        assert_eq!(activations.count, 1);
    }
}
