//! What is compared: a policy, who orders its jobs, what watches budgets, and by which mechanism.

/// A row of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name in tables and files.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// The policy, as on the command line.
    pub policy: &'static str,
    /// Options of the policy, as after `--set`.
    pub options: &'static [&'static str],
    /// Whether a manager orders threads, by the plans of a scheduler, rather than the kernel's fixed priorities.
    pub managed: bool,
    /// Whether wall timers and the threads' CPU clocks watch budgets, rather than counters of execution.
    pub by_timers: bool,
    /// Whether the mechanism is that of section 5.1 of the paper, rebuilt, rather than Vestal's.
    pub of_paper: bool,
    /// Whether anything is enforced.
    pub enforced: bool,
    /// Whether its busy periods are those of the others: not where a job waits though the CPU is free.
    pub in_busy_periods: bool,
    /// Whether it is measured over whole hyperperiods: whose CPU times are compared there, and one with a
    /// manager for each column.
    pub in_hyperperiods: bool,
    /// Whether jobs are cut into slices, which may be short: they are enforced with less tolerance.
    pub in_slices: bool,
    /// The column of the paper that it corresponds to.
    pub column: &'static str,
}

/// A variant whose jobs the kernel's fixed priorities order, whose limits are enforced by counters of execution, and that is
/// measured in busy periods.
pub(super) const fn native(
    name: &'static str,
    policy: &'static str,
    column: &'static str,
    what: &'static str,
) -> Variant {
    Variant {
        name,
        what,
        policy,
        options: &[],
        managed: false,
        by_timers: false,
        of_paper: false,
        enforced: true,
        in_busy_periods: true,
        in_hyperperiods: false,
        in_slices: false,
        column,
    }
}

impl Variant {
    /// A manager orders threads.
    pub(super) const fn managed(mut self) -> Self {
        self.managed = true;
        self.by_timers()
    }

    /// With a manager thread that handles every release and completion, as in the paper.
    pub(super) const fn as_in_the_paper(mut self) -> Self {
        self.of_paper = true;
        self.by_timers()
    }

    /// Timers watch budgets.
    pub(super) const fn by_timers(mut self) -> Self {
        self.by_timers = true;
        self
    }

    /// Nothing is enforced.
    pub(super) const fn unenforced(mut self) -> Self {
        self.enforced = false;
        self
    }

    /// With these options of the policy.
    pub(super) const fn with(mut self, options: &'static [&'static str]) -> Self {
        self.options = options;
        self
    }

    /// Measured over hyperperiods too.
    pub(super) const fn in_hyperperiods(mut self) -> Self {
        self.in_hyperperiods = true;
        self
    }

    /// Measured over hyperperiods only, because busy periods are not those of the others.
    pub(super) const fn in_hyperperiods_only(mut self) -> Self {
        self.in_busy_periods = false;
        self.in_hyperperiods()
    }

    /// Jobs are cut into slices.
    pub(super) const fn in_slices(mut self) -> Self {
        self.in_slices = true;
        self.in_hyperperiods_only()
    }
}
