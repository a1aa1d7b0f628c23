//! What the commands print with `--format json`: one type for each document, written by the commands and read
//! by whoever goes on with results.
//!
//! | module | documents of |
//! |---|---|
//! | [`analysis`] | `analyze`, and what a test says |
//! | [`run`] | `simulate`, `run` and `demo` |
//! | [`replay`] | `replay`, of own traces and of recordings by others |
//! | [`check`] | `check` |
//! | [`doctor`] | `doctor` |
//! | [`bench`](mod@bench), [`shares`], [`cameras`] | `bench` |
//! | [`files`] | commands whose result is in files or is text: `generate`, `sweep`, `reproduce`, `report`, `explain` |
//! | [`failure`] | every command that could not do what was asked |
//!
//! Integers are exact up to 2^64 - 1; times are in nanoseconds unless a name says otherwise. A reader of a result
//! takes no offence at keys that it does not know: later versions add some. Keys that came after the first
//! version may be missing when read, and are always written.
//!
//! The crate is types and their schema ([`schema`]): it reads no file, judges nothing and prints nothing.

pub mod advice;
pub mod analysis;
pub mod bench;
pub mod cameras;
pub mod check;
pub mod claim;
pub mod doctor;
pub mod failure;
pub mod files;
mod ordered;
pub mod replay;
pub mod run;
pub mod schema;
pub mod shares;

pub use ordered::Ordered;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The value of `format` in every document.
pub const FORMAT: &str = "vestal-result/1";

/// The format of a document: there is one so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Format {
    /// [`FORMAT`].
    #[default]
    #[serde(rename = "vestal-result/1")]
    V1,
}

/// Writes a value as documents write it: a unit variant as its word.
fn word<T: Serialize>(value: &T, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => f.pad(&word),
        _ => Err(fmt::Error),
    }
}
