//! Schedulability tests for mixed-criticality task sets.
//!
//! A [`Problem`] is what is to be proved, a [`Test`] tries it and gives an [`Outcome`]; [`tests`]
//! lists all of them and [`find`] finds one by its name. Everything here is a pure function of the
//! problem: no clock, no file, no randomness, integer arithmetic only. A test says what its answer
//! is worth ([`Kind`]) and never says more than that: what a sufficient test does not accept is
//! *not proven*, not unschedulable.
//! With [`Overheads`] a problem says what carrying out its policy costs, and a test answers for a CPU that has to.
//! Servers and devices of a problem ([`served`]) are seen by tests that are for them; all others are about tasks that are
//! scheduled by themselves.
//!
//! ```
//! use vestal_analysis::{Problem, Verdict, find};
//! use vestal_core::{Duration, Level, LevelSet, Service, Task, Wcet};
//!
//! let ms = Duration::from_millis;
//! let wcet = Wcet::new(&[Service::from_millis(1), Service::from_millis(5)])?;
//! let tasks = vec![
//!     Task::new(Level(0), ms(2), ms(2), Wcet::constant(Service::from_millis(1)))?,
//!     Task::new(Level(1), ms(10), ms(10), wcet)?,
//! ];
//! let problem = Problem::new(tasks, LevelSet::new(2).ok_or("no such number of levels")?)?;
//! let test = find("amc-rtb", None).ok_or("no such test")?;
//! let outcome = test.analyse(&problem);
//! assert_eq!(outcome.verdict, Verdict::Schedulable);
//! assert_eq!(outcome.tasks[1].responses, [Some(ms(2)), Some(ms(6))]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Layout: each test is one file or room in [`schedulability`] and opens with its policy, its assumptions,
//! its equation and its paper. What tests share stands beside it: `demand` (the least fixed point),
//! `bounds` (response times of the least urgent task of a set), `fixed_priority` (walking a given order),
//! `audsley` (finding one) and `rational` (exact sums of utilisations); what one test alone needs is in
//! its room. So is its slow, obvious twin; `oracle` has those that several share.
#![forbid(unsafe_code)]

mod assumptions;
mod audsley;
mod bounds;
mod charge;
#[cfg(feature = "controls")]
pub mod controls;
mod demand;
mod finite_jobs;
mod fixed_point;
mod fixed_priority;
mod frame_reason;
mod grade;
mod level_reason;
mod names;
#[cfg(feature = "oracle")]
pub mod oracle;
pub mod order;
pub mod outcome;
pub mod overheads;
pub mod parameters;
pub mod problem;
mod rational;
mod reason;
pub mod schedulability;
mod scratch;
pub mod served;
mod served_reason;
mod shown;
mod sporadic_reason;
mod tables;
mod test;

pub use frame_reason::FrameReason;
pub use grade::Grade;
pub use level_reason::LevelReason;
pub use outcome::{
    Decision, EquationBound, Kind, Names, Outcome, Reason, ServerOutcome, TaskOutcome, Verdict,
};
pub use overheads::{Charging, Heartbeat, Overheads};
pub use parameters::{Parameter, ParameterError, Parameters, Ratio};
pub use problem::{Bus, FiniteJob, Phasing, Problem, ProblemError};
pub use reason::{CpuLoad, PlacementRule};
pub use schedulability::{find, tests};
pub use scratch::Scratch;
pub use served::{Device, DeviceArrival, Member, ServedError, Server, Wait};
pub use served_reason::ServedReason;
pub use sporadic_reason::SporadicReason;
pub use test::Test;
