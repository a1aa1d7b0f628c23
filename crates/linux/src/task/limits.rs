//! What the jobs of a task may execute, which may grow slice by slice.

use crate::armed::Armed;
use crate::words::{Allowance, AllowanceWord};

/// What worker and manager share about that.
#[derive(Debug)]
pub(crate) struct Limits {
    /// Written by the manager: what the next job may execute from its beginning.
    pub(crate) next: AllowanceWord,
    is_sliced: bool,
    /// Under native dispatch, of a sliced task: what the present job was granted so far. Written by the
    /// worker before it says what runs, and by the manager for the job that runs.
    present: AllowanceWord,
    /// By how much a job may exceed a limit before that is an overrun; `None`: limits are not enforced.
    pub(crate) tolerated_nanos: Option<u64>,
}

impl Limits {
    /// Of a task whose first job has `limit`.
    pub(super) fn new(limit: Allowance) -> Self {
        Self {
            next: AllowanceWord::new(limit),
            is_sliced: false,
            present: AllowanceWord::new(Allowance::Unlimited),
            tolerated_nanos: None,
        }
    }

    /// From the beginning jobs are granted their limits slice by slice.
    pub(super) const fn slice(&mut self) {
        self.is_sliced = true;
    }

    /// Whether jobs are granted their limits slice by slice.
    pub(crate) const fn is_sliced(&self) -> bool {
        self.is_sliced
    }

    /// The execution at which a job with `limit` has overrun; `None`: never.
    pub(crate) const fn threshold(&self, limit: Allowance) -> Option<u64> {
        match (limit, self.tolerated_nanos) {
            (Allowance::UpTo(limit), Some(tolerated)) => Some(limit.saturating_add(tolerated)),
            (Allowance::UpTo(_) | Allowance::NotAdmitted | Allowance::Unlimited, _) => None,
        }
    }

    /// Lets `monitor` fire after `rest` of what the present allowance is. The allowance is read again afterwards: whoever changed it
    /// meanwhile may have armed the monitor before this did.
    pub(crate) fn arm(&self, monitor: &Armed, rest: impl Fn(u64) -> Option<u64>) {
        let mut allowance = self.present_limit();
        loop {
            if let Some(threshold) = self.threshold(allowance)
                && let Some(rest) = rest(threshold)
            {
                monitor.start(rest);
            }
            let again = self.present_limit_again();
            if again == allowance {
                return;
            }
            allowance = again;
        }
    }

    /// The worker is about to begin a job, which is granted its first slice: that is returned. Later ones, which
    /// may have begun by now, the guard grants when the job has executed that.
    pub(crate) fn grant_first(&self) -> Allowance {
        let first = self.next.get();
        if self.is_sliced() {
            self.grant(first);
        }
        first
    }

    /// The worker shows a job that it has granted `first`; gives what the manager says now, which may have changed
    /// that before it saw the job.
    pub(crate) fn grant_again(&self, first: Allowance) -> Allowance {
        let next = self.next.get();
        if self.is_sliced() && next != first {
            self.present.replace(first, next);
        }
        next
    }

    /// The running job may execute so much until its next slice begins.
    pub(crate) fn grant(&self, granted: Allowance) {
        self.present.set(granted);
    }

    /// What the running job may execute until the manager has to look.
    pub(crate) fn present_limit(&self) -> Allowance {
        self.present_word().get()
    }

    /// The same for who has armed a monitor with what it read before.
    pub(crate) fn present_limit_again(&self) -> Allowance {
        self.present_word().again()
    }

    const fn present_word(&self) -> &AllowanceWord {
        if self.is_sliced() {
            &self.present
        } else {
            &self.next
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::sched::own_tid;
    use crate::sys::timer::SignalTimer;
    use std::cell::RefCell;

    const SECOND: u64 = 1_000_000_000;

    const FIRST: Allowance = Allowance::UpTo(9 * SECOND);

    /// The manager comes between the worker's look at the allowance and its setting of the monitor: that was armed with
    /// what the worker had read, where it did not read again.
    #[test]
    fn a_monitor_is_armed_with_what_the_allowance_was_lowered_to_meanwhile() {
        let mut limits = Limits::new(FIRST);
        limits.tolerated_nanos = Some(0);
        let monitor = Armed::Wall(SignalTimer::wall(own_tid()).unwrap());
        let armed = RefCell::new(Vec::new());
        limits.arm(&monitor, |threshold| {
            limits.next.set(Allowance::UpTo(7 * SECOND));
            armed.borrow_mut().push(threshold);
            Some(threshold)
        });
        assert_eq!(armed.into_inner(), [9 * SECOND, 7 * SECOND]);
        let Armed::Wall(timer) = &monitor else {
            panic!("it is one");
        };
        assert!((6 * SECOND..=7 * SECOND).contains(&timer.remaining()));
        monitor.stop();
    }

    #[test]
    fn what_a_sliced_job_was_granted_follows_the_manager_until_that_grants_more() {
        let lower = Allowance::UpTo(7 * SECOND);
        let sliced = || {
            let mut limits = Limits::new(FIRST);
            limits.slice();
            limits
        };
        let limits = sliced();
        assert_eq!(limits.grant_first(), FIRST);
        limits.next.set(lower);
        assert_eq!(
            (limits.grant_again(FIRST), limits.present_limit()),
            (lower, lower)
        );
        let limits = sliced();
        assert_eq!(limits.grant_first(), FIRST);
        limits.next.set(lower);
        let more = Allowance::UpTo(8 * SECOND);
        limits.grant(more);
        assert_eq!(
            (limits.grant_again(FIRST), limits.present_limit()),
            (lower, more)
        );
    }
}
