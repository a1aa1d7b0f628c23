//! The command line of Vestal, as a library: the program `vestal`, and a program of your own that
//! knows your policies and your schedulability tests besides.
//!
//! ```no_run
//! use std::process::ExitCode;
//! use vestal::{Extensions, OwnPolicy};
//! use vestal_core::{Enforcement, Task};
//!
//! /// The task that stands first in the file goes first.
//! fn in_file_order(tasks: &[Task]) -> Vec<u32> {
//!     (1..).take(tasks.len()).collect::<Vec<u32>>().into_iter().rev().collect()
//! }
//!
//! fn main() -> ExitCode {
//!     let summary = "priorities in the order of the file, static limits";
//!     let policy = OwnPolicy::fixed_priority("file-order", summary, Enforcement::Static, in_file_order)
//!         .proved_by("smc");
//!     vestal::main_with(Extensions::new().policy(policy))
//! }
//! ```
//!
//! What is named so is known to every command, next to what is built in: `analyze`, `simulate`,
//! `run`, `explain` and the lists in messages. CONTRIBUTING.md walks through a worked example,
//! `examples/own-policy`.

mod app;
mod args;
mod catalogue;
mod clock;
mod commands;
mod comparison;
mod extension;
mod failure;
mod input;
mod interrupt;
mod markdown;
mod names;
mod ordered;
mod output;
mod parameters;
mod problem;
mod progress;
mod quantity;
mod real;
mod report;
mod session;
mod table;
mod tracing;
#[cfg(all(feature = "watch", target_os = "linux"))]
mod watch;
#[cfg(not(all(feature = "watch", target_os = "linux")))]
#[path = "watch/without.rs"]
mod watch;

pub use app::main_with;
pub use extension::{Extensions, OwnPolicy, Setup};
