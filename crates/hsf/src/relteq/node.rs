//! A node: an event, or a run of dummies, and how long after the node before it.

use super::Tick;
use core::num::NonZeroU16;

/// The position of a node in its pool, counted from 1.
pub(super) type Index = NonZeroU16;

/// The next node, if there is one.
pub(super) type Link = Option<Index>;

/// What a node stands for. The representation makes an unused pool all zeros.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry<E> {
    /// The node's own dummy, and so many `more` of M each behind it.
    Dummies {
        /// How many.
        more: u32,
    },
    /// An event.
    Event(E),
}

/// A node of a queue as [`super::Pool::items`] shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Item<E> {
    /// Ticks from the node before it, or from the queue's now, to the event or to the first dummy.
    pub time: u32,
    /// What it is.
    pub entry: Entry<E>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node<T, E> {
    pub(super) time: T,
    pub(super) next: Link,
    pub(super) entry: Entry<E>,
}

impl<T: Tick, E> Node<T, E> {
    /// What unused positions of a pool hold.
    pub(super) const UNUSED: Self = Self {
        time: T::ZERO,
        next: None,
        entry: Entry::Dummies { more: 0 },
    };

    /// Ticks from the node before it to its event, or to its last dummy.
    pub(super) fn span(&self) -> u64 {
        let time = u64::from(self.time.get());
        match self.entry {
            Entry::Event(_) => time,
            Entry::Dummies { more } => {
                // Two factors of 32 bits and a summand of 32 bits: this never saturates.
                let rest = u64::from(more).saturating_mul(T::MAX.into());
                time.saturating_add(rest)
            }
        }
    }

    pub(super) fn is_run(&self) -> bool {
        matches!(self.entry, Entry::Dummies { .. })
    }
}

/// `span` as so many times M and a rest: 0 only for a span of 0, else 1 to M. `None` if there are more than
/// a count holds. A division only when there is something to divide.
pub(super) fn split<T: Tick>(span: u64) -> Option<(u32, T)> {
    if span <= T::MAX.into() {
        return Some((0, T::of(low(span))));
    }
    let (whole, rest) = divide::<T>(span.saturating_sub(1));
    let dummies = u32::try_from(whole).ok()?;
    Some((dummies, T::of(rest.saturating_add(1))))
}

/// Quotient and rest by M. A processor with 32 bits divides 32 bits; what is longer, which is rare, goes by digits of 16 bits where M has no more, and
/// else bit by bit, so that no library for 64 bits is needed.
fn divide<T: Tick>(dividend: u64) -> (u64, u32) {
    if let Ok(short) = u32::try_from(dividend) {
        let quotient = short.checked_div(T::MAX).unwrap_or(0);
        let rest = short.checked_rem(T::MAX).unwrap_or(0);
        return (quotient.into(), rest);
    }
    if T::MAX <= 0xffff {
        let [a, b, c, d, e, f, g, h] = dividend.to_be_bytes();
        let (mut quotient, mut rest) = (0_u64, 0_u32);
        for digit in [[a, b], [c, d], [e, f], [g, h]] {
            let part = rest.wrapping_shl(16) | u32::from(u16::from_be_bytes(digit));
            let whole = part.checked_div(T::MAX).unwrap_or(0);
            quotient = quotient.wrapping_shl(16) | u64::from(whole);
            rest = part.checked_rem(T::MAX).unwrap_or(0);
        }
        return (quotient, rest);
    }
    let (mut left, mut quotient, mut rest) = (dividend, 0_u64, 0_u64);
    for _ in 0..u64::BITS {
        rest = rest.wrapping_shl(1) | u64::from(left.leading_zeros() == 0);
        left = left.wrapping_shl(1);
        quotient = quotient.wrapping_shl(1);
        if let Some(smaller) = rest.checked_sub(T::MAX.into()) {
            rest = smaller;
            quotient |= 1;
        }
    }
    (quotient, low(rest))
}

/// A number that is known to be one of 32 bits.
pub(super) fn low(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relteq::Bounded;

    fn check<T: Tick>() {
        let cases = [
            0,
            1,
            14,
            15,
            16,
            0xffff_ffff,
            0x1_0000_0000,
            0xffff_0000_fffe_ffff,
            0x1234_5678_9abc_def0,
            u64::MAX,
        ];
        for dividend in cases {
            let by = u64::from(T::MAX);
            let expected = (dividend / by, (dividend % by) as u32);
            assert_eq!(divide::<T>(dividend), expected, "{dividend} / {by}");
        }
    }

    #[test]
    fn division_by_hand_is_division() {
        check::<Bounded<u8, 1>>();
        check::<Bounded<u8, 2>>();
        check::<Bounded<u8, 15>>();
        check::<u8>();
        check::<u16>();
        check::<Bounded<u32, 0x1_0000>>();
        check::<Bounded<u32, 0x8000_0001>>();
        check::<u32>();
    }
}
