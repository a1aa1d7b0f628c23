//! Laws that every policy keeps.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fields;
mod frames;
mod frames_found;
mod frames_refused;
mod hsf;
mod io_amc;
mod mc2;
mod mc2_proved;
mod mc2_simulated;
mod needs;
mod pedf_vd;
mod recordings;
mod server_rules;
mod servers;
