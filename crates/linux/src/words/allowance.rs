//! What a job may execute: said by the manager, read by a worker, in one word.

use super::sync::{AtomicU64, Ordering};

/// What a job may execute until the manager has to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// It does not begin.
    NotAdmitted,
    /// So many nanoseconds in all, at least one.
    UpTo(u64),
    /// As much as it wants.
    Unlimited,
}

impl Allowance {
    const fn bits(self) -> u64 {
        match self {
            Self::NotAdmitted => 0,
            Self::UpTo(nanos) => nanos,
            Self::Unlimited => u64::MAX,
        }
    }

    const fn from_bits(bits: u64) -> Self {
        match bits {
            0 => Self::NotAdmitted,
            u64::MAX => Self::Unlimited,
            nanos => Self::UpTo(nanos),
        }
    }
}

/// An [`Allowance`] that threads share.
///
/// A monitor is armed by the worker when a job begins, and by the manager when the allowance of a job that runs
/// has changed. The worker reads the allowance, arms, and then reads it [again](Self::again); the
/// manager sets it, and then looks whether the job runs. Both read-modify-write this word: either the
/// worker sees the new allowance and arms anew, or the manager sees that the job has begun, and arms last.
#[derive(Debug)]
pub(crate) struct AllowanceWord(AtomicU64);

impl AllowanceWord {
    pub(crate) fn new(allowance: Allowance) -> Self {
        Self(AtomicU64::new(allowance.bits()))
    }

    pub(crate) fn get(&self) -> Allowance {
        Allowance::from_bits(self.0.load(Ordering::Acquire))
    }

    /// The same for who has armed a monitor with what it read before.
    pub(crate) fn again(&self) -> Allowance {
        Allowance::from_bits(self.0.fetch_or(0, Ordering::AcqRel))
    }

    pub(crate) fn set(&self, allowance: Allowance) {
        self.0.swap(allowance.bits(), Ordering::AcqRel);
    }

    /// Sets it to `to` unless it was changed since it was `from`.
    pub(crate) fn replace(&self, from: Allowance, to: Allowance) {
        // Fails if it was: what came later stands.
        let _ =
            self.0
                .compare_exchange(from.bits(), to.bits(), Ordering::AcqRel, Ordering::Acquire);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_what_was_set() {
        let word = AllowanceWord::new(Allowance::Unlimited);
        for allowance in [
            Allowance::NotAdmitted,
            Allowance::UpTo(1),
            Allowance::UpTo(u64::MAX - 1),
            Allowance::Unlimited,
        ] {
            word.set(allowance);
            assert_eq!((word.get(), word.again()), (allowance, allowance));
        }
    }

    #[test]
    fn what_was_changed_meanwhile_is_not_replaced() {
        let word = AllowanceWord::new(Allowance::UpTo(5));
        word.replace(Allowance::UpTo(5), Allowance::UpTo(3));
        word.replace(Allowance::UpTo(5), Allowance::UpTo(9));
        assert_eq!(word.get(), Allowance::UpTo(3));
    }
}
