//! What can be wrong with a trace file, and where.

use crate::header::HeaderError;
use crate::record::{LineError, RecordError};
use std::fmt;
use std::io;

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A byte of a binary file, counted from 0.
    Byte(u64),
    /// A line and a column (or a cell) of a text file, counted from 1; column 0 is the whole line.
    Line {
        /// The line.
        line: u64,
        /// The column, or the cell in a table.
        column: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte(byte) => write!(f, "byte {byte}"),
            Self::Line { line, column: 0 } => write!(f, "line {line}"),
            Self::Line { line, column } => write!(f, "line {line}, column {column}"),
        }
    }
}

/// A trace file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {place}: {problem} ({})", .problem.code(), .problem.help())]
pub struct TraceError {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub problem: Problem,
}

/// The kinds of [`TraceError`].
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The operating system could not read.
    #[error("failed to read: {0}")]
    Io(io::Error),
    /// The file is no trace of this format.
    #[error("this is no such trace: it does not begin with {expected}")]
    Foreign {
        /// How such a file begins.
        expected: &'static str,
    },
    /// The file ends in the middle.
    #[error("the file ends where {expected} should follow")]
    Truncated {
        /// What was expected to follow.
        expected: &'static str,
    },
    /// A checksum is wrong.
    #[error("the checksum is {found:08x}, but that of the contents is {computed:08x}")]
    Checksum {
        /// The sum in the file.
        found: u32,
        /// The sum of what is in the file.
        computed: u32,
    },
    /// A frame that does not belong here, or with a length it cannot have.
    #[error("found {found}, expected {expected}")]
    Frame {
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The header is not one.
    #[error("{0}")]
    Header(HeaderError),
    /// A record is not one.
    #[error("{0}")]
    Record(RecordError),
    /// A line is no record.
    #[error("{0}")]
    Line(LineError),
    /// A line is longer than any line of a trace, or is no text.
    #[error("{what}")]
    NotText {
        /// What is wrong with it.
        what: &'static str,
    },
    /// A number in a foreign trace does not fit, or a line of a known event is not as expected.
    #[error("found {found}, expected {expected}")]
    Event {
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// Something follows the end of the trace.
    #[error("something follows the end of the trace")]
    AfterEnd,
}

/// Every code of this crate with its title, in order, for pages that explain them.
pub const CODES: [(&str, &str); 12] = [
    ("V0800", "a trace file cannot be read"),
    ("V0801", "the file is no trace of this format"),
    ("V0802", "the trace ends early"),
    ("V0803", "a checksum of the trace is wrong"),
    (
        "V0804",
        "a frame of the trace is out of place or of a wrong length",
    ),
    ("V0805", "the header of the trace is not one"),
    ("V0806", "a record of a binary trace is not one"),
    ("V0807", "a line of a text trace is no record"),
    ("V0808", "a line of a text trace is too long or no text"),
    (
        "V0809",
        "an event in the text of perf or ftrace is not as its tools print it",
    ),
    ("V0810", "something follows the end of the trace"),
    ("V0811", "the extension names no trace format"),
];

impl Problem {
    /// The stable code of the diagnostic.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "V0800",
            Self::Foreign { .. } => "V0801",
            Self::Truncated { .. } => "V0802",
            Self::Checksum { .. } => "V0803",
            Self::Frame { .. } => "V0804",
            Self::Header(_) => "V0805",
            Self::Record(_) => "V0806",
            Self::Line(_) => "V0807",
            Self::NotText { .. } => "V0808",
            Self::Event { .. } => "V0809",
            Self::AfterEnd => "V0810",
        }
    }

    /// What the reader can do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Io(_) => "check the path, its permissions and the disk",
            Self::Foreign { .. } => {
                "give a file that a writer of this format wrote; the format follows from the extension"
            }
            Self::Truncated { .. } => {
                "the recording was interrupted, or the copy is incomplete: record or copy it again"
            }
            Self::Checksum { .. } | Self::Frame { .. } | Self::Record(_) | Self::AfterEnd => {
                "the file was changed after it was written: copy or record it again"
            }
            Self::Header(_) | Self::Line(_) | Self::NotText { .. } => {
                "undo the change to the file, or write it again from its source"
            }
            Self::Event { .. } => {
                "give the text that `perf script` or `trace-cmd report` prints for sched_switch and sched_wakeup"
            }
        }
    }
}

impl TraceError {
    pub(crate) const fn at_byte(byte: u64, problem: Problem) -> Self {
        Self {
            place: Place::Byte(byte),
            problem,
        }
    }

    pub(crate) const fn at_line(line: u64, column: u64, problem: Problem) -> Self {
        Self {
            place: Place::Line { line, column },
            problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// One problem of each kind.
    fn every() -> Vec<Problem> {
        let (what, expected, found) = ("x", "x", String::from("x"));
        vec![
            Problem::Io(io::Error::other("x")),
            Problem::Foreign { expected },
            Problem::Truncated { expected },
            Problem::Checksum {
                found: 1,
                computed: 2,
            },
            Problem::Frame {
                found: found.clone(),
                expected,
            },
            Problem::Header(HeaderError {
                line: 1,
                what: found.clone(),
            }),
            Problem::Record(RecordError::UnknownKind { kind: 0 }),
            Problem::Line(LineError {
                cell: 1,
                what: found.clone(),
            }),
            Problem::NotText { what },
            Problem::Event { found, expected },
            Problem::AfterEnd,
        ]
    }

    #[test]
    fn every_problem_has_its_own_code_in_the_list() {
        let codes: Vec<&str> = every().iter().map(Problem::code).collect();
        let listed: Vec<&str> = CODES.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, listed[..listed.len() - 1]);
        let unknown = crate::write::Format::from_path(Path::new("x")).unwrap_err();
        assert!(unknown.to_string().starts_with(listed[listed.len() - 1]));
        for problem in every() {
            let error = TraceError::at_line(7, 2, problem);
            let text = error.to_string();
            assert!(
                text.contains("line 7, column 2") && text.contains('('),
                "{text}"
            );
        }
    }
}
