//! The threads of a run: how they start and end, and what each does but the manager.

mod assigned;
pub(crate) mod idle;
pub(crate) mod start;
pub(crate) mod watchdog;
pub(crate) mod worker;
