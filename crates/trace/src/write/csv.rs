//! `.csv`: every record as a line, after the header as comment lines.
//!
//! The header's text comes first, each line after `# `; then the names of the columns; then the records
//! ([`crate::record::COLUMNS`]); last `# records N`, by which a reader knows that nothing is cut off.

use super::TraceWriter;
use crate::header::Header;
use crate::record::{COLUMNS, Lines, Record};
use std::io::{self, Write};

pub(crate) const COMMENT: &str = "# ";
pub(crate) const TRAILER: &str = "# records ";

pub(super) struct Writer<W: Write> {
    out: W,
    lines: Lines,
    records: u64,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(header: &Header, mut out: W) -> io::Result<Self> {
        for line in header.to_text().lines() {
            writeln!(out, "{COMMENT}{line}")?;
        }
        writeln!(out, "{COLUMNS}")?;
        Ok(Self {
            out,
            lines: Lines::default(),
            records: 0,
        })
    }
}

impl<W: Write + Send> TraceWriter for Writer<W> {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.records = self.records.saturating_add(1);
        self.out.write_all(self.lines.of(record).as_bytes())?;
        self.out.write_all(b"\n")
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        writeln!(self.out, "{TRAILER}{}", self.records)?;
        self.out.flush()
    }
}
