//! Hierarchical scheduling for a small real-time operating system: relative timed event queues
//! (RELTEQ), and on them two-level scheduling by polling, idling periodic and deferrable servers.
//!
//! Holenderski, Cools, Bril and Lukkien, *Extending an open-source real-time operating system with
//! hierarchical scheduling* (2010). Where the paper contradicts itself the head of each module says
//! what holds here.
//!
//! | module | what | needs |
//! |---|---|---|
//! | [`relteq`] | queues of timed events in one pool: insert, pop, delete, grow, synchronise | nothing |
//! | [`hsf`] | servers, tasks, virtual timers, the tick, the two-level scheduler | [`relteq`] |
//! | [`hooks`] | the three places where an operating system calls, as a trait | [`hsf`] |
//!
//! | in the paper | here |
//! |---|---|
//! | `NewEvent`, `InsertEvent`, `PopEvent`, `DeleteEvent` | [`Pool::insert`], [`Pool::pop`], [`Pool::delete`] |
//! | `IncrementQueue`, `SyncQueueUntilEvent` | [`Pool::grow`], [`Pool::synchronise`] |
//! | `ServerCreate`, `ServerAddTask` | [`Hsf::create_server`], [`Hsf::add_task`] |
//! | `TaskMakePeriodic`, `TaskWaitPeriod`, `DelayFor` | [`Hsf::make_periodic`], [`Hsf::wait_period`], [`Hsf::delay`] |
//! | `ServerBudget`, virtual timers | [`Hsf::budget`], [`Hsf::delay_virtual`] |
//! | the tick handler, or a one-shot timer | [`Hsf::tick`], or [`Hsf::next_event`] and [`Hsf::advance`] |
//! | the scheduler | [`Hsf::schedule`] |
//!
//! Everything is generic over its sizes and over [`Features`], so that what is not used costs neither
//! code nor memory; who wants event queues alone uses [`relteq`] alone. A whole system is one value
//! made by a `const fn`: it can live in a `static`. Nothing allocates, blocks, or reads a clock.
//!
//! ```
//! use vestal_hsf::{Everything, Hsf, Kind, LocalOrder, Pick, ServerSpec, nodes};
//!
//! // Room for two servers and two tasks, on ticks of 16 bits.
//! let mut hsf: Hsf<Everything<u16>, 2, 2, { nodes(2, 2) }> = Hsf::new();
//! let server = hsf.create_server(&ServerSpec {
//!     kind: Kind::Deferrable,
//!     priority: 0,
//!     order: LocalOrder::FixedPriority,
//!     period: 25,
//!     capacity: 10,
//! })?;
//! let task = hsf.add_task(server, 0, 30)?;
//! hsf.make_periodic(task, 5, 30)?;
//! assert_eq!(hsf.schedule(), Pick::Idle);
//! // Either `tick()` every tick, or a timer set to `next_event()` and `advance()` when it fires.
//! assert_eq!(hsf.next_event(), 5);
//! assert!(hsf.advance(5));
//! assert_eq!(hsf.schedule(), Pick::Task(task));
//! # Ok::<(), vestal_hsf::Error>(())
//! ```
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
        clippy::cast_possible_truncation,
        clippy::indexing_slicing,
        reason = "a test may fail loudly"
    )
)]

pub mod hooks;
pub mod hsf;
pub mod relteq;

pub use hooks::{Change, Hooks};
pub use hsf::{
    Error, Everything, Features, Hsf, Kind, LocalOrder, Pick, ServerId, ServerSpec, State, TaskId,
    TaskState, nodes,
};
pub use relteq::{Bounded, Pass, Pool, Queue, Tick};
