//! From the text of a task-set file to the resolved task set.

mod device;
pub(crate) mod fields;
mod platform;
mod server;
mod task;

use crate::codes;
use crate::diagnostic::{Diagnostics, Sink, did_you_mean, one_of, quote};
use crate::model::{Origin, TaskSet};
use crate::quantity::Unit;
use crate::source::{Source, Span};
use crate::tree::{self, Node, Value};
use fields::{Fields, Reader};
use std::collections::BTreeMap;
use std::sync::Arc;
use vestal_core::model::{LEVELS_MAX, TASKS_MAX};

/// The keys of each kind of table, which the JSON Schema repeats; a test compares the two.
pub(crate) mod keys {
    pub(crate) const FILE: &[&str] = &[
        "format", "name", "levels", "unit", "platform", "task", "server", "device", "job",
    ];
    pub(crate) const PLATFORM: &[&str] = &["cpus", "tick", "interrupt_master", "bus"];
    pub(crate) const BUS: &[&str] = &["arbitration", "access"];
    pub(crate) const TASK: &[&str] = &[
        "name",
        "criticality",
        "period",
        "deadline",
        "offset",
        "arrival",
        "wcet",
        "degraded",
        "priority",
        "cpu",
        "accesses",
        "on_miss",
        "io",
        "work",
    ];
    pub(crate) const IO: &[&str] = &["after", "device", "events"];
    pub(crate) const SERVER: &[&str] = &[
        "name",
        "kind",
        "period",
        "capacity",
        "utilization",
        "criticality",
        "priority",
        "cpu",
        "degraded",
        "scheduler",
        "tasks",
        "replenishments",
        "full",
        "serves",
    ];
    pub(crate) const DEVICE: &[&str] = &["name", "server", "cost", "arrival", "period", "burst"];
    pub(crate) const JOB: &[&str] = &["name", "release", "deadline", "criticality", "wcet"];
}

/// The version of the format that this crate reads and writes.
pub const FORMAT: &str = "vestal/1";

impl TaskSet {
    /// Reads a task set from the text of a file; `name` is what diagnostics call it. A name that
    /// ends in `.json`, or a text that starts with a brace, is JSON; everything else TOML.
    ///
    /// # Errors
    /// All that is wrong with the file, in the order of the text; after a syntax error only that.
    pub fn parse(name: &str, text: &str) -> Result<Self, Diagnostics> {
        Self::from_source(&Source::new(name, text))
    }

    /// Reads a task set from a source, as [`TaskSet::parse`] does.
    ///
    /// # Errors
    /// As [`TaskSet::parse`].
    pub fn from_source(source: &Arc<Source>) -> Result<Self, Diagnostics> {
        let mut sink = Sink::new(Arc::clone(source));
        let set = tree::parse(source, &mut sink).and_then(|root| file(&root, source, &mut sink));
        let warnings = sink.into_result()?;
        match set {
            Some(mut set) => {
                set.origin.warnings = warnings;
                Ok(set)
            }
            // Reading gives no set only after an error, and that returned above.
            None => Err(Diagnostics::from_list(Arc::clone(source), warnings)),
        }
    }
}

fn file(root: &Node, source: &Arc<Source>, sink: &mut Sink) -> Option<TaskSet> {
    let mut reader = Reader {
        sink,
        unit: None,
        levels: Vec::new(),
    };
    let mut top = Fields::open(root, String::new(), keys::FILE, &mut reader)?;
    // Something missing at the top is missing at the beginning, not in the whole text.
    top.span = Span::default();
    format_version(&top, &mut reader);
    let name = top
        .get("name")
        .and_then(|node| reader.name(node, "name"))
        .unwrap_or_default();
    reader.unit = top.get("unit").and_then(|node| {
        let units: Vec<(&str, Unit)> = Unit::ALL.iter().map(|unit| (unit.name(), *unit)).collect();
        reader.word(node, "unit", &units)
    });
    if top.has("unit") && reader.unit.is_none() {
        // One wrong unit is one error; without this every number of the file would be another.
        reader.unit = Some(Unit::Milliseconds);
    }
    reader.levels = levels(&top, &mut reader).unwrap_or_default();
    let platform = platform::platform(&top, &mut reader);
    let tasks = task::tasks(&top, &platform, &mut reader);
    let servers = server::servers(&top, &platform, &mut reader);
    let devices = device::devices(&top, &mut reader);
    let jobs = device::jobs(&top, &mut reader);
    something_to_schedule(&top, &mut reader);
    Some(TaskSet {
        name,
        unit: reader.unit,
        levels: reader.levels,
        platform,
        tasks,
        servers,
        devices,
        jobs,
        origin: Origin {
            source: Arc::clone(source),
            warnings: Vec::new(),
        },
    })
}

fn format_version(top: &Fields<'_>, reader: &mut Reader<'_>) {
    let example = "format = \"vestal/1\"";
    let Some(node) = top.get("format") else {
        reader.sink.error(
            codes::WRONG_FORMAT,
            Span::default(),
            "format",
            "no such key",
            quote(FORMAT),
            format!("start the file with `{example}`"),
        );
        return;
    };
    if let Some(text) = reader.text(node, "format")
        && text != FORMAT
    {
        let help = format!("write `{example}`; this version reads no other format");
        reader.sink.error(
            codes::WRONG_FORMAT,
            node.span,
            "format",
            quote(text),
            quote(FORMAT),
            help,
        );
    }
}

fn levels(top: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Vec<String>> {
    let node = top.require("levels", "levels = [\"LO\", \"HI\"]", reader)?;
    let items = reader.list(node, "levels")?;
    if items.is_empty() || items.len() > LEVELS_MAX {
        reader.sink.error(
            codes::LEVEL_COUNT,
            node.span,
            "levels",
            format!("{} levels", items.len()),
            format!("1 to {LEVELS_MAX} levels, lowest first"),
            "merge levels that are treated alike",
        );
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    let mut complete = true;
    for (index, item) in items.iter().enumerate() {
        let field = format!("levels[{index}]");
        match reader.name(item, &field) {
            Some(name) if names.contains(&name) => {
                reader.sink.error(
                    codes::DUPLICATE_NAME,
                    item.span,
                    &field,
                    format!("{} a second time", quote(&name)),
                    "each level once",
                    "rename or remove the level",
                );
            }
            Some(name) => names.push(name),
            None => complete = false,
        }
    }
    complete.then_some(names)
}

/// A file has tasks or jobs, not both and not neither.
fn something_to_schedule(top: &Fields<'_>, reader: &mut Reader<'_>) {
    match (top.entry("task"), top.entry("job")) {
        (Some(_), Some(job)) => reader.sink.error(
            codes::CONFLICT,
            job.key_span,
            "job",
            "`[[job]]` beside `[[task]]`",
            "recurrent tasks or a finite job set, not both",
            "put the jobs into a file of their own",
        ),
        (None, None) => reader.sink.error(
            codes::NOTHING_TO_SCHEDULE,
            Span::default(),
            "task",
            "neither `[[task]]` nor `[[job]]`",
            "at least one task",
            "add a `[[task]]` with name, criticality, period and wcet",
        ),
        (Some(_), None) | (None, Some(_)) => {}
    }
}

/// The elements of a list of tables such as `[[task]]`, or nothing.
fn tables<'n>(top: &Fields<'n>, key: &str, reader: &mut Reader<'_>) -> Vec<(String, &'n Node)> {
    let Some(node) = top.get(key) else {
        return Vec::new();
    };
    let Some(items) = reader.list(node, key) else {
        return Vec::new();
    };
    let mut kept = items;
    if items.len() > TASKS_MAX {
        reader.sink.error(
            codes::TOO_MANY,
            node.span,
            key,
            format!("{} of them", items.len()),
            format!("at most {TASKS_MAX}"),
            "split the file",
        );
        kept = items.get(..TASKS_MAX).unwrap_or_default();
    } else if items.is_empty() && matches!(key, "task" | "job") {
        reader.sink.error(
            codes::NOTHING_TO_SCHEDULE,
            node.span,
            key,
            "an empty list",
            format!("at least one {key}"),
            format!("add a `[[{key}]]`"),
        );
    }
    kept.iter()
        .enumerate()
        .map(|(index, item)| (format!("{key}[{index}]"), item))
        .collect()
}

/// The names in a list of tables as they stand there, right or wrong: a reference to a task whose
/// period is missing is no error of its own.
fn written_names(top: &Fields<'_>, key: &str) -> Names {
    let Some(Node {
        value: Value::List(items),
        ..
    }) = top.get(key)
    else {
        return Names::default();
    };
    let name = |item: &Node| match &item.value {
        Value::Table(entries) => {
            entries
                .iter()
                .find(|entry| entry.key == "name")
                .and_then(|entry| {
                    if let Value::Text(text) = &entry.node.value {
                        Some(text.clone())
                    } else {
                        None
                    }
                })
        }
        Value::Null
        | Value::Bool
        | Value::Number(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Date => None,
    };
    let mut names = Names::default();
    for item in items {
        names.push(name(item).unwrap_or_default());
    }
    names
}

/// Names in the order of their table, found by name without a search through all of them.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Names {
    fn push(&mut self, name: String) {
        // Of equal names the first one counts; that there are two is an error of its own.
        self.places.entry(name.clone()).or_insert(self.list.len());
        self.list.push(name);
    }
    fn get(&self, place: usize) -> Option<&String> {
        self.list.get(place)
    }
}

/// The place of a name in a list of names, or an error that lists them.
fn reference(
    code: codes::Code,
    what: &str,
    node: &Node,
    field: &str,
    names: &Names,
    reader: &mut Reader<'_>,
) -> Option<usize> {
    let text = reader.text(node, field)?;
    let found = names.places.get(text).copied();
    if found.is_none() {
        let known = || names.list.iter().map(String::as_str);
        let help = did_you_mean(text, known(), &format!("add a `[[{what}]]` of that name"));
        let expected = format!("the name of a {what}: {}", one_of(known()));
        reader
            .sink
            .error(code, node.span, field, quote(text), expected, help);
    }
    found
}
