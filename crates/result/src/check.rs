//! What `check` makes of a task-set file.

use crate::Format;
use crate::failure::Diagnostic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of `check`, also of a file with errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The format.
    pub format: Format,
    /// The task-set file.
    pub file: String,
    /// Whether it has no errors.
    pub valid: bool,
    /// Errors; warnings and notes of a valid file.
    pub diagnostics: Vec<Diagnostic>,
    /// Null if the file is not valid.
    pub set: Option<Summary>,
}

/// What there is to say of a task set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Its name; may be empty.
    pub name: String,
    /// How many tasks.
    pub tasks: usize,
    /// How many jobs of a finite set.
    pub jobs: usize,
    /// How many servers.
    pub servers: usize,
    /// How many devices.
    pub devices: usize,
    /// From the lowest.
    pub levels: Vec<Level>,
    /// Null if it is longer than 2^64 - 1 ns.
    pub hyperperiod_ns: Option<u64>,
    /// The largest offset of a task.
    pub largest_offset_ns: u64,
    /// The policy that was asked about; null: all of them.
    pub policy: Option<String>,
    /// What policies make of the fields that the file gives.
    pub fields: Vec<FieldUses>,
    /// The fields of which none of them makes any use.
    pub unused: Vec<Unused>,
    /// What they make of `on_miss`, a sentence each.
    pub on_miss: Vec<String>,
}

/// A criticality level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// How many tasks have it.
    pub tasks: usize,
    /// Of the tasks of at least this level, with this level's execution times; null if it is not known.
    pub utilization: Option<f64>,
}

/// A field that the file gives, and what each policy makes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldUses {
    /// The field, such as `task.offset`.
    pub field: String,
    /// How often it is given.
    pub count: usize,
    /// The task that gives it first; empty where it belongs to no task.
    pub first: String,
    /// By policy.
    pub policies: Vec<PolicyUse>,
}

/// What a policy makes of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyUse {
    /// The policy.
    pub policy: String,
    /// `reads`, `rule` or `ignored`.
    #[serde(rename = "use")]
    pub word: String,
    /// The rule, or why it has no effect.
    pub why: Option<String>,
}

/// A field of which no policy makes any use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unused {
    /// The field.
    pub field: String,
    /// How often it is given.
    pub count: usize,
    /// The task that gives it first; empty where it belongs to no task.
    pub first: String,
    /// Why it has no effect.
    pub why: String,
}
