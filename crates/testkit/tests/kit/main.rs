//! What tests rely on has tests of its own.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "json-schema")]
mod json_schema;
mod random;
mod world;
