//! Sweeps, what is left of them when they are killed, and the figures of papers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod costs;
mod damage;
mod figures;
mod generate;
mod measures;
mod overheads;
mod plot;
mod regenerate;
mod sweep;
