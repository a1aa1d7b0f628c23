//! The newest of one writer's values.

use super::sync::{AtomicU64, Ordering};
use std::marker::PhantomData;

/// What fits into a word.
pub(crate) trait Value: Copy {
    fn bits(self) -> u64;
    /// What [`Self::bits`] was made of.
    fn from_bits(bits: u64) -> Self;
}

impl Value for u64 {
    fn bits(self) -> u64 {
        self
    }

    fn from_bits(bits: u64) -> Self {
        bits
    }
}

impl Value for u8 {
    fn bits(self) -> u64 {
        u64::from(self)
    }

    fn from_bits(bits: u64) -> Self {
        Self::try_from(bits).unwrap_or(Self::MAX)
    }
}

impl Value for i32 {
    fn bits(self) -> u64 {
        i64::from(self).cast_unsigned()
    }

    fn from_bits(bits: u64) -> Self {
        Self::try_from(bits.cast_signed()).unwrap_or(Self::MAX)
    }
}

/// The newest value. Who reads it also sees what its writer wrote before.
#[derive(Debug, Default)]
pub(crate) struct Latest<T> {
    word: AtomicU64,
    value: PhantomData<fn() -> T>,
}

impl<T: Value> Latest<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            word: AtomicU64::new(value.bits()),
            value: PhantomData,
        }
    }

    /// A new value. By one thread.
    pub(crate) fn set(&self, value: T) {
        self.word.store(value.bits(), Ordering::Release);
    }

    pub(crate) fn get(&self) -> T {
        T::from_bits(self.word.load(Ordering::Acquire))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_what_was_set() {
        let word = Latest::new(-1);
        for value in [0, 1, -1, i32::MAX, i32::MIN] {
            word.set(value);
            assert_eq!(word.get(), value);
        }
        assert_eq!(Latest::new(u8::MAX).get(), u8::MAX);
        assert_eq!(Latest::new(u64::MAX).get(), u64::MAX);
        assert_eq!(Latest::<u64>::default().get(), 0);
    }
}
