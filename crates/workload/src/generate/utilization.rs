//! Utilisations of n tasks with a given sum.
//!
//! | sampler | uniform over | bounds | cost of a vector |
//! |---|---|---|---|
//! | [`uunifast`] | all vectors | none above | n powers |
//! | [`uunifast_discard`] | vectors within the bound | one for all, by rejection | grows without limit as the sum nears n |
//! | [`RandFixedSum`] | vectors in the unit cube | 0 and 1 | n powers, after a table of n^2 |
//! | [`BoundedSum`] | vectors within bounds | a pair for each component | about n sqrt(2 pi n) logarithms |

mod bounded;
mod fixed;

pub use bounded::BoundedSum;
pub use fixed::RandFixedSum;

use super::Random;

/// UUniFast (Bini and Buttazzo, Real-Time Systems 30, 2005): n numbers above 0 whose sum is `total`,
/// uniformly distributed over all such vectors. A number may exceed 1 where `total` does; O(n).
pub fn uunifast(n: usize, total: f64, random: &mut Random) -> Vec<f64> {
    let mut values = Vec::with_capacity(n);
    let mut sum = total;
    for left in (1..n).rev() {
        let next = sum * libm::pow(random.unit(), 1.0 / from_count(left));
        values.push(sum - next);
        sum = next;
    }
    if n > 0 {
        values.push(sum);
    }
    values
}

/// UUniFast-Discard (Davis and Burns, Real-Time Systems 47, 2011): UUniFast until no number is above
/// `most`, but at most `tries` times; `None` if none of them would do.
pub fn uunifast_discard(
    n: usize,
    total: f64,
    most: f64,
    tries: u32,
    random: &mut Random,
) -> Option<Vec<f64>> {
    (0..tries)
        .map(|_| uunifast(n, total, random))
        .find(|values| values.iter().all(|&value| value <= most))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of tasks are far below 2^53"
)]
pub(super) fn from_count(count: usize) -> f64 {
    count as f64
}
