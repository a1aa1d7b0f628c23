//! The files that a trace is written to, each of which has its name only when it is complete.

use crate::failure::Failure;
use crate::output::Output;
use crate::whole::Unfinished;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use vestal_trace::write::{Options, WriterSink};
use vestal_trace::{Format, Header, Record, Sink, writer};

/// How much is gathered before the operating system is asked to write it.
const BUFFER_BYTES: usize = 1 << 16;

/// Whether traces can be written under these names, as far as that can be said without writing.
///
/// # Errors
/// An extension that names no format, or one file named twice.
pub(crate) fn check(paths: &[PathBuf]) -> Result<(), Failure> {
    for (place, path) in paths.iter().enumerate() {
        if let Err(unknown) = Format::from_path(path) {
            return Err(Failure::input(what(path), unknown.to_string()).with_help(
                "the extension of the file's name says which format to write; `vestal explain V0811` \
                 lists them",
            ));
        }
        if paths.iter().take(place).any(|before| before == path) {
            return Err(Failure::input(what(path), "it is named twice")
                .with_help("give each trace a file of its own"));
        }
    }
    Ok(())
}

/// Traces being written: one stream of records, in as many formats as were asked for.
#[derive(Debug)]
pub(crate) struct TraceFiles {
    sink: WriterSink,
    files: Vec<Unfinished>,
}

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
        check(paths)?;
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
    pub(crate) fn begin(self, header: &Header) -> io::Result<TraceFiles> {
        let mut traces = TraceFiles {
            sink: WriterSink::new(),
            files: Vec::new(),
        };
        for (unfinished, format, file) in self.0 {
            traces.files.push(unfinished);
            let file = BufWriter::with_capacity(BUFFER_BYTES, file);
            traces
                .sink
                .add(writer(format, header, Options::default(), file)?);
        }
        Ok(traces)
    }
}

impl TraceFiles {
    /// Creates the files and writes the header.
    ///
    /// # Errors
    /// As [`Reserved::new`] and [`Reserved::begin`].
    pub(crate) fn create(paths: &[PathBuf], header: &Header) -> Result<Self, Failure> {
        Reserved::new(paths)?.begin(header).map_err(|error| {
            let names: Vec<String> = paths.iter().map(|path| shown(path)).collect();
            unwritten(&names, &error)
        })
    }

    /// Ends the traces and gives them their names.
    ///
    /// # Errors
    /// What could not be written, now or before; such a trace does not get its name.
    pub(crate) fn finish(self, output: &Output) -> Result<(), Failure> {
        let Self { sink, files } = self;
        let names: Vec<String> = files.iter().map(|file| shown(file.path())).collect();
        sink.finish().map_err(|error| unwritten(&names, &error))?;
        for (file, name) in files.into_iter().zip(names) {
            file.complete().map_err(|error| {
                Failure::input(format!("write the trace {name}"), format!("V0812: {error}"))
                    .with_help("name a file that does not exist yet, or can be replaced")
            })?;
            output.note(&format!("wrote the trace {name}"));
        }
        Ok(())
    }
}

impl Sink for TraceFiles {
    fn put(&mut self, record: Record) {
        self.sink.put(record);
    }
}

fn unwritten(names: &[String], error: &io::Error) -> Failure {
    Failure::machine(
        format!("write the trace {}", names.join(", ")),
        format!("V0812: {error}"),
    )
    .with_help("make room on the disk, or trace a shorter run")
}

fn what(path: &Path) -> String {
    format!("write the trace {}", shown(path))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format as PrintFormat;
    use std::{fs, process};
    use vestal_core::Instant;
    use vestal_trace::What;

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
        whole.finish(&output).unwrap();
        assert!(
            fs::read_to_string(&path)
                .unwrap()
                .ends_with("# records 1\n")
        );
        assert_eq!(names(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
