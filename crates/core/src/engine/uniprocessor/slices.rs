//! Slices: limits that grow while a job is pending, and jobs that wait for them to grow.

use super::{Order, Uniprocessor};
use crate::ids::TaskId;
use crate::job_table::{Current, Standing};
use crate::plan::{Budget, BudgetOwner, OnExhaustion, Wake, WakeReason};
use crate::store::Store;
use crate::time::{Instant, Service};

impl<S: Store> Uniprocessor<S> {
    /// Whether jobs have their limits in slices.
    #[inline]
    pub(super) const fn is_sliced(&self) -> bool {
        matches!(self.order, Order::Slices(_))
    }

    /// What the current job of `task` may execute in all, as of the last decision. Without slices the
    /// limit of the mode.
    #[inline]
    pub(super) fn limit(&self, task: TaskId, current: &Current) -> Service {
        if self.is_sliced() {
            return self.granted(task, current);
        }
        match self.account.allowances.get(task.index()) {
            Some(allowance) => allowance.limit,
            None => Service::ZERO,
        }
    }

    /// What the slices that have begun grant to the current job of `task`.
    #[cold]
    fn granted(&self, task: TaskId, current: &Current) -> Service {
        let (Order::Slices(slices), Some(entry)) = (&self.order, self.account.entry(task)) else {
            return Service::ZERO;
        };
        let since = self.account.clock.saturating_since(current.arrival.at);
        slices.count(task).granted_ceil(&entry.task, since)
    }

    /// What is left of a slice that is not the last one; `None` for the last one and without slices.
    #[cold]
    pub(super) fn slice_budget(&self, task: TaskId, current: &Current) -> Option<Budget> {
        if current.standing == Standing::Background {
            return None;
        }
        let granted = self.granted(task, current);
        (granted < self.account.entry(task)?.task.own_wcet()).then(|| Budget {
            remaining: granted.saturating_sub(current.executed),
            owner: BudgetOwner::Job,
            on_exhaustion: OnExhaustion::Suspend,
        })
    }

    /// When the current job of `task`, which has used up what it was granted, is granted more than
    /// the world's granularity; `None` if never, and without slices.
    fn next_grant(&self, task: TaskId) -> Option<Instant> {
        let Order::Slices(slices) = &self.order else {
            return None;
        };
        let entry = self.account.tasks.get(task.index())?;
        let current = self.jobs.get(task.index())?.current.as_ref()?;
        let least = self.account.granularity.max(Service::from_nanos(1));
        let amount = current.executed.checked_add(least)?;
        let count = slices.count(task);
        let boundary = count.granting_boundary_floor(&entry.task, amount)?;
        Some(current.arrival.at.saturating_add(boundary))
    }

    /// When the next slice begins for which the current job of `task` waits.
    pub(super) fn next_slice(&self, task: TaskId) -> Option<Instant> {
        match &self.order {
            Order::Slices(slices) => slices.waits_until(task),
            Order::FixedPriority | Order::EarliestDeadline { .. } | Order::JobLists(_) => None,
        }
    }

    /// Lets the current job of `task` wait for its next slice; says whether there is one.
    #[cold]
    pub(super) fn suspend(&mut self, task: TaskId) -> bool {
        let (Some(boundary), Order::Slices(slices)) = (self.next_grant(task), &mut self.order)
        else {
            return false;
        };
        slices.suspend(task, boundary);
        self.ready.remove(task);
        if let Some(jobs) = self.jobs.get_mut(task.index())
            && let Some(current) = jobs.current.as_mut()
        {
            current.standing = Standing::Suspended;
        }
        true
    }

    /// Brings back the jobs whose slices begin. One that went on after it had to stop may have used
    /// up the new slice too.
    #[cold]
    pub(super) fn settle_slices(&mut self, now: Instant) {
        loop {
            let Order::Slices(slices) = &mut self.order else {
                return;
            };
            let Some(task) = slices.take_due(now) else {
                return;
            };
            if let Some(jobs) = self.jobs.get_mut(task.index())
                && let Some(current) = jobs.current.as_mut()
            {
                current.standing = Standing::Admitted;
            }
            self.make_ready(task);
            self.settle_exhaustion(task);
        }
    }

    /// The earlier of `wake` and the next slice that somebody waits for.
    #[inline]
    pub(super) fn wake_for_slices(&self, wake: Option<Wake>) -> Option<Wake> {
        let Order::Slices(slices) = &self.order else {
            return wake;
        };
        let Some(at) = slices.next() else {
            return wake;
        };
        match wake {
            Some(wake) if wake.at <= at => Some(wake),
            Some(_) | None => Some(Wake {
                at,
                why: WakeReason::Replenishment,
            }),
        }
    }

    /// The job is over, whatever it waited for.
    #[inline]
    pub(super) fn forget_slices(&mut self, task: TaskId) {
        if let Order::Slices(slices) = &mut self.order {
            slices.forget(task);
        }
    }
}
