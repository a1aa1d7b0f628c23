//! Reading a parameters file, and all that is wrong with it.

use super::{FORMAT, names, parts, virtual_deadlines};
use std::collections::BTreeMap;
use std::sync::Arc;
use vestal_analysis::Parameters;
use vestal_analysis::parameters::{Parameter, Range, Row, Rule, Shape, TABLE, Values};
use vestal_core::{Duration, SliceCount, Task};
use vestal_workload::codes::{self, Code};
use vestal_workload::diagnostic::{Diagnostics, Sink, did_you_mean, one_of, quote};
use vestal_workload::document::{self, Entry, Fields, Node, Reader, Value};
use vestal_workload::quantity::time_text;
use vestal_workload::source::Span;
use vestal_workload::{Source, TaskSet};

/// Reads a parameters file (JSON, or TOML of the same shape) and checks it against `set`. An empty text gives
/// none.
///
/// # Errors
/// All that is wrong with the file, or with it for this set: names that the set does not have, tasks without a
/// value, values out of range or of the wrong type, values that disagree, CPUs and servers that there are not.
pub fn read(source: &Arc<Source>, set: &TaskSet) -> Result<Parameters, Diagnostics> {
    if source.text.is_empty() {
        return Ok(Parameters::default());
    }
    let mut sink = Sink::new(Arc::clone(source));
    let parameters = document::parse(source, &mut sink).and_then(|root| {
        // Where the set is not for this, that is said where it is used.
        let tasks = set.to_tasks("--parameters").unwrap_or_default();
        let reader = Reader::new(&mut sink, set.unit, set.levels.clone());
        File { set, tasks, reader }.read(&root)
    });
    let rest = sink.into_result()?;
    parameters.ok_or_else(|| Diagnostics::from_list(Arc::clone(source), rest))
}

/// The file, as it is read.
pub(super) struct File<'a> {
    pub(super) set: &'a TaskSet,
    tasks: Vec<Task>,
    pub(super) reader: Reader<'a>,
}

/// Where a value stands, and as which field.
type Place<'n> = (&'n Node<'n>, &'n str);

/// A value as it stands in the file.
type Found<'n, T> = Vec<(&'n Node<'n>, T)>;

impl File<'_> {
    fn read(mut self, root: &Node<'_>) -> Option<Parameters> {
        let used = || TABLE.iter().map(|row| row.name);
        let known: Vec<&str> = ["format"].into_iter().chain(used()).collect();
        let mut top = Fields::open(root, String::new(), &known, &mut self.reader)?;
        top.span = Span::default();
        if let Some(node) = top.get("format") {
            let help = format!("use a file that `analyze --emit` wrote, with format `{FORMAT}`");
            self.reader.format(node, "format", FORMAT, help);
        }
        let mut found = Parameters::default();
        for row in &TABLE {
            if let Some(node) = top.get(row.name)
                && let Some(values) = self.values(row, node, &found)
            {
                // What does not fit was said.
                let _fits = (row.set)(&mut found, values, &self.tasks);
            }
        }
        if let Some(node) = top.get(Parameter::DeadlineFactor.row().name) {
            virtual_deadlines::by_factor(&mut found, self.set, node, &mut self.reader);
        }
        Some(found)
    }

    fn values(&mut self, row: &Row, node: &Node<'_>, before: &Parameters) -> Option<Values> {
        match (row.shape, row.range) {
            (Shape::Single, _) => {
                virtual_deadlines::factor(node, row.name, &mut self.reader).map(Values::Fraction)
            }
            (Shape::EachTask, Range::Numbers { least, most }) => {
                self.numbers(row, node, least, most)
            }
            (Shape::EachTask, Range::Times { zero }) => self.times(row, node, zero),
            (Shape::ListEachTask, Range::Numbers { least, most }) => {
                let lists = self.lists(row, node, least, most)?;
                match row.rule {
                    Rule::FallingLists => self.check_falling(row, &lists),
                    Rule::NeverFalling => self.check_patterns(row, node, &lists, before),
                    Rule::Any | Rule::Distinct => {}
                }
                let values =
                    |list: Found<'_, u64>| list.into_iter().map(|(_, value)| value).collect();
                Some(Values::Lists(lists.into_iter().map(values).collect()))
            }
            (Shape::EachLevel, _) => self.by_level(row, node),
            (Shape::SomeTasks | Shape::EachCpu | Shape::EachFrame | Shape::EachServer, _) => {
                parts::read(self, row, node, before)
            }
            (Shape::EachTask | Shape::ListEachTask, _) => None,
        }
    }

    /// A number for each task. What stands for a name that the set does not have counts where no value may stand
    /// twice: the name may be misspelt.
    fn numbers(&mut self, row: &Row, node: &Node<'_>, least: u64, most: u64) -> Option<Values> {
        let entries = self.table(row, node, "task name")?;
        self.check_names(row, node, entries);
        let mut given: BTreeMap<&str, u64> = BTreeMap::new();
        let mut owners: BTreeMap<u64, &str> = BTreeMap::new();
        for entry in entries {
            let field = format!("{}.{}", row.name, entry.key);
            let at = (&entry.node, field.as_str());
            let Some(value) = self.reader.whole(&entry.node, &field, least, most) else {
                continue;
            };
            if row.rule == Rule::Distinct
                && let Some(other) = owners.insert(value, &entry.key)
            {
                let found = format!("{value}, which {} has too", quote(other));
                let expected = format!("{} that no other task has", row.one);
                let help = "give every task a value of its own; larger is more urgent";
                self.error(codes::PRIORITY_TWICE, at, found, expected, help);
            }
            if row.parameter == Parameter::Slices
                && let Some(position) = self.set.task_index(&entry.key)
                && let Some(task) = self.tasks.get(position)
                && u32::try_from(value)
                    .ok()
                    .and_then(|count| SliceCount::new(count, task))
                    .is_none()
            {
                let expected = "a number of slices of at least a nanosecond each";
                let help = "give fewer slices";
                let found = value.to_string();
                self.error(codes::OUT_OF_RANGE, at, found, expected, help);
            }
            given.insert(&entry.key, value);
        }
        let values = names(self.set).filter_map(|name| given.get(name).copied());
        Some(Values::Numbers(values.collect()))
    }

    /// A time for each task, at most its deadline.
    fn times(&mut self, row: &Row, node: &Node<'_>, zero: bool) -> Option<Values> {
        let entries = self.by_name(row, node)?;
        let mut times = Vec::with_capacity(entries.len());
        for (entry, task) in entries.iter().zip(&self.set.tasks) {
            let field = format!("{}.{}", row.name, entry.key);
            let nanos = match zero {
                true => self.reader.time(&entry.node, &field),
                false => self.reader.positive_time(&entry.node, &field),
            };
            let Some(nanos) = nanos else { continue };
            if nanos > task.deadline.as_nanos() {
                let deadline = time_text(task.deadline.as_nanos());
                let expected = format!("at most {deadline}, the deadline of {}", quote(&task.name));
                let help = format!(
                    "give the time from the release; {} never comes after the deadline",
                    row.one
                );
                let (code, found) = (too_late(row.parameter), time_text(nanos));
                self.error(code, (&entry.node, &field), found, expected, help);
            }
            times.push(Duration::from_nanos(nanos));
        }
        Some(Values::Times(times))
    }

    /// A list for each task.
    fn lists<'n>(
        &mut self,
        row: &Row,
        node: &'n Node<'n>,
        least: u64,
        most: u64,
    ) -> Option<Vec<Found<'n, u64>>> {
        let entries = self.by_name(row, node)?;
        let mut lists = Vec::with_capacity(entries.len());
        for entry in entries {
            let field = format!("{}.{}", row.name, entry.key);
            let items = self.reader.list(&entry.node, &field).unwrap_or_default();
            let value =
                |node: &'n Node<'n>| Some((node, self.reader.whole(node, &field, least, most)?));
            lists.push(items.iter().filter_map(value).collect());
        }
        Some(lists)
    }

    /// Each list falls strictly, and no entry stands in two of them.
    fn check_falling(&mut self, row: &Row, lists: &[Found<'_, u64>]) {
        let mut owners: BTreeMap<u64, &str> = BTreeMap::new();
        let names: Vec<&str> = names(self.set).collect();
        for (list, name) in lists.iter().zip(names) {
            let field = format!("{}.{name}", row.name);
            let mut last = None;
            for &(node, value) in list {
                let at = (node, field.as_str());
                if let Some(before) = last
                    && value >= before
                {
                    let found = format!("{value} after {before}");
                    let expected = "priorities that fall strictly from the first job of a busy period to the last";
                    let help =
                        "order the list; a later job of a task never goes before an earlier one";
                    self.error(codes::JOB_PRIORITIES_DO_NOT_FALL, at, found, expected, help);
                } else if let Some(other) = owners.insert(value, name) {
                    let found = format!("{value}, which a job of {} has too", quote(other));
                    let expected = "a priority that no other job has";
                    let help = "give every job a priority of its own; larger is more urgent";
                    self.error(codes::JOB_PRIORITY_TWICE, at, found, expected, help);
                }
                last = Some(value);
            }
        }
    }

    /// A number of jobs for each level up to the task's own, the last one as many as its list has entries.
    fn check_patterns(
        &mut self,
        row: &Row,
        node: &Node<'_>,
        patterns: &[Found<'_, u64>],
        before: &Parameters,
    ) {
        let lengths = before.job_priorities.as_ref();
        for (position, (list, task)) in patterns.iter().zip(&self.set.tasks).enumerate() {
            let jobs: Vec<u64> = list.iter().map(|(_, value)| *value).collect();
            let wanted = lengths
                .and_then(|all| all.get(position))
                .map(|list| list.len() as u64);
            let levels = task.criticality.index() + 1;
            if jobs.len() == levels
                && jobs.is_sorted()
                && wanted.is_none_or(|wanted| jobs.last() == Some(&wanted))
            {
                continue;
            }
            let length = wanted.map_or_else(String::new, |wanted| {
                format!("; the last of them {wanted}, the length of its list in `job_priorities`")
            });
            let found: Vec<String> = jobs.iter().map(u64::to_string).collect();
            let expected = format!(
                "{levels} numbers that never fall, one for each level up to the task's own{length}"
            );
            let help = "use the parameters of this task set; `job_priorities` alone is enough";
            let field = format!("{}.{}", row.name, task.name);
            let at = (list.first().map_or(node, |(node, _)| node), field.as_str());
            let found = one_of(found.iter().map(String::as_str));
            self.error(codes::PATTERN_DISAGREES, at, found, expected, help);
        }
    }

    /// A time for each level, never falling.
    fn by_level(&mut self, row: &Row, node: &Node<'_>) -> Option<Values> {
        let entries = self.table(row, node, "level")?;
        let mut given: Vec<Option<u64>> = vec![None; self.reader.levels.len()];
        for entry in entries {
            let field = format!("{}.{}", row.name, entry.key);
            let level = self.reader.level_of(&entry.key, entry.key_span, &field);
            let time = self.reader.time(&entry.node, &field);
            if let Some(position) = level.and_then(|level| given.get_mut(level.index())) {
                *position = time;
            }
        }
        let known: Vec<u64> = given.iter().copied().flatten().collect();
        if (known.len() < given.len() && entries.len() < given.len()) || !known.is_sorted() {
            let found: Vec<String> = known.iter().map(|&time| time_text(time)).collect();
            let found = one_of(found.iter().map(String::as_str));
            let expected = "a time for each level, never falling from one level to the next";
            let help = "use the parameters of this task set; they may also be left out";
            let at = (node, row.name);
            self.error(codes::BUSY_PERIODS_FALL, at, found, expected, help);
        }
        Some(Values::Times(
            known.into_iter().map(Duration::from_nanos).collect(),
        ))
    }

    /// The entries of a table by name, in the order of the tasks (or jobs).
    fn by_name<'n>(&mut self, row: &Row, node: &'n Node<'n>) -> Option<Vec<&'n Entry<'n>>> {
        let entries = self.table(row, node, "task name")?;
        self.check_names(row, node, entries);
        let entry = |name| entries.iter().find(|entry| entry.key == name);
        Some(names(self.set).filter_map(entry).collect())
    }

    /// Every name is known, and none is missing.
    fn check_names(&mut self, row: &Row, node: &Node<'_>, entries: &[Entry<'_>]) {
        self.check_known(row, entries);
        let is_missing = |name: &&str| entries.iter().all(|entry| entry.key != **name);
        let missing: Vec<&str> = names(self.set).filter(is_missing).collect();
        if !missing.is_empty() {
            let found = format!("nothing for {}", one_of(missing));
            let expected = format!("{} for every task of the set", row.one);
            let help = "add the tasks, or let the analysis choose";
            let at = (node, row.name);
            self.error(codes::PARAMETER_TASK_MISSING, at, found, expected, help);
        }
    }

    /// Every name is known.
    pub(super) fn check_known(&mut self, row: &Row, entries: &[Entry<'_>]) {
        let known: Vec<&str> = names(self.set).collect();
        for entry in entries.iter().filter(|entry| !known.contains(&&*entry.key)) {
            let field = format!("{}.{}", row.name, entry.key);
            let names = || known.iter().copied();
            let help = did_you_mean(&entry.key, names(), "use the parameters of this task set");
            let expected = format!("a task of the set: {}", one_of(names()));
            let (code, found) = (codes::PARAMETER_UNKNOWN_TASK, quote(&entry.key));
            self.reader
                .sink
                .error(code, entry.key_span, &field, found, expected, help);
        }
    }

    pub(super) fn table<'n>(
        &mut self,
        row: &Row,
        node: &'n Node<'n>,
        key: &str,
    ) -> Option<&'n [Entry<'n>]> {
        if let Value::Table(entries) = &node.value {
            return Some(entries);
        }
        let (value, example) = match (row.shape, row.range) {
            (Shape::ListEachTask, _) => ("list", "{ \"task\": [7, 5, 2, 0] }"),
            (_, Range::Times { .. }) => ("time", "{ \"task\": \"6ms\" }"),
            (_, Range::Cpus) => ("CPU", "{ \"task\": 0 }"),
            (_, Range::Numbers { .. } | Range::Fraction | Range::Parts) => {
                ("number", "{ \"task\": 3 }")
            }
        };
        let expected = format!("a table from {key} to {value}");
        self.reader
            .wrong_type(node, row.name, &expected, &format!("write `{example}`"));
        None
    }

    fn error(
        &mut self,
        code: Code,
        (node, field): Place<'_>,
        found: String,
        expected: impl Into<String>,
        help: impl Into<String>,
    ) {
        let sink = &mut self.reader.sink;
        sink.error(code, node.span, field, found, expected, help);
    }
}

/// The code of a time after the deadline.
fn too_late(parameter: Parameter) -> Code {
    match parameter == Parameter::ZeroSlack {
        true => codes::ZERO_SLACK_TOO_LATE,
        false => codes::VIRTUAL_DEADLINE_TOO_LONG,
    }
}
