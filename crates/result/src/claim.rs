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

impl Verdict {
    /// Of what is known either to hold or not to hold.
    #[must_use]
    pub const fn of(holds: bool) -> Self {
        if holds {
            Self::Confirmed
        } else {
            Self::Refuted
        }
    }

    /// Of evidence for a claim and evidence against it, of which the latter weighs more.
    #[must_use]
    pub const fn from_evidence(for_it: bool, against: bool) -> Self {
        match (for_it, against) {
            (_, true) => Self::Refuted,
            (true, false) => Self::Confirmed,
            (false, false) => Self::NotDecided,
        }
    }

    /// Of several claims at once: one that is refuted refutes, and all have to be confirmed. Nothing
    /// confirms nothing.
    #[must_use]
    pub fn all(each: impl IntoIterator<Item = Self>) -> Self {
        let mut found = None;
        for one in each {
            found = Some(match (found, one) {
                (Some(Self::Refuted), _) | (_, Self::Refuted) => Self::Refuted,
                (Some(Self::NotDecided), _) | (_, Self::NotDecided) => Self::NotDecided,
                (Some(Self::Confirmed) | None, Self::Confirmed) => Self::Confirmed,
            });
        }
        found.unwrap_or(Self::NotDecided)
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

#[cfg(test)]
mod tests {
    use super::Verdict::{self, Confirmed, NotDecided, Refuted};

    #[test]
    fn one_refutes_all_confirm_and_nothing_decides_nothing() {
        assert_eq!(Verdict::all([]), NotDecided);
        assert_eq!(Verdict::all([Confirmed, Confirmed]), Confirmed);
        assert_eq!(Verdict::all([Confirmed, NotDecided]), NotDecided);
        assert_eq!(Verdict::all([NotDecided, Confirmed]), NotDecided);
        assert_eq!(Verdict::all([Confirmed, NotDecided, Refuted]), Refuted);
        assert_eq!(Verdict::all([Refuted, NotDecided, Confirmed]), Refuted);
    }

    #[test]
    fn evidence_against_a_claim_weighs_more() {
        assert_eq!(Verdict::from_evidence(true, true), Refuted);
        assert_eq!(Verdict::from_evidence(false, true), Refuted);
        assert_eq!(Verdict::from_evidence(true, false), Confirmed);
        assert_eq!(Verdict::from_evidence(false, false), NotDecided);
    }
}
