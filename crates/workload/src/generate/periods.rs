//! Periods.

use super::Random;

/// How periods are drawn, in units of the recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Periods {
    /// Any multiple of `step` from `least` to `most`, all as likely.
    Uniform {
        /// The shortest.
        least: u64,
        /// The longest.
        most: u64,
        /// The step, above 0.
        step: u64,
    },
    /// The logarithm is uniformly distributed: as many periods in 10..100 as in 100..1000 (Emberson,
    /// Stafford and Davis, WATERS 2010). The multiples of `step` from `least` to `most`.
    LogUniform {
        /// The shortest.
        least: u64,
        /// The longest.
        most: u64,
        /// The step, above 0.
        step: u64,
    },
    /// One of these, all as likely.
    List(Vec<u64>),
    /// `base` times 1, 2, 4, ... up to the power `doublings`, all as likely: each divides the longer.
    Harmonic {
        /// The shortest.
        base: u64,
        /// How often it is doubled at most.
        doublings: u32,
    },
}

impl Periods {
    /// The next period. Above 0 if the parameters are.
    pub fn draw(&self, random: &mut Random) -> u64 {
        match self {
            Self::Uniform { least, most, step } => {
                let first = least.div_ceil((*step).max(1));
                let last = most / (*step).max(1);
                let count = last.saturating_sub(first) + 1;
                (first + random.below(count)).saturating_mul(*step)
            }
            Self::LogUniform { least, most, step } => log_uniform(*least, *most, *step, random),
            Self::List(periods) => {
                let chosen = random.below(periods.len() as u64);
                let chosen = usize::try_from(chosen).unwrap_or(0);
                periods.get(chosen).copied().unwrap_or(1)
            }
            Self::Harmonic { base, doublings } => {
                let power = random.below(u64::from(*doublings) + 1);
                let factor = u32::try_from(power)
                    .ok()
                    .and_then(|power| 1u64.checked_shl(power));
                base.saturating_mul(factor.unwrap_or(1))
            }
        }
    }
}

/// floor(e^U / step) * step with U uniform over [ln least, ln(most + step)).
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is positive and below 2^53 for every period a recipe draws"
)]
fn log_uniform(least: u64, most: u64, step: u64, random: &mut Random) -> u64 {
    let step = step.max(1);
    let low = libm::log(least.max(1) as f64);
    let high = libm::log((most + step) as f64);
    let drawn = libm::exp(random.between(low, high)) as u64;
    (drawn / step * step).clamp(least.max(1), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_stay_in_their_range_and_reach_its_ends() {
        let mut random = Random::new(2);
        let ranges = [
            Periods::Uniform {
                least: 10,
                most: 40,
                step: 10,
            },
            Periods::LogUniform {
                least: 10,
                most: 40,
                step: 10,
            },
            Periods::List(vec![10, 20, 30, 40]),
            Periods::Harmonic {
                base: 10,
                doublings: 2,
            },
        ];
        for periods in ranges {
            let drawn: Vec<u64> = (0..1000).map(|_| periods.draw(&mut random)).collect();
            assert!(drawn.iter().all(|period| period % 10 == 0), "{periods:?}");
            assert_eq!(drawn.iter().min(), Some(&10), "{periods:?}");
            assert_eq!(drawn.iter().max(), Some(&40), "{periods:?}");
        }
    }
}
