//! From the threads of a run to the judge of what they did.
//!
//! Each thread of a CPU writes what it did, as notes, to that CPU's log ([`crate::notes`]); the gatherer reads
//! them in their order, on another CPU or in no real-time class, and hands them to the judge
//! ([`crate::account`]). What somebody has to read while the run goes on is in [`crate::notes::Online`].

mod job;
mod late;
mod noted;
mod thread;

pub(crate) use job::{note_left_behind, record_dropped, take_priority};
pub(crate) use noted::NotedCpu;
pub(crate) use thread::{ClockLook, Intervals};
