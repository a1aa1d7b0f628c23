//! What a relative time is stored in.

use core::fmt;

/// An unsigned integer of a few bits that a node stores its time in.
///
/// `u8`, `u16` and `u32` use all their values; [`Bounded`] stops earlier. Whatever the width, a queue
/// holds intervals of up to about 2^32 times [`Tick::MAX`].
pub trait Tick: Copy + Eq + fmt::Debug {
    /// No time.
    const ZERO: Self;
    /// M, the largest time that is stored; at least 1.
    const MAX: u32;
    /// The number of ticks.
    fn get(self) -> u32;
    /// So many ticks; `ticks` is at most [`Tick::MAX`], and more is cut off there.
    fn of(ticks: u32) -> Self;

    /// A node of a queue is passed in search of an event, or of the place for one, or a task in search of the one to execute: what bounds on calls that search
    /// are linear in. Does nothing unless overridden.
    fn on_pass() {}

    /// What few calls have to do: a run of dummies is made, takes over the time of an event that goes, or is joined with another, or an event is moved among
    /// others ([`Pool::renew`](super::Pool::renew)). Does nothing unless overridden.
    fn on_detour() {}
}

impl Tick for u8 {
    const ZERO: Self = 0;
    const MAX: u32 = 0xff;

    fn get(self) -> u32 {
        self.into()
    }

    fn of(ticks: u32) -> Self {
        Self::try_from(ticks).unwrap_or(Self::MAX)
    }
}

impl Tick for u16 {
    const ZERO: Self = 0;
    const MAX: u32 = 0xffff;

    fn get(self) -> u32 {
        self.into()
    }

    fn of(ticks: u32) -> Self {
        Self::try_from(ticks).unwrap_or(Self::MAX)
    }
}

impl Tick for u32 {
    const ZERO: Self = 0;
    const MAX: u32 = Self::MAX;

    fn get(self) -> u32 {
        self
    }

    fn of(ticks: u32) -> Self {
        ticks
    }
}

/// A `T` that goes up to `MAX` only: `Bounded<u8, 15>` has 4 bits. Who wants to see dummies at work
/// chooses a small one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounded<T, const MAX: u32>(T);

impl<T: Tick, const MAX: u32> Tick for Bounded<T, MAX> {
    const ZERO: Self = Self(T::ZERO);
    const MAX: u32 = {
        assert!(
            MAX >= 1 && MAX <= T::MAX,
            "a bound from 1 to the type's maximum"
        );
        MAX
    };

    fn get(self) -> u32 {
        self.0.get()
    }

    fn of(ticks: u32) -> Self {
        Self(T::of(ticks.min(Self::MAX)))
    }

    fn on_pass() {
        T::on_pass();
    }

    fn on_detour() {
        T::on_detour();
    }
}
