//! What the test programs share. Random numbers are SplitMix64 (Steele, Lea and Flood 2014), the
//! same everywhere.

pub(crate) mod judgement;
pub(crate) mod recorder;
pub(crate) mod system;

/// A generator; equal seeds give equal sequences.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.next().is_multiple_of(times)
    }

    pub(crate) fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[(self.next() % among.len() as u64) as usize]
    }
}

pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
