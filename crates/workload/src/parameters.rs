//! Parameters files: what an analysis chose, to be used again instead of computed.

use crate::codes;
use crate::diagnostic::{Diagnostics, Sink, did_you_mean, one_of, quote};
use crate::model::TaskSet;
use crate::read::fields::{Fields, Reader};
use crate::source::{Source, Span};
use crate::tree::{self, Node, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use vestal_core::TaskId;

/// The version of the parameters format.
const FORMAT: &str = "vestal-parameters/1";

/// The parts of the format that this version neither computes nor uses.
const LATER: [&str; 11] = [
    "partition",
    "virtual_deadlines",
    "zero_slack",
    "slices",
    "job_priorities",
    "patterns",
    "tables",
    "frames",
    "servers",
    "tardiness",
    "barriers",
];

/// What an analysis chose. Every part is optional: a test gives what it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// The name of each task with its priority; larger is more urgent.
    pub priorities: Option<Vec<(String, u32)>>,
}

impl Parameters {
    /// Parameters that give the tasks of `set` these priorities, in the order of its tasks.
    #[must_use]
    pub fn with_priorities(set: &TaskSet, priorities: &[u32]) -> Self {
        let named = set.tasks.iter().zip(priorities);
        Self {
            priorities: Some(
                named
                    .map(|(task, &priority)| (task.name.clone(), priority))
                    .collect(),
            ),
        }
    }

    /// Reads a parameters file (JSON, or TOML of the same shape) and checks it against `set`.
    ///
    /// # Errors
    /// All that is wrong with the file, or with it for this set: names that the set does not have,
    /// tasks without priority, equal priorities, parts that this version does not use.
    pub fn parse(source: &Arc<Source>, set: &TaskSet) -> Result<Self, Diagnostics> {
        let mut sink = Sink::new(Arc::clone(source));
        let parameters =
            tree::parse(source, &mut sink).and_then(|root| read(&root, set, &mut sink));
        let rest = sink.into_result()?;
        parameters.ok_or_else(|| Diagnostics::from_list(Arc::clone(source), rest))
    }

    /// The `parameters` object of a result: the parts that are given.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let mut object = serde_json::Map::new();
        if let Some(priorities) = &self.priorities {
            let named = priorities
                .iter()
                .map(|(name, priority)| (name.clone(), (*priority).into()));
            object.insert(
                "priorities".to_owned(),
                serde_json::Value::Object(named.collect()),
            );
        }
        serde_json::Value::Object(object)
    }

    /// The text of a parameters file, as `analyze --emit` writes it.
    #[must_use]
    pub fn to_file(&self) -> String {
        let mut object = serde_json::Map::new();
        object.insert("format".to_owned(), FORMAT.into());
        if let serde_json::Value::Object(parts) = self.to_json() {
            object.extend(parts);
        }
        format!("{:#}\n", serde_json::Value::Object(object))
    }

    /// The tasks of `set`, the most urgent one first; `None` without priorities or if a task has
    /// none.
    #[must_use]
    pub fn priority_order(&self, set: &TaskSet) -> Option<Vec<TaskId>> {
        let priorities: BTreeMap<&str, u32> = self
            .priorities
            .as_ref()?
            .iter()
            .map(|(name, priority)| (name.as_str(), *priority))
            .collect();
        let mut order = Vec::with_capacity(set.tasks.len());
        for (index, task) in set.tasks.iter().enumerate() {
            order.push((
                *priorities.get(task.name.as_str())?,
                TaskId(u16::try_from(index).ok()?),
            ));
        }
        order.sort_by_key(|&(priority, task)| (std::cmp::Reverse(priority), task));
        Some(order.into_iter().map(|(_, task)| task).collect())
    }
}

fn read(root: &Node, set: &TaskSet, sink: &mut Sink) -> Option<Parameters> {
    let mut reader = Reader {
        sink,
        unit: set.unit,
        levels: set.levels.clone(),
    };
    let known: Vec<&str> = ["format", "priorities"].into_iter().chain(LATER).collect();
    let mut top = Fields::open(root, String::new(), &known, &mut reader)?;
    top.span = Span::default();
    if let Some(node) = top.get("format")
        && let Some(text) = reader.text(node, "format")
        && text != FORMAT
    {
        let help = format!("use a file that `analyze --emit` wrote, with format `{FORMAT}`");
        reader.sink.error(
            codes::WRONG_FORMAT,
            node.span,
            "format",
            quote(text),
            quote(FORMAT),
            help,
        );
    }
    for key in LATER {
        if let Some(entry) = top.entry(key) {
            reader.sink.error(
                codes::PARAMETER_NOT_IN_VERSION,
                entry.key_span,
                key,
                quote(key),
                "`priorities`, the only part that this version uses",
                "remove it, or use the version that wrote the file",
            );
        }
    }
    let priorities = top
        .get("priorities")
        .map(|node| priorities(node, set, &mut reader));
    Some(Parameters { priorities })
}

fn priorities(node: &Node, set: &TaskSet, reader: &mut Reader<'_>) -> Vec<(String, u32)> {
    let Value::Table(entries) = &node.value else {
        reader.wrong_type(
            node,
            "priorities",
            "a table from task name to priority",
            "write `{ \"task\": 1 }`",
        );
        return Vec::new();
    };
    let names: Vec<&str> = set.tasks.iter().map(|task| task.name.as_str()).collect();
    let mut given: BTreeMap<&str, u32> = BTreeMap::new();
    let mut owners: BTreeMap<u32, &str> = BTreeMap::new();
    for entry in entries {
        let field = format!("priorities.{}", entry.key);
        if !names.contains(&entry.key.as_str()) {
            let help = did_you_mean(
                &entry.key,
                names.iter().copied(),
                "use the parameters of this task set",
            );
            let expected = format!("a task of the set: {}", one_of(names.iter().copied()));
            let found = quote(&entry.key);
            reader.sink.error(
                codes::PARAMETER_UNKNOWN_TASK,
                entry.key_span,
                &field,
                found,
                expected,
                help,
            );
        }
        let value = reader.whole(&entry.node, &field, 0, u64::from(u32::MAX));
        let Some(value) = value.and_then(|value| u32::try_from(value).ok()) else {
            continue;
        };
        if let Some(other) = owners.insert(value, &entry.key) {
            reader.sink.error(
                codes::PRIORITY_TWICE,
                entry.node.span,
                &field,
                format!("{value}, which {} has too", quote(other)),
                "a priority that no other task has",
                "give every task a priority of its own; larger is more urgent",
            );
        }
        given.insert(&entry.key, value);
    }
    let missing = names
        .iter()
        .copied()
        .filter(|name| !entries.iter().any(|entry| entry.key == *name));
    let missing: Vec<&str> = missing.collect();
    if !missing.is_empty() {
        reader.sink.error(
            codes::PARAMETER_TASK_MISSING,
            node.span,
            "priorities",
            format!("nothing for {}", one_of(missing)),
            "a priority for every task of the set",
            "add the tasks, or let the policy assign the priorities",
        );
    }
    names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), *given.get(name)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::SCENARIO_SET;

    #[test]
    fn what_was_written_is_read_back_and_orders_the_tasks() {
        let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
        let parameters = Parameters::with_priorities(&set, &[1, 7]);
        let source = Source::new("p.json", &parameters.to_file());
        assert_eq!(Parameters::parse(&source, &set).unwrap(), parameters);
        assert_eq!(
            parameters.priority_order(&set),
            Some(vec![TaskId(1), TaskId(0)])
        );
        let toml = Source::new("p.toml", "[priorities]\ncontrol = 1\ndisplay = 7\n");
        assert_eq!(Parameters::parse(&toml, &set).unwrap(), parameters);
        let nothing = Source::new("p.json", "{}");
        assert_eq!(
            Parameters::parse(&nothing, &set).unwrap(),
            Parameters::default()
        );
    }

    #[test]
    fn everything_wrong_is_reported_together() {
        let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
        let text = "{ \"priorities\": { \"contol\": 1, \"display\": 1 },\n  \"partition\": {}, \"colour\": 1 }";
        let error = Parameters::parse(&Source::new("p.json", text), &set).unwrap_err();
        let mut found: Vec<_> = error
            .list()
            .iter()
            .map(|diagnostic| diagnostic.code)
            .collect();
        found.sort();
        assert_eq!(
            found,
            [
                codes::UNKNOWN_KEY,
                codes::PARAMETER_UNKNOWN_TASK,
                codes::PARAMETER_TASK_MISSING,
                codes::PRIORITY_TWICE,
                codes::PARAMETER_NOT_IN_VERSION
            ]
        );
        assert!(error.to_string().contains("did you mean `control`?"));
    }
}
