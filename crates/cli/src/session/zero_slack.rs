//! Sessions of policies with zero-slack instants: which analysis finds them.

use crate::failure::Failure;
use crate::problem::{self, Given};
use vestal_analysis::Test;
use vestal_core::{Duration, Policy};

/// The key of `--set` that names the analysis.
pub(super) const OPTION: &str = "instants";

/// The variants of the policy's test by the values of that key.
const VARIANTS: [(&str, Option<&str>); 4] = [
    ("sporadic", None),
    ("form", Some("form")),
    ("tightened", Some("tightened")),
    ("harmonic", Some("harmonic")),
];

/// The keys of `--set` that a built-in policy of this kind knows.
pub(super) fn option_keys(policy: &Policy) -> &'static [&'static str] {
    if problem::takes_zero_slack(Some(policy)) {
        &[OPTION]
    } else {
        &[]
    }
}

/// The test that finds what the policy needs and states its promise: the policy's, or the variant
/// that the options name.
pub(super) fn test_of(
    policy: &Policy,
    options: &[(String, String)],
) -> Result<&'static Test, Failure> {
    let named = options.iter().rev().find(|(key, _)| key == OPTION);
    let variant = match named.filter(|_| problem::takes_zero_slack(Some(policy))) {
        None => None,
        Some((_, value)) => {
            let known = VARIANTS.iter().find(|(name, _)| name == value);
            let Some((_, variant)) = known else {
                let names = VARIANTS.map(|(name, _)| name).join(", ");
                return Err(Failure::input(
                    format!("use the policy {}", policy.name),
                    format!("`{value}` is no value of `{OPTION}`"),
                )
                .with_help(format!("this version knows: {names}")));
            };
            *variant
        }
    };
    vestal_analysis::find(policy.test, variant).ok_or_else(|| {
        Failure::bug(
            format!("use the policy {}", policy.name),
            format!("there is no test {}", policy.test),
        )
    })
}

/// The instants given, or else found, and where they come from; `None` for a policy without any.
pub(super) fn choose(
    policy: &Policy,
    test: &Test,
    given: &Given,
    found: Option<Vec<Duration>>,
) -> Option<(Vec<Duration>, String)> {
    if !problem::takes_zero_slack(Some(policy)) {
        return None;
    }
    match (&given.zero_slack, found) {
        (Some(given), _) => {
            let origin = "zero-slack instants of --parameters";
            Some((given.clone(), origin.to_owned()))
        }
        (None, Some(found)) => Some((found, format!("zero-slack instants found by {test}"))),
        (None, None) => None,
    }
}
