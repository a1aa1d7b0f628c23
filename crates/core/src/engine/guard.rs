//! Enforcement without order, for native worlds: the operating system dispatches by fixed
//! priority, and only exceptions are reported.
//!
//! Fed with exhausted limits, deadlines and idle instants, the guard gives the permits that
//! [`super::Uniprocessor`] would give if it saw every job. A job that never exhausts a limit costs no
//! call at all. What it does *not* know is who is pending, so it has to be told when nothing is:
//! [`Fact::Idle`].
//!
//! A job is *stopped* from the moment it used up its own level's limit, or the mode rose above its
//! task, until a later job of the same task takes its place. Workers read [`Guard::permit_for`] at
//! each release and whenever they are interrupted: a job number that the guard has not stopped gets
//! the permit of the task.

use crate::enforce::{Enforcement, Exhaustion};
use crate::engine::configuration::{Configuration, ConfigurationError, TaskConfiguration};
use crate::engine::uniprocessor::CPU;
use crate::fact::Fact;
use crate::ids::{JobId, TaskId};
use crate::model::{Level, LevelSet};
use crate::notice::{DropReason, Event, Notice, NoticeQueue};
use crate::plan::{OnExhaustion, Permit, Plan, Sequences};
use crate::queue::TaskBits;
use crate::scheduler::{ContractViolation, Scheduler};
use crate::store::{Boxed, Store};
use crate::time::{Instant, Service};

/// What the guard remembers of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Watched {
    /// The job that facts spoke of last.
    sequence: Option<u64>,
    /// What it was charged.
    executed: Service,
    /// It is complete; a charge that exceeds its limit still counts.
    completed: bool,
    /// It used up its own level's limit.
    exhausted: bool,
    /// Every job up to this number lost its place when the mode rose.
    dropped_up_to: Option<u64>,
    /// The newest release the world spoke of.
    newest: Option<u64>,
}

impl Watched {
    const NOTHING: Self = Self {
        sequence: None,
        executed: Service::ZERO,
        completed: false,
        exhausted: false,
        dropped_up_to: None,
        newest: None,
    };

    /// Turns to job `sequence`; an older one than the present is not turned back to.
    fn turn_to(&mut self, sequence: u64) -> bool {
        if self.sequence.is_some_and(|present| sequence < present) {
            return false;
        }
        if self.sequence != Some(sequence) {
            self.sequence = Some(sequence);
            self.executed = Service::ZERO;
            self.completed = false;
            self.exhausted = false;
        }
        true
    }
}

/// Enforcement alone: the state machine behind natively dispatched runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard<S: Store = Boxed> {
    tasks: S::Table<TaskConfiguration>,
    levels: LevelSet,
    enforcement: Enforcement,
    exhaustion: Exhaustion,
    granularity: Service,
    watched: S::Table<Watched>,
    touched: TaskBits<S>,
    idle: bool,
    mode: Level,
    clock: Instant,
    notices: NoticeQueue<S>,
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
        configuration.check()?;
        let count = configuration.tasks.len();
        let too_many = ConfigurationError::TooManyTasks { found: count };
        let first = *configuration
            .tasks
            .first()
            .ok_or(ConfigurationError::NoTasks)?;
        let mut tasks = S::table(count, first).ok_or(too_many)?;
        for (entry, task) in tasks.iter_mut().zip(configuration.tasks) {
            *entry = *task;
        }
        Ok(Self {
            tasks,
            levels: configuration.levels,
            enforcement: configuration.enforcement,
            exhaustion: configuration.exhaustion,
            granularity: configuration.granularity,
            watched: S::table(count, Watched::NOTHING).ok_or(too_many)?,
            touched: TaskBits::new(count).ok_or(too_many)?,
            idle: false,
            mode: Level::LOWEST,
            clock: Instant::EPOCH,
            notices: NoticeQueue::new(count),
        })
    }

    /// The criticality indicator as of the last decision.
    #[must_use]
    pub const fn mode(&self) -> Level {
        self.mode
    }

    /// What enforcement allows one job since the last decision.
    #[must_use]
    pub fn permit_for(&self, job: JobId) -> Permit {
        let (Some(entry), Some(watched)) = (
            self.tasks.get(job.task.index()),
            self.watched.get(job.task.index()),
        ) else {
            return Permit::NotAdmitted;
        };
        if watched
            .dropped_up_to
            .is_some_and(|last| job.sequence <= last)
        {
            return Permit::Dropped;
        }
        if !self.enforcement.admits(&entry.task, self.mode) {
            return Permit::NotAdmitted;
        }
        if watched.exhausted && watched.sequence == Some(job.sequence) {
            return match self.exhaustion {
                Exhaustion::Abort => Permit::Dropped,
                Exhaustion::Background | Exhaustion::Continue => Permit::Background,
            };
        }
        self.running_permit(entry)
    }

    fn running_permit(&self, entry: &TaskConfiguration) -> Permit {
        Permit::Run {
            limit: self
                .enforcement
                .on_exhaustion(&entry.task, self.mode, self.exhaustion)
                .map(|_| self.enforcement.limit(&entry.task, self.mode)),
        }
    }

    fn notice(&mut self, what: Event) {
        self.notices.push(Notice {
            at: self.clock,
            what,
        });
    }

    fn watch(&mut self, task: TaskId) -> Result<&mut Watched, ContractViolation> {
        self.watched
            .get_mut(task.index())
            .ok_or(ContractViolation::UnknownTask(task))
    }

    fn settle(&mut self, task: TaskId) {
        loop {
            let (Some(entry), Some(watched)) =
                (self.tasks.get(task.index()), self.watched.get(task.index()))
            else {
                return;
            };
            let Some(sequence) = watched.sequence else {
                return;
            };
            let job = JobId { task, sequence };
            let limit = self.enforcement.limit(&entry.task, self.mode);
            let used_up = if watched.completed {
                watched.executed > limit.saturating_add(self.granularity)
            } else {
                let remaining = limit.saturating_sub(watched.executed);
                remaining.is_zero() || remaining < self.granularity
            };
            let stopped = watched.exhausted
                || watched.dropped_up_to.is_some_and(|last| sequence <= last)
                || !self.enforcement.admits(&entry.task, self.mode);
            if !used_up || stopped {
                return;
            }
            let Some(verdict) =
                self.enforcement
                    .on_exhaustion(&entry.task, self.mode, self.exhaustion)
            else {
                return;
            };
            let level = self.enforcement.limit_level(&entry.task, self.mode);
            let executed = watched.executed;
            self.notice(Event::Overrun {
                job,
                level,
                executed,
            });
            match verdict {
                OnExhaustion::RaiseMode(to) => self.raise_mode(to, job),
                OnExhaustion::Demote | OnExhaustion::Abort | OnExhaustion::Suspend => {
                    if let Some(watched) = self.watched.get_mut(task.index()) {
                        watched.exhausted = true;
                    }
                    if verdict == OnExhaustion::Abort {
                        self.notice(Event::Dropped {
                            job,
                            why: DropReason::Exhausted,
                        });
                    }
                    return;
                }
            }
        }
    }

    fn raise_mode(&mut self, to: Level, cause: JobId) {
        let to = to.min(self.levels.highest());
        let from = self.mode;
        self.mode = to;
        self.notice(Event::ModeChanged {
            from,
            to,
            cause: Some(cause),
        });
        let count = self.tasks.len();
        let pairs = self.watched.iter_mut().zip(self.tasks.iter());
        for (index, (watched, entry)) in (0..count).zip(pairs) {
            if !self.enforcement.admits(&entry.task, to) {
                watched.dropped_up_to = watched.dropped_up_to.max(watched.newest);
            } else if entry.task.criticality < to
                && let Ok(number) = u16::try_from(index)
            {
                // A degraded budget may be used up already.
                self.touched.insert(TaskId(number));
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
                let watched = self.watch(job.task)?;
                watched.newest = watched.newest.max(Some(job.sequence));
            }
            Fact::Charged {
                cpu: CPU,
                job,
                amount,
            } => {
                let watched = self.watch(job.task)?;
                let sum = match watched.sequence {
                    Some(sequence) if sequence == job.sequence => watched.executed,
                    Some(_) | None => Service::ZERO,
                }
                .checked_add(amount)
                .ok_or(ContractViolation::ChargeOverflow { job, amount })?;
                watched.newest = watched.newest.max(Some(job.sequence));
                if watched.turn_to(job.sequence) {
                    watched.executed = sum;
                    self.touched.insert(job.task);
                }
            }
            Fact::Completed { cpu: CPU, job }
            | Fact::Stopped {
                cpu: CPU,
                job,
                why: crate::StopReason::Cancelled,
            } => {
                let watched = self.watch(job.task)?;
                if watched.turn_to(job.sequence) {
                    watched.completed = true;
                    self.touched.insert(job.task);
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
        if now < self.clock {
            return Err(ContractViolation::ClockWentBack {
                last: self.clock,
                now,
            });
        }
        if now > Instant::HORIZON {
            return Err(ContractViolation::BeyondHorizon(now));
        }
        self.clock = now;
        loop {
            let mode = self.mode;
            let mut from = 0;
            while let Some(task) = self.touched.first_from(from) {
                from = task.index().saturating_add(1);
                self.settle(task);
            }
            if self.mode == mode {
                break;
            }
        }
        self.touched.clear();
        if core::mem::take(&mut self.idle) && self.mode > Level::LOWEST {
            let from = self.mode;
            self.mode = Level::LOWEST;
            self.notice(Event::ModeChanged {
                from,
                to: Level::LOWEST,
                cause: None,
            });
        }
        Ok(Plan {
            slots: &[],
            sequences: Sequences::NONE,
            next: None,
            mode: self.mode,
        })
    }

    /// What a job of `task` that the guard has not heard of yet would be allowed.
    fn permit(&self, task: TaskId) -> Permit {
        match self.tasks.get(task.index()) {
            Some(entry) if self.enforcement.admits(&entry.task, self.mode) => {
                self.running_permit(entry)
            }
            Some(_) | None => Permit::NotAdmitted,
        }
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop()
    }

    fn lost_notices(&self) -> u64 {
        self.notices.lost()
    }
}
