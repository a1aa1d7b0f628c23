//! How late level C of MC² may be: against a slow twin, and against the engine.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![expect(clippy::cast_possible_truncation, reason = "numbers drawn are small")]

mod drawn;
mod simulated;
mod system;
mod twin;
mod worked;
