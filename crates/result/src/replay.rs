//! What a replay finds.

use crate::{Format, Ordered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of `replay` for a trace of Vestal: whether a fresh scheduler gives the recorded answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// The format.
    pub format: Format,
    /// The trace.
    pub file: String,
    /// Where it was recorded: `simulator`, `linux` or `kernel`.
    pub world: String,
    /// `native` or `managed`.
    pub dispatch: String,
    /// The policy.
    pub policy: String,
    /// The replay gives what was recorded, and no job overtook a more urgent one.
    pub equal: bool,
    /// Up to the first difference; all, if there is none.
    pub records: u64,
    /// Facts; null if there is a difference: it is not known what the rest would be. So are the counts that follow.
    pub facts: Option<u64>,
    /// Decisions.
    pub decisions: Option<u64>,
    /// Permits that were compared.
    pub permits: Option<u64>,
    /// Notices that were compared.
    pub notices: Option<u64>,
    /// What became of jobs.
    pub jobs: Option<Jobs>,
    /// Mode changes.
    pub modes: Option<u64>,
    /// Gaps of the machine.
    pub gaps: Option<u64>,
    /// The first difference.
    pub difference: Option<Differs>,
    /// The first job that ran although a more urgent one was ready.
    pub inversion: Option<Inverted>,
    /// What the other task set says otherwise than the recorded one.
    pub task_set: Vec<String>,
    /// The same by scheduling domain, each decided again by itself; absent where there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<ReplayedDomain>,
    /// Of MC²: whether each budget is used up once, and no level waits for a lower one; absent under other policies, and if there is
    /// a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Levels>,
    /// What sporadic servers and PIBS executed in any window of a period; absent where there are none, and if there is a difference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<ServerWindow>,
    /// What lists of sporadic servers came to; absent where there are none, and if there is a difference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<ServerList>,
}

/// The list of replenishments of a sporadic server, in the scheduler that replays: after each decision, what is at hand and what is on its way back sum up to its
/// capacity in the mode of that moment, or there is a `difference`. What a run had in its memory no recording tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerList {
    /// The server.
    pub server: String,
    /// The sum of its list at the end.
    pub listed_ns: u64,
    /// Its capacity then.
    pub capacity_ns: u64,
    /// How many replenishments it had when it was longest.
    pub longest: u16,
}

/// What a sporadic server executed in any window as long as its period, and a PIBS in one as long as that of whom it serves where nobody else is named. It
/// is no verdict: what others preempt may execute more than `unpreempted_ns`, and what counts then is the demand from the start of a busy period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerWindow {
    /// The server.
    pub server: String,
    /// The length of the windows.
    pub window_ns: u64,
    /// The most that it was charged within any of them.
    pub executed_ns: u64,
    /// Where the first of those begins.
    pub from_ns: u64,
    /// What it executes at most if nothing preempts it, in whatever mode: its capacity, and of a PIBS (2 - U)UT.
    pub unpreempted_ns: u64,
}

/// What levels that share CPUs had of them. If anything is wrong, `equal` is false.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReplayedLevels")]
pub struct Levels {
    /// What is at most so long does not count; 0 in a simulation.
    pub tolerance_ns: u64,
    /// How often something is wrong.
    pub broken: u64,
    /// The first of that.
    pub first: Option<LevelsBroken>,
    /// How many spans between a start and a stop were compared with their charges.
    pub spans: u64,
    /// How often what is left of a budget was compared.
    pub budgets: u64,
    /// For how long ghosts of level C used up budgets, on all CPUs together.
    pub ghosts_c_ns: u64,
    /// By CPU.
    pub cpus: Vec<LevelsCpu>,
}

/// Something that should not have been.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LevelsBroken {
    /// Which rule it breaks: `L1` to `L6`.
    pub rule: String,
    /// Where.
    pub cpu: u16,
    /// From when.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// For people.
    pub what: String,
}

/// For how long jobs of each level ran on a CPU; with `idle_ns` that is the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LevelsCpu {
    /// Which.
    pub cpu: u16,
    /// Level A.
    pub a_ns: u64,
    /// Level B.
    pub b_ns: u64,
    /// Level C.
    pub c_ns: u64,
    /// Level D.
    pub d_ns: u64,
    /// Nobody.
    pub idle_ns: u64,
    /// For how long slots of level A had a ghost.
    pub ghosts_a_ns: u64,
    /// For how long ghosts of level B used up budgets.
    pub ghosts_b_ns: u64,
}

/// A scheduling domain that was decided again. The counts are null if there is a difference anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedDomain {
    /// Its name.
    pub name: String,
    /// Its CPUs.
    pub cpus: Vec<u16>,
    /// Its tasks, by name.
    pub tasks: Vec<String>,
    /// Its records.
    pub records: Option<u64>,
    /// Facts.
    pub facts: Option<u64>,
    /// Decisions.
    pub decisions: Option<u64>,
    /// Permits that were compared.
    pub permits: Option<u64>,
    /// Notices that were compared.
    pub notices: Option<u64>,
    /// What became of its jobs.
    pub jobs: Option<Jobs>,
    /// Its mode changes.
    pub modes: Option<u64>,
}

/// The result of `replay` for a recording of perf or ftrace: what threads did, against a task set. The keys that it
/// shares with the other one have their meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The format.
    pub format: Format,
    /// The recording.
    pub file: String,
    /// `foreign`.
    pub world: String,
    /// `native`.
    pub dispatch: String,
    /// Null if the priorities are those of the task-set file.
    pub policy: Option<String>,
    /// Everything that was compared agrees, and no event is missing.
    pub equal: bool,
    /// How many.
    pub records: u64,
    /// What became of jobs.
    pub jobs: Jobs,
    /// The first job that ran although a more urgent one was ready.
    pub inversion: Option<Inverted>,
    /// What the recording was compared with.
    pub task_set_file: String,
    /// For how long a job may run on while a more urgent one is ready.
    pub tolerance_ns: u64,
    /// The CPU that the tasks ran on.
    pub cpu: u16,
    /// By task.
    pub tasks: Vec<Compared>,
    /// The first job beyond its own level's execution time.
    pub beyond: Option<Beyond>,
    /// The first missed deadline that was guaranteed.
    pub missed: Option<Late>,
    /// For how long other threads had the CPU while a task was ready.
    pub withheld_ns: u64,
    /// For how long at once.
    pub longest_withheld_ns: u64,
    /// From when on events are missing.
    pub lost_at_ns: Option<u64>,
    /// Tasks without a thread.
    pub not_seen: Vec<String>,
    /// What cannot be known from such a recording.
    pub unknown: Vec<String>,
}

/// Counts of jobs over all tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReplayedJobs")]
pub struct Jobs {
    /// Jobs that arrived.
    pub released: u64,
    /// Jobs that finished.
    pub completed: u64,
    /// Jobs that were dropped.
    pub dropped: u64,
    /// The same by reason, in the words of traces.
    pub dropped_by: Ordered<u64>,
    /// Jobs that were late.
    pub missed: u64,
    /// Jobs that were late against a guarantee.
    pub missed_guaranteed: u64,
    /// Jobs that used up a limit.
    pub overruns: u64,
}

/// Where a replay differs from what was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Differs {
    /// The name of the scheduling domain; absent where there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The number of the record, from 0.
    pub number: u64,
    /// The record, as in a `.csv` trace; null where the trace ends.
    pub recorded: Option<String>,
    /// Why it is a difference.
    pub why: String,
    /// What the replay gives here.
    pub replayed: Vec<String>,
    /// The records before it.
    pub before: Vec<String>,
    /// The records after it.
    pub after: Vec<String>,
}

/// A job that ran although a more urgent one was ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inverted {
    /// Where.
    pub cpu: u16,
    /// From when.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// The job that ran.
    pub running: String,
    /// The job that waited.
    pub waiting: String,
}

/// What threads did that are called as a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// The task.
    pub name: String,
    /// The name of its criticality level.
    pub criticality: String,
    /// Larger is more urgent.
    pub priority: u32,
    /// Jobs that arrived.
    pub released: u64,
    /// Jobs that finished.
    pub completed: u64,
    /// Jobs that ran and whose arrival was not seen.
    pub unseen: u64,
    /// Jobs that were late.
    pub missed: u64,
    /// Jobs that were late against a guarantee.
    pub missed_guaranteed: u64,
    /// The most that a job executed; null if none completed.
    pub execution_max_ns: Option<u64>,
    /// Its execution times by level.
    pub wcet_ns: Vec<u64>,
    /// By level, how many jobs executed more than that.
    pub exceeded: Vec<u64>,
    /// The longest response; null if none completed.
    pub response_max_ns: Option<u64>,
    /// Its relative deadline.
    pub deadline_ns: u64,
    /// The least distance between arrivals; null if there was none.
    pub distance_min_ns: Option<u64>,
    /// Its period.
    pub period_ns: u64,
}

/// A job that executed more than its own level's execution time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Beyond {
    /// Which.
    pub job: String,
    /// How much it executed.
    pub executed_ns: u64,
    /// What it might have.
    pub limit_ns: u64,
}

/// A job that was late against a guarantee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Late {
    /// Which.
    pub job: String,
    /// Its absolute deadline.
    pub deadline_ns: u64,
}
