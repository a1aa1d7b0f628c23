//! Settling: every consequence, in the fixed order of C3.

use super::{Order, Uniprocessor};
use crate::enforce::OnMiss;
use crate::engine::configuration::TaskConfiguration;
use crate::ids::{JobId, TaskId};
use crate::job_table::{Arrival, Current, Jobs, Standing};
use crate::model::Level;
use crate::notice::{DropReason, Event};
use crate::order::{JobPriority, Urgency};
use crate::plan::{Budget, BudgetOwner, OnExhaustion, Slot, Wake, WakeReason};
use crate::queue::Cursor;
use crate::store::Store;
use crate::time::{Instant, Service};

impl<S: Store> Uniprocessor<S> {
    /// Ends the current job of `task`, which neither heap may hold afterwards (I1: one of them did),
    /// and moves its backlog up.
    #[inline]
    pub(super) fn end_current(&mut self, task: TaskId) {
        let Some(jobs) = self.jobs.get_mut(task.index()) else {
            return;
        };
        let in_background = jobs.in_background();
        let another = jobs.advance();
        if in_background {
            self.background.remove(task);
        } else {
            self.ready.remove(task);
        }
        self.deadlines.remove(task);
        if another {
            self.make_ready(task);
        }
    }

    /// Queues the current job of `task` as admitted.
    #[inline]
    pub(super) fn make_ready(&mut self, task: TaskId) {
        self.ready.insert(task, self.urgency(task));
        let Some(entry) = self.tasks.get(task.index()) else {
            return;
        };
        if entry.on_miss == OnMiss::Abort
            && let Some(jobs) = self.jobs.get(task.index())
            && let Some(current) = &jobs.current
        {
            let deadline = current.arrival.at.saturating_add(entry.task.deadline);
            self.deadlines
                .insert(task, Urgency::of_deadline_nanos(deadline.as_nanos()));
        }
    }

    #[cold]
    pub(super) fn drop_current(&mut self, task: TaskId, why: DropReason) {
        if let Some(current) = self.jobs.get(task.index()).and_then(|jobs| jobs.current) {
            let job = JobId {
                task,
                sequence: current.arrival.sequence,
            };
            self.notice(Event::Dropped { job, why });
        }
        self.end_current(task);
    }

    /// Visits the tasks with facts, in task order.
    #[inline]
    pub(super) fn for_touched(&mut self, mut settle: impl FnMut(&mut Self, TaskId)) {
        let mut cursor = Cursor::default();
        while let Some(task) = self.touched.next(&mut cursor) {
            settle(self, task);
        }
    }

    /// Completions come first, so that a job which completes exactly at its limit is no overrun. One
    /// that was charged more than its limit and the world's granularity has overrun all the same (C2).
    pub(super) fn settle_completion(&mut self, task: TaskId) {
        let (Some(entry), Some(jobs)) = (
            self.tasks.get(task.index()),
            self.jobs.get_mut(task.index()),
        ) else {
            return;
        };
        let (Some(current), true) = (&jobs.current, jobs.completed) else {
            return;
        };
        // The least limit that any mode of this decision can give: modes only rise, and with them
        // limits, but for the degraded one.
        let limit = self.enforcement.limit(&entry.task, self.mode);
        let least = entry
            .task
            .degraded
            .map_or(limit, |degraded| degraded.min(limit));
        let overran = current.standing == Standing::Admitted && current.executed > least;
        if overran {
            jobs.overran = Some((current.arrival.sequence, current.executed));
        }
        // A job that waited may have a limit of nothing.
        if overran || !jobs.waiting.is_empty() {
            self.touch(task);
        }
        self.end_current(task);
    }

    /// Has the task looked at when exhaustion is settled.
    #[inline]
    pub(super) fn touch(&mut self, task: TaskId) {
        self.touched.insert(task);
        self.staged.touched = true;
    }

    /// Settles whatever is beyond its limit.
    #[cold]
    pub(super) fn settle_touched(&mut self) {
        // A rise may leave a degraded task, visited before, with less than it has used.
        loop {
            let mode = self.mode;
            self.for_touched(Self::settle_exhaustion);
            if self.mode == mode {
                break;
            }
        }
        self.touched.clear();
    }

    pub(super) fn settle_exhaustion(&mut self, task: TaskId) {
        self.settle_completed_overrun(task);
        while let (Some(entry), Some(current)) = (
            self.entry(task),
            self.jobs.get(task.index()).and_then(|jobs| jobs.current),
        ) {
            let limit = self.enforcement.limit(&entry.task, self.mode);
            if current.standing == Standing::Background
                || !is_used_up(limit, current.executed, self.granularity)
            {
                break;
            }
            let job = JobId {
                task,
                sequence: current.arrival.sequence,
            };
            let Some(verdict) = self.overrun(job, current.executed) else {
                break;
            };
            self.exhaust(job, verdict);
        }
    }

    /// A job that is complete and used more than it had can only raise the mode.
    #[cold]
    pub(super) fn settle_completed_overrun(&mut self, task: TaskId) {
        let Some((sequence, executed)) = self
            .jobs
            .get_mut(task.index())
            .and_then(|jobs| jobs.overran.take())
        else {
            return;
        };
        while let Some(entry) = self.entry(task) {
            let limit = self.enforcement.limit(&entry.task, self.mode);
            if executed <= limit.saturating_add(self.granularity) {
                break;
            }
            match self.overrun(JobId { task, sequence }, executed) {
                Some(OnExhaustion::RaiseMode(to)) => {
                    self.raise_mode(to, JobId { task, sequence });
                }
                Some(OnExhaustion::Demote | OnExhaustion::Abort | OnExhaustion::Suspend) | None => {
                    break;
                }
            }
        }
    }

    /// Says that a limit was used up, and what that means; `None` if nothing.
    pub(super) fn overrun(&mut self, job: JobId, executed: Service) -> Option<OnExhaustion> {
        let entry = self.entry(job.task)?;
        let verdict = self
            .enforcement
            .on_exhaustion(&entry.task, self.mode, self.exhaustion)?;
        let level = self.enforcement.limit_level(&entry.task, self.mode);
        self.notice(Event::Overrun {
            job,
            level,
            executed,
        });
        Some(verdict)
    }

    #[cold]
    pub(super) fn exhaust(&mut self, job: JobId, verdict: OnExhaustion) {
        match verdict {
            OnExhaustion::RaiseMode(to) => self.raise_mode(to, job),
            OnExhaustion::Abort => self.drop_current(job.task, DropReason::Exhausted),
            // The rules of enforcement never say `Suspend`: it belongs to budgets that come back.
            OnExhaustion::Demote | OnExhaustion::Suspend => {
                let Some(jobs) = self.jobs.get_mut(job.task.index()) else {
                    return;
                };
                if !jobs.waiting.is_empty() {
                    self.drop_current(job.task, DropReason::Superseded);
                    return;
                }
                if let Some(current) = jobs.current.as_mut() {
                    current.standing = Standing::Background;
                }
                self.ready.remove(job.task);
                self.background.insert(job.task, self.urgency(job.task));
            }
        }
    }

    #[cold]
    /// O(n), under EDF-VD O(n log n): every task below the new mode loses its jobs, admitted, waiting or in the background.
    pub(super) fn raise_mode(&mut self, to: Level, cause: JobId) {
        let to = to.min(self.levels.highest());
        let from = self.mode;
        self.mode = to;
        self.notice(Event::ModeChanged {
            from,
            to,
            cause: Some(cause),
        });
        for index in 0..self.tasks.len() {
            let Ok(number) = u16::try_from(index) else {
                break;
            };
            let task = TaskId(number);
            let Some(&TaskConfiguration { task: model, .. }) = self.entry(task) else {
                break;
            };
            if self.enforcement.admits(&model, to) {
                // Under EDF-VD real deadlines take the place of virtual ones.
                if matches!(self.order, Order::EarliestDeadline { .. }) && self.ready.contains(task)
                {
                    let urgency = self.urgency(task);
                    self.ready.insert(task, urgency);
                }
                // A degraded budget may be used up already.
                if model.criticality < to {
                    self.touched.insert(task);
                }
                continue;
            }
            while self
                .jobs
                .get(index)
                .is_some_and(|jobs| jobs.current.is_some())
            {
                self.drop_current(task, DropReason::Mode);
            }
        }
    }

    pub(super) fn settle_deadlines(&mut self, now: Instant) {
        let reached = Urgency::of_deadline_nanos(now.as_nanos());
        while let Some((deadline, task)) = self.deadlines.first() {
            if reached.is_more_urgent_than(deadline) {
                break;
            }
            self.drop_current(task, DropReason::Deadline);
        }
    }

    pub(super) fn settle_idle(&mut self) {
        if self.mode > Level::LOWEST && self.ready.is_empty() {
            let from = self.mode;
            self.mode = Level::LOWEST;
            self.notice(Event::ModeChanged {
                from,
                to: Level::LOWEST,
                cause: None,
            });
        }
    }

    /// Releases of this instant, in task order; those of tasks that the mode does not admit are lost.
    #[inline]
    pub(super) fn settle_arrivals(&mut self) {
        let pending = self.most_urgent_pending();
        let mut begun = false;
        while let Some(task) = self.arrived.take_first() {
            while let Some(arrival) = self
                .jobs
                .get_mut(task.index())
                .and_then(|jobs| jobs.arrived.pop())
            {
                if !self.admissible(task, arrival) {
                    continue;
                }
                if let Order::JobLists(lists) = &mut self.order
                    && !core::mem::replace(&mut begun, true)
                {
                    lists.begin_arrivals(pending);
                }
                self.admit(task, arrival);
            }
        }
    }

    /// The priority of the most urgent pending job, where jobs have their own. A job that waits
    /// behind a late one of its own task cannot run before that one, and counts with it.
    fn most_urgent_pending(&self) -> Option<JobPriority> {
        if !matches!(self.order, Order::JobLists(_)) {
            return None;
        }
        let (_, task) = self.ready.first()?;
        self.jobs
            .get(task.index())?
            .current
            .map(|current| current.arrival.priority)
    }

    /// Whether the arrival becomes a pending job; says why not otherwise.
    #[inline]
    fn admissible(&mut self, task: TaskId, arrival: Arrival) -> bool {
        let (Some(entry), Some(jobs)) = (self.entry(task), self.jobs.get(task.index())) else {
            return false;
        };
        let why = if !self.enforcement.admits(&entry.task, self.mode) {
            DropReason::Mode
        } else if jobs.waiting.is_full() {
            DropReason::BacklogFull
        } else {
            return true;
        };
        let job = JobId {
            task,
            sequence: arrival.sequence,
        };
        self.notice(Event::Dropped { job, why });
        false
    }

    #[inline]
    fn admit(&mut self, task: TaskId, mut arrival: Arrival) {
        if let Order::JobLists(lists) = &mut self.order {
            arrival.priority = lists.take(task);
        }
        if self.jobs.get(task.index()).is_some_and(Jobs::in_background) {
            self.drop_current(task, DropReason::Superseded);
        }
        let Some(jobs) = self.jobs.get_mut(task.index()) else {
            return;
        };
        if jobs.current.is_some() {
            // There is room: `admissible` looked.
            let _fits = jobs.waiting.push(arrival);
            return;
        }
        jobs.current = Some(Current {
            arrival,
            executed: Service::ZERO,
            standing: Standing::Admitted,
        });
        jobs.completed = false;
        self.make_ready(task);
    }

    #[inline]
    pub(super) fn select(&mut self) {
        let chosen = self.ready.first().or_else(|| self.background.first());
        let slot = chosen.and_then(|(_, task)| {
            let entry = self.tasks.get(task.index())?;
            let current = self.jobs.get(task.index())?.current.as_ref()?;
            Some(Slot {
                job: JobId {
                    task,
                    sequence: current.arrival.sequence,
                },
                budget: self.budget(entry, current),
            })
        });
        self.slots = [slot];
        self.wake = self.deadlines.first().and_then(|(_, task)| {
            let current = self.jobs.get(task.index())?.current.as_ref()?;
            let at = current
                .arrival
                .at
                .saturating_add(self.entry(task)?.task.deadline);
            let job = JobId {
                task,
                sequence: current.arrival.sequence,
            };
            Some(Wake {
                at,
                why: WakeReason::Deadline(job),
            })
        });
    }

    #[inline]
    pub(super) fn budget(&self, entry: &TaskConfiguration, current: &Current) -> Option<Budget> {
        if current.standing == Standing::Background {
            return None;
        }
        let on_exhaustion =
            self.enforcement
                .on_exhaustion(&entry.task, self.mode, self.exhaustion)?;
        let limit = self.enforcement.limit(&entry.task, self.mode);
        let remaining = limit.saturating_sub(current.executed);
        Some(Budget {
            remaining,
            owner: BudgetOwner::Job,
            on_exhaustion,
        })
    }
}

/// C2: a remainder below the granularity of the world counts as exhausted.
#[inline]
pub(super) fn is_used_up(limit: Service, executed: Service, granularity: Service) -> bool {
    let remaining = limit.saturating_sub(executed);
    remaining.is_zero() || remaining < granularity
}
