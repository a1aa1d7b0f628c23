//! How verdicts on claims come about.

use std::fmt::Write as _;
use vestal_result::claim::{Finding, Verdict};

/// Of evidence for a claim and evidence against it, of which the latter weighs more.
pub(crate) const fn from_evidence(for_it: bool, against: bool) -> Verdict {
    match (for_it, against) {
        (_, true) => Verdict::Refuted,
        (true, false) => Verdict::Confirmed,
        (false, false) => Verdict::NotDecided,
    }
}

/// Of several claims at once: one that is refuted refutes, and all have to be confirmed. Nothing
/// confirms nothing.
pub(crate) fn all(each: impl IntoIterator<Item = Verdict>) -> Verdict {
    let mut found = None;
    for one in each {
        found = Some(match (found, one) {
            (Some(Verdict::Refuted), _) | (_, Verdict::Refuted) => Verdict::Refuted,
            (Some(Verdict::NotDecided), _) | (_, Verdict::NotDecided) => Verdict::NotDecided,
            (Some(Verdict::Confirmed) | None, Verdict::Confirmed) => Verdict::Confirmed,
        });
    }
    found.unwrap_or(Verdict::NotDecided)
}

/// Where and by what was measured once, and what became of each claim with the numbers behind it.
pub(crate) fn of_one_measurement(by: &str, claims: &[Finding]) -> String {
    let mut text = format!(
        "{by}. One machine, one measurement: another one will give other numbers.\n\n\
         | whose | claim | found |\n|---|---|---|\n"
    );
    for claim in claims {
        let Finding {
            of,
            claim,
            verdict,
            numbers,
        } = claim;
        let _ = writeln!(text, "| {of} | {claim} | **{verdict}**: {numbers} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{all, from_evidence};
    use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};

    #[test]
    fn one_refutes_all_confirm_and_nothing_decides_nothing() {
        assert_eq!(all([]), NotDecided);
        assert_eq!(all([Confirmed, Confirmed]), Confirmed);
        assert_eq!(all([Confirmed, NotDecided]), NotDecided);
        assert_eq!(all([NotDecided, Confirmed]), NotDecided);
        assert_eq!(all([Confirmed, NotDecided, Refuted]), Refuted);
        assert_eq!(all([Refuted, NotDecided, Confirmed]), Refuted);
    }

    #[test]
    fn evidence_against_a_claim_weighs_more() {
        assert_eq!(from_evidence(true, true), Refuted);
        assert_eq!(from_evidence(false, true), Refuted);
        assert_eq!(from_evidence(true, false), Confirmed);
        assert_eq!(from_evidence(false, false), NotDecided);
    }
}
