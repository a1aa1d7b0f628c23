//! What the tests of Vestal's crates share. For development only: no crate depends on it but for its tests.
//!
//! | module | what |
//! |---|---|
//! | [`gantt`] | the golden drawings of simulated schedules |
//! | [`random`] | a generator of random numbers |
//! | [`short`] | short constructors |
//! | [`world`] | a world of whole ticks for any scheduler, and the notation of its drawings |
//! | [`hierarchies`], [`frames`] | servers and frame tables in that world: short constructors |
//! | [`systems`] | random systems of one CPU in it, step by step |
//! | [`levels`] | sets of several CPUs with tables and levels below |
//! | [`json_schema`] | a validator for the schemas of this repository |
//! | [`machine`] | for tests of real runs: one at a time, what the hypervisor took, which threads are real-time |
#![forbid(unsafe_code)]
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![expect(clippy::cast_possible_truncation, reason = "numbers drawn are small")]

pub mod frames;
#[cfg(feature = "gantt")]
pub mod gantt;
pub mod hierarchies;
#[cfg(feature = "json-schema")]
pub mod json_schema;
pub mod levels;
#[cfg(all(feature = "machine", target_os = "linux"))]
pub mod machine;
pub mod random;
pub mod short;
pub mod systems;
pub mod world;

pub use random::Random;
pub use world::World;
