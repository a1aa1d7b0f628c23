//! `fjp-mode`: fixed job priorities, with a pattern found mode by mode.
//!
//! What is decided: as [`super::fjp_own`], with a shorter pattern. For m = 0, 1, ...
//!
//! B(m) = least fixed point of
//!   sum over z_i < m of n_i C_i(z_i) + sum over z_i >= m of ceil(B / T_i) C_i(m),
//!
//! and n_i = ceil(B(m) / T_i) for z_i = m. The pattern is derived here; it is the one of
//! Huang, Gill and Lu (TECS 2014, section 3.2) without the step that [`super::fjp_ija`] shows to be
//! wrong.
//!
//! Why it is sound: as long as the mode has not exceeded m, every admitted job of criticality m or
//! more has executed at most C_i(m), and there are at most n_i jobs of each task below m. So the part
//! of a busy period before the mode exceeds m is at most B(m) long, and jobs of criticality m are
//! admitted in that part only. The rest of the argument is that of `fjp-own`.
//!
//! Assumptions, guarantee and treatment of given lists are those of `fjp-own`. Kind: sufficient; a
//! no means nothing. It accepts every set that `fjp-own` accepts: by induction over m, with more of the
//! terms at own-level values B(m) only grows, so no n_i exceeds that of `fjp-own`, and lists remain
//! valid when jobs are taken away.
//!
//! Slow twins: `tests/schedulability/plrs.rs`. The campaign simulates accepted sets with two to four levels.

use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::schedulability::plrs::pattern::Rule;
use crate::schedulability::plrs::{accepts_by, analyse_by};
use crate::scratch::Scratch;

/// The test's answer with lists, pattern and busy periods. There are no response times.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    analyse_by(problem, Rule::Mode)
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, scratch: &mut Scratch) -> bool {
    accepts_by(problem, Rule::Mode, scratch.own.of())
}
