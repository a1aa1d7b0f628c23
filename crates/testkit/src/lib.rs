//! What the tests of Vestal's crates share. For development only: no crate depends on it but for its tests.
//!
//! | module | what |
//! |---|---|
//! | [`gantt`] | the golden drawings of simulated schedules |
//! | [`json_schema`] | a validator for the schemas of this repository |
#![forbid(unsafe_code)]

pub mod gantt;
pub mod json_schema;
