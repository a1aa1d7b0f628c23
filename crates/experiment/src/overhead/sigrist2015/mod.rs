//! Sigrist, Giannopoulou, Huang, Gomez and Thiele (RTAS 2015), section VII: which share of their time CPUs spend on carrying frame tables
//! (FTTS) and partitioned EDF-VD out, Fig. 6 to 8, 10 and 12 and Table II.
//!
//! The paper measures no busy periods, so that this is no [`Paper`](super::Paper): runs of a fixed length are cut into the parts of
//! its section VI-C. On 1 and 2 CPUs they are runs; on more, what an event cost in those times how many events a simulation of the
//! sets has ([`extrapolate`]). Nothing that stands on that alone is confirmed or refuted.

pub mod alternatives;
pub mod charts;
pub mod claims;
pub mod extrapolate;
pub mod flight;
pub mod growth;
pub mod page;
pub mod pairs;
pub mod plan;
pub mod run;
pub mod set;
pub mod table;
pub mod variant;

/// The name of the paper, as after `--paper`.
pub const NAME: &str = "sigrist2015";

#[cfg(test)]
mod made_up;
