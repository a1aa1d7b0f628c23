//! The files that a trace is written to, each of which has its name only when it is complete.

use super::behind::Rest;
#[cfg(target_os = "linux")]
use super::behind::{Allowance, Behind};
use crate::clock::Stopwatch;
use crate::failure::Failure;
use crate::input::shown;
use crate::interrupt;
use crate::output::{Output, said_meanwhile};
use crate::place;
use crate::whole::Unfinished;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::Duration;
use vestal_trace::write::{Options, WriterSink};
use vestal_trace::{Format, Header, Record, Sink, writer};

/// How much is gathered before the operating system is asked to write it.
const BUFFER_BYTES: usize = 1 << 16;

/// Whether traces of what is read from `inputs` can be written under these names, as far as that can be said without writing.
///
/// # Errors
/// An extension that names no format, one file named twice, or one that is an input.
pub(crate) fn check<'a>(
    paths: &[PathBuf],
    inputs: impl IntoIterator<Item = &'a Path, IntoIter: Clone>,
) -> Result<(), Failure> {
    let inputs = inputs.into_iter();
    for (number, path) in paths.iter().enumerate() {
        if let Err(unknown) = Format::from_path(path) {
            return Err(Failure::input(what(path), unknown.to_string()).with_help(
                "the extension of the file's name says which format to write; `vestal explain V0811` \
                 lists them",
            ));
        }
        place::check_no_input(&what(path), None, path, inputs.clone())?;
        if paths[..number]
            .iter()
            .any(|before| place::is_same(before, path))
        {
            return Err(Failure::input(what(path), "it is named twice")
                .with_help("give each trace a file of its own"));
        }
    }
    Ok(())
}

/// Traces being written: one stream of records, in as many formats as were asked for. Each second they are handed to the
/// operating system, and one that cannot be written is said at once; neither ends what is traced.
#[derive(Debug)]
pub(crate) struct TraceFiles {
    sink: WriterSink,
    files: Vec<Unfinished>,
    /// Of which it was said that they failed.
    said: Vec<bool>,
    /// Since they were flushed.
    flushed: Stopwatch,
    /// Of each file the rest that a thread of its own writes, if one does.
    rests: Vec<Option<Rest>>,
    /// How many records came since somebody looked at the clock.
    unlooked: u32,
}

/// So long records may stay in this process.
const FLUSHED_EACH: Duration = Duration::from_secs(1);

/// How many records come without a look at the clock.
const RECORDS_A_LOOK: u32 = 1024;

/// Files that exist under their temporary names, and are empty: that they can be written is known
/// before anything runs, what their header says perhaps only later.
#[derive(Debug)]
pub(crate) struct Reserved(Vec<(Unfinished, Format, File)>);

impl Reserved {
    /// Creates the files.
    ///
    /// # Errors
    /// A name without a format, or a place where nothing can be written; no file is left then.
    pub(crate) fn new(paths: &[PathBuf]) -> Result<Self, Failure> {
        check(paths, [])?;
        let mut files = Vec::new();
        for path in paths {
            let Ok(format) = Format::from_path(path) else {
                continue;
            };
            let (unfinished, file) = Unfinished::create(path).map_err(|error| {
                Failure::input(what(path), format!("V0812: {error}"))
                    .with_help("name a file in a directory that exists and can be written")
            })?;
            files.push((unfinished, format, file));
        }
        Ok(Self(files))
    }

    /// Writes the header.
    ///
    /// # Errors
    /// What could not be written; no file is left then.
    fn begin(self, header: &Header) -> io::Result<TraceFiles> {
        self.begin_each(|sink, (format, _), file| {
            let file = BufWriter::with_capacity(BUFFER_BYTES, file);
            sink.add(writer(format, header, Options::default(), file)?);
            Ok(None)
        })
    }

    /// Writes the header of what goes on already, and must not wait for whoever reads a file: one that finds no place is said,
    /// and ends nothing.
    #[cfg(target_os = "linux")]
    pub(crate) fn begin_or_fail(self, header: &Header) -> TraceFiles {
        let pipes = self.0.iter().filter(|(file, ..)| !file.is_plain()).count();
        let begun = self.begin_each(|sink, (format, is_plain), file| {
            let opened = match is_plain {
                true => Ok((Box::new(file) as Box<dyn io::Write + Send>, None)),
                false => Behind::start(file, Allowance::share(pipes)).map(|(behind, rest)| {
                    (Box::new(behind) as Box<dyn io::Write + Send>, Some(rest))
                }),
            };
            let begun = opened.and_then(|(out, rest)| {
                let out = BufWriter::with_capacity(BUFFER_BYTES, out);
                Ok((writer(format, header, Options::default(), out)?, rest))
            });
            match begun {
                Ok((writer, rest)) => {
                    sink.add(writer);
                    Ok(rest)
                }
                Err(error) => {
                    sink.add_failed(error);
                    Ok(None)
                }
            }
        });
        let mut traces = begun.unwrap_or_else(|_: io::Error| TraceFiles::none());
        traces.say_failures();
        traces
    }

    /// `add` is told the format of each, and whether it is a plain file.
    fn begin_each(
        self,
        mut add: impl FnMut(&mut WriterSink, (Format, bool), File) -> io::Result<Option<Rest>>,
    ) -> io::Result<TraceFiles> {
        let mut traces = TraceFiles::none();
        for (unfinished, format, file) in self.0 {
            let is_plain = unfinished.is_plain();
            traces.files.push(unfinished);
            traces.said.push(false);
            let rest = add(&mut traces.sink, (format, is_plain), file)?;
            traces.rests.push(rest);
        }
        Ok(traces)
    }
}

impl TraceFiles {
    fn none() -> Self {
        Self {
            sink: WriterSink::new(),
            files: Vec::new(),
            said: Vec::new(),
            flushed: Stopwatch::start(),
            rests: Vec::new(),
            unlooked: 0,
        }
    }

    /// Creates the files and writes the header.
    ///
    /// # Errors
    /// As [`Reserved::new`] and [`Reserved::begin`].
    pub(crate) fn create(paths: &[PathBuf], header: &Header) -> Result<Self, Failure> {
        Reserved::new(paths)?.begin(header).map_err(|error| {
            let names: Vec<String> = paths.iter().map(|path| shown(path)).collect();
            let what = format!("write the trace {}", names.join(", "));
            Failure::machine(what, format!("V0812: {error}"))
                .with_help("make room on the disk, or trace a shorter run")
        })
    }

    /// Flushes them if it is time to.
    pub(crate) fn keep_up(&mut self) {
        self.unlooked = 0;
        self.flush_after(self.flushed.elapsed());
    }

    /// So long after they were flushed.
    fn flush_after(&mut self, since: Duration) {
        if since >= FLUSHED_EACH {
            self.flushed = Stopwatch::start();
            if !self.sink.flush() {
                self.say_failures();
            }
        }
    }

    /// Says which can no longer be written, as soon as that is known, and once.
    fn say_failures(&mut self) {
        let failed = self.files.iter().zip(self.sink.failed());
        for ((file, failed), said) in failed.zip(&mut self.said) {
            if let Some(error) = failed
                && !*said
            {
                *said = true;
                said_meanwhile(&format!(
                    "{} can no longer be written: {error}; what is traced goes on",
                    shown(file.path())
                ));
            }
        }
    }

    /// Ends the traces and gives them their names. What could not be written, now or before, is what this gives, of several
    /// the first: such a trace does not get its name, and what there is of it is kept.
    #[must_use]
    pub(crate) fn finish(self, output: &Output) -> Option<Failure> {
        let Self {
            sink, files, rests, ..
        } = self;
        let (mut failure, mut looks) = (None, 0);
        let ended = files.into_iter().zip(rests).zip(sink.finish());
        for ((file, rest), written) in ended {
            let written = written.and_then(|()| match rest {
                Some(rest) => rest.wait(interrupt::asked, &mut looks),
                None => Ok(()),
            });
            let name = shown(file.path());
            let found = match written {
                Err(error) => unwritten(file, &error),
                Ok(()) => match file.complete() {
                    Ok(()) => {
                        output.note(&format!("wrote the trace {name}"));
                        continue;
                    }
                    Err(error) => {
                        Failure::written(format!("write the trace {name}"), Some("V0812"), &error)
                            .with_help("name a file that does not exist yet, or can be replaced")
                    }
                },
            };
            failure = failure.or(Some(found));
        }
        failure
    }
}

impl Sink for TraceFiles {
    fn put(&mut self, record: Record) {
        if !self.sink.try_put(record) {
            self.say_failures();
        }
        self.unlooked += 1;
        if self.unlooked == RECORDS_A_LOOK {
            self.keep_up();
        }
    }
}

fn unwritten(file: Unfinished, error: &io::Error) -> Failure {
    let what = what(file.path());
    let help = if file.is_plain() {
        "make room on the disk, or trace a shorter run"
    } else {
        "read it faster, or trace into a file"
    };
    let failure = Failure::machine(what, format!("V0812: {error}")).with_help(help);
    match file.keep() {
        Some(kept) => failure.with_help(format!(
            "what was written until then is in {}",
            kept.display()
        )),
        None => failure,
    }
}

fn what(path: &Path) -> String {
    format!("write the trace {}", shown(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format as PrintFormat;
    use std::{fs, process};
    use vestal_core::Instant;
    use vestal_trace::{Trace, What};

    fn end() -> Record {
        Record {
            at: Instant::EPOCH,
            what: What::End { facts: 0 },
        }
    }

    #[test]
    fn a_trace_has_its_name_only_when_it_is_complete() {
        let folder = std::env::temp_dir().join(format!("vestal-files-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x.csv");
        fs::write(&path, "before").unwrap();
        let names = || fs::read_dir(&folder).unwrap().count();
        {
            let mut half =
                TraceFiles::create(std::slice::from_ref(&path), &Header::new("amc")).unwrap();
            half.put(end());
            assert_eq!(names(), 2, "the other name stands beside it");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(names(), 1, "what was aborted is removed");
        let mut whole =
            TraceFiles::create(std::slice::from_ref(&path), &Header::new("amc")).unwrap();
        whole.put(end());
        let output = Output::new(PrintFormat::Json);
        assert!(whole.finish(&output).is_none());
        assert!(
            fs::read_to_string(&path)
                .unwrap()
                .ends_with("# records 1\n")
        );
        assert_eq!(names(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_second_later_a_killed_program_leaves_what_it_recorded() {
        let folder = std::env::temp_dir().join(format!("vestal-flushed-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x.vtrace");
        let mut traces = TraceFiles::create(&[path], &Header::new("amc")).unwrap();
        let written = || {
            let names = fs::read_dir(&folder).unwrap();
            let part = names.map(|name| name.unwrap().path()).next().unwrap();
            let bytes = fs::read(part).unwrap();
            let Ok(trace) = Trace::vtrace(bytes.as_slice()) else {
                return 0;
            };
            trace.filter(Result::is_ok).count()
        };
        for _ in 0..3 {
            traces.put(end());
        }
        // As long as it is not time for it.
        traces.flush_after(FLUSHED_EACH - Duration::from_nanos(1));
        assert_eq!(written(), 0);
        traces.flush_after(FLUSHED_EACH);
        assert_eq!(written(), 3);
        drop(traces);
        fs::remove_dir_all(&folder).unwrap();
    }
}
