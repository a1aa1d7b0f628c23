//! What several keys of a table together must fulfil.

use super::{JobTable, PerLevel, TaskTable};
use crate::codes;
use crate::diagnostic::quote;
use crate::quantity::time_text;
use crate::table::fields::{Fields, Reader, join, value_span};
use crate::tree;
use vestal_core::{Level, Service};

pub(crate) fn task(task: &TaskTable, fields: &Fields<'_>, reader: &mut Reader<'_>) {
    if let (Some(deadline), Some(period)) = (task.deadline, task.period)
        && deadline > period
    {
        reader.error(
            codes::DEADLINE_AFTER_PERIOD,
            fields.value("deadline"),
            time_text(deadline.as_nanos()),
            format!("at most the period, {}", time_text(period.as_nanos())),
            "lower the deadline or raise the period; a job must be due before the next one may come",
        );
    }
    wcet(task.wcet.as_ref(), task.criticality, fields, reader);
    degraded(task.degraded.as_ref(), task.criticality, fields, reader);
    if let (Some(values), Some(node)) = (&task.accesses, fields.get("accesses")) {
        reader.not_falling(values, (node, &fields.field("accesses")), |count| {
            count.to_string()
        });
    }
    io_order(task.wcet.as_ref(), fields, reader);
}

pub(crate) fn job(job: &JobTable, fields: &Fields<'_>, reader: &mut Reader<'_>) {
    wcet(job.wcet.as_ref(), job.criticality, fields, reader);
    if let (Some(release), Some(deadline)) = (job.release, job.deadline)
        && deadline <= release
    {
        reader.error(
            codes::DEADLINE_BEFORE_RELEASE,
            fields.value("deadline"),
            time_text(deadline.as_nanos()),
            format!(
                "an instant after the release, {}",
                time_text(release.as_nanos())
            ),
            "the deadline of a job is an instant on the same clock as its release, not a distance",
        );
    }
}

/// Never falling with the level, and positive at the own level if there is a value.
fn wcet(
    values: Option<&PerLevel<Service>>,
    own: Option<Level>,
    fields: &Fields<'_>,
    reader: &mut Reader<'_>,
) {
    let (Some(values), Some(node)) = (values, fields.get("wcet")) else {
        return;
    };
    let field = fields.field("wcet");
    reader.not_falling(values, (node, &field), service_text);
    let Some(own) = own else { return };
    if values.get(own.index()) == Some(&Some(Service::ZERO)) {
        let name = reader.level_name(own.index());
        reader.error(
            codes::NOT_POSITIVE,
            (value_span(node, &name), join(&field, &name)),
            "zero",
            "a time above zero at the own level",
            "give the worst-case execution time, or remove the task",
        );
    }
}

pub(super) fn service_text(value: Service) -> String {
    time_text(value.as_nanos())
}

/// A value for a mode that cannot take effect is only worth a warning.
pub(super) fn degraded(
    values: Option<&PerLevel<Service>>,
    own: Option<Level>,
    fields: &Fields<'_>,
    reader: &mut Reader<'_>,
) {
    let (Some(values), Some(own), Some(node)) = (values, own, fields.get("degraded")) else {
        return;
    };
    let own_name = reader.level_name(own.index());
    for (at, _) in (0..=own.index()).zip(values).filter(|(_, v)| v.is_some()) {
        let name = reader.level_name(at);
        reader.sink.warning(
            codes::DEGRADED_WITHOUT_EFFECT,
            value_span(node, &name),
            &join(&fields.field("degraded"), &name),
            format!("a budget for mode {}", quote(&name)),
            format!(
                "budgets for modes above {}, the own level",
                quote(&own_name)
            ),
            "remove it: up to its own level a task always has its `wcet`",
        );
    }
}

/// The operations of a job come in the order of its execution, none after its end. Looks at the file itself, so
/// that one operation with another error does not hide what is wrong with the order.
fn io_order(wcet: Option<&PerLevel<Service>>, fields: &Fields<'_>, reader: &mut Reader<'_>) {
    let longest = wcet.and_then(|values| values.iter().flatten().max());
    let longest = longest.map(|longest| longest.as_nanos());
    let mut before = 0;
    let items = tree::items(fields.get("io"));
    for (index, item) in items.iter().enumerate() {
        let Some(node) = item.get("after") else {
            continue;
        };
        let Ok(after) = reader.time_of(node) else {
            continue;
        };
        if after < before || longest.is_some_and(|longest| after > longest) {
            let before = time_text(before);
            reader.error(
                codes::IO_ORDER,
                (node.span, format!("{}[{index}].after", fields.field("io"))),
                time_text(after),
                longest.map_or_else(
                    || format!("at least {before}"),
                    |longest| format!("from {before} to {}", time_text(longest)),
                ),
                "list the operations in the order of execution, none after the job's end (its largest `wcet`)",
            );
        }
        before = after;
    }
}
