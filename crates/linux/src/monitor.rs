//! The kinds of budget monitors.

/// How an exhausted limit is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Monitor {
    /// A `task-clock` counter of `perf_event_open` per worker, which overflows when the *thread* has
    /// run for its limit. No wake-up without an overrun, some tens of microseconds late.
    Perf,
    /// A wall timer at the predicted exhaustion, after which the manager reads the thread's CPU
    /// clock again: Sigrist et al. (RTAS 2015, section V-A), deadline-based monitoring. Sharper, but it runs on while its
    /// job is preempted, and wakes the manager in vain.
    Manager,
    /// The same timer, which stands still while its job is preempted: whoever takes the CPU from a job stops it, and whoever
    /// gives the CPU back sets it to the rest. One wake-up for a job that is never preempted, and none for one that
    /// keeps its limit.
    Remainder,
    /// The manager looks at the CPU clocks of all running jobs every [`crate::Config::heartbeat`], whether
    /// there is a reason or not: simple, portable, and as late as its period is long.
    Heartbeat,
    /// A `timer_create` timer on the thread's CPU time. The kernel looks at those in its tick only,
    /// so it is milliseconds late (up to 1/HZ); here for comparison.
    PosixTimer,
}

impl Monitor {
    /// Whether it looks at intervals, whether there is a reason or not.
    pub(crate) const fn beats(self) -> bool {
        matches!(self, Self::Heartbeat)
    }

    /// The name on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Perf => "perf",
            Self::Manager => "manager",
            Self::Remainder => "remainder",
            Self::Heartbeat => "heartbeat",
            Self::PosixTimer => "posix-timer",
        }
    }
}
