//! Parameters files: what an analysis chose, to be used again instead of computed.

mod deadlines;

use crate::codes;
use crate::diagnostic::{Diagnostics, Sink, did_you_mean, one_of, quote};
use crate::model::TaskSet;
use crate::number::Ratio;
use crate::quantity::time_text;
use crate::read::fields::{Fields, Reader};
use crate::source::{Source, Span};
use crate::tree::{self, Entry, Node, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use vestal_core::{Duration, TaskId};

/// The version of the parameters format.
const FORMAT: &str = "vestal-parameters/1";

/// The parts of the format that this version computes and uses.
const USED: [&str; 3] = ["priorities", "virtual_deadlines", "deadline_factor"];

/// The parts of the format that this version neither computes nor uses.
const LATER: [&str; 10] = [
    "partition",
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
    /// The name of each task with the time from a release after which its job counts as due in mode
    /// 0 (EDF-VD); above zero and at most the task's deadline.
    pub virtual_deadlines: Option<Vec<(String, Duration)>>,
    /// The factor by which EDF-VD shortens the deadlines of tasks above the lowest level; above 0
    /// and at most 1.
    pub deadline_factor: Option<Ratio>,
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
            ..Self::default()
        }
    }

    /// The same with these virtual deadlines for the tasks of `set`, in the order of its tasks.
    #[must_use]
    pub fn and_virtual_deadlines(mut self, set: &TaskSet, deadlines: &[Duration]) -> Self {
        let named = set.tasks.iter().zip(deadlines);
        let named = named.map(|(task, &due)| (task.name.clone(), due));
        self.virtual_deadlines = Some(named.collect());
        self
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads a parameters file (JSON, or TOML of the same shape) and checks it against `set`.
    ///
    /// # Errors
    /// All that is wrong with the file, or with it for this set: names that the set does not have,
    /// tasks without priority, equal priorities, virtual deadlines that are no times, zero or after
    /// the real ones, a factor that is none or disagrees with them, parts that this version does not
    /// use.
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
        if let Some(deadlines) = &self.virtual_deadlines {
            let named = deadlines.iter();
            let named = named.map(|(name, due)| (name.clone(), time_text(due.as_nanos()).into()));
            object.insert(
                "virtual_deadlines".to_owned(),
                serde_json::Value::Object(named.collect()),
            );
        }
        if let Some(factor) = self.deadline_factor {
            let text = deadlines::factor_text(factor);
            object.insert("deadline_factor".to_owned(), text.into());
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

    /// The virtual deadlines in the order of the tasks of `set`: those given, or the deadlines
    /// shortened by the factor and rounded down to whole nanoseconds. `None` without either, or if
    /// a task has none.
    #[must_use]
    pub fn virtual_deadlines_of(&self, set: &TaskSet) -> Option<Vec<Duration>> {
        let Some(named) = &self.virtual_deadlines else {
            return Some(deadlines::shortened_floor(set, self.deadline_factor?));
        };
        let of = |name: &str| Some(named.iter().find(|(known, _)| known == name)?.1);
        set.tasks.iter().map(|task| of(&task.name)).collect()
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
    let known: Vec<&str> = ["format"].into_iter().chain(USED).chain(LATER).collect();
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
                format!("one of the parts that this version uses: {}", one_of(USED)),
                "remove it, or use the version that wrote the file",
            );
        }
    }
    let priorities = top
        .get("priorities")
        .map(|node| priorities(node, set, &mut reader));
    let virtual_deadlines = top
        .get("virtual_deadlines")
        .map(|node| deadlines::virtual_deadlines(node, set, &mut reader));
    let factor = top.get("deadline_factor");
    let deadline_factor = factor.and_then(|node| {
        let factor = deadlines::deadline_factor(node, &mut reader)?;
        let given = virtual_deadlines.as_deref();
        deadlines::check_factor(node, factor, given, set, &mut reader);
        Some(factor)
    });
    Some(Parameters {
        priorities,
        virtual_deadlines,
        deadline_factor,
    })
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
    unknown_names(entries, "priorities", set, reader);
    let mut given: BTreeMap<&str, u32> = BTreeMap::new();
    let mut owners: BTreeMap<u32, &str> = BTreeMap::new();
    for entry in entries {
        let field = format!("priorities.{}", entry.key);
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
    let expected = "a priority for every task of the set";
    let help = "add the tasks, or let the policy assign the priorities";
    named_by_all(node, entries, ("priorities", expected, help), set, reader);
    let names = set.tasks.iter().map(|task| &task.name);
    names
        .filter_map(|name| Some((name.clone(), *given.get(name.as_str())?)))
        .collect()
}

/// Reports every key that is no task of the set.
fn unknown_names(entries: &[Entry], part: &str, set: &TaskSet, reader: &mut Reader<'_>) {
    let names = || set.tasks.iter().map(|task| task.name.as_str());
    for entry in entries {
        if names().any(|name| name == entry.key) {
            continue;
        }
        let otherwise = "use the parameters of this task set";
        let help = did_you_mean(&entry.key, names(), otherwise);
        reader.sink.error(
            codes::PARAMETER_UNKNOWN_TASK,
            entry.key_span,
            &format!("{part}.{}", entry.key),
            quote(&entry.key),
            format!("a task of the set: {}", one_of(names())),
            help,
        );
    }
}

/// Reports the tasks of the set that the table leaves out: its name, what is expected, and help.
fn named_by_all(
    node: &Node,
    entries: &[Entry],
    (part, expected, help): (&str, &str, &str),
    set: &TaskSet,
    reader: &mut Reader<'_>,
) {
    let names = set.tasks.iter().map(|task| task.name.as_str());
    let missing = names.filter(|name| !entries.iter().any(|entry| entry.key == *name));
    let missing: Vec<&str> = missing.collect();
    if !missing.is_empty() {
        reader.sink.error(
            codes::PARAMETER_TASK_MISSING,
            node.span,
            part,
            format!("nothing for {}", one_of(missing)),
            expected,
            help,
        );
    }
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

    fn codes_of(text: &str) -> Vec<codes::Code> {
        let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
        match Parameters::parse(&Source::new("p.json", text), &set) {
            Ok(_) => Vec::new(),
            Err(error) => error.list().iter().map(|found| found.code).collect(),
        }
    }

    /// control has the deadline 10 ms, display 20 ms; only control is above the lowest level.
    #[test]
    fn virtual_deadlines_are_given_one_by_one_or_by_a_factor() {
        let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
        let nanos = |text: &str| -> Vec<u64> {
            let parameters = Parameters::parse(&Source::new("p.json", text), &set).unwrap();
            let again = Source::new("p.json", &parameters.to_file());
            assert_eq!(Parameters::parse(&again, &set).unwrap(), parameters);
            let deadlines = parameters.virtual_deadlines_of(&set).unwrap();
            deadlines.into_iter().map(Duration::as_nanos).collect()
        };
        let all = r#"{ "virtual_deadlines": { "control": 6, "display": "20ms" }, "deadline_factor": "3/5" }"#;
        assert_eq!(nanos(all), [6_000_000, 20_000_000]);
        let alone = r#"{ "virtual_deadlines": { "display": "19ms", "control": "1ns" } }"#;
        assert_eq!(nanos(alone), [1, 19_000_000]);
        assert_eq!(
            nanos(r#"{ "deadline_factor": "1/3" }"#),
            [3_333_333, 20_000_000]
        );
        assert_eq!(
            nanos(r#"{ "deadline_factor": 0.6 }"#),
            [6_000_000, 20_000_000]
        );
        assert_eq!(
            nanos(r#"{ "deadline_factor": 1 }"#),
            [10_000_000, 20_000_000]
        );
        assert_eq!(Parameters::default().virtual_deadlines_of(&set), None);
    }

    #[test]
    fn virtual_deadlines_are_names_with_exact_times_within_the_deadline() {
        let of = |control: &str| {
            codes_of(&format!(
                r#"{{ "virtual_deadlines": {{ "control": {control}, "display": "20ms" }} }}"#
            ))
        };
        assert_eq!(of("10"), []);
        assert_eq!(of("10.000001"), [codes::VIRTUAL_DEADLINE_TOO_LONG]);
        assert_eq!(of("0"), [codes::NOT_POSITIVE]);
        assert_eq!(of("-1"), [codes::NEGATIVE_TIME]);
        assert_eq!(of("\"0.5ns\""), [codes::NOT_WHOLE]);
        assert_eq!(of("true"), [codes::WRONG_TYPE]);
        let part = |text: &str| codes_of(&format!("{{ \"virtual_deadlines\": {text} }}"));
        assert_eq!(part("3"), [codes::WRONG_TYPE]);
        assert_eq!(part(r#"{ "control": 3 }"#), [codes::PARAMETER_TASK_MISSING]);
        let wrong_name = part(r#"{ "contol": 3, "control": 3, "display": 3 }"#);
        assert_eq!(wrong_name, [codes::PARAMETER_UNKNOWN_TASK]);
    }

    #[test]
    fn a_factor_is_a_fraction_that_leaves_something_and_agrees_with_the_deadlines() {
        let factor = |text: &str| codes_of(&format!("{{ \"deadline_factor\": {text} }}"));
        for fine in ["\"1/1\"", "\"2/4\"", "0.5", "1"] {
            assert_eq!(factor(fine), [], "{fine}");
        }
        for bad in [
            "\"3/2\"", "\"0/2\"", "\"1/0\"", "\"+1/2\"", "\"0.5\"", "0", "1.5", "-1",
        ] {
            assert_eq!(factor(bad), [codes::BAD_FRACTION], "{bad}");
        }
        assert_eq!(factor("[]"), [codes::WRONG_TYPE]);
        assert_eq!(factor("\"1/10000001\""), [codes::NOT_POSITIVE]);
        let both =
            r#"{ "virtual_deadlines": { "control": 5, "display": 20 }, "deadline_factor": "3/5" }"#;
        assert_eq!(codes_of(both), [codes::FACTOR_DISAGREES]);
        let lowest =
            r#"{ "virtual_deadlines": { "control": 6, "display": 12 }, "deadline_factor": "3/5" }"#;
        assert_eq!(codes_of(lowest), [codes::FACTOR_DISAGREES]);
    }
}
