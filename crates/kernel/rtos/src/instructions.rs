//! Instructions, by the counter of the processor.

use crate::port::counter;

/// Those of `counter::many_instructions`.
const MANY: u64 = 20_000;

/// What the counter counts.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// For nothing between two readings.
    nothing: u32,
    /// For [`MANY`] instructions more: so many that call and return of them do not count.
    many: u32,
}

impl Scale {
    /// Nothing if the counter does not count.
    #[must_use]
    pub fn measured() -> Option<Self> {
        let (nothing, ()) = counted(|| {});
        let (many, ()) = counted(counter::many_instructions);
        let many = many.saturating_sub(nothing);
        (many > 0).then_some(Self { nothing, many })
    }

    /// Instructions for so many units.
    #[must_use]
    pub fn instructions(self, units: u32) -> u32 {
        let units = u64::from(units.saturating_sub(self.nothing));
        let all = units
            .saturating_mul(MANY)
            .saturating_add(u64::from(self.many) / 2);
        let instructions = all.checked_div(self.many.into());
        instructions
            .and_then(|all| u32::try_from(all).ok())
            .unwrap_or(0)
    }
}

/// What the counter counted meanwhile. The marks are for who counts from outside.
pub fn counted<R>(what: impl FnOnce() -> R) -> (u32, R) {
    let before = counter::read();
    counter::mark();
    let result = what();
    counter::mark();
    (counter::between(before, counter::read()), result)
}
