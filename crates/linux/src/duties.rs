//! Who does what in a run: what the threads beside the manager have to know of its driver.

/// Who releases the jobs of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The worker does, by the clock.
    Own,
    /// The manager counts the releases, and the worker follows.
    Counted,
    /// The manager assigns one job at a time.
    Assigned,
    /// A walker goes through those of a sequence.
    Sequence,
}

/// What is expected of whom. The driver says it before a run begins, and nothing changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Duties {
    pub(crate) source: Source,
    /// Whether limits are enforced at all.
    pub(crate) enforces: bool,
    /// Whether a job that uses up a limit is noticed while it runs; else when it is complete.
    pub(crate) watches_budgets: bool,
    /// Whether each worker has a monitor of its own.
    pub(crate) has_monitors: bool,
    /// Whether a thread of its own dispatches arrivals to the manager.
    pub(crate) has_dispatcher: bool,
    /// Whether each task has a thread that checks for overruns.
    pub(crate) has_checkers: bool,
    /// Whether a worker whose jobs can have no slack left sets a timer for the instant.
    pub(crate) sets_instants: bool,
    /// Whether a worker calls the manager at the end of each job, which thus knows when the CPU is idle.
    pub(crate) reports_ends: bool,
}

impl Duties {
    /// Whether jobs go by the kernel's priorities, and workers begin them.
    pub(crate) fn is_native(self) -> bool {
        matches!(self.source, Source::Own | Source::Counted)
    }

    /// Whether a walker goes through the sequences of a table that its CPU has in common with others.
    pub(crate) fn is_walked(self) -> bool {
        self.source == Source::Sequence
    }

    /// Whether somebody watches the budgets of running jobs whose looks are counted: monitors of workers, checkers, or a
    /// manager that dispatches.
    pub(crate) fn watches_while_running(self) -> bool {
        self.has_monitors || self.has_checkers || (self.enforces && self.source == Source::Assigned)
    }

    /// Whether workers record when jobs begin and end; else that is reported to a scheduler, which is recorded.
    pub(crate) fn records_jobs(self) -> bool {
        self.source != Source::Assigned
    }

    /// Under native dispatch: workers do all but decide.
    pub(crate) const fn native(enforces: bool) -> Self {
        Self {
            source: Source::Own,
            enforces,
            watches_budgets: enforces,
            has_monitors: enforces,
            has_dispatcher: false,
            has_checkers: false,
            sets_instants: true,
            reports_ends: false,
        }
    }
}
