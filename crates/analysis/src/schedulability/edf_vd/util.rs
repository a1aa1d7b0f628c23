//! `edf-vd-util`: EDF with virtual deadlines, by two utilisations.
//!
//! Condition (Baruah et al., ECRTS 2012, Theorem 3): with a, b and c as in [`super`],
//!
//! max(a + b, c) <= 3/4.
//!
//! It accepts every set that a clairvoyant scheduler manages on a CPU of three quarters of the
//! speed (the speed-up bound 4/3, which no scheduler that does not know the future improves), and it
//! is what partitioning uses, because it adds up. What is decided, guarantee and assumptions are those of
//! [`super`], whose exact condition it implies: if a + c > 1, then c > 1/4, a > 1/4, and
//! a b <= a (3/4 - a) <= (1 - a) / 4 <= (1 - a) (1 - c), as (1 - 2a)^2 >= 0.
//!
//! Kind: sufficient. The parameters are those of `edf-vd`. Slow twin: as for `edf-vd`.

use super::{Sums, accepts_by, analyse_by};
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::scratch::Scratch;

/// The test's answer with factor and virtual deadlines. There are no response times.
#[must_use]
pub fn analyse(problem: &Problem) -> Outcome {
    analyse_by(problem, Sums::are_within_three_quarters)
}

/// Whether the condition holds.
#[must_use]
pub fn accepts(problem: &Problem, _: &mut Scratch) -> bool {
    accepts_by(problem, Sums::are_within_three_quarters)
}
