//! Names that are the interface: what exists, what is planned, and what somebody meant.

use crate::failure::Failure;

/// The version with its commit, as `vestal --version` prints it after the name.
pub(crate) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("VESTAL_COMMIT"), ")");

/// The value of `format` in every JSON document.
pub(crate) const RESULT_FORMAT: &str = "vestal-result/1";

/// Commands of the interface that this version does not have.
pub(crate) const PLANNED_COMMANDS: [&str; 2] = ["advise", "convert"];

/// Every test of the interface, in its order.
const TESTS: [&str; 26] = [
    "rms",
    "dms",
    "cms",
    "smc",
    "pt",
    "zss",
    "amc-rtb",
    "amc-max",
    "amc-ia",
    "fjp-lb",
    "fjp-own",
    "fjp-mode",
    "fjp-ija",
    "ocbp",
    "edf",
    "edf-vd",
    "edf-vd-util",
    "pedf-vd",
    "ftts",
    "mc2",
    "ss-rta",
    "ss-pibs-rta",
    "amc-ub",
    "io-amc-rtb",
    "io-amc-ub",
    "hsf",
];

/// Every policy of the interface, in its order.
const POLICIES: [&str; 16] = [
    "rms", "dms", "cms", "smc", "pt", "zss", "amc", "ocbp", "plrs", "edf", "edf-vd", "pedf-vd",
    "ftts", "mc2", "io-amc", "hsf",
];

/// Whether the interface has a test of this name, in this version or a later one.
pub(crate) fn is_planned_test(name: &str) -> bool {
    TESTS.contains(&name)
}

/// Whether the interface has a policy of this name, in this version or a later one.
pub(crate) fn is_planned_policy(name: &str) -> bool {
    POLICIES.contains(&name)
}

/// The known name that `found` was probably meant to be.
pub(crate) fn nearest<'a>(
    found: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // Below this similarity a guess confuses more than it helps.
    const SIMILARITY_MIN: f64 = 0.75;
    let found = found.to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for name in known {
        let similarity = strsim::jaro_winkler(&found, &name.to_lowercase());
        if similarity >= SIMILARITY_MIN && best.is_none_or(|(most, _)| similarity > most) {
            best = Some((similarity, name));
        }
    }
    best.map(|(_, name)| name)
}

/// The failure for a name that nobody knows: a guess, and the names that are known.
pub(crate) fn unknown(what: &str, kind: &str, found: &str, known: &[String]) -> Failure {
    let mut failure = Failure::input(what, format!("no {kind} is called `{found}`"));
    if let Some(name) = nearest(found, known.iter().map(String::as_str)) {
        failure = failure.with_help(format!("did you mean `{name}`?"));
    }
    failure.with_help(format!("this version knows: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_guessed_and_nonsense_is_not() {
        let known = ["check", "analyze", "simulate"];
        assert_eq!(nearest("analyse", known), Some("analyze"));
        assert_eq!(nearest("simluate", known), Some("simulate"));
        assert_eq!(nearest("zzz", known), None);
    }
}
