//! Whole runs: the simulated world against drawings, against the unit-step reference, and against
//! the natively dispatched world.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../reference/mod.rs"]
mod reference;

mod against_native;
mod against_reference;
mod contract;
mod costs;
mod devices;
mod drawings;
mod levels_conserved;
mod levels_judged;
mod levels_traced;
mod plrs;
mod pt_servers;
mod random_systems;
mod several_cpus;
mod statistics;
mod together;
