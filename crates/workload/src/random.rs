//! Random numbers that are the same on every platform.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, ACM TOMS 47, 2021), whose sequence its
//! definition fixes. What is made of its 64-bit words is our own code for the same reason: integers
//! throughout, or operations that IEEE 754 fixes and the functions of the `libm` crate, which are
//! software.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A source of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The sequence of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in (0, 1), never an end, with 53 random bits.
    #[expect(clippy::cast_precision_loss, reason = "2^53 values are exact")]
    pub fn unit(&mut self) -> f64 {
        ((self.word() >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
    }

    /// A whole number in 0..n, each exactly as likely as any other (Lemire 2019, with rejection);
    /// 0 for n = 0.
    pub fn below(&mut self, n: u64) -> u64 {
        let reject = n.wrapping_neg().checked_rem(n).unwrap_or(0);
        loop {
            let wide = u128::from(self.word()) * u128::from(n);
            let (high, low) = split(wide);
            if low >= reject {
                return high;
            }
        }
    }

    /// A number between `low` and `high`, uniformly distributed.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Puts `items` into a random order, every one as likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last as u64 + 1);
            items.swap(last, usize::try_from(chosen).unwrap_or(last));
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the two halves of 128 bits have 64 each"
)]
fn split(wide: u128) -> (u64, u64) {
    ((wide >> 64) as u64, wide as u64)
}

/// One step of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection that mixes all bits.
pub(crate) const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seed made of a seed and of what it is for, such as the numbers of a point and a set. Different
/// parts give unrelated sequences.
#[must_use]
pub const fn derived_seed(seed: u64, parts: &[u64]) -> u64 {
    let mut hash = mix(seed);
    let mut at = 0;
    while at < parts.len() {
        hash = mix(hash ^ parts[at]);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // The first words of xoshiro256++ from the state that SplitMix64 makes of the seed 0.
        let mut random = Random::new(0);
        let words: Vec<u64> = (0..3).map(|_| random.word()).collect();
        assert_eq!(
            words,
            [
                0x5317_5d61_490b_23df,
                0x61da_6f3d_c380_d507,
                0x5c0f_df91_ec9a_7bfc
            ]
        );
    }

    #[test]
    fn seeds_of_different_parts_differ_and_do_not_change() {
        assert_eq!(derived_seed(1, &[]), mix(1));
        let seeds = [
            derived_seed(1, &[0, 1]),
            derived_seed(1, &[1, 0]),
            derived_seed(2, &[0, 1]),
            derived_seed(1, &[0]),
        ];
        for (at, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..at].contains(seed));
        }
        assert_eq!(seeds[0], 0x6c57_95e1_4b3b_7e33);
    }

    #[test]
    fn whole_numbers_cover_their_range_and_nothing_else() {
        let mut random = Random::new(7);
        let mut seen = [0u32; 6];
        for _ in 0..6000 {
            seen[usize::try_from(random.below(6)).unwrap()] += 1;
        }
        assert!(
            seen.iter().all(|&count| (850..1150).contains(&count)),
            "{seen:?}"
        );
        assert_eq!((random.below(0), random.below(1)), (0, 0));
    }
}
