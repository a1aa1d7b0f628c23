//! The deciding half of Vestal: scheduling as pure, deterministic state machines.
//!
//! A [`Scheduler`] knows no clock, no thread and no file. A *world* (the simulator, Linux user
//! space, a bare-metal kernel) feeds it timestamped [`Fact`]s and carries out the [`Plan`] it gets
//! back; the same code therefore decides in all of them. The rules both sides keep are numbered
//! C1 to C9 and stand in [`scheduler`].
//!
//! Principles: simple and clear before clever; integers only; nothing is allocated after
//! construction; every limit is a named constant; a consequence is drawn in one place only.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::arithmetic_side_effects,
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::cast_possible_truncation,
        reason = "a test may fail loudly"
    )
)]

extern crate alloc;
#[cfg(test)]
extern crate std;
// A world that the integration tests share is part of some unit tests as well.
#[cfg(test)]
extern crate self as vestal_core;

mod configuration_error;
pub mod enforce;
pub mod engine;
pub mod fact;
pub mod guarantee;
pub mod ids;
pub mod job_table;
pub mod model;
pub mod notice;
pub mod notice_queue;
pub mod order;
pub mod plan;
mod plan_hash;
pub mod queue;
pub mod scheduler;
pub mod server;
mod slice_count;
pub mod store;
mod table_error;
mod task_configuration;
pub mod time;
mod urgency;

pub use configuration_error::ConfigurationError;
pub use enforce::{AtLimit, Enforcement, Exhaustion};
pub use engine::{
    Budgets, Configuration, Container, CpuTable, FrameConfiguration, FrameTable, Frames, Guard,
    LevelB, Levelled, LevelledConfiguration, LevelledTask, LocalDomain, SharedDomain, Span,
    TableSlot, Uniprocessor,
};
pub use engine::{
    DeviceConfiguration, Hierarchy, HierarchyConfiguration, HierarchyError, LocalOrder, Modes,
    ServedTask, ServerConfiguration,
};
pub use fact::{Fact, StopReason};
pub use ids::{BarrierId, CpuId, DeviceId, JobId, ServerId, TaskId};
pub use model::{Level, LevelSet, Task, TaskError, Wcet};
pub use notice::{DropReason, Drops, Event, Notice};
pub use order::{ClassicOrder, DeadlineQueues, Rank, TaskOrder};
pub use plan::{
    Budget, BudgetOwner, OnExhaustion, Permit, Plan, Sequence, SequenceSpan, Sequences, Slot,
    Until, Wake, WakeReason,
};
pub use plan_hash::PlanHash;
pub use scheduler::{ContractViolation, Enforcer, Interest, Listed, Scheduler};
pub use server::{ByLevel, ServerKind, Utilization, WhenFull};
pub use slice_count::{SLICES_MAX, SliceCount};
pub use table_error::TableError;
pub use task_configuration::{OnMiss, TaskConfiguration};
pub use time::{Duration, Instant, Service};
pub use urgency::Urgency;
