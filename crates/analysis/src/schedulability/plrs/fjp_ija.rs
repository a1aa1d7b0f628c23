//! `fjp-ija`: fixed job priorities, with the improved job-arrival pattern of Huang, Gill and Lu. Refuted.
//!
//! Published (TECS 2014, section 3.2; misprints corrected): for m = 0, 1, ... with n_i(-1) = 0,
//!
//! B(m) = least fixed point of sum over l < m, i of (n_i(l) - n_i(l-1)) C_i(l)
//!        + sum over z_i >= m of max(0, ceil(B / T_i) - n_i(m-1)) C_i(m)
//!
//! - n_i(m) = max(n_i(m-1), ceil(B(m) / T_i)) for z_i = m, and n_i(m-1) for z_i < m.
//! - s = max over z_i = m of (n_i(m) - 1) T_i + C_i(m): the mode is said not to leave m before s.
//! - n_i(m) = max(n_i(m-1), ceil(s / T_i)) for z_i > m; in the variant `floor`, floor(s / T_i).
//!
//! A list has n_i(z_i) entries, and jobs that the pattern places in a lower mode than the one looked
//! at are charged that mode's value. The paper uses `floor` where that pattern has lists, else
//! `ceil`; so does the test without a variant.
//!
//! # Why it is unsafe
//!
//! The first jobs of a critical task are charged C(0) because they are released before s, but they may
//! be the very ones that overrun and end mode 0, long before s. Example (D = T): tau1 z 1 C 1/2 T 5;
//! tau2 z 1 C 2/5 T 14; tau3 z 0 C 1 T 4; tau4 z 1 C 1/5 T 14. `ceil` gives the lists 5,0; 1; 3,2; 4. All
//! released at 0, tau4 and tau2 overrun in turn, and tau1's second job, last in the order, misses at 10.
//! `fjp-mode` and `fjp-own` reject the set. The run is a test in the simulator, and the campaign
//! refutes both variants with random sets.
//!
//! Kind: unsafe. [`Outcome::claim`] is what the paper says.

use crate::outcome::{Kind, Outcome};
use crate::problem::Problem;
use crate::schedulability::plrs::analyse_charged;
use crate::schedulability::plrs::lists::Charge;
use crate::schedulability::plrs::pattern::{Rounding, Rule};
use crate::scratch::Scratch;

/// What the paper says: the pattern of the variant `floor` if it has lists, else that of `ceil`.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    let floor = analyse_floor(problem);
    match floor.why {
        None => floor,
        Some(_) => analyse_ceil(problem),
    }
}

/// The variant `ceil`.
#[must_use]
pub fn analyse_ceil(problem: &Problem) -> Outcome {
    analyse_rounded(problem, Rounding::Ceil)
}

/// The variant `floor`.
#[must_use]
pub fn analyse_floor(problem: &Problem) -> Outcome {
    analyse_rounded(problem, Rounding::Floor)
}

/// Whether the paper's condition holds.
#[must_use]
pub fn accepts(problem: &Problem, scratch: &mut Scratch) -> bool {
    accepts_floor(problem, scratch) || accepts_ceil(problem, scratch)
}

/// The same for the variant `ceil`.
#[must_use]
pub fn accepts_ceil(problem: &Problem, _: &mut Scratch) -> bool {
    analyse_ceil(problem).why.is_none()
}

/// The same for the variant `floor`.
#[must_use]
pub fn accepts_floor(problem: &Problem, _: &mut Scratch) -> bool {
    analyse_floor(problem).why.is_none()
}

fn analyse_rounded(problem: &Problem, rounding: Rounding) -> Outcome {
    let rule = Rule::Ija(rounding);
    analyse_charged(problem, Kind::Unsafe, rule, Charge::PatternAware)
}
