//! Enforcement without order, for native worlds: the operating system dispatches by fixed
//! priority, and only exceptions are reported.
//!
//! Fed with exhausted limits, deadlines and idle instants, the guard gives the permits that
//! [`super::Uniprocessor`] would give if it saw every job. A job that never exhausts a limit costs no
//! call at all. What it does *not* know is who is pending, so it has to be told when nothing is:
//! [`Fact::Idle`].
//!
//! It remembers one job of each task (C2): a charge for a job after one for its successor is refused
//! as [`ContractViolation::ChargedWhileNotRunning`], because its overrun would go unnoticed, and so is
//! one for the successor while no decision has looked at the job before it, as
//! [`ContractViolation::TooManyFacts`]. A job is complete once: the decision after that judges it, and
//! charges that come later are refused.
//!
//! A job is *stopped* from the moment it used up its own level's limit, or the mode rose above its
//! task, until a later job of the same task takes its place. Workers read [`Guard::permit_for`] at
//! each release and whenever they are interrupted: a job number that the guard has not stopped gets
//! the permit of the task.
//!
//! With slices (period transformation) a job that used up what it was granted so far is *suspended*
//! until the boundary that the plan asks to be woken at. The grants count from the release, so the
//! world tells `Released`, with the instant of the release, before it charges a job for the first time.
//!
//! With zero slack the world tells `Released`, with the instant of the release, of a job that is incomplete
//! at its zero-slack instant, then or before, and afterwards that it ended; it may leave out every other
//! job. A task may be told of only one job that waits behind another. A *late* job that may go on below
//! everybody has the permit `Below`, the earliest release alone; all others wait, `Suspended`.

mod completed;
mod watched;
mod zero_slack;

use crate::enforce::{Enforcement, Exhaustion, Interest};
use crate::engine::account::Account;
use crate::engine::configuration::{Configuration, ConfigurationError};
use crate::engine::uniprocessor::CPU;
use crate::fact::Fact;
use crate::ids::{JobId, TaskId};
use crate::model::Level;
use crate::notice::{DropReason, Event, Notice};
use crate::order::{SliceCount, Slices};
use crate::plan::{OnExhaustion, Permit, Plan, Sequences, Until, Wake, WakeReason};
use crate::queue::TaskBits;
use crate::scheduler::{ContractViolation, Enforcer, Scheduler};
use crate::store::{Boxed, Store};
use crate::task_configuration::TaskConfiguration;
use crate::time::{Duration, Instant, Service};
use completed::Ending;
use watched::Watched;
use zero_slack::ZeroSlack;

/// Enforcement alone: the state machine behind natively dispatched runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard<S: Store = Boxed> {
    account: Account<S>,
    /// `None`: jobs have their limits in one piece.
    slices: Option<Slices<S>>,
    /// `None`: nobody is suspended for want of slack.
    zero_slack: Option<ZeroSlack<S>>,
    watched: S::Table<Watched>,
    touched: TaskBits<S>,
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

    /// The same with limits in slices; see [`crate::order::Slices`].
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn with_slices(
        configuration: &Configuration<'_>,
        counts: &[SliceCount],
    ) -> Result<Self, ConfigurationError> {
        configuration.check_slices(counts)?;
        let found = configuration.tasks.len();
        let slices = Slices::new(counts).ok_or(ConfigurationError::TooManyTasks { found })?;
        Ok(Self {
            slices: Some(slices),
            ..Self::with_store(configuration)?
        })
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
        let zero_slack = match configuration.enforcement {
            Enforcement::ZeroSlack => Some(ZeroSlack::new(count)?),
            Enforcement::Static | Enforcement::Adaptive => None,
        };
        Ok(Self {
            account,
            slices: None,
            zero_slack,
            watched: S::table(count, Watched::NOTHING).ok_or(too_many)?,
            touched: TaskBits::new(count).ok_or(too_many)?,
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
        let (Some(entry), Some(watched)) = (
            self.account.tasks.get(job.task.index()),
            self.watched.get(job.task.index()),
        ) else {
            return Permit::NotAdmitted;
        };
        if watched
            .dropped_up_to
            .is_some_and(|last| job.sequence <= last)
        {
            let why = DropReason::Mode;
            return Permit::Dropped { why };
        }
        if !self.account.admits(job.task) {
            return Permit::NotAdmitted;
        }
        if watched.exhausted && watched.sequence == Some(job.sequence) {
            return match self.account.exhaustion() {
                Exhaustion::Abort => Permit::Dropped {
                    why: DropReason::Exhausted,
                },
                Exhaustion::Background | Exhaustion::Continue => Permit::Demoted,
            };
        }
        if let Some(boundary) = self.waits_until(job) {
            let until = Until::At(boundary);
            return Permit::Suspended { until };
        }
        if let Some(permit) = self.without_slack(job.task, entry, Some(job.sequence)) {
            return permit;
        }
        self.running_permit(job.task, entry, self.since_release(job))
    }

    /// What a job released so long ago may execute; with slices never more than it was granted.
    fn running_permit(
        &self,
        task: TaskId,
        entry: &TaskConfiguration,
        since_release: Duration,
    ) -> Permit {
        if let Some(granted) = self.granted(task, entry, since_release)
            && granted < entry.task.own_wcet()
        {
            return Permit::Run {
                limit: Some(granted),
            };
        }
        Permit::Run {
            limit: self.account.limit(task),
        }
    }

    /// What the suspension level makes of a permit to run; `None`: nothing.
    fn without_slack(
        &self,
        task: TaskId,
        entry: &TaskConfiguration,
        sequence: Option<u64>,
    ) -> Option<Permit> {
        let zero_slack = self.zero_slack.as_ref()?;
        zero_slack.permit(task, entry, (sequence, self.account.limit(task)))
    }

    /// A job stands for nothing any more, also if it goes on.
    fn end_without_slack(&mut self, job: JobId) {
        if let Some(zero_slack) = &mut self.zero_slack {
            zero_slack.ended(job);
        }
    }

    fn watch(&mut self, task: TaskId) -> Result<&mut Watched, ContractViolation> {
        self.watched
            .get_mut(task.index())
            .ok_or(ContractViolation::UnknownTask(task))
    }

    /// The job of the same task that facts spoke of last, unless it would have to make room for `job`
    /// before a decision has looked at it.
    fn make_room(&mut self, job: JobId) -> Result<Option<u64>, ContractViolation> {
        let present = self.watch(job.task)?.sequence;
        let undecided = self.touched.first_from(job.task.index()) == Some(job.task);
        if undecided && present.is_some_and(|present| present < job.sequence) {
            return Err(ContractViolation::TooManyFacts { capacity: 1 });
        }
        Ok(present)
    }

    /// How long ago the job was released, if the world said so, as of the last decision.
    fn since_release(&self, job: JobId) -> Duration {
        let watched = self.watched.get(job.task.index());
        let released = watched.and_then(|watched| watched.release_of(job.sequence));
        released.map_or(Duration::ZERO, |at| self.account.clock.saturating_since(at))
    }

    /// What the slices that have begun grant; `None` without slices.
    fn granted(&self, task: TaskId, entry: &TaskConfiguration, since: Duration) -> Option<Service> {
        let slices = self.slices.as_ref()?;
        Some(slices.count(task).granted_ceil(&entry.task, since))
    }

    /// When the next slice begins for which the job waits.
    fn waits_until(&self, job: JobId) -> Option<Instant> {
        let boundary = self.slices.as_ref()?.waits_until(job.task)?;
        let watched = self.watched.get(job.task.index())?;
        (watched.sequence == Some(job.sequence)).then_some(boundary)
    }

    /// Whether slices say how the job stands, because its whole limit is not used up: it is suspended
    /// if it has executed what it was granted so far.
    fn suspend(&mut self, job: JobId, executed: Service) -> bool {
        let since = self.since_release(job);
        let least = self.account.granularity.max(Service::from_nanos(1));
        let (Some(entry), Some(slices)) =
            (self.account.tasks.get(job.task.index()), &mut self.slices)
        else {
            return false;
        };
        let count = slices.count(job.task);
        let boundary = executed
            .checked_add(least)
            .and_then(|amount| count.granting_boundary_floor(&entry.task, amount));
        let Some(boundary) = boundary else {
            return false;
        };
        if boundary > since {
            let wait = boundary.saturating_sub(since);
            slices.suspend(job.task, self.account.clock.saturating_add(wait));
        }
        true
    }

    fn forget_slice(&mut self, task: TaskId) {
        if let Some(slices) = &mut self.slices {
            slices.forget(task);
        }
    }

    /// Visits the tasks with facts, in task order.
    fn for_touched(&mut self, mut settle: impl FnMut(&mut Self, TaskId)) {
        let mut from = 0;
        while let Some(task) = self.touched.first_from(from) {
            from = task.index().saturating_add(1);
            settle(self, task);
        }
    }

    /// Settles a job that is not complete.
    fn settle(&mut self, task: TaskId) {
        loop {
            let (Some(&allowance), Some(watched)) = (
                self.account.allowances.get(task.index()),
                self.watched.get(task.index()),
            ) else {
                return;
            };
            let (Some(sequence), Ending::Pending) = (watched.sequence, watched.ending) else {
                return;
            };
            let job = JobId { task, sequence };
            let used_up = self.account.is_used_up(allowance.limit, watched.executed);
            let stopped = watched.exhausted
                || watched.dropped_up_to.is_some_and(|last| sequence <= last)
                || !allowance.admits;
            let executed = watched.executed;
            let in_slices = !stopped && self.suspend(job, executed);
            if !used_up || stopped || in_slices {
                return;
            }
            let Some(verdict) = self.account.overrun(job, executed, self.account.mode) else {
                return;
            };
            match verdict {
                OnExhaustion::RaiseMode(to) => self.raise_mode(to, job),
                OnExhaustion::Demote | OnExhaustion::Abort | OnExhaustion::Suspend => {
                    if let Some(watched) = self.watched.get_mut(task.index()) {
                        watched.exhausted = true;
                    }
                    self.end_without_slack(job);
                    if verdict == OnExhaustion::Abort {
                        self.account.notice(Event::Dropped {
                            job,
                            why: DropReason::Exhausted,
                        });
                    }
                    return;
                }
            }
        }
    }

    /// When something happens that nobody tells: slices and zero slack exclude each other.
    fn next_wake(&self) -> Option<Wake> {
        if let Some(zero_slack) = &self.zero_slack {
            return zero_slack.next(&self.account.tasks);
        }
        self.slices.as_ref().and_then(Slices::next).map(|at| Wake {
            at,
            why: WakeReason::Replenishment,
        })
    }

    fn raise_mode(&mut self, to: Level, cause: JobId) {
        self.account.raise_mode(to, cause);
        let pairs = self.watched.iter_mut().zip(self.account.tasks.iter());
        for (task, (watched, entry)) in (0..=u16::MAX).map(TaskId).zip(pairs) {
            if !self.account.admits(task) {
                watched.dropped_up_to = watched.dropped_up_to.max(watched.newest);
            } else if entry.task.criticality < self.account.mode {
                // A degraded budget may be used up already.
                self.touched.insert(task);
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
            Fact::Released { job } | Fact::Started { cpu: CPU, job } => {
                let is_release = matches!(fact, Fact::Released { .. });
                if let Some(zero_slack) = self.zero_slack.as_mut().filter(|_| is_release) {
                    zero_slack.released(job, at)?;
                }
                let watched = self.watch(job.task)?;
                watched.newest = watched.newest.max(Some(job.sequence));
                if is_release {
                    watched.announced = Some((job.sequence, at));
                }
            }
            Fact::Charged {
                cpu: CPU,
                job,
                amount,
            } => {
                let present = self.make_room(job)?;
                let watched = self.watch(job.task)?;
                let judged = present == Some(job.sequence) && watched.ending == Ending::Judged;
                if present > Some(job.sequence) || judged {
                    return Err(ContractViolation::ChargedWhileNotRunning(job));
                }
                let before = if present == Some(job.sequence) {
                    watched.executed
                } else {
                    Service::ZERO
                };
                let sum = before
                    .checked_add(amount)
                    .ok_or(ContractViolation::ChargeOverflow { job, amount })?;
                watched.newest = watched.newest.max(Some(job.sequence));
                let another = watched.sequence != Some(job.sequence);
                if watched.turn_to(job.sequence) {
                    watched.executed = sum;
                    self.touched.insert(job.task);
                    if another {
                        self.forget_slice(job.task);
                    }
                }
            }
            Fact::Completed { cpu: CPU, job }
            | Fact::Stopped {
                cpu: CPU,
                job,
                why: crate::StopReason::Cancelled,
            } => {
                self.make_room(job)?;
                self.end_without_slack(job);
                let watched = self.watch(job.task)?;
                if watched.turn_to(job.sequence) {
                    if watched.ending == Ending::Pending {
                        watched.ending = Ending::Complete;
                    }
                    self.touched.insert(job.task);
                    self.forget_slice(job.task);
                }
            }
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
        if now < self.account.clock {
            return Err(ContractViolation::ClockWentBack {
                last: self.account.clock,
                now,
            });
        }
        if now > Instant::HORIZON {
            return Err(ContractViolation::BeyondHorizon(now));
        }
        self.account.clock = now;
        if let Some(slices) = &mut self.slices {
            while let Some(task) = slices.take_due(now) {
                self.touched.insert(task);
            }
        }
        self.settle_completed();
        loop {
            let mode = self.account.mode;
            self.for_touched(Self::settle);
            if self.account.mode == mode {
                break;
            }
        }
        self.touched.clear();
        if core::mem::take(&mut self.idle) && self.account.mode > Level::LOWEST {
            self.account.return_to_lowest();
        }
        if let Some(zero_slack) = &mut self.zero_slack {
            zero_slack.settle(now, &self.account.tasks);
        }
        Ok(Plan {
            slots: &[],
            sequences: Sequences::NONE,
            next: self.next_wake(),
            mode: self.account.mode,
        })
    }

    /// What a job of `task` that the guard has not heard of yet would be allowed; with zero slack, what
    /// the task's first incomplete job is, unless that one used up its limit.
    fn permit(&self, task: TaskId) -> Permit {
        match self.account.tasks.get(task.index()) {
            Some(entry) if self.account.admits(task) => self
                .without_slack(task, entry, None)
                .unwrap_or_else(|| self.running_permit(task, entry, Duration::ZERO)),
            Some(_) | None => Permit::NotAdmitted,
        }
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.account.take_notice()
    }

    fn lost_notices(&self) -> u64 {
        self.account.lost_notices()
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
        match self.slices {
            Some(_) => Interest::Releases,
            None => self.account.interest(),
        }
    }
}
