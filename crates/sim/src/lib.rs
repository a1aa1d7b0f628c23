//! The simulated world: drives a [`vestal_core::Scheduler`] through exact time.
//!
//! Time is discrete in nanoseconds and jumps from event to event; nothing is sampled, nothing is
//! rounded, and the same input gives the same run on every machine. What the scheduler decides is
//! the business of `vestal-core`; what jobs arrive and how long they execute is given by two pure
//! functions, [`Releases`] and [`Demand`]; what is worth knowing is reported to an [`Observer`].
//!
//! | module | what |
//! |---|---|
//! | [`world`] | the event loop around any scheduler ([`simulate`]), amid devices and costs ([`simulate_amid`]), and several of them in one run ([`simulate_together`]) |
//! | [`native`] | the event loop around a [`vestal_core::Guard`], ordering jobs as SCHED_FIFO does |
//! | [`backlog`] | how many jobs may wait |
//! | [`outside`] | devices, jobs that wait for them, requests for modes |
//! | [`costs`] | what carrying a policy out takes of the CPUs |
//! | [`workload`] | when jobs arrive, and what they execute |
//! | [`observer`] | what a world reports to observers |
//! | [`guarantee`] | which deadlines a policy had guaranteed to keep |
//! | [`frames`] | what became of the frames of a table |
//! | [`served`] | what servers gave and devices asked for |
//! | [`statistics`] | counts, response times and percentiles in constant memory |
//!
//! ```
//! use vestal_core::*;
//! use vestal_sim::workload::{ListedDemand, Periodic};
//! use vestal_sim::{Backlog, Setting, Statistics, simulate};
//!
//! let (ms, work) = (Duration::from_millis, Service::from_millis);
//! let tasks = [
//!     Task::new(Level(0), ms(10), ms(10), Wcet::constant(work(3)))?,
//!     Task::new(Level(1), ms(20), ms(20), Wcet::new(&[work(4), work(9)])?)?,
//! ];
//! let with_priority = |(&task, priority)| TaskConfiguration::new(task, priority);
//! let configured: Vec<TaskConfiguration> = tasks.iter().zip([2, 1]).map(with_priority).collect();
//! let configuration = Configuration {
//!     tasks: &configured,
//!     levels: LevelSet::new(2).ok_or("no such number of levels")?,
//!     enforcement: Enforcement::Adaptive,
//!     exhaustion: Exhaustion::Background,
//!     granularity: Service::ZERO,
//!     wake_granularity: Duration::ZERO,
//! };
//! let end = Instant::EPOCH.saturating_add(ms(40));
//! let mut statistics = Statistics::of(&configuration, 1);
//! let setting = Setting { tasks: &tasks, cpus: 1, end, backlog: Backlog::UNLIMITED };
//! let releases = Periodic::synchronous(&tasks);
//! let demand = ListedDemand::at_level(&tasks, Level(1)); // every job needs its own level's value
//! simulate(&mut Uniprocessor::new(&configuration)?, &setting, &releases, &demand, &mut statistics)?;
//! assert_eq!(statistics.jobs().missed_guaranteed, 0);
//! assert_eq!(statistics.jobs().dropped.of(DropReason::Mode), 2); // each rise costs the radio a job
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod backlog;
mod calendar;
pub mod costs;
mod cpu;
pub mod error;
pub mod frames;
pub mod guarantee;
pub mod native;
pub mod observer;
pub mod outside;
mod pending;
pub mod served;
pub mod statistics;
pub mod workload;
pub mod world;

pub use backlog::Backlog;
pub use costs::{Charges, Costs, DrawnCosts};
pub use error::SimulationError;
pub use frames::{FrameCounter, FrameStatistics};
pub use native::{NativeSetting, simulate_native};
pub use observer::{JobState, Observer, Segment};
pub use outside::{Events, Outside};
pub use served::Served;
pub use statistics::{Figures, Statistics};
pub use workload::{Demand, Releases};
pub use world::{
    Amid, Effort, Setting, Steps, simulate, simulate_amid, simulate_together, stepwise,
    stepwise_amid,
};

/// Counts one thing more. One by one it takes centuries to get to 2^64: there is no overflow to look for.
#[inline]
const fn count(counter: &mut u64) {
    *counter = counter.wrapping_add(1);
}
