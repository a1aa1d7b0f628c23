//! Every reader of what others wrote, as a function of bytes: what a fuzzer calls (`fuzz/`), and what the replay of the
//! inputs that it began with calls (`tests/corpus.rs`).
//!
//! A reader may refuse an input, with whatever it says for people. It may not panic, take for ever, or accept what
//! it does not understand: where a text can be written again, what is read of that is the same.

use std::hint::black_box;
use std::sync::Arc;
use vestal_experiment::costs::Costs;
use vestal_experiment::figure::counted::Counts;
use vestal_experiment::figure::kept::Kept;
use vestal_experiment::overhead::{Measurement, journal, missimer, sigrist2015};
use vestal_experiment::{Experiment, Shard};
use vestal_policy::{Options, Registry, parameters};
use vestal_report::{Collector, Origin, Recording, Report};
use vestal_trace::read::ftrace;
use vestal_trace::{Trace, TraceError};
use vestal_workload::generate::Recipe;
use vestal_workload::quantity::parse_time;
use vestal_workload::{Diagnostics, RenderOptions, Scenario, Source, TaskSet};

/// A reader under the name of its fuzz target and of the directory with its inputs.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// Its name.
    pub name: &'static str,
    /// Reads an input; whether it was accepted.
    ///
    /// # Panics
    /// If the reader has a fault.
    pub read: fn(&[u8]) -> bool,
}

/// All of them.
pub const READERS: [Reader; 12] = [
    reader("task_set", task_set),
    reader("parameters", of_parameters),
    reader("scenario", scenario),
    reader("experiment", experiment),
    reader("overheads", overheads),
    reader("vtrace", vtrace),
    reader("csv_trace", csv_trace),
    reader("ftrace", of_ftrace),
    reader("result", result),
    reader("journal", of_journal),
    reader("kept", kept),
    reader("words", words),
];

const fn reader(name: &'static str, read: fn(&[u8]) -> bool) -> Reader {
    Reader { name, read }
}

/// The reader of this name; for fuzz targets, which name what there is.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn named(name: &str) -> Reader {
    let mut all = READERS.into_iter();
    let found = all.find(|reader| reader.name == name);
    let Some(found) = found else {
        panic!("no reader is called {name}")
    };
    found
}

/// Whether it is accepted; what is said of a refusal is said.
fn accepted<T>(found: Result<T, Diagnostics>) -> Option<T> {
    found
        .map_err(|refused| black_box(refused.render(RenderOptions::default())))
        .ok()
}

/// A file under a name, if it is text.
fn source(name: &str, bytes: &[u8]) -> Option<Arc<Source>> {
    accepted(Source::from_bytes(name, bytes))
}

/// A task set, TOML or JSON. Written again it is the same one.
fn task_set(bytes: &[u8]) -> bool {
    let set = source("x.toml", bytes).and_then(|source| accepted(TaskSet::from_source(&source)));
    let Some(set) = set else {
        return false;
    };
    let text = set.to_toml();
    match TaskSet::parse("again.toml", &text) {
        Ok(again) => assert_eq!(again, set, "it was written as\n{text}"),
        Err(found) => panic!(
            "{}\nit was written as\n{text}",
            found.render(RenderOptions::default())
        ),
    }
    true
}

/// The set that parameters and scenarios are of: with tasks of two levels.
fn some_set() -> TaskSet {
    let text = include_str!("../../../examples/fms.toml");
    match TaskSet::parse("fms.toml", text) {
        Ok(set) => set,
        Err(found) => panic!("{}", found.render(RenderOptions::default())),
    }
}

/// Parameters as `--emit` writes them and `--parameters` reads them.
fn of_parameters(bytes: &[u8]) -> bool {
    let source = source("x.json", bytes);
    source.is_some_and(|source| accepted(parameters::read(&source, &some_set())).is_some())
}

/// A scenario, which is CSV, TOML or JSON by its name.
fn scenario(bytes: &[u8]) -> bool {
    let set = some_set();
    let read = |name: &str| {
        let source = source(name, bytes);
        source.is_some_and(|source| accepted(Scenario::from_source(&source, &set)).is_some())
    };
    let found = ["x.csv", "x.toml", "x.json"].map(read);
    found.contains(&true)
}

/// An experiment, with what it asks.
fn experiment(bytes: &[u8]) -> bool {
    let source = source("x.toml", bytes);
    let Some(found) = source.and_then(|source| accepted(Experiment::parse(&source))) else {
        return false;
    };
    let registry = Registry::default();
    let questions = vestal_experiment::questions(&registry, &found, None);
    let refused = questions
        .iter()
        .filter_map(|question| question.as_ref().err());
    for error in refused {
        black_box(error.to_string());
    }
    true
}

/// What mechanisms cost, as `bench` prints it.
fn overheads(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| Costs::from_json(text).is_ok())
}

/// How many items of a recording are drawn.
const ITEMS_MAX: usize = 10_000;

/// A trace to its end, drawn on a page.
fn trace(trace: Result<Trace<&[u8]>, TraceError>) -> bool {
    let read = |trace: Trace<&[u8]>| {
        let mut collector = Collector::new(trace.header(), ITEMS_MAX);
        for record in trace {
            collector.feed(&record?);
        }
        Ok::<_, TraceError>(collector.finish())
    };
    match trace.and_then(read) {
        Ok(recording) => drawn(recording),
        Err(error) => {
            black_box(error.to_string());
            false
        }
    }
}

/// A page of it, if its tasks can be told apart.
fn drawn(recording: Recording) -> bool {
    let mut report = Report::new("a fuzzer");
    let added = report.add_recording("x", recording);
    added.is_ok() && report.page(&Nobody).is_ok()
}

/// No test proves anything.
struct Nobody;

impl Origin for Nobody {
    fn policy_of_test(&self, _: &str) -> Option<String> {
        None
    }
}

/// A trace in the format of this program.
fn vtrace(bytes: &[u8]) -> bool {
    trace(Trace::vtrace(bytes))
}

/// A trace as a table.
fn csv_trace(bytes: &[u8]) -> bool {
    trace(Trace::csv(bytes))
}

/// What perf and ftrace print.
fn of_ftrace(bytes: &[u8]) -> bool {
    match ftrace::read(bytes, &ftrace::Options::default()) {
        Ok(found) => {
            let mut collector = Collector::new(&found.header, ITEMS_MAX);
            found
                .records
                .iter()
                .for_each(|record| collector.feed(record));
            drawn(collector.finish())
        }
        Err(error) => {
            black_box(error.to_string());
            false
        }
    }
}

/// A result with `--format json`, on a page; and as every type of which it may be, written again in the same way.
fn result(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    for (name, again) in vestal_result::schema::read_as(text) {
        let mut same = vestal_result::schema::read_as(&again).into_iter();
        let same = same.find(|(other, _)| *other == name);
        assert_eq!(same.map(|(_, text)| text), Some(again), "as {name}");
    }
    let mut report = Report::new("a fuzzer");
    match report.add_result("x.json", text) {
        Ok(()) => report.page(&Nobody).is_ok(),
        Err(error) => {
            black_box(error.to_string());
            false
        }
    }
}

/// Runs of a measurement that goes on where it was stopped.
fn of_journal(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let shares = journal::parse::<sigrist2015::run::Run>(text);
    let cameras = journal::parse::<missimer::run::Run>(text);
    matches!(shares, Ok(Some(_))) || matches!(cameras, Ok(Some(_)))
}

/// What is kept of figures and measurements: answers, counts of instructions, runs.
fn kept(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let answers = Kept::from_text(text);
    if let Some(answers) = &answers {
        let again = answers.to_text();
        let read = Kept::from_text(&again).map(|found| found.to_text());
        assert_eq!(read.as_ref(), Some(&again));
    }
    answers.is_some() || Counts::parse(text).is_ok() || Measurement::from_json(text).is_ok()
}

/// Lines as they stand on a command line: times, scenarios, shards, options of policies, and recipes with their
/// parameters.
fn words(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    // A command line is short, and a recipe draws nothing here.
    let lines = text.lines().take(64).map(line);
    lines.fold(false, |any, one| any | one)
}

fn line(line: &str) -> bool {
    let time = parse_time(line).is_some();
    let scenario = accepted(Scenario::parse(line)).is_some();
    let shard = Shard::parse(line).is_some();
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default();
    let pairs = words.filter_map(|word| word.split_once('='));
    let pairs: Vec<(String, String)> = pairs
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let recipe = Recipe::named(name).is_some_and(|mut recipe| {
        let set = pairs.iter().map(|(key, value)| recipe.set(key, value));
        set.fold(true, |all, one| all & one.is_ok())
    });
    let registry = Registry::default();
    let policy = registry.policy(name);
    let options = policy.is_some_and(|policy| {
        Options::read(&pairs, policy.about().options)
            .map_err(|refusal| black_box(refusal.to_string()))
            .is_ok()
    });
    time || scenario || shard || recipe || options
}
