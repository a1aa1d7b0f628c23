//! `fjp-lb`: fixed job priorities, with a busy-period bound in closed form.
//!
//! What is decided: as [`super::fjp_own`], with a longer pattern from
//!
//! B = floor(sum of C_i(z_i) / (1 - sum of C_i(z_i) / T_i)), n_i = ceil(B / T_i),
//!
//! which bounds the least fixed point there, because ceil(x) < x + 1. Assumptions, guarantee and
//! treatment of given lists are those of `fjp-own`; kind: sufficient. It accepts a subset of it.
//!
//! It stands in for the pattern of Li and Baruah (RTSS 2010), called FJP-LB by Huang, Gill and Lu (TECS
//! 2014), which bounds busy periods in closed form from the *load* of the levels; its exact form was not
//! available. Huang, Gill and Lu report that computing the load took too long to finish ten sets of 8
//! tasks in a day. With D_i = T_i the load of a level is just a sum of utilisations, so that need
//! not be so. What they report of acceptance (far below IJA) can be compared in tendency only.

use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::schedulability::plrs::pattern::Rule;
use crate::schedulability::plrs::{accepts_by, analyse_by};
use crate::scratch::Scratch;

/// The test's answer with lists, pattern and busy period. There are no response times.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    analyse_by(problem, Rule::ClosedForm)
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, scratch: &mut Scratch) -> bool {
    accepts_by(problem, Rule::ClosedForm, scratch.own.of())
}
