//! The command line as scripts and strangers meet it: exit codes, JSON, messages, pipes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod analyze;
mod backlog;
mod costs;
mod costs_at_once;
mod deadlines;
#[cfg(target_os = "linux")]
mod doctor;
mod documents;
mod domains;
mod files;
mod foreign;
#[cfg(target_os = "linux")]
mod frames;
mod hsf;
mod interface;
mod io_amc;
mod job_orders;
#[cfg(target_os = "linux")]
mod kept;
mod limits;
mod mc2;
mod mc2_levels;
mod mechanisms;
mod overheads;
mod pt;
mod replay;
mod report;
mod several_cpus;
mod sigrist2015;
#[path = "../support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod too_many;
mod traces;
mod worlds;

use serde_json::Value;

const FMS: &str = "examples/fms.toml";
const THREE: &str = "examples/huang-three-tasks.toml";

/// The keys of a JSON object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}
