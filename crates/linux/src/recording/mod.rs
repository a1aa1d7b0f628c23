//! What a run records while it runs, and who gets the records.
//!
//! Every thread of the run that has something to say writes to a ring of its own, which never waits:
//! what finds no room is counted as lost. A gatherer on another CPU (at the lowest priority where
//! there is only one) empties the rings, merges them by time and hands them on in order, while the run
//! goes on.
//!
//! ```text
//! manager  -> ring \
//! worker 0 -> ring  >  gatherer: merges up to the watermark  ->  consumer (files, a live view)
//! worker n -> ring /
//! ```
//! *The watermark.* A thread may be preempted between reading the clock and writing its record, so an
//! instant is complete only when no thread can still write an earlier one. A thread raises its flag
//! before it reads the clock for a group of records and lowers it when they are written. A ring whose
//! flag is down when the gatherer looks will give no record from before that look.
//!
//! *Findings.* The gatherer also reads the notes of all threads and hands them to the judge
//! (`account`), in every run; what that finds, stolen time and missed deadlines, is one source more.
//! What CPUs that have a frame table in common can only judge together goes to a judge of all of them (`frames`): notes
//! about frames have a log of their own, which is read up to where it went before those of the CPUs were read.
//! A note that it makes a record of is written within a group of records, so that the flags of all
//! rings say until when it is complete.
//!
//! *Releases* of a natively dispatched task follow from its offset and period; the gatherer writes
//! them at their places, so that a job that waits for a late thread is seen to wait. A managed world
//! reports them to its scheduler itself.

mod evidence;
mod frames;
mod gather;
mod lane;
mod start;
mod tracer;

pub(crate) use frames::FrameEvidence;
pub(crate) use gather::{Gathered, Gatherer, Last};
pub(crate) use lane::{Lane, Rings};
pub use start::{Start, Started};
pub(crate) use tracer::Tracer;

use crate::sys::Processor;
use std::io;
use vestal_core::{Duration, Service};
use vestal_trace::{Record, Scope};

/// Takes records in the order of time, some at once, while the run goes on and until all are there.
/// Called at least every [`Recording::PERIOD`], also without records; on the gatherer's thread, which
/// is in no real-time class.
pub type Consumer = dyn FnMut(&[Record]) + Send;

/// What is known when a recording begins and not before.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// The granularity that the scheduler or guard was configured with.
    pub granularity: Service,
    /// On which CPU of the machine each CPU of the set runs.
    pub processors: Vec<Processor>,
    /// When the run begins.
    pub start: Start,
}

/// Makes the consumer, after all checks and before anything runs. An error ends the run before it
/// begins.
pub type Begin = dyn FnOnce(&Beginning) -> io::Result<Box<Consumer>> + Send;

/// What came of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// How many records were handed to the consumer.
    pub records: u64,
    /// How many found no room in a ring.
    pub lost: u64,
}

/// That a run is to be recorded.
pub struct Recording {
    /// How many records the ring of each thread has room for; rounded up to a power of two.
    pub ring_records: usize,
    /// What the tasks and the CPUs are called in the records, and the domain of each CPU of the set, in their order. A CPU
    /// beyond this list has the next numbers, in the order of the set.
    pub scopes: Vec<Scope>,
    /// Makes the consumer.
    pub begin: Box<Begin>,
}

impl Recording {
    /// How often the rings are emptied.
    pub const PERIOD: Duration = Duration::from_millis(10);
    /// Room for 100 times what a task with a period of a millisecond writes until then.
    pub const RING_RECORDS: usize = 8192;

    /// A recording with rings of the usual size.
    pub fn new(
        begin: impl FnOnce(&Beginning) -> io::Result<Box<Consumer>> + Send + 'static,
    ) -> Self {
        Self {
            ring_records: Self::RING_RECORDS,
            scopes: Vec::new(),
            begin: Box::new(begin),
        }
    }

    /// The same, where each CPU of the set is the domain that its scope names, with the numbers that it says.
    #[must_use]
    pub fn in_scopes(self, scopes: Vec<Scope>) -> Self {
        Self { scopes, ..self }
    }

    /// What the rings of a run need, in bytes: one for each task and for each manager.
    pub(crate) fn bytes(&self, tasks: usize, managers: usize) -> u64 {
        let rings = tasks.saturating_add(managers);
        let records = self.ring_records.next_power_of_two();
        let each = records.saturating_mul(size_of::<Record>());
        rings.saturating_mul(each) as u64
    }
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording")
            .field("ring_records", &self.ring_records)
            .finish_non_exhaustive()
    }
}
