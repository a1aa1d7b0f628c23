//! Which policies and mechanisms keep a set schedulable.

use crate::analysis::Overheads;
use crate::{Format, Ordered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of `advise`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// The format.
    pub format: Format,
    /// The task-set file.
    pub file: String,
    /// Where overheads come from.
    pub overheads: Overheads,
    /// What was tried, the largest margin first.
    pub choices: Vec<Choice>,
}

/// A policy with a mechanism that carries it out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// The policy.
    pub policy: String,
    /// Its options, by name.
    #[serde(default)]
    pub options: Ordered<String>,
    /// The test, with variant.
    pub test: String,
    /// Whether the policy's own guarantee is another test's: then what this test chooses is to be given as parameters.
    #[serde(default)]
    pub by_parameters: bool,
    /// The mechanism.
    pub mechanism: String,
    /// Whether the test proves the set schedulable with the mechanism's overheads.
    pub schedulable: bool,
    /// The largest factor on all overheads with which it does, in thousandths; null: not even without any.
    pub margin_permille: Option<u64>,
    /// The largest factor on all execution times with which the test proves the set schedulable where nothing costs
    /// anything, in thousandths, at most a thousandfold; null: not even with next to none.
    pub scaling_permille: Option<u64>,
    /// Why it is not proved with the overheads themselves; null if it is.
    pub why: Option<String>,
}
