//! What happened: trace records, the rings they travel through, files of them, and their replay.
//!
//! | module | what |
//! |---|---|
//! | [`record`] | one thing that happened, in memory and as 40 bytes; schema `vestal-trace/1` |
//! | [`count`] | the figures of a result, counted again from records |
//! | [`header`] | what has to be known beside the records to run or draw them again |
//! | [`domains`] | several scheduling domains in one recording: who writes in which, and with which numbers |
//! | [`ring`] | one producer, one consumer, no lock, and a count of what was lost |
//! | [`recorder`] | wraps any scheduler and writes down every call a world makes |
//! | [`replay`](mod@replay) | feeds a recording to a fresh scheduler and finds the first difference |
//! | [`timeline`] | turns records into slices, arrows and bands for drawings |
//! | `write`, `read` | files, by extension; with the feature `std` |
//!
//! The crate depends on `vestal-core` alone among Vestal's crates, reads no clock and prints nothing.
//! Without the feature `std` it is `no_std` and needs `alloc` only.
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

extern crate alloc;

pub mod count;
pub mod domains;
pub mod header;
pub mod merge;
mod recent;
pub mod record;
pub mod recorder;
pub mod replay;
#[expect(
    unsafe_code,
    reason = "the ring hands records between threads without a lock"
)]
pub mod ring;
pub mod timeline;

#[cfg(feature = "std")]
pub mod chart;
#[cfg(feature = "std")]
pub mod error;
#[cfg(feature = "std")]
pub mod read;
#[cfg(feature = "std")]
pub mod write;

pub use count::{Counter, Counts};
pub use domains::{Domains, InDomain, Scope};
pub use header::{ClockBase, Dispatch, DomainInfo, Header, Origin, TaskInfo, ThreadInfo, World};
pub use merge::merge;
pub use record::{DomainId, Edge, Mechanism, Record, Refusal, What};
pub use recorder::{Recorder, Sink};
pub use replay::{Difference, Summary, replay, replay_domains};

#[cfg(feature = "std")]
pub use error::{Place, Problem, TraceError};
#[cfg(feature = "std")]
pub use read::Trace;
#[cfg(feature = "std")]
pub use write::{Format, TraceWriter, writer};
