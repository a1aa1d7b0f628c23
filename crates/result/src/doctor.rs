//! What `doctor` finds about a machine.

use crate::Format;
use crate::run::Arming;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of `vestal doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Examination {
    /// The format.
    pub format: Format,
    /// What is to be done with all findings.
    pub verdict: Verdict,
    /// The directory whose files were read; null for this machine.
    pub root: Option<String>,
    /// The release of the kernel; null if it is not known.
    pub kernel: Option<String>,
    /// The CPUs of the machine; null if they are not known.
    pub cpus: Option<Vec<usize>>,
    /// The CPU that real-time jobs are to have.
    pub cpu: usize,
    /// Everything that was looked at, in a fixed order.
    pub findings: Vec<Finding>,
    /// The numbers behind the findings of the section `measured`; null without probes.
    pub measured: Option<Measured>,
}

/// What is to be done with all findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Fitness")]
pub enum Verdict {
    /// Nothing speaks against real-time runs; exit code 0.
    Fit,
    /// Runs are possible, and suffer from what matters, or whether they are possible is not known; exit code 1.
    Findings,
    /// Runs would be refused; exit code 3.
    Cannot,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its name, which does not change.
    pub check: String,
    /// Its name for people.
    pub title: String,
    /// What it is about.
    pub section: Section,
    /// Whether runs are refused without it; only then is it ever `missing`.
    pub required: bool,
    /// What it says about the machine.
    pub state: State,
    /// How it was come by.
    pub basis: Basis,
    /// The file that was read, or what was tried or measured.
    pub source: String,
    /// What was found.
    pub found: String,
    /// What that means for real-time runs.
    pub meaning: String,
    /// How to change it; null where there is nothing to change.
    pub remedy: Option<String>,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// What this process may do.
    Process,
    /// The kernel and its settings.
    Kernel,
    /// The CPU that real-time jobs are to have, and what it stands on.
    Cpu,
    /// What was measured there.
    Measured,
}

/// What a finding says about the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Good,
    /// Worth knowing.
    Note,
    /// It could not be found out.
    Unknown,
    /// Deadlines or budgets suffer from it.
    Matters,
    /// Without it there are no real-time runs.
    Missing,
}

/// How a finding was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// A file says so.
    Read,
    /// A system call was tried.
    Tried,
    /// It was measured.
    Measured,
}

/// What was tried and measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// A trial thread was let into SCHED_FIFO.
    pub fifo: bool,
    /// `perf_event_open` gave a task-clock counter.
    pub perf: bool,
    /// How late a thread woke that slept until an instant; null if that was not measured.
    pub wake_up: Option<WakeUp>,
    /// Intervals in which a thread that never waits lost its CPU; null if that was not measured.
    pub gaps: Option<Gaps>,
    /// By how much budgets were exceeded when that was noticed, by monitor.
    pub budgets: Vec<Budget>,
    /// What it costs to watch a budget, by monitor; empty if that was not measured.
    #[serde(default)]
    pub arming: Vec<Arming>,
    /// The monitor that `run` takes if nobody asks for one, where the kernel dispatches; null if that was not measured.
    #[serde(default)]
    pub monitor: Option<String>,
}

/// How late a thread wakes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WakeUp {
    /// Whether the thread was in SCHED_FIFO.
    pub real_time: bool,
    /// After the instant that it slept until.
    pub lateness_ns: Times,
}

/// Intervals in which a thread that never waits lost its CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gaps {
    /// How many of 20 us and more.
    pub count: u64,
    /// The longest.
    pub longest_ns: u64,
    /// Their sum.
    pub lost_ns: u64,
    /// How long the thread ran.
    pub observed_ns: u64,
}

/// By how much budgets are exceeded when that is noticed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// What watched the budget, as in `run --monitor`.
    pub monitor: String,
    /// Null if that was not measured.
    pub overshoot_ns: Option<Times>,
}

/// Measurements of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// The least.
    pub min: u64,
    /// The median.
    pub median: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}
