//! Laws that every policy keeps.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fields;
mod hsf;
mod pedf_vd;
mod recordings;
