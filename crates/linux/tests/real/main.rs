//! Enforcement observed on the real kernel. Needs the right to SCHED_FIFO:
//!
//! `cargo test --release -p vestal-linux --features real --test real -- --test-threads=1`
//!
//! What is asserted is order, counts, modes and medians, never a maximum or an absolute time: on a
//! shared machine any single wake-up may be late by milliseconds. Every run is bounded, keeps RT
//! throttling on and leaves the CPU idle for more than 5 % of each second.
#![expect(clippy::unwrap_used, reason = "tests may fail loudly")]

mod child;
mod delays;
mod devices;
mod endings;
mod enforcement;
mod frames;
mod io_amc;
mod kernel_view;
mod left_behind;
mod levels;
mod looks;
mod managed;
mod mc2;
mod mechanisms;
mod monitors;
mod parts;
mod plrs;
mod pt;
mod rights;
mod servers;
mod several;
mod sigrist2015;
mod stolen;
mod support;
mod thread_costs;
mod zss;
mod zz_skipped;
