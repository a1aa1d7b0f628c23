//! Which jobs have lost their priorities, and which of those shall end.

use super::sync::{AtomicU64, Ordering};

/// Written by the manager alone. Neither number ever falls, and the second is never above the first.
#[derive(Debug, Default)]
pub(crate) struct Revoked {
    /// Jobs with smaller numbers have lost their priorities.
    up_to: AtomicU64,
    /// Those with smaller numbers shall end at their next cancellation points.
    cancel_up_to: AtomicU64,
}

impl Revoked {
    /// Job `number` and all before it lose their priorities.
    pub(crate) fn revoke(&self, number: u64) {
        self.up_to
            .fetch_max(number.saturating_add(1), Ordering::AcqRel);
    }

    /// Those that did so far shall end.
    pub(crate) fn cancel(&self) {
        let revoked = self.up_to.load(Ordering::Relaxed);
        self.cancel_up_to.store(revoked, Ordering::Release);
    }

    /// Whether job `number` has lost its priority.
    pub(crate) fn is_revoked(&self, number: u64) -> bool {
        number < self.up_to.load(Ordering::Acquire)
    }

    /// Whether job `number` shall end.
    pub(crate) fn is_cancelled(&self, number: u64) -> bool {
        number < self.cancel_up_to.load(Ordering::Acquire)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn only_revoked_jobs_are_cancelled_and_nothing_is_taken_back() {
        let revoked = Revoked::default();
        revoked.cancel();
        assert!(!revoked.is_cancelled(0));
        revoked.revoke(3);
        revoked.revoke(1);
        assert!(revoked.is_revoked(3) && !revoked.is_revoked(4));
        assert!(!revoked.is_cancelled(0));
        revoked.cancel();
        assert!(revoked.is_cancelled(3) && !revoked.is_cancelled(4));
    }
}
