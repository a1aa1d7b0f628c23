//! Why a system cannot be put together.

use std::fmt;
use vestal_workload::Diagnostics;

/// Why a system cannot be put together, and how to mend it.
#[derive(Debug)]
pub struct Refusal {
    /// What was being done, as it follows "cannot"; `None`: the whole command.
    pub what: Option<String>,
    /// Why: one sentence without a full stop.
    pub why: String,
    /// How to mend it, a line each.
    pub help: Vec<String>,
    /// What is wrong with a file, place by place.
    pub found: Option<Box<Diagnostics>>,
    /// It is no mistake of the user.
    pub is_bug: bool,
    /// What is wrong is that a parameter is missing which the file cannot give.
    pub lacks_parameters: bool,
}

impl Refusal {
    /// The user asked for what cannot be.
    #[must_use]
    pub fn input(why: impl Into<String>) -> Self {
        Self {
            what: None,
            why: why.into(),
            help: Vec::new(),
            found: None,
            is_bug: false,
            lacks_parameters: false,
        }
    }

    /// A mistake of this program.
    #[must_use]
    pub fn bug(why: impl Into<String>) -> Self {
        Self {
            is_bug: true,
            ..Self::input(why)
        }
    }

    /// Something is wrong with a file.
    #[must_use]
    pub fn diagnosed(found: Diagnostics) -> Self {
        Self {
            found: Some(Box::new(found)),
            ..Self::input(String::new())
        }
    }

    /// The same, because a parameter is missing that the file cannot give.
    #[must_use]
    pub const fn lacking_parameters(mut self, lacks: bool) -> Self {
        self.lacks_parameters = lacks;
        self
    }

    /// The same, and how to mend it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// The same, about something smaller than the whole command.
    #[must_use]
    pub fn about(mut self, what: impl Into<String>) -> Self {
        self.what = Some(what.into());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Some(found) => found.fmt(f),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for Refusal {}
