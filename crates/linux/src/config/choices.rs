//! Who does what in a run, and where.

use vestal_sys::Processor;

/// Which threads handle what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// Workers release and end their jobs themselves, and watch their budgets with a [`Monitor`](crate::Monitor). The
    /// manager is woken by exceptions only.
    Vestal,
    /// Those of Huang, Gill and Lu (2014, section 5), for comparison. With adaptive limits (section
    /// 5.3) the manager handles each release and each completion: it waits in `epoll_wait` for the
    /// signals of POSIX timers, knows the running job, and watches it with a timer on the thread's CPU
    /// time and a wall-clock timer. With static limits nothing is enforced, as by the baseline of the
    /// paper's evaluation. With slices (section 5.2) the manager replenishes the budget of each, notices
    /// that it is exhausted, and of completions. With zero slack (section 5.1) periodic timers wake
    /// the manager at the zero-slack instant and the deadline of every job, and budgets are not monitored.
    /// The monitor of the configuration is not used. Managed dispatch is what the paper has for fixed job
    /// priorities (`MGR_PRIO`, `RUN_PRIO`, `SUSPENDED_PRIO`), with either value.
    Huang2014,
    /// Those of Sigrist, Giannopoulou, Huang, Gomez and Thiele (RTAS 2015, sections V and VI), for comparison: threads
    /// that schedule, dispatch arrivals and check for overruns beside the workers. The manager of managed dispatch is the
    /// scheduler; native dispatch, and budgets that outlive jobs, are refused. Checkers are deadline-based, with
    /// [`Config::bound`](crate::Config::bound), unless the monitor of the configuration is [`Monitor::Heartbeat`](crate::Monitor::Heartbeat). The paper's termination is
    /// [`Termination::Deferred`].
    Sigrist2015,
}

impl Mechanism {
    /// The name on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vestal => "vestal",
            Self::Huang2014 => "huang2014",
            Self::Sigrist2015 => "sigrist2015",
        }
    }
}

/// Where the threads live that dispatch arrivals, with [`Mechanism::Sigrist2015`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dispatcher {
    /// On a processor of the workers.
    Shared,
    /// On a processor that has no workers: this one, or any that no CPU of the set has.
    Own(Option<Processor>),
}

/// When a job that lost its priority comes to its end. Its priority drops at once in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Termination {
    /// At its next cancellation point, whenever it gets there.
    Immediate,
    /// Not before the CPU is idle: until then its cancellation points let it pass, so that no clean-up
    /// happens while the mode is raised.
    Deferred,
}

impl Termination {
    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::Deferred => "deferred",
        }
    }
}
