//! What a scheduler answers: the complete intention, never a difference to the last one (C4).

use crate::ids::{BarrierId, CpuId, JobId, ServerId, TaskId};
use crate::model::Level;
use crate::notice::DropReason;
use crate::time::{Instant, Service};

/// The complete intention of one domain at one instant.
///
/// A plan is total and idempotent: enacting it twice, or skipping one that was overtaken by the
/// next, changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan<'a> {
    /// For each CPU of the domain the job to run, by [`CpuId::index`]; `None`: leave it idle.
    pub slots: &'a [Option<Slot>],
    /// Under a dispatch table, for each CPU the jobs that its worker walks by itself up to a
    /// barrier; [`Sequences::NONE`] elsewhere. The slot of such a CPU names the job it has reached.
    pub sequences: Sequences<'a>,
    /// When to call [`crate::Scheduler::decide`] at the latest if nothing happens before; an instant
    /// that has passed already means "at once".
    pub next: Option<Wake>,
    /// The criticality indicator.
    pub mode: Level,
}

impl<'a> Plan<'a> {
    /// What `cpu` shall run.
    #[must_use]
    pub fn slot(&self, cpu: CpuId) -> Option<Slot> {
        self.slots.get(cpu.index()).copied().flatten()
    }

    /// What `cpu` shall walk through before it waits; `None`: there is no sequence for it now.
    #[must_use]
    pub fn sequence(&self, cpu: CpuId) -> Option<Sequence<'a>> {
        let span = self.sequences.spans.get(cpu.index()).copied().flatten()?;
        let end = span.start.checked_add(span.len)?;
        Some(Sequence {
            jobs: self.sequences.jobs.get(span.start..end)?,
            barrier: span.barrier,
        })
    }
}

/// The sequences of all CPUs: spans of one list of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sequences<'a> {
    /// The jobs of all CPUs.
    pub jobs: &'a [JobId],
    /// For each CPU its part of `jobs`, by [`CpuId::index`].
    pub spans: &'a [Option<SequenceSpan>],
}

impl Sequences<'_> {
    /// No CPU has a sequence.
    pub const NONE: Self = Self {
        jobs: &[],
        spans: &[],
    };
}

/// Where the sequence of one CPU stands in [`Sequences::jobs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceSpan {
    /// The index of its first job.
    pub start: usize,
    /// How many jobs; none means that the CPU waits at the barrier from the beginning.
    pub len: usize,
    /// Where the CPU waits for the others afterwards.
    pub barrier: BarrierId,
}

/// Jobs that a CPU runs one after the other, each to its completion, and the barrier at their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sequence<'a> {
    /// The jobs in their order.
    pub jobs: &'a [JobId],
    /// Where the CPU waits for the others afterwards.
    pub barrier: BarrierId,
}

/// What one CPU shall run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The job.
    pub job: JobId,
    /// The smallest budget on the path to this job; `None`: it may run without end.
    pub budget: Option<Budget>,
}

/// An allowance of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    /// How much execution is left before [`Self::on_exhaustion`] takes place. Where it is nothing, a job that waited has
    /// to show whether it is done: if it neither completes nor blocks at once, it is charged with zero.
    pub remaining: Service,
    /// Whose budget it is.
    pub owner: BudgetOwner,
    /// What exhausting it means.
    pub on_exhaustion: OnExhaustion,
}

/// Whose budget it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BudgetOwner {
    /// The running job's own limit; it dies with the job.
    Job,
    /// The budget that the task has per period, whichever of its jobs uses it.
    Task(TaskId),
    /// The budget of a server on the path to the job.
    Server(ServerId),
}

/// What happens when a budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnExhaustion {
    /// The mode rises to this level, or further if the job has used up that level's limit too.
    RaiseMode(Level),
    /// The job leaves the ranks of the admitted: background until its next cancellation point.
    Demote,
    /// The job is dropped at once and never runs again.
    Abort,
    /// The job waits until the budget is replenished.
    Suspend,
}

/// When to be called again, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wake {
    /// The latest instant of the next decision.
    pub at: Instant,
    /// Why then.
    pub why: WakeReason,
}

impl Wake {
    /// The earlier of two, and of two at one instant the first.
    #[inline]
    pub(crate) fn earlier(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).min_by_key(|wake| wake.at)
    }
}

/// Why a scheduler wants to be called at an instant at which nothing else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WakeReason {
    /// A job reaches its absolute deadline, and the policy has a rule for that.
    Deadline(JobId),
    /// A job reaches its zero-slack instant.
    ZeroSlack(JobId),
    /// A server or a task's budget gets more.
    Replenishment,
    /// A server without work uses up its budget, or a ghost its own.
    Consumption,
    /// A slot of a table ends, or the next one begins.
    TableSlot,
    /// A frame begins.
    Frame,
}

/// What enforcement allows a job just now, apart from all questions of order. It is complete in itself: a
/// world that enacts it needs to know nothing of the policy from which it came.
///
/// A native world enacts permits and leaves the order to the operating system; a managed world
/// enacts [`Plan::slots`] instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permit {
    /// The job may run at its own urgency, up to a limit of execution in total, counted from its start;
    /// `None`: without limit.
    Run {
        /// The limit on the job's whole execution.
        limit: Option<Service>,
    },
    /// The same, below every job that may [run](Self::Run), until the permit changes.
    Below {
        /// The limit on the job's whole execution.
        limit: Option<Service>,
    },
    /// The job waits, and keeps the limit that it had.
    Suspended {
        /// For what.
        until: Until,
    },
    /// The job has used up its last limit: it is below every job that is not demoted until its body ends,
    /// whatever is permitted later.
    Demoted,
    /// The job is dropped; the task may release again.
    Dropped {
        /// Why.
        why: DropReason,
    },
    /// Jobs of this task are not admitted while the present mode lasts.
    NotAdmitted,
}

/// Until when a job is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Until {
    /// Until this instant. The job executes nothing before, on a free CPU neither.
    At(Instant),
    /// Until the permit changes, which cannot be known beforehand. The job gives way to all others.
    Event,
}

impl Permit {
    /// What the job may execute in all; `None`: without limit, or not to be run, or as before.
    #[must_use]
    pub const fn limit(self) -> Option<Service> {
        match self {
            Self::Run { limit } | Self::Below { limit } => limit,
            Self::Suspended { .. } | Self::Demoted | Self::Dropped { .. } | Self::NotAdmitted => {
                None
            }
        }
    }

    /// Whether the job is among those that are enforced: it runs, or will again.
    #[must_use]
    pub const fn keeps_place(self) -> bool {
        match self {
            Self::Run { .. } | Self::Below { .. } | Self::Suspended { .. } => true,
            Self::Demoted | Self::Dropped { .. } | Self::NotAdmitted => false,
        }
    }
}
