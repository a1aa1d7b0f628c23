//! Every engine and guard: drawn schedules, worked examples, and random runs against references.
#![expect(clippy::cast_possible_truncation, reason = "numbers drawn are small")]
#![expect(clippy::expect_used, reason = "a test may fail loudly")]
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod adaptive;
mod completed_overruns;
mod containers;
mod contract_domains;
mod contract_publications;
mod contract_recorded_domains;
mod frames;
mod frames_random;
mod hierarchy_adaptive;
mod hierarchy_contract;
mod hierarchy_fuzz;
mod hierarchy_golden_io;
mod hierarchy_golden_servers;
mod hierarchy_modes;
mod hierarchy_per_tick;
mod hierarchy_reference;
mod hierarchy_response;
mod hierarchy_stolen;
mod hierarchy_windows;
mod levelled;
mod levelled_random;
mod levelled_reference;
mod plrs;
mod plrs_pieces;
mod pt;
mod queues;
mod recorded_domains;
mod rules;
mod zss;
mod zss_guard;
