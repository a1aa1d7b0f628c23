//! The options of `--set KEY=VALUE`.

use crate::refusal::Refusal;
use vestal_core::{DeadlineQueues, Exhaustion};

/// An option of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionKey {
    /// Its key.
    pub name: &'static str,
    /// What it is for, in a line.
    pub summary: &'static str,
    /// What it may be.
    pub values: Values,
}

/// What the value of an option may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// One of these; the first is meant where the option is not given.
    OneOf(&'static [&'static str]),
    /// A whole number up to this.
    UpTo(usize),
    /// Whatever the policy makes of it.
    Free,
}

/// What happens to a job that used up its own level's limit: for every policy whose jobs have limits.
pub const EXHAUSTION: OptionKey = OptionKey {
    name: "exhaustion",
    summary: "what happens to a job that used up its own level's limit",
    values: Values::OneOf(&["background", "abort", "continue"]),
};

/// How many queues of ready jobs there are under EDF-VD.
pub const QUEUES: OptionKey = OptionKey {
    name: "queues",
    summary: "how ready jobs are kept: in one queue, sorted anew when the mode rises, or in two, one for the modes \
              above 0; it changes no decision",
    values: Values::OneOf(&["1", "2"]),
};

/// Where arrivals are dispatched by the mechanism of Sigrist et al. (RTAS 2015, section VI): an option of real runs alone,
/// for the policies that it carries out.
pub const DISPATCHER: OptionKey = OptionKey {
    name: "dispatcher",
    summary: "with `run --mechanism sigrist2015`, where the thread that dispatches arrivals lives: on a CPU of the \
              workers, or on one of its own, the last of --cpus",
    values: Values::OneOf(&["shared", "own"]),
};

/// Who begins the sub-frames of a frame table by the mechanism of Sigrist et al. (RTAS 2015, section VI-A): an option of real
/// runs alone.
pub const SUB_FRAME_INIT: OptionKey = OptionKey {
    name: "sub-frame-init",
    summary: "with `run --mechanism sigrist2015`, who begins a sub-frame: the scheduler on all CPUs, or each CPU for \
              itself, so that jobs may start while others are not ready",
    values: Values::OneOf(&["global", "distributed"]),
};

/// How many jobs of a task may wait behind its current one: an option of all worlds, for every policy. The
/// largest number is what a real run sets room aside for beforehand.
pub const BACKLOG: OptionKey = OptionKey {
    name: "backlog",
    summary: "how many jobs of a task may wait behind its current one; without it any number",
    values: Values::UpTo(65_535),
};

/// Options with their values, checked; the last of several values counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(Vec<(String, String)>);

impl Options {
    /// The options `given`, if all of them are among `known` and have one of their values.
    ///
    /// # Errors
    /// A key that is unknown, with a guess; a value that it does not have.
    pub fn read(given: &[(String, String)], known: &[OptionKey]) -> Result<Self, Refusal> {
        for (key, value) in given {
            let Some(option) = known.iter().find(|option| option.name == key) else {
                let refusal = Refusal::input(format!("no option is called `{key}`"));
                let names = known.iter().map(|option| option.name);
                let refusal = match vestal_workload::diagnostic::nearest(key, names) {
                    Some(name) => refusal.with_help(format!("did you mean `{name}`?")),
                    None => refusal,
                };
                return Err(refusal.with_help(all(known)));
            };
            match option.values {
                Values::OneOf(values) if !values.contains(&value.as_str()) => {
                    let why = format!("`{value}` is no value of `{key}`");
                    return Err(Refusal::input(why).with_help(all(known)));
                }
                Values::UpTo(most) if value.parse().map_or(true, |number: usize| number > most) => {
                    let why = format!("`{value}` is no whole number from 0 to {most}");
                    let help = format!("`{key}`: {}", option.summary);
                    return Err(Refusal::input(why).with_help(help));
                }
                Values::OneOf(_) | Values::UpTo(_) | Values::Free => {}
            }
        }
        Ok(Self(given.to_vec()))
    }

    /// Everything that was given, in the order in which it was.
    #[must_use]
    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// The value that was given for an option.
    #[must_use]
    pub fn given(&self, option: &OptionKey) -> Option<&str> {
        let mut pairs = self.0.iter().rev();
        pairs
            .find(|(key, _)| key == option.name)
            .map(|(_, value)| value.as_str())
    }

    /// The value of an option: the one that was given, else the first of those that it has.
    #[must_use]
    pub fn value(&self, option: &OptionKey) -> &str {
        let first = match option.values {
            Values::OneOf(values) => values.first().copied(),
            Values::UpTo(_) | Values::Free => None,
        };
        self.given(option).or(first).unwrap_or_default()
    }

    /// The same with another value of an option.
    #[must_use]
    pub(crate) fn with(&self, option: &OptionKey, value: String) -> Self {
        let others = self.0.iter().filter(|(key, _)| key != option.name);
        let mut pairs: Vec<_> = others.cloned().collect();
        pairs.push((option.name.to_owned(), value));
        Self(pairs)
    }

    /// The number given for an option.
    #[must_use]
    pub fn number(&self, option: &OptionKey) -> Option<usize> {
        self.given(option)?.parse().ok()
    }

    /// The value of [`QUEUES`].
    #[must_use]
    pub fn queues(&self) -> DeadlineQueues {
        match self.value(&QUEUES) {
            "2" => DeadlineQueues::Two,
            _ => DeadlineQueues::One,
        }
    }

    /// Whether the value of [`DISPATCHER`] is a CPU of its own.
    #[must_use]
    pub fn has_own_dispatcher(&self) -> bool {
        self.value(&DISPATCHER) == "own"
    }

    /// Whether by the value of [`SUB_FRAME_INIT`] each CPU begins its sub-frames for itself.
    #[must_use]
    pub fn is_distributed(&self) -> bool {
        self.value(&SUB_FRAME_INIT) == "distributed"
    }

    /// The value of [`EXHAUSTION`].
    #[must_use]
    pub fn exhaustion(&self) -> Exhaustion {
        match self.value(&EXHAUSTION) {
            "abort" => Exhaustion::Abort,
            "continue" => Exhaustion::Continue,
            _ => Exhaustion::Background,
        }
    }
}

/// `key=a|b|c` for each option that there is.
fn all(known: &[OptionKey]) -> String {
    let option = |option: &OptionKey| {
        let values = match option.values {
            Values::OneOf(values) => values.join("|"),
            Values::UpTo(_) => "N".to_owned(),
            Values::Free => "...".to_owned(),
        };
        format!("{}={values}", option.name)
    };
    let all: Vec<String> = known.iter().map(option).collect();
    format!("this version knows: {}", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIVISOR: OptionKey = OptionKey {
        name: "divisor",
        summary: "by which deadlines are divided",
        values: Values::Free,
    };

    fn read(options: &[(&str, &str)]) -> Result<Options, Refusal> {
        let given = options
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Options::read(&given.collect::<Vec<_>>(), &[EXHAUSTION, BACKLOG, DIVISOR])
    }

    #[test]
    fn options_are_read_and_unknown_ones_list_the_known() {
        assert_eq!(read(&[]).unwrap().exhaustion(), Exhaustion::Background);
        let both = read(&[("divisor", "3"), ("exhaustion", "abort")]).unwrap();
        assert_eq!(both.exhaustion(), Exhaustion::Abort);
        assert_eq!(both.given(&DIVISOR), Some("3"));
        let refusal = read(&[("exhaustio", "abort")]).unwrap_err();
        let helps = |text: &str| refusal.help.iter().any(|help| help.contains(text));
        assert!(helps("background|abort|continue") && helps("divisor=..."));
        assert!(helps("did you mean `exhaustion`"));
        assert!(read(&[("exhaustion", "never")]).is_err());
    }

    #[test]
    fn a_backlog_is_a_whole_number_that_a_real_run_can_set_aside() {
        let backlog = |value| Some(read(&[("backlog", value)]).ok()?.number(&BACKLOG));
        assert_eq!(read(&[]).unwrap().number(&BACKLOG), None);
        assert_eq!(backlog("0"), Some(Some(0)));
        assert_eq!(backlog("65535"), Some(Some(65_535)));
        for wrong in ["65536", "-1", "four", ""] {
            assert_eq!(backlog(wrong), None, "{wrong}");
        }
    }
}
