//! Vectors with a given sum and with bounds for each component, uniformly distributed.
//!
//! The distribution is the one that Griffin, Bate and Davis (RTSS 2020) ask for, and that their DRS
//! misses; today it is called the convolutional fixed-sum distribution. With the lower bounds taken
//! off, it is the uniform distribution over { y : 0 <= y_i <= w_i, sum y_i = s }.
//!
//! **Rule.** Let the y_i be independent with densities proportional to e^(-x y) on [0, w_i], for any
//! x. Given their sum, they are uniformly distributed: the joint density depends on the sum alone.
//! So draw all but one, let the last, y_n, make up the sum, and accept with probability e^(-x y_n) if
//! 0 <= y_n <= w_n, which is what the density of the drawn ones lacks. That is rejection sampling, and
//! exact: there is no grid, no table, no convolution, and x does not change the distribution.
//!
//! **Speed.** x is chosen so that the expected sum is s (nearly: only the speed depends on it); then
//! about one in sqrt(2 pi n) tries is accepted, whatever the bounds. The last component is the one
//! with the widest bounds. Where s is more than half of the sum of the w_i, w_i - y_i is drawn, so
//! that x is never negative. A try ends as soon as the rest cannot make up the sum any more.

use super::from_count;
use crate::generate::Random;

/// Draws vectors l_i <= v_i <= u_i with a given sum.
#[derive(Clone, Debug)]
pub struct BoundedSum {
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// u_i - l_i.
    width: Vec<f64>,
    /// Components that vary, the widest last.
    order: Vec<usize>,
    /// The most that the components after this place of `order`, the last apart, can add.
    room: Vec<f64>,
    /// s: what the components that vary add to the lower bounds, or leave to the upper ones.
    sum: f64,
    reflected: bool,
    /// x; 0 for a sum so close to the middle that the plain uniform distribution does as well.
    rate: f64,
    /// 1 - e^(-x w) for each place of `order`.
    mass: Vec<f64>,
}

impl BoundedSum {
    /// For vectors between `lower` and `upper` with the sum `total`; `None` unless the bounds are
    /// finite and ordered, as many below as above, and the sum lies between theirs. O(n).
    #[must_use]
    pub fn new(lower: &[f64], upper: &[f64], total: f64) -> Option<Self> {
        let fits = |(low, high): (&f64, &f64)| low <= high && (high - low).is_finite();
        if lower.len() != upper.len() || !lower.iter().zip(upper).all(fits) {
            return None;
        }
        let width: Vec<f64> = lower
            .iter()
            .zip(upper)
            .map(|(low, high)| high - low)
            .collect();
        let (least, span): (f64, f64) = (lower.iter().sum(), width.iter().sum());
        // A sum that was computed may miss the bounds' own by rounding.
        let slack = 1e-12 * (least.abs() + span);
        if !(least - slack..=least + span + slack).contains(&total) {
            return None;
        }
        let above = (total - least).clamp(0.0, span);
        let reflected = above > span / 2.0;
        let sum = if reflected { span - above } else { above };
        let mut order: Vec<usize> = (0..width.len()).filter(|&i| width[i] > 0.0).collect();
        if let Some(widest) =
            (0..order.len()).max_by(|&a, &b| width[order[a]].total_cmp(&width[order[b]]))
        {
            let last = order.remove(widest);
            order.push(last);
        }
        let varying: Vec<f64> = order.iter().map(|&i| width[i]).collect();
        let rate = rate(&varying, sum);
        let drawn = varying.len().saturating_sub(1);
        let mut room = vec![0.0; varying.len()];
        for place in (1..drawn).rev() {
            room[place - 1] = room[place] + varying[place];
        }
        Some(Self {
            lower: lower.to_vec(),
            upper: upper.to_vec(),
            order,
            room,
            sum,
            reflected,
            rate,
            mass: varying.iter().map(|w| -libm::expm1(-rate * w)).collect(),
            width,
        })
    }

    /// The next vector, into `values`, which has a place for each component.
    pub fn draw_into(&self, values: &mut [f64], random: &mut Random) {
        let edges = if self.reflected {
            &self.upper
        } else {
            &self.lower
        };
        for (value, edge) in values.iter_mut().zip(edges) {
            *value = *edge;
        }
        if self.order.is_empty() || self.sum <= 0.0 {
            return;
        }
        while !self.attempt(values, random) {}
        for &i in &self.order {
            let value = if self.reflected {
                self.upper[i] - values[i]
            } else {
                self.lower[i] + values[i]
            };
            // Rounding may leave a number a unit in the last place outside.
            values[i] = value.clamp(self.lower[i], self.upper[i]);
        }
    }

    /// The next vector.
    #[must_use]
    pub fn draw(&self, random: &mut Random) -> Vec<f64> {
        let mut values = vec![0.0; self.lower.len()];
        self.draw_into(&mut values, random);
        values
    }

    /// One try: leaves y in the places of the varying components if it is accepted.
    fn attempt(&self, values: &mut [f64], random: &mut Random) -> bool {
        let Some((&last, drawn)) = self.order.split_last() else {
            return true;
        };
        let widest = self.width[last];
        let mut rest = self.sum;
        for ((&i, mass), room) in drawn.iter().zip(&self.mass).zip(&self.room) {
            let unit = random.unit();
            let value = if self.rate > 0.0 {
                // The inverse of (1 - e^(-x y)) / (1 - e^(-x w)).
                (-libm::log(1.0 - unit * mass) / self.rate).min(self.width[i])
            } else {
                unit * self.width[i]
            };
            rest -= value;
            if rest < 0.0 || rest - room > widest {
                return false;
            }
            values[i] = value;
        }
        values[last] = rest;
        rest <= widest && (self.rate == 0.0 || random.unit() < libm::exp(-self.rate * rest))
    }
}

/// x >= 0 with sum_i m(x, w_i) near `sum`, where m(x, w) = 1/x - w/(e^(x w) - 1) is the mean of a
/// component; `sum` is at most half of the sum of the widths. m falls as x grows.
fn rate(widths: &[f64], sum: f64) -> f64 {
    /// A try more or less in twenty is not worth a further step.
    const STEPS: u32 = 24;
    let span: f64 = widths.iter().sum();
    if sum <= 0.0 || sum >= span * 0.499 {
        return 0.0;
    }
    let mean = |x: f64| -> f64 {
        let means = widths.iter().map(|w| {
            let scaled = x * w;
            if scaled < 1e-3 {
                w * (0.5 - scaled / 12.0)
            } else {
                1.0 / x - w / libm::expm1(scaled)
            }
        });
        means.sum()
    };
    // m(x, w) < 1/x, so the root lies below n / sum.
    let (mut low, mut high) = (0.0, from_count(widths.len()) / sum);
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if mean(middle) > sum {
            low = middle;
        } else {
            high = middle;
        }
        if high - low < 0.02 * high {
            break;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_have_the_sum_and_keep_their_bounds() {
        let mut random = Random::new(5);
        let lower = [0.0, 0.1, 0.0, 0.2, 0.05, 0.3];
        let upper = [0.5, 0.1, 1.0, 0.9, 0.06, 0.3];
        let (least, most): (f64, f64) = (lower.iter().sum(), upper.iter().sum());
        for share in [0.0, 1e-6, 0.01, 0.3, 0.5, 0.7, 0.999, 1.0] {
            let total = least + share * (most - least);
            let sampler = BoundedSum::new(&lower, &upper, total).unwrap();
            for _ in 0..300 {
                let values = sampler.draw(&mut random);
                for (i, value) in values.iter().enumerate() {
                    assert!(
                        (lower[i] - 1e-12..=upper[i] + 1e-12).contains(value),
                        "{i}: {value} at {share}"
                    );
                }
                assert!((values.iter().sum::<f64>() - total).abs() < 1e-9, "{share}");
            }
        }
    }

    #[test]
    fn what_has_no_vector_has_no_sampler() {
        assert!(BoundedSum::new(&[0.0], &[1.0, 1.0], 0.5).is_none());
        assert!(BoundedSum::new(&[0.5, 0.0], &[0.4, 1.0], 0.5).is_none());
        assert!(BoundedSum::new(&[0.0, 0.0], &[1.0, 1.0], 2.1).is_none());
        assert!(BoundedSum::new(&[0.2, 0.2], &[1.0, 1.0], 0.3).is_none());
        assert!(BoundedSum::new(&[0.0, 0.0], &[1.0, 1.0], f64::NAN).is_none());
        assert!(BoundedSum::new(&[0.0], &[f64::INFINITY], 1.0).is_none());
        let mut random = Random::new(1);
        assert!(
            BoundedSum::new(&[], &[], 0.0)
                .unwrap()
                .draw(&mut random)
                .is_empty()
        );
        let single = BoundedSum::new(&[0.1], &[0.9], 0.4)
            .unwrap()
            .draw(&mut random);
        assert!((single[0] - 0.4).abs() < 1e-12);
    }
}
