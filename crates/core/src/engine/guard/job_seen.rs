//! What a guard remembers of the job that facts spoke of last.

use super::completed::Ending;
use crate::time::{Instant, Service};

/// What the guard remembers of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct JobSeen {
    /// The job that facts spoke of last.
    pub(super) sequence: Option<u64>,
    /// What it was charged.
    pub(super) executed: Service,
    /// Whether it is complete. A charge that exceeds its limit still counts, in the same decision.
    pub(super) ending: Ending,
    /// It used up its own level's limit.
    pub(super) exhausted: bool,
    /// Every job up to this number was dropped when the mode rose.
    pub(super) dropped_up_to: Option<u64>,
    /// The newest release the world spoke of.
    pub(super) newest: Option<u64>,
    /// The release the world spoke of last, and when it was.
    pub(super) announced: Option<(u64, Instant)>,
    /// When the job that facts spoke of last was released, if the world said so.
    pub(super) released: Option<Instant>,
}

impl JobSeen {
    pub(super) const NOTHING: Self = Self {
        sequence: None,
        executed: Service::ZERO,
        ending: Ending::Pending,
        exhausted: false,
        dropped_up_to: None,
        newest: None,
        announced: None,
        released: None,
    };

    /// When job `sequence` was released, if the world said so.
    pub(super) fn release_of(&self, sequence: u64) -> Option<Instant> {
        if self.sequence == Some(sequence) && self.released.is_some() {
            return self.released;
        }
        let (announced, at) = self.announced?;
        (announced == sequence).then_some(at)
    }

    /// Turns to job `sequence`; an older one than the present is not turned back to.
    pub(super) fn turn_to(&mut self, sequence: u64) -> bool {
        if self.sequence.is_some_and(|present| sequence < present) {
            return false;
        }
        if self.sequence != Some(sequence) {
            self.sequence = Some(sequence);
            self.released = None;
            self.released = self.release_of(sequence);
            self.executed = Service::ZERO;
            self.ending = Ending::Pending;
            self.exhausted = false;
        }
        true
    }
}
