//! Writers, one for each format; which one follows from the file's extension.
//!
//! | extension | what | memory |
//! |---|---|---|
//! | `.vtrace` | Vestal's own, complete, with checksums; what `replay` reads | constant |
//! | `.csv` | complete too, and readable | constant |
//! | `.pftrace` | Perfetto (ui.perfetto.dev): tracks, slices, counters, the CPUs' view | constant |
//! | `.vcd` | value change dump, for waveform viewers such as GTKWave | constant |
//! | `.svg`, `.txt`, `.tex` | Gantt charts of a window of time | bounded by [`Options::items_max`] |

pub(crate) mod csv;
mod perfetto;
pub mod proto;
mod svg;
mod tex;
mod text;
mod vcd;
pub(crate) mod vtrace;

use crate::chart::{Chart, Collector, Window};
use crate::header::Header;
use crate::record::Record;
use crate::recorder::Sink;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `.vtrace`
    Vtrace,
    /// `.csv`
    Csv,
    /// `.pftrace`
    Perfetto,
    /// `.svg`
    Svg,
    /// `.txt`
    Text,
    /// `.vcd`
    Vcd,
    /// `.tex`
    Tex,
}

impl Format {
    /// Every format, in the order in which they are listed.
    pub const ALL: [Self; 7] = [
        Self::Vtrace,
        Self::Csv,
        Self::Perfetto,
        Self::Svg,
        Self::Text,
        Self::Vcd,
        Self::Tex,
    ];

    /// The extension, without the dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Vtrace => "vtrace",
            Self::Csv => "csv",
            Self::Perfetto => "pftrace",
            Self::Svg => "svg",
            Self::Text => "txt",
            Self::Vcd => "vcd",
            Self::Tex => "tex",
        }
    }

    /// The format that a path's extension names.
    ///
    /// # Errors
    /// [`UnknownFormat`] if it names none.
    pub fn from_path(path: &Path) -> Result<Self, UnknownFormat> {
        let found = path
            .extension()
            .map(|extension| extension.to_string_lossy().to_ascii_lowercase())
            .unwrap_or_default();
        Self::ALL
            .into_iter()
            .find(|format| format.extension() == found)
            .ok_or(UnknownFormat { found })
    }

    /// Whether a file of this format holds every record.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Vtrace | Self::Csv)
    }
}

/// An extension that names no format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat {
    /// The extension, without the dot; empty if there is none.
    pub found: String,
}

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() {
            f.write_str("V0811: the path has no extension")?;
        } else {
            write!(
                f,
                "V0811: `.{}` is no trace format",
                self.found.escape_debug()
            )?;
        }
        f.write_str("; expected one of")?;
        for format in Format::ALL {
            write!(f, " .{}", format.extension())?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownFormat {}

/// How charts are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which part of the run a chart shows.
    pub window: Window,
    /// The most slices, arrows and marks a chart shows; what comes later is left out, and the chart
    /// says so.
    pub items_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            window: Window::ALL,
            items_max: 4000,
        }
    }
}

/// Writes records in some format.
pub trait TraceWriter: Send {
    /// Writes one record.
    ///
    /// # Errors
    /// What the output reports.
    fn record(&mut self, record: &Record) -> io::Result<()>;

    /// Hands what was recorded so far to the operating system, as far as the format can be written from front to back: whoever
    /// reads the file of a program that was killed finds it.
    ///
    /// # Errors
    /// What the output reports.
    fn flush(&mut self) -> io::Result<()>;

    /// Writes what has to stand at the end, and flushes.
    ///
    /// # Errors
    /// What the output reports.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A writer for `format` that has written the header already.
///
/// Give a buffered output: some writers make many small writes.
///
/// # Errors
/// What the output reports.
pub fn writer<W: Write + Send + 'static>(
    format: Format,
    header: &Header,
    options: Options,
    out: W,
) -> io::Result<Box<dyn TraceWriter>> {
    Ok(match format {
        Format::Vtrace => Box::new(vtrace::Writer::new(header, out)?),
        Format::Csv => Box::new(csv::Writer::new(header, out)?),
        Format::Perfetto => Box::new(perfetto::Writer::new(header, out)?),
        Format::Vcd => Box::new(vcd::Writer::new(header, out)?),
        Format::Svg => Box::new(Drawing::new(header, options, out, svg::draw)),
        Format::Text => Box::new(Drawing::new(header, options, out, text::draw)),
        Format::Tex => Box::new(Drawing::new(header, options, out, tex::draw)),
    })
}

/// A drawing, for which all records have to be known.
struct Drawing<W: Write> {
    collector: Collector,
    draw: fn(Chart) -> String,
    out: W,
}

impl<W: Write> Drawing<W> {
    fn new(header: &Header, options: Options, out: W, draw: fn(Chart) -> String) -> Self {
        let collector = Collector::new(header, options.window, options.items_max);
        Self {
            collector,
            draw,
            out,
        }
    }
}

impl<W: Write + Send> TraceWriter for Drawing<W> {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.collector.feed(record);
        Ok(())
    }

    /// A drawing is made when everything is known.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let mut out = self.out;
        let text = (self.draw)(self.collector.finish());
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

/// A sink that writes to several writers; one that fails writes nothing more, and costs the others nothing.
#[derive(Default)]
pub struct WriterSink {
    writers: Vec<Box<dyn TraceWriter>>,
    /// Of each writer what it failed with.
    failed: Vec<Option<io::Error>>,
}

impl WriterSink {
    /// A sink without writers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a writer.
    pub fn add(&mut self, writer: Box<dyn TraceWriter>) {
        self.writers.push(writer);
        self.failed.push(None);
    }

    /// Adds what could not even begin, in the place of a writer: it stays failed.
    pub fn add_failed(&mut self, error: io::Error) {
        self.writers.push(Box::new(Unbegun));
        self.failed.push(Some(error));
    }

    /// What each writer failed with so far, in the order in which they were added.
    #[must_use]
    pub fn failed(&self) -> &[Option<io::Error>] {
        &self.failed
    }

    /// Flushes every writer. Whether all that were fine before are so still.
    pub fn flush(&mut self) -> bool {
        self.each(|writer| writer.flush())
    }

    /// Ends every writer that has not failed, and says what became of each, in the order in which they were added.
    #[must_use]
    pub fn finish(self) -> Vec<io::Result<()>> {
        let ended = self.writers.into_iter().zip(self.failed);
        let ended = ended.map(|(writer, failed)| failed.map_or_else(|| writer.finish(), Err));
        ended.collect()
    }

    /// Whether it went well with each writer that has not failed before.
    fn each(&mut self, mut does: impl FnMut(&mut dyn TraceWriter) -> io::Result<()>) -> bool {
        let mut fine = true;
        for (writer, failed) in self.writers.iter_mut().zip(&mut self.failed) {
            if failed.is_none()
                && let Err(error) = does(writer.as_mut())
            {
                *failed = Some(error);
                fine = false;
            }
        }
        fine
    }
}

/// In the place of a writer that could not begin. Nothing is ever given to it.
struct Unbegun;

impl TraceWriter for Unbegun {
    fn record(&mut self, _: &Record) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for WriterSink {
    fn put(&mut self, record: Record) {
        self.try_put(record);
    }

    /// Whether it was written by each writer that was fine before.
    fn try_put(&mut self, record: Record) -> bool {
        self.each(|writer| writer.record(&record))
    }
}

impl fmt::Debug for WriterSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriterSink")
            .field("writers", &self.writers.len())
            .field("failed", &self.failed)
            .finish()
    }
}
