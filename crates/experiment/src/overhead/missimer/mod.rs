//! Missimer, Missimer and West (ECRTS 2016), section V-B: what sporadic servers and PIBS cost for the bottom halves of a camera, and what a
//! change of mode does to two cameras; Tables II and III, Fig. 12 to 15.
//!
//! Runs of a fixed length, several times each. A camera is a device that a sender fills faster than its server may read. An application
//! reads what its camera's bottom half has put into a buffer since its last job, without waiting, and burns the rest of its budget. What was not
//! measured decides no claim.

pub mod charts;
pub mod claims;
pub mod judged;
pub mod page;
pub mod plan;
pub mod range;
pub mod run;
pub mod set;
pub mod spans;
pub mod table;

/// The name of the paper, as after `--paper`.
pub const NAME: &str = "missimer";

#[cfg(test)]
mod made_up;
