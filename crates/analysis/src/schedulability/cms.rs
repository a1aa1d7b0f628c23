//! `cms`: fixed priorities, higher criticality first, by rate inside a level; jobs may run to
//! completion.
//!
//! Bounds, assumptions, guarantee, kind with its proof, and slow twin are those of [`super::rms`];
//! only the order differs. No task is delayed by one of lower criticality, which is why the order
//! needs no enforcement to protect the critical tasks, and why it wastes so much: a critical task
//! with a long period blocks all others (Huang, Gill and Lu, TECS 2014, section 2.3).

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
    analyse_unenforced(problem, ClassicOrder::CriticalityMonotonic)
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, scratch: &mut Scratch) -> bool {
    accepts_static(
        problem,
        ClassicOrder::CriticalityMonotonic,
        Charge::Unenforced,
        scratch,
    )
}
