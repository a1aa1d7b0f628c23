//! What is counted and measured of jobs and of threads.

use vestal_core::{DropReason, Drops, Service};
use vestal_statistics::Histogram;

/// Sums over jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// Released.
    pub released: u64,
    /// Completed.
    pub completed: u64,
    /// Not admitted, demoted by enforcement, or too many to wait.
    pub dropped: u64,
    /// The same by reason.
    pub dropped_by: Drops,
    /// Neither when the run ended.
    pub unfinished: u64,
    /// Completed after their deadline, or unfinished with a deadline before the end.
    pub missed: u64,
    /// Missed although the policy had guaranteed them: there is a guarantee (`Config::guarantee`), and no
    /// job had exceeded its C at the level of the late job's task, in the same busy period and before
    /// that deadline. A job that is stopped at the limit of its own level counts there for itself only,
    /// and for those of its task that wait behind its body.
    pub missed_guaranteed: u64,
    /// Of those: missed also with the stolen time in their window taken out. What decides about success.
    pub missed_outside_gaps: u64,
}

impl JobCounts {
    /// Guaranteed deadlines that were missed and only stolen time explains: whether the schedule would
    /// have kept them without it is not decided.
    #[must_use]
    pub const fn missed_undecided(&self) -> u64 {
        self.missed_guaranteed
            .saturating_sub(self.missed_outside_gaps)
    }

    /// Counts so many jobs that were released and then dropped for this reason.
    pub(super) fn count_drops(&mut self, why: DropReason, count: u64) {
        self.released += count;
        self.dropped += count;
        self.dropped_by.add(why, count);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.released += other.released;
        self.completed += other.completed;
        self.dropped += other.dropped;
        self.dropped_by = self.dropped_by.and(&other.dropped_by);
        self.unfinished += other.unfinished;
        self.missed += other.missed;
        self.missed_guaranteed += other.missed_guaranteed;
        self.missed_outside_gaps += other.missed_outside_gaps;
    }
}

/// What a thread used from the first release to the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCost {
    /// Its CPU time.
    pub cpu: Service,
    /// How often it gave up its CPU.
    pub voluntary: u64,
    /// How often the CPU was taken from it.
    pub involuntary: u64,
}

impl ThreadCost {
    /// How often it was switched away from.
    #[must_use]
    pub const fn switches(&self) -> u64 {
        self.voluntary.saturating_add(self.involuntary)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_add(other.cpu),
            voluntary: self.voluntary.saturating_add(other.voluntary),
            involuntary: self.involuntary.saturating_add(other.involuntary),
        }
    }
}

/// Jobs that were suspended until their next slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Suspensions {
    /// How often.
    pub times: u64,
    /// Of those: how often the job went on all the same, by more than the tolerance, on a CPU that
    /// no other thread of the run wanted. Its body blocks signals and comes to no cancellation point.
    pub ineffective: u64,
}

impl Suspensions {
    /// The sum of both.
    #[must_use]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            times: self.times.saturating_add(other.times),
            ineffective: self.ineffective.saturating_add(other.ineffective),
        }
    }
}

/// What there is of one task.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskRecord {
    pub(crate) jobs: JobCounts,
    pub(crate) response: Histogram,
    pub(crate) execution: Histogram,
    pub(crate) tardiness: Histogram,
    pub(crate) lateness: Histogram,
    pub(crate) start_cost: Histogram,
    pub(crate) end_cost: Histogram,
    pub(crate) used: ThreadCost,
    /// Inside the bodies of all jobs, also of those that were not completed.
    pub(crate) executed_nanos: u64,
    /// Bodies that went on although they were suspended, and returned.
    pub(crate) suspensions: Suspensions,
    /// Guaranteed misses that stolen time does not explain, unless the process was stopped meanwhile.
    pub(super) misses: Vec<Miss>,
}

/// A guaranteed deadline that was missed: clock readings at the beginning of its busy period and at its
/// end, and whether it would have been met without all that no thread of the run consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Miss {
    pub(super) since: u64,
    pub(super) end: u64,
    pub(super) met_if_stopped: bool,
}

/// How many misses a task remembers one by one.
pub(super) const MISSES_MAX: usize = 1024;

impl TaskRecord {
    /// Adds what the report sums over all tasks.
    pub(crate) fn add(&mut self, other: &Self) {
        self.jobs.add(&other.jobs);
        self.lateness.merge(&other.lateness);
        self.start_cost.merge(&other.start_cost);
        self.end_cost.merge(&other.end_cost);
        self.used = self.used.and(other.used);
        self.executed_nanos += other.executed_nanos;
        self.suspensions = self.suspensions.and(other.suspensions);
    }
}
