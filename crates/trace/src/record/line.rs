//! Records as lines of text: `at_ns,kind,cpu,task,job,value,detail`.
//!
//! Every cell that a kind does not use is empty; no cell ever needs quotes. A fact that was observed
//! but not reported has `seen-` before its kind. `value` is in nanoseconds but for the counts of
//! `decide` and `end` (facts), `interrupt`, `frames-skipped`, `sequence` (jobs) and `lost`, and for the numbers of
//! a `barrier`, a frame (`frame-overrun`) and a `domain`.

use super::kinds::Kinds;
use super::words::{Field, NUMBER, push_hex, push_number};
use super::{Record, What};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;
use vestal_core::Instant;

/// The names of the columns.
pub const COLUMNS: &str = "at_ns,kind,cpu,task,job,value,detail";

/// What stands before the kind of a fact that was not reported.
const SEEN: &str = "seen-";

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct LineError {
    /// The cell, counted from 1; 0 if the line as a whole is wrong.
    pub cell: usize,
    /// What was found and what was expected.
    pub what: String,
}

/// Where a value stands in a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    Kind,
    Cpu,
    Task,
    Job,
    Value,
    /// Alone in the detail, or at its beginning.
    Detail,
    /// In the detail behind `key=`.
    Key(&'static str),
    /// The same, in sixteen hexadecimal digits.
    Hex(&'static str),
    /// In the detail behind a word and a colon.
    Beside,
}

/// The cells of a line, but for the instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cells {
    kind: &'static str,
    cpu: Option<u64>,
    task: Option<u64>,
    job: Option<u64>,
    value: Option<u64>,
    detail: String,
}

impl Cells {
    /// Writes the word that tells a kind.
    pub(super) fn tag(&mut self, cell: Cell, word: &'static str) {
        if matches!(cell, Cell::Kind) {
            self.kind = word;
        } else {
            self.detail.clear();
            self.detail.push_str(word);
        }
    }

    /// Writes a value.
    pub(super) fn show<T: Field>(&mut self, cell: Cell, value: T) {
        match cell {
            Cell::Kind => {}
            Cell::Cpu => self.cpu = Some(value.number()),
            Cell::Task => self.task = Some(value.number()),
            Cell::Job => self.job = Some(value.number()),
            Cell::Value => self.value = Some(value.number()),
            Cell::Detail => {
                self.detail.clear();
                value.push(&mut self.detail);
            }
            Cell::Key(key) => {
                self.begin_key(key);
                value.push(&mut self.detail);
            }
            Cell::Hex(key) => {
                self.begin_key(key);
                push_hex(&mut self.detail, value.number());
            }
            Cell::Beside => {
                self.separate(':');
                value.push(&mut self.detail);
            }
        }
    }

    fn begin_key(&mut self, key: &str) {
        self.separate(' ');
        self.detail.push_str(key);
        self.detail.push('=');
    }

    fn separate(&mut self, separator: char) {
        if !self.detail.is_empty() {
            self.detail.push(separator);
        }
    }

    /// Makes all cells empty, and keeps the memory of the detail.
    fn clear(&mut self) {
        let mut detail = core::mem::take(&mut self.detail);
        detail.clear();
        *self = Self {
            detail,
            ..Self::default()
        };
    }
}

/// Lines of records, one after the other in the same memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    cells: Cells,
    line: String,
}

impl Lines {
    /// The line of a record, without its end.
    pub(crate) fn of(&mut self, record: &Record) -> &str {
        let Self { cells, line } = self;
        let (what, observed) = record.what.reported();
        cells.clear();
        what.show(cells);
        line.clear();
        push_number(line, record.at.as_nanos());
        line.push(',');
        if observed {
            line.push_str(SEEN);
        }
        line.push_str(cells.kind);
        line.push(',');
        for number in [cells.cpu, cells.task, cells.job, cells.value] {
            if let Some(number) = number {
                push_number(line, number);
            }
            line.push(',');
        }
        line.push_str(&cells.detail);
        line
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Lines::default().of(self))
    }
}

/// The cells of a line that is read.
pub(super) struct Line<'a> {
    cells: [&'a str; 7],
}

const KIND: usize = 1;

impl<'a> Line<'a> {
    const fn index(cell: Cell) -> usize {
        match cell {
            Cell::Kind => KIND,
            Cell::Cpu => 2,
            Cell::Task => 3,
            Cell::Job => 4,
            Cell::Value => 5,
            Cell::Detail | Cell::Key(_) | Cell::Hex(_) | Cell::Beside => 6,
        }
    }

    fn at(&self, index: usize) -> &'a str {
        self.cells.get(index).copied().unwrap_or_default()
    }

    fn error_at(&self, index: usize, expected: &str) -> LineError {
        LineError {
            cell: index.saturating_add(1),
            what: format!(
                "found `{}`, expected {expected}",
                self.at(index).escape_debug()
            ),
        }
    }

    pub(super) fn error(&self, cell: Cell, expected: &str) -> LineError {
        self.error_at(Self::index(cell), expected)
    }

    /// Whether nothing stands in the whole cell.
    pub(super) fn is_empty(&self, cell: Cell) -> bool {
        self.at(Self::index(cell)).is_empty()
    }

    /// The word that tells a kind: that before a blank or a colon. A detail of keys has none.
    pub(super) fn tag(&self, cell: Cell) -> &'a str {
        let text = self.at(Self::index(cell));
        if matches!(cell, Cell::Kind) {
            return text.strip_prefix(SEEN).unwrap_or(text);
        }
        let word = text.split([' ', ':']).next().unwrap_or_default();
        if word.contains('=') { "" } else { word }
    }

    /// The value that stands there.
    pub(super) fn read<T: Field>(&self, cell: Cell) -> Result<T, LineError> {
        let text = self.at(Self::index(cell));
        let behind = |key: &str| {
            let mut words = text.split(' ');
            words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
        };
        let found = match cell {
            Cell::Key(key) => behind(key).and_then(T::parse),
            Cell::Hex(key) => {
                let digits = behind(key).and_then(|text| u64::from_str_radix(text, 16).ok());
                digits.and_then(T::of)
            }
            Cell::Beside => text.split_once(':').and_then(|(_, text)| T::parse(text)),
            Cell::Detail => T::parse(text),
            Cell::Kind | Cell::Cpu | Cell::Task | Cell::Job | Cell::Value => {
                text.parse().ok().and_then(T::of)
            }
        };
        found.ok_or_else(|| match cell {
            Cell::Cpu => self.error(cell, "a CPU's number"),
            Cell::Task => self.error(cell, "a task's number"),
            Cell::Job => self.error(cell, "a job's number"),
            Cell::Key(key) if T::EXPECTED == NUMBER || T::EXPECTED == u64::EXPECTED => {
                self.error(cell, &format!("`{key}=` and a value"))
            }
            Cell::Hex(key) => self.error(cell, &format!("`{key}=` and sixteen digits")),
            Cell::Kind | Cell::Value | Cell::Detail | Cell::Key(_) | Cell::Beside => {
                self.error(cell, T::EXPECTED)
            }
        })
    }
}

impl FromStr for Record {
    type Err = LineError;

    /// The record that is written as this line.
    fn from_str(text: &str) -> Result<Self, LineError> {
        let mut cells = [""; 7];
        let count = text.split(',').count();
        if count != cells.len() {
            return Err(LineError {
                cell: 0,
                what: format!("found {count} cells, expected {}", cells.len()),
            });
        }
        for (cell, found) in cells.iter_mut().zip(text.split(',')) {
            *cell = found;
        }
        let line = Line { cells };
        let at = line.at(0).parse();
        let at = at.map_err(|_| line.error_at(0, "an instant in nanoseconds"))?;
        let record = Self {
            at: Instant::from_nanos(at),
            what: line.what()?,
        };
        // One representation for each record: numbers without signs and leading zeros, unused cells
        // empty.
        let canonical = record.to_string();
        if canonical == text {
            return Ok(record);
        }
        let cell = canonical
            .split(',')
            .zip(text.split(','))
            .position(|(expected, found)| expected != found)
            .unwrap_or(0);
        let expected = canonical.split(',').nth(cell).unwrap_or_default();
        let expected = if expected.is_empty() {
            "nothing".to_owned()
        } else {
            format!("`{expected}`")
        };
        Err(line.error_at(cell, &expected))
    }
}

impl Line<'_> {
    fn what(&self) -> Result<What, LineError> {
        let what = What::read(self);
        if !self.at(KIND).starts_with(SEEN) {
            return what;
        }
        if let What::Fact(fact) = what? {
            return Ok(What::Observed(fact));
        }
        Err(self.error(Cell::Kind, "a kind of fact after `seen-`"))
    }
}
