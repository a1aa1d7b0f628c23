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
    /// Missed although the policy had guaranteed them: there is a guarantee ([`Rules::guarantee`](crate::Rules::guarantee)), and no
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

    /// Adds those of another task.
    pub fn add(&mut self, other: &Self) {
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

    /// The sum of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
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
    pub const fn and(self, other: Self) -> Self {
        Self {
            times: self.times.saturating_add(other.times),
            ineffective: self.ineffective.saturating_add(other.ineffective),
        }
    }
}

/// What there is of one task.
#[derive(Clone, Debug, Default)]
pub struct TaskRecord {
    /// What became of its jobs.
    pub jobs: JobCounts,
    /// From release to completion, in nanoseconds; of completed jobs.
    pub response: Histogram,
    /// What each executed, in nanoseconds; of completed jobs.
    pub execution: Histogram,
    /// By how much each was late, in nanoseconds, 0 if it was not; of completed jobs.
    pub tardiness: Histogram,
    /// From each release that found the CPU free until the worker went on, in nanoseconds.
    pub lateness: Histogram,
    /// What it cost to begin each job, in nanoseconds.
    pub start_cost: Histogram,
    /// What it cost to end each job, in nanoseconds.
    pub end_cost: Histogram,
    /// What its worker used, bodies included.
    pub used: ThreadCost,
    /// Inside the bodies of all jobs, also of those that were not completed.
    pub executed_nanos: u64,
    /// Bodies that went on although they were suspended, and returned.
    pub suspensions: Suspensions,
    /// Jobs whose bodies executed more than C at their task's own level and the tolerance ([`Rules`](crate::Rules)).
    pub beyond_own: u64,
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
    pub fn add(&mut self, other: &Self) {
        self.jobs.add(&other.jobs);
        self.lateness.merge(&other.lateness);
        self.start_cost.merge(&other.start_cost);
        self.end_cost.merge(&other.end_cost);
        self.used = self.used.and(other.used);
        self.executed_nanos += other.executed_nanos;
        self.suspensions = self.suspensions.and(other.suspensions);
    }
}
