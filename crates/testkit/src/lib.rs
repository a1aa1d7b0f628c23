//! What the tests of Vestal's crates share. For development only: no crate depends on it but for its tests.
//!
//! | module | what |
//! |---|---|
//! | [`gantt`] | the golden drawings of simulated schedules |
#![forbid(unsafe_code)]

pub mod gantt;
