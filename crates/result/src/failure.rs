//! Why a command ended without a result, and what is wrong with a file.

use crate::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a command prints instead of its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The format.
    pub format: Format,
    /// What went wrong.
    pub error: Error,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Error {
    /// The exit code of the command.
    pub exit: u8,
    /// What failed, and why.
    pub message: String,
    /// What to do about it.
    pub help: Vec<String>,
    /// What is wrong with a file; empty if that was not the reason.
    pub diagnostics: Vec<Diagnostic>,
}

/// One thing that is wrong, or worth knowing, about a place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// Its stable code, which `vestal explain` explains.
    pub code: String,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What ought to stand there.
    pub expected: String,
    /// The field, such as `task[2].wcet.LO`; empty if the whole file is meant.
    pub field: String,
    /// The file.
    pub file: String,
    /// What stands there.
    pub found: String,
    /// How to mend it.
    pub help: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The rule in one sentence.
    pub message: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
}
