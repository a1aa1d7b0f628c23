//! One thing that happened, and when: the schema `vestal-trace/1`.
//!
//! Four groups of records:
//!
//! - **What was reported to the scheduler**: [`What::Fact`], in the order of the calls. Together with the
//!   instants of [`What::Decided`] this is all a replay needs (C8).
//! - **What the scheduler answered**: [`What::Decided`] followed by its [`What::Slot`]s and
//!   [`What::Wake`]; [`What::Permit`]s that changed; refusals; [`What::Notice`]s when the world took
//!   them.
//! - **What the world saw but did not tell**: [`What::Observed`] (a native world starts and ends jobs
//!   without asking), misses, drops of its own, budgets, overhead, gaps of the machine.
//! - **About the recording**: [`What::Domain`], [`What::Lost`], [`What::End`].
//!
//! A recording of several scheduling domains is one stream: what follows a [`What::Domain`] belongs to that
//! domain, and domain 0 has the word at the beginning. Tasks and CPUs have the numbers of the task set there, not
//! those inside of a domain ([`crate::domains`] translates).
//!
//! A job's first start and its later resumptions are the same fact, [`Fact::Started`]; a preemption is
//! [`Fact::Stopped`] with that reason. [`crate::timeline`] tells them apart.
//!
//! Every record is [`Record::BYTES`] bytes long in files. [`Record::to_bytes`] and
//! [`Record::from_bytes`] are inverse to each other, and bytes that no record is written as are
//! refused: there is one representation for each record.

mod kinds;
mod line;
mod raw;
mod renumber;
pub mod words;

use vestal_core::{
    BarrierId, BudgetOwner, ContractViolation, CpuId, DropReason, Duration, Event, Fact, Instant,
    JobId, Level, Permit, Service, Slot, TaskId, Wake,
};

#[cfg(feature = "std")]
pub(crate) use line::Lines;
pub use line::{COLUMNS, LineError};
pub use raw::RecordError;
pub use renumber::renumbered_fact;

/// The name of the schema, as it stands in every file.
pub const SCHEMA: &str = "vestal-trace/1";

/// The same records, with a header that says where in the time of a machine they lie.
pub const SCHEMA_WITH_ORIGIN: &str = "vestal-trace/2";

/// A scheduling domain of a recording: its place in [`crate::Header::domains`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainId(pub u16);

impl DomainId {
    /// The domain that has the word before any [`What::Domain`].
    pub const FIRST: Self = Self(0);

    /// The domain's index in tables indexed by domain.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// When, in nanoseconds since the world's epoch.
    pub at: Instant,
    /// What.
    pub what: What,
}

/// The kinds of [`Record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// The world reported a fact to the scheduler.
    Fact(Fact),
    /// The world saw a fact that it did not tell the scheduler.
    Observed(Fact),
    /// The scheduler refused the fact of the record before; its state is unchanged.
    Refused(Refusal),
    /// The scheduler decided; [`Record::at`] is the instant it was asked for.
    Decided {
        /// The criticality indicator from now on.
        mode: Level,
        /// How many [`What::Slot`] records follow, one for each CPU of the domain.
        slots: u16,
        /// How many facts were reported to it since the last decision, refused ones included.
        facts: u32,
        /// A hash of the whole plan, see [`vestal_core::PlanHash`].
        hash: u64,
    },
    /// The scheduler refused to decide; its state is unchanged.
    DecisionRefused {
        /// Why.
        refusal: Refusal,
        /// The instant it was asked for.
        now: Instant,
    },
    /// What the plan wants on one CPU.
    Slot {
        /// The CPU.
        cpu: CpuId,
        /// The slot; `None`: the CPU shall be idle.
        slot: Option<Slot>,
    },
    /// Under a dispatch table, the jobs that a CPU walks through by itself, named by the [`What::Queued`] records that
    /// follow, and the barrier at their end.
    Sequence {
        /// The CPU.
        cpu: CpuId,
        /// How many jobs.
        jobs: u64,
        /// Where the CPU waits for the others afterwards.
        barrier: BarrierId,
    },
    /// The next job of the sequence before it.
    Queued {
        /// The CPU.
        cpu: CpuId,
        /// The job.
        job: JobId,
    },
    /// When the plan wants the next decision at the latest.
    Wake(Wake),
    /// A task's permit after a decision, where it differs from the one before.
    Permit {
        /// The task.
        task: TaskId,
        /// What enforcement allows it.
        permit: Permit,
    },
    /// After a decision, what a task did not need of its budget begins or ends to be used up while lower levels have the CPU: by the
    /// task's ghost. Nothing is decided by that, and a replay does not compare it.
    Ghost {
        /// Where.
        cpu: CpuId,
        /// Whose.
        task: TaskId,
        /// Whether it begins.
        edge: Edge,
    },
    /// The world took a notice from the scheduler; [`Record::at`] is when it took effect.
    Notice(Event),
    /// The world judged that a job was not complete at its deadline.
    Miss {
        /// The job.
        job: JobId,
        /// Its absolute deadline.
        deadline: Instant,
        /// The policy had guaranteed that this would not happen.
        guaranteed: bool,
    },
    /// A mechanism of the world began or ended on a CPU.
    Overhead {
        /// Where.
        cpu: CpuId,
        /// Which.
        mechanism: Mechanism,
        /// Whether it began or ended.
        edge: Edge,
    },
    /// Until [`Record::at`] something outside the world held the CPU.
    Gap {
        /// Which CPU.
        cpu: CpuId,
        /// For how long.
        length: Duration,
    },
    /// What is left of a budget.
    Budget {
        /// The CPU it is spent on.
        cpu: CpuId,
        /// The job that spends it.
        job: JobId,
        /// Whose it is.
        owner: BudgetOwner,
        /// What is left.
        remaining: Service,
    },
    /// The world dropped a job by itself; what the scheduler drops is a notice.
    Dropped {
        /// The job.
        job: JobId,
        /// Why.
        why: DropReason,
    },
    /// What follows belongs to this domain, up to the next such record. Its instant is that of the next record.
    Domain {
        /// The domain.
        domain: DomainId,
    },
    /// Records are missing here, because a ring was full.
    Lost {
        /// How many.
        count: u64,
    },
    /// The recording of the domain ends. A recording is complete when all its domains have ended.
    End {
        /// How many facts were reported to the scheduler since its last decision.
        facts: u32,
    },
}

/// Whether a span begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// It begins.
    Begin,
    /// It ends.
    End,
}

/// What a world does that costs time and is not a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// Applying facts and deciding.
    Decide,
    /// Changing who runs: priorities set, threads switched.
    Switch,
    /// Letting a job go at its release.
    Release,
    /// Arming, reading or answering a budget monitor.
    Monitor,
    /// Carrying out a mode change.
    ModeChange,
    /// Moving a job to another CPU.
    Migration,
    /// The top half of an interrupt.
    Interrupt,
    /// Waking a thread.
    WakeUp,
    /// Waiting at a barrier for the last CPU to be seen.
    Barrier,
    /// Writing trace records.
    Tracing,
    /// Taking a job off: its monitor stopped, its result noted down.
    JobEnd,
    /// A world's own mechanism, by number.
    Other(u8),
}

impl Mechanism {
    /// A CPU is left to threads beside the run, so that the kernel takes nothing from the run for them: levels A and B of MC² do not want
    /// it, and the others may not have it.
    pub const YIELD: Self = Self::Other(1);
}

/// Which rule of the contract a world broke: the kinds of [`ContractViolation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Refusal(pub(crate) u8);

impl Refusal {
    /// The kind of a violation.
    #[must_use]
    pub const fn of(violation: &ContractViolation) -> Self {
        Self(match violation {
            ContractViolation::ClockWentBack { .. } => 1,
            ContractViolation::BeyondHorizon(_) => 2,
            ContractViolation::UnknownTask(_) => 3,
            ContractViolation::UnknownCpu(_) => 4,
            ContractViolation::NotOfThisPolicy => 5,
            ContractViolation::UnknownJob(_) => 6,
            ContractViolation::ReleaseOutOfOrder(_) => 7,
            ContractViolation::ChargedWhileNotRunning(_) => 8,
            ContractViolation::CpuBusy { .. } => 9,
            ContractViolation::TooManyFacts { .. } => 10,
            ContractViolation::ChargeOverflow { .. } => 11,
            ContractViolation::UnknownServer(_) => 12,
            ContractViolation::UnknownDevice(_) => 13,
            ContractViolation::UnknownBarrier(_) => 14,
        })
    }
}

impl What {
    /// The same with a fact that was seen as one that was reported, and whether it was one.
    pub(crate) const fn reported(self) -> (Self, bool) {
        if let Self::Observed(fact) = self {
            (Self::Fact(fact), true)
        } else {
            (self, false)
        }
    }

    /// What the kind is called; an observed fact is called like one that was reported.
    #[must_use]
    pub fn word(&self) -> &'static str {
        kinds::Kinds::word(&self.reported().0)
    }
}

impl Record {
    /// What the record's kind is called.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.what.word()
    }

    /// A record of a fact that was reported to the scheduler.
    #[must_use]
    pub const fn fact(at: Instant, fact: Fact) -> Self {
        Self {
            at,
            what: What::Fact(fact),
        }
    }

    /// Whether the record belongs to the decision before it rather than standing for itself.
    #[must_use]
    pub const fn continues_decision(&self) -> bool {
        matches!(
            self.what,
            What::Slot { .. }
                | What::Sequence { .. }
                | What::Queued { .. }
                | What::Wake(_)
                | What::Permit { .. }
        )
    }
}
