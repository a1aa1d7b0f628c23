//! Records through every format and back, recorded runs replayed, and both tampered with.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]
#![expect(
    clippy::cast_possible_truncation,
    reason = "numbers drawn here are small"
)]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test looks at the kinds it is about"
)]

mod checks;
mod common;
mod conformance;
mod damage;
mod domains;
mod example;
mod formats;
mod ftrace;
mod inversion;
mod lanes;
mod levels;
mod levels_others;
mod lists;
mod mc2;
mod perfetto;
mod recorded;
mod sequences;
mod tampering;
mod words;
