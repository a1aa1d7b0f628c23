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
mod replacing;
mod same_schedule;
mod system;

/// Whether the long campaign was asked for.
fn is_long() -> bool {
    std::env::var("VESTAL_CAMPAIGN").is_ok_and(|size| size == "long")
}

/// Of so many systems those of this piece: all of them, or with `VESTAL_PIECE=2/10` every tenth from the second on.
fn seeds(all: u64) -> Vec<u64> {
    let piece = std::env::var("VESTAL_PIECE").ok();
    let number = |text: &str| text.parse::<u64>().unwrap();
    let (piece, pieces) = match piece.as_deref().map(|piece| piece.split_once('/').unwrap()) {
        Some((piece, pieces)) => (number(piece), number(pieces)),
        None => (1, 1),
    };
    assert!((1..=pieces).contains(&piece) && pieces <= all);
    (piece - 1..all).step_by(pieces as usize).collect()
}
