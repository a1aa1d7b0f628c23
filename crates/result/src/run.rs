//! What simulated and real runs give.

mod device;
mod own;

pub use device::{DeviceRow, DroppedEvents};
pub use own::{
    Arming, BusyPeriods, ClockSkew, Detected, MonitorChoice, Monitoring, Reaction, ThreadCost,
    ThreadCosts, Wakeups,
};

use crate::analysis::{Analysis, Verdict};
use crate::{Format, Ordered};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The result of `simulate` and of `run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The format.
    #[serde(default)]
    pub format: Format,
    /// The task-set file.
    pub file: String,
    /// The policy.
    pub policy: String,
    /// Its options: the last value of each key of `--set`.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// `simulator` or `linux`.
    pub world: String,
    /// `native` or `managed`; empty when read from a result of an older version, which did not say it.
    #[serde(default)]
    pub dispatch: String,
    /// How long jobs execute; empty when read from a result of an older version.
    #[serde(default)]
    pub scenario: String,
    /// What random numbers came from.
    #[serde(default)]
    pub seed: u64,
    /// What proves that no guaranteed deadline is missed; null: nothing does, and none is guaranteed. `None`
    /// when read from a result of an older version, which did not say it.
    #[serde(default, deserialize_with = "said")]
    #[schemars(with = "Option<Proof>")]
    pub proof: Option<Option<Proof>>,
    /// How long it was.
    pub duration_ns: u64,
    /// Why it ended early; null if it did not.
    pub cut: Option<Cut>,
    /// Counts over all tasks.
    pub jobs: Jobs,
    /// Mode changes; of very many the first ones.
    #[serde(default)]
    pub modes: Vec<ModeChange>,
    /// By task, as in the file.
    pub tasks: Vec<TaskRow>,
    /// By CPU.
    #[serde(default)]
    pub cpus: Vec<CpuRow>,
    /// By server; empty where the policy has none.
    #[serde(default)]
    pub servers: Vec<ServerRow>,
    /// By device; empty where the policy has none.
    #[serde(default)]
    pub devices: Vec<DeviceRow>,
    /// Of PIBS in a simulated run; zeros where the policy has none.
    #[serde(default)]
    pub bursts: Bursts,
    /// Of a frame table; zeros where the policy has none.
    #[serde(default)]
    pub frames: Frames,
    /// Whose costs a simulated run takes of its CPUs; null: it takes none.
    #[serde(default)]
    pub overheads: Option<Taken>,
    /// What each mechanism cost, by its name; empty for a simulated run without costs.
    #[serde(default)]
    pub overhead: BTreeMap<String, Cost>,
    /// What carrying the policy out took of the CPUs of a real run, part by part; null for a simulated one.
    #[serde(default)]
    pub parts: Option<Parts>,
    /// What the machine did.
    #[serde(default)]
    pub machine: Machine,
}

/// A value that may be null, and is told apart from one that is not there.
fn said<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// The result of `demo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Demo {
    /// The format.
    pub format: Format,
    /// The task-set file.
    pub file: String,
    /// What the test said.
    pub analysis: Analysis,
    /// What was simulated.
    pub simulation: Run,
    /// What ran; null if this machine refused.
    pub run: Option<Run>,
    /// Why there was no real run.
    pub refused: Option<Refused>,
    /// Where the page is; null if it could not be written.
    pub page: Option<String>,
}

/// Why there was no real run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// What failed, and why.
    pub message: String,
    /// What to do about it.
    pub help: Vec<String>,
}

/// A test that accepts the set as it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// Its name, with its variant behind a colon.
    pub test: String,
    /// What it says; when read from a result that does not say it, what a proof says.
    #[serde(default = "Proof::verdict")]
    pub verdict: Verdict,
}

impl Proof {
    /// The proof by a test, with its variant behind a colon.
    #[must_use]
    pub fn by(test: &str) -> Self {
        Self {
            test: test.to_owned(),
            verdict: Self::verdict(),
        }
    }

    const fn verdict() -> Verdict {
        Verdict::Schedulable
    }
}

/// Where a simulation ended before its time, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cut {
    /// When.
    pub at_ns: u64,
    /// Why.
    pub why: String,
}

/// Counts of jobs over all tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Jobs {
    /// Jobs that arrived.
    pub released: u64,
    /// Jobs that finished.
    pub completed: u64,
    /// Jobs that were dropped.
    pub dropped: u64,
    /// The same by reason, in the words of traces.
    #[serde(default)]
    pub dropped_by: Ordered<u64>,
    /// Jobs that were late.
    pub missed: u64,
    /// Jobs that were late against a guarantee.
    #[serde(default)]
    pub missed_guaranteed: u64,
    /// Of those: which only stolen time explains.
    #[serde(default)]
    pub missed_undecided: u64,
}

/// A change of mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModeChange {
    /// When.
    pub at_ns: u64,
    /// The level before.
    pub from: String,
    /// The level after.
    pub to: String,
    /// The task that overran; null for the return at an idle instant.
    pub cause: Option<String>,
    /// The CPU; null if the mode is that of the whole system.
    pub cpu: Option<u16>,
}

/// What became of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRow {
    /// Its name.
    pub name: String,
    /// The CPU on which all its jobs run; null if they run on several.
    #[serde(default)]
    pub cpu: Option<u16>,
    /// Jobs that arrived.
    pub released: u64,
    /// Jobs that finished.
    pub completed: u64,
    /// Jobs that were late.
    pub missed: u64,
    /// Jobs that were dropped.
    pub dropped: u64,
    /// The same by reason, in the words of traces.
    #[serde(default)]
    pub dropped_by: Ordered<u64>,
    /// Jobs that used up a limit; of a real run of a frame table, which has none, jobs that executed more than C at their task's own
    /// level and the tolerance.
    #[serde(default)]
    pub overruns: u64,
    /// How often a pending job lost a CPU.
    #[serde(default)]
    pub preemptions: u64,
    /// From arrival to completion.
    #[serde(default)]
    pub response_ns: Response,
    /// What jobs executed.
    #[serde(default)]
    pub execution_ns: Execution,
    /// By how much late jobs were late.
    #[serde(default)]
    pub tardiness_ns: Tardiness,
    /// By how much a proof says that jobs may be late; null where none speaks of that: then what is guaranteed, if anything is, is the
    /// deadline.
    #[serde(default)]
    pub tardiness_bound_ns: Option<u64>,
    /// For how long ghosts of the task used up what its jobs had left of their budgets; null under a policy without ghosts, for tasks
    /// without budgets and in real runs.
    #[serde(default)]
    pub ghost_ns: Option<u64>,
    /// The mean response in periods; null if no job completed.
    pub relative_response: Option<f64>,
}

/// Response times of the completed jobs; null if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// The least.
    pub min: Option<u64>,
    /// The mean.
    pub mean: Option<u64>,
    /// The 99th percentile.
    pub p99: Option<u64>,
    /// The largest.
    pub max: Option<u64>,
}

/// Execution times of the completed jobs; null if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    /// The least.
    pub min: Option<u64>,
    /// The mean.
    pub mean: Option<u64>,
    /// The largest.
    pub max: Option<u64>,
}

/// Tardiness of the completed jobs; null if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tardiness {
    /// The mean.
    pub mean: Option<u64>,
    /// The largest.
    pub max: Option<u64>,
}

/// What a CPU did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuRow {
    /// Its number.
    pub cpu: u16,
    /// How long it executed jobs.
    #[serde(default)]
    pub busy_ns: u64,
    /// How long it was taken for what carrying the policy out costs: of a simulated run its costs, of a real one the sum of
    /// `parts_ns`.
    #[serde(default)]
    pub overhead_ns: u64,
    /// The same by part, of real runs alone.
    #[serde(default)]
    pub parts_ns: Ordered<u64>,
    /// What the threads of a real run used of it beside that, outside the bodies of jobs.
    #[serde(default)]
    pub system_ns: u64,
    /// How often a job got it.
    #[serde(default)]
    pub switches: u64,
    /// How often a pending job lost it.
    #[serde(default)]
    pub preemptions: u64,
    /// How often a job got it that had last run elsewhere.
    #[serde(default)]
    pub migrations: u64,
}

/// What a server did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerRow {
    /// Its name.
    pub name: String,
    /// How long its jobs executed; in a real run all that the threads of its tasks used, but for `tolerated_ns`.
    pub served_ns: u64,
    /// What they used in a real run without being charged for it: where a server has what one job needs, of each job no more than the
    /// tolerance of the run.
    #[serde(default)]
    pub tolerated_ns: u64,
    /// How often its budget came back; of a sporadic server and a PIBS how often a part was sent for, once a use, and null
    /// in a real run, where nobody counts that.
    pub replenishments: Option<u64>,
    /// How often it used up its budget.
    pub exhausted: u64,
    /// How much budget came later because a replenishment list was full.
    pub postponed_ns: u64,
    /// How many replenishments its list had when it was longest; null for a server without a list, and in a real run,
    /// where nobody looks.
    #[serde(default)]
    pub longest_list: Option<u16>,
}

/// What became of the bursts of PIBS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bursts {
    /// Over within what the test's proof gives them from their activation on, or ended by a change of the mode before that.
    pub kept: u64,
    /// Not over by then, and executions of a PIBS that had no burst: a guarantee that was broken.
    pub broken: u64,
    /// Those of which nothing is guaranteed: without a proof, on behalf of others than one server, or because a rise of the mode
    /// took a part of their share.
    pub not_guaranteed: u64,
}

/// What became of the frames of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Frames {
    /// How many began within the run by the clock, also those that were skipped.
    pub total: u64,
    /// How many of them were skipped as a whole, because an earlier one had not ended. 0 when read from a result that
    /// does not say it.
    #[serde(default)]
    pub skipped: u64,
    /// In how many of them the sub-frame of the lowest level was skipped, alone or with others above it.
    pub lo_skipped: u64,
    /// How many took longer than their length.
    pub overrun: u64,
    /// How many jobs were dropped with their sub-frame although no job had needed more than at their level; of a real run
    /// without a proof 0.
    #[serde(default)]
    pub unprovoked: u64,
    /// Of those: which only stolen time explains. 0 when read from a result that does not say it.
    #[serde(default)]
    pub unprovoked_undecided: u64,
    /// How much later than the barriers before it say a sub-frame could begin.
    #[serde(default)]
    pub overhead_ns: u64,
    /// Where the CPUs waited for each other; null for a simulated run, and where there are no frames.
    #[serde(default)]
    pub barrier: Option<Barrier>,
    /// What its threads read to measure how long something takes, and while they spin; null as above.
    #[serde(default)]
    pub clock: Option<Clock>,
    /// Where dispatcher, scheduler and checker of a run by the threads of Sigrist et al. (2015) lived; null for others, as are the
    /// next four.
    #[serde(default)]
    pub dispatcher: Option<Dispatcher>,
    /// Who began sub-frames there.
    #[serde(default)]
    pub sub_frame_init: Option<SubFrameInit>,
    /// How many jobs began before all CPUs had been initialised for their sub-frame.
    #[serde(default)]
    pub started_early: Option<u64>,
    /// How often the checker of sub-frames looked.
    #[serde(default)]
    pub checks: Option<u64>,
    /// How many sub-frames it found to go on when the one below should have begun.
    #[serde(default)]
    pub found_late: Option<u64>,
}

/// Where the threads of Sigrist et al. (2015) live that are no workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatcher {
    /// On a CPU of the workers.
    Shared,
    /// On a CPU that has no workers.
    Own,
}

/// Who begins the sub-frames of a table by the threads of Sigrist et al. (2015).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SubFrameInit {
    /// The scheduler, on all CPUs.
    Global,
    /// Each CPU for itself.
    Distributed,
}

/// Where the CPUs of a frame table wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Barrier {
    /// `pthread_barrier_wait`.
    Pthread,
    /// A futex.
    Futex,
    /// A word that is looked at for some time before the futex.
    Spin,
}

/// What threads read to measure how long something takes, and while they spin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// `clock_gettime`.
    Monotonic,
    /// The time stamp counter.
    Tsc,
}

/// Whose costs a simulated run takes of its CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Taken {
    /// The file with them.
    pub file: String,
    /// Which figure of each cost: `mean`, `p99`, `max` or `drawn`.
    pub statistic: String,
    /// The mechanism.
    pub mechanism: String,
}

/// What a mechanism cost, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// How often it was measured.
    pub count: u64,
    /// The mean.
    pub mean: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<u64>,
    /// The largest.
    pub max: Option<u64>,
    /// Its share of the interval: of the time of all CPUs.
    pub share: Option<f64>,
    /// The largest share of the time of one CPU; null for a simulated run.
    #[serde(default)]
    pub share_max: Option<f64>,
}

/// What carrying a policy out took of the CPUs of a real run, as Sigrist et al. (2015, section VI-C) split it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parts {
    /// Each part, in the paper's order. The shares of all together are those of `scheduler`, but for the largest.
    pub parts: Ordered<Cost>,
    /// Scheduler overhead: the sum of the parts.
    pub scheduler: PerCpu,
    /// System overhead: CPU time of the run's own threads outside the bodies of jobs that is in no part.
    pub system: PerCpu,
}

/// What was taken of each CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerCpu {
    /// The mean of all CPUs.
    pub mean_ns: u64,
    /// That of the CPU with the most.
    pub max_ns: u64,
    /// The mean as a share of the interval.
    pub share: f64,
    /// The most as a share of the interval.
    pub share_max: f64,
}

/// What the machine did during a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Machine {
    /// How often it took the CPU away.
    pub gaps: u64,
    /// For how long at most.
    pub longest_gap_ns: u64,
    /// For how long in all.
    pub lost_ns: u64,
    /// Guaranteed deadlines that were missed and that no gap explains.
    pub missed_outside_gaps: u64,
    /// By cause; only causes that took something.
    pub stolen: Vec<Stolen>,
    /// What the kernel did in interrupts on the processors of a real run with devices, as its ticks found it and trials before the run included; none of
    /// others.
    pub interrupts: Vec<Interrupts>,
    /// How well limits were enforced; a simulated world enforces exactly.
    #[serde(flatten)]
    pub enforced: Option<Enforced>,
}

/// What the kernel did in interrupts on a processor while a run with devices took place and was tried out, as its ticks found it. No budget and no priority bounds it, and
/// where the kernel does not tell it from the threads that it interrupts (without `CONFIG_IRQ_TIME_ACCOUNTING`) it is on their accounts too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interrupts {
    /// The processor.
    pub processor: usize,
    /// In interrupts.
    pub hard_ns: u64,
    /// In softirqs, which receive packets, among others.
    pub soft_ns: u64,
    /// The steps in which both are counted. Without `CONFIG_IRQ_TIME_ACCOUNTING` a step counts for what is found at a tick, so that what falls between ticks is not
    /// seen, and how much that is nobody knows.
    pub granularity_ns: u64,
    /// How often softirqs ran that receive packets.
    pub received: u64,
}

/// Time that was taken from a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stolen {
    /// By what.
    pub cause: String,
    /// The threads, where it was threads.
    pub name: Option<String>,
    /// How much.
    pub ns: u64,
}

/// How well limits were enforced in a real run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Enforced {
    /// `native` or `managed`.
    pub dispatch: String,
    /// How often a worker ran a job that the plan did not name; null under native dispatch.
    pub inversions: Option<u64>,
    /// Which threads handled what.
    pub mechanism: String,
    /// Whether nothing was enforced.
    pub observed_only: bool,
    /// What watched budgets.
    pub monitor: String,
    /// By CPU of the set why that one, where nobody asked for one.
    #[serde(default)]
    pub monitor_choices: Vec<MonitorChoice>,
    /// What that did, of all CPUs; null where nothing was enforced, and where managers handle each job anyway.
    #[serde(default)]
    pub monitoring: Option<Monitoring>,
    /// In which steps it sees execution; null if that is not known.
    pub granularity_ns: Option<u64>,
    /// By how much a job's own limit may be exceeded when that is noticed; budgets of servers and tasks are charged without
    /// it, but for those of servers that have what one job of theirs needs (`tolerated_ns`).
    pub tolerance_ns: u64,
    /// How many overruns were noticed.
    pub overruns_noticed: u64,
    /// The median of what was executed beyond limits.
    pub overshoot_median_ns: u64,
    /// Its 90th percentile; null in results of versions that did not say it.
    #[serde(default)]
    pub overshoot_p90_ns: Option<u64>,
    /// Its 99th percentile, likewise.
    #[serde(default)]
    pub overshoot_p99_ns: Option<u64>,
    /// The most that was executed beyond a limit.
    pub overshoot_max_ns: u64,
    /// How many overruns were noticed later than the granularity says: with a heartbeat than that, and than its period.
    pub noticed_late: u64,
    /// What a server's budget, or a task's, may be exceeded by if no time is stolen, as a trial before the run found;
    /// null without such budgets.
    #[serde(default)]
    pub server_granularity_ns: Option<u64>,
    /// How many of them were used up while no time was stolen, and their threads went on later.
    #[serde(default)]
    pub server_budgets_judged: u64,
    /// The median of what these were exceeded by.
    #[serde(default)]
    pub server_overshoot_median_ns: u64,
    /// The most of it.
    #[serde(default)]
    pub server_overshoot_max_ns: u64,
    /// How often jobs were suspended in the middle of their bodies, between their slices or the budgets of their servers;
    /// null if the policy asks for that nowhere.
    pub held: Option<u64>,
    /// How often they went on all the same.
    pub held_in_vain: Option<u64>,
    /// By how much clocks of its CPUs differ, so that what overlaps across CPUs by less may not have overlapped; null where
    /// it had one CPU of the machine, and where something kept that from being measured.
    #[serde(default)]
    pub clock_skew: Option<ClockSkew>,
    /// How many records the traces got; null if there is none.
    pub records: Option<u64>,
    /// Notices, mode changes, notes about jobs and trace records that are missing.
    pub records_lost: u64,
    /// What the run's own threads used.
    pub own: ThreadCosts,
    /// Intervals in which there were jobs to do.
    pub busy_periods: BusyPeriods,
}
