//! Enforcement without order, for native worlds: the operating system dispatches by fixed
//! priority, and only exceptions are reported.
//!
//! Fed with exhausted limits, deadlines and idle instants, the guard gives the permits that
//! [`super::Uniprocessor`] would give if it saw every job. A job that never exhausts a limit costs no
//! call at all. What it does *not* know is who is pending, so it has to be notified when nothing is:
//! [`Fact::Idle`].
//!
//! It remembers one job of each task (C2): a charge for a job after one for its successor is refused
//! as [`ContractViolation::ChargedWhileNotRunning`], because its overrun would go unnoticed, and so is
//! one for the successor while no decision has looked at the job before it, as
//! [`ContractViolation::TooManyFacts`]. A job is complete once: the decision after that judges it, and
//! charges that come later are refused.
//!
//! A job is *stopped* from the moment it used up its own level's limit, or the mode rose above its
//! task, until a later job of the same task follows it. Workers read [`Guard::permit_for`] at
//! each release and whenever they are interrupted: a job number that the guard has not stopped gets
//! the permit of the task.
//!
//! Where a rule of limits suspends jobs ([`crate::enforce`]), the plan asks to be woken at its next instant,
//! and [`Enforcer::interest`] says what else the world reports: under period transformation each release,
//! before the job is charged for the first time, because grants count from there; with zero slack
//! the release of each job that is incomplete at its zero-slack instant, then or before, and afterwards its
//! end. Of a task only one such job may be reported that waits behind another.

mod completed;
mod job_seen;

use crate::configuration_error::ConfigurationError;
use crate::enforce::{Asked, Exhaustion, Progress, Rule};
use crate::engine::account::Account;
use crate::engine::clock::advance;
use crate::engine::configuration::Configuration;
use crate::engine::uniprocessor::CPU;
use crate::fact::Fact;
use crate::ids::{JobId, TaskId};
use crate::model::Level;
use crate::notice::{DropReason, Event, Notice};
use crate::plan::{OnExhaustion, Permit, Plan, Sequences};
use crate::queue::{Cursor, TaskBits};
use crate::scheduler::{ContractViolation, Enforcer, Interest, Scheduler};
use crate::store::{Boxed, Store};
use crate::time::{Duration, Instant, Service};
use completed::Ending;
use job_seen::JobSeen;

/// Enforcement alone: the state machine behind natively dispatched runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard<S: Store = Boxed> {
    account: Account<S>,
    rule: Rule<S>,
    seen: S::Table<JobSeen>,
    dirty: TaskBits<S>,
    idle: bool,
}

impl Guard<Boxed> {
    /// A guard whose tables are on the heap.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn new(configuration: &Configuration<'_>) -> Result<Self, ConfigurationError> {
        Self::with_store(configuration)
    }
}

impl<S: Store> Guard<S> {
    /// A guard whose tables are where `S` says.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn with_store(configuration: &Configuration<'_>) -> Result<Self, ConfigurationError> {
        let account = Account::new(configuration)?;
        let count = configuration.tasks.len();
        let too_many = ConfigurationError::TooManyTasks { found: count };
        Ok(Self {
            account,
            rule: Rule::new(configuration.enforcement, count).ok_or(too_many)?,
            seen: S::table(count, JobSeen::NOTHING).ok_or(too_many)?,
            dirty: TaskBits::new(count).ok_or(too_many)?,
            idle: false,
        })
    }

    /// The criticality indicator as of the last decision.
    #[must_use]
    pub const fn mode(&self) -> Level {
        self.account.mode
    }

    /// What enforcement allows one job since the last decision.
    #[must_use]
    pub fn permit_for(&self, job: JobId) -> Permit {
        let (Some(entry), Some(seen)) = (
            self.account.tasks.get(job.task.index()),
            self.seen.get(job.task.index()),
        ) else {
            return Permit::NotAdmitted;
        };
        if seen.dropped_up_to.is_some_and(|last| job.sequence <= last) {
            let why = DropReason::Mode;
            return Permit::Dropped { why };
        }
        if !self.account.admits(job.task) {
            return Permit::NotAdmitted;
        }
        if seen.exhausted && seen.sequence == Some(job.sequence) {
            return match self.account.exhaustion() {
                Exhaustion::Abort => Permit::Dropped {
                    why: DropReason::Exhausted,
                },
                Exhaustion::Background | Exhaustion::Continue => Permit::Demoted,
            };
        }
        self.rule.permit(&Asked {
            task: job.task,
            entry,
            sequence: Some(job.sequence),
            is_present: seen.sequence == Some(job.sequence),
            since_release: self.since_release(job),
            limit: self.account.limit(job.task),
        })
    }

    fn watch(&mut self, task: TaskId) -> Result<&mut JobSeen, ContractViolation> {
        self.seen
            .get_mut(task.index())
            .ok_or(ContractViolation::UnknownTask(task))
    }

    /// The job of the same task that facts spoke of last, unless it would have to make room for `job`
    /// before a decision has looked at it.
    fn make_room(&mut self, job: JobId) -> Result<Option<u64>, ContractViolation> {
        let present = self.watch(job.task)?.sequence;
        let undecided = self.dirty.contains(job.task);
        if undecided && present.is_some_and(|present| present < job.sequence) {
            return Err(ContractViolation::TooManyFacts { capacity: 1 });
        }
        Ok(present)
    }

    /// How long ago the job was released, if the world said so, as of the last decision.
    fn since_release(&self, job: JobId) -> Duration {
        let seen = self.seen.get(job.task.index());
        let released = seen.and_then(|seen| seen.release_of(job.sequence));
        released.map_or(Duration::ZERO, |at| {
            self.account.clock.now.saturating_since(at)
        })
    }

    /// Whether a job that is not stopped has less left to it than its whole limit: it is suspended if it has
    /// executed what it was granted so far.
    fn suspend(&mut self, job: JobId, executed: Service) -> bool {
        let since_release = self.since_release(job);
        let Some(entry) = self.account.tasks.get(job.task.index()) else {
            return false;
        };
        let progress = Progress {
            task: job.task,
            entry,
            since_release,
            executed,
            now: self.account.clock.now,
        };
        self.rule.suspend(&progress, self.account.granularity)
    }

    /// Visits the tasks with facts, in task order.
    fn for_dirty(&mut self, mut settle: impl FnMut(&mut Self, TaskId)) {
        let mut cursor = Cursor::default();
        while let Some(task) = self.dirty.next(&mut cursor) {
            settle(self, task);
        }
    }

    /// Settles a job that is not complete.
    fn settle(&mut self, task: TaskId) {
        loop {
            let (Some(&allowance), Some(seen)) = (
                self.account.allowances.get(task.index()),
                self.seen.get(task.index()),
            ) else {
                return;
            };
            let (Some(sequence), Ending::Pending) = (seen.sequence, seen.ending) else {
                return;
            };
            let job = JobId { task, sequence };
            let used_up = self.account.is_used_up(allowance.limit, seen.executed);
            let stopped = seen.exhausted
                || seen.dropped_up_to.is_some_and(|last| sequence <= last)
                || !allowance.admits;
            let executed = seen.executed;
            let has_more = !stopped && self.suspend(job, executed);
            if !used_up || stopped || has_more {
                return;
            }
            let Some(verdict) = self.account.overrun(job, executed, self.account.mode) else {
                return;
            };
            match verdict {
                OnExhaustion::RaiseMode(to) => self.raise_mode(to, job),
                OnExhaustion::Demote | OnExhaustion::Abort | OnExhaustion::Suspend => {
                    if let Some(seen) = self.seen.get_mut(task.index()) {
                        seen.exhausted = true;
                    }
                    self.rule.ended(job);
                    if verdict == OnExhaustion::Abort {
                        self.account.clock.notice(Event::Dropped {
                            job,
                            why: DropReason::Exhausted,
                        });
                    }
                    return;
                }
            }
        }
    }

    fn released_or_started(
        &mut self,
        at: Instant,
        job: JobId,
        is_release: bool,
    ) -> Result<(), ContractViolation> {
        if is_release {
            self.rule.released(job, at)?;
        }
        let seen = self.watch(job.task)?;
        seen.newest = seen.newest.max(Some(job.sequence));
        if is_release {
            seen.announced = Some((job.sequence, at));
        }
        Ok(())
    }

    fn charged(&mut self, job: JobId, amount: Service) -> Result<(), ContractViolation> {
        let present = self.make_room(job)?;
        let seen = self.watch(job.task)?;
        let judged = present == Some(job.sequence) && seen.ending == Ending::Judged;
        if present > Some(job.sequence) || judged {
            return Err(ContractViolation::ChargedWhileNotRunning(job));
        }
        let before = if present == Some(job.sequence) {
            seen.executed
        } else {
            Service::ZERO
        };
        let sum = before
            .checked_add(amount)
            .ok_or(ContractViolation::ChargeOverflow { job, amount })?;
        seen.newest = seen.newest.max(Some(job.sequence));
        let another = seen.sequence != Some(job.sequence);
        if seen.turn_to(job.sequence) {
            seen.executed = sum;
            self.dirty.insert(job.task);
            if another {
                self.rule.forget(job.task);
            }
        }
        Ok(())
    }

    fn ended(&mut self, job: JobId) -> Result<(), ContractViolation> {
        self.make_room(job)?;
        self.rule.ended(job);
        let seen = self.watch(job.task)?;
        if seen.turn_to(job.sequence) {
            if seen.ending == Ending::Pending {
                seen.ending = Ending::Complete;
            }
            self.dirty.insert(job.task);
            self.rule.forget(job.task);
        }
        Ok(())
    }

    fn raise_mode(&mut self, to: Level, cause: JobId) {
        self.account.raise_mode(to, cause);
        let pairs = self.seen.iter_mut().zip(self.account.tasks.iter());
        for (task, (seen, entry)) in (0..=u16::MAX).map(TaskId).zip(pairs) {
            if !self.account.admits(task) {
                seen.dropped_up_to = seen.dropped_up_to.max(seen.newest);
            } else if entry.task.criticality < self.account.mode {
                // A degraded budget may be used up already.
                self.dirty.insert(task);
            }
        }
    }
}

impl<S: Store> Scheduler for Guard<S> {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        if at > Instant::HORIZON {
            return Err(ContractViolation::BeyondHorizon(at));
        }
        match fact {
            Fact::Released { job } => self.released_or_started(at, job, true)?,
            Fact::Started { cpu: CPU, job } => self.released_or_started(at, job, false)?,
            Fact::Charged {
                cpu: CPU,
                job,
                amount,
            } => self.charged(job, amount)?,
            Fact::Completed { cpu: CPU, job }
            | Fact::Stopped {
                cpu: CPU,
                job,
                why: crate::StopReason::Cancelled,
            } => self.ended(job)?,
            Fact::Stopped {
                cpu: CPU,
                job,
                why: _,
            } => {
                self.watch(job.task)?;
            }
            Fact::Idle { cpu: CPU } => self.idle = true,
            Fact::Timer => {}
            Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::CpuOpen { .. }
            | Fact::ModeRequested { .. } => return Err(ContractViolation::NotOfThisPolicy),
            Fact::Charged { cpu, .. }
            | Fact::Completed { cpu, .. }
            | Fact::Started { cpu, .. }
            | Fact::Stopped { cpu, .. }
            | Fact::Idle { cpu } => return Err(ContractViolation::UnknownCpu(cpu)),
        }
        Ok(())
    }

    /// The slots are empty: the operating system chooses among what the permits allow.
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        advance(&mut self.account.clock.now, now)?;
        while let Some(task) = self.rule.resume(now) {
            self.dirty.insert(task);
        }
        self.settle_completed();
        loop {
            let mode = self.account.mode;
            self.for_dirty(Self::settle);
            if self.account.mode == mode {
                break;
            }
        }
        self.dirty.clear();
        if core::mem::take(&mut self.idle) && self.account.mode > Level::LOWEST {
            self.account.return_to_lowest();
        }
        self.rule.settle(now, &self.account.tasks, |_, _| {});
        Ok(Plan {
            slots: &[],
            sequences: Sequences::NONE,
            next: self.rule.next(&self.account.tasks),
            mode: self.account.mode,
        })
    }

    /// What a job of `task` that the guard has not heard of yet would be allowed; with zero slack, what
    /// the task's first incomplete job is, unless that one used up its limit.
    fn permit(&self, task: TaskId) -> Permit {
        match self.account.tasks.get(task.index()) {
            Some(entry) if self.account.admits(task) => self.rule.permit(&Asked {
                task,
                entry,
                sequence: None,
                is_present: false,
                since_release: Duration::ZERO,
                limit: self.account.limit(task),
            }),
            Some(_) | None => Permit::NotAdmitted,
        }
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.account.clock.take_notice()
    }

    fn lost_notices(&self) -> u64 {
        self.account.clock.lost_notices()
    }

    fn limit_at(&self, task: TaskId, level: Level) -> Option<Service> {
        self.account.limit_at(task, level)
    }

    fn stops_at_own_limit(&self) -> bool {
        self.account.stops_at_own_limit()
    }

    fn suspends_until_instants(&self) -> bool {
        self.account.suspends_until_instants()
    }
}

impl<S: Store> Enforcer for Guard<S> {
    fn mode(&self) -> Level {
        Self::mode(self)
    }

    fn permit_for(&self, job: JobId) -> Permit {
        Self::permit_for(self, job)
    }

    fn interest(&self) -> Interest {
        self.account.interest()
    }

    fn has_modes(&self) -> bool {
        self.account.has_modes()
    }
}
