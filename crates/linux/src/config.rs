//! What a run is made from.

mod choices;

use crate::monitor::Monitor;
use crate::pace::BOUND;
pub use choices::{Dispatcher, Mechanism, Termination};
use std::path::PathBuf;
use vestal_core::{Duration, Service, TaskConfiguration};

/// What reading clocks, switching threads and a timer interrupt add to a job.
pub const TOLERANCE_MIN: Service = Service::from_micros(50);
/// A calibration that found worse met a disturbance, and says nothing about what can be enforced.
pub const TOLERANCE_MAX: Service = Service::from_micros(250);

/// A task with what a run needs to know beside its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSpec {
    /// Its name in results and diagnostics.
    pub name: String,
    /// The task, and its priority among the others.
    pub configuration: TaskConfiguration,
    /// When its first job is released, counted from the start of the run. Releases are periodic:
    /// for a sporadic task the densest arrivals it may have.
    pub offset: Duration,
    /// The most that any job will demand, if that is known to be below the task's own C_i(z_i).
    /// Only the check against RT throttling uses it, and only without a [`CpuSpec::utilization_ppm`](crate::CpuSpec::utilization_ppm).
    pub demand_max: Option<Service>,
}

/// How to run a set of tasks, whoever decides about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whether limits are enforced at all; `false` only measures: no limit, no mode change, and under
    /// managed dispatch only the order of the scheduler.
    pub enforce: bool,
    /// Which threads handle what.
    pub mechanism: Mechanism,
    /// Where arrivals are dispatched, with [`Mechanism::Sigrist2015`].
    pub dispatcher: Dispatcher,
    /// The budget monitor. [`Monitor::Perf`] falls back to [`Monitor::Manager`] where
    /// `perf_event_open` is refused, and [`crate::report::CpuReport::monitor`] says so.
    pub monitor: Monitor,
    /// Whether a run may take [`Monitor::Manager`] where `monitor` is [`Monitor::Perf`] and a trial on the CPU finds that to arm costs
    /// clearly more, and that [`Monitor::Manager`] is no less sharp: [`crate::report::CpuReport::monitor_choice`] says what it took. Not for bodies that
    /// block: the less urgent job that goes on meanwhile has no wall timer of its own. The trials take up to 0.4 s, only runs that calibrate make them, and only workers
    /// that arm monitors themselves have a choice: under native dispatch, with [`Mechanism::Vestal`], where limits are enforced.
    pub chooses_monitor: bool,
    /// When jobs that lost their priorities come to their end.
    pub termination: Termination,
    /// The period T_M of [`Monitor::Heartbeat`], within [`HEARTBEAT_RANGE`](crate::HEARTBEAT_RANGE).
    pub heartbeat: Duration,
    /// The least that a monitor waits before it looks at a job again, however little that has left of its budget; within
    /// [`BOUND_RANGE`](crate::BOUND_RANGE). Sigrist et al. (RTAS 2015, Eq. 8).
    pub bound: Duration,
    /// Where workers write when a job begins and ends, and managers when the mode changes, so that it stands in the kernel's own trace: see
    /// [`trace_marker`](crate::trace_marker). Two system calls a job. With frame tables modes are not written.
    pub trace_marker: Option<PathBuf>,
    /// The lowest and the highest SCHED_FIFO priority to use, within 1 to 99. For the n tasks of a CPU n + 3 of
    /// them are used, from the lowest up, with zero slack n + 5; under managed dispatch 4 for any number of
    /// tasks, with [`Mechanism::Sigrist2015`] 6.
    pub priorities: (u8, u8),
    /// By how much a job may exceed a limit before that is an overrun: what this world itself adds
    /// to a job (reading clocks, arming its monitor, interrupts charged to it), and what it could
    /// not enforce anyway. `None`: the granularity obtained in the calibration, at least
    /// [`TOLERANCE_MIN`], at most [`TOLERANCE_MAX`].
    pub tolerance: Option<Service>,
    /// Whether to measure the monitor's granularity before the run; takes about 170 ms.
    pub calibrate: bool,
    /// Whether to lock the process's memory.
    pub lock_memory: bool,
    /// How long to wait for job bodies that do not come to a cancellation point after the end.
    pub patience: Duration,
    /// How much of the share that RT throttling allows to stay away from, in thousandths of the CPU.
    pub throttling_margin_permille: u32,
    /// The stack of each worker, in bytes.
    pub stack_bytes: usize,
}

impl Config {
    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            enforce: true,
            mechanism: Mechanism::Vestal,
            dispatcher: Dispatcher::Shared,
            monitor: Monitor::Perf,
            chooses_monitor: false,
            termination: Termination::Immediate,
            heartbeat: Duration::from_millis(1),
            bound: BOUND,
            trace_marker: None,
            priorities: (1, 98),
            tolerance: None,
            calibrate: true,
            lock_memory: true,
            patience: Duration::from_millis(1_000),
            throttling_margin_permille: 20,
            stack_bytes: 512 * 1024,
        }
    }

    /// The period of a heartbeat, if that is the monitor.
    pub(crate) fn period(&self) -> Option<Duration> {
        (self.monitor == Monitor::Heartbeat).then_some(self.heartbeat)
    }

    /// Whether the threads are those of Sigrist et al. (2015).
    pub(crate) fn is_of_sigrist2015(&self) -> bool {
        self.mechanism == Mechanism::Sigrist2015
    }

    /// The period of a heartbeat, or the lower bound of another monitor.
    #[must_use]
    pub const fn pace_of(&self, monitor: Monitor) -> Duration {
        match monitor {
            Monitor::Heartbeat => self.heartbeat,
            Monitor::Perf | Monitor::Manager | Monitor::Remainder | Monitor::PosixTimer => {
                self.bound
            }
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}
