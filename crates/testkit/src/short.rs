//! Short constructors: tests count in nanoseconds, one for each unit of time of a drawing.

use std::vec::Vec;
use vestal_core::{
    Configuration, Duration, Enforcement, Exhaustion, Instant, JobId, Level, LevelSet, Service,
    Task, TaskConfiguration, TaskId, Wcet,
};

/// The only CPU, or the first.
pub const CPU: vestal_core::CpuId = vestal_core::CpuId(0);

/// So much execution.
#[must_use]
pub const fn ns(amount: u64) -> Service {
    Service::from_nanos(amount)
}

/// So long.
#[must_use]
pub const fn span(amount: u64) -> Duration {
    Duration::from_nanos(amount)
}

/// So long after the epoch.
#[must_use]
pub const fn at(now: u64) -> Instant {
    Instant::from_nanos(now)
}

/// A job by its task and its number.
#[must_use]
pub const fn job(task: u16, sequence: u64) -> JobId {
    let task = TaskId(task);
    JobId { task, sequence }
}

/// A task whose deadlines are the ends of its periods, with its execution times from the lowest level on.
///
/// # Panics
/// If there is no such task.
#[must_use]
pub fn task(criticality: u8, period: u64, wcet: &[u64]) -> Task {
    let values: Vec<Service> = wcet.iter().copied().map(ns).collect();
    let wcet = Wcet::new(&values).expect("execution times that never decrease");
    Task::new(Level(criticality), span(period), span(period), wcet).expect("a task")
}

/// Tasks on one CPU, with used-up jobs in the background and a granularity of nothing.
///
/// # Panics
/// If there are not so many levels.
#[must_use]
pub fn configuration(
    tasks: &[TaskConfiguration],
    levels: usize,
    enforcement: Enforcement,
) -> Configuration<'_> {
    Configuration {
        tasks,
        levels: LevelSet::new(levels).expect("so many levels"),
        enforcement,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    }
}
