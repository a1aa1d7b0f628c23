//! Reads `.csv`; the format is described in `write/csv.rs`.

use crate::error::{Problem, TraceError};
use crate::header::Header;
use crate::record::{COLUMNS, LineError, Record};
use crate::write::csv::{COMMENT, TRAILER};
use std::borrow::Cow;
use std::io::{BufRead, Read};

/// The longest line of a header, which holds the task set.
const HEADER_LINE_MAX: usize = 16 << 20;

/// The cell of a line in which a domain's number stands, from 1.
const VALUE_CELL: usize = 6;

/// The longest line of a record.
const RECORD_LINE_MAX: usize = 4096;

#[derive(Debug)]
pub(super) struct Reader<R> {
    lines: Lines<R>,
    records: u64,
    /// How many domains the header names; none if there is only one.
    domains: usize,
}

impl<R: BufRead> Reader<R> {
    pub(super) fn new(input: R) -> Result<(Header, Self), TraceError> {
        let mut lines = Lines::new(input);
        let mut text = String::new();
        loop {
            let Some(line) = lines.next(HEADER_LINE_MAX)? else {
                if text.is_empty() {
                    return Err(foreign());
                }
                return Err(lines.truncated("the rest of the header"));
            };
            if let Some(entry) = line.strip_prefix(COMMENT) {
                text.push_str(entry);
                text.push('\n');
                if text.len() > HEADER_LINE_MAX {
                    let what = "the header is longer than 16 MiB";
                    return Err(lines.error(Problem::NotText { what }));
                }
                continue;
            }
            if text.is_empty() {
                return Err(foreign());
            }
            if line != COLUMNS {
                let found = format!("`{}`", line.escape_debug());
                let expected = "the names of the columns";
                return Err(lines.error(Problem::Event { found, expected }));
            }
            break;
        }
        let header = Header::from_text(&text).map_err(|error| {
            let line = error.line as u64;
            TraceError::at_line(line, 0, Problem::Header(error))
        })?;
        let domains = header.domains.len();
        let reader = Self {
            lines,
            records: 0,
            domains,
        };
        Ok((header, reader))
    }

    pub(super) fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        let Some(line) = self.lines.next(RECORD_LINE_MAX)? else {
            return Err(self.lines.truncated("`# records` and their number"));
        };
        if let Some(count) = line.strip_prefix(TRAILER) {
            if count.parse() != Ok(self.records) {
                let found = format!("{} records", self.records);
                let expected = "as many as the last line says";
                return Err(self.lines.error(Problem::Frame { found, expected }));
            }
            if self.lines.next(RECORD_LINE_MAX)?.is_some() {
                return Err(self.lines.error(Problem::AfterEnd));
            }
            return Ok(None);
        }
        let record = line.parse::<Record>();
        let record = record.map_err(|error| {
            let column = error.cell as u64;
            TraceError::at_line(self.lines.number, column, Problem::Line(error))
        })?;
        self.records = self.records.saturating_add(1);
        if let Some(error) = record.of_no_domain(self.domains) {
            let what = error.to_string();
            let cell = VALUE_CELL;
            return Err(TraceError::at_line(
                self.lines.number,
                cell as u64,
                Problem::Line(LineError { cell, what }),
            ));
        }
        Ok(Some(record))
    }
}

fn foreign() -> TraceError {
    let expected = "`# format` and the schema's name";
    TraceError::at_line(1, 0, Problem::Foreign { expected })
}

/// Lines of bounded length, with their numbers.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    pub(super) number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::new(),
            number: 0,
        }
    }

    /// The next line without its end; `None` at the end of the file.
    pub(super) fn next(&mut self, longest: usize) -> Result<Option<&str>, TraceError> {
        if !self.fill(longest)? {
            return Ok(None);
        }
        match std::str::from_utf8(&self.line) {
            Ok(line) => Ok(Some(line)),
            Err(error) => {
                let column = (error.valid_up_to() as u64).saturating_add(1);
                let what = "the line is not UTF-8";
                Err(TraceError::at_line(
                    self.number,
                    column,
                    Problem::NotText { what },
                ))
            }
        }
    }

    /// The same where bytes that are no text may stand in a line, such as a cut-off name.
    pub(super) fn next_lossy(
        &mut self,
        longest: usize,
    ) -> Result<Option<Cow<'_, str>>, TraceError> {
        let there = self.fill(longest)?;
        Ok(there.then(|| String::from_utf8_lossy(&self.line)))
    }

    /// Reads a line; false at the end of the file.
    fn fill(&mut self, longest: usize) -> Result<bool, TraceError> {
        self.line.clear();
        let limit = longest.saturating_add(2) as u64;
        let read = (&mut self.input)
            .take(limit)
            .read_until(b'\n', &mut self.line);
        if let Err(error) = read {
            return Err(self.error(Problem::Io(error)));
        }
        // The end of the file is reported on the last line.
        if self.line.is_empty() {
            return Ok(false);
        }
        self.number = self.number.saturating_add(1);
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
        }
        if self.line.len() > longest {
            let what = "the line is longer than any line of a trace";
            return Err(self.error(Problem::NotText { what }));
        }
        Ok(true)
    }

    pub(super) const fn error(&self, problem: Problem) -> TraceError {
        TraceError::at_line(self.number, 0, problem)
    }

    pub(super) const fn truncated(&self, expected: &'static str) -> TraceError {
        self.error(Problem::Truncated { expected })
    }
}
