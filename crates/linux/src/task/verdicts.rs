//! What workers have to know of what the scheduler said about their jobs.

use crate::words::Latest;
use vestal_core::DropReason;

/// The latest jobs of a task that used up a limit or were dropped; written by the manager.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    /// The job, plus one, that used up the limit of its own level last.
    used_up: Latest<u64>,
    /// The job, plus one, that the scheduler dropped last after it had begun, times [`REASONS`], plus the
    /// index of the reason.
    dropped: Latest<u64>,
}

const REASONS: u64 = DropReason::ALL.len() as u64;

impl Verdicts {
    /// Job `sequence` has used up the limit of its own level.
    pub(super) fn note_used_up(&self, sequence: u64) {
        self.used_up.set(sequence.saturating_add(1));
    }

    /// The scheduler says that job `sequence`, which the worker has, was dropped.
    pub(crate) fn note_drop(&self, sequence: u64, why: DropReason) {
        let job = sequence.saturating_add(1).saturating_mul(REASONS);
        let reason = (0..).zip(DropReason::ALL).find(|(_, other)| *other == why);
        let index = reason.map_or(0, |(index, _)| index);
        let word = job.saturating_add(index);
        self.dropped.set(word);
    }

    /// Whether job `sequence` was the last to use up the limit of its own level.
    pub(crate) fn has_used_up(&self, sequence: u64) -> bool {
        self.used_up.get() == sequence.saturating_add(1)
    }

    /// Why job `sequence` lost its priority.
    pub(crate) fn why_dropped(&self, sequence: u64) -> DropReason {
        let word = self.dropped.get();
        let index = usize::try_from(word % REASONS).unwrap_or(0);
        match DropReason::ALL.get(index) {
            Some(why) if word / REASONS == sequence.saturating_add(1) => *why,
            Some(_) | None if self.has_used_up(sequence) => DropReason::Exhausted,
            Some(_) | None => DropReason::Mode,
        }
    }
}
