//! Experiments of Vestal: sweeps over random task sets, figures, and claims checked against them.
//!
//! An [`Experiment`] comes from a file. [`sweep`](sweep::sweep) asks every [`Question`] of every set and
//! keeps the answers in a [`Store`], a directory; the same experiment gives the same bytes there,
//! however the work was shared out and interrupted. A [`Summary`] counts the answers;
//! [`figure`] draws the figures of papers from it and compares their claims.
//!
//! Nothing here prints or reads a clock: progress is reported to whoever asked for it, and tests that
//! take long end by counting steps.
#![forbid(unsafe_code)]

pub mod anew;
pub mod barriers;
mod carried;
pub mod charts;
pub mod checksum;
pub mod columns;
pub mod costs;
mod diagnose;
pub mod evaluate;
pub mod figure;
pub mod file;
pub mod measure;
pub mod measured;
mod misses;
mod number;
mod outside;
pub mod overhead;
pub mod plot;
mod questions;
mod redrawn;
mod several;
mod simulation;
pub mod sleeps;
mod spec;
pub mod store;
pub mod stored;
pub mod summary;
pub mod sweep;
pub mod table;
mod verdict;
pub mod wanted;

pub use carried::Jobs;
pub use evaluate::{Answer, Question};
pub use file::Experiment;
pub use outside::{Arrivals, outside};
pub use questions::questions;
pub use redrawn::Redrawn;
pub use several::takes_costs;
pub use simulation::{Judged, Measurement, QuestionError, Simulation};
pub use spec::SimulationSpec;
pub use store::{Damage, Manifest, Program, Store, StoreError};
pub use summary::Summary;
pub use sweep::{Report, Running, Seen, Shard, SweepError};
