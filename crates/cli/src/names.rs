//! Names that are the interface: what exists, what is planned, and what was meant.

use crate::failure::Failure;
use vestal_workload::diagnostic::nearest;

/// The version with its commit, as `vestal --version` prints it after the name.
pub(crate) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("VESTAL_COMMIT"), ")");

/// Commands of the interface that this version does not have.
pub(crate) const PLANNED_COMMANDS: [&str; 1] = ["convert"];

/// The failure for an unknown name: a guess, and the names that are known.
pub(crate) fn unknown(
    what: &str,
    kind: &str,
    found: &str,
    known: impl IntoIterator<Item = impl ToString>,
) -> Failure {
    let known: Vec<String> = known.into_iter().map(|name| name.to_string()).collect();
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
