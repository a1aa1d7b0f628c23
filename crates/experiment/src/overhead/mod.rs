//! The run-time overhead of policies and mechanisms: Table II, Fig. 5, Table III and Fig. 6 of Huang, Gill
//! and Lu (2014), section 5.2.
//!
//! What is here is everything but the measuring: the task set ([`set`]), what is compared ([`VARIANTS`]), the
//! paper's numbers ([`paper`]), statistics of what was measured ([`Table`]), the paper's claims and
//! ours against them ([`claims::findings`]), and how all that is drawn and written down.

pub mod claims;
mod fig_6;
pub mod figures;
mod measurement;
pub mod page;
pub mod paper;
mod result;
pub mod set;
pub mod tables;
mod variant;

pub use measurement::Measurement;
pub use result::{Run, State, Table};
pub use set::SIZES;
pub use variant::{BASELINE, Column, VARIANTS, Variant};
pub use vestal_result::bench::{Cell, Group, Invocations, Preemptions, Times};
pub use vestal_result::claim::{Finding, Verdict};
pub use vestal_statistics::Quartiles;
