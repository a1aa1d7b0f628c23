//! The result of `bench overhead --paper sigrist2015`: which share of their time CPUs spend on carrying a policy out.

use crate::bench::{Mechanism, Variant};
use crate::claim::Finding;
use crate::{Format, Ordered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vestal_statistics::Quartiles;

/// What was measured, against the paper's figures. A share is a part of the interval of a run, from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shares {
    /// The format.
    pub format: Format,
    /// `overhead`.
    pub bench: String,
    /// The paper.
    pub paper: String,
    /// What was measured on.
    pub machine: String,
    /// How long each run of a drawn set took.
    pub interval_ns: u64,
    /// How many sets were wanted for each cell.
    pub sets: u32,
    /// What of it was measured.
    #[serde(default)]
    pub measurement: Measurement,
    /// Whether somebody stopped it.
    pub interrupted: bool,
    /// What was compared.
    pub variants: Vec<Variant>,
    /// Fig. 6 to 8, 10 and 12: by number of CPUs, utilization and variant.
    pub cells: Vec<ShareCell>,
    /// Table II: the flight management system.
    pub flight: Vec<ShareCell>,
    /// What each alternative costs in time and in schedulability.
    pub alternatives: Vec<Alternative>,
    /// What carrying policies out costs with each alternative.
    pub mechanisms: Vec<Mechanism>,
    /// What became of claims.
    pub claims: Vec<Finding>,
}

/// What is measured, of which sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measurement {
    /// All figures, of sets that are drawn anew for each cell.
    #[default]
    Shares,
    /// What differs from cell to cell, told from set to set: those of one number have tasks in common in all cells.
    Pairs,
    /// The same, told of all cells together.
    Growth,
    /// What each alternative costs, of sets that are drawn anew.
    Alternatives,
}

/// The runs of one variant with one kind of sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShareCell {
    /// The variant's name.
    pub variant: String,
    /// `drawn`, or the file of the set.
    pub set: String,
    /// The CPUs that the sets have.
    pub cpus: u16,
    /// The utilization of drawn sets for each of their CPUs, in thousandths; null for a file.
    pub utilization_permille: Option<u32>,
    /// Whether nothing was run: costs of an event as measured on fewer CPUs, times the events of simulations.
    pub extrapolated: bool,
    /// How many sets, or runs of one, count.
    pub runs: usize,
    /// How many do not, since a deadline was missed or a frame was late.
    pub left_out: usize,
    /// On how many CPUs there were tasks, on average.
    pub employed: f64,
    /// Each part, in the paper's order.
    pub parts: Ordered<PerCpuShare>,
    /// Scheduler overhead: the sum of the parts.
    pub scheduler: PerCpuShare,
    /// System overhead; null where it is extrapolated.
    pub system: Option<PerCpuShare>,
}

/// A share of the time of those CPUs that have tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerCpuShare {
    /// The mean over CPUs and runs.
    pub mean: f64,
    /// That of the CPU with the most, of all runs; null where it is extrapolated.
    pub max: Option<f64>,
    /// How the means of runs spread.
    pub spread: Option<Quartiles>,
}

/// What an alternative costs: its share of the time, and how many sets tests accept with its overheads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alternative {
    /// The variant's name.
    pub variant: String,
    /// The CPUs of the sets.
    pub cpus: u16,
    /// Scheduler overhead at the utilization that claims speak of; null if it was not measured.
    pub scheduler: Option<f64>,
    /// System overhead there.
    pub system: Option<f64>,
    /// What is lost in each frame of a table with two levels, of o (Table I): to begin it, and for both sub-frames with their barriers; null where there are no
    /// frames, or it was not measured.
    #[serde(default)]
    pub frame: Option<FrameOverhead>,
    /// By utilization; none where there are no costs of it that tests take.
    pub accepted: Vec<Accepted>,
}

/// What is lost in each frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FrameOverhead {
    /// By the means of its parts.
    pub mean_ns: u64,
    /// By the largest of each.
    pub max_ns: u64,
}

/// How many drawn sets a test accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Accepted {
    /// The utilization for each CPU, in thousandths.
    pub utilization_permille: u32,
    /// How many were drawn.
    pub sets: u32,
    /// Accepted without overheads.
    pub without: u32,
    /// With the mean of each.
    pub mean: u32,
    /// With the largest of each.
    pub max: u32,
}
