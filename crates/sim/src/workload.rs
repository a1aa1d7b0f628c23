//! When jobs arrive and what they execute: two pure functions, so that a run can be repeated,
//! shifted and shrunk.

use vestal_core::{Instant, Level, Service, Task, TaskId};

/// When the jobs of each task arrive.
pub trait Releases {
    /// The instant at which job `sequence` (counted from 0) of `task` is released; `None`: never,
    /// and no later job either.
    ///
    /// `previous` is the release of job `sequence - 1`, and `None` for the first job: with it a
    /// sporadic pattern is a pure function of its arguments without summing up all gaps before. The
    /// answer has to be later than `previous`.
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant>;

    /// Whether the run is to be abandoned. The one answer here that may change: it is
    /// asked for at each instant, and decides about nothing else.
    fn aborted(&self) -> bool {
        false
    }
}

/// What each job executes until it completes.
pub trait Demand {
    /// What job `sequence` of `task` executes in all, if nothing stops it. A pure function.
    fn execution(&self, task: TaskId, sequence: u64) -> Service;
}

/// Strictly periodic releases from an offset per task.
#[derive(Clone, Debug)]
pub struct Periodic {
    /// For each task the first release and the period in use.
    pub tasks: Vec<(Instant, vestal_core::Duration)>,
}

impl Periodic {
    /// All tasks release their first job at the epoch, and then each at its own period.
    #[must_use]
    pub fn synchronous(tasks: &[Task]) -> Self {
        let tasks = tasks
            .iter()
            .map(|task| (Instant::EPOCH, task.period))
            .collect();
        Self { tasks }
    }
}

impl Releases for Periodic {
    fn release(&self, task: TaskId, _: u64, previous: Option<Instant>) -> Option<Instant> {
        let (first, period) = *self.tasks.get(task.index())?;
        match previous {
            None => Some(first),
            Some(previous) => previous.checked_add(period),
        }
    }
}

/// Releases written down one by one, for each task in ascending order.
#[derive(Clone, Debug, Default)]
pub struct ListedReleases {
    /// For each task its release instants.
    pub tasks: Vec<Vec<Instant>>,
}

impl Releases for ListedReleases {
    fn release(&self, task: TaskId, sequence: u64, _: Option<Instant>) -> Option<Instant> {
        let place = usize::try_from(sequence).ok()?;
        self.tasks.get(task.index())?.get(place).copied()
    }
}

/// Executions written down one by one for the first jobs of each task; later ones have a default.
#[derive(Clone, Debug, Default)]
pub struct ListedDemand {
    /// For each task the execution of its first jobs.
    pub tasks: Vec<Vec<Service>>,
    /// For each task the execution of all jobs that are not listed.
    pub otherwise: Vec<Service>,
}

impl ListedDemand {
    /// Every job executes C_i(min(level, z_i)).
    #[must_use]
    pub fn at_level(tasks: &[Task], level: Level) -> Self {
        Self {
            tasks: vec![Vec::new(); tasks.len()],
            otherwise: tasks.iter().map(|task| task.enforced_wcet(level)).collect(),
        }
    }
}

impl Demand for ListedDemand {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        usize::try_from(sequence)
            .ok()
            .and_then(|place| self.tasks.get(task.index())?.get(place))
            .or_else(|| self.otherwise.get(task.index()))
            .copied()
            .unwrap_or(Service::ZERO)
    }
}

/// The jobs of a part of a task set, whose tasks are numbered anew: its first one is the first of `tasks`, and so
/// on.
#[derive(Clone, Copy, Debug)]
pub struct OfPart<'a, W: ?Sized> {
    /// The jobs of all tasks.
    pub whole: &'a W,
    /// The tasks of the part, as the whole numbers them.
    pub tasks: &'a [TaskId],
}

impl<W: Releases + ?Sized> Releases for OfPart<'_, W> {
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        let task = *self.tasks.get(task.index())?;
        self.whole.release(task, sequence, previous)
    }

    fn aborted(&self) -> bool {
        self.whole.aborted()
    }
}

impl<W: Demand + ?Sized> Demand for OfPart<'_, W> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        match self.tasks.get(task.index()) {
            Some(task) => self.whole.execution(*task, sequence),
            None => Service::ZERO,
        }
    }
}
