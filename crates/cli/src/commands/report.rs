//! `vestal report RESULT... -o PAGE`: one HTML page of results and traces of a task set.

use crate::args::ReportArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::shown;
use crate::names::VERSION;
use crate::output::Output;
use crate::place;
use crate::registry::registry;
use crate::whole;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use vestal_report::recording::ITEMS_MAX;
use vestal_report::{Collector, Origin, Report, ReportError};
use vestal_result::Format as Version;
use vestal_result::files::Page;
use vestal_trace::read::ftrace::{self, Options};
use vestal_trace::{Format, Problem, TaskInfo, Trace};

/// Results larger than this are no results.
const RESULT_BYTES_MAX: u64 = 256 << 20;

pub(crate) fn report(args: &ReportArgs, output: &Output) -> Outcome {
    let mut report = Report::new(&generator());
    // Recordings of others come last: the others say which of their threads are tasks.
    let mut foreign = Vec::new();
    for path in &args.results {
        if let Some(bytes) = add(&mut report, path)? {
            foreign.push((path, bytes));
        }
    }
    for (path, bytes) in foreign {
        add_foreign(&mut report, path, &bytes)?;
    }
    let bytes = write_page(&report, &args.output, &args.results)?;
    output.human(&written(&args.output, bytes));
    let sources = args.results.iter().map(|path| path.display().to_string());
    output.json(&Page {
        format: Version::V1,
        page: shown(&args.output),
        bytes,
        sources: sources.collect(),
    })?;
    Ok(Exit::Holds)
}

/// What pages say made them.
pub(crate) fn generator() -> String {
    format!("vestal {VERSION}")
}

/// The line that says where a page is.
pub(crate) fn written(path: &Path, bytes: usize) -> String {
    format!(
        "wrote {} ({} kB): open it in a browser; it needs no network\n",
        path.display(),
        bytes.div_ceil(1000)
    )
}

/// Makes the page and writes it.
///
/// # Errors
/// A page that would overwrite one of its inputs, or cannot be written.
pub(crate) fn write_page(
    report: &Report,
    path: &Path,
    inputs: &[PathBuf],
) -> Result<usize, Failure> {
    let what = format!("write the page {}", path.display());
    let inputs = inputs.iter().map(PathBuf::as_path);
    place::check_no_input(&what, Some("V0825"), path, inputs)?;
    let page = report.page(&Catalogue).map_err(refused(what.clone()))?;
    whole::write(path, page.as_bytes()).map_err(|error| {
        Failure::written(what, Some("V0825"), &error)
            .with_help("name a file in a directory that exists and can be written")
    })?;
    Ok(page.len())
}

/// The built-in tests and those of extensions, with the policies they prove.
struct Catalogue;

impl Origin for Catalogue {
    fn policy_of_test(&self, test: &str) -> Option<String> {
        let registry = registry();
        let policy = registry.policies_of(registry.test(test)?).next()?;
        Some(policy.about().name.to_owned())
    }
}

fn refused(what: String) -> impl Fn(ReportError) -> Failure {
    move |error| Failure::input(what.as_str(), error.to_string()).with_help(error.help())
}

/// Adds one file: a trace if its extension is that of a complete trace, else a result. What is neither
/// and may be text of perf or ftrace is given back.
pub(crate) fn add(report: &mut Report, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    let what = || format!("read {}", shown(path));
    let source = shown(path);
    match Format::from_path(path) {
        Ok(format) if format.is_complete() => {
            let recording = recording(path, format)?;
            let added = report.add_recording(&source, recording);
            added.map_err(refused(what()))?;
            Ok(None)
        }
        // Results are known by what is in them: `vestal ... > proof` names no extension.
        Ok(Format::Text) | Err(_) => {
            let bytes = bytes(path)?;
            if bytes.trim_ascii_start().first() != Some(&b'{') {
                return Ok(Some(bytes));
            }
            let text = String::from_utf8(bytes).map_err(|error| unreadable(path, &error))?;
            let added = report.add_result(&source, &text);
            added.map_err(refused(what()))?;
            Ok(None)
        }
        Ok(format) => Err(drawing(path, format)),
    }
}

/// Adds text of perf or ftrace: the threads that are called as the tasks of the other inputs, or all.
fn add_foreign(report: &mut Report, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let what = || format!("read {}", shown(path));
    let options = Options {
        tasks: report.tasks().collect(),
        ..Options::default()
    };
    let found = match ftrace::read(bytes, &options) {
        Ok(found) => found,
        Err(error) if matches!(error.problem, Problem::Foreign { .. }) => {
            return Err(match Format::from_path(path) {
                Ok(format) => drawing(path, format),
                Err(_) => {
                    let why = format!(
                        "V0820: it is neither JSON nor text of perf or ftrace: {}",
                        error.problem
                    );
                    Failure::input(what(), why).with_help(EXPECTED)
                }
            });
        }
        Err(error) => return Err(Failure::input(what(), error.to_string())),
    };
    let is_there = |task: &TaskInfo| found.threads.contains(&ftrace::kept(&task.name));
    if !options.tasks.is_empty() && !options.tasks.iter().any(is_there) {
        let why = "V0823: none of its threads is called as a task of the other inputs";
        return Err(Failure::input(what(), why)
            .with_help("make a page of the recording alone, or name the threads as the tasks"));
    }
    let mut collector = Collector::new(&found.header, ITEMS_MAX);
    for record in &found.records {
        collector.feed(record);
    }
    let added = report.add_recording(&shown(path), collector.finish());
    added.map_err(refused(what()))
}

/// What can be shown on a page.
const EXPECTED: &str = "give a result of analyze, simulate or run with --format json, a .vtrace or .csv \
                        trace, or what `perf script` prints of scheduling events";

fn drawing(path: &Path, format: Format) -> Failure {
    let why = format!(
        "a .{} file is a drawing, not a recording",
        format.extension()
    );
    Failure::input(format!("read {}", shown(path)), why)
        .with_help("give the .vtrace or .csv trace of the run; one run can write several formats")
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = || {
        let mut bytes = Vec::new();
        let input: Box<dyn Read> = if path.as_os_str() == "-" {
            Box::new(io::stdin().lock())
        } else {
            Box::new(File::open(path)?)
        };
        // One byte more, so that what is too long is refused rather than cut.
        input.take(RESULT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > RESULT_BYTES_MAX {
            let why = format!("it is longer than {} MB", RESULT_BYTES_MAX >> 20);
            return Err(io::Error::other(why));
        }
        Ok(bytes)
    };
    read().map_err(|error: io::Error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::input(format!("read {}", shown(path)), format!("V0820: {error}")).with_help(EXPECTED)
}

fn recording(path: &Path, format: Format) -> Result<vestal_report::Recording, Failure> {
    let what = || format!("read {}", shown(path));
    let file = File::open(path).map_err(|error| {
        Failure::input(what(), format!("V0800: {error}"))
            .with_help("check the path and its permissions")
    })?;
    let damaged = |error: vestal_trace::TraceError| Failure::input(what(), error.to_string());
    let trace = match Trace::open(format, BufReader::new(file)) {
        Some(trace) => trace.map_err(damaged)?,
        None => return Err(Failure::bug(what(), "a complete format has no reader")),
    };
    let mut collector = Collector::new(trace.header(), ITEMS_MAX);
    for record in trace {
        collector.feed(&record.map_err(damaged)?);
    }
    Ok(collector.finish())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_codes_of_the_report_crate_are_explained_under_its_titles() {
        let explained: Vec<(String, &str)> = vestal_workload::codes::all()
            .map(|info| (info.code.to_string(), info.title))
            .filter(|(code, _)| code.starts_with("V082"))
            .collect();
        let named = vestal_report::error::CODES.map(|(code, title)| (code.to_owned(), title));
        // The last one is about writing files, which is the command line's business.
        assert_eq!(explained[..named.len()], named);
        assert_eq!(explained.len(), named.len() + 1);
    }
}
