//! What is settled of a CPU before its threads start.

use crate::duties::Duties;
use crate::monitor::Monitor;

/// Nothing changes it.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) monitor: Monitor,
    /// How often the manager looks at budgets whether there is a reason or not, if it does.
    pub(crate) heartbeat_nanos: Option<u64>,
    /// The least that a monitor waits before it looks at a job again.
    pub(crate) bound_nanos: u64,
    /// Whether a job that used up the limit of its own level makes way for all others.
    pub(crate) stops_at_own_limit: bool,
    /// Whether budgets are those of jobs, and die with them.
    pub(crate) has_job_budgets: bool,
    /// Whether deadlines are guaranteed.
    pub(crate) guarantee: bool,
    /// How many jobs of one task may wait behind its current one; `None`: any number.
    pub(crate) backlog: Option<usize>,
    pub(crate) tolerance_nanos: u64,
    /// Whether that is taken off each job of a task also where budgets outlive jobs.
    pub(crate) tolerates_each_job: bool,
    /// How late a thread has to get a free CPU for that to be the machine's doing.
    pub(crate) late_wake_nanos: u64,
    /// Who does what.
    pub(crate) duties: Duties,
}

/// What bounds the activations of a monitor for one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActivationBound {
    /// It comes every so many nanoseconds at most.
    Every(u64),
    /// It comes once for each limit that the job uses up, and once for each time that the job loses the CPU.
    EachPreemption,
    /// Nothing that is counted.
    Unknown,
}

impl Terms {
    /// What bounds the activations of its monitors for one job.
    pub(crate) const fn activation_bound(&self) -> ActivationBound {
        match (self.monitor, self.heartbeat_nanos) {
            (Monitor::Heartbeat, Some(period)) => ActivationBound::Every(period),
            (Monitor::Manager, _) => ActivationBound::Every(self.bound_nanos),
            (Monitor::Remainder, _) => ActivationBound::EachPreemption,
            (Monitor::Perf | Monitor::PosixTimer | Monitor::Heartbeat, _) => {
                ActivationBound::Unknown
            }
        }
    }

    /// Whether workers have wall timers, which are set anew when their jobs go on after a preemption.
    pub(crate) fn has_wall_monitors(&self) -> bool {
        matches!(self.monitor, Monitor::Manager | Monitor::Remainder) && self.duties.has_monitors
    }

    /// Whether those stand still while their jobs are preempted.
    pub(crate) fn pauses_monitors(&self) -> bool {
        self.monitor == Monitor::Remainder && self.duties.has_monitors
    }

    /// Whether activations of monitors are counted: where jobs have budgets that are watched while they run.
    pub(crate) fn counts_activations(&self) -> bool {
        self.has_job_budgets && self.duties.watches_while_running()
    }
}

#[cfg(any(test, feature = "real"))]
use crate::account::LATE_WAKE_NANOS;

#[cfg(feature = "real")]
impl Terms {
    /// Of managers that nobody judges.
    pub(crate) const fn in_trial(duties: Duties) -> Self {
        Self {
            monitor: Monitor::Manager,
            heartbeat_nanos: None,
            // The usual one.
            bound_nanos: 30_000,
            stops_at_own_limit: false,
            has_job_budgets: false,
            guarantee: false,
            backlog: None,
            tolerance_nanos: 100_000,
            tolerates_each_job: false,
            late_wake_nanos: LATE_WAKE_NANOS,
            duties,
        }
    }
}

#[cfg(test)]
impl Terms {
    /// Of a native CPU with this monitor, whose heartbeat takes a millisecond if that is it.
    pub(crate) fn in_test(monitor: Monitor) -> Self {
        Self {
            monitor,
            heartbeat_nanos: (monitor == Monitor::Heartbeat).then_some(1_000_000),
            bound_nanos: crate::pace::BOUND.as_nanos(),
            stops_at_own_limit: true,
            has_job_budgets: true,
            guarantee: true,
            backlog: None,
            tolerance_nanos: 0,
            tolerates_each_job: false,
            late_wake_nanos: LATE_WAKE_NANOS,
            duties: Duties::native(true),
        }
    }
}
