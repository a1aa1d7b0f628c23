//! `vestal report RESULT... -o PAGE`: one HTML page of results and traces of a task set.

use crate::args::ReportArgs;
use crate::catalogue;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::shown;
use crate::names::{RESULT_FORMAT, VERSION};
use crate::output::Output;
use serde::Serialize;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use vestal_report::recording::ITEMS_MAX;
use vestal_report::{Collector, Origin, Report, ReportError};
use vestal_trace::{Format, Trace};

/// Results larger than this are no results.
const RESULT_BYTES_MAX: u64 = 256 << 20;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    page: String,
    bytes: usize,
    sources: &'a [PathBuf],
}

pub(crate) fn report(args: &ReportArgs, output: &Output) -> Outcome {
    let mut report = Report::new(&generator());
    for path in &args.results {
        add(&mut report, path)?;
    }
    let bytes = write_page(&report, &args.output, &args.results)?;
    output.human(&written(&args.output, bytes));
    output.json(&Document {
        format: RESULT_FORMAT,
        page: shown(&args.output),
        bytes,
        sources: &args.results,
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
    let place = fs::canonicalize(path).ok();
    let same = |input: &&PathBuf| place.is_some() && fs::canonicalize(input).ok() == place;
    if let Some(input) = inputs.iter().find(same) {
        let why = format!("V0825: it would overwrite the input {}", input.display());
        return Err(Failure::input(what, why).with_help("name another file with -o"));
    }
    let page = report
        .page(&Catalogue)
        .map_err(|error| refused(what.clone(), &error))?;
    // A link keeps pointing to the file that it points to.
    let place = place.unwrap_or_else(|| path.to_owned());
    replace(&place, page.as_bytes()).map_err(|error| {
        Failure::input(what, format!("V0825: {error}"))
            .with_help("name a file in a directory that exists and can be written")
    })?;
    Ok(page.len())
}

/// Writes under another name first, so that no page is ever half there.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // What is no plain file, such as a pipe, has to be written where it is.
    if fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return fs::write(path, bytes);
    }
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::other("the path names no file"))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.part", process::id()));
    let temporary = path.with_file_name(hidden);
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().inspect_err(|_| {
        // What could not be finished must not stay; a failure to remove it changes nothing.
        let _kept = fs::remove_file(&temporary);
    })
}

/// The built-in tests and those of extensions, with the policies they prove.
struct Catalogue;

impl Origin for Catalogue {
    fn policy_of_test(&self, test: &str) -> Option<String> {
        let mut tests = catalogue::tests();
        let found = tests.find(|known| known.name == test)?;
        Some(found.policy.to_owned())
    }
}

fn refused(what: String, error: &ReportError) -> Failure {
    Failure::input(what, error.to_string()).with_help(error.help())
}

/// Adds one file: a trace if its extension is that of a complete trace, a result otherwise.
pub(crate) fn add(report: &mut Report, path: &Path) -> Result<(), Failure> {
    let what = || format!("read {}", shown(path));
    let source = shown(path);
    match Format::from_path(path) {
        Ok(format) if format.is_complete() => {
            let recording = recording(path, format)?;
            report
                .add_recording(&source, recording)
                .map_err(|error| refused(what(), &error))
        }
        Ok(format) => Err(Failure::input(
            what(),
            format!(
                "a .{} file is a drawing, not a recording",
                format.extension()
            ),
        )
        .with_help("give the .vtrace or .csv trace of the run; one run can write several formats")),
        // Results are known by what is in them: `vestal ... > proof` names no extension.
        Err(_) => {
            let text = text(path)?;
            report
                .add_result(&source, &text)
                .map_err(|error| refused(what(), &error))
        }
    }
}

fn text(path: &Path) -> Result<String, Failure> {
    let read = || {
        let mut text = String::new();
        let input: Box<dyn Read> = if path.as_os_str() == "-" {
            Box::new(io::stdin().lock())
        } else {
            Box::new(File::open(path)?)
        };
        input.take(RESULT_BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|error: io::Error| {
        Failure::input(format!("read {}", shown(path)), format!("V0820: {error}"))
            .with_help("give a result of analyze, simulate or run, or a trace")
    })
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
