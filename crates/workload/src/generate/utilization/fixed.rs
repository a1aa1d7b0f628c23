//! RandFixedSum (R. Stafford 2006; for task sets Emberson, Stafford and Davis, WATERS 2010).
//!
//! The slice of the unit cube with a given sum is split into simplices; a table of their volumes
//! says with which probability each step goes up or down. Every vector costs n powers and a shuffle.

use super::from_count;
use crate::generate::Random;

/// Vectors of n numbers in [0, 1] with a given sum, uniformly distributed over all of them.
#[derive(Clone, Debug)]
pub struct RandFixedSum {
    n: usize,
    total: f64,
    /// The largest whole number that is at most the sum and below n.
    whole: usize,
    /// The probability to go on with one less, with i + 2 components left, in the column j < i + 2: row by row.
    up: Vec<f64>,
}

/// Where the row of `left + 1` components begins.
const fn row(left: usize) -> usize {
    left * (left + 1) / 2 - 1
}

impl RandFixedSum {
    /// For vectors of `n` numbers with the sum `total`; `None` unless n > 0 and 0 <= total <= n. O(n^2).
    #[must_use]
    pub fn new(n: usize, total: f64) -> Option<Self> {
        if n == 0 || !(0.0..=from_count(n)).contains(&total) {
            return None;
        }
        let whole = (0..n)
            .rev()
            .find(|&whole| from_count(whole) <= total)
            .unwrap_or(0);
        Some(Self {
            n,
            total,
            whole,
            up: table(n, total, whole),
        })
    }

    /// The next vector.
    pub fn draw(&self, random: &mut Random) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.n);
        let (mut rest, mut column) = (self.total, self.whole);
        let (mut sum, mut share) = (0.0, 1.0);
        for left in (1..self.n).rev() {
            let probability = match column <= left {
                true => self.up.get(row(left) + column).copied(),
                false => None,
            };
            let goes_up = random.unit() <= probability.unwrap_or(0.0);
            let step = if goes_up { 1.0 } else { 0.0 };
            let next = libm::pow(random.unit(), 1.0 / from_count(left));
            sum += (1.0 - next) * share * rest / from_count(left + 1);
            share *= next;
            values.push(sum + share * step);
            rest -= step;
            if goes_up {
                column = column.saturating_sub(1);
            }
        }
        values.push(sum + share * rest);
        // The components were drawn in a fixed order, and their distributions differ.
        random.shuffle(&mut values);
        for value in &mut values {
            // Rounding may leave a number a few units in the last place outside.
            *value = value.clamp(0.0, 1.0);
        }
        values
    }
}

/// The probabilities of going up, by the number of components and the whole part that is left.
fn table(n: usize, total: f64, whole: usize) -> Vec<f64> {
    let down: Vec<f64> = (0..n)
        .map(|i| total - (from_count(whole) - from_count(i)))
        .collect();
    let up: Vec<f64> = (0..n)
        .map(|i| from_count(whole + n) - from_count(i) - total)
        .collect();
    let mut volumes = vec![0.0; n + 1];
    // Any number does: only ratios of volumes count. This one keeps the smallest away from zero.
    volumes[1] = f64::MAX;
    let mut next = vec![0.0; n + 1];
    let mut table = Vec::with_capacity(row(n));
    for i in 2..=n {
        for j in 0..i {
            let from_down = volumes[j + 1] * down[j] / from_count(i);
            let from_up = volumes[j] * up[n - i + j] / from_count(i);
            let volume = from_down + from_up;
            next[j + 1] = volume;
            let sure = volume + f64::MIN_POSITIVE;
            table.push(if up[n - i + j] > down[j] {
                from_up / sure
            } else {
                1.0 - from_down / sure
            });
        }
        // A row reads one place more than the one before it wrote; that one, like the first, still holds 0.
        std::mem::swap(&mut volumes, &mut next);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_have_the_sum_and_stay_in_the_cube() {
        let mut random = Random::new(11);
        for (n, total) in [
            (1, 0.4),
            (2, 1.0),
            (5, 0.3),
            (5, 4.9),
            (20, 7.5),
            (60, 30.0),
        ] {
            let sampler = RandFixedSum::new(n, total).unwrap();
            for _ in 0..200 {
                let values = sampler.draw(&mut random);
                assert_eq!(values.len(), n);
                assert!(values.iter().all(|value| (0.0..=1.0).contains(value)));
                assert!(
                    (values.iter().sum::<f64>() - total).abs() < 1e-9,
                    "{n} {total}"
                );
            }
        }
        assert!(RandFixedSum::new(0, 0.0).is_none() && RandFixedSum::new(3, 3.1).is_none());
        assert!(RandFixedSum::new(3, f64::NAN).is_none());
    }
}
