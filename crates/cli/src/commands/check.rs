//! `vestal check FILE`: is the file a valid task set, and what will this version make of it?

mod fields;

use crate::args::CheckArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::input;
use crate::output::{self, Output, Style};
use crate::quantity::{count, exact};
use crate::registry::{find_policy, registry};
use crate::table::Grid;
use std::fmt::Write as _;
use std::path::Path;
use vestal_analysis::Parameters;
use vestal_core::{Duration, Level};
use vestal_policy::{Analysis, Field, Options, Policy, assemble, said_of_servers};
use vestal_result::Format;
use vestal_result::check::{self, Check, Summary};
use vestal_workload::{Diagnostics, TaskSet, Utilisation};

pub(crate) fn check(args: &CheckArgs, output: &Output) -> Outcome {
    let what = format!("check {}", input::shown(&args.file));
    let policy = args
        .policy
        .as_deref()
        .map(|name| find_policy(name, &what))
        .transpose()?;
    let set = match input::task_set(&args.file, output) {
        Ok(set) => set,
        Err(failure) => return invalid(&args.file, failure, output),
    };
    let said = match policy.map_or(Ok(None), |policy| asked(policy, &set, &args.file, output)) {
        Ok(said) => said,
        Err(failure) => return invalid(&args.file, failure, output),
    };
    let summary = summary(&set, policy);
    output.human(&page(&args.file, &summary, output));
    let warnings = [set.warnings(), said];
    let file = input::shown(&args.file);
    output.json(&Check {
        format: Format::V1,
        file,
        valid: true,
        diagnostics: warnings
            .iter()
            .flatten()
            .flat_map(output::diagnostics)
            .collect(),
        set: Some(summary),
    })?;
    Ok(Exit::Holds)
}

/// What a policy, put together as a simulation does, has against the file, or else warns of. What it lacks besides, an order
/// that its test does not find or tables, is no fault of the file: parameters can give it.
fn asked(
    policy: &'static dyn Policy,
    set: &TaskSet,
    path: &Path,
    output: &Output,
) -> Result<Option<Diagnostics>, Failure> {
    let name = policy.about().name;
    let what = format!("check {} for {name}", input::shown(path));
    let options = Options::default();
    let (by, none) = ((policy, &options), Parameters::default());
    match assemble(registry(), by, set, &none, Analysis::Ask) {
        Ok(_) => {}
        Err(refusal)
            if (refusal.found.is_some() && !refusal.lacks_parameters) || refusal.is_bug =>
        {
            return Err(Failure::refused(what, refusal));
        }
        Err(refusal) => output.warning(&format!("{name} cannot use this file as it is: {refusal}")),
    }
    let said = said_of_servers(policy, &options, set);
    if let Some(warnings) = &said {
        output.diagnostics(warnings);
    }
    Ok(said)
}

/// A file with errors is an answer of this command, so it has the form of its other answers.
fn invalid(path: &Path, failure: Failure, output: &Output) -> Outcome {
    let Some(diagnostics) = failure.diagnostics.as_ref().filter(|_| output.is_json()) else {
        return Err(failure);
    };
    output.diagnostics(diagnostics);
    output.json(&Check {
        format: Format::V1,
        file: input::shown(path),
        valid: false,
        diagnostics: output::diagnostics(diagnostics),
        set: None,
    })?;
    Ok(failure.exit)
}

/// What there is to say of a set, for one policy or for all.
pub(crate) fn summary(set: &TaskSet, policy: Option<&'static dyn Policy>) -> Summary {
    let levels = (0..).map(Level).zip(&set.levels);
    let levels = levels.map(|(level, name)| check::Level {
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
    let fields = match policy {
        Some(policy) => fields::uses(set, [policy].into_iter()),
        None => fields::uses(set, registry().policies()),
    };
    Summary {
        name: set.name.clone(),
        tasks: set.tasks.len(),
        jobs: set.jobs.len(),
        servers: set.servers.len(),
        devices: set.devices.len(),
        levels: levels.collect(),
        hyperperiod_ns: set.hyperperiod().map(Duration::as_nanos),
        largest_offset_ns: offset.as_nanos(),
        unused: fields.iter().filter_map(fields::unused).collect(),
        on_miss: fields::sentences_of(&fields, Field::OnMiss),
        policy: policy.map(|policy| policy.about().name.to_owned()),
        fields,
    }
}

/// The summary for people.
pub(crate) fn page(path: &Path, summary: &Summary, output: &Output) -> String {
    let painter = output.painter();
    let mut text = format!(
        "{}: {}\n",
        input::shown(path),
        painter.paint(Style::Good, "valid")
    );
    if !summary.name.is_empty() {
        let _ = writeln!(text, "\n{}", painter.paint(Style::Bold, &summary.name));
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
    text.push_str(&match &summary.policy {
        Some(policy) => fields::of_one(&summary.fields, policy, output),
        None => fields::of_all(&summary.fields, output),
    });
    text
}

fn levels_table(summary: &Summary, output: &Output) -> String {
    Grid::of(&summary.levels, output)
        .text("level", |level| &level.name)
        .number("tasks", |level| level.tasks)
        .number("utilization", |level| match level.utilization {
            Some(value) => format!("{:.2}%", value * 100.0),
            None => "unknown".to_owned(),
        })
        .text("what the utilization counts", |level| {
            format!("C({0})/T of the tasks of level {0} and above", level.name)
        })
        .render()
}
