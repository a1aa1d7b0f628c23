//! Real runs: what the command line may ask of this machine, and what comes back.

use crate::report::RunResult;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod work;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::execute;
#[cfg(target_os = "linux")]
pub(crate) use linux::execute;

/// What the command line says about the machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) monitor: Monitor,
    /// The CPU; by default the last one that the process may use.
    pub(crate) cpu: Option<usize>,
    /// The lowest and the highest SCHED_FIFO priority to use.
    pub(crate) priorities: Option<(u8, u8)>,
}

/// What notices a used-up budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Monitor {
    /// A counter of the thread's own execution.
    #[default]
    Perf,
    /// A wall timer and the thread's CPU clock.
    Manager,
}

/// What came of a real run.
#[derive(Debug)]
pub(crate) struct RealRun {
    pub(crate) result: RunResult,
    /// What the machine and the mechanisms did, a line each, for people.
    pub(crate) machine: Vec<String>,
    /// What a person must know before trusting the result.
    pub(crate) warnings: Vec<String>,
}
