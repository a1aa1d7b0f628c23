//! Levels of several CPUs: what managers have in common of levels C and D, without a lock that anybody waits for.
//!
//! Each manager owns its CPU's domain, levels A and B. The domain of all CPUs belongs to whoever has the [turn](crate::words::Turn): a manager
//! that finds it taken has left what happened on its CPU in a queue, and goes on; the holder does not let go before it has looked at
//! that. What a CPU is to run comes as a *claim*, a word that the CPU takes and gives back ([`crate::words::Claim`]). Telling, taking and
//! giving back take a bounded number of words, however many tasks and CPUs there are, but for a look again where the other side changed
//! the same word meanwhile.
//!
//! Nothing in here reads a clock or knows a thread: instants come with the calls.

#[cfg(any(test, feature = "real"))]
#[cfg_attr(
    not(feature = "real"),
    expect(unreachable_pub, reason = "it is for a program that counts")
)]
mod claims;
mod domain;
mod facts;
mod fault;
mod one;
mod settle;
mod shared;
mod side;

#[cfg(feature = "real")]
pub use claims::Claims;
#[cfg(feature = "real")]
pub(crate) use domain::SharedRecord;
pub(crate) use facts::What;
pub(crate) use one::One;
pub(crate) use settle::Settler;
pub(crate) use shared::Shared;
pub(crate) use side::{Decided, Full, LocalStep, NoStep, Published, Side, Taken};

#[cfg(test)]
mod tests;
