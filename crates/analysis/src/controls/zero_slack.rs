//! `zss:tightened` without the condition of its tightening.

use crate::fixed_priority::Scratch;
use crate::outcome::{Kind, Outcome};
use crate::problem::Problem;
use crate::schedulability::zss::{accepts_form, analyse_form};
use crate::slack::{Form, Tightening};

/// The mistake: a more critical, less urgent task j is always charged less by what it is sure to have
/// done before its zero-slack instant. A third task that suspends i but not j lets j do that work
/// ahead of i.
const TIGHTENED_EVERYWHERE: Form = Form {
    carry_in: true,
    tightening: Tightening::Everywhere,
};

pub(super) fn analyse_tightened_everywhere(problem: &Problem) -> Outcome {
    analyse_form(problem, Kind::Unsafe, TIGHTENED_EVERYWHERE)
}

pub(super) fn accepts_tightened_everywhere(problem: &Problem, scratch: &mut Scratch) -> bool {
    accepts_form(problem, TIGHTENED_EVERYWHERE, scratch)
}
