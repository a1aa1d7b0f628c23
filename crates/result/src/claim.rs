//! What data say of a claim.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ClaimVerdict")]
pub enum Verdict {
    /// The data say yes, for certain.
    Confirmed,
    /// They say no, for certain.
    Refuted,
    /// They say neither, or what the claim speaks of is not there.
    NotDecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::NotDecided => "not decided",
        })
    }
}

/// A claim with what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ClaimFinding")]
pub struct Finding {
    /// Whose it is: `paper` or `vestal`.
    pub of: String,
    /// The claim in a sentence.
    pub claim: String,
    /// What became of it.
    pub verdict: Verdict,
    /// By which numbers.
    pub numbers: String,
}
