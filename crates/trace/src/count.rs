//! How often what happened: the figures of a run's result, counted again from its records.

use crate::header::{Dispatch, Header};
use crate::recent::Recent;
use crate::record::{Record, What};
use alloc::collections::BTreeMap;
use vestal_core::{DropReason, Drops, Event, Fact, JobId, TaskId};

/// What a recording says in sum. The same words as in results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs that arrived.
    pub released: u64,
    /// Jobs that finished their work, without having been dropped before.
    pub completed: u64,
    /// Jobs that the scheduler or the world dropped, by reason.
    pub dropped: Drops,
    /// Deadlines missed.
    pub missed: u64,
    /// Those of them that the policy had guaranteed.
    pub missed_guaranteed: u64,
    /// How often a job used up its limit of some level.
    pub overruns: u64,
    /// How often the mode changed.
    pub mode_changes: u64,
    /// Stretches in which the machine took a CPU away.
    pub gaps: u64,
    /// Records that were lost.
    pub lost: u64,
}

impl Counts {
    /// The sums with those of others, which are about other jobs.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self {
            released: self.released.saturating_add(other.released),
            completed: self.completed.saturating_add(other.completed),
            dropped: self.dropped.and(&other.dropped),
            missed: self.missed.saturating_add(other.missed),
            missed_guaranteed: self
                .missed_guaranteed
                .saturating_add(other.missed_guaranteed),
            overruns: self.overruns.saturating_add(other.overruns),
            mode_changes: self.mode_changes.saturating_add(other.mode_changes),
            gaps: self.gaps.saturating_add(other.gaps),
            lost: self.lost.saturating_add(other.lost),
        }
    }
}

/// Counts records as they come, in memory that does not grow with their number.
///
/// What a native world tells its guard are exceptions; there jobs are counted as they were observed.
#[derive(Clone, Debug)]
pub struct Counter {
    native: bool,
    /// The newest release of each task: one that a world kept is reported again, later.
    newest: BTreeMap<TaskId, u64>,
    dropped: Recent,
    counts: Counts,
}

impl Counter {
    /// A counter for a recording with this header.
    #[must_use]
    pub fn new(header: &Header) -> Self {
        Self {
            native: header.dispatch == Dispatch::Native,
            newest: BTreeMap::new(),
            dropped: Recent::new(),
            counts: Counts::default(),
        }
    }

    /// Counts the next record.
    pub fn see(&mut self, record: &Record) {
        let counts = &mut self.counts;
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "most records are not counted"
        )]
        match record.what {
            What::Fact(fact) if !self.native => self.fact(fact),
            What::Observed(fact) => self.fact(fact),
            What::Notice(Event::Dropped { job, why }) | What::Dropped { job, why } => {
                self.drop(job, why);
            }
            What::Notice(Event::Overrun { .. }) => bump(&mut counts.overruns),
            What::Notice(Event::ModeChanged { .. }) => bump(&mut counts.mode_changes),
            What::Miss { guaranteed, .. } => {
                bump(&mut counts.missed);
                if guaranteed {
                    bump(&mut counts.missed_guaranteed);
                }
            }
            What::Gap { .. } => bump(&mut counts.gaps),
            What::Lost { count } => counts.lost = counts.lost.saturating_add(count),
            _ => {}
        }
    }

    /// The sums so far.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Released { job } => {
                let newest = self.newest.insert(job.task, job.sequence);
                if let Some(newest) = newest.filter(|newest| *newest >= job.sequence) {
                    self.newest.insert(job.task, newest);
                } else {
                    bump(&mut self.counts.released);
                }
            }
            // A dropped job may come to its end in the background all the same; and the bottom half of a device, of
            // which no job is released, is no task.
            Fact::Completed { job, .. }
                if self.newest.contains_key(&job.task) && !self.dropped.contains(job) =>
            {
                bump(&mut self.counts.completed);
            }
            Fact::Completed { .. }
            | Fact::Charged { .. }
            | Fact::Started { .. }
            | Fact::Stopped { .. }
            | Fact::Timer
            | Fact::Idle { .. }
            | Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::CpuOpen { .. }
            | Fact::ModeRequested { .. } => {}
        }
    }

    /// The scheduler may drop a job and the world confirm that: it is one job.
    fn drop(&mut self, job: JobId, why: DropReason) {
        if !self.dropped.contains(job) {
            self.dropped.insert(job);
            self.counts.dropped.add(why, 1);
        }
    }
}

fn bump(count: &mut u64) {
    *count = count.saturating_add(1);
}
