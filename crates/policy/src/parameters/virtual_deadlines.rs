//! The part `deadline_factor`: a single number instead of a virtual deadline for each task (EDF-VD).

use vestal_analysis::{Parameters, Ratio};
use vestal_core::{Duration, Level};
use vestal_workload::TaskSet;
use vestal_workload::codes;
use vestal_workload::diagnostic::quote;
use vestal_workload::document::{Node, Reader, Value};
use vestal_workload::quantity::time_text;

const FIELD: &str = "deadline_factor";

/// A fraction above 0 and at most 1, written as `"3/5"` or as a decimal.
pub(super) fn factor(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<Ratio> {
    let ratio = if let Value::Text(text) = &node.value {
        let ratio = text
            .split_once('/')
            .and_then(|(num, den)| vestal_workload::Ratio::new(digits(num)?, digits(den)?))
            .filter(|ratio| ratio.numerator() > 0 && ratio.is_at_most_one());
        if ratio.is_none() {
            let expected = "a fraction above 0 and at most 1, such as \"3/5\"";
            let help =
                "write two whole numbers with a slash between them, or a decimal without quotes";
            let (code, found) = (codes::BAD_FRACTION, quote(text));
            reader
                .sink
                .error(code, node.span, field, found, expected, help);
        }
        ratio
    } else {
        reader.fraction(node, field)
    };
    ratio.map(|ratio| Ratio {
        numerator: ratio.numerator(),
        denominator: ratio.denominator(),
    })
}

/// A whole number of digits alone; a sign is none.
fn digits(text: &str) -> Option<u64> {
    let fine = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    fine.then(|| text.parse().ok())?
}

/// Where virtual deadlines are given too, both have to say the same; else they are those that the factor
/// makes, rounded down to whole nanoseconds. It has to leave something of each deadline.
pub(super) fn by_factor(
    found: &mut Parameters,
    set: &TaskSet,
    node: &Node<'_>,
    reader: &mut Reader<'_>,
) {
    let Some(factor) = found.deadline_factor else {
        return;
    };
    let text = format!("{}/{}", factor.numerator, factor.denominator);
    let short = shortened_floor(set, factor);
    let given = found.virtual_deadlines.get_or_insert_with(|| short.clone());
    for ((task, short), given) in set.tasks.iter().zip(&short).zip(given.iter()) {
        let trouble = if given != short {
            (
                codes::FACTOR_DISAGREES,
                format!(
                    "{text}, which makes {} of the deadline of {}",
                    time_text(short.as_nanos()),
                    quote(&task.name)
                ),
                format!(
                    "what `virtual_deadlines` gives it, {}",
                    time_text(given.as_nanos())
                ),
                "remove one of the two; the virtual deadlines alone are enough",
            )
        } else if short.is_zero() {
            (
                codes::NOT_POSITIVE,
                format!(
                    "{text}, which leaves nothing of the deadline of {}",
                    quote(&task.name)
                ),
                "a factor that leaves every task at least one nanosecond".to_owned(),
                "use a larger factor, or give `virtual_deadlines`",
            )
        } else {
            continue;
        };
        let (code, found, expected, help) = trouble;
        reader
            .sink
            .error(code, node.span, FIELD, found, expected, help);
        return;
    }
}

/// floor(x D_i) for tasks above the lowest level, D_i for the others.
fn shortened_floor(set: &TaskSet, factor: Ratio) -> Vec<Duration> {
    let of = |criticality: Level, deadline: Duration| {
        if criticality == Level::LOWEST {
            return deadline;
        }
        let product = u128::from(deadline.as_nanos()) * u128::from(factor.numerator);
        let nanos = product / u128::from(factor.denominator.max(1));
        u64::try_from(nanos).map_or(deadline, |nanos| deadline.min(Duration::from_nanos(nanos)))
    };
    let tasks = set.tasks.iter();
    tasks
        .map(|task| of(task.criticality, task.deadline))
        .collect()
}
