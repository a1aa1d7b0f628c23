//! The threads of a run: how they start and end, and what each does but the manager.

mod assigned;
pub(crate) mod beside;
mod checker;
mod dispatcher;
pub(crate) mod idle;
pub(crate) mod names;
pub(crate) mod start;
mod top_half;
mod waiting;
mod walking;
pub(crate) mod watchdog;
pub(crate) mod worker;
