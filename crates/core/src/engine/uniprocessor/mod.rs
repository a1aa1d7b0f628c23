//! One CPU, one job limit per job: fixed task priorities, or earliest (virtual) deadlines, under
//! static or adaptive enforcement or with zero-slack instants.
//!
//! A job runs if it is the most urgent admitted one; jobs that used up their own level's limit run
//! below all admitted ones. Under adaptive enforcement a job that uses up its limit of the present
//! mode raises it, tasks below the mode lose their jobs, and the first instant without an admitted
//! job returns to mode 0 (Baruah, Burns and Davis, RTSS 2011; Fleming and Burns, WMC 2013). Zero-slack
//! scheduling has one mode and suspends tasks instead; `suspension.rs` says how.
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
//! With slices (period transformation) a job that has executed what it was granted so far leaves the
//! admitted ones for `suspended`, and comes back at the boundary that grants it more (6); it counts as
//! pending. (6) `suspend`, `settle_slices`.
//!
//! Invariants: I1 a task is in the ready queue exactly if its current job is admitted (and not
//! suspended or late, with zero-slack instants), in the background heap exactly if it is in the
//! background, and waits for a slice exactly if it stands as suspended; I2 no admitted job belongs to
//! a task that the mode does not admit; I3 a waiting job has an admitted or suspended current job
//! before it.
//! [`Uniprocessor::check_invariants`] checks them after every decision in the tests.

mod facts;
mod lists;
mod settle;
mod slices;
mod suspension;

use lists::Lists;

use crate::enforce::{Enforcement, OnMiss};
use crate::engine::account::Account;
use crate::engine::configuration::{Configuration, ConfigurationError, TaskOrder};
use crate::fact::Fact;
use crate::ids::{CpuId, JobId, TaskId};
use crate::job_table::{Current, Jobs, Standing};
use crate::model::Level;
use crate::notice::{Event, Notice};
use crate::order::{JobPriority, Slices};
use crate::plan::{Permit, Plan, Sequences, Slot, Until, Wake};
use crate::queue::{ReadyHeap, ReadyQueue, ReadyRanks, TaskBits};
use crate::scheduler::{ContractViolation, Scheduler};
use crate::store::{Boxed, Store};
use crate::task_configuration::TaskConfiguration;
use crate::time::{Duration, Instant, Service};
use crate::urgency::Urgency;
use suspension::Suspension;

/// The only CPU of this engine's domain.
pub const CPU: CpuId = CpuId(0);

/// The engine for one CPU.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Uniprocessor<S: Store = Boxed> {
    account: Account<S>,
    order: Order<S>,
    wake_granularity: Duration,
    /// Something may have to be settled at an instant known beforehand: a deadline at which a job is
    /// withdrawn, a zero-slack instant, the beginning of a slice. Otherwise no plan has a wake-up.
    timed: bool,
    /// Fixed task priorities, and nothing timed: most of what a decision looks at cannot be there.
    plain: bool,

    jobs: S::Table<Jobs>,
    /// Tasks whose current job is admitted, by urgency.
    ready: ReadyQueue<S>,
    /// Tasks whose current job is in the background, by urgency.
    background: ReadyHeap<S>,
    /// Tasks that abort late jobs and have a current one, by its absolute deadline. With zero-slack
    /// instants all tasks whose current job has one or its deadline ahead, by the next of the two.
    deadlines: ReadyHeap<S>,
    /// Who is suspended; `None` without zero-slack instants.
    suspension: Option<Suspension<S>>,
    /// Tasks that may have a job beyond its limit.
    touched: TaskBits<S>,
    /// What was told of the job that `running` names. If another one took its place since the last
    /// decision, its task is touched or completed.
    told: Told,
    /// Tasks whose current job was reported complete since the last decision.
    completed: TaskBits<S>,
    /// Tasks with releases since the last decision.
    arrived: TaskBits<S>,
    /// What the world confirmed to be running (C5).
    running: Option<JobId>,
    /// That job has completed or stopped since the last decision. It stays named until then, so that
    /// its charge of the same instant may be told after that (C3).
    left: bool,
    slots: [Option<Slot>; 1],
    wake: Option<Wake>,
}

/// What was told of a job since the last decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Told(u8);

impl Told {
    const NOTHING: Self = Self(0);
    /// It was charged.
    const CHARGED: Self = Self(1);
    /// It ended.
    const FINISHED: Self = Self(2);

    #[inline]
    const fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    #[inline]
    const fn is_finished(self) -> bool {
        self.0 & Self::FINISHED.0 != 0
    }
}

/// The order among admitted jobs, with its tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Order<S: Store> {
    FixedPriority,
    EarliestDeadline {
        virtual_deadlines: S::Table<Duration>,
    },
    JobLists(Lists<S>),
    /// Fixed priorities; jobs in slices.
    Slices(Slices<S>),
}

impl<S: Store> Order<S> {
    fn new(order: TaskOrder<'_>, tasks: usize) -> Result<Self, ConfigurationError> {
        match order {
            TaskOrder::FixedPriority => Ok(Self::FixedPriority),
            TaskOrder::JobLists { lists } => Lists::reused(lists)
                .map(Self::JobLists)
                .ok_or(ConfigurationError::JobLists),
            TaskOrder::RecomputedLists { lists } => Lists::recomputed(lists)
                .map(Self::JobLists)
                .ok_or(ConfigurationError::JobLists),
            TaskOrder::Slices { counts } => Slices::new(counts)
                .map(Self::Slices)
                .ok_or(ConfigurationError::TooManyTasks { found: tasks }),
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
        let account = Account::new(configuration)?;
        configuration.check_order(order)?;
        let count = configuration.tasks.len();
        let too_many = ConfigurationError::TooManyTasks { found: count };
        Ok(Self {
            account,
            order: Order::new(order, count)?,
            wake_granularity: configuration.wake_granularity,
            timed: is_timed(configuration, order),
            plain: order == TaskOrder::FixedPriority && !is_timed(configuration, order),
            jobs: S::table(count, Jobs::NONE).ok_or(too_many)?,
            ready: ready_queue(configuration, order).ok_or(too_many)?,
            background: ReadyHeap::new(count).ok_or(too_many)?,
            deadlines: ReadyHeap::new(count).ok_or(too_many)?,
            suspension: match configuration.enforcement {
                Enforcement::ZeroSlack => Some(Suspension::new(count)?),
                Enforcement::Static | Enforcement::Adaptive => None,
            },
            touched: TaskBits::new(count).ok_or(too_many)?,
            arrived: TaskBits::new(count).ok_or(too_many)?,
            completed: TaskBits::new(count).ok_or(too_many)?,
            told: Told::NOTHING,
            running: None,
            left: false,
            slots: [None],
            wake: None,
        })
    }

    /// The criticality indicator as of the last decision.
    #[must_use]
    pub const fn mode(&self) -> Level {
        self.account.mode
    }

    /// The job that the world confirmed to be running.
    #[must_use]
    pub const fn running(&self) -> Option<JobId> {
        if self.left { None } else { self.running }
    }

    /// Whether the invariants of this module hold; for tests.
    #[must_use]
    pub fn check_invariants(&self) -> bool {
        let holds = |(task, jobs): (TaskId, &Jobs)| {
            let standing = jobs.current.map(|current| current.standing);
            let admitted = standing == Some(Standing::Admitted);
            let in_background = standing == Some(Standing::Background);
            let suspended = standing == Some(Standing::Suspended);
            let free = admitted && self.suspension.is_none();
            (self.ready.contains(task) == free || self.suspension.is_some())
                && self.background.contains(task) == in_background
                && (!admitted || self.account.admits(task))
                && self.next_slice(task).is_some() == suspended
                && (jobs.waiting.is_empty() || admitted || suspended)
        };
        let tasks = (0..=u16::MAX).map(TaskId);
        tasks.zip(self.jobs.iter()).all(holds)
            && self.check_suspension()
            && self.account.check_allowances()
    }

    /// How urgent the current job of `task` is in the present mode.
    #[inline]
    fn urgency(&self, task: TaskId) -> Urgency {
        let (Some(entry), Some(jobs)) = (self.account.entry(task), self.jobs.get(task.index()))
        else {
            return Urgency::of_priority(0);
        };
        match &self.order {
            Order::FixedPriority | Order::Slices(_) => Urgency::of_priority(entry.priority),
            Order::JobLists(_) => {
                let JobPriority(priority) = jobs
                    .current
                    .map_or(JobPriority::BEYOND_PATTERN, |job| job.arrival.priority);
                Urgency::of_priority(priority)
            }
            Order::EarliestDeadline { virtual_deadlines } => {
                let relative = match virtual_deadlines.get(task.index()) {
                    Some(due) if self.account.mode == Level::LOWEST => *due,
                    Some(_) | None => entry.task.deadline,
                };
                let released = match &jobs.current {
                    Some(current) => current.arrival.at,
                    None => self.account.clock,
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
            Order::FixedPriority | Order::EarliestDeadline { .. } | Order::Slices(_) => 0,
        }
    }

    /// At how many instants recomputed priorities had no lowest job, which proved lists exclude.
    #[must_use]
    pub fn recomputations_stuck(&self) -> u64 {
        match &self.order {
            Order::JobLists(lists) => lists.stuck(),
            Order::FixedPriority | Order::EarliestDeadline { .. } | Order::Slices(_) => 0,
        }
    }

    /// The limit of the current job of an admitted task, or of one released now; `None` if reaching
    /// it means nothing.
    fn permitted(&self, task: TaskId, entry: &TaskConfiguration) -> Option<Service> {
        if let Order::Slices(slices) = &self.order {
            let current = self.jobs.get(task.index())?.current;
            let released = current.map_or(self.account.clock, |current| current.arrival.at);
            let since = self.account.clock.saturating_since(released);
            let granted = slices.count(task).granted_ceil(&entry.task, since);
            if granted < entry.task.own_wcet() {
                return Some(granted);
            }
        }
        self.account.limit(task)
    }

    /// C6: the world calls later than the last plan asked for.
    #[cold]
    fn notice_lateness(&mut self) {
        let Some(wake) = self.wake else {
            return;
        };
        let by = self.account.clock.saturating_since(wake.at);
        if by > self.wake_granularity {
            self.account.notice(Event::Late { by });
        }
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
                on_this(cpu)?;
                self.charge(job, amount)
            }
            Fact::Completed { cpu, job } => {
                on_this(cpu)?;
                self.complete(job)
            }
            Fact::Started { cpu, job } => {
                on_this(cpu)?;
                self.start(job)
            }
            Fact::Stopped { cpu, job, why } => {
                on_this(cpu)?;
                self.stop(job, why)
            }
            // This engine sees every job, and needs nobody to tell it that nothing is pending.
            Fact::Idle { cpu } => on_this(cpu),
            Fact::Timer => Ok(()),
            Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::ModeRequested { .. } => Err(ContractViolation::NotOfThisPolicy),
        }
    }

    // Inlined where the world asks, so that the plan is read where it was made.
    #[inline(always)]
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
        let (told, running) = (core::mem::take(&mut self.told), self.running);
        if core::mem::take(&mut self.left) {
            self.running = None;
        }
        let next = if self.plain {
            self.settle::<true>(told, running);
            None
        } else {
            self.settle_all(told, running);
            self.wake
        };
        Ok(Plan {
            slots: &self.slots,
            sequences: Sequences::NONE,
            next,
            mode: self.account.mode,
        })
    }

    fn permit(&self, task: TaskId) -> Permit {
        let Some(entry) = self.account.entry(task) else {
            return Permit::NotAdmitted;
        };
        if !self.account.admits(task) {
            return Permit::NotAdmitted;
        }
        match self.jobs.get(task.index()).and_then(|jobs| jobs.current) {
            Some(Current {
                standing: Standing::Background,
                ..
            }) => Permit::Demoted,
            Some(Current {
                standing: Standing::Suspended,
                ..
            }) => Permit::Suspended {
                until: self.next_slice(task).map_or(Until::Event, Until::At),
            },
            Some(_) | None if self.goes_on_late(task) => Permit::Below {
                limit: self.permitted(task, entry),
            },
            Some(_) | None if self.is_suspended(task) => Permit::Suspended {
                until: Until::Event,
            },
            Some(Current {
                standing: Standing::Admitted,
                ..
            })
            | None => Permit::Run {
                limit: self.permitted(task, entry),
            },
        }
    }

    #[inline]
    fn take_notice(&mut self) -> Option<Notice> {
        self.account.take_notice()
    }

    #[inline]
    fn lost_notices(&self) -> u64 {
        self.account.lost_notices()
    }
}

/// Whether anything happens at instants that are known beforehand.
fn is_timed(configuration: &Configuration<'_>, order: TaskOrder<'_>) -> bool {
    let aborts = |entry: &TaskConfiguration| entry.on_miss == OnMiss::Abort;
    matches!(order, TaskOrder::Slices { .. })
        || configuration.enforcement == Enforcement::ZeroSlack
        || configuration.tasks.iter().any(aborts)
}

/// An empty queue of the kind that the order asks for.
fn ready_queue<S: Store>(
    configuration: &Configuration<'_>,
    order: TaskOrder<'_>,
) -> Option<ReadyQueue<S>> {
    match order {
        TaskOrder::FixedPriority | TaskOrder::Slices { .. } => {
            let urgency = |entry: &TaskConfiguration| Urgency::of_priority(entry.priority);
            ReadyRanks::new(configuration.tasks.iter().map(urgency)).map(ReadyQueue::Fixed)
        }
        TaskOrder::EarliestDeadline { .. }
        | TaskOrder::JobLists { .. }
        | TaskOrder::RecomputedLists { .. } => {
            ReadyHeap::new(configuration.tasks.len()).map(ReadyQueue::Varying)
        }
    }
}

#[inline]
pub(super) fn on_this(cpu: CpuId) -> Result<(), ContractViolation> {
    if cpu == CPU {
        Ok(())
    } else {
        Err(ContractViolation::UnknownCpu(cpu))
    }
}
