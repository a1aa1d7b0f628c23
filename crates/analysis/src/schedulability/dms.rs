//! `dms`: fixed priorities, shorter relative deadline first; jobs may run to completion.
//!
//! Bounds, assumptions, guarantee, kind with its proof, and slow twin are those of [`super::rms`];
//! only the order differs. In a set with one level the order is optimal among fixed priorities
//! (Leung and Whitehead 1982), so there a no also means that no other order helps; with several
//! levels it is not.

use super::rms::analyse_unenforced;
use crate::bounds::Charge;
use crate::fixed_priority::accepts_static;
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::scratch::Scratch;
use vestal_core::order::ClassicOrder;

/// The test's answer with response times.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    analyse_unenforced(problem, ClassicOrder::DeadlineMonotonic)
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, scratch: &mut Scratch) -> bool {
    accepts_static(
        problem,
        ClassicOrder::DeadlineMonotonic,
        Charge::Unenforced,
        scratch,
    )
}
