//! Laws that every policy keeps.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fields;
mod hsf;
mod mc2;
mod needs;
mod pedf_vd;
mod recordings;
mod servers;
