//! Where the engine asks its rule of limits, whichever that is.

use super::{Uniprocessor, urgency_of};
use crate::enforce::{Asked, Progress, Seen};
use crate::ids::{JobId, TaskId};
use crate::job_table::{Current, Standing};
use crate::model::Level;
use crate::plan::{Budget, BudgetOwner, OnExhaustion, Permit};
use crate::store::Store;
use crate::task_configuration::TaskConfiguration;
use crate::time::{Duration, Instant, Service};

impl<S: Store> Uniprocessor<S> {
    /// The suspension level as of the last decision; `None` if no task is suspended.
    #[must_use]
    pub const fn suspension_level(&self) -> Option<Level> {
        self.rule.suspension_level()
    }

    fn since(&self, released: Instant) -> Duration {
        self.account.clock.now.saturating_since(released)
    }

    /// What the current job of `task` may execute in all, as of the last decision.
    #[inline]
    pub(super) fn limit(&self, task: TaskId, current: &Current) -> Service {
        if let Some(granted) = self.grant(task, current) {
            return granted;
        }
        match self.account.allowances.get(task.index()) {
            Some(allowance) => allowance.limit,
            None => Service::ZERO,
        }
    }

    /// The same, if it will be more.
    fn grant(&self, task: TaskId, current: &Current) -> Option<Service> {
        let entry = self.account.entry(task)?;
        self.rule.grant(entry, self.since(current.arrival.at))
    }

    /// What is left to a job until it is suspended; `None` if it is not.
    #[cold]
    pub(super) fn granted_budget(&self, task: TaskId, current: &Current) -> Option<Budget> {
        if current.standing == Standing::Background {
            return None;
        }
        let granted = self.grant(task, current)?;
        Some(Budget {
            remaining: granted.saturating_sub(current.executed),
            owner: BudgetOwner::Job,
            on_exhaustion: OnExhaustion::Suspend,
        })
    }

    /// What the current job of an admitted task is permitted, or one released now.
    pub(super) fn admitted_permit(
        &self,
        task: TaskId,
        entry: &TaskConfiguration,
        current: Option<&Current>,
    ) -> Permit {
        let released = current.map_or(self.account.clock.now, |current| current.arrival.at);
        self.rule.permit(&Asked {
            task,
            entry,
            sequence: None,
            is_present: current.is_some(),
            since_release: self.since(released),
            limit: self.account.limit(task),
        })
    }

    /// The current job of `task`, which is admitted, counts for the rule from now on. Says whether it may be queued at once;
    /// otherwise [`Self::settle_rule`] does that.
    #[inline]
    pub(super) fn begin_counting(&mut self, task: TaskId) -> bool {
        let (Some(entry), Some(jobs)) = (
            self.account.tasks.get(task.index()),
            self.jobs.get(task.index()),
        ) else {
            return false;
        };
        let Some(Current { arrival, .. }) = jobs.current else {
            return false;
        };
        let sequence = arrival.sequence;
        let job = JobId { task, sequence };
        let now = self.account.clock.now;
        self.rule.begins(job, arrival.at, now, entry)
    }

    /// Suspends the current job of `task`, which has used up what it was granted; says whether it did.
    #[cold]
    pub(super) fn suspend(&mut self, task: TaskId) -> bool {
        let (Some(entry), Some(current)) = (
            self.account.tasks.get(task.index()),
            self.jobs
                .get_mut(task.index())
                .and_then(|jobs| jobs.current.as_mut()),
        ) else {
            return false;
        };
        let now = self.account.clock.now;
        let job = Progress {
            task,
            entry,
            since_release: now.saturating_since(current.arrival.at),
            executed: current.executed,
            now,
        };
        if !self.rule.suspend(&job, self.account.granularity) {
            return false;
        }
        current.standing = Standing::Suspended;
        self.ready.remove(task);
        true
    }

    /// Brings back the jobs that are granted more. One that went on after it had to stop may have used
    /// that up too.
    #[cold]
    pub(super) fn settle_resumed(&mut self) {
        while let Some(task) = self.rule.resume(self.account.clock.now) {
            if let Some(jobs) = self.jobs.get_mut(task.index())
                && let Some(current) = jobs.current.as_mut()
            {
                current.standing = Standing::Admitted;
            }
            self.make_ready(task);
            self.settle_exhaustion(task);
        }
    }

    /// Queues the jobs that the rule lets run by their urgency, and no others.
    #[cold]
    pub(super) fn settle_rule(&mut self) {
        let Self {
            account,
            rule,
            order,
            jobs,
            ready,
            ..
        } = self;
        rule.settle(account.clock.now, &account.tasks, |task, runs| {
            if runs {
                let urgency = |mode| urgency_of(account, order, jobs, (task, mode));
                ready.insert(task, account.mode, urgency);
            } else {
                ready.remove(task);
            }
        });
    }

    /// Whether what the rule remembers is what the jobs say; for tests.
    pub(super) fn check_rule(&self) -> bool {
        let seen = |task: TaskId| {
            let current = self.jobs.get(task.index()).and_then(|jobs| jobs.current);
            let standing = current.map(|current| current.standing);
            let admitted = standing == Some(Standing::Admitted);
            Seen {
                admitted: current
                    .filter(|_| admitted)
                    .map(|current| current.arrival.at),
                is_suspended: standing == Some(Standing::Suspended),
                runs: self.ready.contains(task),
            }
        };
        self.rule
            .check(self.account.clock.now, &self.account.tasks, seen)
    }
}
