//! The crate against the core's engine, a reference priority queue, the paper's figures and its pseudo-code.
#![expect(clippy::cast_possible_truncation, reason = "numbers drawn are small")]
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod calls;
mod costs;
mod figures;
mod fuzz;
mod host;
mod paper_queue;
mod paper_scheduler;
mod properties;
mod queues;
mod same_schedule;
mod system;

/// Whether the long campaign was asked for.
fn is_long() -> bool {
    std::env::var("VESTAL_CAMPAIGN").is_ok_and(|size| size == "long")
}
