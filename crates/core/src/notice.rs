//! What observers may want to know: modelled behaviour, neither errors nor decisions.

use crate::ids::{JobId, ServerId, TaskId};
use crate::model::{BACKLOG_MAX, Level};
use crate::time::{Duration, Instant, Service};

/// How many notices wait for an observer at least; what does not fit is counted and dropped.
pub const NOTICES_MIN: usize = 64;

/// How many notices of one task a single decision can give: each of its jobs (one current, the
/// backlog, the arrivals) used up a limit and was dropped. Engines on the heap have room for that
/// many more, so that a world that takes the notices after each decision loses none.
pub const NOTICES_PER_TASK: usize = 2 * (1 + 2 * BACKLOG_MAX);

/// Something that happened inside a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Notice {
    /// When it took effect.
    pub at: Instant,
    /// What it was.
    pub what: Event,
}

/// The kinds of [`Notice`].
///
/// A missed deadline is not among them: whether a job was late is a matter of the world's clock,
/// and whether its deadline was guaranteed depends on what every job really executed. Worlds judge both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The mode changed.
    ModeChanged {
        /// The mode before.
        from: Level,
        /// The mode from now on.
        to: Level,
        /// The job that overran, for a rise; `None` for the return to mode 0, and where a whole
        /// sub-frame was late rather than one job.
        cause: Option<JobId>,
    },
    /// A job used up its limit of some level without completing.
    Overrun {
        /// The job.
        job: JobId,
        /// The level whose limit it used up.
        level: Level,
        /// What it had executed by then.
        executed: Service,
    },
    /// A job will not be completed in the foreground: it was dropped, or never admitted.
    Dropped {
        /// The job.
        job: JobId,
        /// Why.
        why: DropReason,
    },
    /// A server used up its budget; its jobs wait for the next replenishment.
    Depleted {
        /// The server.
        server: ServerId,
    },
    /// A sporadic server's replenishment list was full, and budget was postponed to make room.
    Postponed {
        /// The server.
        server: ServerId,
        /// How much comes later than it would have.
        amount: Service,
    },
    /// A frame ended before its last sub-frame did.
    FrameOverrun {
        /// The number of the frame since the epoch.
        frame: u64,
    },
    /// Frames passed of which nothing ran, because an earlier one had not ended or the world was late.
    FramesSkipped {
        /// The number of the first of them since the epoch.
        first: u64,
        /// How many.
        count: u64,
    },
    /// The world called later than the last plan had asked for (C6).
    Late {
        /// By how much.
        by: Duration,
    },
}

/// Why a job was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The mode is above its task's criticality.
    Mode,
    /// It used up its own level's limit.
    Exhausted,
    /// It was still in the background, or waiting for its place in a table, when its task's next
    /// job was admitted.
    Superseded,
    /// It was incomplete at its deadline, and its task aborts then.
    Deadline,
    /// As many jobs of its task waited as may wait.
    BacklogFull,
}

impl DropReason {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 5] = [
        Self::Mode,
        Self::Exhausted,
        Self::Superseded,
        Self::Deadline,
        Self::BacklogFull,
    ];
}

/// How many jobs were dropped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Drops([u64; DropReason::ALL.len()]);

impl Drops {
    /// Counts `more` jobs that were dropped for this reason.
    pub fn add(&mut self, why: DropReason, more: u64) {
        for (reason, count) in DropReason::ALL.iter().zip(&mut self.0) {
            if *reason == why {
                *count = count.saturating_add(more);
            }
        }
    }

    /// The sum with the counts of others.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        for (why, more) in other.by_reason() {
            self.add(why, more);
        }
        self
    }

    /// All reasons with their counts.
    pub fn by_reason(&self) -> impl Iterator<Item = (DropReason, u64)> {
        DropReason::ALL.into_iter().zip(self.0)
    }

    /// How many jobs were dropped for this reason.
    #[must_use]
    pub fn of(&self, why: DropReason) -> u64 {
        let mut counts = self.by_reason();
        counts
            .find(|(reason, _)| *reason == why)
            .map_or(0, |(_, count)| count)
    }

    /// How many jobs were dropped, for whatever reason.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// Names a task's job in messages: `task 3 job 7`.
impl core::fmt::Display for JobId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let TaskId(task) = self.task;
        write!(f, "task {task} job {}", self.sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_counted_by_reason() {
        let mut drops = Drops::default();
        for (why, more) in DropReason::ALL.into_iter().zip(1..) {
            drops.add(why, more);
        }
        let both = drops.and(&drops);
        assert_eq!(both.of(DropReason::Exhausted), 4);
        assert_eq!(both.of(DropReason::BacklogFull), 10);
        assert_eq!((drops.total(), both.total()), (15, 30));
    }
}
