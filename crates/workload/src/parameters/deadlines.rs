//! The parts `virtual_deadlines` and `deadline_factor`: when jobs count as due in mode 0 (EDF-VD).

use super::{in_task_order, named_by_all, unknown_names};
use crate::codes;
use crate::diagnostic::quote;
use crate::model::TaskSet;
use crate::number::Ratio;
use crate::quantity::time_text;
use crate::read::fields::Reader;
use crate::tree::{Node, Value};
use vestal_core::{Duration, Level};

/// A relative virtual deadline for each task: above zero, at most the task's deadline.
pub(super) fn virtual_deadlines(
    node: &Node,
    set: &TaskSet,
    reader: &mut Reader<'_>,
) -> Vec<(String, Duration)> {
    const FIELD: &str = "virtual_deadlines";
    let Value::Table(entries) = &node.value else {
        let help = "write `{ \"task\": \"6ms\" }`";
        reader.wrong_type(node, FIELD, "a table from task name to time", help);
        return Vec::new();
    };
    unknown_names(entries, FIELD, set, reader);
    let expected = "a virtual deadline for every task of the set";
    let help = "add the tasks; one that keeps its deadline gets that as its virtual one";
    named_by_all(node, entries, (FIELD, expected, help), set, reader);
    let mut given = Vec::with_capacity(set.tasks.len());
    for entry in entries {
        let field = format!("{FIELD}.{}", entry.key);
        let Some(nanos) = reader.positive_time(&entry.node, &field) else {
            continue;
        };
        let Some(task) = set.tasks.iter().find(|task| task.name == entry.key) else {
            continue;
        };
        if nanos > task.deadline.as_nanos() {
            reader.sink.error(
                codes::VIRTUAL_DEADLINE_TOO_LONG,
                entry.node.span,
                &field,
                time_text(nanos),
                format!(
                    "at most {}, the deadline of {}",
                    time_text(task.deadline.as_nanos()),
                    quote(&task.name)
                ),
                "give the time from the release; a virtual deadline never comes after the real one",
            );
        }
        given.push((entry.key.clone(), Duration::from_nanos(nanos)));
    }
    in_task_order(set, &given)
}

/// A fraction above 0 and at most 1, written as `"3/5"` or as a decimal.
pub(super) fn deadline_factor(node: &Node, reader: &mut Reader<'_>) -> Option<Ratio> {
    const FIELD: &str = "deadline_factor";
    let Value::Text(text) = &node.value else {
        return reader.fraction(node, FIELD);
    };
    let ratio = text
        .split_once('/')
        .and_then(|(num, den)| Ratio::new(digits(num)?, digits(den)?))
        .filter(|ratio| ratio.numerator() > 0 && ratio.is_at_most_one());
    if ratio.is_none() {
        reader.sink.error(
            codes::BAD_FRACTION,
            node.span,
            FIELD,
            quote(text),
            "a fraction above 0 and at most 1, such as \"3/5\"",
            "write two whole numbers with a slash between them, or a decimal without quotes",
        );
    }
    ratio
}

/// A whole number of digits alone; a sign is none.
fn digits(text: &str) -> Option<u64> {
    let fine = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    fine.then(|| text.parse().ok())?
}

/// The factor as files write it.
pub(super) fn factor_text(factor: Ratio) -> String {
    format!("{}/{}", factor.numerator(), factor.denominator())
}

/// floor(x D_i) for tasks above the lowest level, D_i for the others.
pub(super) fn shortened_floor(set: &TaskSet, factor: Ratio) -> Vec<Duration> {
    let of = |criticality: Level, deadline: Duration| {
        if criticality == Level::LOWEST {
            return deadline;
        }
        let product = u128::from(deadline.as_nanos()) * u128::from(factor.numerator());
        let nanos = product / u128::from(factor.denominator().max(1));
        u64::try_from(nanos).map_or(deadline, |nanos| deadline.min(Duration::from_nanos(nanos)))
    };
    let tasks = set.tasks.iter();
    tasks
        .map(|task| of(task.criticality, task.deadline))
        .collect()
}

/// The factor has to be one that deadlines of this set can be shortened by; and where the virtual
/// deadlines are given too, both have to say the same.
pub(super) fn check_factor(
    node: &Node,
    factor: Ratio,
    given: Option<&[(String, Duration)]>,
    set: &TaskSet,
    reader: &mut Reader<'_>,
) {
    const FIELD: &str = "deadline_factor";
    for (task, short) in set.tasks.iter().zip(shortened_floor(set, factor)) {
        let given = given.and_then(|all| all.iter().find(|(name, _)| *name == task.name));
        if let Some((_, given)) = given
            && *given != short
        {
            reader.sink.error(
                codes::FACTOR_DISAGREES,
                node.span,
                FIELD,
                format!(
                    "{}, which makes {} of the deadline of {}",
                    factor_text(factor),
                    time_text(short.as_nanos()),
                    quote(&task.name)
                ),
                format!(
                    "what `virtual_deadlines` gives it, {}",
                    time_text(given.as_nanos())
                ),
                "remove one of the two; the virtual deadlines alone are enough",
            );
            return;
        }
        if given.is_none() && short.is_zero() {
            reader.sink.error(
                codes::NOT_POSITIVE,
                node.span,
                FIELD,
                format!(
                    "{}, which leaves nothing of the deadline of {}",
                    factor_text(factor),
                    quote(&task.name)
                ),
                "a factor that leaves every task at least one nanosecond",
                "use a larger factor, or give `virtual_deadlines`",
            );
            return;
        }
    }
}
