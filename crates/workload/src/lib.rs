//! Task-set files of Vestal: read, diagnose, describe, write; scenarios.
//!
//! [`TaskSet::parse`] takes the name and the text of a file and gives either the resolved set or
//! *all* that is wrong with it, each with place, code and cure. Times are exact: they are read
//! from their decimal text and never rounded. Nothing here prints or reads a clock, and only
//! [`input::read_file`] touches the file system.
#![forbid(unsafe_code)]

pub mod codes;
mod convert;
pub mod diagnostic;
mod facts;
pub mod generate;
pub mod input;
pub mod model;
pub mod number;
pub mod quantity;
mod random;
mod read;
pub mod scenario;
pub mod schema;
pub mod source;
mod table;
mod tree;
mod usage;
mod work;
mod write;

/// Reading further files of the same languages: trees whose values know where they stand, and typed values out
/// of them.
pub mod document {
    pub use crate::table::fields::{Fields, Reader};
    pub use crate::tree::{Entry, Node, Value, has_more_words, parse};
}

pub use codes::{Code, explain};
pub use diagnostic::{Diagnostic, Diagnostics, RenderOptions, Severity};
pub use facts::{DEFAULT_DURATION_MAX, Utilisation};
pub use input::read_file;
pub use model::TaskSet;
pub use number::{Ratio, Rational};
pub use scenario::{Scenario, ScenarioFile, ScenarioSpec, Workload};
pub use source::Source;
pub use table::kinds::FORMAT;
pub use usage::GivenField;
