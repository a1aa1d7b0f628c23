//! The simulated world: drives a [`vestal_core::Scheduler`] through exact time.
//!
//! Time is discrete in nanoseconds and jumps from event to event; nothing is sampled, nothing is
//! rounded, and the same input gives the same run on every machine. What the scheduler decides is
//! the business of `vestal-core`; what jobs arrive and how long they execute is given by two pure
//! functions, [`Releases`] and [`Demand`]; what is worth knowing is told to an [`Observer`].
//!
//! | module | what |
//! |---|---|
//! | [`world`] | the event loop around any scheduler ([`simulate`]) |
//! | [`native`] | the event loop around a [`vestal_core::Guard`], ordering jobs as SCHED_FIFO does |
//! | [`workload`] | when jobs arrive, and what they execute |
//! | [`observer`] | what a world tells those who watch |
//! | [`guarantee`] | which deadlines a policy had promised to keep |
//! | [`statistics`] | counts, response times and percentiles in constant memory |
//! | [`gantt`] | a schedule as text |
#![forbid(unsafe_code)]

mod calendar;
pub mod error;
pub mod gantt;
pub mod guarantee;
pub mod native;
pub mod observer;
pub mod statistics;
pub mod workload;
pub mod world;

pub use error::SimulationError;
pub use gantt::Gantt;
pub use native::simulate_native;
pub use observer::{JobState, Observer, Segment};
pub use statistics::Statistics;
pub use workload::{Demand, Releases};
pub use world::{Effort, Setting, simulate};
