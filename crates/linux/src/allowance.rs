//! What a job may execute: said by the manager, read by a worker, in one word.

use std::sync::atomic::{AtomicU64, Ordering};
use vestal_core::Permit;

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
    /// What a permit says of it; `None`: it stays as it is.
    pub(crate) fn of(permit: Permit) -> Option<Self> {
        match permit {
            Permit::Run { limit } | Permit::Below { limit } => Some(match limit {
                Some(limit) => Self::UpTo(limit.as_nanos().max(1)),
                None => Self::Unlimited,
            }),
            Permit::Suspended { .. } => None,
            Permit::Demoted | Permit::Dropped { .. } | Permit::NotAdmitted => {
                Some(Self::NotAdmitted)
            }
        }
    }

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
#[derive(Debug)]
pub(crate) struct AllowanceWord(AtomicU64);

impl AllowanceWord {
    pub(crate) const fn new(allowance: Allowance) -> Self {
        Self(AtomicU64::new(allowance.bits()))
    }

    pub(crate) fn load(&self) -> Allowance {
        Allowance::from_bits(self.0.load(Ordering::SeqCst))
    }

    pub(crate) fn store(&self, allowance: Allowance) {
        self.0.store(allowance.bits(), Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{DropReason, Instant, Service, Until};

    #[test]
    fn a_word_holds_what_was_stored_and_permits_say_what_to_store() {
        let all = [
            Allowance::NotAdmitted,
            Allowance::UpTo(1),
            Allowance::UpTo(u64::MAX - 1),
            Allowance::Unlimited,
        ];
        let word = AllowanceWord::new(Allowance::Unlimited);
        for allowance in all {
            word.store(allowance);
            assert_eq!(word.load(), allowance);
        }
        let limit = Some(Service::from_nanos(7));
        let until = [Until::Event, Until::At(Instant::EPOCH)];
        let why = DropReason::Mode;
        for (permit, expected) in [
            (Permit::Run { limit }, Some(Allowance::UpTo(7))),
            (Permit::Below { limit }, Some(Allowance::UpTo(7))),
            (Permit::Run { limit: None }, Some(Allowance::Unlimited)),
            // A limit of nothing is one all the same.
            (
                Permit::Run {
                    limit: Some(Service::ZERO),
                },
                Some(Allowance::UpTo(1)),
            ),
            (Permit::Suspended { until: until[0] }, None),
            (Permit::Suspended { until: until[1] }, None),
            (Permit::Demoted, Some(Allowance::NotAdmitted)),
            (Permit::Dropped { why }, Some(Allowance::NotAdmitted)),
            (Permit::NotAdmitted, Some(Allowance::NotAdmitted)),
        ] {
            assert_eq!(Allowance::of(permit), expected, "{permit:?}");
        }
    }
}
