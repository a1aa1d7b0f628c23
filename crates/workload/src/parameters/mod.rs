//! Parameters files: what an analysis chose, to be used again instead of computed.

mod deadlines;
mod job_lists;
mod slices;
mod zero_slack;

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
use vestal_core::{Duration, SliceCount, TaskId};

/// The version of the parameters format.
const FORMAT: &str = "vestal-parameters/1";

/// The parts of the format that this version computes and uses.
const USED: [&str; 8] = [
    "priorities",
    "virtual_deadlines",
    "deadline_factor",
    "job_priorities",
    "patterns",
    "busy_periods",
    "slices",
    "zero_slack",
];

/// The parts of the format that this version neither computes nor uses.
const LATER: [&str; 6] = [
    "partition",
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
    /// The name of each task with its zero-slack instant, counted from the release: at most the
    /// task's deadline.
    pub zero_slack: Option<Vec<(String, Duration)>>,
    /// The name of each task with the priorities of its first, second, ... job in a busy period
    /// (PLRS): strictly falling, none twice, larger is more urgent.
    pub job_priorities: Option<Vec<(String, Vec<u32>)>>,
    /// The name of each task with the number of slices into which its jobs are cut (period
    /// transformation); at least one.
    pub slices: Option<Vec<(String, u32)>>,
    /// The name of each task with the number of its jobs that a busy period can contain before the
    /// mode exceeds each level up to its own.
    pub patterns: Option<Vec<(String, Vec<u64>)>>,
    /// The name of each level with the length of a busy period before the mode exceeds it.
    pub busy_periods: Option<Vec<(String, Duration)>>,
}

impl Parameters {
    /// Parameters that give the tasks of `set` these priorities, in the order of its tasks; or its
    /// jobs, if it is a finite job set.
    #[must_use]
    pub fn with_priorities(set: &TaskSet, priorities: &[u32]) -> Self {
        let named = names(set).zip(priorities);
        Self {
            priorities: Some(
                named
                    .map(|(name, &priority)| (name.to_owned(), priority))
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

    /// The same with these lists of job priorities, patterns and busy periods for `set`, in the order
    /// of its tasks and of its levels.
    #[must_use]
    pub fn and_job_priorities(
        mut self,
        set: &TaskSet,
        lists: Option<&[Vec<u32>]>,
        patterns: Option<&[Vec<u64>]>,
        busy_periods: Option<&[Duration]>,
    ) -> Self {
        fn named<T: Clone>(names: impl Iterator<Item = String>, values: &[T]) -> Vec<(String, T)> {
            names.zip(values.iter().cloned()).collect()
        }
        let tasks = || set.tasks.iter().map(|task| task.name.clone());
        self.job_priorities = lists.map(|lists| named(tasks(), lists));
        self.patterns = patterns.map(|patterns| named(tasks(), patterns));
        self.busy_periods = busy_periods.map(|busy| named(set.levels.iter().cloned(), busy));
        self
    }

    /// The same with these numbers of slices for the tasks of `set`, in the order of its tasks.
    #[must_use]
    pub fn and_slices(mut self, set: &TaskSet, counts: &[SliceCount]) -> Self {
        let named = set.tasks.iter().zip(counts);
        let named = named.map(|(task, count)| (task.name.clone(), count.get()));
        self.slices = Some(named.collect());
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
    /// the real ones, a factor that is none or disagrees with them, job priorities that do not fall or
    /// stand in two lists, patterns that disagree with them, busy periods that fall, zero-slack instants after the
    /// deadlines, parts that this
    /// version does not use.
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
        if let Some(slices) = &self.slices {
            let named = slices
                .iter()
                .map(|(name, count)| (name.clone(), (*count).into()));
            object.insert(
                "slices".to_owned(),
                serde_json::Value::Object(named.collect()),
            );
        }
        if let Some(instants) = &self.zero_slack {
            let named = instants.iter();
            let named =
                named.map(|(name, after)| (name.clone(), time_text(after.as_nanos()).into()));
            object.insert(
                "zero_slack".to_owned(),
                serde_json::Value::Object(named.collect()),
            );
        }
        if let Some(lists) = &self.job_priorities {
            object.insert("job_priorities".to_owned(), named_lists(lists));
        }
        if let Some(patterns) = &self.patterns {
            object.insert("patterns".to_owned(), named_lists(patterns));
        }
        if let Some(busy) = &self.busy_periods {
            let named = busy
                .iter()
                .map(|(level, busy)| (level.clone(), time_text(busy.as_nanos()).into()));
            object.insert(
                "busy_periods".to_owned(),
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

    /// The lists of job priorities in the order of the tasks of `set`; `None` without any, or if a task
    /// has none.
    #[must_use]
    pub fn job_priorities_of(&self, set: &TaskSet) -> Option<Vec<Vec<u32>>> {
        let named = self.job_priorities.as_ref()?;
        let of = |name: &str| named.iter().find(|(known, _)| known == name);
        let lists = set.tasks.iter().map(|task| Some(of(&task.name)?.1.clone()));
        lists.collect()
    }

    /// The numbers of slices in the order of the tasks of `set`. `None` without them, or if a task has
    /// none.
    #[must_use]
    pub fn slices_of(&self, set: &TaskSet) -> Option<Vec<u32>> {
        let named = self.slices.as_ref()?;
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
    let slices = top
        .get("slices")
        .map(|node| slices::slices(node, set, &mut reader));
    let zero_slack = top
        .get("zero_slack")
        .map(|node| zero_slack::zero_slack(node, set, &mut reader));
    let job_priorities = top
        .get("job_priorities")
        .map(|node| job_lists::job_priorities(node, set, &mut reader));
    let patterns = top
        .get("patterns")
        .map(|node| job_lists::patterns(node, job_priorities.as_deref(), set, &mut reader));
    let busy_periods = top
        .get("busy_periods")
        .map(|node| job_lists::busy_periods(node, &mut reader));
    Some(Parameters {
        priorities,
        virtual_deadlines,
        deadline_factor,
        slices,
        zero_slack,
        job_priorities,
        patterns,
        busy_periods,
    })
}

/// The names that parameters speak of: the tasks', or a finite job set's jobs'.
fn names(set: &TaskSet) -> impl Iterator<Item = &str> {
    let tasks = set.tasks.iter().map(|task| task.name.as_str());
    tasks.chain(set.jobs.iter().map(|job| job.name.as_str()))
}

/// A table from name to list of numbers.
fn named_lists<T: Copy + Into<serde_json::Value>>(lists: &[(String, Vec<T>)]) -> serde_json::Value {
    let named = lists.iter().map(|(name, list)| {
        let numbers = list.iter().map(|&number| number.into()).collect();
        (name.clone(), serde_json::Value::Array(numbers))
    });
    serde_json::Value::Object(named.collect())
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
    names(set)
        .filter_map(|name| Some((name.to_owned(), *given.get(name)?)))
        .collect()
}

/// Reports every key that is no task of the set.
fn unknown_names(entries: &[Entry], part: &str, set: &TaskSet, reader: &mut Reader<'_>) {
    let names = || names(set);
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
    let missing = names(set).filter(|name| !entries.iter().any(|entry| entry.key == *name));
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

/// The entries in the order of the tasks; those of unknown tasks are left out.
fn in_task_order(set: &TaskSet, given: &[(String, Duration)]) -> Vec<(String, Duration)> {
    let of = |name: &str| given.iter().find(|(known, _)| known == name).cloned();
    set.tasks.iter().filter_map(|task| of(&task.name)).collect()
}

#[cfg(test)]
mod tests;
