//! The contract between a scheduler and its world.
//!
//! ```text
//! loop:  facts -> scheduler.apply(at, fact)*  ->  scheduler.decide(now) -> Plan  ->  world enacts it
//! ```
//!
//! It holds for one *domain* (the state behind one lock).
//!
//! - **C1 time.** A domain's clock never goes backwards: `decide` refuses an instant before the
//!   last one. A fact keeps the instant at which it happened, which may be earlier than the clock;
//!   deadlines, slices and zero-slack instants of a job count from the instant of its release, whenever
//!   that is reported.
//! - **C2 charge what ran.** Before `decide(now)` the world has charged each running job what it
//!   measured. A remainder below the world's stated granularity counts as exhausted; a job charged
//!   more than budget plus granularity has overrun even if it completed by then: it is judged once,
//!   by the mode in which the decision begins that follows its completion. The jobs of one task are
//!   charged in their order: none after its successor was. A world that reports exceptions only
//!   ([`crate::Guard`]) asks for a decision before it charges the next job of a task.
//! - **C3 stage, then settle.** `apply` only records. All consequences happen in `decide`, in one
//!   fixed order: completions, exhaustion (the mode raised as often as needed), deadlines, the idle
//!   instant (nothing pending: mode 0; releases of this instant do not count), admission in task
//!   order, selection. A job that completes exactly at its budget is therefore no overrun, and no
//!   permutation of the facts of one instant changes a plan.
//! - **C4 level-triggered.** A plan is total and idempotent; a world may skip or repeat one.
//! - **C5 plan is not reality.** What runs is what the world confirmed (`Started`, `Stopped`).
//! - **C6 wake-ups.** Early and spurious ones change nothing; a late one gives the plan of the true
//!   time and a `Late` notice; one in the past means "call at once".
//! - **C7 bounded and total.** `apply` is O(1), `decide` O(log n), and O(n) at a mode change; nothing
//!   is allocated after construction; nothing recurses; integers only. So a scheduler holds few jobs of
//!   a task ([`Scheduler::backlog`]) and drops what does not fit. A world with memory lets nothing be
//!   dropped for that reason: it *keeps* the releases that find no room, and reports them, oldest first,
//!   as soon as jobs before them have ended; of ends that it reports itself, before the next decision, so
//!   that no instant looks idle (C3) while it keeps something. A job that a rise of the mode drops takes
//!   with it what the world keeps of its task from earlier instants.
//! - **C8 replay.** Configuration and the sequence of facts determine every plan.
//! - **C9 locks.** A fact belongs to exactly one domain; no call takes two domain locks.

use crate::fact::Fact;
use crate::ids::{BarrierId, CpuId, DeviceId, JobId, ServerId, TaskId};
use crate::model::{BACKLOG_MAX, Level};
use crate::notice::Notice;
use crate::plan::{Permit, Plan};
use crate::time::{Instant, Service};
use alloc::boxed::Box;
use core::fmt;

/// A scheduling policy at work: a pure, deterministic state machine.
///
/// Object-safe, so that simulators, replay and users' own policies can stand behind `dyn`.
pub trait Scheduler {
    /// Records one thing that happened at `at`. O(1).
    ///
    /// # Errors
    /// A [`ContractViolation`] by the world; the state is then unchanged.
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation>;

    /// Draws all consequences of what was recorded, and says what shall happen from `now` on.
    ///
    /// # Errors
    /// [`ContractViolation::ClockWentBack`] if `now` is before the last decision; the state is then
    /// unchanged.
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation>;

    /// What enforcement allows `task` since the last decision; [`Permit::NotAdmitted`] for a task
    /// that does not exist.
    fn permit(&self, task: TaskId) -> Permit;

    /// Takes the oldest notice not yet taken.
    fn take_notice(&mut self) -> Option<Notice>;

    /// How many notices were lost because they were not taken in time.
    fn lost_notices(&self) -> u64;

    /// How many jobs of one task may wait behind its current one without being dropped (C7). A scheduler that has to
    /// know of every release, because budgets come with them, says that any number may: it drops what finds no room
    /// itself, and a world keeps nothing.
    fn backlog(&self) -> usize {
        BACKLOG_MAX
    }

    /// The limit whose level is `level` that a job of `task` can have, for diagnostics: one that a world cannot
    /// enforce exactly is worth a word. `None` if no limit has that level. It never changes. O(1) for a
    /// scheduler without limits, else O(levels).
    fn limit_at(&self, _task: TaskId, _level: Level) -> Option<Service> {
        None
    }

    /// Whether a job that used up the limit of its own level makes way for all others, demoted or dropped: what it
    /// goes on to execute takes nothing from them. It never changes.
    fn stops_at_own_limit(&self) -> bool {
        true
    }

    /// Whether jobs are suspended until instants ([`Until::At`](crate::Until::At)) before which they execute
    /// nothing, on a free CPU neither: a world has to hold their threads. It never changes.
    fn suspends_until_instants(&self) -> bool {
        false
    }

    /// Whether slots can have budgets that outlive jobs, a task's or a server's
    /// ([`BudgetOwner`](crate::BudgetOwner)): what a job exceeds one by is missing afterwards, and a world that tolerates
    /// something with each job would give it away with each. It never changes.
    fn budgets_outlive_jobs(&self) -> bool {
        false
    }

    /// How many replenishments the list of a sporadic server had when it was longest, for statistics. `None` for other
    /// servers, and by a scheduler without servers. O(1).
    fn longest_list(&self, _server: ServerId) -> Option<u16> {
        None
    }

    /// What the list of a sporadic server has in all since the last decision, and its capacity in the present mode, which that has to be. `None` for
    /// other servers, and by a scheduler without servers. O(length of the list).
    fn listed(&self, _server: ServerId) -> Option<Listed> {
        None
    }

    /// The CPU on which the ghost of a task uses up its budget since the last decision: what its jobs did not need, while
    /// lower levels have the CPU. `None`: there is none. For drawings and statistics. O(CPUs).
    fn ghost_of(&self, _task: TaskId) -> Option<CpuId> {
        None
    }

    /// For how long ghosts of a task used up its budgets, up to the last decision; `None` by a scheduler without ghosts. O(1).
    fn ghost_time(&self, _task: TaskId) -> Option<Service> {
        None
    }
}

/// What the replenishments of a sporadic server come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The sum of its list.
    pub sum: Service,
    /// Its capacity.
    pub capacity: Service,
}

impl Listed {
    /// Whether nothing of the budget is lost or made.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.sum == self.capacity
    }
}

macro_rules! forward {
    () => {
        fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
            (**self).apply(at, fact)
        }
        fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
            (**self).decide(now)
        }
        fn permit(&self, task: TaskId) -> Permit {
            (**self).permit(task)
        }
        fn take_notice(&mut self) -> Option<Notice> {
            (**self).take_notice()
        }
        fn lost_notices(&self) -> u64 {
            (**self).lost_notices()
        }
        fn backlog(&self) -> usize {
            (**self).backlog()
        }
        fn limit_at(&self, task: TaskId, level: Level) -> Option<Service> {
            (**self).limit_at(task, level)
        }
        fn stops_at_own_limit(&self) -> bool {
            (**self).stops_at_own_limit()
        }
        fn suspends_until_instants(&self) -> bool {
            (**self).suspends_until_instants()
        }
        fn budgets_outlive_jobs(&self) -> bool {
            (**self).budgets_outlive_jobs()
        }
        fn longest_list(&self, server: ServerId) -> Option<u16> {
            (**self).longest_list(server)
        }
        fn listed(&self, server: ServerId) -> Option<Listed> {
            (**self).listed(server)
        }
        fn ghost_of(&self, task: TaskId) -> Option<CpuId> {
            (**self).ghost_of(task)
        }
        fn ghost_time(&self, task: TaskId) -> Option<Service> {
            (**self).ghost_time(task)
        }
    };
}

/// A borrowed scheduler is one, so that what wraps a scheduler need not own it.
impl<S: Scheduler + ?Sized> Scheduler for &mut S {
    forward!();
}

impl<S: Scheduler + ?Sized> Scheduler for Box<S> {
    forward!();
}

/// A scheduler that a *native* world drives: it gives permits and leaves the order to the operating
/// system. [`crate::Guard`] is one, and so is whatever wraps it.
pub trait Enforcer: Scheduler {
    /// The criticality indicator as of the last decision.
    fn mode(&self) -> Level;

    /// What enforcement allows one job since the last decision.
    fn permit_for(&self, job: JobId) -> Permit;

    /// What the world reports besides limits that jobs used up. It never changes.
    fn interest(&self) -> Interest;

    /// Whether there is more than one mode. It never changes.
    fn has_modes(&self) -> bool;
}

impl<S: Enforcer + ?Sized> Enforcer for &mut S {
    fn mode(&self) -> Level {
        (**self).mode()
    }
    fn permit_for(&self, job: JobId) -> Permit {
        (**self).permit_for(job)
    }
    fn interest(&self) -> Interest {
        (**self).interest()
    }
    fn has_modes(&self) -> bool {
        (**self).has_modes()
    }
}

/// What a native world reports to an [`Enforcer`] besides limits that jobs used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interest {
    /// The newest release of each task: jobs that are dropped if the mode rises.
    NewestReleases,
    /// The release of a job, with its instant, before the job is charged for the first time: what it is
    /// granted counts from there.
    Releases,
    /// Each job that is incomplete at its zero-slack instant, with the instant of its release; and its end.
    IncompleteJobs,
}

/// A world broke the contract. The scheduler's state is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContractViolation {
    /// C1: a decision was asked for at an instant before the last one.
    ClockWentBack {
        /// The last decision's instant.
        last: Instant,
        /// The instant asked for.
        now: Instant,
    },
    /// An instant beyond [`Instant::HORIZON`].
    BeyondHorizon(Instant),
    /// A task that is not in the configuration.
    UnknownTask(TaskId),
    /// A CPU that is not in this domain.
    UnknownCpu(CpuId),
    /// A server that is not in the configuration.
    UnknownServer(ServerId),
    /// A device that is not in the configuration.
    UnknownDevice(DeviceId),
    /// A barrier that is not in the table.
    UnknownBarrier(BarrierId),
    /// A fact of a kind that this policy has no use for, such as a barrier on one CPU.
    NotOfThisPolicy,
    /// A job that is not pending, or not of the CPU the fact names.
    UnknownJob(JobId),
    /// C1: a release whose sequence is not above its predecessor's.
    ReleaseOutOfOrder(JobId),
    /// C2: a charge for a job that was not started there, or after its completion.
    ChargedWhileNotRunning(JobId),
    /// C5: a start on a CPU on which another job runs.
    CpuBusy {
        /// The CPU.
        cpu: CpuId,
        /// Who runs there.
        running: JobId,
    },
    /// More facts were staged since the last decision than the domain has room for.
    TooManyFacts {
        /// The room.
        capacity: usize,
    },
    /// A charge whose sum would overflow.
    ChargeOverflow {
        /// The job.
        job: JobId,
        /// The charge.
        amount: Service,
    },
}

impl fmt::Display for ContractViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClockWentBack { last, now } => {
                write!(f, "the clock went back from {last:?} to {now:?}")
            }
            Self::BeyondHorizon(at) => write!(f, "{at:?} is beyond the horizon"),
            Self::UnknownTask(TaskId(task)) => write!(f, "task {task} is not configured"),
            Self::UnknownCpu(CpuId(cpu)) => write!(f, "CPU {cpu} is not in this domain"),
            Self::UnknownServer(ServerId(server)) => {
                write!(
                    f,
                    "server {server} is not configured, or nothing to inherit from"
                )
            }
            Self::UnknownDevice(DeviceId(device)) => {
                write!(f, "device {device} is not configured")
            }
            Self::UnknownBarrier(BarrierId(barrier)) => {
                write!(f, "barrier {barrier} is not in the table")
            }
            Self::NotOfThisPolicy => f.write_str("this policy has no use for such a fact"),
            Self::UnknownJob(job) => write!(f, "{job} is not pending here"),
            Self::ReleaseOutOfOrder(job) => write!(f, "{job} was released out of order"),
            Self::ChargedWhileNotRunning(job) => write!(f, "{job} was charged but did not run"),
            Self::CpuBusy {
                cpu: CpuId(cpu),
                running,
            } => {
                write!(f, "a job started on CPU {cpu}, where {running} runs")
            }
            Self::TooManyFacts { capacity } => {
                write!(f, "more than {capacity} facts since the last decision")
            }
            Self::ChargeOverflow { job, amount } => {
                write!(f, "charging {amount:?} to {job} overflows")
            }
        }
    }
}

impl core::error::Error for ContractViolation {}
