//! Why something cannot be shown on a page.

use std::fmt;

/// Why an input was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportError {
    /// It is no JSON of the expected shape.
    NotAResult {
        /// What is wrong, and where, in the words of the JSON reader.
        what: String,
    },
    /// It is a result of another format.
    OtherFormat {
        /// What stands in `format`.
        found: String,
    },
    /// It is the result of a command that the page has no place for.
    NotShown {
        /// What the file is.
        what: &'static str,
    },
    /// It is of other tasks than the inputs before it.
    OtherTasks {
        /// The first difference.
        what: String,
        /// The input it was compared with.
        first: String,
    },
    /// No input was given.
    Empty,
}

/// Every code of this crate with its title, in order.
pub const CODES: [(&str, &str); 5] = [
    ("V0820", "the file is no result of a command"),
    ("V0821", "the result is of another format"),
    ("V0822", "the page does not show results of this kind"),
    ("V0823", "the inputs are of different task sets"),
    ("V0824", "there is nothing to show"),
];

impl ReportError {
    /// The stable code of the diagnostic.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotAResult { .. } => "V0820",
            Self::OtherFormat { .. } => "V0821",
            Self::NotShown { .. } => "V0822",
            Self::OtherTasks { .. } => "V0823",
            Self::Empty => "V0824",
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NotAResult { .. } | Self::OtherFormat { .. } => {
                "give what `vestal --format json analyze|simulate|run` printed, or a .vtrace or .csv trace"
            }
            Self::NotShown { .. } => {
                "give results of analyze, simulate, run or demo, and traces of them"
            }
            Self::OtherTasks { .. } => "make one page for each task set",
            Self::Empty => "name at least one result or trace",
        }
    }
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code())?;
        match self {
            Self::NotAResult { what } => write!(f, "this is no result of a command: {what}"),
            Self::OtherFormat { found } => write!(
                f,
                "its format is `{}`, expected `vestal-result/1`",
                found.escape_debug()
            ),
            Self::NotShown { what } => write!(f, "it is {what}, which the page does not show"),
            Self::OtherTasks { what, first } => {
                write!(f, "it is not of the same task set as {first}: {what}")
            }
            Self::Empty => f.write_str("no result and no trace was given"),
        }
    }
}

impl std::error::Error for ReportError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_its_code_in_the_list_and_a_remedy() {
        let text = String::new;
        let every = [
            ReportError::NotAResult { what: text() },
            ReportError::OtherFormat { found: text() },
            ReportError::NotShown { what: "x" },
            ReportError::OtherTasks {
                what: text(),
                first: text(),
            },
            ReportError::Empty,
        ];
        let codes = every.each_ref().map(ReportError::code);
        assert_eq!(codes, CODES.map(|(code, _)| code));
        for error in every {
            assert!(error.to_string().starts_with(error.code()));
            assert!(!error.help().is_empty());
        }
    }
}
