//! What generators draw: values that never change, and distributions.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod distributions;
mod golden;
mod marginals;
mod pages;
