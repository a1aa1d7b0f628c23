//! What an examination of this machine finds, as documents have it.

use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Wish {
    /// Where the files are: the machine's own if there is none.
    pub(crate) root: Option<PathBuf>,
    pub(crate) cpu: Option<usize>,
    /// Whether to try and to measure.
    pub(crate) probes: bool,
}

/// The result of `vestal doctor`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Examination {
    /// The version of the format: `vestal-result/1`.
    pub(crate) format: &'static str,
    /// `fit`: nothing speaks against real-time runs; exit code 0. `findings`: runs are possible, and
    /// suffer from what matters, or whether they are possible is not known; exit code 1. `cannot`: runs would be refused; exit code 3.
    pub(crate) verdict: Verdict,
    /// The directory whose files were read; null for this machine.
    pub(crate) root: Option<String>,
    /// The release of the kernel; null if it is not known.
    pub(crate) kernel: Option<String>,
    /// The CPUs of the machine; null if they are not known.
    pub(crate) cpus: Option<Vec<usize>>,
    /// The CPU that real-time jobs are to have.
    pub(crate) cpu: usize,
    /// Everything that was looked at, in a fixed order.
    pub(crate) findings: Vec<Finding>,
    /// The numbers behind the findings of the section `measured`; null without probes.
    pub(crate) measured: Option<Measured>,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Fit,
    Findings,
    Cannot,
}

/// One thing that was looked at.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Finding {
    /// Its name, which does not change.
    pub(crate) check: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// What it is about.
    pub(crate) section: Section,
    /// Whether runs are refused without it; only then is it ever `missing`.
    pub(crate) required: bool,
    /// What it says about the machine.
    pub(crate) state: State,
    /// How it was come by.
    pub(crate) basis: Basis,
    /// The file that was read, or what was tried or measured.
    pub(crate) source: String,
    /// What was found.
    pub(crate) found: String,
    /// What that means for real-time runs.
    pub(crate) meaning: String,
    /// How to change it; null where there is nothing to change.
    pub(crate) remedy: Option<String>,
}

/// What a finding is about: the rights of this process, the kernel, the CPU that real-time jobs are to
/// have, or what was measured there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Section {
    Process,
    Kernel,
    Cpu,
    Measured,
}

/// `missing`: without it there are no real-time runs. `matters`: deadlines or budgets suffer. `unknown`:
/// could not be found out. `note`: worth knowing. `good`: as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Good,
    Note,
    Unknown,
    Matters,
    Missing,
}

/// A file said so, a system call was tried, or it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Basis {
    Read,
    Tried,
    Measured,
}

/// What was tried and measured.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measured {
    /// A trial thread was let into SCHED_FIFO.
    pub(crate) fifo: bool,
    /// `perf_event_open` gave a task-clock counter.
    pub(crate) perf: bool,
    /// How late a thread woke that slept until an instant; null if that was not measured.
    pub(crate) wake_up: Option<WakeUp>,
    /// Intervals in which a thread that never waits lost its CPU; null if that was not measured.
    pub(crate) gaps: Option<Gaps>,
    /// By how much budgets were exceeded when that was noticed, by monitor.
    pub(crate) budgets: Vec<Budget>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WakeUp {
    /// Whether the thread was in SCHED_FIFO.
    pub(crate) real_time: bool,
    pub(crate) lateness_ns: Times,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gaps {
    /// How many of 20 us and more.
    pub(crate) count: u64,
    pub(crate) longest_ns: u64,
    pub(crate) lost_ns: u64,
    /// How long the thread ran.
    pub(crate) observed_ns: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Budget {
    /// What watched the budget, as in `run --monitor`.
    pub(crate) monitor: &'static str,
    /// Null if that was not measured.
    pub(crate) overshoot_ns: Option<Times>,
}

/// Measurements of one kind.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Times {
    pub(crate) count: u64,
    pub(crate) min: u64,
    pub(crate) median: u64,
    pub(crate) p99: u64,
    pub(crate) max: u64,
}
