//! How often what happened: the figures of a run's result, counted again from its records.

use crate::header::{Dispatch, Header};
use crate::recent::Recent;
use crate::record::{Record, What};
use vestal_core::{Event, Fact, JobId};

/// What a recording says in sum. The same words as in results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs that arrived.
    pub released: u64,
    /// Jobs that finished their work, without having been dropped before.
    pub completed: u64,
    /// Jobs that the scheduler or the world dropped.
    pub dropped: u64,
    /// Deadlines missed.
    pub missed: u64,
    /// Those of them that the policy had promised to keep.
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

/// Counts records as they come, in constant memory.
///
/// What a native world tells its guard are exceptions; there jobs are counted as they were observed.
#[derive(Clone, Debug)]
pub struct Counter {
    native: bool,
    dropped: Recent,
    counts: Counts,
}

impl Counter {
    /// A counter for a recording with this header.
    #[must_use]
    pub const fn new(header: &Header) -> Self {
        Self {
            native: matches!(header.dispatch, Dispatch::Native),
            dropped: Recent::new(),
            counts: Counts {
                released: 0,
                completed: 0,
                dropped: 0,
                missed: 0,
                missed_guaranteed: 0,
                overruns: 0,
                mode_changes: 0,
                gaps: 0,
                lost: 0,
            },
        }
    }

    /// Counts the next record.
    pub fn see(&mut self, record: &Record) {
        let counts = &mut self.counts;
        match record.what {
            What::Fact(fact) if !self.native => self.fact(fact),
            What::Observed(fact) => self.fact(fact),
            What::Notice(Event::Dropped { job, .. }) | What::Dropped { job, .. } => self.drop(job),
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
            What::Fact(_)
            | What::Notice(_)
            | What::Refused(_)
            | What::Decided { .. }
            | What::DecisionRefused { .. }
            | What::Slot { .. }
            | What::Wake(_)
            | What::Permit { .. }
            | What::Overhead { .. }
            | What::Budget { .. }
            | What::End { .. } => {}
        }
    }

    /// The sums so far.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Released { .. } => bump(&mut self.counts.released),
            // A dropped job may come to its end in the background all the same.
            Fact::Completed { job, .. } if !self.dropped.contains(job) => {
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
            | Fact::ModeRequested { .. } => {}
        }
    }

    /// The scheduler may drop a job and the world confirm that: it is one job.
    fn drop(&mut self, job: JobId) {
        if !self.dropped.contains(job) {
            self.dropped.insert(job);
            bump(&mut self.counts.dropped);
        }
    }
}

fn bump(count: &mut u64) {
    *count = count.saturating_add(1);
}
