//! Settling: every consequence, in the fixed order of C3.

use super::{Reported, Uniprocessor, urgency_of};
use crate::ids::{JobId, TaskId};
use crate::job_table::{Arrival, Current, Standing};
use crate::model::Level;
use crate::notice::{DropReason, Event};
use crate::order::JobPriority;
use crate::plan::{Budget, BudgetOwner, OnExhaustion, Slot, Wake, WakeReason};
use crate::queue::{Cursor, ReadyQueue};
use crate::store::Store;
use crate::task_configuration::{OnMiss, TaskConfiguration};
use crate::time::Instant;
use crate::urgency::Urgency;

/// How far the job-priority lists are with the releases of an instant.
struct ListStep {
    /// The priority of the most urgent job that was pending before.
    pending: Option<JobPriority>,
    /// The step for the whole instant is done.
    begun: bool,
}

impl ListStep {
    /// Nothing was pending.
    const NONE: Self = Self {
        pending: None,
        begun: false,
    };
}

// What an engine has to look at, which is known when it is made: `KIND` below. Numbers, because parameters can be nothing
// else.
/// Fixed task priorities, and nothing timed: most of what a decision looks at cannot be there.
const PLAIN: u8 = 0;
/// Another order, and nothing timed.
const VARYING: u8 = 1;
/// Deadlines at which jobs are dropped, or a rule with instants of its own.
const TIMED: u8 = 2;
/// Whichever of them it is: for what is rare.
const ANY: u8 = 3;

impl<S: Store> Uniprocessor<S> {
    /// Draws all consequences, in the order of C3.
    #[inline(always)]
    fn settle<const KIND: u8>(&mut self, reported: Reported, running: Option<JobId>) {
        if self.has_instants::<KIND>() {
            self.account.clock.notice_lateness(self.wake);
        }
        if !self.completed.is_empty() {
            self.settle_completions();
        }
        if let Some(JobId { task, .. }) = running {
            if reported.is_finished() {
                self.settle_completion::<KIND>(task);
            } else if reported != Reported::NOTHING && self.is_at_limit::<KIND>(task) {
                self.dirty.insert(task);
            }
        }
        if !self.dirty.is_empty() {
            self.settle_dirty();
        }
        if self.has_instants::<KIND>() {
            if self.rule.resumes(self.account.clock.now) {
                self.settle_resumed();
            }
            if !self.deadlines.is_empty() {
                self.settle_deadlines();
            }
        }
        self.settle_idle();
        if !self.arrived.is_empty() {
            self.settle_arrivals::<KIND>();
        }
        if self.has_instants::<KIND>() && self.rule.has_to_settle(self.account.clock.now) {
            self.settle_rule();
        }
        self.select::<KIND>();
    }

    /// Whether anything happens at instants that are known beforehand.
    #[inline(always)]
    const fn has_instants<const KIND: u8>(&self) -> bool {
        match KIND {
            PLAIN | VARYING => false,
            TIMED => true,
            _ => self.timed,
        }
    }

    /// The same with fixed priorities and nothing timed.
    #[inline(always)]
    pub(super) fn settle_plain(&mut self, reported: Reported, running: Option<JobId>) {
        self.settle::<PLAIN>(reported, running);
    }

    /// The same for the other kinds.
    // Not in line, and one call: whoever is plain has the registers for himself.
    #[inline(never)]
    pub(super) fn settle_others(&mut self, reported: Reported, running: Option<JobId>) {
        if self.timed {
            self.settle_timed(reported, running);
        } else {
            self.settle::<VARYING>(reported, running);
        }
    }

    /// The same where something is timed.
    #[inline(never)]
    fn settle_timed(&mut self, reported: Reported, running: Option<JobId>) {
        self.settle::<TIMED>(reported, running);
    }

    /// Ends the current job of `task`, which neither queue may hold afterwards (I1: one of them did),
    /// and moves its backlog up.
    fn end_current(&mut self, task: TaskId) {
        let Some(jobs) = self.jobs.get_mut(task.index()) else {
            return;
        };
        let Some(Current { arrival, .. }) = jobs.current else {
            return;
        };
        let job = JobId {
            task,
            sequence: arrival.sequence,
        };
        let in_background = jobs.in_background();
        let another = jobs.advance();
        self.leave_queues::<ANY>(job, in_background, another);
    }

    /// The rest of that: a task's current job has ended, and `another` one has followed it.
    #[inline(always)]
    fn leave_queues<const KIND: u8>(&mut self, job: JobId, in_background: bool, another: bool) {
        let task = job.task;
        if in_background {
            self.background.remove(task);
        } else {
            self.ready.remove(task);
        }
        if self.has_instants::<KIND>() {
            self.forget_instants(job);
        }
        if another {
            self.make_ready(task);
        }
    }

    /// A job has ended: nothing that was to happen to it later happens.
    #[inline]
    fn forget_instants(&mut self, job: JobId) {
        self.deadlines.remove(job.task);
        self.rule.forget(job.task);
        self.rule.ended(job);
    }

    /// Queues the current job of `task` as admitted.
    #[cold]
    pub(super) fn make_ready(&mut self, task: TaskId) {
        self.queue_current::<ANY>(task);
    }

    #[inline(always)]
    fn queue_current<const KIND: u8>(&mut self, task: TaskId) {
        if self.has_instants::<KIND>() {
            self.watch_deadline(task);
            if self.rule.admits_jobs() && !self.begin_counting(task) {
                return;
            }
        }
        if let ReadyQueue::Fixed(ranks) = &mut self.ready {
            ranks.insert(task);
        } else {
            self.queue_by_urgency(task);
        }
    }

    /// Queues `task` by the urgency of its current job, or moves it.
    // Not in line: a fixed order, which has no use for it, would pay for it.
    #[inline(never)]
    fn queue_by_urgency(&mut self, task: TaskId) {
        let Self {
            account,
            order,
            jobs,
            ready,
            ..
        } = self;
        let urgency = |mode| urgency_of(account, order, jobs, (task, mode));
        ready.insert(task, account.mode, urgency);
    }

    /// The current job of `task` ends at its deadline, if its task wants that.
    #[inline]
    fn watch_deadline(&mut self, task: TaskId) {
        if let (Some(entry), Some(jobs)) = (self.account.entry(task), self.jobs.get(task.index()))
            && entry.on_miss == OnMiss::Abort
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
            self.account.clock.notice(Event::Dropped { job, why });
        }
        self.end_current(task);
    }

    /// Visits the tasks with facts, in task order.
    #[inline]
    pub(super) fn for_dirty(&mut self, mut settle: impl FnMut(&mut Self, TaskId)) {
        let mut cursor = Cursor::default();
        while let Some(task) = self.dirty.next(&mut cursor) {
            settle(self, task);
        }
    }

    /// Of the jobs that another one followed before the decision.
    #[cold]
    pub(super) fn settle_completions(&mut self) {
        while let Some(task) = self.completed.take_first() {
            self.settle_completion::<ANY>(task);
        }
    }

    /// Completions come first, so that a job which completes exactly at its limit is no overrun. One
    /// that was charged more than its limit and the world's granularity has overrun all the same (C2).
    /// The limit is that of the mode in which the decision begins: no job has raised it yet, whatever
    /// the tasks' numbers are.
    #[inline(always)]
    fn settle_completion<const KIND: u8>(&mut self, task: TaskId) {
        let (Some(allowance), Some(jobs)) = (
            self.account.allowances.get(task.index()),
            self.jobs.get_mut(task.index()),
        ) else {
            return;
        };
        let (Some(current), true) = (&jobs.current, jobs.completed) else {
            return;
        };
        let in_background = current.standing == Standing::Background;
        let overran = !in_background && current.executed > allowance.tolerated;
        let sequence = current.arrival.sequence;
        if overran {
            jobs.overran = Some((sequence, current.executed));
        }
        let another = jobs.advance();
        // A job that waited may have a limit of nothing.
        if overran || another {
            self.dirty.insert(task);
        }
        self.leave_queues::<KIND>(JobId { task, sequence }, in_background, another);
    }

    /// Whether the current job of `task` has used up its limit.
    #[inline]
    fn is_at_limit<const KIND: u8>(&self, task: TaskId) -> bool {
        let (Some(jobs), Some(allowance)) = (
            self.jobs.get(task.index()),
            self.account.allowances.get(task.index()),
        ) else {
            return false;
        };
        jobs.current.as_ref().is_some_and(|current| {
            let limit = if self.has_instants::<KIND>() {
                self.limit(task, current)
            } else {
                allowance.limit
            };
            self.account.is_used_up(limit, current.executed)
        })
    }

    /// Settles whatever is beyond its limit.
    #[cold]
    pub(super) fn settle_dirty(&mut self) {
        let began_in = self.account.mode;
        self.for_dirty(|engine, task| engine.settle_completed_overrun(task, began_in));
        // A rise may leave a degraded task, visited before, with less than it has used.
        loop {
            let mode = self.account.mode;
            self.for_dirty(Self::settle_exhaustion);
            if self.account.mode == mode {
                break;
            }
        }
        self.dirty.clear();
    }

    pub(super) fn settle_exhaustion(&mut self, task: TaskId) {
        while let Some(current) = self.jobs.get(task.index()).and_then(|jobs| jobs.current) {
            let limit = self.limit(task, &current);
            if current.standing != Standing::Admitted
                || !self.account.is_used_up(limit, current.executed)
                || self.suspend(task)
            {
                break;
            }
            let job = JobId {
                task,
                sequence: current.arrival.sequence,
            };
            let Some(verdict) = self
                .account
                .overrun(job, current.executed, self.account.mode)
            else {
                break;
            };
            self.exhaust(job, verdict);
        }
    }

    /// A job that is complete and used more than it had when the decision began, in mode `mode`. It can
    /// only raise the mode, to where what it used is allowed; another job may have done so already.
    #[cold]
    fn settle_completed_overrun(&mut self, task: TaskId, mut mode: Level) {
        let Some((sequence, executed)) = self
            .jobs
            .get_mut(task.index())
            .and_then(|jobs| jobs.overran.take())
        else {
            return;
        };
        let job = JobId { task, sequence };
        while let Some(to) = self.account.raised_by(job, executed, mode) {
            mode = to;
            if to > self.account.mode {
                self.raise_mode(to, job);
            }
        }
    }

    #[cold]
    pub(super) fn exhaust(&mut self, job: JobId, verdict: OnExhaustion) {
        match verdict {
            OnExhaustion::RaiseMode(to) => self.raise_mode(to, job),
            OnExhaustion::Abort => self.drop_current(job.task, DropReason::Exhausted),
            // The rules of enforcement never say `Suspend`: it belongs to slices.
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
                self.rule.ended(job);
                self.background.insert(job.task, self.urgency(job.task));
            }
        }
    }

    #[cold]
    /// O(n), under EDF-VD O(n log n), with two queues only for the jobs that are dropped: every task below the new mode loses its jobs, admitted, waiting or in the background.
    pub(super) fn raise_mode(&mut self, to: Level, cause: JobId) {
        self.account.raise_mode(to, cause);
        let moves = self.ready.change_mode(self.account.mode) && self.order.follows_the_mode();
        for index in 0..self.account.tasks.len() {
            let Ok(number) = u16::try_from(index) else {
                break;
            };
            let task = TaskId(number);
            let Some(&TaskConfiguration { task: model, .. }) = self.account.entry(task) else {
                break;
            };
            if self.account.admits(task) {
                if moves && self.ready.contains(task) {
                    self.queue_by_urgency(task);
                }
                // A degraded budget may be used up already.
                if model.criticality < self.account.mode {
                    self.dirty.insert(task);
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

    #[cold]
    pub(super) fn settle_deadlines(&mut self) {
        let reached = Urgency::of_deadline_nanos(self.account.clock.now.as_nanos());
        while let Some((deadline, task)) = self.deadlines.first() {
            if reached.is_more_urgent_than(deadline) {
                break;
            }
            self.drop_current(task, DropReason::Deadline);
        }
    }

    pub(super) fn settle_idle(&mut self) {
        if self.account.mode > Level::LOWEST && self.ready.is_empty() {
            self.account.return_to_lowest();
            self.ready.change_mode(Level::LOWEST);
        }
    }

    /// Releases of this instant, in task order; those of tasks that the mode does not admit are lost.
    #[inline(always)]
    fn settle_arrivals<const KIND: u8>(&mut self) {
        let mut lists = ListStep::NONE;
        let by_lists = KIND != PLAIN && self.order.gives_priorities();
        if by_lists {
            lists.pending = self.most_urgent_pending();
        }
        while let Some(task) = self.arrived.take_first() {
            while let Some(jobs) = self.jobs.get_mut(task.index())
                && let Some(allowance) = self.account.allowances.get(task.index())
                && let Some(staged) = jobs.arrived.pop()
            {
                let more = !jobs.arrived.is_empty();
                // What nearly every release finds: no job is before it (and then none waits, I3).
                if !by_lists && jobs.current.is_none() && allowance.admits {
                    jobs.begin(staged.into());
                    self.queue_current::<KIND>(task);
                } else {
                    self.settle_arrival(task, staged.into(), &mut lists);
                }
                if !more {
                    break;
                }
            }
        }
    }

    /// One release, whatever it finds.
    fn settle_arrival(&mut self, task: TaskId, mut arrival: Arrival, at_lists: &mut ListStep) {
        let (Some(jobs), Some(allowance)) = (
            self.jobs.get(task.index()),
            self.account.allowances.get(task.index()),
        ) else {
            return;
        };
        if !allowance.admits || jobs.waiting.is_full() {
            let why = if allowance.admits {
                DropReason::BacklogFull
            } else {
                DropReason::Mode
            };
            let job = JobId {
                task,
                sequence: arrival.sequence,
            };
            self.account.clock.notice(Event::Dropped { job, why });
            return;
        }
        let in_background = jobs.in_background();
        if self.order.gives_priorities() {
            if !core::mem::replace(&mut at_lists.begun, true) {
                let tasks = &self.account.tasks;
                self.order.begin_arrivals(at_lists.pending, tasks);
            }
            arrival.priority = self.order.next_priority(task);
        }
        if in_background {
            self.drop_current(task, DropReason::Superseded);
        }
        let Some(jobs) = self.jobs.get_mut(task.index()) else {
            return;
        };
        if jobs.current.is_some() {
            // There is room: see above.
            let _fits = jobs.waiting.push(arrival);
            return;
        }
        jobs.begin(arrival);
        self.queue_current::<ANY>(task);
    }

    /// The priority of the most urgent pending job, where jobs have their own. A job that waits
    /// behind a late one of its own task cannot run before that one, and counts with it.
    fn most_urgent_pending(&self) -> Option<JobPriority> {
        let task = self.ready.first()?;
        self.jobs
            .get(task.index())?
            .current
            .map(|current| current.arrival.priority)
    }

    #[inline(always)]
    fn select<const KIND: u8>(&mut self) {
        let chosen = match self.ready.first() {
            Some(task) => Some(task),
            None => self.first_below_all(),
        };
        if !chosen.is_some_and(|task| self.fill_slot::<KIND>(task)) {
            self.slots = [None];
        }
        if self.has_instants::<KIND>() {
            self.wake = self.next_wake();
        }
    }

    /// Gives the CPU to the current job of `task`; says whether there is one.
    #[inline(always)]
    fn fill_slot<const KIND: u8>(&mut self, task: TaskId) -> bool {
        let (Some(jobs), Some(allowance)) = (
            self.jobs.get(task.index()),
            self.account.allowances.get(task.index()),
        ) else {
            return false;
        };
        let Some(current) = &jobs.current else {
            return false;
        };
        let sequence = current.arrival.sequence;
        let job = JobId { task, sequence };
        if self.has_instants::<KIND>()
            && self.rule.grants_in_parts()
            && let Some(budget) = self.granted_budget(task, current)
        {
            let budget = Some(budget);
            self.slots = [Some(Slot { job, budget })];
        } else if let Some(on_exhaustion) = allowance.on_exhaustion
            && current.standing != Standing::Background
        {
            let budget = Some(Budget {
                remaining: allowance.limit.saturating_sub(current.executed),
                owner: BudgetOwner::Job,
                on_exhaustion,
            });
            self.slots = [Some(Slot { job, budget })];
        } else {
            self.slots = [Some(Slot { job, budget: None })];
        }
        true
    }

    /// When to be called again at the latest.
    #[inline]
    fn next_wake(&self) -> Option<Wake> {
        let of_rule = self.rule.next(&self.account.tasks);
        if self.deadlines.is_empty() {
            return of_rule;
        }
        Wake::earlier(self.next_deadline(), of_rule)
    }

    /// Who runs if no task is ready.
    fn first_below_all(&self) -> Option<TaskId> {
        let in_background = || self.background.first().map(|(_, task)| task);
        self.rule.first_below().or_else(in_background)
    }

    /// The wake-up for the next deadline at which a job is to be aborted.
    fn next_deadline(&self) -> Option<Wake> {
        let (deadline, task) = self.deadlines.first()?;
        let current = self.jobs.get(task.index())?.current.as_ref()?;
        let sequence = current.arrival.sequence;
        Some(Wake {
            at: Instant::from_nanos(deadline.as_deadline_nanos()),
            why: WakeReason::Deadline(JobId { task, sequence }),
        })
    }
}
