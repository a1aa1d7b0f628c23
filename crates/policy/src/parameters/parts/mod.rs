//! Parameters that are more than a value for each task: what stands in files, and what is wrong with it.
//!
//! A room for each: who runs where (`some_tasks`), slots (`tables`), frames with their barriers (`frames`) and
//! servers (`servers`), each with its reader and its writer.

mod frames;
mod servers;
mod some_tasks;
mod tables;

use super::read::File;
use serde_json::Value as Json;
use vestal_analysis::Parameters;
use vestal_analysis::parameters::{Parameter, Row, Shape, Values};
use vestal_core::{Level, TaskId};
use vestal_workload::TaskSet;
use vestal_workload::codes;
use vestal_workload::diagnostic::{did_you_mean, one_of, quote};
use vestal_workload::document::{Entry, Fields, Node, Value};
use vestal_workload::source::Span;

/// The value of a parameter; `before` are those that stand before it in the table of parameters.
pub(super) fn read(
    file: &mut File<'_>,
    row: &Row,
    node: &Node<'_>,
    before: &Parameters,
) -> Option<Values> {
    let is = |parameter| row.parameter == parameter;
    match () {
        () if is(Parameter::Partition) => some_tasks::read_cpus(file, row, node).map(Values::Cpus),
        () if is(Parameter::Tables) => tables::read(file, node).map(Values::Tables),
        () if is(Parameter::Frames) => frames::read(file, node).map(Values::Frames),
        () if is(Parameter::Barriers) => {
            let frames = before.frames.as_ref().map(|map| map.frames());
            frames::read_barriers(file, node, frames).map(Values::Barriers)
        }
        () if is(Parameter::Servers) => servers::read(file, node).map(Values::Servers),
        () if row.shape == Shape::SomeTasks => {
            some_tasks::read_times(file, row, node).map(Values::SomeTimes)
        }
        () => None,
    }
}

/// The same value as it stands in a file; `None` for one that is not such a part.
pub(super) fn write(values: &Values, set: &TaskSet) -> Option<Json> {
    match values {
        Values::Cpus(cpus) => Some(some_tasks::write_cpus(cpus, set)),
        Values::SomeTimes(times) => Some(some_tasks::write_times(times, set)),
        Values::Tables(tables) => Some(tables::write(tables, set)),
        Values::Frames(map) => Some(frames::write(map, set)),
        Values::Barriers(barriers) => Some(frames::write_barriers(barriers, set)),
        Values::Servers(servers) => Some(servers::write(servers, set)),
        Values::Numbers(_) | Values::Times(_) | Values::Lists(_) | Values::Fraction(_) => None,
    }
}

/// The name of a task; a part never speaks of one that the set does not have.
fn task_name(task: TaskId, set: &TaskSet) -> Json {
    let name = set.tasks.get(task.index()).map(|task| task.name.as_str());
    name.unwrap_or_default().into()
}

/// A table for each name of a list, in its order.
fn by_name<'a>(
    names: impl Iterator<Item = &'a String>,
    values: impl Iterator<Item = Json>,
) -> Json {
    Json::Object(names.cloned().zip(values).collect())
}

impl File<'_> {
    /// Something inside a part that does not fit together.
    fn misfit(
        &mut self,
        span: Span,
        field: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) {
        let help = "use the parameters of this task set, or let an analysis compute them";
        let sink = &mut self.reader.sink;
        sink.error(codes::PARAMETER_PART, span, field, found, expected, help);
    }

    /// The value of a key that has to be there.
    fn require<'n>(&mut self, fields: &Fields<'n>, key: &str) -> Option<&'n Node<'n>> {
        let node = fields.get(key);
        if node.is_none() {
            let field = format!("{}.{key}", fields.path);
            let (code, found) = (codes::MISSING_KEY, "no such key");
            let (expected, help) = (format!("`{key}`"), format!("add `{key}`"));
            let sink = &mut self.reader.sink;
            sink.error(code, fields.span, &field, found, expected, help);
        }
        node
    }

    /// The entries of a table.
    fn entries<'n>(
        &mut self,
        node: &'n Node<'n>,
        field: &str,
        expected: &str,
        example: &str,
    ) -> Option<&'n [Entry<'n>]> {
        if let Value::Table(entries) = &node.value {
            return Some(entries);
        }
        self.reader
            .wrong_type(node, field, expected, &format!("write `{example}`"));
        None
    }

    /// The task of a name.
    fn task(&mut self, node: &Node<'_>, field: &str) -> Option<TaskId> {
        let name = self.reader.text(node, field)?;
        let found = self.set.task_index(name);
        if found.is_none() {
            let names = || self.set.tasks.iter().map(|task| task.name.as_str());
            let expected = format!("a task of the set: {}", one_of(names()));
            let help = did_you_mean(name, names(), "use the parameters of this task set");
            let (code, found) = (codes::PARAMETER_UNKNOWN_TASK, quote(name));
            let sink = &mut self.reader.sink;
            sink.error(code, node.span, field, found, expected, help);
        }
        u16::try_from(found?).ok().map(TaskId)
    }

    /// A value for each of the first `wanted` levels, by their names, in the order of the levels.
    fn each_level<'n, T>(
        &mut self,
        (node, field): (&'n Node<'n>, &str),
        wanted: usize,
        mut read: impl FnMut(&mut Self, Level, (&'n Node<'n>, &str)) -> Option<T>,
    ) -> Option<Vec<T>> {
        let entries = self.entries(node, field, "a table from level", "{ LO = ... }")?;
        let mut found: Vec<Option<T>> = Vec::new();
        found.resize_with(self.reader.levels.len(), || None);
        let mut given = Vec::new();
        for entry in entries {
            let field = format!("{field}.{}", entry.key);
            let Some(level) = self.reader.level_of(&entry.key, entry.key_span, &field) else {
                continue;
            };
            if level.index() >= wanted {
                let expected = format!("one of {}", self.first_levels(wanted));
                self.misfit(entry.key_span, &field, quote(&entry.key), expected);
                continue;
            }
            given.push(level.index());
            if let Some(place) = found.get_mut(level.index()) {
                *place = read(self, level, (&entry.node, &field));
            }
        }
        if given.len() < wanted {
            let found = one_of(entries.iter().map(|entry| &*entry.key));
            let expected = format!("a value for each of {}", self.first_levels(wanted));
            self.misfit(node.span, field, found, expected);
        }
        found.truncate(wanted);
        found.into_iter().collect()
    }

    fn first_levels(&self, count: usize) -> String {
        one_of(self.reader.levels.iter().take(count).map(String::as_str))
    }
}
