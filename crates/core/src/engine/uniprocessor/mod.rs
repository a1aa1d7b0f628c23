//! One CPU, one job limit per job: fixed task priorities, or earliest (virtual) deadlines, under
//! static or adaptive enforcement.
//!
//! A job runs if it is the most urgent admitted one; jobs that used up their own level's limit run
//! below all admitted ones. Under adaptive enforcement a job that uses up its limit of the present
//! mode raises it, tasks below the mode lose their jobs, and the first instant without an admitted
//! job returns to mode 0 (Baruah, Burns and Davis, RTSS 2011; Fleming and Burns, WMC 2013).
//!
//! ```text
//!            admitted                 limit of own level            completed
//!  arrived ------------> admitted ------------------------> background ------> gone
//!     |  (1)                | |            (3)                   |      (5)
//!     | not admitted        | | completed (5)                    | successor admitted, deadline,
//!     v  (2)                | +-------------> gone               | mode rises above its task (4)
//!   dropped                 | mode rises above its task (4)      v
//!                           +-------------------------------> dropped
//! ```
//! (1) `admit`, (2) `admit`, (3) `exhaust`, (4) `drop_current`, (5) `settle_completions`.
//!
//! Invariants: I1 a task is in the ready heap exactly if its current job is admitted, and in the
//! background heap exactly if it is in the background; I2 no admitted job belongs to a task that the
//! mode does not admit; I3 a waiting job has an admitted current job before it.
//! [`Uniprocessor::check_invariants`] checks them after every decision in the tests.

mod facts;
mod settle;

use crate::enforce::{Enforcement, Exhaustion};
use crate::engine::configuration::{
    Configuration, ConfigurationError, TaskConfiguration, TaskOrder,
};
use crate::fact::Fact;
use crate::ids::{CpuId, JobId, TaskId};
use crate::job_table::{Current, Jobs, Standing};
use crate::model::{Level, LevelSet};
use crate::notice::{Event, Notice, NoticeQueue};
use crate::order::{JobLists, JobPriority, Urgency};
use crate::plan::{Permit, Plan, Sequences, Slot, Wake};
use crate::queue::{ReadyHeap, TaskBits};
use crate::scheduler::{ContractViolation, Scheduler};
use crate::store::{Boxed, Store};
use crate::time::{Duration, Instant, Service};

/// The only CPU of this engine's domain.
pub const CPU: CpuId = CpuId(0);

/// The engine for one CPU.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Uniprocessor<S: Store = Boxed> {
    tasks: S::Table<TaskConfiguration>,
    order: Order<S>,
    levels: LevelSet,
    enforcement: Enforcement,
    exhaustion: Exhaustion,
    granularity: Service,
    wake_granularity: Duration,

    jobs: S::Table<Jobs>,
    /// Tasks whose current job is admitted, by urgency.
    ready: ReadyHeap<S>,
    /// Tasks whose current job is in the background, by urgency.
    background: ReadyHeap<S>,
    /// Tasks that abort late jobs and have a current one, by its absolute deadline.
    deadlines: ReadyHeap<S>,
    /// Tasks that may have a job beyond its limit.
    touched: TaskBits<S>,
    /// The task whose job was charged up to its limit last. Most of these complete at the same instant,
    /// which needs no look at their limit; the others are touched.
    at_limit: Option<TaskId>,
    /// Tasks whose current job was reported complete since the last decision.
    completed: TaskBits<S>,
    /// Tasks with releases since the last decision.
    arrived: TaskBits<S>,
    /// Which of these three sets are not empty. Most decisions follow one completion or one release,
    /// and take no step that has nothing to settle.
    staged: Staged,
    mode: Level,
    clock: Instant,
    /// What the world confirmed to be running (C5).
    running: Option<JobId>,
    /// That job has completed or stopped since the last decision. It stays named until then, so that
    /// its charge of the same instant may be told after that (C3).
    left: bool,
    slots: [Option<Slot>; 1],
    wake: Option<Wake>,
    notices: NoticeQueue<S>,
}

/// What has to be settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Staged {
    touched: bool,
    completed: bool,
    arrived: bool,
}

/// The order among admitted jobs, with its tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Order<S: Store> {
    FixedPriority,
    EarliestDeadline {
        virtual_deadlines: S::Table<Duration>,
    },
    JobLists(JobLists<S>),
}

impl<S: Store> Order<S> {
    fn new(order: TaskOrder<'_>, tasks: usize) -> Result<Self, ConfigurationError> {
        match order {
            TaskOrder::FixedPriority => Ok(Self::FixedPriority),
            TaskOrder::JobLists { lists } => JobLists::new(lists)
                .map(Self::JobLists)
                .ok_or(ConfigurationError::JobLists),
            TaskOrder::EarliestDeadline {
                virtual_deadlines: given,
            } => {
                let too_many = ConfigurationError::TooManyTasks { found: tasks };
                let mut virtual_deadlines = S::table(tasks, Duration::ZERO).ok_or(too_many)?;
                for (entry, due) in virtual_deadlines.iter_mut().zip(given) {
                    *entry = *due;
                }
                Ok(Self::EarliestDeadline { virtual_deadlines })
            }
        }
    }
}

impl Uniprocessor<Boxed> {
    /// An engine whose tables are on the heap.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn new(configuration: &Configuration<'_>) -> Result<Self, ConfigurationError> {
        Self::with_store(configuration, TaskOrder::FixedPriority)
    }

    /// The same with another order than fixed task priorities.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn with_order(
        configuration: &Configuration<'_>,
        order: TaskOrder<'_>,
    ) -> Result<Self, ConfigurationError> {
        Self::with_store(configuration, order)
    }
}

impl<S: Store> Uniprocessor<S> {
    /// An engine whose tables are where `S` says.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn with_store(
        configuration: &Configuration<'_>,
        order: TaskOrder<'_>,
    ) -> Result<Self, ConfigurationError> {
        configuration.check()?;
        configuration.check_order(order)?;
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
            order: Order::new(order, count)?,
            levels: configuration.levels,
            enforcement: configuration.enforcement,
            exhaustion: configuration.exhaustion,
            granularity: configuration.granularity,
            wake_granularity: configuration.wake_granularity,
            jobs: S::table(count, Jobs::NONE).ok_or(too_many)?,
            ready: ReadyHeap::new(count).ok_or(too_many)?,
            background: ReadyHeap::new(count).ok_or(too_many)?,
            deadlines: ReadyHeap::new(count).ok_or(too_many)?,
            touched: TaskBits::new(count).ok_or(too_many)?,
            arrived: TaskBits::new(count).ok_or(too_many)?,
            completed: TaskBits::new(count).ok_or(too_many)?,
            staged: Staged::default(),
            at_limit: None,
            mode: Level::LOWEST,
            clock: Instant::EPOCH,
            running: None,
            left: false,
            slots: [None],
            wake: None,
            notices: NoticeQueue::new(count),
        })
    }

    /// The criticality indicator as of the last decision.
    #[must_use]
    pub const fn mode(&self) -> Level {
        self.mode
    }

    /// The job that the world confirmed to be running.
    #[must_use]
    pub const fn running(&self) -> Option<JobId> {
        if self.left { None } else { self.running }
    }

    /// Whether the invariants of this module hold; for tests.
    #[must_use]
    pub fn check_invariants(&self) -> bool {
        self.jobs
            .iter()
            .zip(self.tasks.iter())
            .enumerate()
            .all(|(index, (jobs, entry))| {
                let Ok(number) = u16::try_from(index) else {
                    return false;
                };
                let standing = jobs.current.map(|current| current.standing);
                let admitted = standing == Some(Standing::Admitted);
                let in_background = standing == Some(Standing::Background);
                self.ready.contains(TaskId(number)) == admitted
                    && self.background.contains(TaskId(number)) == in_background
                    && (!admitted || self.enforcement.admits(&entry.task, self.mode))
                    && (jobs.waiting.is_empty() || admitted)
            })
    }

    /// How urgent the current job of `task` is in the present mode.
    #[inline]
    fn urgency(&self, task: TaskId) -> Urgency {
        let (Some(entry), Some(jobs)) = (self.entry(task), self.jobs.get(task.index())) else {
            return Urgency::of_priority(0);
        };
        match &self.order {
            Order::FixedPriority => Urgency::of_priority(entry.priority),
            Order::JobLists(_) => {
                let JobPriority(priority) = jobs
                    .current
                    .map_or(JobPriority::BEYOND_PATTERN, |job| job.arrival.priority);
                Urgency::of_priority(priority)
            }
            Order::EarliestDeadline { virtual_deadlines } => {
                let relative = match virtual_deadlines.get(task.index()) {
                    Some(due) if self.mode == Level::LOWEST => *due,
                    Some(_) | None => entry.task.deadline,
                };
                let released = match &jobs.current {
                    Some(current) => current.arrival.at,
                    None => self.clock,
                };
                Urgency::of_deadline_nanos(released.saturating_add(relative).as_nanos())
            }
        }
    }

    /// How many jobs exceeded the pattern that job-priority lists were made for.
    #[must_use]
    pub fn jobs_beyond_pattern(&self) -> u64 {
        match &self.order {
            Order::JobLists(lists) => lists.exceeded(),
            Order::FixedPriority | Order::EarliestDeadline { .. } => 0,
        }
    }

    #[inline]
    fn entry(&self, task: TaskId) -> Option<&TaskConfiguration> {
        self.tasks.get(task.index())
    }

    fn notice(&mut self, what: Event) {
        self.notices.push(Notice {
            at: self.clock,
            what,
        });
    }
}

impl<S: Store> Scheduler for Uniprocessor<S> {
    // The world's calls name the kind of fact: inlined there, the match takes no time.
    #[inline(always)]
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        if at > Instant::HORIZON {
            return Err(ContractViolation::BeyondHorizon(at));
        }
        match fact {
            Fact::Released { job } => self.release(at, job),
            Fact::Charged { cpu, job, amount } => {
                on_this(cpu).and_then(|()| self.charge(job, amount))
            }
            Fact::Completed { cpu, job } => on_this(cpu).and_then(|()| self.complete(job)),
            Fact::Started { cpu, job } => on_this(cpu).and_then(|()| self.start(job)),
            Fact::Stopped { cpu, job, why } => on_this(cpu).and_then(|()| self.stop(job, why)),
            // This engine sees every job, and needs nobody to tell it that nothing is pending.
            Fact::Idle { cpu } => on_this(cpu),
            Fact::Timer => Ok(()),
            Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::ModeRequested { .. } => Err(ContractViolation::NotOfThisPolicy),
        }
    }

    #[inline]
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
        if core::mem::take(&mut self.left) {
            self.running = None;
        }
        if let Some(wake) = self.wake {
            let by = now.saturating_since(wake.at);
            if by > self.wake_granularity {
                self.notice(Event::Late { by });
            }
        }
        if core::mem::take(&mut self.staged.completed) {
            while let Some(task) = self.completed.take_first() {
                self.settle_completion(task);
            }
        }
        if let Some(task) = self.at_limit.take() {
            self.touch(task);
        }
        if core::mem::take(&mut self.staged.touched) {
            self.settle_touched();
        }
        self.settle_deadlines(now);
        self.settle_idle();
        if core::mem::take(&mut self.staged.arrived) {
            self.settle_arrivals();
        }
        self.select();
        Ok(Plan {
            slots: &self.slots,
            sequences: Sequences::NONE,
            next: self.wake,
            mode: self.mode,
        })
    }

    fn permit(&self, task: TaskId) -> Permit {
        let Some(entry) = self.entry(task) else {
            return Permit::NotAdmitted;
        };
        if !self.enforcement.admits(&entry.task, self.mode) {
            return Permit::NotAdmitted;
        }
        match self.jobs.get(task.index()).and_then(|jobs| jobs.current) {
            Some(Current {
                standing: Standing::Background,
                ..
            }) => Permit::Background,
            Some(Current {
                standing: Standing::Admitted,
                ..
            })
            | None => Permit::Run {
                limit: self
                    .enforcement
                    .on_exhaustion(&entry.task, self.mode, self.exhaustion)
                    .map(|_| self.enforcement.limit(&entry.task, self.mode)),
            },
        }
    }

    #[inline]
    fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop()
    }

    #[inline]
    fn lost_notices(&self) -> u64 {
        self.notices.lost()
    }
}

pub(super) fn on_this(cpu: CpuId) -> Result<(), ContractViolation> {
    if cpu == CPU {
        Ok(())
    } else {
        Err(ContractViolation::UnknownCpu(cpu))
    }
}
