//! How a decider is made, and what comes of it.

use std::error::Error;
use vestal_core::{Guard, Scheduler, Service, TaskConfiguration};

/// A scheduler that a manager thread can own.
pub type BoxedScheduler = Box<dyn Scheduler + Send>;

/// Why there is no scheduler: a [`vestal_core::ConfigurationError`], or words of another crate.
pub type NoScheduler = Box<dyn Error + Send + Sync>;

/// Makes the guard of a CPU from its tasks and the granularity of this world: what a job may exceed a limit by
/// before that is an overrun ([`crate::Config::tolerance`]). It is called more than once.
pub type MakeGuard = dyn Fn(&[TaskConfiguration], Service) -> Result<Guard, NoScheduler> + Send;

/// Makes the scheduler of a CPU from its tasks and the granularity of this world, which is zero: what this world itself
/// adds to a job ([`crate::Config::tolerance`]) is taken off before a job is charged. It is called more than once.
pub type MakeScheduler =
    dyn Fn(&[TaskConfiguration], Service) -> Result<BoxedScheduler, NoScheduler> + Send;
