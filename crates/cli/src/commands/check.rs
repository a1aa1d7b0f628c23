//! `vestal check FILE`: is the file a valid task set, and what will this version make of it?

use crate::args::CheckArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::input;
use crate::names::RESULT_FORMAT;
use crate::output::{Output, Style};
use crate::quantity::{count, exact};
use crate::table::{Column, Grid};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use vestal_core::policy::POLICIES;
use vestal_core::{Duration, Level};
use vestal_workload::{Consumer, TaskSet, UnusedField, Utilisation};

#[derive(Serialize)]
struct Document {
    format: &'static str,
    file: String,
    valid: bool,
    diagnostics: Value,
    set: Option<Summary>,
}

#[derive(Serialize)]
struct Summary {
    name: String,
    tasks: usize,
    jobs: usize,
    servers: usize,
    devices: usize,
    levels: Vec<LevelSummary>,
    hyperperiod_ns: Option<u64>,
    largest_offset_ns: u64,
    unused: Vec<Unused>,
    on_miss: Vec<String>,
}

#[derive(Serialize)]
struct LevelSummary {
    name: String,
    tasks: usize,
    /// Of the tasks of at least this level, with this level's execution times.
    utilization: Option<f64>,
}

#[derive(Serialize)]
struct Unused {
    field: String,
    count: usize,
    first: String,
    why: String,
}

pub(crate) fn check(args: &CheckArgs, output: &Output) -> Outcome {
    let set = match input::task_set(&args.file, output) {
        Ok(set) => set,
        Err(failure) => return invalid(&args.file, failure, output),
    };
    let summary = Summary::new(&set);
    output.human(&page(&args.file, &set, output));
    let diagnostics = set
        .warnings()
        .map_or_else(|| Value::Array(Vec::new()), |warnings| warnings.to_json());
    let file = input::shown(&args.file);
    output.json(&Document {
        format: RESULT_FORMAT,
        file,
        valid: true,
        diagnostics,
        set: Some(summary),
    })?;
    Ok(Exit::Holds)
}

/// A file with errors is an answer of this command, so it has the form of its other answers.
fn invalid(path: &Path, failure: Failure, output: &Output) -> Outcome {
    let Some(diagnostics) = failure.diagnostics.as_ref().filter(|_| output.is_json()) else {
        return Err(failure);
    };
    output.diagnostics(diagnostics);
    output.json(&Document {
        format: RESULT_FORMAT,
        file: input::shown(path),
        valid: false,
        diagnostics: diagnostics.to_json(),
        set: None,
    })?;
    Ok(failure.exit)
}

impl Summary {
    fn new(set: &TaskSet) -> Self {
        let levels = (0..).map(Level).zip(&set.levels);
        let levels = levels.map(|(level, name)| LevelSummary {
            name: name.clone(),
            tasks: set
                .tasks
                .iter()
                .filter(|task| task.criticality == level)
                .count(),
            utilization: match set.utilisation(level) {
                Utilisation::Exact(value) => Some(value.approximate()),
                Utilisation::Approximate(value) => Some(value),
                Utilisation::Unknown { .. } => None,
            },
        });
        let offset = set
            .tasks
            .iter()
            .map(|task| task.offset)
            .max()
            .unwrap_or(Duration::ZERO);
        Self {
            name: set.name.clone(),
            tasks: set.tasks.len(),
            jobs: set.jobs.len(),
            servers: set.servers.len(),
            devices: set.devices.len(),
            levels: levels.collect(),
            hyperperiod_ns: set.hyperperiod().map(Duration::as_nanos),
            largest_offset_ns: offset.as_nanos(),
            unused: unused_by_all(set).into_iter().map(Unused::from).collect(),
            on_miss: on_miss_rules(set),
        }
    }
}

impl From<UnusedField> for Unused {
    fn from(field: UnusedField) -> Self {
        let UnusedField {
            field,
            count,
            first,
            why,
            place: _,
        } = field;
        Self {
            field,
            count,
            first,
            why,
        }
    }
}

/// The fields of which no test and no policy of this version makes any use.
fn unused_by_all(set: &TaskSet) -> Vec<UnusedField> {
    let policies = || POLICIES.iter().map(|policy| policy.name);
    let tests = vestal_analysis::tests()
        .iter()
        .map(|test| Consumer::Analyze(test.name));
    let consumers = tests
        .chain(policies().map(Consumer::Simulate))
        .chain(policies().map(Consumer::Run));
    let mut common: Option<Vec<UnusedField>> = None;
    for consumer in consumers {
        let unused = set.unused_fields(consumer);
        common = Some(match common {
            None => unused,
            Some(mut common) => {
                common.retain(|field| unused.iter().any(|other| other.field == field.field));
                common
            }
        });
    }
    common.unwrap_or_default()
}

/// What the policies make of `on_miss`, one sentence for each rule, if a task gives it.
fn on_miss_rules(set: &TaskSet) -> Vec<String> {
    let Some(given) = set.tasks.iter().find(|task| task.on_miss.is_some()) else {
        return Vec::new();
    };
    let mut rules: Vec<(&str, Vec<&str>)> = Vec::new();
    for policy in &POLICIES {
        let rule = Consumer::Simulate(policy.name).on_miss_rule();
        match rules.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, policies)) => policies.push(policy.name),
            None => rules.push((rule, vec![policy.name])),
        }
    }
    let sentence = |(rule, policies): (&str, Vec<&str>)| {
        format!(
            "on_miss (first given by task {}) under {}: {rule}",
            given.name,
            policies.join(", ")
        )
    };
    rules.into_iter().map(sentence).collect()
}

/// The summary for people.
pub(crate) fn page(path: &Path, set: &TaskSet, output: &Output) -> String {
    let summary = &Summary::new(set);
    let painter = output.painter();
    let mut text = format!(
        "{}: {}\n",
        input::shown(path),
        painter.paint(Style::Good, "valid")
    );
    if !set.name.is_empty() {
        let _ = writeln!(text, "\n{}", painter.paint(Style::Bold, &set.name));
    }
    let what = [
        (summary.tasks, "task"),
        (summary.jobs, "job"),
        (summary.servers, "server"),
        (summary.devices, "device"),
    ];
    let what: Vec<String> = what
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| count(number, noun))
        .collect();
    let hyperperiod = match summary.hyperperiod_ns {
        Some(nanos) => format!(", hyperperiod {}", exact(nanos)),
        None if summary.tasks > 0 => ", hyperperiod above 146 years".to_owned(),
        None => String::new(),
    };
    let offset = match summary.largest_offset_ns {
        0 => String::new(),
        nanos => format!(", largest offset {}", exact(nanos)),
    };
    let _ = writeln!(text, "{}{hyperperiod}{offset}\n", what.join(", "));
    text.push_str(&levels_table(summary, output));
    if !summary.unused.is_empty() {
        text.push_str("\nAccepted, but no command of this version uses:\n");
        for unused in &summary.unused {
            let Unused {
                field,
                count: times,
                first,
                why,
            } = unused;
            let times = match (times, first.as_str()) {
                (_, "") => String::new(),
                (1, first) => format!(" (in {first})"),
                (times, first) => format!(" ({times} times, first in {first})"),
            };
            let _ = writeln!(
                text,
                "- {}{times}: {why}",
                painter.paint(Style::Name, field)
            );
        }
    }
    for rule in &summary.on_miss {
        let _ = writeln!(text, "\n{rule}");
    }
    text
}

fn levels_table(summary: &Summary, output: &Output) -> String {
    let columns = [
        Column::Text("level"),
        Column::Number("tasks"),
        Column::Number("utilization"),
    ];
    let mut grid = Grid::new(output, &columns);
    grid.text("what the utilization counts");
    for level in &summary.levels {
        let utilization = match level.utilization {
            Some(value) => format!("{:.2}%", value * 100.0),
            None => "unknown".to_owned(),
        };
        let meaning = format!("C({0})/T of the tasks of level {0} and above", level.name);
        grid.row(vec![
            level.name.clone(),
            level.tasks.to_string(),
            utilization,
            meaning,
        ]);
    }
    grid.render()
}
