//! Parameters files: what an analysis chose, to be used again instead of computed.
//!
//! Written and read by the table of parameters ([`vestal_analysis::parameters::TABLE`]); the same text stands
//! in results and in headers of traces.

mod parts;
mod read;
mod virtual_deadlines;

use serde_json::{Map, Value};
use vestal_analysis::Parameters;
use vestal_analysis::parameters::{Row, Shape, Values};
use vestal_workload::TaskSet;
use vestal_workload::quantity::time_text;

pub use read::read;

/// The version of the parameters format.
const FORMAT: &str = "vestal-parameters/1";

/// The `parameters` object of a result: those that are given, by the names of `set`.
#[must_use]
pub fn to_json(parameters: &Parameters, set: &TaskSet) -> Map<String, Value> {
    let part = |row: &'static Row| Some((row.name.to_owned(), value(row, parameters, set)?));
    parameters.rows().filter_map(part).collect()
}

fn value(row: &Row, parameters: &Parameters, set: &TaskSet) -> Option<Value> {
    let values = (row.get)(parameters)?;
    if let Some(part) = parts::write(&values, set) {
        return Some(part);
    }
    let names: Vec<&str> = match row.shape {
        Shape::EachTask | Shape::ListEachTask => names(set).collect(),
        Shape::EachLevel => set.levels.iter().map(String::as_str).collect(),
        Shape::Single
        | Shape::SomeTasks
        | Shape::EachCpu
        | Shape::EachFrame
        | Shape::EachServer => Vec::new(),
    };
    let values: Vec<Value> = match values {
        Values::Numbers(numbers) => numbers.into_iter().map(Value::from).collect(),
        Values::Times(times) => times
            .iter()
            .map(|time| time_text(time.as_nanos()).into())
            .collect(),
        Values::Lists(lists) => lists.into_iter().map(Value::from).collect(),
        Values::Fraction(ratio) => {
            return Some(format!("{}/{}", ratio.numerator, ratio.denominator).into());
        }
        Values::Cpus(_)
        | Values::SomeTimes(_)
        | Values::Tables(_)
        | Values::Frames(_)
        | Values::Barriers(_)
        | Values::Servers(_) => return None,
    };
    let named = names.into_iter().map(str::to_owned).zip(values);
    Some(Value::Object(named.collect()))
}

/// The text of a parameters file, as `analyze --emit` writes it; empty if nothing is given.
#[must_use]
pub fn to_file(parameters: &Parameters, set: &TaskSet) -> String {
    if parameters.is_empty() {
        return String::new();
    }
    let mut object = Map::new();
    object.insert("format".to_owned(), FORMAT.into());
    object.extend(to_json(parameters, set));
    format!("{:#}\n", Value::Object(object))
}

/// The names that parameters speak of: the tasks', or a finite job set's jobs'.
fn names(set: &TaskSet) -> impl Iterator<Item = &str> {
    let tasks = set.tasks.iter().map(|task| task.name.as_str());
    tasks.chain(set.jobs.iter().map(|job| job.name.as_str()))
}

#[cfg(test)]
mod tests;
