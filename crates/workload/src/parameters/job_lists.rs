//! The parts `job_priorities`, `patterns` and `busy_periods`: fixed job priorities (PLRS).

use super::{named_by_all, unknown_names};
use crate::codes;
use crate::diagnostic::{one_of, quote};
use crate::model::{TaskSet, TaskSpec};
use crate::quantity::time_text;
use crate::read::fields::Reader;
use crate::tree::{Node, Value};
use std::collections::BTreeMap;
use vestal_core::Duration;

/// For each task the strictly falling priorities of its jobs in a busy period; no entry twice.
pub(super) fn job_priorities(
    node: &Node,
    set: &TaskSet,
    reader: &mut Reader<'_>,
) -> Vec<(String, Vec<u32>)> {
    const FIELD: &str = "job_priorities";
    let help = "write `{ \"task\": [7, 5, 2, 0] }`";
    let expected = "a list of job priorities for every task of the set";
    let given = lists_by_task(node, FIELD, (expected, help), set, reader);
    let mut owners: BTreeMap<u64, &str> = BTreeMap::new();
    let mut result = Vec::new();
    for (task, items) in &given {
        let field = format!("{FIELD}.{}", task.name);
        let mut list: Vec<u32> = Vec::new();
        for node in *items {
            let value = reader.whole(node, &field, 0, u64::from(u32::MAX) - 1);
            let Some(entry) = value.and_then(|value| u32::try_from(value).ok()) else {
                continue;
            };
            if let Some(&before) = list.last()
                && entry >= before
            {
                reader.sink.error(
                    codes::JOB_PRIORITIES_DO_NOT_FALL,
                    node.span,
                    &field,
                    format!("{entry} after {before}"),
                    "priorities that fall strictly from the first job of a busy period to the last",
                    "order the list; a later job of a task never goes before an earlier one",
                );
            } else if let Some(other) = owners.insert(entry.into(), &task.name) {
                reader.sink.error(
                    codes::JOB_PRIORITY_TWICE,
                    node.span,
                    &field,
                    format!("{entry}, which a job of {} has too", quote(other)),
                    "a priority that no other job has",
                    "give every job a priority of its own; larger is more urgent",
                );
            }
            list.push(entry);
        }
        result.push((task.name.clone(), list));
    }
    result
}

/// For each task how many of its jobs a busy period can contain before the mode exceeds each level up
/// to its own; as many as the list of `job_priorities` has entries at its own level.
pub(super) fn patterns(
    node: &Node,
    lists: Option<&[(String, Vec<u32>)]>,
    set: &TaskSet,
    reader: &mut Reader<'_>,
) -> Vec<(String, Vec<u64>)> {
    const FIELD: &str = "patterns";
    let help = "write `{ \"task\": [2, 4] }`, a number for each level";
    let expected = "numbers of jobs for every task of the set";
    let given = lists_by_task(node, FIELD, (expected, help), set, reader);
    let mut result = Vec::new();
    for (task, items) in given {
        let field = format!("{FIELD}.{}", task.name);
        let jobs = items
            .iter()
            .filter_map(|node| reader.whole(node, &field, 0, u64::from(u32::MAX)));
        let jobs: Vec<u64> = jobs.collect();
        let list = lists.and_then(|all| all.iter().find(|(name, _)| *name == task.name));
        let wanted = list.map(|(_, list)| u64::try_from(list.len()).unwrap_or(u64::MAX));
        let levels = task.criticality.index() + 1;
        let fits = jobs.len() == levels
            && jobs.is_sorted()
            && wanted.is_none_or(|wanted| jobs.last() == Some(&wanted));
        if !fits {
            let length = wanted.map_or_else(String::new, |wanted| {
                format!("; the last of them {wanted}, the length of its list in `job_priorities`")
            });
            let found: Vec<String> = jobs.iter().map(u64::to_string).collect();
            let found = one_of(found.iter().map(String::as_str));
            reader.sink.error(
                codes::PATTERN_DISAGREES,
                node_span(items, node),
                &field,
                found,
                format!(
                    "{levels} numbers that never fall, one for each level up to the task's own{length}"
                ),
                "use the parameters of this task set; `job_priorities` alone is enough",
            );
        }
        result.push((task.name.clone(), jobs));
    }
    result
}

/// For each level how long a busy period can be before the mode exceeds it.
pub(super) fn busy_periods(node: &Node, reader: &mut Reader<'_>) -> Vec<(String, Duration)> {
    const FIELD: &str = "busy_periods";
    let Value::Table(entries) = &node.value else {
        let help = "write `{ \"LO\": \"28ms\" }`";
        reader.wrong_type(node, FIELD, "a table from level to time", help);
        return Vec::new();
    };
    let mut given: Vec<Option<u64>> = vec![None; reader.levels.len()];
    for entry in entries {
        let field = format!("{FIELD}.{}", entry.key);
        let level = reader.level_of(&entry.key, entry.key_span, &field);
        let time = reader.time(&entry.node, &field);
        if let Some(place) = level.and_then(|level| given.get_mut(level.index())) {
            *place = time;
        }
    }
    let known: Vec<u64> = given.iter().copied().flatten().collect();
    if (known.len() < given.len() && entries.len() < given.len()) || !known.is_sorted() {
        let found: Vec<String> = known.iter().map(|&time| time_text(time)).collect();
        let found = found.iter().map(String::as_str);
        reader.sink.error(
            codes::BUSY_PERIODS_FALL,
            node.span,
            FIELD,
            one_of(found),
            "a time for each level, never falling from one level to the next",
            "use the parameters of this task set; they may also be left out",
        );
    }
    let levels = reader.levels.iter().zip(given);
    levels
        .filter_map(|(name, time)| Some((name.clone(), Duration::from_nanos(time?))))
        .collect()
}

/// The lists of a table from task name to list, in the order of the tasks.
fn lists_by_task<'n, 's>(
    node: &'n Node,
    part: &str,
    (expected, help): (&str, &str),
    set: &'s TaskSet,
    reader: &mut Reader<'_>,
) -> Vec<(&'s TaskSpec, &'n [Node])> {
    let Value::Table(entries) = &node.value else {
        reader.wrong_type(node, part, "a table from task name to list", help);
        return Vec::new();
    };
    unknown_names(entries, part, set, reader);
    let add = "add the tasks, or let the analysis choose";
    named_by_all(node, entries, (part, expected, add), set, reader);
    let mut given = Vec::with_capacity(set.tasks.len());
    for task in &set.tasks {
        let Some(entry) = entries.iter().find(|entry| entry.key == task.name) else {
            continue;
        };
        let field = format!("{part}.{}", task.name);
        if let Some(items) = reader.list(&entry.node, &field) {
            given.push((task, items));
        }
    }
    given
}

/// Where the first item stands; without one, the table.
fn node_span(items: &[Node], table: &Node) -> crate::source::Span {
    items.first().map_or(table.span, |node| node.span)
}
