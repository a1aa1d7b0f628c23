//! What benchmarks measure.

use crate::Format;
use crate::claim::Finding;
use crate::run::ClockSkew;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vestal_statistics::Quartiles;

/// The result of `bench primitives`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Primitives {
    /// The format.
    pub format: Format,
    /// `primitives`.
    pub bench: String,
    /// By mechanism.
    pub primitives: Vec<Primitive>,
    /// What carrying policies out costs with each way to do it.
    #[serde(default)]
    pub mechanisms: Vec<Mechanism>,
}

/// A way to carry policies out on this machine, and what it costs: what schedulability tests take into account as overheads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mechanism {
    /// Its name, for `--mechanism`.
    pub name: String,
    /// What it is.
    pub what: String,
    /// Who orders jobs.
    pub dispatch: Dispatch,
    /// Why it was not run; null if it was.
    #[serde(default)]
    pub not_run: Option<String>,
    /// The period of a monitor that looks at budgets periodically; null for others.
    #[serde(default)]
    pub heartbeat_ns: Option<u64>,
    /// Where that monitor runs; absent: above all tasks, as those that `bench` measures. Is not simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<MonitorPlace>,
    /// What it costs, by name.
    pub costs: Vec<Primitive>,
}

/// Where a monitor runs that looks at budgets periodically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MonitorPlace {
    /// Among the tasks, as one of the highest level with that period: Lemma IV.1 of Sigrist et al. (RTAS 2015).
    Scheduled,
}

/// Who orders the jobs of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatch {
    /// The kernel, by fixed priorities; a manager handles exceptions.
    Native,
    /// A manager, which hears of each release and each end of a job.
    Managed,
    /// The kernel, by fixed priorities; a manager hears of each release and each end of a job, as Huang, Gill and Lu (2014)
    /// have it.
    Huang2014,
    /// Frame tables, whose sub-frames all CPUs begin and end together.
    Frames,
}

/// What a mechanism of the kernel costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Primitive {
    /// The mechanism.
    pub name: String,
    /// How often it was measured.
    pub count: u64,
    /// The mean, rounded up.
    #[serde(default)]
    pub mean_ns: u64,
    /// The median.
    pub median_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The largest.
    pub max_ns: u64,
}

/// The result of `bench barriers`: what it takes two CPUs to meet, by the barriers that frame tables have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Barriers {
    /// The format.
    pub format: Format,
    /// `barriers`.
    pub bench: String,
    /// The machine, in words.
    #[serde(default)]
    pub machine: String,
    /// The CPUs of this machine that met.
    pub cpus: Vec<usize>,
    /// By how much their clocks differ.
    #[serde(default)]
    pub clock_skew: Option<ClockSkew>,
    /// Meetings count to which both came at most so far apart.
    pub within_ns: u64,
    /// By barrier, all in the same run.
    pub barriers: Vec<BarrierMeetings>,
    /// What became of claims.
    pub claims: Vec<Finding>,
}

/// Meetings of two CPUs at one barrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BarrierMeetings {
    /// Its name, as of `--barrier`, and by what it spins if that is not the clock.
    pub name: String,
    /// How many meetings do not count, because the two came further apart.
    pub apart: u64,
    /// From when the last one came: until the one that waited went on, and until both had gone on.
    pub costs: Vec<Primitive>,
}

/// The result of `bench sleeps`: how long a thread really sleeps that asks for so much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sleeps {
    /// The format.
    pub format: Format,
    /// `sleeps`.
    pub bench: String,
    /// The machine, in words.
    #[serde(default)]
    pub machine: String,
    /// The CPU.
    pub cpu: usize,
    /// By argument, ascending.
    pub sleeps: Vec<Sleep>,
    /// What became of claims.
    pub claims: Vec<Finding>,
}

/// How long sleeps with one argument took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sleep {
    /// What was asked for.
    pub argument_ns: u64,
    /// How often.
    pub count: u64,
    /// The mean, rounded up.
    pub mean_ns: u64,
    /// The median.
    pub median_ns: u64,
    /// The first percentile: 98 % of the sleeps lie between this and the next, of fewer than a hundred all.
    pub low_ns: u64,
    /// The 99th percentile.
    pub high_ns: u64,
}

/// The result of `bench zero-slack-trace`: who had the CPU when under zero slack, simulated and measured, and where
/// none had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ZeroSlackTrace {
    /// The format.
    pub format: Format,
    /// `zero-slack-trace`.
    pub bench: String,
    /// The CPU.
    pub cpu: usize,
    /// How long it was traced.
    pub duration_ns: u64,
    /// The typical step between two readings of the clock.
    pub step_ns: u64,
    /// Beyond this a step is another thread's.
    pub threshold_ns: u64,
    /// How many there were.
    pub hyperperiods: u64,
    /// In how many the tasks had the CPU in the simulated order.
    pub in_order: u64,
    /// Who had the CPU when.
    pub schedule: Vec<TracedRun>,
    /// The period of the kernel's tick.
    pub tick_ns: u64,
    /// How many are due while the tasks have the CPU.
    pub ticks_due: u64,
    /// All gaps.
    pub gaps: TracedGaps,
    /// Those at the kernel's tick.
    pub gaps_at_the_tick: TracedGaps,
}

/// One execution interval of the schedule; instants count from the start of the hyperperiod, those measured are
/// medians, null where no hyperperiod had the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracedRun {
    /// Who had the CPU.
    pub task: String,
    /// Simulated: from when.
    pub simulated_start_ns: u64,
    /// Simulated: until when.
    pub simulated_end_ns: u64,
    /// Measured: from when.
    pub measured_start_ns: Option<u64>,
    /// Measured: until when.
    pub measured_end_ns: Option<u64>,
}

/// What many gaps have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracedGaps {
    /// How many.
    pub count: u64,
    /// Their median length.
    pub median_length_ns: u64,
    /// The longest.
    pub longest_ns: u64,
    /// From the beginning of one to that of the next.
    pub median_distance_ns: u64,
}

/// The result of `bench overhead`: what enforcement costs on this machine, against the paper's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overhead {
    /// The format.
    pub format: Format,
    /// `overhead`.
    pub bench: String,
    /// The paper.
    pub paper: String,
    /// Which task set.
    pub set: Drawn,
    /// What was measured on.
    pub machine: String,
    /// How many repetitions were wanted.
    pub repetitions: u32,
    /// Whether somebody stopped it.
    pub interrupted: bool,
    /// What all variants are compared with.
    pub baseline: String,
    /// What was compared.
    pub variants: Vec<Variant>,
    /// Table II, by number of tasks and variant.
    pub busy_periods: Vec<Cell>,
    /// The same over whole hyperperiods.
    pub hyperperiods: Vec<Cell>,
    /// Table III, by variant.
    pub invocations: Vec<Times>,
    /// Fig. 6, by number of threads.
    pub preemptions: Vec<Preemptions>,
    /// What carrying policies out costs with each way to do it.
    #[serde(default)]
    pub mechanisms: Vec<Mechanism>,
    /// What became of claims.
    pub claims: Vec<Finding>,
}

/// How the task set was drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drawn {
    /// Its utilisation.
    pub utilization_permille: u32,
    /// Its number among those of this utilisation.
    pub index: u64,
    /// What random numbers came from.
    pub seed: u64,
}

/// Something that is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// What it is.
    pub what: String,
    /// The policy.
    pub policy: String,
    /// Why it was not run; null if it was.
    pub not_run: Option<String>,
}

/// The runs of one variant with one number of tasks. Spreads are of the clean ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// How many tasks.
    pub size: usize,
    /// The variant's name.
    pub variant: String,
    /// How many runs.
    pub runs: usize,
    /// How many of them had a gap of the machine.
    pub gaps: usize,
    /// How many were no busy period of the set.
    pub others: usize,
    /// Lengths.
    pub busy_ns: Option<Quartiles>,
    /// Lengths of those with a gap, too.
    pub busy_with_gaps_ns: Option<Quartiles>,
    /// Lengths minus the baseline's of the same repetition.
    pub extra_ns: Option<Quartiles>,
    /// The same in percent of the baseline's.
    pub overhead_percent: Option<Quartiles>,
    /// Thread switches.
    pub switches: Option<Quartiles>,
    /// CPU time of the run's own threads.
    pub own_cpu_ns: Option<Quartiles>,
    /// The same minus the baseline's of the same repetition, which beginning and ending a run costs.
    pub own_cpu_extra_ns: Option<Quartiles>,
    /// CPU time of workers outside the bodies of jobs: releases, ends, and setting monitors.
    pub workers_cpu_ns: Option<Quartiles>,
    /// Wake-ups of the manager by jobs.
    pub wakeups: Option<Quartiles>,
}

impl Cell {
    /// The median switches; 0 without a clean run.
    #[must_use]
    pub fn median_switches(&self) -> f64 {
        self.switches.map_or(0.0, |spread| spread.median)
    }
}

/// How long invocations of the manager took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Invocations {
    /// How many.
    pub count: u64,
    /// On average.
    pub mean_ns: f64,
    /// The median.
    pub median_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// Invocations of a variant's manager over all numbers of tasks: a row of Table III.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "InvocationTimes")]
pub struct Times {
    /// The variant's name.
    pub variant: String,
    /// All of them.
    #[serde(flatten)]
    pub invocations: Invocations,
    /// The paper's mean, if it has one.
    pub paper_mean_ns: Option<u64>,
    /// The paper's maximum.
    pub paper_max_ns: Option<u64>,
}

/// What the micro-benchmark found for a number of threads, in nanoseconds: a point of Fig. 6.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Preemptions {
    /// How many threads were suspended and resumed.
    pub threads: usize,
    /// Preemption: median and 99th percentile.
    pub preemption_ns: (u64, u64),
    /// Return: median and 99th percentile.
    pub return_ns: (u64, u64),
    /// The first adjustment in fresh threads: median and maximum.
    pub first_ns: (u64, u64),
    /// Later adjustments: median, mean and maximum.
    pub later_ns: (u64, f64, u64),
    /// What each group of fresh threads came to: the repetitions of this benchmark.
    pub groups: Vec<Group>,
}

/// A group of fresh threads in the micro-benchmark: medians of its rounds, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Preemption.
    pub preemption_ns: u64,
    /// Return.
    pub return_ns: u64,
    /// The first adjustment, of which there is one.
    pub first_ns: u64,
    /// Later adjustments.
    pub later_ns: u64,
}
