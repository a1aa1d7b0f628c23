//! The run-time overhead of policies and mechanisms, as papers measured it.
//!
//! What is here is everything but the measuring. A paper is a table ([`Paper`]) in a file of its own: the task set, what is
//! compared, the paper's numbers, its claims and ours. A further paper is a further table, and a line in [`PAPERS`]. The rest is the
//! same for all: statistics of what was measured ([`Table`]), rules for claims ([`claims`]), and how all that is drawn and
//! written down.

pub mod busy_period;
pub mod claims;
mod fig_6;
pub mod figures;
pub mod huang2014;
pub mod journal;
mod measurement;
pub mod missimer;
pub mod page;
pub mod paper;
mod result;
pub mod sigrist2015;
pub mod tables;
mod variant;

pub use huang2014::HUANG2014;
pub use measurement::Measurement;
pub use paper::{Measured, Paper, Plan};
pub use result::{NamedRun, PrintedCell, Run, State, Table};
pub use variant::Variant;
pub use vestal_result::bench::{Cell, Group, Invocations, Preemptions, Times};
pub use vestal_result::claim::{Finding, Verdict};
pub use vestal_statistics::Quartiles;

/// Every paper whose measurement can be repeated.
pub static PAPERS: &[&Paper] = &[&HUANG2014];

/// The paper of this name.
#[must_use]
pub fn paper_of(name: &str) -> Option<&'static Paper> {
    PAPERS.iter().copied().find(|paper| paper.name == name)
}

#[cfg(test)]
mod made_up_tests;
