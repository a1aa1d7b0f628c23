//! What a real run did and used itself, and how far its clocks may be trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often the monitor of budgets had the manager look, or overrun checkers looked, and when what was used up was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Monitoring {
    /// How often the manager looked because of it, or a checker did.
    pub activations: u64,
    /// How often for a job that did not have the CPU just then, once for each such job.
    pub without_cpu: u64,
    /// How often for each job that has ended: the most of any.
    pub per_job_max: u64,
    /// How many jobs had more activations than their monitor may need; null where nothing bounds them but the job's
    /// execution.
    pub beyond_bound: Option<u64>,
    /// Used-up limits by the activation, counted from then, that found them.
    pub detected: Detected,
}

/// In which activation of the monitor used-up limits were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Detected {
    /// In the first.
    pub first: u64,
    /// In the second.
    pub second: u64,
    /// In a later one.
    pub later: u64,
}

/// Why a run has the monitor of budgets that it has, where nobody asked for one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorChoice {
    /// The monitor.
    pub monitor: String,
    /// In words.
    pub why: String,
    /// What was tried out on the CPU before the run; empty where there was no choice.
    pub tried: Vec<Arming>,
}

/// What it costs a job that its budget is watched: its monitor is armed and disarmed once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Arming {
    /// The monitor, as in `run --monitor`.
    pub monitor: String,
    /// The median where its timer is the next one due on the CPU.
    pub next_ns: u64,
    /// The median where an earlier one is.
    pub behind_ns: u64,
    /// By how much it was late in 99 of 100 cases; null if that was not looked at, as the monitor was not the cheaper one anyway.
    #[serde(default)]
    pub late_ns: Option<u64>,
}

/// By how much readings of clocks on different CPUs of the machine differ at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClockSkew {
    /// Of the clock by which everything is dated.
    pub monotonic_ns: u64,
    /// Of the time stamp counter; null where the processor has no invariant one.
    #[serde(default)]
    pub tsc_ns: Option<u64>,
}

/// What the run's own threads used, and why its manager was woken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCosts {
    /// Who decides and enforces.
    pub manager: ThreadCost,
    /// Who notices idle instants.
    pub idle: ThreadCost,
    /// Who ends a run that does not end itself.
    pub watchdog: ThreadCost,
    /// Who dispatches arrivals, where that is a thread of its own.
    #[serde(default)]
    pub dispatcher: ThreadCost,
    /// Who checks for overruns, where those are threads of their own.
    #[serde(default)]
    pub checkers: ThreadCost,
    /// Who waits for devices, where there are any.
    #[serde(default)]
    pub top_half: ThreadCost,
    /// CPU time of the workers outside the bodies of jobs.
    pub workers_cpu_ns: u64,
    /// Of the manager.
    pub wakeups: Wakeups,
    /// How long they took at most for their duties.
    pub reactions_ns: BTreeMap<String, Reaction>,
}

/// What a thread used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCost {
    /// CPU time.
    pub cpu_ns: u64,
    /// How often it gave the CPU up.
    pub voluntary: u64,
    /// How often it lost the CPU.
    pub involuntary: u64,
}

/// How often the manager was woken, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wakeups {
    /// A job completed.
    pub completion: u64,
    /// A job arrived.
    pub release: u64,
    /// A device was ready, a job began to wait for its events, or has those that it waited for.
    #[serde(default)]
    pub device: u64,
    /// A budget was used up.
    pub budget: u64,
    /// An instant came that it waited for.
    pub timer: u64,
    /// There was nothing to do.
    pub idle: u64,
    /// To look after what else may have gone wrong.
    pub beat: u64,
    /// Something else.
    pub other: u64,
}

/// How long the run's own threads took at most for one of their duties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reaction {
    /// How often they had it to do.
    pub count: u64,
    /// The longest.
    pub max: u64,
}

/// Intervals in which there were jobs to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BusyPeriods {
    /// How many.
    pub count: u64,
    /// Their median length.
    pub median_ns: u64,
    /// Their mean length.
    pub mean_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Switches of all threads of the run on its CPU.
    pub switches: u64,
}
