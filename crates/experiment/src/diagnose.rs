//! What is wrong with an experiment, as diagnostics.

use std::ops::Range;
use std::sync::Arc;
use vestal_workload::codes;
use vestal_workload::diagnostic::{Sink, did_you_mean};
use vestal_workload::generate::ParameterError;
use vestal_workload::source::Span;
use vestal_workload::{Diagnostics, Source};

/// A single `V0700` about an experiment file.
pub(crate) fn problem(
    source: &Arc<Source>,
    span: Option<Range<usize>>,
    field: &str,
    found: String,
    expected: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostics {
    let span = span.map_or(Span::default(), |span| Span::new(span.start, span.end));
    let mut sink = Sink::new(Arc::clone(source));
    sink.error(codes::EXPERIMENT, span, field, found, expected, help);
    match sink.into_result() {
        Err(found) => found,
        Ok(list) => Diagnostics::from_list(Arc::clone(source), list),
    }
}

/// The same for a parameter that the recipe refused.
pub(crate) fn parameter(
    source: &Arc<Source>,
    span: Range<usize>,
    name: &str,
    text: &str,
    error: &ParameterError,
) -> Diagnostics {
    let usual = "the parameters are those of the recipe; docs/experiments.md lists them";
    let (found, expected, help) = match error {
        ParameterError::Unknown { known, .. } => (
            format!("`{name}`"),
            format!("one of {}", known.join(", ")),
            did_you_mean(name, known.iter().copied(), usual),
        ),
        ParameterError::Value { expected, .. } => {
            (format!("`{text}`"), expected.clone(), usual.to_owned())
        }
    };
    problem(source, Some(span), name, found, expected, help)
}

/// What helps about a file that cannot be read: of an unknown key the reader says which ones there are.
pub(crate) fn unreadable(message: &str, usual: &str) -> String {
    let Some(rest) = message.strip_prefix("unknown field ") else {
        return usual.to_owned();
    };
    let mut words = rest.split('`').skip(1).step_by(2);
    let found = words.next().unwrap_or_default();
    did_you_mean(found, words, usual)
}

#[cfg(test)]
mod tests {
    use crate::Experiment;
    use vestal_workload::Source;

    #[test]
    fn a_word_that_is_nearly_known_gets_a_guess_and_another_one_gets_none() {
        let file = |recipe: &str, rest: &str| {
            format!(
                "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"{recipe}\"\nsets = 3\ntests = [\"smc\"]\n{rest}"
            )
        };
        let simulate = "[[simulate]]\npolicy = \"amc\"\nfor = \"1s\"\n";
        let measure = "[[measure]]\nwhat = \"miss-ratio\"\npolicy = \"amc\"\nfor = \"1s\"\n";
        let cases = [
            (file("standart", ""), Some("standard")),
            (file("x", ""), None),
            (
                file("standard", "weigth_by = \"tasks\"\n"),
                Some("weight_by"),
            ),
            (file("standard", "zzz = 1\n"), None),
            (
                file("standard", &format!("{simulate}scenaro = \"hi\"\n")),
                Some("scenario"),
            ),
            (
                file("standard", &format!("{measure}polcy = \"amc\"\n")),
                Some("policy"),
            ),
            (
                file("standard", "[vary]\nutilisation = [0.5]\n"),
                Some("utilization"),
            ),
            (file("standard", "[fixed]\ntask = 3\n"), Some("tasks")),
            (file("standard", "[fixed]\nzzz = 3\n"), None),
        ];
        for (text, wanted) in cases {
            let error = Experiment::parse(&Source::new("x.toml", &text)).unwrap_err();
            let help = &error.list()[0].help;
            match wanted {
                Some(word) => assert_eq!(*help, format!("did you mean `{word}`?"), "{text}"),
                None => assert!(
                    !help.contains("did you mean") && help.contains("experiments.md"),
                    "{text}: {help}"
                ),
            }
        }
    }
}
