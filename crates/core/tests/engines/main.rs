//! Every engine and guard: drawn schedules, worked examples, and random runs against references.
#![expect(clippy::cast_possible_truncation, reason = "numbers drawn are small")]
#![expect(clippy::expect_used, reason = "a test may fail loudly")]
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod adaptive;
mod completed_overruns;
mod contract_domains;
mod frames;
mod frames_random;
#[path = "../frames_world/mod.rs"]
mod frames_world;
mod hierarchy_contract;
mod hierarchy_fuzz;
mod hierarchy_golden_io;
mod hierarchy_golden_servers;
mod hierarchy_modes;
mod hierarchy_reference;
mod hierarchy_response;
mod hierarchy_supply;
mod hierarchy_windows;
mod levelled;
mod levelled_random;
#[path = "../levelled_reference/mod.rs"]
mod levelled_reference;
#[path = "../levelled_world/mod.rs"]
mod levelled_world;
mod plrs;
mod plrs_pieces;
mod pt;
#[path = "../reference/mod.rs"]
mod reference;
#[path = "../stepper/mod.rs"]
mod stepper;
mod zss;
mod zss_guard;
