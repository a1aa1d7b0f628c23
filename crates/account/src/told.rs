//! What the judge of one CPU tells the judge of all that have a frame table in common. Instants are nanoseconds after
//! the epoch.

use super::outcome::Verdict;
use super::ran::Ran;
use super::stolen::StolenInterval;
use vestal_core::model::LEVELS_MAX;

/// By level, since when a job is beyond what it may execute there, if it is.
pub(super) type Beyond = [Option<u64>; LEVELS_MAX];

/// Something that only all CPUs together can judge.
#[derive(Clone, Copy, Debug)]
pub(super) enum Told {
    /// Time was stolen.
    Stolen(StolenInterval),
    /// A thread executed.
    Ran(Ran),
    /// A job that ended at `end` had executed more than at some level.
    Exceeded { beyond: Beyond, end: u64 },
    /// A job missed its deadline.
    Late(LateJob),
}

/// A job that was complete at `end`, or cut then, after its deadline.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateJob {
    /// The number of its task on its CPU.
    pub(super) task: usize,
    pub(super) sequence: u64,
    pub(super) end: u64,
    /// When this was noted.
    pub(super) at: u64,
}

/// What all CPUs together say of a deadline that a job missed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) job: LateJob,
    pub(super) due: u64,
    pub(super) verdict: Verdict,
}
