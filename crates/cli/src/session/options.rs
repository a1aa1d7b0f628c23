//! The options of `--set` that every policy has.

use crate::failure::Failure;
use crate::names;
use vestal_core::Exhaustion;

/// The keys that every policy knows; one of its own must not have such a name.
pub(crate) const KEYS: [&str; 2] = ["exhaustion", "backlog"];

/// The largest number for `backlog`: a real run sets room aside for it beforehand.
const BACKLOG_MAX: usize = 65_535;

/// What those keys say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorldOptions {
    pub(super) exhaustion: Exhaustion,
    /// How many jobs of one task may wait behind its current one; `None`: any number.
    pub(super) backlog: Option<usize>,
}

impl WorldOptions {
    /// Reads them; `own` are the further keys of the policy, whose values are its business.
    pub(super) fn read(options: &[String], own: &[&str], what: &str) -> Result<Self, Failure> {
        let mut known =
            "this version knows: exhaustion=background|abort|continue, backlog=N".to_owned();
        for key in own {
            known.push_str(&format!(", {key}=..."));
        }
        let mut found = Self {
            exhaustion: Exhaustion::Background,
            backlog: None,
        };
        for option in options {
            let failure = |why: String| Failure::input(what, why).with_help(known.as_str());
            let (key, value) = option
                .split_once('=')
                .ok_or_else(|| failure(format!("`--set {option}` is not of the form KEY=VALUE")))?;
            match key {
                _ if own.contains(&key) => {}
                "exhaustion" => {
                    found.exhaustion = exhaustion(value)
                        .ok_or_else(|| failure(format!("`{value}` is no value of `exhaustion`")))?;
                }
                "backlog" => {
                    let number = value.parse().ok().filter(|most| *most <= BACKLOG_MAX);
                    let most = number.ok_or_else(|| {
                        let why = format!("`{value}` is no whole number from 0 to {BACKLOG_MAX}");
                        failure(why).with_help(
                            "without `backlog` any number of jobs may wait behind the current one of their task",
                        )
                    })?;
                    found.backlog = Some(most);
                }
                _ => {
                    let failure = failure(format!("no option is called `{key}`"));
                    return Err(match names::nearest(key, own.iter().copied().chain(KEYS)) {
                        Some(name) => failure.with_help(format!("did you mean `{name}`?")),
                        None => failure,
                    });
                }
            }
        }
        Ok(found)
    }
}

fn exhaustion(value: &str) -> Option<Exhaustion> {
    match value {
        "background" => Some(Exhaustion::Background),
        "abort" => Some(Exhaustion::Abort),
        "continue" => Some(Exhaustion::Continue),
        _ => None,
    }
}

/// Options as keys and values; what is neither was refused before.
pub(super) fn pairs(options: &[String]) -> Vec<(String, String)> {
    let pairs = options.iter().filter_map(|option| option.split_once('='));
    pairs
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &[&str]) -> Result<WorldOptions, Failure> {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        WorldOptions::read(&options, &["divisor"], "simulate x")
    }

    #[test]
    fn options_are_read_and_unknown_ones_list_the_known() {
        assert_eq!(read(&[]).unwrap().exhaustion, Exhaustion::Background);
        assert_eq!(
            read(&["exhaustion=abort"]).unwrap().exhaustion,
            Exhaustion::Abort
        );
        let failure = read(&["exhaustio=abort"]).unwrap_err();
        let helps = |text: &str| failure.help.iter().any(|help| help.contains(text));
        assert!(helps("background|abort|continue"));
        assert!(helps("did you mean `exhaustion`"));
        assert_eq!(
            read(&["divisor=3", "exhaustion=abort"]).unwrap().exhaustion,
            Exhaustion::Abort
        );
        assert!(read(&["exhaustion"]).is_err());
        assert!(read(&["exhaustion=never"]).is_err());
    }

    #[test]
    fn a_backlog_is_a_whole_number_that_a_real_run_can_set_aside() {
        assert_eq!(read(&[]).unwrap().backlog, None);
        assert_eq!(read(&["backlog=0"]).unwrap().backlog, Some(0));
        assert_eq!(read(&["backlog=65535"]).unwrap().backlog, Some(65_535));
        for wrong in ["backlog=65536", "backlog=-1", "backlog=four", "backlog="] {
            let failure = read(&[wrong]).unwrap_err();
            assert!(failure.why.contains("0 to 65535"), "{wrong}");
        }
        let failure = read(&["backlogs=4"]).unwrap_err();
        let helps = |text: &str| failure.help.iter().any(|help| help.contains(text));
        assert!(helps("did you mean `backlog`"));
    }
}
