//! What the manager of a CPU does for its jobs, whatever else it is.

use crate::control::Class;
use crate::driver::dispatch::Worker;
use vestal_core::{ContractViolation, Instant, JobId, Notice};

/// The outcome of a part of a round.
pub(super) type Step<T = ()> = Result<T, ContractViolation>;

/// A manager, as those see it that say what its jobs are to do. Its own workers have the numbers of its CPU.
pub(super) trait Hands<'a> {
    /// One of its own workers.
    fn worker(&self, index: usize) -> Option<Worker<'a>>;

    /// A clock reading as an instant.
    fn instant(&self, clock: u64) -> Instant;

    /// What the clock says so many nanoseconds after the epoch.
    fn clock_at(&self, nanos: u64) -> u64;

    /// Puts a worker into a class, unless it is in that at present.
    fn put(&mut self, worker: Worker<'_>, places: (&mut Class, Class));

    /// The worker executes nothing of a body from now on.
    fn hold(&mut self, worker: Worker<'_>);

    /// The worker goes on, if it was held; says whether it had gone on all the same.
    fn let_go(&mut self, worker: Worker<'_>) -> bool;

    /// The worker may run on the manager's processor only.
    fn pin(&mut self, worker: Worker<'_>);

    /// The domain of the CPU names this job of it.
    fn plan(&mut self, job: Option<JobId>);

    /// Takes what the domain of the CPU says, with numbers of the CPU.
    fn take_notice(&mut self, notice: &Notice);
}
