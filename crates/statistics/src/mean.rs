//! Intervals for the mean of what independent values were drawn from.
//!
//! Of values between 0 and 1, such as shares, the interval of Waudby-Smith and Ramdas, *Estimating means of bounded
//! random variables by betting*, J. R. Stat. Soc. B 86 (2024), section 4: the hedged capital with a fixed number of
//! values. It holds with the wanted probability for every distribution and every number of values, and with some
//! hundreds of values about one and a half to two times as wide as Student's where that can be relied on. Student's own can not be relied on where few values tell: of
//! shares that are 0 nearly always it knows nothing but the zeros, and is wrong far too often.
//!
//! Why it holds: somebody who thinks that the mean is above m bets a part of the capital, at most c/m of it so that it
//! stays positive, on each value x before it is seen, and gets `1 + bet (x - m)` times the capital back. If m is the mean, no bet
//! is worth anything, and the capital ever grows to 2/a with a probability of a/2 at most (Ville 1939). So what would
//! have made the bettor so rich is not the mean, nor is what would have made the opponent rich who bets on less. A bet may
//! depend on the values before, and is chosen to win fast if the mean is another one.
//!
//! Of values without bounds there is no such interval; [`Mean::of`] gives Student's.

/// How sure an interval is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    /// The probability with which it may be wrong.
    pub wrong: f64,
    /// The standard errors of the normal distribution that leave this on both sides together.
    pub errors: f64,
}

impl Confidence {
    /// 95 %.
    pub const USUAL: Self = Self {
        wrong: 0.05,
        errors: 1.959_963_984_540_054,
    };
    /// Four standard errors: wrong with 0.006 %, so that all of 800 are right with 95 %.
    pub const FOUR_ERRORS: Self = Self {
        wrong: 6.334_248_366_623_984e-5,
        errors: 4.0,
    };
}

/// A mean, and from where to where that of what the values were drawn from lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// That of the values.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// No bet takes more than this part of what it may take.
const STAKE_MAX: f64 = 0.75;

/// As often an end is looked for in half of where it was: 2^-40 is left.
const HALVINGS: u32 = 40;

impl Mean {
    /// Of independent values between 0 and 1 in an order that does not depend on them; values beyond count as 0 and 1.
    /// Without any, everything is possible. O(n), for each of 80 candidates.
    #[must_use]
    pub fn of_bounded(values: &[f64], confidence: Confidence) -> Self {
        let values: Vec<f64> = values.iter().map(|value| value.clamp(0.0, 1.0)).collect();
        let Some(value) = mean(&values) else {
            return Self {
                value: 0.0,
                low: 0.0,
                high: 1.0,
            };
        };
        let mirrored: Vec<f64> = values.iter().map(|value| 1.0 - value).collect();
        Self {
            value,
            low: lower_end(&values, confidence).min(value),
            high: (1.0 - lower_end(&mirrored, confidence)).max(value),
        }
    }

    /// Of independent values that are about normally distributed, or many: Student's interval (1908). Of one value, or
    /// none, everything is possible. O(n).
    #[must_use]
    pub fn of(values: &[f64], confidence: Confidence) -> Self {
        let everything = |value| Self {
            value,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        };
        let Some(value) = mean(values) else {
            return everything(0.0);
        };
        if values.len() < 2 {
            return everything(value);
        }
        let freedom = as_f64(values.len() - 1);
        let squares = values.iter().map(|one| (one - value).powi(2));
        let variance = squares.sum::<f64>() / freedom;
        let spread =
            student(values.len() - 1, confidence) * (variance / as_f64(values.len())).sqrt();
        Self {
            value,
            low: value - spread,
            high: value + spread,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number of values")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = as_f64(values.len());
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)
}

/// The least mean that has not made the bettor rich who bets on more. The capital falls with the mean that it is bet
/// against, so halving finds it.
fn lower_end(values: &[f64], confidence: Confidence) -> f64 {
    let stakes = stakes(values, confidence.wrong);
    let rich = 2.0 / confidence.wrong;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        match becomes_rich(values, &stakes, middle, rich) {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

/// Whether the capital, 1 at first, ever reaches `rich` by bets against the mean `against`.
fn becomes_rich(values: &[f64], stakes: &[f64], against: f64, rich: f64) -> bool {
    let most = STAKE_MAX / against;
    let mut capital = 1.0;
    values.iter().zip(stakes).any(|(value, stake)| {
        capital *= 1.0 + stake.min(most) * (value - against);
        capital >= rich
    })
}

/// What is bet on each value, by those before it: `sqrt(2 ln(2/a) / (n v))` with their variance v, to which one value
/// with the variance 1/4 is added.
fn stakes(values: &[f64], wrong: f64) -> Vec<f64> {
    let wanted = 2.0 * (2.0 / wrong).ln() / as_f64(values.len().max(1));
    let (mut sum, mut squares, mut count) = (0.5, 0.25, 1.0);
    let stake = |value: &f64| {
        let variance: f64 = squares / count;
        count += 1.0;
        sum += value;
        squares += (value - sum / count).powi(2);
        (wanted / variance).sqrt()
    };
    values.iter().map(stake).collect()
}

/// More degrees of freedom have quantiles by their expansion.
const EXACT_MAX: usize = 200;

/// The quantile of Student's distribution that leaves as much on both sides together as the confidence allows.
fn student(freedom: usize, confidence: Confidence) -> f64 {
    if freedom > EXACT_MAX {
        // Abramowitz and Stegun 26.7.5.
        let (z, n) = (confidence.errors, as_f64(freedom));
        let first = (z.powi(3) + z) / 4.0;
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
        let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
        return z + first / n + second / n.powi(2) + third / n.powi(3);
    }
    let (mut low, mut high) = (0.0, 2.0 / confidence.wrong);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        match 1.0 - within(middle, freedom) > confidence.wrong {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// The probability that a variable with Student's distribution lies between -t and t (Abramowitz and Stegun 26.7.3
/// and 26.7.4). O(n).
fn within(t: f64, freedom: usize) -> f64 {
    let angle = (t / as_f64(freedom).sqrt()).atan();
    let (sine, square) = (angle.sin(), angle.cos().powi(2));
    let is_odd = freedom % 2 == 1;
    // Sums of the terms from the first one on: 1, 1/2 c^2, 1*3/(2*4) c^4, ...; if odd 1, 2/3 c^2, ...
    let (mut term, mut sum) = (1.0, 0.0);
    let first = if is_odd { 1 } else { 0 };
    for k in (first..freedom.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= square * as_f64(k + 1) / as_f64(k + 2);
    }
    match is_odd {
        true => (angle + sine * angle.cos() * sum) * std::f64::consts::FRAC_2_PI,
        false => sine * sum,
    }
}

#[cfg(test)]
#[path = "mean_tests.rs"]
mod tests;
