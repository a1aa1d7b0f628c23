//! What is wrong with an experiment, as diagnostics.

use std::ops::Range;
use std::sync::Arc;
use vestal_workload::codes;
use vestal_workload::diagnostic::Sink;
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
    let (found, expected) = match error {
        ParameterError::Unknown { known, .. } => {
            (format!("`{name}`"), format!("one of {}", known.join(", ")))
        }
        ParameterError::Value { expected, .. } => (format!("`{text}`"), expected.clone()),
    };
    let help = "the parameters are those of the recipe; docs/experiments.md lists them";
    problem(source, Some(span), name, found, expected, help)
}
