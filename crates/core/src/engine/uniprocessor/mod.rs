//! One CPU, one job limit per job: fixed task priorities, or earliest (virtual) deadlines, under
//! static or adaptive enforcement or with zero-slack instants.
//!
//! A job runs if it is the most urgent admitted one; jobs that used up their own level's limit run
//! below all admitted ones. Under adaptive enforcement a job that uses up its limit of the present
//! mode raises it, tasks below the mode lose their jobs, and the first instant without an admitted
//! job returns to mode 0 (Baruah, Burns and Davis, RTSS 2011; Fleming and Burns, WMC 2013). Rules that
//! suspend jobs instead, for the next slice or for the sake of a more critical job, are behind one
//! interface ([`crate::enforce`]), orders behind another ([`crate::order`]): here nothing depends on which.
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
//! A job that has executed what it was granted so far leaves the admitted ones for `suspended`, and comes
//! back when it is granted more (6); it counts as pending. (6) `suspend`, `settle_resumed`.
//!
//! Invariants: I1 a task is in the ready queue exactly if its current job is admitted and the rule lets it
//! run, and in the background heap exactly if it is in the background; I2 no admitted job belongs to
//! a task that the mode does not admit; I3 a waiting job has an admitted or suspended current job
//! before it.
//! [`Uniprocessor::check_invariants`] checks them after every decision in the tests.

mod facts;
mod limits;
mod settle;

use crate::configuration_error::ConfigurationError;
use crate::enforce::Rule;
use crate::engine::account::Account;
use crate::engine::clock::advance;
use crate::engine::configuration::Configuration;
use crate::fact::Fact;
use crate::ids::{CpuId, JobId, TaskId};
use crate::job_table::{Current, Jobs, Standing};
use crate::model::Level;
use crate::notice::Notice;
use crate::order::{JobPriority, Order, Ranked, TaskOrder};
use crate::plan::{Permit, Plan, Sequences, Slot, Wake};
use crate::queue::{ModeHeaps, ReadyHeap, ReadyQueue, ReadyRanks, TaskBits};
use crate::scheduler::{ContractViolation, Scheduler};
use crate::store::{Boxed, Store};
use crate::task_configuration::{OnMiss, TaskConfiguration};
use crate::time::{Instant, Service};
use crate::urgency::Urgency;

/// The only CPU of this engine's domain.
pub const CPU: CpuId = CpuId(0);

/// The engine for one CPU.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Uniprocessor<S: Store = Boxed> {
    account: Account<S>,
    order: Order<S>,
    rule: Rule<S>,
    /// Something may have to be settled at an instant known beforehand: a deadline at which a job is
    /// dropped, or one of the rule. Otherwise no plan has a wake-up.
    timed: bool,
    /// Fixed task priorities, and nothing timed: most of what a decision looks at cannot be there.
    plain: bool,

    jobs: S::Table<Jobs>,
    /// Tasks whose current job is admitted, by urgency.
    ready: ReadyQueue<S>,
    /// Tasks whose current job is in the background, by urgency.
    background: ReadyHeap<S>,
    /// Tasks that abort late jobs and have a current one, by its absolute deadline.
    deadlines: ReadyHeap<S>,
    /// Tasks that may have a job beyond its limit.
    dirty: TaskBits<S>,
    /// What was reported of the job that `running` names. If another one followed it since the last
    /// decision, its task is dirty or completed.
    reported: Reported,
    /// Tasks whose current job was reported complete since the last decision.
    completed: TaskBits<S>,
    /// Tasks with releases since the last decision.
    arrived: TaskBits<S>,
    /// What the world confirmed to be running (C5).
    running: Option<JobId>,
    /// That job has completed or stopped since the last decision. It stays named until then, so that
    /// its charge of the same instant may be reported after that (C3).
    left: bool,
    slots: [Option<Slot>; 1],
    wake: Option<Wake>,
}

/// What was reported of a job since the last decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Reported(u8);

impl Reported {
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

impl Uniprocessor<Boxed> {
    /// An engine whose tables are on the heap.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn new(configuration: &Configuration<'_>) -> Result<Self, ConfigurationError> {
        Self::with_store(configuration, &TaskOrder::FixedPriority)
    }

    /// The same with another order than fixed task priorities.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn with_order(
        configuration: &Configuration<'_>,
        order: &TaskOrder<'_>,
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
        order: &TaskOrder<'_>,
    ) -> Result<Self, ConfigurationError> {
        let account = Account::new(configuration)?;
        configuration.check_order(order)?;
        let count = configuration.tasks.len();
        let too_many = ConfigurationError::TooManyTasks { found: count };
        Ok(Self {
            account,
            order: Order::new(order)?,
            rule: Rule::new(configuration.enforcement, count).ok_or(too_many)?,
            timed: is_timed(configuration),
            plain: order.is_fixed() && !is_timed(configuration),
            jobs: S::table(count, Jobs::NONE).ok_or(too_many)?,
            ready: ready_queue(configuration, order).ok_or(too_many)?,
            background: ReadyHeap::new(count).ok_or(too_many)?,
            deadlines: ReadyHeap::new(count).ok_or(too_many)?,
            dirty: TaskBits::new(count).ok_or(too_many)?,
            arrived: TaskBits::new(count).ok_or(too_many)?,
            completed: TaskBits::new(count).ok_or(too_many)?,
            reported: Reported::NOTHING,
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
            (self.ready.contains(task) == admitted || self.rule.admits_jobs())
                && self.background.contains(task) == in_background
                && (!admitted || self.account.admits(task))
                && (jobs.waiting.is_empty() || admitted || suspended)
        };
        let tasks = (0..=u16::MAX).map(TaskId);
        tasks.zip(self.jobs.iter()).all(holds)
            && self.ready.is_consistent()
            && self.check_rule()
            && self.account.check_allowances()
    }

    /// How urgent the current job of `task` is in the present mode.
    #[inline]
    fn urgency(&self, task: TaskId) -> Urgency {
        let at = (task, self.account.mode);
        let urgency = urgency_of(&self.account, &self.order, &self.jobs, at);
        urgency.unwrap_or(Urgency::of_priority(0))
    }

    /// How many jobs exceeded the pattern that job-priority lists were made for.
    #[must_use]
    pub const fn jobs_beyond_pattern(&self) -> u64 {
        self.order.exceeded()
    }

    /// At how many instants recomputed priorities had no lowest job, which proved lists exclude.
    #[must_use]
    pub const fn recomputations_stuck(&self) -> u64 {
        self.order.stuck()
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
            // This engine sees every job: it knows when nothing is pending.
            Fact::Idle { cpu } => on_this(cpu),
            Fact::Timer => Ok(()),
            Fact::Interrupt { .. }
            | Fact::Woken { .. }
            | Fact::BarrierReached { .. }
            | Fact::CpuOpen { .. }
            | Fact::ModeRequested { .. } => Err(ContractViolation::NotOfThisPolicy),
        }
    }

    // Inlined where the world asks, so that the plan is read where it was made.
    #[inline(always)]
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        advance(&mut self.account.clock.now, now)?;
        let (reported, running) = (core::mem::take(&mut self.reported), self.running);
        if core::mem::take(&mut self.left) {
            self.running = None;
        }
        let next = if self.plain {
            self.settle_plain(reported, running);
            None
        } else {
            self.settle_others(reported, running);
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
        let jobs = self.jobs.get(task.index());
        match jobs.and_then(|jobs| jobs.current.as_ref()) {
            Some(Current {
                standing: Standing::Background,
                ..
            }) => Permit::Demoted,
            current => self.admitted_permit(task, entry, current),
        }
    }

    #[inline]
    fn take_notice(&mut self) -> Option<Notice> {
        self.account.clock.take_notice()
    }

    #[inline]
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

/// Whether anything happens at instants that are known beforehand.
fn is_timed(configuration: &Configuration<'_>) -> bool {
    let aborts = |entry: &TaskConfiguration| entry.on_miss == OnMiss::Abort;
    configuration.enforcement.suspends() || configuration.tasks.iter().any(aborts)
}

/// An empty queue of the kind that the order asks for.
fn ready_queue<S: Store>(
    configuration: &Configuration<'_>,
    order: &TaskOrder<'_>,
) -> Option<ReadyQueue<S>> {
    if order.is_fixed() {
        let urgency = |entry: &TaskConfiguration| Urgency::of_priority(entry.priority);
        ReadyRanks::new(configuration.tasks.iter().map(urgency)).map(ReadyQueue::Fixed)
    } else if order.has_two_queues() {
        ModeHeaps::new(configuration.tasks.len()).map(ReadyQueue::ByMode)
    } else {
        ReadyHeap::new(configuration.tasks.len()).map(ReadyQueue::Varying)
    }
}

/// How urgent the current job of `task` is in a mode, or one released now; nothing if the mode does not admit it, which
/// the present one does.
#[inline]
fn urgency_of<S: Store>(
    account: &Account<S>,
    order: &Order<S>,
    jobs: &[Jobs],
    (task, mode): (TaskId, Level),
) -> Option<Urgency> {
    let (entry, jobs) = (account.entry(task)?, jobs.get(task.index())?);
    if mode != account.mode && !account.admits_in(entry, mode) {
        return None;
    }
    let arrival = jobs.current.as_ref().map(|current| &current.arrival);
    Some(order.urgency(&Ranked {
        task,
        entry,
        mode,
        released: arrival.map_or(account.clock.now, |arrival| arrival.at),
        priority: arrival.map_or(JobPriority::BEYOND_PATTERN, |arrival| arrival.priority),
    }))
}

#[inline]
pub(super) fn on_this(cpu: CpuId) -> Result<(), ContractViolation> {
    if cpu == CPU {
        Ok(())
    } else {
        Err(ContractViolation::UnknownCpu(cpu))
    }
}
