//! Measurements on the real kernel. Needs the right to SCHED_FIFO:
//!
//! `cargo test --release -p vestal-bench --features real --test real -- --test-threads=1`
//!
//! What is asserted is order, counts and medians, never a maximum.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests may fail loudly")]

mod barriers;
mod preemption;
mod primitives;
mod slack_trace;
mod sleeps;
