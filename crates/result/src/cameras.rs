//! The result of `bench overhead --paper missimer`: bottom halves of cameras in servers.

use crate::Format;
use crate::claim::Finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vestal_statistics::Quartiles;

/// What was measured, against the paper's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cameras {
    /// The format.
    pub format: Format,
    /// `overhead`.
    pub bench: String,
    /// The paper.
    pub paper: String,
    /// What was measured on.
    pub machine: String,
    /// What kind of device a camera was.
    pub device: String,
    /// On which CPU of that machine.
    #[serde(default)]
    pub cpu: Option<usize>,
    /// How long each run took, and each in which the mode changed.
    pub interval_ns: [u64; 2],
    /// How many repetitions were wanted.
    pub repetitions: u32,
    /// Whether somebody stopped it.
    pub interrupted: bool,
    /// What was measured, by set and system.
    pub cells: Vec<CamerasCell>,
    /// What became of claims.
    pub claims: Vec<Finding>,
}

/// The runs of one set with one system. Quartiles are those over runs that count, null where no run has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CamerasCell {
    /// `one-camera`, `two-cameras` (Table II) or `change` (Table III).
    pub place: String,
    /// `SS-only` or `SS+PIBS`.
    pub system: String,
    /// How many runs count.
    pub runs: usize,
    /// How many do not, for one of the next two reasons or both.
    #[serde(default)]
    pub left_out: usize,
    /// In how many others took more than a hundredth of the CPU.
    #[serde(default)]
    pub disturbed: usize,
    /// In how many the sender of a camera sent less than its server could serve at best, or was late for more than a tenth of the run.
    #[serde(default)]
    pub starved: usize,
    /// In how many runs a server of a camera gave more than its share, also of those that do not count.
    #[serde(default)]
    pub too_much: usize,
    /// In how many of which others took little one gave less than half of it while events waited, or next to nothing in a third of the run.
    #[serde(default)]
    pub too_little: usize,
    /// Of runs with a change that count: in how many the mode did not rise about half time, or at another time as well without a reason.
    #[serde(default)]
    pub wrong_changes: usize,
    /// In how many it rose at another time as well, each time just after others took the CPU from the job that raised it, for as long as jobs may exceed their
    /// budgets by.
    #[serde(default)]
    pub explained_changes: usize,
    /// Of runs that count: of how many it is not known, or not often enough in time, what was served in each half. No variance has them, and where nobody looked
    /// nothing else that is said of halves.
    #[serde(default)]
    pub unlooked: usize,
    /// How many windows between two looks at what was served, of all runs, were a tenth longer or shorter than they should be: they are in means, and not in
    /// variances.
    #[serde(default)]
    pub late_looks: usize,
    /// What others took of the CPU in all runs, those that do not count included, in percent of a run.
    #[serde(default)]
    pub lost_percent: Option<Quartiles>,
    /// CPU time of the run's own threads on its CPU, and of workers outside the bodies of jobs, in percent of the run. This and what follows is as it was measured:
    /// what others took may be in it.
    pub overhead_percent: Option<Quartiles>,
    /// Switches between threads of the run.
    pub switches_each_second: Option<Quartiles>,
    /// Interrupts of which the scheduler was told.
    pub interrupts_each_second: Option<Quartiles>,
    /// How often the mode rose in a run.
    pub rises: Option<Quartiles>,
    /// Jobs that the applications of level HI and LO completed.
    pub completed_each_second: [Option<Quartiles>; 2],
    /// The longest time without one, in periods.
    pub longest_wait_periods: [Option<Quartiles>; 2],
    /// Events that each application read of its camera; null where it has none.
    #[serde(default)]
    pub read_each_second: [Option<Quartiles>; 2],
    /// Each camera, of all runs together, those that do not count included.
    pub cameras: Vec<CameraCell>,
}

/// What became of a camera's events: those that were sent were served, are left over, or were dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CameraCell {
    /// Its name.
    pub name: String,
    /// Sent.
    pub sent: u64,
    /// Served by its bottom half.
    pub served: u64,
    /// Left over in the device at the end of a run.
    pub queued: u64,
    /// For which there was no room, or that a bottom half was kept from.
    pub dropped: u64,
    /// What its server was charged.
    #[serde(default)]
    pub charged_ns: u64,
    /// How much of its budget came later than it would have, because a list was full.
    #[serde(default)]
    pub postponed_ns: u64,
    /// What its share comes to in the modes that there were.
    #[serde(default)]
    pub share_ns: u64,
}
