//! The command line of Vestal, as a library: the program `vestal`, and a program of your own that
//! knows your policies and your schedulability tests besides.
//!
//! ```no_run
//! use std::process::ExitCode;
//! use vestal_analysis::Parameters;
//! use vestal_core::{Enforcement, Task};
//! use vestal_policy::{
//!     About, EXHAUSTION, Native, Policy, Refusal, Registry, Setup, System, one_cpu,
//! };
//!
//! struct FileOrder;
//!
//! static ABOUT: About = About {
//!     name: "file-order",
//!     summary: "priorities in the order of the file, static limits",
//!     page: "",
//!     parameters: &[],
//!     options: &[EXHAUSTION],
//!     tests: &["smc"],
//!     native: Native::Yes,
//! };
//!
//! impl Policy for FileOrder {
//!     fn about(&self) -> &About {
//!         &ABOUT
//!     }
//!     /// The task that stands first in the file goes first.
//!     fn rule(&self, tasks: &[Task]) -> Parameters {
//!         let priorities = (1..).take(tasks.len()).collect::<Vec<u32>>();
//!         let priorities = Some(priorities.into_iter().rev().collect());
//!         Parameters { priorities, ..Parameters::default() }
//!     }
//!     fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
//!         Ok(one_cpu::by_rule(setup, &ABOUT, Enforcement::Static))
//!     }
//! }
//!
//! fn main() -> ExitCode {
//!     vestal::main_with(Registry::default().with_policy(FileOrder))
//! }
//! ```
//!
//! What is named so is known to every command, next to what is built in: `analyze`, `simulate`,
//! `run`, `explain` and the lists in messages. CONTRIBUTING.md walks through a worked example,
//! `examples/own-policy`.

mod app;
mod args;
mod clock;
mod commands;
mod comparison;
mod curves;
mod failure;
mod input;
mod interrupt;
mod markdown;
mod names;
mod output;
mod place;
mod progress;
mod quantity;
mod real;
mod registry;
mod report;
mod session;
mod table;
mod tracing;
#[cfg(all(feature = "watch", target_os = "linux"))]
mod watch;
#[cfg(not(all(feature = "watch", target_os = "linux")))]
#[path = "watch/without.rs"]
mod watch;
mod whole;

pub use app::main_with;
