//! The Linux world of Vestal: tasks run as SCHED_FIFO threads of a stock kernel, and mixed-criticality
//! enforcement happens in user space.
//!
//! A run has one or more CPUs ([`Executive::cpu`]), each with tasks, a decider, a mode and threads of its own.
//!
//! *Native dispatch* ([`CpuSpec::native`]) of a CPU: the kernel's fixed priorities keep the order of jobs, each task's
//! worker releases its own jobs, and a manager thread handles only exceptions (exhausted limits, mode
//! changes, idle instants), for which it asks [`vestal_core::Guard`]. A job that keeps its limits costs
//! no context switch beyond its own.
//!
//! | thread | priority | does |
//! |---|---|---|
//! | watchdog, one for all CPUs | the highest, on another processor if there is one | ends a CPU if its manager does not |
//! | manager of each CPU | above all workers | enforcement |
//! | a worker per task | in the order of the tasks' priorities | releases and runs its jobs |
//! | top half, on a CPU with devices | above all workers, below the manager | tells the manager which devices are ready |
//! | idle detector | below all workers | reports to the manager that nothing admitted runs |
//! | workers whose job waits for its next slice | SCHED_OTHER, suspended in a signal handler | nothing |
//! | workers whose job was demoted | SCHED_OTHER | go on until the body's next cancellation point |
//!
//! *Managed dispatch* ([`CpuSpec::managed`]): the manager asks a scheduler which job shall run, and
//! carries that out with three priorities, for orders that fixed priorities cannot express. See
//! `docs/adr/0004-linux-managed-dispatch.md`.
//!
//! *Budgets that outlive jobs*, of servers or of tasks (`vestal_core::BudgetOwner`), are charged by the clock of the worker's
//! thread, whole, with what it takes to begin and to end a job; what one is exceeded by is taken off the next. A job without
//! budget is held in its body while the CPU is free. By how much a budget may be exceeded until then, a trial before the
//! run finds out ([`report::EnforcementReport::server_granularity`]).
//!
//! *Frame tables* ([`Executive::frames`]): all CPUs have one scheduler in common, no managers, and one worker each, which
//! walks through the jobs of its CPU and waits for the others at barriers. See `docs/adr/0015-barriers.md`.
//!
//! [`Mechanism::Huang2014`] has the threads and timers of a paper do the same work, for comparison, and so has
//! [`Mechanism::Sigrist2015`] under managed dispatch.
//!
//! Two tasks from Rust:
//!
//! ```no_run
#![doc = include_str!("../examples/two_tasks.rs")]
//! ```
//!
#![doc = include_str!("../../../docs/linux-words.md")]
//!
//! # What a run leaves behind
//!
//! The machine is left as it was found, whatever happens: see [`Executive::run`].
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod allowance;
mod armed;
mod arming;
mod barrier;
mod beside;
mod blocking;
pub mod body;
mod calibrate;
pub mod config;
mod control;
mod cpu;
mod cpu_list;
mod cpu_lock;
pub mod decider;
mod detections;
pub mod device;
pub mod doctor;
mod driver;
mod duties;
pub mod error;
mod evidence;
mod executive;
#[cfg(feature = "real")]
#[doc(hidden)]
pub mod fault;
mod feature;
pub mod foreign;
pub mod frames;
mod initialisation;
mod job;
mod launch;
mod let_go;
#[cfg_attr(
    not(any(test, feature = "real")),
    expect(dead_code, reason = "no run has levels on several CPUs yet")
)]
mod levels;
mod marker;
pub mod measure;
pub mod memory;
mod meter;
mod monitor;
mod notes;
mod pace;
mod parts;
mod plan;
mod queue;
pub mod recording;
pub mod report;
mod request;
pub mod rights;
mod run;
mod scarce;
mod server_trial;
mod skew;
mod stamps;
mod started;
pub mod stop;
mod summary;
mod suspension;
mod task;
mod thread;
#[cfg(feature = "real")]
#[doc(hidden)]
pub mod trial;
mod words;
mod zss;

use vestal_account as account;
use vestal_sys as sys;

pub use arming::{ArmingCost, MonitorChoice};
pub use barrier::Barrier;
pub use body::{Cancelled, JobContext};
pub use config::{Config, Dispatcher, Mechanism, TaskSpec, Termination};
pub use decider::{BoxedScheduler, CpuSpec, Decider, MakeGuard, MakeScheduler, NoScheduler};
pub use device::Device;
pub use error::{ErrorKind, RunError};
pub use executive::Executive;
pub use frames::Frames;
pub use initialisation::Initialisation;
#[cfg(feature = "real")]
#[doc(hidden)]
pub use levels::Claims;
pub use marker::trace_marker;
pub use monitor::Monitor;
pub use pace::{BOUND, BOUND_RANGE, HEARTBEAT_RANGE};
pub use plan::LOCKED_RESERVE_BYTES;
pub use recording::{Beginning, Consumer, Recorded, Recording, Start, Started};
pub use report::{Ended, Report};
pub use rights::{Refusal, Rights};
pub use skew::ClockSkew;
pub use stamps::Clock;
pub use started::StartedThread;
pub use vestal_statistics::Summary;
pub use vestal_sys::Processor;
pub use vestal_sys::source::{Input, KernelDrops, Sender, Taken};
pub use vestal_sys::{pipe, pty, tun, udp};
