//! What permits say of what jobs may execute.

use crate::words::Allowance;
use vestal_core::Permit;

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
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{DropReason, Instant, Service, Until};

    #[test]
    fn permits_say_what_a_job_may_execute() {
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
